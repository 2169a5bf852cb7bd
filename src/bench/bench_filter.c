/* Benches the filter ladder, on a photo or on pixels with sensor noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/status.h"
#include "bench/bench_buffers.h"
#include "bench/bench_image.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device.h"

typedef struct filter_bench {
    lap_bench_buffers buffers;
    lap_image reference; /* the result of c for in[0] */
    double *convert;     /* options->runs values */
} filter_bench;

/* One run from host memory to host memory. */
static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    filter_bench *f = ladder->state;
    const lap_bench_options *options = ladder->bench->options;
    const int pair = turn % f->buffers.pairs;
    lap_split split = {0};
    lap_resources use = lap_bench_resources(ladder);
    use.exec.err = err;
    /* Not if several threads share the rows: all would write to the same split. */
    if (!use.pool || ladder->rung->threading != LAP_THREADS_SPLIT)
        use.exec.split = &split;
    lap_code code = lap_rung_filter(ladder->rung, &use, &f->buffers.in[pair].view, &f->buffers.out[pair].view,
        &options->params, options->border);
    f->convert[turn % options->runs] = split.convert;
    return code;
}

/* ---- checking before timing --------------------------------------------------------------------- */

/* NULL if result equals c's within the tolerance of these parameters, else describes the first difference. */
static const char *compare(const lap_ladder *ladder, const lap_view *result, char message[160])
{
    const filter_bench *f = ladder->state;
    const lap_view *reference = &f->reference.view;
    const int tolerance = lap_params_tolerance(&ladder->bench->options->params);
    const int samples = result->width * result->channels;
    for (int y = 0; tolerance >= 0 && y < result->height; y++) {
        const uint8_t *a = reference->base + y * reference->stride;
        const uint8_t *b = result->base + y * result->stride;
        if (memcmp(a, b, (size_t)samples) == 0)
            continue;
        for (int i = 0; i < samples; i++) {
            if (abs(a[i] - b[i]) > tolerance)
                return lap_bench_refusal(message, "refused: at x=%d y=%d channel %d it gives %d, c gives %d",
                    i / result->channels, y, i % result->channels, b[i], a[i]);
        }
    }
    return NULL;
}

/* Also times the runs. first_ms is the time of a single call of the library, which on a device includes the
 * start of CUDA. end_to_end_ms, on a device, is the median of a few runs: the time of each further call. */
static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    enum { END_TO_END_RUNS = 5 };
    filter_bench *f = ladder->state;
    const lap_view *result = &f->buffers.out[0].view;
    const int runs = ladder->is_on_device ? END_TO_END_RUNS : 1;
    double ms[END_TO_END_RUNS];
    lap_error err = {0};
    lap_bench_poison(result);
    for (int i = 0; i < runs; i++) {
        const double start = lap_now_ms();
        if (run_host(ladder, 0, &err) != LAP_OK)
            return lap_bench_refusal(message, "failed: %.140s", err.message);
        ms[i] = lap_now_ms() - start;
    }
    row->first_ms = ms[0];
    if (ladder->is_on_device)
        row->end_to_end_ms = lap_summarize(ms, runs).median;
    return compare(ladder, result, message);
}

static lap_code finish_host(lap_ladder *ladder, lap_bench_row *row, lap_error *err)
{
    (void)err;
    const filter_bench *f = ladder->state;
    const double convert = lap_summarize(f->convert, ladder->bench->options->runs).median;
    row->convert_ms = convert > 0 ? convert : NAN;
    return LAP_OK;
}

/* ---- on a device -------------------------------------------------------------------------------- */

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)stream;
    (void)err;
    filter_bench *f = ladder->state;
    const int pair = turn % f->buffers.device_pairs;
    return ladder->rung->run.filter(&f->buffers.device_in[pair], &f->buffers.device_out[pair],
        &ladder->bench->options->params, &ladder->exec);
}

/* Copies the same number of bytes with a single copy of CUDA. */
static lap_code copy_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    filter_bench *f = ladder->state;
    const int pair = turn % f->buffers.device_pairs;
    return lap_cuda_copy(ladder->bench->options->device, f->buffers.device_out[pair].base,
        f->buffers.device_in[pair].base, lap_bench_bytes(&f->buffers.in[0].view), stream, err);
}

static lap_code upload(void *argument, int turn, void *stream, lap_error *err)
{
    filter_bench *f = argument;
    const int pair = turn % f->buffers.device_pairs;
    return lap_cuda_upload(&f->buffers.in[0].view, &f->buffers.device_in[pair], stream, err);
}

static lap_code download(void *argument, int turn, void *stream, lap_error *err)
{
    filter_bench *f = argument;
    const int pair = turn % f->buffers.device_pairs;
    return lap_cuda_download(&f->buffers.device_out[pair], &f->buffers.out[0].view, stream, err);
}

static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    filter_bench *f = ladder->state;
    const lap_bench_options *options = ladder->bench->options;
    lap_code code = lap_bench_buffers_on_device(ladder->bench, &f->buffers, LAP_APRON, ladder->bytes, err);
    for (int i = 0; code == LAP_OK && i < f->buffers.device_pairs; i++)
        code = lap_cuda_border(&f->buffers.device_in[i], options->border, NULL, err);
    return code == LAP_OK ? lap_cuda_sync(options->device, NULL, err) : code;
}

static lap_code finish_device(lap_ladder *ladder, lap_bench_row *row, lap_error *err)
{
    const int runs = ladder->bench->options->runs, device = ladder->bench->options->device;
    const lap_cuda_job up = {upload, ladder->state, ladder->times[1]};
    const lap_cuda_job down = {download, ladder->state, ladder->times[2]};
    lap_code code = lap_cuda_time(device, &up, 1, runs, err);
    if (code == LAP_OK)
        code = lap_cuda_time(device, &down, 1, runs, err);
    if (code == LAP_OK) {
        row->upload_ms = lap_summarize(ladder->times[1], runs).median;
        row->download_ms = lap_summarize(ladder->times[2], runs).median;
    }
    return code;
}

/* ---- the whole bench ---------------------------------------------------------------------------- */

static lap_code prepare(lap_ladder *ladder, lap_error *err)
{
    filter_bench *f = ladder->state;
    const lap_bench_options *options = ladder->bench->options;
    lap_code code = lap_bench_image(options, &f->buffers.in[0], err);
    if (code != LAP_OK)
        return code;
    const lap_view *in = &f->buffers.in[0].view;
    lap_bench_ladder_shape(ladder, in);
    ladder->bytes = ladder->copy_bytes = 2 * lap_bench_bytes(in);
    code = lap_bench_buffers_create(ladder->bench, &f->buffers, in->width, in->height, err);
    for (int i = 0; code == LAP_OK && i < f->buffers.pairs; i++)
        lap_border_fill(&f->buffers.in[i].view, options->border);
    if (code == LAP_OK)
        code = lap_image_create(&f->reference, in->width, in->height, in->channels, 0, err);
    f->convert = calloc((size_t)options->runs, sizeof *f->convert);
    if (code == LAP_OK && !f->convert)
        code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for %d timings", options->runs);
    const lap_resources use = {.exec.err = err};
    if (code == LAP_OK)
        code = lap_rung_filter(lap_rung_reference(LAP_OP_FILTER), &use, in, &f->reference.view,
            &options->params, options->border);
    return code == LAP_OK ? lap_bench_ladder_memcpy(ladder, lap_bench_bytes(in), err) : code;
}

/* Parses the name of the loop that the openmp rung makes parallel; LAP_E_USAGE for an unknown name. */
static lap_code parse_loop(const char *name, lap_omp_loop *loop, lap_error *err)
{
    static const char *const names[] = {[LAP_OMP_Y] = "y", [LAP_OMP_X] = "x", [LAP_OMP_WINDOW] = "window"};
    for (int i = 0; i < 3; i++) {
        *loop = (lap_omp_loop)i;
        if (!name || strcmp(name, names[i]) == 0)
            return LAP_OK;
    }
    return lap_fail(err, LAP_E_USAGE, "bench: unknown loop \"%s\"; use y, x or window", name);
}

lap_code lap_bench_filter(lap_bench_run *bench, lap_error *err)
{
    lap_exec form = {.block_x = bench->options->block_x, .block_y = bench->options->block_y};
    if (parse_loop(bench->options->omp_loop, &form.omp_loop, err) != LAP_OK)
        return LAP_E_USAGE;
    if (bench->options->type && strcmp(bench->options->type, "u8") != 0)
        return lap_fail(
            err, LAP_E_USAGE, "bench: type \"%s\" does not fit: images have type u8", bench->options->type);
    filter_bench *f = calloc(1, sizeof *f);
    if (!f)
        return lap_fail(err, LAP_E_MEMORY, "bench: out of memory");
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_FILTER,
        /* 25 multiplications and 24 additions for a byte read and a byte written. */
        .flops_per_byte = 49 / 2.0,
        .lists_families = true,
        .times_apart = true,
        .form = form,
        .state = f,
        .host = run_host,
        .finish_host = finish_host,
        .prepare_device = prepare_device,
        .device = run_device,
        .device_copy = copy_device,
        .finish_device = finish_device,
        .differs = differs};
    lap_code code = prepare(&ladder, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    lap_bench_buffers_destroy(&f->buffers);
    lap_image_destroy(&f->reference);
    free(f->convert);
    free(f);
    return code;
}
