/* Rows of samples, for the simd rungs. static inline only. */
#ifndef LAP_CPU_SIMD_PLANE_H
#define LAP_CPU_SIMD_PLANE_H

#include <stdbool.h>
#include <stddef.h>

#include "simd_words.h"

typedef struct plane { /* what is left of views when channels are only a distance */
    const uint8_t *src;
    uint8_t *dst;
    ptrdiff_t src_stride, dst_stride;
    ptrdiff_t n; /* samples per row, at least VB */
    int height;
    ptrdiff_t step; /* from a sample to that of the next pixel */
    bool stream;    /* dst is aligned, and larger than the caches: write around them */
} plane;

/* Vector k of a row; the last one overlaps its neighbour where n is no multiple of VB. */
static inline ptrdiff_t at(const plane *p, int k)
{
    const ptrdiff_t x = (ptrdiff_t)k * VB, last = p->n - VB;
    return x < last ? x : last;
}

/* Whether the vector at x may go around the caches: not where it overlaps the one before. */
static inline bool streams(const plane *p, ptrdiff_t x)
{
    return p->stream && x % VB == 0;
}

/* Vectors that a row takes. */
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
