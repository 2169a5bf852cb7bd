/* Fills the rows of a bench from their times. */
#include <math.h>
#include <time.h>

#include "bench/bench.h"

/* The warm-up is long enough for clock rates and page tables to settle. Even for a slow rung it has at least
 * one run. */
static const double warm_up_ms = 50;

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

lap_code lap_bench_time(lap_bench_run *bench, const lap_bench_work *work, lap_bench_row *row, lap_error *err)
{
    const lap_timing timing = {
        .control = &bench->control, .runs = bench->options->runs, .warm_up_ms = warm_up_ms};
    lap_run_times taken = {.total = work->times};
    const lap_code code = lap_time_runs(&timing, work->fn, work->argument, &taken, err);
    if (code != LAP_OK)
        return code;
    row->times_ms = work->times;
    row->runs = taken.runs;
    lap_bench_fill_row(bench, LAP_ON_HOST, work->bytes, work->pixels, row);
    return LAP_OK;
}

double lap_bench_cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}
