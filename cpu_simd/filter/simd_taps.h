/* Applies integer kernels whose sums fit 16 bits, for simd_filter.h: two taps per multiply-add; taps of
 * weight 0 are skipped. */
#ifndef LAP_CPU_SIMD_TAPS_H
#define LAP_CPU_SIMD_TAPS_H

#include "simd_finish.h"
#include "simd_plane.h"

typedef struct tap_pair {
    ptrdiff_t a, b; /* bytes from the sample to each of the two taps */
    vec weights;
} tap_pair;

/* Since 255 * 128 < 2^15, neither a pair nor the whole sum overflows. Weights must be signed bytes. */
static inline bool taps_fit(const lap_kernel *kernel)
{
    bool fit = kernel->is_integer && kernel->abs_sum <= 128;
    for (int i = 0; i < 25; i++)
        fit = fit && kernel->h[i] <= 127.0f;
    return fit;
}

static inline int taps_list(const plane *p, const lap_kernel *kernel, tap_pair pairs[13])
{
    ptrdiff_t offsets[26] = {0};
    int weights[26] = {0}, n = 0;
    for (int i = 0; i < 25; i++) {
        if (kernel->hi[i] != 0) {
            offsets[n] = (i / 5 - 2) * p->src_stride + (i % 5 - 2) * p->step;
            weights[n++] = kernel->hi[i];
        }
    }
    for (int i = 0; i < n; i += 2) {
        pairs[i / 2] = (tap_pair){offsets[i], offsets[i + 1],
            v_set16((weights[i] & 0xff) | (int)((unsigned)(weights[i + 1] & 0xff) << 8))};
    }
    return (n + 1) / 2;
}

/* Computes vectors k0 .. k1 - 1 of every row; six rows of such a strip stay in the first-level cache. */
INLINE void taps_strip(
    finish_how how, const plane *p, const finish *f, const tap_pair *pairs, int n, int k0, int k1)
{
    for (int y = 0; y < p->height; y++) {
        for (int k = k0; k < k1; k++) {
            const ptrdiff_t x = at(p, k);
            const uint8_t *src = p->src + y * p->src_stride + x;
            vec lo = v_zero(), hi = v_zero();
            for (int i = 0; i < n; i++) {
                vec a = v_load(src + pairs[i].a), b = v_load(src + pairs[i].b);
                lo = v_add16(lo, v_taps_low(a, b, pairs[i].weights));
                hi = v_add16(hi, v_taps_high(a, b, pairs[i].weights));
            }
            put(p, y, x, streams(p, x), finish_16(how, f, lo, hi));
        }
    }
}

static inline void run_taps(const plane *p, const lap_params *params, const finish *f)
{
    enum { TAPS_VECTORS = 2048 / VB };
    const int vectors = vectors_of(p);
    tap_pair pairs[13];
    const int n = taps_list(p, &params->kernel, pairs);
    for (int k = 0; k < vectors; k += TAPS_VECTORS) {
        const int end = vectors - k < TAPS_VECTORS ? vectors : k + TAPS_VECTORS;
        if (f->how == HOW_FLOAT)
            taps_strip(HOW_FLOAT, p, f, pairs, n, k, end);
        else
            taps_strip(HOW_POST, p, f, pairs, n, k, end);
    }
}

#endif
