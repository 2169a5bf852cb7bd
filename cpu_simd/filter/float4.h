/* Shared by the float rungs (c, openmp, sse): pixels of four float components (R, G, B, A; images of
 * 1 and 3 channels are padded with zeros), converted from bytes a chunk of rows at a time, with the
 * two pixels of apron on all sides of the source.
 *
 * static inline only: each rung's file compiles this with its own flags. */
#ifndef LAP_CPU_FLOAT4_H
#define LAP_CPU_FLOAT4_H

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"
#include "cpu_simd/host_rungs.h"

_Static_assert(FLT_EVAL_METHOD == 0, "the reference is float32, without excess precision");

enum { COMPONENTS = 4, HALO = 2 * LAP_APRON };

typedef struct float4_job {
    const lap_view *in, *out;
    const lap_params *params;
    const lap_exec *exec;
    int src_width;       /* pixels in a row of src: out->width + HALO */
    int rows;            /* rows that dst has room for; src has HALO more */
    int y;               /* the row of out that row 0 of dst holds */
    float *src;          /* pixel (fy, x + fx) of the window of dst's pixel (0, x), fy and fx from 0 */
    float *dst;          /* 0..255, not yet rounded */
    uint8_t mapped[256]; /* each value after invert and threshold */
} float4_job;

static inline float *float4_src(const float4_job *job, int y)
{
    return job->src + (size_t)y * (size_t)job->src_width * COMPONENTS;
}

static inline float *float4_dst(const float4_job *job, int y)
{
    return job->dst + (size_t)y * (size_t)job->out->width * COMPONENTS;
}

static inline int float4_threads(const float4_job *job)
{
    return job->exec->threads > 1 ? job->exec->threads : 1;
}

/* Returns scale * o + offset, clamped to the range. A NaN (if offset is infinite) becomes 0. Both comparisons
 * compile to one instruction without a branch. */
static inline float float4_range(float o, float scale, float offset, bool is_abs)
{
    float r = scale * o;
    r = r + offset;
    r = is_abs ? __builtin_fabsf(r) : r;
    r = r > 0.0f ? r : 0.0f;
    return r < 255.0f ? r : 255.0f;
}

/* Converts row y of the source, with its apron, from bytes. */
static inline void float4_from_bytes(const float4_job *job, int y)
{
    const int channels = job->in->channels;
    const uint8_t *from = job->in->base + (job->y + y - LAP_APRON) * job->in->stride - LAP_APRON * channels;
    float *to = float4_src(job, y);
    for (int x = 0; x < job->src_width; x++, from += channels, to += COMPONENTS) {
        to[0] = from[0];
        to[1] = channels > 1 ? from[1] : 0;
        to[2] = channels > 1 ? from[2] : 0;
        to[3] = channels > 3 ? from[3] : 0;
    }
}

/* Rounds to nearest even: at 2^23 a float has no bits below 1, so the addition rounds. In plain C, lrintf
 * would be a call for each sample. */
static inline uint8_t float4_round(float r)
{
    return (uint8_t)(int)((r + 8388608.0f) - 8388608.0f);
}

static inline void float4_to_bytes(const float4_job *job, int y)
{
    const int channels = job->out->channels;
    const float *from = float4_dst(job, y);
    uint8_t *to = job->out->base + (job->y + y) * job->out->stride;
    for (int x = 0; x < job->out->width; x++, from += COMPONENTS, to += channels) {
        for (int c = 0; c < channels; c++)
            to[c] = job->mapped[float4_round(from[c])];
    }
}

static inline void float4_map_values(const lap_params *params, uint8_t mapped[256])
{
    for (int i = 0; i < 256; i++) {
        int v = params->invert ? 255 - i : i;
        mapped[i] = (uint8_t)(params->threshold < 0 ? v : v >= params->threshold ? 255 : 0);
    }
}

/* Processes rows first .. first + count - 1 of src or dst. */
typedef void float4_stage(const float4_job *job, int first, int count);

/* Returns the rows of a chunk. src and dst together are limited to 12 MB, enough for 16 rows of 20,000
 * pixels, unless even a chunk of one row needs more. Within that limit the chunk grows with the number of
 * threads, so that each thread has rows to process. */
static inline int float4_rows(int src_width, int height, int threads)
{
    const size_t max_rows = 12 * 1000 * 1000 / (sizeof(float) * COMPONENTS) / (size_t)src_width;
    int fit = max_rows > HALO + 2 ? (int)((max_rows - HALO) / 2) : 1;
    int rows = threads > 1 ? 16 * threads : 16;
    rows = rows < fit ? rows : fit;
    return rows < height ? rows : height;
}

static inline lap_code float4_run(const lap_view *in, const lap_view *out, const lap_params *params,
    const lap_exec *exec, float4_stage *load, float4_stage *filter, float4_stage *store)
{
    float4_job job = {.in = in, .out = out, .params = params, .exec = exec, .src_width = out->width + HALO};
    job.rows = float4_rows(job.src_width, out->height, exec->threads);
    const size_t row = (size_t)job.src_width * COMPONENTS * sizeof(float);
    const size_t bytes = row * (2 * (size_t)job.rows + HALO);
    /* mmap instead of malloc: freeing megabytes after each band would fragment the heap to several times
     * their size. */
    float *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return LAP_E_MEMORY;
    job.src = memory;
    job.dst = memory + row / sizeof(float) * ((size_t)job.rows + HALO);
    float4_map_values(params, job.mapped);
    double convert = 0, loop = 0, start = lap_now_ms();
    load(&job, 0, HALO);
    for (; job.y < out->height; job.y += job.rows) {
        int rows = out->height - job.y < job.rows ? out->height - job.y : job.rows;
        load(&job, HALO, rows);
        double loaded = lap_now_ms();
        filter(&job, 0, rows);
        double filtered = lap_now_ms();
        store(&job, 0, rows);
        memmove(job.src, float4_src(&job, rows), HALO * row);
        double stored = lap_now_ms();
        convert += loaded - start + stored - filtered;
        loop += filtered - loaded;
        start = stored;
    }
    munmap(memory, bytes);
    if (exec->split) {
        exec->split->convert += convert;
        exec->split->loop += loop;
    }
    return LAP_OK;
}

#endif
