/* openmp: the loops of c, one of them run by several threads.
 * Since c: exec->omp_loop selects the parallel loop: rows (one fork per chunk), pixels of a row (one fork per
 * row), or the rows of the window (one fork per pixel, which costs far more than the 25 products). Variables
 * that a loop's body declares are private to a thread; all others are shared.
 * Memory: as in c.
 * Measured: two threads are 1.82 times as fast as one (4992x3744x3, Zen 4). */
#include "conv_row.h"

const char lap_filter_openmp_flags[] = LAP_RUNG_FLAGS;

static void load(const float4_job *job, int first, int count)
{
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static)
    for (int y = first; y < first + count; y++)
        float4_from_bytes(job, y);
}

static void store(const float4_job *job, int first, int count)
{
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static)
    for (int y = first; y < first + count; y++)
        float4_to_bytes(job, y);
}

static void filter_by_rows(const float4_job *job, int first, int count)
{
    /* Dynamic scheduling, so that a core busy with other work does not delay the chunk. */
#pragma omp parallel for num_threads(float4_threads(job)) schedule(dynamic)
    for (int y = first; y < first + count; y++)
        conv_row(job->out->width, job->src_width, job->params, float4_src(job, y), float4_dst(job, y));
}

static void filter_by_pixels(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++) {
        const float *src = float4_src(job, y);
        float *dst = float4_dst(job, y);
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static)
        for (int x = 0; x < job->out->width; x++) {
            conv_row(
                1, job->src_width, job->params, src + (size_t)x * COMPONENTS, dst + (size_t)x * COMPONENTS);
        }
    }
}

static void filter_by_window(const float4_job *job, int first, int count)
{
    const float *h = job->params->kernel.h;
    for (int y = first; y < first + count; y++) {
        for (int x = 0; x < job->out->width; x++) {
            const float *src = float4_src(job, y) + (size_t)x * COMPONENTS;
            float sum[COMPONENTS] = {0};
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static) reduction(+ : sum[:COMPONENTS])
            for (int fy = 0; fy < 5; fy++) {
                const float *p = src + (size_t)fy * (size_t)job->src_width * COMPONENTS;
                for (int i = 0; i < 5 * COMPONENTS; i++)
                    sum[i % COMPONENTS] += h[5 * fy + i / COMPONENTS] * p[i];
            }
            conv_range(job->params, sum);
            memcpy(float4_dst(job, y) + (size_t)x * COMPONENTS, sum, sizeof sum);
        }
    }
}

lap_code lap_filter_openmp(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    static float4_stage *const filters[] = {
        [LAP_OMP_Y] = filter_by_rows, [LAP_OMP_X] = filter_by_pixels, [LAP_OMP_WINDOW] = filter_by_window};
    return float4_run(in, out, params, exec, load, filters[exec->omp_loop], store);
}
