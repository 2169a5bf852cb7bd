/* The report's pictures: {width, height, channels, scaled, photo, edges, crops[], differences[]}. Photo and
 * edges are scaled down to what a screen shows; crops {x, y, width, height, photo, edges} have every pixel.
 * A difference has backend, max_abs, differing_pixels, overview (gray, or null) and crops {x, y, width,
 * height, difference}. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/report/report_pictures.h"
#include "cli/stats_view.h"

lap_box lap_report_whole(const lap_view *view)
{
    return (lap_box){0, 0, view->width, view->height};
}

json_t *lap_report_box(lap_box box)
{
    return json_pack("{si si si si}", "x", box.x, "y", box.y, "width", box.width, "height", box.height);
}

/* ---- details ------------------------------------------------------------------------------------- */

/* Sum of the samples of a box: |a - b|, or a where b is NULL. */
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

int lap_report_heaviest(const lap_view *a, const lap_view *b, lap_box boxes[LAP_REPORT_DETAILS])
{
    uint64_t weights[LAP_REPORT_DETAILS] = {0};
    const int width = a->width < LAP_REPORT_CROP ? a->width : LAP_REPORT_CROP,
              height = a->height < LAP_REPORT_CROP ? a->height : LAP_REPORT_CROP;
    int count = 0;
    for (int top = 0; top < a->height; top += height)
        for (int left = 0; left < a->width; left += width) {
            /* The last ones of a row or column end with the picture, and lie over those before. */
            const lap_box box = {left + width > a->width ? a->width - width : left,
                top + height > a->height ? a->height - height : top, width, height};
            const uint64_t weight = weight_of(a, b, box);
            int at = count;
            while (at > 0 && weights[at - 1] < weight)
                at--;
            if (at == LAP_REPORT_DETAILS || weight == 0)
                continue;
            const int moved = (count < LAP_REPORT_DETAILS ? count : LAP_REPORT_DETAILS - 1) - at;
            memmove(&weights[at + 1], &weights[at], (size_t)moved * sizeof *weights);
            memmove(&boxes[at + 1], &boxes[at], (size_t)moved * sizeof *boxes);
            weights[at] = weight;
            boxes[at] = box;
            count += count < LAP_REPORT_DETAILS;
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

lap_code lap_report_add_crop(json_t *pictures, lap_context *context, const lap_view *photo,
    const lap_view *edges, lap_box box, lap_error *err)
{
    json_t *crops = json_object_get(pictures, "crops");
    if (json_array_size(crops) >= LAP_REPORT_CROPS || has_crop(crops, box))
        return LAP_OK;
    json_t *crop = lap_report_box(box);
    json_array_append_new(crops, crop);
    lap_code code = add_exact(crop, "photo", context, photo, box, err);
    return code == LAP_OK ? add_exact(crop, "edges", context, edges, box, err) : code;
}

/* ---- photo and edges ----------------------------------------------------------------------------- */

static lap_code add_scaled(json_t *pictures, const char *key, lap_context *context, const lap_view *view,
    int width, int height, lap_mean mean, lap_error *err)
{
    lap_pnm pnm = {0};
    json_t *uri = NULL;
    lap_code code = lap_pnm_of_view(view, lap_report_whole(view), width, height, mean, &pnm, err);
    for (int quality = 88; code == LAP_OK && quality >= 28; quality -= 15) {
        json_decref(uri);
        code = lap_data_uri(context, &pnm, quality, &uri, err);
        if (code == LAP_OK && json_string_length(uri) <= LAP_REPORT_MAX_URI)
            break;
    }
    free(pnm.bytes);
    json_object_set_new(pictures, key, uri);
    return code;
}

int lap_report_scaled_height(const lap_view *view, int width)
{
    const int height = (int)((int64_t)view->height * width / view->width);
    return height > 0 ? height : 1;
}

lap_code lap_report_add_pictures(
    json_t *report, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err)
{
    return lap_report_add_views(report, context, photo, edges, LAP_MEAN_SQUARE, err);
}

lap_code lap_report_add_views(json_t *report, lap_context *context, const lap_view *photo,
    const lap_view *edges, lap_mean mean, lap_error *err)
{
    /* A tall picture is as wide as makes it no higher than twice LAP_REPORT_WIDEST. */
    int width = photo->width < LAP_REPORT_WIDEST ? photo->width : LAP_REPORT_WIDEST;
    if (lap_report_scaled_height(photo, width) > 2 * LAP_REPORT_WIDEST)
        width = (int)((int64_t)2 * LAP_REPORT_WIDEST * photo->width / photo->height);
    width = width > 0 ? width : 1;
    int height = lap_report_scaled_height(photo, width);
    height = height > 2 * LAP_REPORT_WIDEST ? 2 * LAP_REPORT_WIDEST : height;
    lap_box boxes[LAP_REPORT_DETAILS];
    json_t *pictures = json_pack("{si si si sb s[] s[]}", "width", photo->width, "height", photo->height,
        "channels", photo->channels == 1 ? 1 : 3, "scaled", width < photo->width, "crops", "differences");
    json_object_set_new(report, "pictures", pictures);
    lap_code code = add_scaled(pictures, "photo", context, photo, width, height, LAP_MEAN_PLAIN, err);
    if (code == LAP_OK)
        code = add_scaled(pictures, "edges", context, edges, width, height, mean, err);
    const int count = lap_report_heaviest(edges, NULL, boxes);
    for (int i = 0; code == LAP_OK && i < count; i++)
        code = lap_report_add_crop(pictures, context, photo, edges, boxes[i], err);
    return code;
}

/* ---- from a file --------------------------------------------------------------------------------- */

lap_code lap_report_add_statistics(json_t *report, lap_context *context, const char *path,
    const lap_view *photo, const lap_view *edges, lap_error *err)
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
    lap_view photo = *lap_pixels_view(pixels), edges = photo;
    photo.apron = 0; /* it is not filled: the border rule is applied */
    edges.stride = (ptrdiff_t)photo.width * photo.channels;
    edges.base = calloc((size_t)photo.height, (size_t)edges.stride);
    edges.apron = 0;
    if (edges.base)
        code =
            lap_filter(context, &photo, &edges, settings->backend, &settings->params, settings->border, err);
    else
        code = lap_report_no_memory(err);
    if (code == LAP_OK)
        code = lap_report_add_pictures(report, context, &photo, &edges, err);
    if (code == LAP_OK)
        code = lap_report_add_statistics(report, context, path, &photo, &edges, err);
    free(edges.base);
    lap_pixels_free(pixels);
    return code;
}
