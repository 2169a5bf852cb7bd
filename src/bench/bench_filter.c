/* The bench of the filter ladder: ceilings, then every rung, held against c before it is timed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/status.h"
#include "bench/bench.h"
#include "bench/bench_image.h"
#include "rungs/run_rung.h"

#if LAP_HAVE_CUDA
#include "cuda/device/device.h"
#endif

typedef struct filter_bench {
    lap_bench_run *bench;
    const lap_bench_options *options;
    lap_image in[LAP_BENCH_PAIRS],
        out[LAP_BENCH_PAIRS]; /* rotated, so that no run finds its data in a cache */
    lap_image law;            /* what c gives for in[0] */
    int pairs;
    double *times, *convert; /* options->runs values each */
    double *device_times;    /* four times as many: kernel, upload, download, copy */
    bool copy_done;          /* the device's ceiling has been handed out */

    /* one timed rung */
    const lap_rung *rung;
    lap_pool *pool;
    int threads, calls;
} filter_bench;

static double pixels_of(const filter_bench *f)
{
    return (double)f->in[0].view.width * f->in[0].view.height;
}

static size_t bytes_of(const filter_bench *f)
{
    const lap_view *view = &f->in[0].view;
    return (size_t)view->width * (size_t)view->height * (size_t)view->channels;
}

static lap_bench_row row_of(const filter_bench *f, const lap_rung *rung)
{
    lap_bench_row row = lap_bench_row_of(rung);
    row.width = f->in[0].view.width;
    row.height = f->in[0].view.height;
    row.channels = f->in[0].view.channels;
    /* 25 multiplications and 24 additions for a byte read and a byte written. */
    row.flops_per_byte = 49 / 2.0;
    return row;
}

static lap_exec exec_of(const filter_bench *f)
{
    lap_exec exec = {.threads = f->threads, .block_x = f->options->block_x, .block_y = f->options->block_y};
    const char *loop = f->options->omp_loop;
    if (loop)
        exec.omp_loop = strcmp(loop, "x") == 0        ? LAP_OMP_X
                        : strcmp(loop, "window") == 0 ? LAP_OMP_WINDOW
                                                      : LAP_OMP_Y;
    return exec;
}

static lap_code filter_once(void *argument, lap_error *err)
{
    filter_bench *f = argument;
    lap_split split = {0};
    lap_exec exec = exec_of(f);
    exec.err = err;
    /* Rows spread by the caller would all write into one split. */
    if (f->threads == 1 || f->rung->threading != LAP_THREADS_SPLIT)
        exec.split = &split;
    int pair = f->calls % f->pairs;
    const lap_resources use = {.exec = exec, .pool = f->pool};
    lap_code code = lap_rung_filter(
        f->rung, &use, &f->in[pair].view, &f->out[pair].view, &f->options->params, f->options->border);
    f->convert[f->calls++ % f->options->runs] = split.convert;
    return code == LAP_OK ? LAP_OK : lap_fail(err, code, "%s: %s", f->rung->name, lap_code_name(code));
}

/* ---- the check before the time ------------------------------------------------------------------ */

static void poison(const lap_view *view)
{
    for (int y = 0; y < view->height; ++y)
        memset(view->base + y * view->stride, 0xA5, (size_t)view->width * (size_t)view->channels);
}

/* NULL where result is c's within the promise of these parameters, else the first difference. */
static const char *differs(const filter_bench *f, const lap_view *result, char *message, size_t size)
{
    const int tolerance = lap_params_tolerance(&f->options->params);
    const int samples = result->width * result->channels;
    for (int y = 0; tolerance >= 0 && y < result->height; ++y) {
        const uint8_t *a = f->law.view.base + y * f->law.view.stride;
        const uint8_t *b = result->base + y * result->stride;
        if (memcmp(a, b, (size_t)samples) == 0)
            continue;
        for (int i = 0; i < samples; ++i) {
            if (abs(a[i] - b[i]) <= tolerance)
                continue;
            snprintf(message, size, "refused: at x=%d y=%d channel %d it gives %d, c gives %d",
                i / result->channels, y, i % result->channels, b[i], a[i]);
            return message;
        }
    }
    return NULL;
}

/* ---- rungs -------------------------------------------------------------------------------------- */

static lap_code bench_host_rung(filter_bench *f, lap_bench_row *row, int threads, lap_error *err)
{
    char message[160];
    f->threads = row->threads = threads;
    f->pool = threads > 1 ? f->bench->pool : NULL;
    f->calls = 0;
    poison(&f->out[0].view);
    const double begun = lap_now_ms();
    lap_code code = filter_once(f, err);
    row->first_ms = lap_now_ms() - begun;
    if (code != LAP_OK)
        return code;
    row->reason = differs(f, &f->out[0].view, message, sizeof message);
    if (!row->reason) {
        f->calls = 0;
        code = lap_bench_time(f->bench, filter_once, f, f->times, 2 * bytes_of(f), pixels_of(f), row, err);
        if (code != LAP_OK)
            return code;
        if (strcmp(f->rung->name, "c") == 0 && threads == 1) {
            f->bench->c_ms = row->median_ms;
            row->speedup = 1;
        }
        double convert = lap_bench_median(f->convert, f->options->runs);
        row->convert_ms = convert > 0 ? convert : NAN;
    }
    f->bench->each(f->bench->user, row);
    return LAP_OK;
}

#if LAP_HAVE_CUDA
static void hand_out_copy(filter_bench *f, const lap_bench_row *like, const double *times)
{
    lap_bench_row row = *like;
    row.backend = row.resolved = "copy";
    row.flags = NULL;
    row.flops_per_byte = row.first_ms = row.end_to_end_ms = NAN; /* those of the rung it was timed with */
    row.times_ms = times;
    row.runs = f->options->runs;
    lap_bench_figures(f->bench, f->options->device, 2 * bytes_of(f), pixels_of(f), &row);
    row.kernel_ms = row.median_ms;
    f->bench->ceiling_gb_per_s[1] = row.gb_per_s;
    row.roof_share = 1;
    f->copy_done = true;
    f->bench->each(f->bench->user, &row);
}

/* The whole way as a caller of the library pays for it: device memory, both transfers, the filter. */
static lap_code end_to_end(filter_bench *f, lap_bench_row *row, lap_error *err)
{
    enum { TIMES = 5 };
    double ms[TIMES];
    for (int i = 0; i < TIMES; ++i) {
        const lap_resources use = {.exec.err = err, .device = f->options->device};
        double start = lap_now_ms();
        lap_code code = lap_rung_filter(
            f->rung, &use, &f->in[0].view, &f->out[0].view, &f->options->params, f->options->border);
        if (code != LAP_OK)
            return code;
        ms[i] = lap_now_ms() - start;
    }
    row->first_ms = ms[0];
    row->end_to_end_ms = lap_bench_median(ms, TIMES);
    return LAP_OK;
}

static lap_code bench_device_rung(filter_bench *f, lap_bench_row *row, lap_error *err)
{
    char message[160];
    const int runs = f->options->runs;
    double *kernel = f->device_times, *upload = kernel + runs, *download = upload + runs;
    double *copy = download + runs;
    const lap_view *view = &f->in[0].view;
    const lap_exec exec = exec_of(f);
    poison(&f->out[0].view);
    lap_code code = end_to_end(f, row, err);
    if (code != LAP_OK)
        return code;
    row->reason = differs(f, &f->out[0].view, message, sizeof message);
    if (!row->reason) {
        code = lap_cuda_time_filter(f->rung, f->options->device, view->width, view->height, view->channels,
            view, &f->options->params, f->options->border, &exec, runs, f->options->warm, kernel, upload,
            download, f->copy_done ? NULL : copy, err);
        if (code != LAP_OK)
            return code;
        if (!f->copy_done)
            hand_out_copy(f, row, copy);
        row->times_ms = kernel;
        row->runs = runs;
        lap_bench_figures(f->bench, f->options->device, 2 * bytes_of(f), pixels_of(f), row);
        row->kernel_ms = row->median_ms;
        row->upload_ms = lap_bench_median(upload, runs);
        row->download_ms = lap_bench_median(download, runs);
    }
    f->bench->each(f->bench->user, row);
    return LAP_OK;
}
#else
static lap_code bench_device_rung(filter_bench *f, lap_bench_row *row, lap_error *err)
{
    (void)f;
    (void)row;
    return lap_fail(err, LAP_E_BACKEND, "built without CUDA");
}
#endif

static lap_code bench_rung(filter_bench *f, int index, lap_error *err)
{
    const lap_rung *listed = lap_rung_row(LAP_OP_FILTER, index);
    lap_bench_row row = row_of(f, listed);
    lap_rung_info info;
    if (lap_rung_at(LAP_OP_FILTER, index, true, &info) && info.reason) {
        row.reason = info.reason;
        f->bench->each(f->bench->user, &row);
        return LAP_OK;
    }
    lap_code code = lap_rung_find(LAP_OP_FILTER, listed->name, &f->rung, err);
    if (code != LAP_OK)
        return code;
    row.resolved = f->rung->name;
    row.flags = f->rung->flags;
    if (f->rung->device)
        return bench_device_rung(f, &row, err);
    code = bench_host_rung(f, &row, 1, err);
    if (code != LAP_OK || f->rung->threading == LAP_THREADS_ONE || f->bench->threads == 1)
        return code;
    lap_bench_row spread = row_of(f, listed);
    spread.resolved = row.resolved;
    spread.flags = row.flags;
    return bench_host_rung(f, &spread, f->bench->threads, err);
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static lap_code prepare(filter_bench *f, lap_error *err)
{
    const size_t runs = (size_t)f->options->runs;
    lap_code code = lap_bench_image(f->options, &f->in[0], err);
    if (code != LAP_OK)
        return code;
    lap_border_fill(&f->in[0].view, f->options->border);
    const lap_view *view = &f->in[0].view;
    f->pairs = (int)lap_bench_pairs(f->bench, bytes_of(f));
    for (int i = 0; code == LAP_OK && i < f->pairs; ++i) {
        if (i > 0) {
            code = lap_image_create(&f->in[i], view->width, view->height, view->channels, LAP_APRON, err);
            if (code == LAP_OK) {
                lap_view_copy(view, &f->in[i].view);
                lap_border_fill(&f->in[i].view, f->options->border);
            }
        }
        if (code == LAP_OK)
            code = lap_image_create(&f->out[i], view->width, view->height, view->channels, 0, err);
        if (code == LAP_OK)
            poison(&f->out[i].view);
    }
    if (code == LAP_OK)
        code = lap_image_create(&f->law, view->width, view->height, view->channels, 0, err);
    if (code != LAP_OK)
        return code;
    f->times = calloc(runs, sizeof *f->times);
    f->convert = calloc(runs, sizeof *f->convert);
    f->device_times = calloc(4 * runs, sizeof *f->device_times);
    if (!f->times || !f->convert || !f->device_times)
        return lap_fail(err, LAP_E_MEMORY, "bench: no memory for %zu times", runs);

    const lap_resources use = {.exec.err = err};
    return lap_rung_filter(
        lap_rung_reference(LAP_OP_FILTER), &use, view, &f->law.view, &f->options->params, f->options->border);
}

lap_code lap_bench_filter(lap_bench_run *bench, lap_error *err)
{
    const char *loop = bench->options->omp_loop;
    if (loop && strcmp(loop, "y") != 0 && strcmp(loop, "x") != 0 && strcmp(loop, "window") != 0)
        return lap_fail(err, LAP_E_USAGE, "bench: loop \"%s\"; y, x and window are known", loop);
    filter_bench *f = calloc(1, sizeof *f);
    if (!f)
        return lap_fail(err, LAP_E_MEMORY, "bench: out of memory");
    f->bench = bench;
    f->options = bench->options;
    lap_code code = prepare(f, err);
    if (code == LAP_OK) {
        lap_bench_row row = row_of(f, &(lap_rung){.op = LAP_OP_FILTER});
        row.flops_per_byte = NAN;
        code = lap_bench_memcpy(bench, &row, bytes_of(f), pixels_of(f), err);
        if (code == LAP_OK)
            code = lap_bench_peak(bench, &row, err);
    }
    for (int i = 0; code == LAP_OK; ++i) {
        const lap_rung *rung = lap_rung_row(LAP_OP_FILTER, i);
        if (!rung)
            break;
        if (lap_bench_wants(bench, rung))
            code = bench_rung(f, i, err);
    }
    for (int i = 0; i < LAP_BENCH_PAIRS; ++i) {
        lap_image_destroy(&f->in[i]);
        lap_image_destroy(&f->out[i]);
    }
    lap_image_destroy(&f->law);
    free(f->times);
    free(f->convert);
    free(f->device_times);
    free(f);
    return code;
}
