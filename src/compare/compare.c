/* Comparing ladders whose results are pictures, and the walk over any ladder. */
#include "compare/compare.h"

#include <math.h>
#include <string.h>

#include "base/border.h"
#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "rungs/spread.h"

#if LAP_HAVE_CUDA
#include "cuda/device/device.h"
#endif

static bool ends_everything(lap_code code)
{
    return code == LAP_E_MEMORY || code == LAP_E_CANCELLED || code == LAP_E_TIMEOUT ||
           code == LAP_E_DIFFERENT;
}

lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err)
{
    const lap_rung *row, *rung;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        lap_error why = {0};
        lap_compare_row told = {.op = op,
            .backend = row->name,
            .relative_error = NAN,
            .ms = NAN,
            .upload_ms = NAN,
            .kernel_ms = NAN,
            .download_ms = NAN};
        if (!lap_rung_is_listed(row, comparison->backends))
            continue;
        lap_code code = lap_control_check(comparison->control, &why);
        if (code == LAP_OK)
            code = lap_rung_find(op, row->name, &rung, &why);
        if (code == LAP_OK) {
            told.resolved = rung->name;
            code = run(state, rung, &told, &why);
            if (code != LAP_OK && why.code != code)
                lap_fail(&why, code, "%s: %s", rung->name, lap_code_name(code));
        }
        if (ends_everything(code)) {
            if (err)
                *err = why;
            return code;
        }
        if (code != LAP_OK)
            told.reason = why.message;
        comparison->each(comparison->user, &told);
    }
    return LAP_OK;
}

/* ---- pictures ----------------------------------------------------------------------------------- */

typedef struct pictures pictures;
typedef lap_code picture_fn(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err);

struct pictures {
    const lap_comparison *comparison;
    picture_fn *on_host, *on_device;
    lap_image law, other; /* of c, and of the rung at hand */
};

static lap_code run_picture(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    pictures *p = state;
    lap_times times = {0};
    /* A rung that writes nothing must not inherit the pixels of the one before. */
    memset(p->other.memory, 0xA5, p->other.bytes);
    double began = lap_now_ms();
    lap_code code = (rung->device ? p->on_device : p->on_host)(p, rung, &p->other.view, &times, err);
    row->ms = lap_now_ms() - began;
    if (rung->device) {
        row->upload_ms = times.upload;
        row->kernel_ms = times.filter;
        row->download_ms = times.download;
    }
    row->a = &p->law.view;
    row->b = &p->other.view;
    if (code == LAP_OK)
        code = lap_compare_views(row->a, row->b, p->comparison->mask_border, false, &row->difference, err);
    return code;
}

static lap_code compare_pictures(pictures *p, lap_op op, int width, int height, lap_error *err)
{
    const int channels = p->comparison->pixels->channels;
    const lap_rung *c;
    lap_code code = lap_rung_find(op, "c", &c, err);
    if (code == LAP_OK)
        code = lap_image_create(&p->law, width, height, channels, 0, err);
    if (code == LAP_OK)
        code = lap_image_create(&p->other, width, height, channels, 0, err);
    if (code == LAP_OK)
        code = p->on_host(p, c, &p->law.view, NULL, err);
    if (code == LAP_OK)
        code = lap_compare_ladder(p->comparison, op, run_picture, p, err);
    lap_image_destroy(&p->law);
    lap_image_destroy(&p->other);
    return code;
}

static lap_code filter_on_host(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err)
{
    const lap_comparison *c = p->comparison;
    const lap_exec exec = {.threads = c->threads, .err = err};
    (void)times;
    return lap_filter_rows(rung, c->pixels, out, c->params, &exec, c->pool);
}

static lap_code transpose_on_host(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err)
{
    const lap_comparison *c = p->comparison;
    const lap_exec exec = {.threads = c->threads, .err = err};
    (void)times;
    return lap_spread_transpose(rung, c->pixels, out, &exec, c->pool);
}

#if LAP_HAVE_CUDA
static lap_code filter_on_device(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err)
{
    const lap_comparison *c = p->comparison;
    return lap_cuda_filter_host(rung, c->device, c->pixels, out, c->params, c->border, times, err);
}

static lap_code transpose_on_device(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err)
{
    const int device = p->comparison->device;
    const lap_view *pixels = p->comparison->pixels;
    const lap_exec exec = {.threads = 1, .err = err};
    lap_view in = {0}, turned = {0};
    lap_code code =
        lap_cuda_view_create(device, pixels->width, pixels->height, pixels->channels, 0, &in, err);
    if (code == LAP_OK)
        code = lap_cuda_view_create(device, out->width, out->height, out->channels, 0, &turned, err);
    if (code == LAP_OK)
        code = lap_cuda_upload(out, &turned, NULL, err); /* poisoned */
    if (code == LAP_OK)
        code = lap_cuda_sync(device, NULL, err);
    double began = lap_now_ms();
    if (code == LAP_OK)
        code = lap_cuda_upload(pixels, &in, NULL, err);
    if (code == LAP_OK)
        code = lap_cuda_sync(device, NULL, err);
    double uploaded = lap_now_ms();
    if (code == LAP_OK)
        code = rung->run.transpose(&in, &turned, &exec);
    if (code == LAP_OK)
        code = lap_cuda_sync(device, NULL, err);
    double ran = lap_now_ms();
    if (code == LAP_OK)
        code = lap_cuda_download(&turned, out, NULL, err);
    if (code == LAP_OK)
        code = lap_cuda_sync(device, NULL, err);
    times->upload = uploaded - began;
    times->filter = ran - uploaded;
    times->download = lap_now_ms() - ran;
    lap_cuda_view_destroy(&in);
    lap_cuda_view_destroy(&turned);
    return code;
}

/* The first allocation creates the context, which is no rung's time. */
static void start_device(const lap_comparison *comparison, lap_op op)
{
    const lap_rung *row;
    void *memory = NULL;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (!row->device || !lap_rung_is_listed(row, comparison->backends) || lap_cuda_unavailable())
            continue;
        if (lap_cuda_alloc(comparison->device, 1, &memory, NULL) == LAP_OK)
            lap_cuda_free(comparison->device, memory);
        return;
    }
}
#else
static lap_code not_built(
    const pictures *p, const lap_rung *rung, const lap_view *out, lap_times *times, lap_error *err)
{
    (void)p, (void)out, (void)times;
    return lap_fail(err, LAP_E_BACKEND, "%s: built without CUDA", rung->name);
}
#define filter_on_device not_built
#define transpose_on_device not_built

static void start_device(const lap_comparison *comparison, lap_op op)
{
    (void)comparison, (void)op;
}
#endif

lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err)
{
    pictures p = {.comparison = comparison, .on_host = filter_on_host, .on_device = filter_on_device};
    lap_border_fill(comparison->pixels, comparison->border);
    return compare_pictures(&p, LAP_OP_FILTER, comparison->pixels->width, comparison->pixels->height, err);
}

lap_code lap_compare_transpose(const lap_comparison *comparison, lap_error *err)
{
    pictures p = {.comparison = comparison, .on_host = transpose_on_host, .on_device = transpose_on_device};
    return compare_pictures(&p, LAP_OP_TRANSPOSE, comparison->pixels->height, comparison->pixels->width, err);
}

/* ---- any ladder --------------------------------------------------------------------------------- */

lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_compare_fn *each, void *user, lap_error *err)
{
    static lap_code (*const ladders[LAP_OP_COUNT])(const lap_comparison *, lap_error *) = {
        [LAP_OP_FILTER] = lap_compare_filter,
        [LAP_OP_TRANSPOSE] = lap_compare_transpose,
        [LAP_OP_REDUCE] = lap_compare_reduce,
        [LAP_OP_HISTOGRAM] = lap_compare_histogram,
        [LAP_OP_MATVEC] = lap_compare_matvec,
    };
    const lap_control control = lap_context_control(context, settings->timeout_s, lap_now_ms());
    const lap_comparison comparison = {.pool = context->pool,
        .control = &control,
        .threads = settings->threads > 0 && settings->threads < context->threads ? settings->threads
                                                                                 : context->threads,
        .device = settings->device,
        .mask_border = options->mask_border,
        .pixels = lap_pixels_view(pixels),
        .backends = options->backends,
        .params = &settings->params,
        .border = settings->border,
        .each = each,
        .user = user};
    if ((int)op < 0 || op >= LAP_OP_COUNT)
        return lap_fail(err, LAP_E_USAGE, "no such ladder: %d", (int)op);
    start_device(&comparison, op);
    return ladders[op](&comparison, err);
}
