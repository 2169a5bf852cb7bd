/* lap_filter: filters the caller's pixels, in host memory or on a device. */
#include <stdlib.h>

#include "base/border.h"
#include "base/context.h"
#include "base/control.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"
#include "ops/ops.h"
#include "rungs/run_rung.h"
#include "rungs/run_views.h"

/* Bytes of a band that is copied to get an apron. Band and result fit in the L2 cache (512 KiB and more on
 * x86 cores of the last ten years). */
enum { COPY_BYTES = 192 << 10 };

typedef struct task {
    const lap_view *in, *out;
    const lap_rung *rung;
    const lap_params *params;
    lap_border border;
    lap_control control;
    lap_image *bands; /* one per thread, allocated with the thread's first piece */
    int band_rows;
} task;

static lap_code copy_rows(void *user, const lap_view *rows, int y, lap_error *err)
{
    (void)err;
    const lap_view from = lap_view_rows(user, y, rows->height);
    lap_view_copy(&from, rows);
    return LAP_OK;
}

static lap_code filter_band(void *argument, const lap_piece *piece, lap_error *err)
{
    const task *t = argument;
    lap_image *band = &t->bands[piece->member];
    const lap_resources use = {.exec.err = err};
    lap_code code = lap_control_check(&t->control, err);
    if (code == LAP_OK && !band->memory)
        code = lap_image_create(band, t->in->width, t->band_rows, t->in->channels, LAP_APRON, err);
    if (code != LAP_OK)
        return code;
    const lap_band pixels = {.view = lap_view_rows(&band->view, 0, (int)piece->n),
        .y = (int)piece->first,
        .image_height = t->in->height,
        .border = t->border};
    const lap_view result = lap_view_rows(t->out, (int)piece->first, (int)piece->n);
    lap_view in = *t->in;
    code = lap_border_band(&pixels, NULL, 0, copy_rows, &in, err);
    return code == LAP_OK ? lap_rung_filter(t->rung, &use, &pixels.view, &result, t->params, t->border)
                          : code;
}

static lap_code filter_copied(lap_context *context, task *t, lap_error *err)
{
    const size_t row = ((size_t)t->in->width + 2 * LAP_APRON) * (size_t)t->in->channels;
    const size_t rows = COPY_BYTES / row, height = (size_t)t->in->height;
    t->band_rows = rows < 8 ? 8 : rows > 128 ? 128 : (int)rows;
    t->band_rows = t->band_rows < t->in->height ? t->band_rows : t->in->height;
    t->bands = calloc((size_t)context->threads, sizeof *t->bands);
    if (!t->bands)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d bands", context->threads);
    const lap_span span = {context->threads, height, (size_t)t->band_rows};
    lap_code code = lap_pool_for(context->pool, span, filter_band, t, err);
    for (int i = 0; i < context->threads; i++)
        lap_image_destroy(&t->bands[i]);
    free(t->bands);
    return code;
}

static lap_code check_view(const lap_view *v, const char *which, lap_error *err)
{
    if (!v->base)
        return lap_fail(err, LAP_E_USAGE, "%s has no pixels: its address is NULL", which);
    if (v->width < 1 || v->height < 1)
        return lap_fail(
            err, LAP_E_USAGE, "%s has %dx%d pixels; a side must be at least 1", which, v->width, v->height);
    if (v->channels != 1 && v->channels != 3 && v->channels != 4)
        return lap_fail(err, LAP_E_USAGE, "%s has %d channels; only 1, 3 or 4 channels can be filtered",
            which, v->channels);
    if (v->width > LAP_MAX_SIDE || v->height > LAP_MAX_SIDE)
        return lap_fail(err, LAP_E_LIMIT, "%s has %dx%d pixels; a side may have at most %d", which, v->width,
            v->height, LAP_MAX_SIDE);
    if (v->apron != 0 && v->apron != LAP_APRON)
        return lap_fail(
            err, LAP_E_USAGE, "%s has an apron of %d pixels; it must be 0 or %d", which, v->apron, LAP_APRON);
    if (v->stride < (ptrdiff_t)v->width * v->channels)
        return lap_fail(err, LAP_E_USAGE, "%s has a stride of %td bytes, but rows of %td", which, v->stride,
            (ptrdiff_t)v->width * v->channels);
    return LAP_OK;
}

typedef struct extent { /* the address range of a view */
    uintptr_t begin, end;
    size_t row, stride;
} extent;

/* Covers an input with its apron, which is read too, but only the interior of an output. */
static extent extent_of(const lap_view *v, int apron)
{
    size_t around = (size_t)apron, stride = (size_t)v->stride, pixel = (size_t)v->channels;
    extent e = {.row = ((size_t)v->width + 2 * around) * pixel, .stride = stride};
    e.begin = (uintptr_t)v->base - around * (stride + pixel);
    e.end = e.begin + ((size_t)v->height - 1 + 2 * around) * stride + e.row;
    return e;
}

static bool overlap(const lap_view *in, const lap_view *out)
{
    extent a = extent_of(in, in->apron), b = extent_of(out, 0);
    if (a.begin >= b.end || b.begin >= a.end)
        return false;
    if (a.stride != b.stride)
        return true;
    /* With equal strides, two parts of one picture that lie side by side interleave but do not overlap. */
    extent first = a.begin < b.begin ? a : b, second = a.begin < b.begin ? b : a;
    size_t apart = (second.begin - first.begin) % a.stride;
    return apart < first.row || apart + second.row > a.stride;
}

static const char *place_text(int place, char text[32])
{
    snprintf(text, 32, place == LAP_ON_HOST ? "in host memory" : "on device %d", place);
    return text;
}

lap_code lap_filter_check(
    const lap_view *in, const lap_view *out, const lap_params *params, lap_border border, lap_error *err)
{
    char places[2][32];
    lap_code code = lap_params_check(params, border, err);
    if (code == LAP_OK)
        code = check_view(in, "input", err);
    if (code == LAP_OK)
        code = check_view(out, "output", err);
    if (code != LAP_OK)
        return code;
    if (in->width != out->width || in->height != out->height || in->channels != out->channels)
        return lap_fail(err, LAP_E_USAGE, "input is %dx%dx%d, output %dx%dx%d", in->width, in->height,
            in->channels, out->width, out->height, out->channels);
    if (in->place != out->place)
        return lap_fail(err, LAP_E_USAGE, "input lies %s, output %s", place_text(in->place, places[0]),
            place_text(out->place, places[1]));
    if (overlap(in, out))
        return lap_fail(err, LAP_E_USAGE, "input and output overlap");
    return LAP_OK;
}

/* A device fills its apron itself. To use the caller's apron, filter the picture enlarged by it, and keep the
 * middle. */
static lap_code filter_whole(const task *t, lap_error *err)
{
    const lap_resources use = {.exec.err = err};
    if (t->in->apron == 0)
        return lap_rung_filter(t->rung, &use, t->in, t->out, t->params, t->border);
    const lap_view wide = lap_view_inset(t->in, -LAP_APRON);
    lap_image result = {0};
    lap_code code = lap_image_create(&result, wide.width, wide.height, wide.channels, 0, err);
    if (code == LAP_OK)
        code = lap_rung_filter(t->rung, &use, &wide, &result.view, t->params, t->border);
    if (code == LAP_OK) {
        const lap_view middle = lap_view_inset(&result.view, LAP_APRON);
        lap_view_copy(&middle, t->out);
    }
    lap_image_destroy(&result);
    return code;
}

/* Runs on the default stream: it waits for work on other streams, and they wait for it. */
static lap_code filter_on_device(const task *t, const char *backend, lap_error *err)
{
    lap_views_space space = {0};
    const lap_rung *rung;
    lap_code code = lap_rung_find_on_device(LAP_OP_FILTER, backend, t->in->place, &rung, err);
    if (code == LAP_OK)
        code = lap_views_check(t->in, "input", err);
    if (code == LAP_OK)
        code = lap_views_check(t->out, "output", err);
    if (code != LAP_OK)
        return code;
    const lap_views_filter filter = {rung, t->params, t->border};
    code = lap_views_run_filter(&filter, &space, t->in, t->out, NULL, err);
    const lap_code waited = lap_views_wait(t->in->place, NULL, code == LAP_OK ? err : NULL);
    lap_views_space_free(&space);
    return code == LAP_OK ? waited : code;
}

lap_code lap_filter(lap_context *context, const lap_view *in, const lap_view *out, const char *backend,
    const lap_params *params, lap_border border, lap_error *err)
{
    const lap_params complete = lap_params_complete(params);
    task t = {.in = in, .out = out, .params = &complete, .border = border};
    t.control = (lap_control){.cancel = &context->cancel};
    lap_code code = lap_filter_check(in, out, &complete, border, err);
    if (code == LAP_OK && in->place != LAP_ON_HOST)
        return filter_on_device(&t, backend, err);
    if (code == LAP_OK)
        code = lap_rung_find(LAP_OP_FILTER, backend ? backend : "auto", &t.rung, err);
    if (code != LAP_OK)
        return code;
    if (!lap_rung_takes_bands(t.rung))
        return filter_whole(&t, err);
    if (in->apron == 0)
        return filter_copied(context, &t, err);
    const lap_resources use = {.exec = {.threads = context->threads, .err = err}, .pool = context->pool};
    return lap_rung_filter(t.rung, &use, in, out, &complete, border);
}
