/* Computes laplace5 as 25 p - box5x5(p), for simd_filter.h. */
#ifndef LAP_CPU_SIMD_BOX_H
#define LAP_CPU_SIMD_BOX_H

#include "simd_finish.h"
#include "simd_plane.h"

/* 1536 samples per strip: the ring needs 14 bytes per sample, 21 KB. Together with the rows being read it
 * fits a first-level cache of 32 KB. Four rows per pass: sums that one row passes to the next stay in
 * registers. The rows of the next pass are prefetched during this one, because hardware prefetchers expect
 * runs longer than a strip and would come too late. */
#ifndef LAP_BOX_ROWS /* tools/measure/parts disables one of the two, or both */
#define LAP_BOX_ROWS 4
#define LAP_BOX_AHEAD 1
#endif
enum { BOX_STRIP = 1536, BOX_VECTORS = BOX_STRIP / VB, BOX_ROWS = LAP_BOX_ROWS };
_Static_assert(BOX_STRIP % VB == 0, "a strip is whole vectors");

typedef struct pair { /* 16-bit values of VB samples, in the order of v_low and v_high */
    vec lo, hi;
} pair;

typedef struct box_ring {
    pair row[4][BOX_VECTORS];    /* sums of five bytes; image row r in row[r & 3] */
    pair centre[2][BOX_VECTORS]; /* 25 p; image row r in centre[r & 1] */
    pair box[BOX_VECTORS];       /* sum of the four rows in the ring */
} box_ring;

INLINE pair add(pair a, pair b)
{
    return (pair){v_add16(a.lo, b.lo), v_add16(a.hi, b.hi)};
}

INLINE pair sub(pair a, pair b)
{
    return (pair){v_sub16(a.lo, b.lo), v_sub16(a.hi, b.hi)};
}

INLINE pair sum_of(vec u, vec v)
{
    return (pair){v_sum_low(u, v), v_sum_high(u, v)};
}

/* 25 p */
INLINE pair centre_of(pair middle)
{
    return (pair){v_times(middle.lo, 25), v_times(middle.hi, 25)};
}

/* Returns the sum of the five bytes around each sample from p on; *centre receives 25 times the middle one.
 */
INLINE pair box_row(const uint8_t *p, ptrdiff_t step, pair *centre)
{
    const vec c = v_load(p);
    const pair middle = {v_low(c), v_high(c)};
    *centre = centre_of(middle);
    return add(
        add(sum_of(v_load(p - 2 * step), v_load(p - step)), sum_of(v_load(p + step), v_load(p + 2 * step))),
        middle);
}

/* Fills the ring with the two rows above the image and its first two rows, for vectors k0 .. k1 - 1. */
static inline void box_prime(const plane *p, int k0, int k1, box_ring *ring)
{
    for (int k = k0; k < k1; k++) {
        const uint8_t *src = p->src + at(p, k);
        pair sum = {v_zero(), v_zero()};
        for (int r = -2; r < 2; r++) {
            pair row = box_row(src + r * p->src_stride, p->step, &ring->centre[r & 1][k - k0]);
            ring->row[r & 3][k - k0] = row;
            sum = add(sum, row);
        }
        ring->box[k - k0] = sum;
    }
}

/* Computes `count` image rows from y on; count is a constant and at most BOX_ROWS. plane and finish are
 * passed by value, because otherwise the stores could alias them and each use would load them again. */
INLINE void box_rows(finish_how how, int count, plane p, finish f, int y, int k0, int k1, box_ring *ring)
{
    const uint8_t *src = p.src + (y + 2) * p.src_stride;
    const ptrdiff_t ahead = y + 2 * BOX_ROWS < p.height ? BOX_ROWS * p.src_stride : 0;
    for (int k = 0; k < k1 - k0; k++) {
        const ptrdiff_t x = at(&p, k0 + k);
        const bool stream = streams(&p, x);
        pair box = ring->box[k], next[BOX_ROWS];
#pragma GCC unroll 4
        for (int r = 0; r < count; r++) {
            const uint8_t *row = src + r * p.src_stride + x;
            pair *slot = &ring->row[(y + 2 + r) & 3][k];
            const pair centre = r < 2 ? ring->centre[(y + r) & 1][k] : next[r - 2], leaving = *slot;
            if (LAP_BOX_AHEAD)
                __builtin_prefetch(row + ahead);
            *slot = box_row(row, p.step, &next[r]);
            box = add(box, *slot);
            const pair o = sub(centre, box);
            put(&p, y + r, x, stream, finish_16(how, &f, o.lo, o.hi));
            box = sub(box, leaving);
        }
#pragma GCC unroll 4
        for (int r = count > 2 ? count - 2 : 0; r < count; r++)
            ring->centre[(y + r) & 1][k] = next[r];
        ring->box[k] = box;
    }
}

INLINE void box_strip(finish_how how, const plane *p, const finish *f, int k0, int k1, box_ring *ring)
{
    int y = 0;
    box_prime(p, k0, k1, ring);
    for (; y + BOX_ROWS <= p->height; y += BOX_ROWS)
        box_rows(how, BOX_ROWS, *p, *f, y, k0, k1, ring);
    for (; y < p->height; y++)
        box_rows(how, 1, *p, *f, y, k0, k1, ring);
}

static inline void run_box(const plane *p, const finish *f)
{
    box_ring ring;
    const int vectors = vectors_of(p);
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
