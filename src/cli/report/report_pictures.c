/* The report's pictures: {width, height, channels, scaled, photo, edges, crops[], differences[]}. Photo and
 * edges are scaled down for a screen; crops {x, y, width, height, photo, edges} keep every pixel. Each
 * backend of the filter that was compared has one difference, with backend, max_abs, differing_pixels,
 * overview (gray, or null) and crops {x, y, width, height, difference, peak{x, y, value}}. */
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"

/* Limits that keep a page below 5 MB, including the chart library's 0.2 MB. base64 takes 4/3 of the bytes;
 * PNG hardly compresses noise. */
enum {
    WIDEST = 1600,            /* width of a picture */
    MAX_URI = 750 * 1000,     /* bytes of one picture; quality is reduced to fit */
    CROP = 192,               /* side of a detail in pixels */
    DETAILS = 3,              /* details for the edges, and for each difference */
    CROPS = 6,                /* details of photo and edges in total */
    OVERVIEW = 640,           /* width of a difference's overview */
    DIFFERENCES = 1200 * 1000 /* bytes for all differences */
};
_Static_assert(2 * MAX_URI + 2 * CROPS * (3 * CROP * CROP + 2000) / 3 * 4 + DIFFERENCES < 4700 * 1000,
    "the page stays below 5 MB");

/* The source and the destination of the pictures. */
typedef struct gallery {
    json_t *pictures;
    lap_context *context;
    const lap_view *photo, *edges;
} gallery;

static json_t *json_of_box(lap_box box)
{
    return json_pack("{si si si si}", "x", box.x, "y", box.y, "width", box.width, "height", box.height);
}

/* ---- details ------------------------------------------------------------------------------------- */

/* Sums |a - b| over the samples of a box, or a if b is NULL. */
static uint64_t weight_of(const lap_view *a, const lap_view *b, lap_box box)
{
    uint64_t sum = 0;
    for (int y = box.y; y < box.y + box.height; y++) {
        const uint8_t *row = a->base + y * a->stride, *other = b ? b->base + y * b->stride : NULL;
        for (int i = box.x * a->channels; i < (box.x + box.width) * a->channels; i++)
            sum += (uint64_t)(other ? abs(row[i] - other[i]) : row[i]);
    }
    return sum;
}

/* Finds the boxes of a grid with the largest sums of |a - b|, or of a if b is NULL, in falling order. Omits
 * boxes whose sum is 0. Returns their number. */
static int heaviest(const lap_view *a, const lap_view *b, lap_box boxes[DETAILS])
{
    uint64_t weights[DETAILS] = {0};
    const int width = a->width < CROP ? a->width : CROP, height = a->height < CROP ? a->height : CROP;
    int count = 0;
    for (int top = 0; top < a->height; top += height)
        for (int left = 0; left < a->width; left += width) {
            /* The last box of a row or column ends with the picture, and overlaps the box before it. */
            const lap_box box = {left + width > a->width ? a->width - width : left,
                top + height > a->height ? a->height - height : top, width, height};
            const uint64_t weight = weight_of(a, b, box);
            int at = count;
            while (at > 0 && weights[at - 1] < weight)
                at--;
            if (at == DETAILS || weight == 0)
                continue;
            const int moved = (count < DETAILS ? count : DETAILS - 1) - at;
            memmove(&weights[at + 1], &weights[at], (size_t)moved * sizeof *weights);
            memmove(&boxes[at + 1], &boxes[at], (size_t)moved * sizeof *boxes);
            weights[at] = weight;
            boxes[at] = box;
            count += count < DETAILS;
        }
    return count;
}

/* Encodes every pixel of the picture. */
static lap_code exact_uri(lap_context *context, const lap_picture *picture, json_t **uri, lap_error *err)
{
    lap_pnm pnm = {0};
    *uri = NULL;
    lap_code code = lap_pnm_of(picture, &pnm, err);
    if (code == LAP_OK)
        code = lap_data_uri(context, &pnm, 0, uri, err);
    free(pnm.bytes);
    return code;
}

static lap_code add_exact(
    json_t *object, const char *key, lap_context *context, const lap_view *view, lap_box box, lap_error *err)
{
    const lap_picture picture = {.view = view, .box = box, .width = box.width, .height = box.height};
    json_t *uri;
    const lap_code code = exact_uri(context, &picture, &uri, err);
    json_object_set_new(object, key, uri);
    return code;
}

static bool has_crop(const json_t *crops, lap_box box)
{
    size_t i;
    json_t *crop;
    json_array_foreach(crops, i, crop)
    {
        if (json_integer_value(json_object_get(crop, "x")) == box.x &&
            json_integer_value(json_object_get(crop, "y")) == box.y)
            return true;
    }
    return false;
}

/* Adds this box of photo and edges with every pixel, unless it already exists or there are enough crops. */
static lap_code add_crop(const gallery *g, lap_box box, lap_error *err)
{
    json_t *crops = json_object_get(g->pictures, "crops");
    if (json_array_size(crops) >= CROPS || has_crop(crops, box))
        return LAP_OK;
    json_t *crop = json_of_box(box);
    json_array_append_new(crops, crop);
    const lap_code code = add_exact(crop, "photo", g->context, g->photo, box, err);
    return code == LAP_OK ? add_exact(crop, "edges", g->context, g->edges, box, err) : code;
}

/* ---- photo and edges ----------------------------------------------------------------------------- */

static lap_code add_scaled(const gallery *g, const char *key, const lap_picture *picture, lap_error *err)
{
    lap_pnm pnm = {0};
    json_t *uri = NULL;
    lap_code code = lap_pnm_of(picture, &pnm, err);
    for (int quality = 88; code == LAP_OK && quality >= 28; quality -= 15) {
        json_decref(uri);
        code = lap_data_uri(g->context, &pnm, quality, &uri, err);
        if (code == LAP_OK && json_string_length(uri) <= MAX_URI)
            break;
    }
    free(pnm.bytes);
    json_object_set_new(g->pictures, key, uri);
    return code;
}

/* Returns the height of a view scaled to that width, at least 1. */
static int scaled_height(const lap_view *view, int width)
{
    const int height = (int)((int64_t)view->height * width / view->width);
    return height > 0 ? height : 1;
}

/* Returns the whole view at a size that fits a screen. */
static lap_picture whole_of(const lap_view *view)
{
    /* A tall picture is narrowed until its height is at most twice WIDEST. */
    int width = view->width < WIDEST ? view->width : WIDEST;
    if (scaled_height(view, width) > 2 * WIDEST)
        width = (int)((int64_t)2 * WIDEST * view->width / view->height);
    width = width > 0 ? width : 1;
    const int height = scaled_height(view, width);
    return (lap_picture){.view = view,
        .box = {0, 0, view->width, view->height},
        .width = width,
        .height = height > 2 * WIDEST ? 2 * WIDEST : height};
}

/* Does the work of lap_report_add_pictures; mean is used to scale the second view. */
static lap_code add_views(json_t *report, gallery *g, lap_mean mean, lap_error *err)
{
    lap_box boxes[DETAILS];
    const lap_picture photo = whole_of(g->photo);
    lap_picture edges = photo;
    edges.view = g->edges;
    edges.mean = mean;
    g->pictures =
        json_pack("{si si si sb s[] s[]}", "width", g->photo->width, "height", g->photo->height, "channels",
            g->photo->channels == 1 ? 1 : 3, "scaled", photo.width < g->photo->width, "crops", "differences");
    if (json_object_set_new(report, "pictures", g->pictures) != 0)
        return lap_report_no_memory(err);
    lap_code code = add_scaled(g, "photo", &photo, err);
    if (code == LAP_OK)
        code = add_scaled(g, "edges", &edges, err);
    const int count = heaviest(g->edges, NULL, boxes);
    for (int i = 0; code == LAP_OK && i < count; i++)
        code = add_crop(g, boxes[i], err);
    return code;
}

lap_code lap_report_add_pictures(
    json_t *report, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err)
{
    gallery g = {.context = context, .photo = photo, .edges = edges};
    return add_views(report, &g, LAP_MEAN_SQUARE, err);
}

/* ---- from a file --------------------------------------------------------------------------------- */

/* Adds lapedge.stats/1 without profiles, unless the report has statistics. */
static lap_code add_statistics(json_t *report, lap_context *context, const char *path, const lap_view *photo,
    const lap_view *edges, lap_error *err)
{
    lap_run_stats stats;
    if (!json_is_null(json_object_get(report, "statistics")))
        return LAP_OK;
    lap_code code = lap_stats_of_view(context, photo, "auto", 0, -1, &stats.input, err);
    if (code == LAP_OK)
        code = lap_stats_of_view(context, edges, "auto", 0, -1, &stats.edges, err);
    if (code == LAP_OK)
        json_object_set_new(report, "statistics", lap_stats_json(path, &stats, NULL));
    return code;
}

lap_code lap_report_add_file(
    json_t *report, lap_context *context, const char *path, const lap_settings *settings, lap_error *err)
{
    lap_pixels *pixels = NULL;
    lap_code code = lap_pixels_read(context, path, settings, &pixels, err);
    if (code != LAP_OK)
        return code;
    const lap_view photo = *lap_pixels_view(pixels);
    lap_view edges = photo;
    edges.stride = (ptrdiff_t)photo.width * photo.channels;
    edges.base = calloc((size_t)photo.height, (size_t)edges.stride);
    if (edges.base)
        code =
            lap_filter(context, &photo, &edges, settings->backend, &settings->params, settings->border, err);
    else
        code = lap_report_no_memory(err);
    if (code == LAP_OK)
        code = lap_report_add_pictures(report, context, &photo, &edges, err);
    if (code == LAP_OK)
        code = add_statistics(report, context, path, &photo, &edges, err);
    free(edges.base);
    lap_pixels_free(pixels);
    return code;
}

/* ---- differences --------------------------------------------------------------------------------- */

/* Returns the total size of the differences' pictures so far, in bytes. */
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

/* Encodes a picture of a difference; uri stays NULL if there is no room for it. */
static lap_code difference_uri(const gallery *g, const lap_picture *picture, json_t **uri, lap_error *err)
{
    const lap_code code = exact_uri(g->context, picture, uri, err);
    const size_t taken = taken_by(json_object_get(g->pictures, "differences"));
    if (code == LAP_OK && taken + json_string_length(*uri) > DIFFERENCES) {
        json_decref(*uri);
        *uri = NULL;
    }
    return code;
}

/* Returns the position of a box's largest difference, the first in raster order. */
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

/* Makes the overview and details of a difference, and adds photo and edges for the same details. */
static lap_code draw_difference(const gallery *g, json_t *entry, const lap_compare_row *row, lap_error *err)
{
    lap_box boxes[DETAILS];
    json_t *uri, *crops = json_object_get(entry, "crops");
    const int width = row->a->width, height = row->a->height;
    lap_picture picture = {.view = row->a, .other = row->b, .box = {0, 0, width, height}};
    picture.width = width < OVERVIEW ? width : OVERVIEW;
    picture.height = scaled_height(row->a, picture.width);
    lap_code code = difference_uri(g, &picture, &uri, err);
    if (uri)
        json_object_set_new(entry, "overview", uri);
    const int count = heaviest(row->a, row->b, boxes);
    for (int i = 0; code == LAP_OK && i < count; i++) {
        picture.box = boxes[i];
        picture.width = boxes[i].width;
        picture.height = boxes[i].height;
        code = difference_uri(g, &picture, &uri, err);
        if (code == LAP_OK)
            code = add_crop(g, boxes[i], err);
        if (!uri)
            continue;
        json_t *crop = json_of_box(boxes[i]);
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
    return json_array_append_new(differences, entry) == 0 ? entry : NULL; /* if this fails, entry is freed */
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

/* Replaces the pictures with those of this input. Keeps the differences recorded so far; none of them shows a
 * differing pixel. */
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
    return add_statistics(report, context, input, photo, edges, err);
}

static lap_code add_difference(const gallery *g, json_t *entry, const lap_compare_row *row, lap_error *err)
{
    /* From the first difference on, the details show where pixels differ. */
    if (!any_differs(json_object_get(g->pictures, "differences")))
        json_array_clear(json_object_get(g->pictures, "crops"));
    json_object_set_new(entry, "max_abs", json_integer(row->difference.max_abs));
    json_object_set_new(
        entry, "differing_pixels", json_integer((json_int_t)row->difference.differing_pixels));
    return draw_difference(g, entry, row, err);
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
    const gallery g = {json_object_get(report, "pictures"), context, photo, row->a};
    json_t *entry = entry_of(json_object_get(g.pictures, "differences"), row->backend);
    return differs ? add_difference(&g, entry, row, err) : code;
}

lap_code lap_report_add_pair(
    json_t *report, lap_context *context, const lap_view *b, const lap_compare_row *row, lap_error *err)
{
    gallery g = {.context = context, .photo = row->a, .edges = b};
    lap_code code = add_views(report, &g, LAP_MEAN_PLAIN, err);
    if (code == LAP_OK)
        code = add_statistics(report, context, "", row->a, b, err);
    if (code != LAP_OK)
        return code;
    json_t *entry = entry_of(json_object_get(g.pictures, "differences"), "B");
    return row->difference.identical ? LAP_OK : add_difference(&g, entry, row, err);
}
