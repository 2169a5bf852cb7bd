/* lap_filter: a caller's own pixels. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/border.h"
#include "base/context.h"
#include "base/control.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"
#include "rungs/backend.h"

#if LAP_HAVE_CUDA
#include "cuda/device/device.h"
#endif

/* Bytes of a band that is copied to get an apron: with its result it stays in a second-level cache
 * (512 KiB and more on x86 cores of the last ten years). */
enum { COPY_BYTES = 192 << 10 };

typedef struct task {
    const lap_view *in, *out;
    const lap_rung *rung;
    const lap_params *params;
    lap_border border;
    lap_control control;
    int band_rows;
    atomic_int next, code;
    lap_error err; /* written by whoever sets code first */
} task;

/* Rows y0 - 2 .. y1 + 1 of the image, as far as they exist, into a band with its apron. */
static void copy_band(const task *t, const lap_view *band, int y0)
{
    const lap_view *in = t->in;
    int y1 = y0 + band->height;
    int begin = y0 < LAP_APRON ? 0 : y0 - LAP_APRON;
    int end = in->height - y1 < LAP_APRON ? in->height : y1 + LAP_APRON;
    for (int y = begin; y < end; y++)
        memcpy(band->base + (y - y0) * band->stride, in->base + y * in->stride,
            (size_t)in->width * (size_t)in->channels);
    lap_border_sides(band, begin - y0, end - y0, t->border);
    if (y0 < LAP_APRON)
        lap_border_top(band, y0, in->height, t->border);
    if (y1 + LAP_APRON > in->height)
        lap_border_bottom(band, y0, in->height, t->border);
}

static lap_code filter_bands(task *t, lap_error *err)
{
    lap_image band = {0};
    int most = t->band_rows < t->in->height ? t->band_rows : t->in->height;
    lap_code code = lap_image_create(&band, t->in->width, most, t->in->channels, LAP_APRON, err);
    lap_exec exec = {.threads = 1, .err = err};
    int y0;
    while (code == LAP_OK && (y0 = t->band_rows * atomic_fetch_add(&t->next, 1)) < t->in->height) {
        lap_view pixels = band.view;
        pixels.height = t->in->height - y0 < t->band_rows ? t->in->height - y0 : t->band_rows;
        lap_view result = lap_view_rows(t->out, y0, pixels.height);
        code = lap_control_check(&t->control, err);
        if (code != LAP_OK)
            break;
        copy_band(t, &pixels, y0);
        code = t->rung->run.filter(&pixels, &result, t->params, &exec);
    }
    lap_image_destroy(&band);
    return code;
}

static void work(void *argument)
{
    task *t = argument;
    lap_error err = {0};
    int code = (int)filter_bands(t, &err), none = LAP_OK;
    if (code != LAP_OK && atomic_compare_exchange_strong(&t->code, &none, code))
        t->err = err;
}

static lap_code filter_copied(lap_context *context, task *t, lap_error *err)
{
    size_t row = ((size_t)t->in->width + 2 * LAP_APRON) * (size_t)t->in->channels;
    size_t rows = COPY_BYTES / row;
    t->band_rows = rows < 8 ? 8 : rows > 128 ? 128 : (int)rows;
    int bands = (t->in->height - 1) / t->band_rows + 1;
    lap_pool_team(context->pool, bands < context->threads ? bands : context->threads, work, t);
    lap_code code = (lap_code)atomic_load(&t->code);
    if (code != LAP_OK && err) {
        *err = t->err;
        err->code = code;
    }
    return code;
}

static lap_code check_view(const lap_view *v, const char *which, lap_error *err)
{
    if (!v->base || v->width < 1 || v->height < 1 ||
        (v->channels != 1 && v->channels != 3 && v->channels != 4))
        return lap_fail(err, LAP_E_USAGE, "%s: %dx%d pixels of %d channels; 1, 3 or 4 channels are filtered",
            which, v->width, v->height, v->channels);
    if (v->place != LAP_ON_HOST)
        return lap_fail(err, LAP_E_USAGE, "%s: the pixels must lie in host memory", which);
    if (v->apron != 0 && v->apron != LAP_APRON)
        return lap_fail(
            err, LAP_E_USAGE, "%s: an apron of %d pixels, not 0 or %d", which, v->apron, LAP_APRON);
    if (v->stride < (ptrdiff_t)v->width * v->channels)
        return lap_fail(err, LAP_E_USAGE, "%s: a stride of %td bytes for rows of %td", which, v->stride,
            (ptrdiff_t)v->width * v->channels);
    return LAP_OK;
}

static bool overlap(const lap_view *a, const lap_view *b)
{
    uintptr_t a0 = (uintptr_t)a->base, b0 = (uintptr_t)b->base;
    uintptr_t a1 = a0 + (size_t)(a->height - 1) * (size_t)a->stride + (size_t)a->width * (size_t)a->channels;
    uintptr_t b1 = b0 + (size_t)(b->height - 1) * (size_t)b->stride + (size_t)b->width * (size_t)b->channels;
    /* Equal strides: two parts of one picture side by side interleave without touching. */
    if (a->stride == b->stride && a0 < b1 && b0 < a1) {
        uintptr_t apart = (a0 < b0 ? b0 - a0 : a0 - b0) % (uintptr_t)a->stride;
        size_t first = (size_t)(a0 < b0 ? a : b)->width * (size_t)a->channels;
        size_t second = (size_t)(a0 < b0 ? b : a)->width * (size_t)a->channels;
        return apart < first || apart + second > (size_t)a->stride;
    }
    return a0 < b1 && b0 < a1;
}

static lap_code check(
    const lap_view *in, const lap_view *out, const lap_params *params, lap_border border, lap_error *err)
{
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
    if (overlap(in, out))
        return lap_fail(err, LAP_E_USAGE, "input and output overlap");
    return LAP_OK;
}

#if LAP_HAVE_CUDA
/* The device makes its own apron. A caller's apron is honoured by filtering a picture that is wider and
 * higher by it, of which the middle is kept. */
static lap_code filter_on_device(const task *t, lap_error *err)
{
    lap_times times = {0};
    if (t->in->apron == 0)
        return lap_cuda_filter_host(t->rung, 0, t->in, t->out, t->params, t->border, &times, err);
    lap_view wide = *t->in;
    wide.base -= LAP_APRON * (wide.stride + wide.channels);
    wide.width += 2 * LAP_APRON;
    wide.height += 2 * LAP_APRON;
    wide.apron = 0;
    lap_image result = {0};
    lap_code code = lap_image_create(&result, wide.width, wide.height, wide.channels, 0, err);
    if (code == LAP_OK)
        code = lap_cuda_filter_host(t->rung, 0, &wide, &result.view, t->params, t->border, &times, err);
    if (code == LAP_OK) {
        lap_view middle = lap_view_rows(&result.view, LAP_APRON, t->out->height);
        middle.base += (ptrdiff_t)LAP_APRON * middle.channels;
        middle.width = t->out->width;
        lap_view_copy(&middle, t->out);
    }
    lap_image_destroy(&result);
    return code;
}
#endif

lap_code lap_filter(lap_context *context, const lap_view *in, const lap_view *out, const char *backend,
    const lap_params *params, lap_border border, lap_error *err)
{
    task t = {.in = in, .out = out, .params = params, .border = border};
    t.control = (lap_control){.cancel = &context->cancel};
    lap_code code = check(in, out, params, border, err);
    if (code == LAP_OK)
        code = lap_rung_find(LAP_OP_FILTER, backend ? backend : "auto", &t.rung, err);
    if (code != LAP_OK)
        return code;
#if LAP_HAVE_CUDA
    if (t.rung->device)
        return filter_on_device(&t, err);
#endif
    if (in->apron == 0)
        return filter_copied(context, &t, err);
    lap_exec exec = {.threads = context->threads, .err = err};
    code = lap_filter_rows(t.rung, in, out, params, &exec, context->pool);
    return code == LAP_E_MEMORY ? lap_fail(err, code, "out of memory in the filter %s", t.rung->name) : code;
}
