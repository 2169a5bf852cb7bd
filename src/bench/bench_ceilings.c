/* Measures the host's ceilings: the rate of memory copies, and of float32 multiply-adds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench.h"
#include "bench/bench_buffers.h"
#include "cpu_simd/cpu.h"
#include "cpu_simd/peak/peak.h"

/* ---- memory --------------------------------------------------------------------------------------- */

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
        /* Touch the pages before timing: a page fault costs more than copying the page. */
        memset(job.from, 1, total);
        memset(job.to, 2, total);
        row->backend = row->resolved = "memcpy";
        const lap_bench_work work = {copy_once, &job, 2 * bytes, pixels, times};
        code = lap_bench_time(bench, &work, row, err);
    } else {
        lap_fail(err, code, "bench: no memory for two buffers of %zu bytes", bytes);
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

/* ---- arithmetic ----------------------------------------------------------------------------------- */

/* At one vector a cycle, a run takes about a millisecond: far longer than the clock's resolution, and far
 * shorter than a time slice. */
enum { ROUNDS = 1 << 18 };

typedef struct peak_rung {
    const char *name;
    lap_peak_fn *run;
    int lanes;
} peak_rung;

typedef struct peak_job {
    const peak_rung *peak;
    lap_pool *pool;
    int threads;
    int left; /* shares that no thread has started */
} peak_job;

static peak_rung widest(void)
{
#if defined(__x86_64__)
    if (!lap_cpu_no_avx512())
        return (peak_rung){"simd-avx512", lap_peak_avx512, 16};
    if (!lap_cpu_no_avx2() && !lap_cpu_no_fma())
        return (peak_rung){"simd-avx2", lap_peak_avx2, 8};
    if (!lap_cpu_no_sse41())
        return (peak_rung){"simd-sse41", lap_peak_sse41, 4};
#endif
    return (peak_rung){"c", lap_peak_c, 1};
}

static void take_shares(void *argument)
{
    peak_job *job = argument;
    while (__atomic_sub_fetch(&job->left, 1, __ATOMIC_RELAXED) >= 0) {
        volatile float sum = job->peak->run(ROUNDS);
        (void)sum;
    }
}

static lap_code peak_once(void *argument, lap_times *stages, lap_error *err)
{
    (void)stages;
    (void)err;
    peak_job *job = argument;
    job->left = job->threads;
    lap_pool_team(job->pool, job->threads, take_shares, job);
    return LAP_OK;
}

static lap_code bench_with(lap_bench_run *bench, lap_bench_row row, const peak_rung *peak, int threads,
    double *times, lap_error *err)
{
    peak_job job = {.peak = peak, .pool = threads > 1 ? bench->pool : NULL, .threads = threads};
    row.backend = "multiply-add";
    row.resolved = peak->name;
    row.type = "f32";
    row.threads = threads;
    const lap_bench_work work = {peak_once, &job, 0, NAN, times};
    lap_code code = lap_bench_time(bench, &work, &row, err);
    if (code != LAP_OK)
        return code;
    row.mpix_per_s = row.gb_per_s = row.roof_share = row.speedup = NAN;
    row.gflop_per_s = 2.0 * LAP_PEAK_CHAINS * peak->lanes * ROUNDS * threads / row.median_ms / 1e6;
    bench->each(bench->user, &row);
    return LAP_OK;
}

lap_code lap_bench_peak(lap_bench_run *bench, const lap_bench_row *row, lap_error *err)
{
    const peak_rung peak = widest();
    double *times = calloc((size_t)bench->options->runs, sizeof *times);
    if (!times)
        return lap_fail(err, LAP_E_MEMORY, "bench: no memory for %d timings", bench->options->runs);
    lap_code code = bench_with(bench, *row, &peak, 1, times, err);
    if (code == LAP_OK && bench->threads > 1)
        code = bench_with(bench, *row, &peak, bench->threads, times, err);
    free(times);
    return code;
}
