/* Shared by the vector rungs of the transpose: blocks that are transposed in registers, with the operations
 * of transpose_words.h. v_low and v_high interleave halves of two registers, lane by lane; v_load loads 16
 * bytes of a row and, if there is a second lane, 16 bytes of another row. Each rung has its own block3 for
 * RGB pixels. */
#ifndef LAP_TRANSPOSE_BLOCKS_H
#define LAP_TRANSPOSE_BLOCKS_H

#include "transpose_tiles.h"
#include "transpose_words.h"

/* Interleaves the first half of the rows with the second half, byte by byte, four times. Each round rotates
 * the bits of the index (row, column) by one, so four rounds swap row and column. */
static inline void block1(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    vec a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        a[i] = v_load(in + i * stride, in + (i + 16) * stride);
#pragma GCC unroll 4
    for (int pass = 0; pass < 4; pass++) {
        vec *from = pass % 2 ? b : a, *to = pass % 2 ? a : b;
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            to[2 * i] = v_low8(from[i], from[i + 8]);
            to[2 * i + 1] = v_high8(from[i], from[i + 8]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        v_store(out + i * LAP_STAGE_PITCH, a[i]);
}

/* Transposes 4 x 4 words in each lane. */
static inline void turn4(vec r[4])
{
    const vec a = v_low32(r[0], r[1]), b = v_low32(r[2], r[3]);
    const vec c = v_high32(r[0], r[1]), d = v_high32(r[2], r[3]);
    r[0] = v_low64(a, b), r[1] = v_high64(a, b);
    r[2] = v_low64(c, d), r[3] = v_high64(c, d);
}

static inline void block4(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    vec r[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        r[i] = v_load(in + i * stride, in + (i + 4) * stride);
    turn4(r);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        v_store(out + i * LAP_STAGE_PITCH, r[i]);
}

static inline void block8(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    const vec a = v_load(in, in + 2 * stride), b = v_load(in + stride, in + 3 * stride);
    v_store(out, v_low64(a, b));
    v_store(out + LAP_STAGE_PITCH, v_high64(a, b));
}

static inline __attribute__((always_inline)) lap_code transpose_by_blocks(
    const lap_view *in, const lap_view *out, lap_block_fn *block3)
{
    switch (in->channels) {
    case 1:
        lap_transpose_tiles(in, out, (lap_blocks){1, 16 * LANES, 16, block1});
        break;
    case 3:
        lap_transpose_tiles(in, out, (lap_blocks){3, 8, 8, block3});
        break;
    case 4:
        lap_transpose_tiles(in, out, (lap_blocks){4, 4 * LANES, 4, block4});
        break;
    default:
        lap_transpose_tiles(in, out, (lap_blocks){8, 2 * LANES, 2, block8});
    }
    return LAP_OK;
}

#endif
