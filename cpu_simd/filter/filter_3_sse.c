/* sse: a pixel's four components are one vector. Needs only SSE2.
 * Since openmp: one multiplication and one addition process all four components; a minimum and a maximum
 * replace the branches of the range. Four pixels are computed side by side: they share each coefficient, and
 * their chains of sums overlap.
 * Memory: as in c. For three channels a quarter of each vector is empty.
 * Measured: 137 instructions per pixel, of which 50 are products and sums; the conversion of bytes to floats
 * takes 22 % of the time (4992x3744x3, one thread, Zen 4). */
#include <emmintrin.h>

#include "float4.h"

const char lap_filter_sse_flags[] = LAP_RUNG_FLAGS;

#ifndef LAP_SIDE_BY_SIDE /* tools/measure/parts also measures 1 */
#define LAP_SIDE_BY_SIDE 4
#endif
enum { SIDE_BY_SIDE = LAP_SIDE_BY_SIDE };

typedef struct finish {
    __m128 scale, offset, sign; /* sign: the bits that abs clears */
} finish;

static inline __m128 range(__m128 o, const finish *f)
{
    __m128 r = _mm_add_ps(_mm_mul_ps(f->scale, o), f->offset);
    r = _mm_andnot_ps(f->sign, r);
    /* maxps returns its second operand if the first is a NaN. */
    return _mm_min_ps(_mm_max_ps(r, _mm_setzero_ps()), _mm_set1_ps(255.0f));
}

/* Computes n pixels; src is the window of the first. Callers pass a constant n. */
static inline __attribute__((always_inline)) void conv_pixels(
    int n, int src_width, const __m128 *h, const float *src, float *dst, const finish *f)
{
    __m128 sum[SIDE_BY_SIDE];
    for (int i = 0; i < n; i++)
        sum[i] = _mm_setzero_ps();
    for (int fy = 0; fy < 5; fy++, src += (size_t)src_width * COMPONENTS, h += 5) {
#pragma GCC unroll 5
        for (int fx = 0; fx < 5; fx++) {
#pragma GCC unroll 4
            for (int i = 0; i < n; i++) {
                __m128 p = _mm_load_ps(src + (fx + i) * COMPONENTS);
                sum[i] = _mm_add_ps(sum[i], _mm_mul_ps(h[fx], p));
            }
        }
    }
    for (int i = 0; i < n; i++)
        _mm_store_ps(dst + i * COMPONENTS, range(sum[i], f));
}

/* Builds a pixel in a register: a 4-byte load of bytes that were just stored one by one would stall. */
static inline int32_t pixel(const uint8_t *p, int channels)
{
    return channels == 1
               ? p[0]
               : p[0] | p[1] << 8 | p[2] << 16 | (channels > 3 ? (int32_t)((uint32_t)p[3] << 24) : 0);
}

/* Callers of these two functions pass a constant for channels. */
static inline __attribute__((always_inline)) void row_from_bytes(const float4_job *job, int y, int channels)
{
    const uint8_t *from = job->in->base + (job->y + y - LAP_APRON) * job->in->stride - LAP_APRON * channels;
    float *to = float4_src(job, y);
    for (int x = 0; x < job->src_width; x++, from += channels, to += COMPONENTS) {
        __m128i bytes = _mm_cvtsi32_si128(pixel(from, channels));
        __m128i words = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
        _mm_store_ps(to, _mm_cvtepi32_ps(_mm_unpacklo_epi16(words, _mm_setzero_si128())));
    }
}

static inline __attribute__((always_inline)) void row_to_bytes(const float4_job *job, int y, int channels)
{
    const float *from = float4_dst(job, y);
    uint8_t *row = job->out->base + (job->y + y) * job->out->stride, *to = row;
    for (int x = 0; x < job->out->width; x++, from += COMPONENTS, to += channels) {
        __m128i rounded = _mm_cvtps_epi32(_mm_load_ps(from)); /* to nearest even */
        __m128i words = _mm_packs_epi32(rounded, rounded);
        int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
        memcpy(to, &bytes, (size_t)channels);
    }
    if (job->params->invert || job->params->threshold >= 0) {
        for (; row < to; row++) {
            *row = job->mapped[*row];
        }
    }
}

static void load(const float4_job *job, int first, int count)
{
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static)
    for (int y = first; y < first + count; y++) {
        switch (job->in->channels) {
        case 1:
            row_from_bytes(job, y, 1);
            break;
        case 3:
            row_from_bytes(job, y, 3);
            break;
        default:
            row_from_bytes(job, y, 4);
        }
    }
}

static void store(const float4_job *job, int first, int count)
{
#pragma omp parallel for num_threads(float4_threads(job)) schedule(static)
    for (int y = first; y < first + count; y++) {
        switch (job->out->channels) {
        case 1:
            row_to_bytes(job, y, 1);
            break;
        case 3:
            row_to_bytes(job, y, 3);
            break;
        default:
            row_to_bytes(job, y, 4);
        }
    }
}

static void filter(const float4_job *job, int first, int count)
{
    const lap_params *params = job->params;
    const int width = job->out->width;
    const finish f = {_mm_set1_ps(params->scale), _mm_set1_ps(params->offset),
        params->range == LAP_ABS ? _mm_set1_ps(-0.0f) : _mm_setzero_ps()};
    __m128 h[25];
    for (int i = 0; i < 25; i++)
        h[i] = _mm_set1_ps(params->kernel.h[i]);
#pragma omp parallel for num_threads(float4_threads(job)) schedule(dynamic)
    for (int y = first; y < first + count; y++) {
        const float *src = float4_src(job, y);
        float *dst = float4_dst(job, y);
        int x = 0;
        for (; x + SIDE_BY_SIDE <= width; x += SIDE_BY_SIDE) {
            conv_pixels(SIDE_BY_SIDE, job->src_width, h, src + (size_t)x * COMPONENTS,
                dst + (size_t)x * COMPONENTS, &f);
        }
        for (; x < width; x++)
            conv_pixels(1, job->src_width, h, src + (size_t)x * COMPONENTS, dst + (size_t)x * COMPONENTS, &f);
    }
}

lap_code lap_filter_sse(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return float4_run(in, out, params, exec, load, filter, store);
}
