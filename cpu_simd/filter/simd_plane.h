/* Rows of samples, for the simd rungs. static inline only. */
#ifndef LAP_CPU_SIMD_PLANE_H
#define LAP_CPU_SIMD_PLANE_H

#include <stdbool.h>
#include <stddef.h>

#include "simd_words.h"

typedef struct plane { /* a view as rows of samples; only `step` depends on channels */
    const uint8_t *src;
    uint8_t *dst;
    ptrdiff_t src_stride, dst_stride;
    ptrdiff_t n; /* samples per row, at least VB */
    int height;
    ptrdiff_t step; /* from a sample to the same channel of the next pixel */
    bool stream;    /* dst is aligned and larger than the caches: bypass them */
} plane;

/* Returns the first sample of vector k of a row. The last vector overlaps the one before if n is not a
 * multiple of VB. */
static inline ptrdiff_t at(const plane *p, int k)
{
    const ptrdiff_t x = (ptrdiff_t)k * VB, last = p->n - VB;
    return x < last ? x : last;
}

/* Returns whether the store of the vector at x may bypass the caches; not if it overlaps the vector before.
 */
static inline bool streams(const plane *p, ptrdiff_t x)
{
    return p->stream && x % VB == 0;
}

/* Returns the number of vectors in a row. */
static inline int vectors_of(const plane *p)
{
    return (int)((p->n + VB - 1) / VB);
}

static inline void put(const plane *p, int y, ptrdiff_t x, bool stream, vec v)
{
    uint8_t *to = p->dst + y * p->dst_stride + x;
    if (stream)
        v_stream(to, v);
    else
        v_store(to, v);
}

#endif
