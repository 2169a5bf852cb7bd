/* laplace5 as 25 p - box5x5(p), for simd_filter.h. */
#ifndef LAP_CPU_SIMD_BOX_H
#define LAP_CPU_SIMD_BOX_H

#include "simd_finish.h"
#include "simd_plane.h"

/* 1024 samples a strip: its ring takes 14 bytes a sample, so that ring, five-byte loads and result fit a
 * first-level cache of 32 KB. */
enum { BOX_VECTORS = 1024 / VB, AHEAD = 4 };

typedef struct pair { /* 16-bit values of VB samples, as v_lo8 and v_hi8 order them */
    vec lo, hi;
} pair;

typedef struct box_ring {
    pair row[4][BOX_VECTORS];    /* sums of five bytes; image row r in row[r & 3] */
    pair centre[2][BOX_VECTORS]; /* 25 p; image row r in centre[r & 1] */
    pair box[BOX_VECTORS];       /* sum of the four rows in the ring */
} box_ring;

/* Sum of the five bytes around each sample from p on, and 25 times the middle one. */
INLINE pair box_row(const uint8_t *p, ptrdiff_t step, pair *centre)
{
    const vec one = v_set8(1), zero = v_zero(), weight = v_set16(25);
    vec a = v_load(p - 2 * step), b = v_load(p - step), c = v_load(p), d = v_load(p + step),
        e = v_load(p + 2 * step);
    vec c_lo = v_lo8(c, zero), c_hi = v_hi8(c, zero);
    vec lo = v_add16(v_pairs(v_lo8(a, b), one), v_pairs(v_lo8(d, e), one));
    vec hi = v_add16(v_pairs(v_hi8(a, b), one), v_pairs(v_hi8(d, e), one));
    *centre = (pair){v_mul16(c_lo, weight), v_mul16(c_hi, weight)};
    return (pair){v_add16(lo, c_lo), v_add16(hi, c_hi)};
}

/* Vectors k0 .. k1 - 1 of the two rows above the image's first and of its first two. */
static inline void box_prime(const plane *p, int k0, int k1, box_ring *ring)
{
    for (int k = k0; k < k1; k++) {
        const uint8_t *src = p->src + at(p, k);
        pair sum = {v_zero(), v_zero()};
        for (int r = -2; r < 2; r++) {
            pair row = box_row(src + r * p->src_stride, p->step, &ring->centre[r & 1][k - k0]);
            ring->row[r & 3][k - k0] = row;
            sum = (pair){v_add16(sum.lo, row.lo), v_add16(sum.hi, row.hi)};
        }
        ring->box[k - k0] = sum;
    }
}

INLINE void box_strip(finish_how how, const plane *p, const finish *f, int k0, int k1, box_ring *ring)
{
    box_prime(p, k0, k1, ring);
    for (int y = 0; y < p->height; y++) {
        const uint8_t *src = p->src + (y + 2) * p->src_stride;
        const ptrdiff_t ahead = (y + 2 + AHEAD < p->height ? AHEAD : 0) * p->src_stride;
        pair *rows = ring->row[(y + 2) & 3], *centres = ring->centre[y & 1], *boxes = ring->box;
        for (int k = k0; k < k1; k++, rows++, centres++, boxes++) {
            const ptrdiff_t x = at(p, k);
            pair next, centre = *centres, box = *boxes, leaving = *rows;
            __builtin_prefetch(src + x + ahead);
            pair row = box_row(src + x, p->step, &next);
            box = (pair){v_add16(box.lo, row.lo), v_add16(box.hi, row.hi)};
            put(p, y, x, finish_16(how, f, v_sub16(centre.lo, box.lo), v_sub16(centre.hi, box.hi)));
            *boxes = (pair){v_sub16(box.lo, leaving.lo), v_sub16(box.hi, leaving.hi)};
            *rows = row;
            *centres = next;
        }
    }
}

static inline void run_box(const plane *p, const finish *f)
{
    box_ring ring;
    const int vectors = (p->n + VB - 1) / VB;
    for (int k = 0; k < vectors; k += BOX_VECTORS) {
        const int end = vectors - k < BOX_VECTORS ? vectors : k + BOX_VECTORS;
        switch (f->how) {
        case HOW_CLAMP:
            box_strip(HOW_CLAMP, p, f, k, end, &ring);
            break;
        case HOW_ABS:
            box_strip(HOW_ABS, p, f, k, end, &ring);
            break;
        case HOW_POST:
            box_strip(HOW_POST, p, f, k, end, &ring);
            break;
        case HOW_FLOAT:
            box_strip(HOW_FLOAT, p, f, k, end, &ring);
            break;
        }
    }
}

#endif
