/* The report's pictures: {width, height, channels, scaled, photo, edges, crops[], differences[]}. Photo and
 * edges are scaled down to what a screen shows; crops {x, y, width, height, photo, edges} have every pixel.
 * A difference has backend, max_abs, differing_pixels, overview (gray, or null) and crops {x, y, width,
 * height, difference}. */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_pixels.h"
#include "stats_view.h"

/* A page of 5 MB at most: two pictures of 0.6 MB, three pairs of crops of 0.2 MB (PNG hardly shrinks
 * noise), the chart library's 0.2 MB, and differences while there is room, all but the library times 4/3 as
 * base64. */
enum {
    WIDEST = 1600,                /* of the pictures */
    LARGEST_URI = 800 * 1000,     /* of one of them; quality gives way */
    CROP = 256,                   /* side of a detail */
    CROPS = 3,                    /* details of the picture, and of each difference */
    OVERVIEW = 640,               /* width of a difference as a whole */
    DIFFERENCE_ROOM = 1600 * 1000 /* for all differences */
};
_Static_assert(
    2 * LARGEST_URI + 2 * CROPS * (3 * CROP * CROP + CROP + 1000) / 3 * 4 + DIFFERENCE_ROOM < 4800 * 1000,
    "the page stays below 5 MB");

static lap_box whole_of(const lap_view *view)
{
    return (lap_box){0, 0, view->width, view->height};
}

static json_t *box_json(lap_box box)
{
    return json_pack("{si si si si}", "x", box.x, "y", box.y, "width", box.width, "height", box.height);
}

/* ---- details ------------------------------------------------------------------------------------- */

/* Sum of the samples of a box: |a - b|, or a where b is NULL. */
static uint64_t weight_of(const lap_view *a, const lap_view *b, lap_box box)
{
    uint64_t sum = 0;
    for (int y = box.y; y < box.y + box.height; ++y) {
        const uint8_t *row = a->base + y * a->stride, *other = b ? b->base + y * b->stride : NULL;
        for (int i = box.x * a->channels; i < (box.x + box.width) * a->channels; ++i)
            sum += (uint64_t)(other ? abs(row[i] - other[i]) : row[i]);
    }
    return sum;
}

/* The heaviest boxes of a grid, in falling order; boxes without weight are left out. Returns how many. */
static int heaviest(const lap_view *a, const lap_view *b, lap_box boxes[CROPS])
{
    uint64_t weights[CROPS] = {0};
    const int width = a->width < CROP ? a->width : CROP, height = a->height < CROP ? a->height : CROP;
    int count = 0;
    for (int top = 0; top < a->height; top += height)
        for (int left = 0; left < a->width; left += width) {
            /* The last ones of a row or column end with the picture, and lie over those before. */
            const lap_box box = {left + width > a->width ? a->width - width : left,
                top + height > a->height ? a->height - height : top, width, height};
            const uint64_t weight = weight_of(a, b, box);
            int at = count;
            while (at > 0 && weights[at - 1] < weight)
                --at;
            if (at == CROPS || weight == 0)
                continue;
            const int moved = (count < CROPS ? count : CROPS - 1) - at;
            memmove(&weights[at + 1], &weights[at], (size_t)moved * sizeof *weights);
            memmove(&boxes[at + 1], &boxes[at], (size_t)moved * sizeof *boxes);
            weights[at] = weight;
            boxes[at] = box;
            count += count < CROPS;
        }
    return count;
}

static lap_code add_exact(
    json_t *object, const char *key, lap_context *context, const lap_view *view, lap_box box, lap_error *err)
{
    lap_pnm pnm = {0};
    json_t *uri = NULL;
    lap_code code = lap_pnm_of_view(view, box, box.width, box.height, LAP_MEAN_PLAIN, &pnm, err);
    if (code == LAP_OK)
        code = lap_data_uri(context, &pnm, 0, &uri, err);
    free(pnm.bytes);
    json_object_set_new(object, key, uri);
    return code;
}

static lap_code add_crops(
    json_t *crops, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err)
{
    lap_box boxes[CROPS];
    lap_code code = LAP_OK;
    const int count = heaviest(edges, NULL, boxes);
    for (int i = 0; code == LAP_OK && i < count; ++i) {
        json_t *crop = box_json(boxes[i]);
        code = add_exact(crop, "photo", context, photo, boxes[i], err);
        if (code == LAP_OK)
            code = add_exact(crop, "edges", context, edges, boxes[i], err);
        json_array_append_new(crops, crop);
    }
    return code;
}

/* ---- photo and edges ----------------------------------------------------------------------------- */

static lap_code add_scaled(json_t *pictures, const char *key, lap_context *context, const lap_view *view,
    int width, int height, lap_mean mean, lap_error *err)
{
    lap_pnm pnm = {0};
    json_t *uri = NULL;
    lap_code code = lap_pnm_of_view(view, whole_of(view), width, height, mean, &pnm, err);
    for (int quality = 88; code == LAP_OK && quality >= 28; quality -= 15) {
        json_decref(uri);
        code = lap_data_uri(context, &pnm, quality, &uri, err);
        if (code == LAP_OK && json_string_length(uri) <= LARGEST_URI)
            break;
    }
    free(pnm.bytes);
    json_object_set_new(pictures, key, uri);
    return code;
}

static int scaled_height(const lap_view *view, int width)
{
    const int height = (int)((int64_t)view->height * width / view->width);
    return height > 0 ? height : 1;
}

lap_code lap_report_add_pictures(
    json_t *report, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err)
{
    /* A tall picture is as wide as makes it no higher than twice WIDEST. */
    int width = photo->width < WIDEST ? photo->width : WIDEST;
    if (scaled_height(photo, width) > 2 * WIDEST)
        width = (int)((int64_t)2 * WIDEST * photo->width / photo->height);
    width = width > 0 ? width : 1;
    int height = scaled_height(photo, width);
    height = height > 2 * WIDEST ? 2 * WIDEST : height;
    json_t *crops = json_array();
    json_t *pictures =
        json_pack("{si si si sb so s[]}", "width", photo->width, "height", photo->height, "channels",
            photo->channels == 1 ? 1 : 3, "scaled", width < photo->width, "crops", crops, "differences");
    json_object_set_new(report, "pictures", pictures);
    lap_code code = add_scaled(pictures, "photo", context, photo, width, height, LAP_MEAN_PLAIN, err);
    if (code == LAP_OK)
        code = add_scaled(pictures, "edges", context, edges, width, height, LAP_MEAN_SQUARE, err);
    if (code == LAP_OK)
        code = add_crops(crops, context, photo, edges, err);
    return code;
}

/* ---- differences --------------------------------------------------------------------------------- */

/* The bytes that differences take so far. */
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
static lap_code difference_uri(lap_context *context, const lap_view *a, const lap_view *b, lap_box box,
    int width, const json_t *differences, json_t **uri, lap_error *err)
{
    lap_pnm pnm = {0};
    const int height = box.width == width ? box.height : scaled_height(a, width);
    lap_code code =
        lap_pnm_of_difference(a, b, box, width, height < box.height ? height : box.height, &pnm, err);
    if (code == LAP_OK)
        code = lap_data_uri(context, &pnm, 0, uri, err);
    free(pnm.bytes);
    if (code == LAP_OK && taken_by(differences) + json_string_length(*uri) > DIFFERENCE_ROOM) {
        json_decref(*uri);
        *uri = NULL;
    }
    return code;
}

lap_code lap_report_add_difference(json_t *report, lap_context *context, const char *backend,
    const lap_view *a, const lap_view *b, const lap_difference *difference, lap_error *err)
{
    lap_box boxes[CROPS];
    lap_code code = LAP_OK;
    json_t *uri = NULL, *crops = json_array();
    json_t *differences = json_object_get(json_object_get(report, "pictures"), "differences");
    json_t *object = json_pack("{ss si sI sn so}", "backend", backend, "max_abs", difference->max_abs,
        "differing_pixels", (json_int_t)difference->differing_pixels, "overview", "crops", crops);
    json_array_append_new(differences, object);
    if (difference->differing_pixels == 0)
        return LAP_OK;
    code = difference_uri(
        context, a, b, whole_of(a), a->width < OVERVIEW ? a->width : OVERVIEW, differences, &uri, err);
    if (code == LAP_OK && uri)
        json_object_set_new(object, "overview", uri);
    const int count = heaviest(a, b, boxes);
    for (int i = 0; code == LAP_OK && i < count; ++i) {
        code = difference_uri(context, a, b, boxes[i], boxes[i].width, differences, &uri, err);
        if (code != LAP_OK || !uri)
            continue;
        json_t *crop = box_json(boxes[i]);
        json_object_set_new(crop, "difference", uri);
        json_array_append_new(crops, crop);
    }
    return code;
}

/* ---- from a file --------------------------------------------------------------------------------- */

lap_code lap_report_add_file(
    json_t *report, lap_context *context, const char *path, const lap_settings *settings, lap_error *err)
{
    lap_pixels *pixels = NULL;
    lap_view photo = {0}, edges;
    lap_run_stats stats;
    lap_code code = lap_pixels_read(context, path, settings, &pixels, err);
    if (code != LAP_OK)
        return code;
    photo = *lap_pixels_view(pixels);
    photo.apron = 0; /* it is not filled: the border rule is applied */
    edges = photo;
    edges.stride = (ptrdiff_t)photo.width * photo.channels;
    edges.base = calloc((size_t)photo.height, (size_t)edges.stride);
    if (!edges.base) {
        code = LAP_E_MEMORY;
        if (err)
            *err = (lap_error){.code = code, .message = "out of memory for the report"};
        goto end;
    }
    code = lap_filter(context, &photo, &edges, settings->backend, &settings->params, settings->border, err);
    if (code == LAP_OK)
        code = lap_report_add_pictures(report, context, &photo, &edges, err);
    if (code == LAP_OK)
        code = lap_stats_of_view(context, &photo, "auto", 0, -1, &stats.input, err);
    if (code == LAP_OK)
        code = lap_stats_of_view(context, &edges, "auto", 0, -1, &stats.edges, err);
    if (code == LAP_OK && json_is_null(json_object_get(report, "statistics")))
        json_object_set_new(report, "statistics", lap_stats_json(path, &stats, NULL));
end:
    free(edges.base);
    lap_pixels_free(pixels);
    return code;
}
