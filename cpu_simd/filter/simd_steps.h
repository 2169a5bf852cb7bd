/* Computes laplace5 as 25 p - box in plain forms, one row after the other: the steps between sse and simd.
 * static inline only. */
#ifndef LAP_CPU_SIMD_STEPS_H
#define LAP_CPU_SIMD_STEPS_H

#include "simd_filter.h"

typedef struct step_ring {
    pair row[5][BOX_VECTORS]; /* sums of five bytes; image row r in row[(r + 2) % 5] */
    pair box[BOX_VECTORS];    /* their sum; used only if it slides */
} step_ring;

/* Adds row r. If it is at least the fifth, writes the result for the row two above it. */
INLINE void step_row(
    bool slides, finish_how how, const plane *p, const finish *f, int r, int k0, int k1, step_ring *ring)
{
    const int slot = (r + LAP_APRON) % 5;
    for (int k = 0; k < k1 - k0; k++) {
        const ptrdiff_t x = at(p, k0 + k);
        pair unused, box, entering = box_row(p->src + r * p->src_stride + x, p->step, &unused);
        if (slides)
            box = ring->box[k] = add(ring->box[k], sub(entering, ring->row[slot][k]));
        ring->row[slot][k] = entering;
        if (!slides)
            box = add(add(add(ring->row[0][k], ring->row[1][k]), add(ring->row[2][k], ring->row[3][k])),
                ring->row[4][k]);
        if (r < LAP_APRON)
            continue;
        const vec c = v_load(p->src + (r - LAP_APRON) * p->src_stride + x);
        const pair o = sub(centre_of((pair){v_low(c), v_high(c)}), box);
        put(p, r - LAP_APRON, x, false, finish_16(how, f, o.lo, o.hi));
    }
}

INLINE void step_strips(bool slides, finish_how how, const plane *p, const finish *f)
{
    const int vectors = vectors_of(p);
    for (int k = 0; k < vectors; k += BOX_VECTORS) {
        const int end = vectors - k < BOX_VECTORS ? vectors : k + BOX_VECTORS;
        step_ring ring = {0};
        for (int r = -LAP_APRON; r < p->height + LAP_APRON; r++)
            step_row(slides, how, p, f, r, k, end, &ring);
    }
}

/* Kernels other than laplace5 use run_plane: taps or, if they do not fit, floats. */
INLINE void run_step(bool slides, const plane *p, const lap_params *params)
{
    const finish f = finish_of(params);
    if (!params->kernel.is_laplace5)
        run_plane(p, params);
    else if (f.how == HOW_CLAMP)
        step_strips(slides, HOW_CLAMP, p, &f);
    else if (f.how == HOW_FLOAT)
        step_strips(slides, HOW_FLOAT, p, &f);
    else
        step_strips(slides, HOW_POST, p, &f);
}

#endif
