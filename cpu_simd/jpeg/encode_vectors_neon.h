/* Defines the operations of encode_samples.h and encode_dct.h in NEON: one block in a vector. */
#ifndef LAP_ENCODE_VECTORS_NEON_H
#define LAP_ENCODE_VECTORS_NEON_H

#include <arm_neon.h>

#include "encode_strips.h"

typedef uint8x16_t vec;
enum { V_BYTES = 16, V_LANES = 1, V_SETS = 1 };

/* Keeps a table's address in one register: otherwise the compiler computes it again for each load. */
#define LAP_ONE_REGISTER(pointer) __asm__("" : "+r"(pointer))

#define v_s16(v) vreinterpretq_s16_u8(v)
#define v_u16(v) vreinterpretq_u16_u8(v)
#define v_s32(v) vreinterpretq_s32_u8(v)
#define v_u32(v) vreinterpretq_u32_u8(v)
#define v_of_s16(v) vreinterpretq_u8_s16(v)
#define v_of_u16(v) vreinterpretq_u8_u16(v)
#define v_of_s32(v) vreinterpretq_u8_s32(v)
#define v_of_u32(v) vreinterpretq_u8_u32(v)
#define v_u64(v) vreinterpretq_u64_u8(v)
#define v_of_u64(v) vreinterpretq_u8_u64(v)

#define v_zero() vdupq_n_u8(0)
#define v_set16(x) v_of_s16(vdupq_n_s16((int16_t)(x)))
#define v_set32(x) v_of_s32(vdupq_n_s32((int32_t)(x)))
#define v_load(p) vld1q_u8((const uint8_t *)(p))
#define v_load_any(p) v_load(p) /* at any address */
#define v_store(p, v) vst1q_u8((uint8_t *)(p), v)
#define v_store_any(p, v) v_store(p, v)
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
#define v_lo64(a, b) v_of_u64(vzip1q_u64(v_u64(a), v_u64(b)))
#define v_hi64(a, b) v_of_u64(vzip2q_u64(v_u64(a), v_u64(b)))
/* Bytes 0, 2 .. and 1, 3 .. as words. */
#define v_low_bytes(v) vtrn1q_u8(v, v_zero())
#define v_high_bytes(v) v_of_u16(vshrq_n_u16(v_u16(v), 8))
/* Bits shift .. shift + 15 of 32, rounded, of low in even words and of high in odd ones. */
#define v_rounded(v, n) v_of_s32(vrshlq_s32(v_s32(v), vdupq_n_s32(-(n))))
#define v_two_words(low, high, shift) \
    v_of_u16(vtrn1q_u16(v_u16(v_rounded(low, shift)), v_u16(v_rounded(high, shift))))

/* Upper halves of products. */
LAP_INLINE vec v_mulhi16(vec a, vec b)
{
    const uint32x4_t low = vmull_u16(vget_low_u16(v_u16(a)), vget_low_u16(v_u16(b)));
    const uint32x4_t high = vmull_high_u16(v_u16(a), v_u16(b));
    return v_of_u16(vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
}

/* Shifts row i of a block by the shifts of its divisors. */
#define v_divisor_shift16(v, d, i) v_of_u16(vshlq_u16(v_u16(v), vld1q_s16((d)->shift + 8 * (i))))

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

/* Four words of a and of b. NEON can multiply words by a scalar and add, so it needs no interleaved pairs. */
typedef struct v_pair {
    int16x4_t a, b;
} v_pair;
#define v_pair_low(first, second) ((v_pair){vget_low_s16(v_s16(first)), vget_low_s16(v_s16(second))})
#define v_pair_high(first, second) ((v_pair){vget_high_s16(v_s16(first)), vget_high_s16(v_s16(second))})
/* The weights of the DCT's rotations. They are loaded once; an instruction multiplies by one lane of the
 * vector. */
static const int16_t lap_turns[16] = {
    4433, 10703, -10704, -6436, 9633, 6437, -4927, -7373, 4926, -4176, -20995, 4177, 0, 0, 0, 0};

LAP_INLINE int16x8_t v_turns(int first)
{
    const int16_t *turns = lap_turns;
    LAP_ONE_REGISTER(turns);
    return vld1q_s16(turns + first);
}

LAP_INLINE int32x4_t v_times(int16x4_t v, int weight)
{
    switch (weight) {
    case 4433:
        return vmull_laneq_s16(v, v_turns(0), 0);
    case 10703:
        return vmull_laneq_s16(v, v_turns(0), 1);
    case -10704:
        return vmull_laneq_s16(v, v_turns(0), 2);
    case -6436:
        return vmull_laneq_s16(v, v_turns(0), 3);
    case 9633:
        return vmull_laneq_s16(v, v_turns(0), 4);
    case 6437:
        return vmull_laneq_s16(v, v_turns(0), 5);
    case -4927:
        return vmull_laneq_s16(v, v_turns(0), 6);
    case -7373:
        return vmull_laneq_s16(v, v_turns(0), 7);
    case 4926:
        return vmull_laneq_s16(v, v_turns(8), 0);
    case -4176:
        return vmull_laneq_s16(v, v_turns(8), 1);
    case -20995:
        return vmull_laneq_s16(v, v_turns(8), 2);
    case 4177:
        return vmull_laneq_s16(v, v_turns(8), 3);
    default:
        return vmull_n_s16(v, (int16_t)weight);
    }
}

LAP_INLINE int32x4_t v_plus_times(int32x4_t sum, int16x4_t v, int weight)
{
    switch (weight) {
    case 4433:
        return vmlal_laneq_s16(sum, v, v_turns(0), 0);
    case 10703:
        return vmlal_laneq_s16(sum, v, v_turns(0), 1);
    case -10704:
        return vmlal_laneq_s16(sum, v, v_turns(0), 2);
    case -6436:
        return vmlal_laneq_s16(sum, v, v_turns(0), 3);
    case 9633:
        return vmlal_laneq_s16(sum, v, v_turns(0), 4);
    case 6437:
        return vmlal_laneq_s16(sum, v, v_turns(0), 5);
    case -4927:
        return vmlal_laneq_s16(sum, v, v_turns(0), 6);
    case -7373:
        return vmlal_laneq_s16(sum, v, v_turns(0), 7);
    case 4926:
        return vmlal_laneq_s16(sum, v, v_turns(8), 0);
    case -4176:
        return vmlal_laneq_s16(sum, v, v_turns(8), 1);
    case -20995:
        return vmlal_laneq_s16(sum, v, v_turns(8), 2);
    case 4177:
        return vmlal_laneq_s16(sum, v, v_turns(8), 3);
    default:
        return vmlal_n_s16(sum, v, (int16_t)weight);
    }
}

/* v_rotate: a w0 + b w1 + sum, 32 bits. v_rotation: the same without sum, because v_two_words rounds. */
#define v_rotate(sum, pair, w0, w1) \
    v_of_s32(v_plus_times(v_plus_times(v_s32(sum), (pair).a, w0), (pair).b, w1))
#define v_rotation(round, pair, w0, w1) \
    ((void)(round), v_of_s32(v_plus_times(v_times((pair).a, w0), (pair).b, w1)))

/* For each byte in zigzag order: its position in the block as encode_dct.h leaves it, and that position less
 * 64. */
static const uint8_t lap_dct_zigzag[2][128] = {
    {0, 1, 4, 5, 32, 33, 64, 65, 36, 37, 8, 9, 12, 13, 40, 41, 68, 69, 96, 97, 2, 3, 100, 101, 72, 73, 44, 45,
        16, 17, 20, 21, 48, 49, 76, 77, 104, 105, 6, 7, 34, 35, 66, 67, 38, 39, 10, 11, 108, 109, 80, 81, 52,
        53, 24, 25, 28, 29, 56, 57, 84, 85, 112, 113, 14, 15, 42, 43, 70, 71, 98, 99, 102, 103, 74, 75, 46,
        47, 18, 19, 116, 117, 88, 89, 60, 61, 92, 93, 120, 121, 22, 23, 50, 51, 78, 79, 106, 107, 110, 111,
        82, 83, 54, 55, 26, 27, 124, 125, 30, 31, 58, 59, 86, 87, 114, 115, 118, 119, 90, 91, 62, 63, 94, 95,
        122, 123, 126, 127},
    {192, 193, 196, 197, 224, 225, 0, 1, 228, 229, 200, 201, 204, 205, 232, 233, 4, 5, 32, 33, 194, 195, 36,
        37, 8, 9, 236, 237, 208, 209, 212, 213, 240, 241, 12, 13, 40, 41, 198, 199, 226, 227, 2, 3, 230, 231,
        202, 203, 44, 45, 16, 17, 244, 245, 216, 217, 220, 221, 248, 249, 20, 21, 48, 49, 206, 207, 234, 235,
        6, 7, 34, 35, 38, 39, 10, 11, 238, 239, 210, 211, 52, 53, 24, 25, 252, 253, 28, 29, 56, 57, 214, 215,
        242, 243, 14, 15, 42, 43, 46, 47, 18, 19, 246, 247, 218, 219, 60, 61, 222, 223, 250, 251, 22, 23, 50,
        51, 54, 55, 26, 27, 254, 255, 30, 31, 58, 59, 62, 63}};

/* A table look-up of 64 bytes covers half of the block; a second look-up adds the bytes of the other half. */
LAP_INLINE void v_store_zigzag(const vec q[8], int16_t *const blocks[V_LANES])
{
    const uint8_t *order = lap_dct_zigzag[0];
    LAP_ONE_REGISTER(order);
    const uint8x16x4_t low = {{q[0], q[1], q[2], q[3]}}, high = {{q[4], q[5], q[6], q[7]}};
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const uint8x16_t words = vqtbl4q_u8(low, vld1q_u8(order + 16 * i));
        vst1q_u8((uint8_t *)(blocks[0] + 8 * i), vqtbx4q_u8(words, high, vld1q_u8(order + 128 + 16 * i)));
    }
}

/* Returns the index of the first byte that is 0xFF, or V_BYTES. */
LAP_INLINE size_t v_first_ff(vec v)
{
    const uint16x8_t found = vreinterpretq_u16_u8(vceqq_u8(v, vdupq_n_u8(0xFF)));
    const uint64_t fours = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(found, 4)), 0);
    return fours ? (size_t)__builtin_ctzll(fours) / 4 : V_BYTES;
}

#endif
