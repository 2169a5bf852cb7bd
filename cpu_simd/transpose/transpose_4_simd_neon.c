/* simd-neon: blocks of 16 x 16 bytes, 8 x 8 RGB pixels, 4 x 4 floats, 2 x 2 doubles.
 * Since c: blocks are turned in 128-bit registers of aarch64; loads that part red, green and blue make three
 * byte matrices of the pixels.
 * Memory: each line read and written once.
 * Limit: memory. */
#include <arm_neon.h>

#include "transpose_tiles.h"

const char lap_transpose_simd_neon_flags[] = LAP_RUNG_FLAGS;

/* Interleaving the first half of the rows with the second, byte by byte, four times over: the index
 * bits of row and column rotate past each other, which is the transpose. */
static inline void block1(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    uint8x16_t a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        a[i] = vld1q_u8(in + i * stride);
#pragma GCC unroll 4
    for (int pass = 0; pass < 4; pass++) {
        uint8x16_t *from = pass % 2 ? b : a, *to = pass % 2 ? a : b;
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            to[2 * i] = vzip1q_u8(from[i], from[i + 8]);
            to[2 * i + 1] = vzip2q_u8(from[i], from[i + 8]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        vst1q_u8(out + i * LAP_STAGE_PITCH, a[i]);
}

/* An 8 x 8 matrix of bytes, in three rounds as above. */
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

static inline void block4(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    const uint32x4_t r0 = vreinterpretq_u32_u8(vld1q_u8(in)),
                     r1 = vreinterpretq_u32_u8(vld1q_u8(in + stride)),
                     r2 = vreinterpretq_u32_u8(vld1q_u8(in + 2 * stride)),
                     r3 = vreinterpretq_u32_u8(vld1q_u8(in + 3 * stride));
    const uint64x2_t a = vreinterpretq_u64_u32(vzip1q_u32(r0, r1)),
                     b = vreinterpretq_u64_u32(vzip1q_u32(r2, r3)),
                     c = vreinterpretq_u64_u32(vzip2q_u32(r0, r1)),
                     d = vreinterpretq_u64_u32(vzip2q_u32(r2, r3));
    vst1q_u8(out, vreinterpretq_u8_u64(vzip1q_u64(a, b)));
    vst1q_u8(out + LAP_STAGE_PITCH, vreinterpretq_u8_u64(vzip2q_u64(a, b)));
    vst1q_u8(out + 2 * LAP_STAGE_PITCH, vreinterpretq_u8_u64(vzip1q_u64(c, d)));
    vst1q_u8(out + 3 * LAP_STAGE_PITCH, vreinterpretq_u8_u64(vzip2q_u64(c, d)));
}

static inline void block8(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    const uint64x2_t a = vreinterpretq_u64_u8(vld1q_u8(in)), b = vreinterpretq_u64_u8(vld1q_u8(in + stride));
    vst1q_u8(out, vreinterpretq_u8_u64(vzip1q_u64(a, b)));
    vst1q_u8(out + LAP_STAGE_PITCH, vreinterpretq_u8_u64(vzip2q_u64(a, b)));
}

lap_code lap_transpose_simd_neon(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)exec;
    switch (in->channels) {
    case 1:
        lap_transpose_tiles(in, out, (lap_blocks){1, 16, 16, block1});
        break;
    case 3:
        lap_transpose_tiles(in, out, (lap_blocks){3, 8, 8, block3});
        break;
    case 4:
        lap_transpose_tiles(in, out, (lap_blocks){4, 4, 4, block4});
        break;
    default:
        lap_transpose_tiles(in, out, (lap_blocks){8, 2, 2, block8});
    }
    return LAP_OK;
}
