/* simd-neon: blocks of 16 x 16 bytes, 8 x 8 RGB pixels, 4 x 4 floats, 2 x 2 doubles.
 * Since c: blocks are transposed in 128-bit registers of aarch64. For RGB pixels, loads separate red,
 * green and blue into three matrices of bytes.
 * Memory: each line read and written once.
 * Limit: not measured. */
#include "transpose_blocks.h"

const char lap_transpose_simd_neon_flags[] = LAP_RUNG_FLAGS;

/* Transposes an 8 x 8 matrix of bytes, in three rounds like those of block1. */
static inline void turn8(uint8x8_t r[8])
{
    uint8x8_t b[8];
#pragma GCC unroll 3
    for (int pass = 0; pass < 3; pass++) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            b[2 * i] = vzip1_u8(r[i], r[i + 4]);
            b[2 * i + 1] = vzip2_u8(r[i], r[i + 4]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            r[i] = b[i];
    }
}

static inline void block3(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    uint8x8_t colour[3][8];
#pragma GCC unroll 8
    for (int y = 0; y < 8; y++) {
        const uint8x8x3_t row = vld3_u8(in + y * stride);
        colour[0][y] = row.val[0], colour[1][y] = row.val[1], colour[2][y] = row.val[2];
    }
#pragma GCC unroll 3
    for (int c = 0; c < 3; c++)
        turn8(colour[c]);
#pragma GCC unroll 8
    for (int x = 0; x < 8; x++)
        vst3_u8(out + x * LAP_STAGE_PITCH, ((uint8x8x3_t){{colour[0][x], colour[1][x], colour[2][x]}}));
}

lap_code lap_transpose_simd_neon(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)exec;
    return transpose_by_blocks(in, out, block3);
}
