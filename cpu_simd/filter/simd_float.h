/* Applies any kernel, for simd_filter.h: rows become floats once, five of them in a ring, and the 25 products
 * are added in c's order and unfused, so that even rounded sums equal c's, bit for bit. */
#ifndef LAP_CPU_SIMD_FLOAT_H
#define LAP_CPU_SIMD_FLOAT_H

#include "simd_finish.h"
#include "simd_plane.h"

/* 512 samples per strip: five rows of floats take 10 KB. */
enum { FLOAT_VECTORS = 512 / VB, FLOATS = VB / 4, FLOAT_ROW = 512 + 2 * LAP_APRON * 4 };

/* Converts columns x0 - 2 pixels .. x1 + 2 pixels of image row y, and stores them in its row of the ring. */
static inline void float_row(const plane *p, int y, ptrdiff_t x0, ptrdiff_t x1, float ring[5][FLOAT_ROW])
{
    const uint8_t *src = p->src + y * p->src_stride + x0 - LAP_APRON * p->step;
    const ptrdiff_t n = x1 - x0 + 2 * LAP_APRON * p->step;
    float *to = ring[(y + LAP_APRON) % 5];
    for (ptrdiff_t x = 0; x < n; x += FLOATS) {
        const ptrdiff_t i = x < n - FLOATS ? x : n - FLOATS;
        vf_store(to + i, vf_from_bytes(src + i));
    }
}

/* Computes VB results at column x of the ring; rows are the window's. Four sums share each loaded
 * coefficient, and their chains of additions overlap. */
INLINE vec float_sums(const float *const rows[5], ptrdiff_t x, ptrdiff_t step, const vecf *h, const finish *f)
{
    vecf sum[4] = {vf_zero(), vf_zero(), vf_zero(), vf_zero()};
    for (int fy = 0; fy < 5; fy++) {
        const float *row = rows[fy] + x;
        for (int fx = 0; fx < 5; fx++, row += step) {
            const vecf weight = h[5 * fy + fx];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                sum[i] = vf_add(sum[i], vf_mul(weight, vf_load(row + i * FLOATS)));
        }
    }
    return v_bytes(
        finish_float(f, sum[0]), finish_float(f, sum[1]), finish_float(f, sum[2]), finish_float(f, sum[3]));
}

static inline void float_strip(const plane *p, const vecf *h, const finish *f, int k0, int k1)
{
    float ring[5][FLOAT_ROW];
    const ptrdiff_t x0 = at(p, k0), x1 = at(p, k1 - 1) + VB;
    for (int y = -LAP_APRON; y < LAP_APRON; y++)
        float_row(p, y, x0, x1, ring);
    for (int y = 0; y < p->height; y++) {
        const float *rows[5];
        float_row(p, y + LAP_APRON, x0, x1, ring);
        for (int fy = 0; fy < 5; fy++)
            rows[fy] = ring[(y + fy) % 5];
        for (int k = k0; k < k1; k++) {
            const ptrdiff_t x = at(p, k) - x0;
            const vec v = finish_post(f, float_sums(rows, x, p->step, h, f));
            put(p, y, x0 + x, streams(p, x0 + x), v);
        }
    }
}

static inline void run_float(const plane *p, const lap_params *params, const finish *f)
{
    const int vectors = vectors_of(p);
    vecf h[25];
    for (int i = 0; i < 25; i++)
        h[i] = vf_set(params->kernel.h[i]);
    for (int k = 0; k < vectors; k += FLOAT_VECTORS)
        float_strip(p, h, f, k, vectors - k < FLOAT_VECTORS ? vectors : k + FLOAT_VECTORS);
}

#endif
