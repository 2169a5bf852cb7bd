/* The report's differences, an entry a rung of the filter: backend, differing_pixels, max_abs, overview
 * (gray, or null), crops {x, y, width, height, difference, peak{x, y, value}}. */
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report/report_pictures.h"

/* The bytes that pictures of differences take so far. */
static size_t taken_by(const json_t *differences)
{
    size_t i, j, taken = 0;
    json_t *difference, *crop;
    json_array_foreach(differences, i, difference)
    {
        taken += json_string_length(json_object_get(difference, "overview"));
        json_array_foreach(json_object_get(difference, "crops"), j, crop) taken +=
            json_string_length(json_object_get(crop, "difference"));
    }
    return taken;
}

/* uri stays NULL where there is no room for it. */
static lap_code difference_uri(lap_context *context, const lap_compare_row *row, lap_box box, int width,
    const json_t *differences, json_t **uri, lap_error *err)
{
    lap_pnm pnm = {0};
    const int height = box.width == width ? box.height : lap_report_scaled_height(row->a, width);
    *uri = NULL;
    lap_code code = lap_pnm_of_difference(
        row->a, row->b, box, width, height < box.height ? height : box.height, &pnm, err);
    if (code == LAP_OK)
        code = lap_data_uri(context, &pnm, 0, uri, err);
    free(pnm.bytes);
    if (code == LAP_OK && taken_by(differences) + json_string_length(*uri) > LAP_REPORT_DIFFERENCES) {
        json_decref(*uri);
        *uri = NULL;
    }
    return code;
}

/* The place of the largest difference in a box, the first in raster order. */
static json_t *peak_of(const lap_compare_row *row, lap_box box)
{
    const lap_view *a = row->a, *b = row->b;
    int largest = -1, at_x = 0, at_y = 0;
    for (int y = box.y; y < box.y + box.height; y++)
        for (int i = box.x * a->channels; i < (box.x + box.width) * a->channels; i++) {
            const int value = abs(a->base[y * a->stride + i] - b->base[y * b->stride + i]);
            if (value <= largest)
                continue;
            largest = value;
            at_x = i / a->channels;
            at_y = y;
        }
    return json_pack("{si si si}", "x", at_x, "y", at_y, "value", largest);
}

/* Overview and details of a difference; what the details show beside it: photo and edges. */
static lap_code add_pictures(json_t *pictures, json_t *entry, lap_context *context, const lap_view *photo,
    const lap_view *edges, const lap_compare_row *row, lap_error *err)
{
    const json_t *differences = json_object_get(pictures, "differences");
    lap_box boxes[LAP_REPORT_DETAILS];
    json_t *uri, *crops = json_object_get(entry, "crops");
    const int width = row->a->width < LAP_REPORT_OVERVIEW ? row->a->width : LAP_REPORT_OVERVIEW;
    lap_code code = difference_uri(context, row, lap_report_whole(row->a), width, differences, &uri, err);
    if (uri)
        json_object_set_new(entry, "overview", uri);
    const int count = lap_report_heaviest(row->a, row->b, boxes);
    for (int i = 0; code == LAP_OK && i < count; i++) {
        code = difference_uri(context, row, boxes[i], boxes[i].width, differences, &uri, err);
        if (code == LAP_OK)
            code = lap_report_add_crop(pictures, context, photo, edges, boxes[i], err);
        if (!uri)
            continue;
        json_t *crop = lap_report_box(boxes[i]);
        json_object_set_new(crop, "difference", uri);
        json_object_set_new(crop, "peak", peak_of(row, boxes[i]));
        json_array_append_new(crops, crop);
    }
    return code;
}

static json_t *entry_of(json_t *differences, const char *backend)
{
    size_t i;
    json_t *entry;
    json_array_foreach(differences, i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "backend")), backend) == 0)
            return entry;
    }
    entry = json_pack(
        "{ss si si sn s[]}", "backend", backend, "max_abs", 0, "differing_pixels", 0, "overview", "crops");
    return json_array_append_new(differences, entry) == 0 ? entry : NULL; /* else it is gone */
}

static bool any_differs(const json_t *differences)
{
    size_t i;
    json_t *entry;
    json_array_foreach(differences, i, entry)
    {
        if (json_integer_value(json_object_get(entry, "differing_pixels")) > 0)
            return true;
    }
    return false;
}

/* The pictures of this input, with the differences found so far: all of them without a difference. */
static lap_code take_pictures(json_t *report, lap_context *context, const char *input, const lap_view *photo,
    const lap_view *edges, lap_error *err)
{
    json_t *differences = json_incref(json_object_get(json_object_get(report, "pictures"), "differences"));
    lap_code code = lap_report_add_pictures(report, context, photo, edges, err);
    json_t *pictures = json_object_get(report, "pictures");
    if (differences)
        json_object_set_new(pictures, "differences", differences);
    json_object_set_new(pictures, "input", lap_json_text(input));
    if (code != LAP_OK)
        return code;
    json_object_set_new(report, "statistics", json_null());
    return lap_report_add_statistics(report, context, input, photo, edges, err);
}

static lap_code add_difference(json_t *pictures, json_t *entry, lap_context *context, const lap_view *photo,
    const lap_view *edges, const lap_compare_row *row, lap_error *err)
{
    /* Details are then those of differences. */
    if (!any_differs(json_object_get(pictures, "differences")))
        json_array_clear(json_object_get(pictures, "crops"));
    json_object_set_new(entry, "max_abs", json_integer(row->difference.max_abs));
    json_object_set_new(
        entry, "differing_pixels", json_integer((json_int_t)row->difference.differing_pixels));
    return add_pictures(pictures, entry, context, photo, edges, row, err);
}

lap_code lap_report_add_row(json_t *report, lap_context *context, const char *input, const lap_view *photo,
    const lap_compare_row *row, lap_error *err)
{
    lap_code code = LAP_OK;
    if (row->op != LAP_OP_FILTER || row->reason || !row->a)
        return code;
    const bool differs = !row->difference.identical;
    const json_t *before = json_object_get(report, "pictures");
    const char *shown = json_string_value(json_object_get(before, "input"));
    const bool other = shown && strcmp(shown, input) != 0;
    if (!shown || (other && differs && !any_differs(json_object_get(before, "differences"))))
        code = take_pictures(report, context, input, photo, row->a, err);
    else if (other)
        return code;
    if (code != LAP_OK)
        return code;
    json_t *pictures = json_object_get(report, "pictures");
    json_t *differences = json_object_get(pictures, "differences"),
           *entry = entry_of(differences, row->backend);
    if (!differs)
        return code;
    return add_difference(pictures, entry, context, photo, row->a, row, err);
}

lap_code lap_report_add_pair(json_t *report, lap_context *context, const lap_view *a, const lap_view *b,
    const lap_difference *difference, lap_error *err)
{
    const lap_compare_row row = {.a = a, .b = b, .difference = *difference};
    lap_code code = lap_report_add_views(report, context, a, b, LAP_MEAN_PLAIN, err);
    if (code == LAP_OK)
        code = lap_report_add_statistics(report, context, "", a, b, err);
    json_t *pictures = json_object_get(report, "pictures");
    if (code != LAP_OK)
        return code;
    json_t *entry = entry_of(json_object_get(pictures, "differences"), "B");
    return difference->identical ? LAP_OK : add_difference(pictures, entry, context, a, b, &row, err);
}
