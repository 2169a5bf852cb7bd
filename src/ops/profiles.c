/* Projection profiles of a plane, computed as two matrix-vector products. */
#include <stdlib.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "rungs/run_rung.h"
#include "rungs/run_views.h"

typedef struct wanted { /* the caller's arguments */
    lap_context *context;
    const float *row_weights, *column_weights; /* NULL: the mean */
    float *rows, *columns;                     /* the results */
} wanted;

typedef struct plane { /* a plane as float matrices */
    size_t width, height;
    float *matrix, *turned, *uniform;
} plane;

static void to_float(const lap_view *view, float *matrix)
{
    for (int y = 0; y < view->height; y++) {
        const uint8_t *row = view->base + y * view->stride;
        for (int x = 0; x < view->width; x++) {
            *matrix++ = row[x];
        }
    }
}

static lap_view as_view(float *matrix, size_t width, size_t height)
{
    return (lap_view){(uint8_t *)matrix, (ptrdiff_t)(width * sizeof(float)), (int)width, (int)height,
        sizeof(float), 0, LAP_ON_HOST};
}

/* y = matrix * weights; without weights, the mean of each row. */
static lap_code product(
    const wanted *w, float *uniform, const lap_view *matrix, const float *weights, float *y, lap_error *err)
{
    const lap_rung *rung;
    const lap_resources use = {
        .exec = {.threads = w->context->threads, .err = err}, .pool = w->context->pool};
    const size_t rows = (size_t)matrix->height, cols = (size_t)matrix->width;
    lap_code code = lap_rung_find(LAP_OP_MATVEC, "auto", &rung, err);
    if (code != LAP_OK)
        return code;
    for (size_t i = 0; !weights && i < cols; i++)
        uniform[i] = 1 / (float)cols;
    const lap_gemv g = {(const float *)(const void *)matrix->base, cols, rows, cols,
        weights ? weights : uniform, y, LAP_ON_HOST};
    return lap_rung_matvec(rung, &use, &g);
}

static lap_code both(const wanted *w, const plane *p, lap_error *err)
{
    const lap_rung *transpose;
    const lap_resources use = {
        .exec = {.threads = w->context->threads, .err = err}, .pool = w->context->pool};
    const lap_view in = as_view(p->matrix, p->width, p->height),
                   out = as_view(p->turned, p->height, p->width);
    lap_code code = product(w, p->uniform, &in, w->row_weights, w->rows, err);
    if (code == LAP_OK)
        code = lap_rung_find(LAP_OP_TRANSPOSE, "auto", &transpose, err);
    if (code == LAP_OK)
        code = lap_rung_transpose(transpose, &use, &in, &out);
    if (code == LAP_OK)
        code = product(w, p->uniform, &out, w->column_weights, w->columns, err);
    return code;
}

static lap_code profiles_here(const wanted *w, const lap_view *view, lap_error *err)
{
    plane p = {.width = (size_t)view->width, .height = (size_t)view->height};
    size_t count, bytes, longer_side = p.width > p.height ? p.width : p.height;
    lap_code code = LAP_E_MEMORY;
    if (lap_mul(p.width, p.height, &count) && lap_mul(count, sizeof(float), &bytes)) {
        p.matrix = malloc(bytes);
        p.turned = malloc(bytes);
        p.uniform = malloc(longer_side * sizeof(float));
    }
    if (p.matrix && p.turned && p.uniform) {
        to_float(view, p.matrix);
        code = both(w, &p, err);
    } else {
        lap_fail(err, code, "profiles of %dx%d pixels: out of memory", view->width, view->height);
    }
    free(p.matrix);
    free(p.turned);
    free(p.uniform);
    return code;
}

/* Downloads a device's pixels and computes on the CPU: a download transfers one byte per sample, while a
 * product on the device would need floats. */
static lap_code profiles_there(const wanted *w, const lap_view *view, lap_error *err)
{
    lap_image image = {0};
    lap_code code = lap_views_check(view, "plane", err);
    if (code == LAP_OK)
        code = lap_image_create(&image, view->width, view->height, 1, 0, err);
    if (code == LAP_OK)
        code = lap_views_download(view, &image.view, NULL, err);
    if (code == LAP_OK)
        code = profiles_here(w, &image.view, err);
    lap_image_destroy(&image);
    return code;
}

lap_code lap_profiles(lap_context *context, const lap_view *view, const float *row_weights,
    const float *column_weights, float *rows, float *columns, lap_error *err)
{
    if (!view->base || view->place < LAP_ON_HOST || view->width < 1 || view->height < 1 ||
        view->channels != 1)
        return lap_fail(err, LAP_E_USAGE,
            "cannot compute profiles of a view of %dx%d pixels with %d channels", view->width, view->height,
            view->channels);
    const wanted w = {context, row_weights, column_weights, rows, columns};
    return view->place == LAP_ON_HOST ? profiles_here(&w, view, err) : profiles_there(&w, view, err);
}
