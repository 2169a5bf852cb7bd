/* c: rows are read in order, every write goes to another row of the result.
 * Memory: each write touches another line; a line with n elements is full after n rows.
 * Measured: this rung takes 11 times as long as simd-sse41 in one run, 6 times as long as simd in another
 * (2048x1536 floats, one thread, Zen 4). Rows of that result are 6144 bytes apart, 3 * 2^11: a column of
 * it uses only 2 of the 64 sets of a 32 KB first-level cache. */
#include <string.h>

#include "cpu_simd/host_rungs.h"

const char lap_transpose_c_flags[] = LAP_RUNG_FLAGS;

/* The same code for all element sizes. Callers pass a constant size, so memcpy compiles to one or two moves
 * and needs no alignment. */
static inline void transpose(const lap_view *in, const lap_view *out, size_t size)
{
    for (int y = 0; y < in->height; y++) {
        const uint8_t *from = in->base + y * in->stride;
        uint8_t *to = out->base + (size_t)y * size;
        for (int x = 0; x < in->width; x++)
            memcpy(to + x * out->stride, from + (size_t)x * size, size);
    }
}

lap_code lap_transpose_c(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)exec;
    switch (in->channels) {
    case 1:
        transpose(in, out, 1);
        break;
    case 3:
        transpose(in, out, 3);
        break;
    case 4:
        transpose(in, out, 4);
        break;
    default:
        transpose(in, out, 8);
    }
    return LAP_OK;
}
