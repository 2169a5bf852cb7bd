#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"

enum { DEFAULT_RUNS = 20, CODEC_RUNS = 5 /* each is a whole photo, or a folder */, MAX_RUNS = 10000 };

/* Long enough for clocks and page tables to settle; at least one run, so that a slow rung has one. */
static const double warm_up_ms = 50;

typedef lap_code bench_fn(lap_bench_run *bench, lap_error *err);
static bench_fn *const benches[LAP_OP_COUNT] = {
    [LAP_OP_FILTER] = lap_bench_filter,
    [LAP_OP_TRANSPOSE] = lap_bench_transpose,
    [LAP_OP_REDUCE] = lap_bench_reduce,
    [LAP_OP_HISTOGRAM] = lap_bench_histogram,
    [LAP_OP_MATVEC] = lap_bench_matvec,
};

static lap_code check_options(lap_bench_options *options, lap_error *err)
{
    if (options->runs == 0)
        options->runs = DEFAULT_RUNS;
    if (options->runs < 1 || options->runs > MAX_RUNS)
        return lap_fail(err, LAP_E_USAGE, "bench: %d runs; 1 to %d are possible", options->runs, MAX_RUNS);
    if (options->channels == 0)
        options->channels = 3;
    if (options->channels != 1 && options->channels != 3 && options->channels != 4)
        return lap_fail(err, LAP_E_USAGE, "bench: %d channels; 1, 3 and 4 are possible", options->channels);
    if (options->width < 0 || options->height < 0 || (options->width == 0) != (options->height == 0))
        return lap_fail(err, LAP_E_USAGE, "bench: a size of %dx%d", options->width, options->height);
    return LAP_OK;
}

lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options, lap_bench_fn *each,
    void *user, lap_error *err)
{
    if ((int)op < 0 || op > LAP_OP_CODEC)
        return lap_fail(err, LAP_E_USAGE, "bench: no operation of number %d", (int)op);
    lap_bench_options checked = *options;
    if (op == LAP_OP_CODEC && checked.runs == 0)
        checked.runs = CODEC_RUNS;
    lap_code code = check_options(&checked, err);
    if (code != LAP_OK)
        return code;

    int threads = checked.threads;
    if (threads <= 0 || threads > context->threads)
        threads = context->threads;
    lap_bench_run bench = {.options = &checked,
        .pool = context->pool,
        .threads = threads,
        .each = each,
        .user = user,
        .control = lap_context_control(context, 0, 0)};
    return op == LAP_OP_CODEC ? lap_bench_codec(&bench, context, err) : benches[op](&bench, err);
}

lap_bench_row lap_bench_row_of(const lap_rung *rung)
{
    return (lap_bench_row){.op = rung->op,
        .backend = rung->name,
        .flags = rung->flags,
        .threads = 1,
        .median_ms = NAN,
        .mean_ms = NAN,
        .stddev_ms = NAN,
        .min_ms = NAN,
        .max_ms = NAN,
        .convert_ms = NAN,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .end_to_end_ms = NAN,
        .mpix_per_s = NAN,
        .gb_per_s = NAN,
        .roof_share = NAN,
        .speedup = NAN,
        .flops_per_byte = NAN,
        .gflop_per_s = NAN,
        .first_ms = NAN,
        .value = NAN,
        .relative_error = NAN};
}

/* ---- timing ------------------------------------------------------------------------------------ */

void lap_bench_fill_row(lap_bench_run *bench, int place, size_t bytes, double pixels, lap_bench_row *row)
{
    const int n = row->runs;
    if (n < 1)
        return;
    const lap_summary ms = lap_summarize(row->times_ms, n);
    row->median_ms = ms.median;
    row->mean_ms = ms.mean;
    row->stddev_ms = ms.stddev;
    row->min_ms = ms.min;
    row->max_ms = ms.max;

    const double ceiling = bench->ceiling_gb_per_s[place != LAP_ON_HOST];
    if (row->median_ms > 0) {
        row->mpix_per_s = pixels / row->median_ms / 1e3;
        row->gb_per_s = (double)bytes / row->median_ms / 1e6;
    }
    row->gflop_per_s = row->gb_per_s * row->flops_per_byte;
    if (ceiling > 0)
        row->roof_share = row->gb_per_s / ceiling;
    if (bench->c_ms > 0)
        row->speedup = bench->c_ms / row->median_ms;
}

lap_code lap_bench_time(lap_bench_run *bench, lap_timed_fn *fn, void *argument, double *times, size_t bytes,
    double pixels, lap_bench_row *row, lap_error *err)
{
    const lap_timing timing = {
        .control = &bench->control, .runs = bench->options->runs, .warm_up_ms = warm_up_ms};
    lap_run_times taken = {.total = times};
    const lap_code code = lap_time_runs(&timing, fn, argument, &taken, err);
    if (code != LAP_OK)
        return code;
    row->times_ms = times;
    row->runs = taken.runs;
    lap_bench_fill_row(bench, LAP_ON_HOST, bytes, pixels, row);
    return LAP_OK;
}

/* ---- the ceiling of the host -------------------------------------------------------------------- */

typedef struct copy_job {
    char *from, *to;
    size_t bytes, pairs, next;
} copy_job;

static lap_code copy_once(void *argument, lap_times *stages, lap_error *err)
{
    (void)stages, (void)err;
    copy_job *job = argument;
    size_t at = job->next++ % job->pairs * job->bytes;
    memcpy(job->to + at, job->from + at, job->bytes);
    return LAP_OK;
}

size_t lap_bench_pairs(const lap_bench_run *bench, size_t bytes)
{
    /* Both buffers of all pairs together, against last-level caches of 32 to 128 MiB a core can use. */
    const size_t enough = (size_t)256 << 20;
    if (bench->options->warm || bytes == 0 || bytes >= enough)
        return 1;
    size_t pairs = (enough + 2 * bytes - 1) / (2 * bytes);
    return pairs < LAP_BENCH_PAIRS ? pairs : LAP_BENCH_PAIRS;
}

lap_code lap_bench_memcpy(
    lap_bench_run *bench, lap_bench_row *row, size_t bytes, double pixels, lap_error *err)
{
    lap_code code = LAP_E_MEMORY;
    copy_job job = {.bytes = bytes, .pairs = lap_bench_pairs(bench, bytes)};
    double *times = calloc((size_t)bench->options->runs, sizeof *times);
    size_t total = 0;
    if (times && lap_mul(bytes, job.pairs, &total)) {
        job.from = malloc(total);
        job.to = malloc(total);
    }
    if (job.from && job.to) {
        /* Touched before timing: a page fault costs more than copying its page. */
        memset(job.from, 1, total);
        memset(job.to, 2, total);
        row->backend = row->resolved = "memcpy";
        code = lap_bench_time(bench, copy_once, &job, times, 2 * bytes, pixels, row, err);
    } else {
        lap_fail(err, code, "bench: no memory for two times %zu bytes", bytes);
    }
    if (code == LAP_OK) {
        bench->ceiling_gb_per_s[0] = row->gb_per_s;
        row->roof_share = 1;
        bench->each(bench->user, row);
    }
    free(job.from);
    free(job.to);
    free(times);
    return code;
}
