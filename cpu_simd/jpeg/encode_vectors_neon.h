/* The vocabulary of encode_samples.h and encode_dct.h in NEON: one block in a vector. */
#ifndef LAP_ENCODE_VECTORS_NEON_H
#define LAP_ENCODE_VECTORS_NEON_H

#include <arm_neon.h>

#include "encode_strips.h"

typedef uint8x16_t vec;
enum { V_BYTES = 16, V_LANES = 1 };

#define v_s16(v) vreinterpretq_s16_u8(v)
#define v_u16(v) vreinterpretq_u16_u8(v)
#define v_s32(v) vreinterpretq_s32_u8(v)
#define v_u32(v) vreinterpretq_u32_u8(v)
#define v_of_s16(v) vreinterpretq_u8_s16(v)
#define v_of_u16(v) vreinterpretq_u8_u16(v)
#define v_of_s32(v) vreinterpretq_u8_s32(v)
#define v_of_u32(v) vreinterpretq_u8_u32(v)

#define v_zero() vdupq_n_u8(0)
#define v_set16(x) v_of_s16(vdupq_n_s16((int16_t)(x)))
#define v_set32(x) v_of_s32(vdupq_n_s32((int32_t)(x)))
#define v_load(p) vld1q_u8((const uint8_t *)(p))
#define v_store(p, v) vst1q_u8((uint8_t *)(p), v)
#define v_each_lane(p) v_load(p)
#define v_add16(a, b) v_of_s16(vaddq_s16(v_s16(a), v_s16(b)))
#define v_sub16(a, b) v_of_s16(vsubq_s16(v_s16(a), v_s16(b)))
#define v_abs16(v) v_of_s16(vabsq_s16(v_s16(v)))
#define v_sll16(v, n) v_of_s16(vshlq_s16(v_s16(v), vdupq_n_s16((int16_t)(n))))
#define v_sra16(v, n) v_of_s16(vshlq_s16(v_s16(v), vdupq_n_s16((int16_t)(-(n)))))
#define v_srl16(v, n) v_of_u16(vshlq_u16(v_u16(v), vdupq_n_s16((int16_t)(-(n)))))
#define v_srl32(v, n) v_of_u32(vshlq_u32(v_u32(v), vdupq_n_s32(-(n))))
#define v_pairs8(v) v_of_u16(vpaddlq_u8(v)) /* sums of two bytes */
#define v_mean8(a, b) vrhaddq_u8(a, b)
#define v_pack16(a, b) vcombine_u8(vqmovn_u16(v_u16(a)), vqmovn_u16(v_u16(b)))
#define v_lo8(a, b) vzip1q_u8(a, b)
#define v_hi8(a, b) vzip2q_u8(a, b)
#define v_lo16(a, b) v_of_u16(vzip1q_u16(v_u16(a), v_u16(b)))
#define v_hi16(a, b) v_of_u16(vzip2q_u16(v_u16(a), v_u16(b)))
#define v_lo32(a, b) v_of_u32(vzip1q_u32(v_u32(a), v_u32(b)))
#define v_hi32(a, b) v_of_u32(vzip2q_u32(v_u32(a), v_u32(b)))
/* Bits shift .. shift + 15 of 32, of low in even words and of high in odd ones. */
#define v_two_words(low, high, shift) \
    v_of_u16(vtrn1q_u16(v_u16(v_srl32(low, shift)), v_u16(v_srl32(high, shift))))

/* Upper halves of products. */
LAP_INLINE vec v_mulhi16(vec a, vec b)
{
    const uint32x4_t low = vmull_u16(vget_low_u16(v_u16(a)), vget_low_u16(v_u16(b)));
    const uint32x4_t high = vmull_high_u16(v_u16(a), v_u16(b));
    return v_of_u16(vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
}

/* v with the sign of like. */
LAP_INLINE vec v_sign16(vec v, vec like)
{
    const vec sign = v_of_s16(vshrq_n_s16(v_s16(like), 15));
    return v_sub16(veorq_u8(v, sign), sign);
}

LAP_INLINE vec v_centre(void)
{
    static const uint16_t centre[8] = {V_CENTRE, 2, 2, 2, 2, 2, 2, 2};
    return v_load(centre);
}

/* Four words of a and of b. NEON multiplies words by a number and adds, and needs no pairs side by side. */
typedef struct v_pair {
    int16x4_t a, b;
} v_pair;
#define v_pair_low(first, second) ((v_pair){vget_low_s16(v_s16(first)), vget_low_s16(v_s16(second))})
#define v_pair_high(first, second) ((v_pair){vget_high_s16(v_s16(first)), vget_high_s16(v_s16(second))})
/* a w0 + b w1 + sum, 32 bits. */
#define v_rotate(sum, pair, w0, w1) v_of_s32(vmlal_n_s16(vmlal_n_s16(v_s32(sum), (pair).a, w0), (pair).b, w1))

/* Of the words of a block as encode_dct.h leaves them, in zigzag order: where each comes from. */
static const uint8_t lap_dct_zigzag[64] = {0, 2, 16, 32, 18, 4, 6, 20, 34, 48, 1, 50, 36, 22, 8, 10, 24, 38,
    52, 3, 17, 33, 19, 5, 54, 40, 26, 12, 14, 28, 42, 56, 7, 21, 35, 49, 51, 37, 23, 9, 58, 44, 30, 46, 60,
    11, 25, 39, 53, 55, 41, 27, 13, 62, 15, 29, 43, 57, 59, 45, 31, 47, 61, 63};

/* A table of 64 bytes holds half of the block: what is not in the first half comes from the second. */
LAP_INLINE void v_store_zigzag(const vec q[8], int16_t *const blocks[V_LANES])
{
    const uint8x16x4_t low = {{q[0], q[1], q[2], q[3]}}, high = {{q[4], q[5], q[6], q[7]}};
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const uint8x8_t word = vld1_u8(lap_dct_zigzag + 8 * i), byte = vadd_u8(word, word);
        const uint8x16_t from = vcombine_u8(
            vzip1_u8(byte, vadd_u8(byte, vdup_n_u8(1))), vzip2_u8(byte, vadd_u8(byte, vdup_n_u8(1))));
        const uint8x16_t words = vqtbl4q_u8(low, from);
        vst1q_u8((uint8_t *)(blocks[0] + 8 * i), vqtbx4q_u8(words, high, vsubq_u8(from, vdupq_n_u8(64))));
    }
}

#endif
