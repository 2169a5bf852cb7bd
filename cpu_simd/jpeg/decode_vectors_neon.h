/* Defines the operations of decode_dct.h, decode_pixels.h and decode_unstuff.h in NEON: those that the
 * encoder's header lacks. */
#ifndef LAP_DECODE_VECTORS_NEON_H
#define LAP_DECODE_VECTORS_NEON_H

#include "encode_vectors_neon.h"

enum { V_SHARES = 8 }; /* vectors per block in memory */

/* V_BYTES / 2 bytes to words. */
#define v_widen(p) v_of_u16(vmovl_u8(vld1_u8(p)))
#define v_add32(a, b) v_of_s32(vaddq_s32(v_s32(a), v_s32(b)))
#define v_sub32(a, b) v_of_s32(vsubq_s32(v_s32(a), v_s32(b)))
#define v_sra32(v, n) v_of_s32(vshlq_s32(v_s32(v), vdupq_n_s32(-(n))))
#define v_sll32(v, n) v_of_s32(vshlq_s32(v_s32(v), vdupq_n_s32(n)))
#define v_mullo16(a, b) v_of_s16(vmulq_s16(v_s16(a), v_s16(b)))
/* v * w / 2^15, rounded to nearest */
#define v_scale16(v, w) v_of_s16(vqrdmulhq_n_s16(v_s16(v), w))
#define v_adds16(a, b) v_of_s16(vqaddq_s16(v_s16(a), v_s16(b)))
#define v_max16(a, b) v_of_u16(vmaxq_u16(v_u16(a), v_u16(b)))
#define v_less16(a, b) v_of_u16(vqsubq_u16(v_u16(a), v_u16(b))) /* a - b, not below 0 */
#define v_and(a, b) vandq_u8(a, b)
#define v_or3(a, b, c) vorrq_u8(vorrq_u8(a, b), c)
#define v_clamp8(a, b) vcombine_u8(vqmovun_s16(v_s16(a)), vqmovun_s16(v_s16(b))) /* signed words to bytes */
#define v_pack32(a, b) v_of_s16(vqmovn_high_s32(vqmovn_s32(v_s32(a)), v_s32(b)))

/* sum + pairs of words times (w0, w1), 32 bits. The weights are loaded once. */
static const int16_t lap_inverse_weights[16] = {
    8192, 10703, 4433, 10704, 11363, 9633, 2259, 6437, 11362, 2260, 6436, 2261, 11277, 23401, 0, 0};

/* Index in lap_inverse_weights. */
#define LAP_WEIGHT_INDEX(w) \
    ((w) == 8192       ? 0  \
        : (w) == 10703 ? 1  \
        : (w) == 4433  ? 2  \
        : (w) == 10704 ? 3  \
        : (w) == 11363 ? 4  \
        : (w) == 9633  ? 5  \
        : (w) == 2259  ? 6  \
        : (w) == 6437  ? 7  \
        : (w) == 11362 ? 8  \
        : (w) == 2260  ? 9  \
        : (w) == 6436  ? 10 \
        : (w) == 2261  ? 11 \
        : (w) == 11277 ? 12 \
                       : 13)
#define LAP_TIMES(sum, v, w)                                                           \
    ((w) > 0 ? vmlal_s16(sum, v, vdup_n_s16(lap_inverse_weights[LAP_WEIGHT_INDEX(w)])) \
             : vmlsl_s16(sum, v, vdup_n_s16(lap_inverse_weights[LAP_WEIGHT_INDEX(-(w))])))
#define v_dot(sum, pair, w0, w1) v_of_s32(LAP_TIMES(LAP_TIMES(v_s32(sum), (pair).a, w0), (pair).b, w1))

/* The first of two vectors in even words, the second in odd ones. */
#define v_words(even, odd) v_of_u32(vbslq_u32(vdupq_n_u32(0xFFFF), v_u32(even), v_u32(odd)))

LAP_INLINE bool v_any(vec v, int bits)
{
    return vmaxvq_u16(v_u16(vandq_u8(v, v_set16(bits)))) != 0;
}

/* Returns whether any product of unsigned words exceeds 2^15 - 1. */
LAP_INLINE bool v_beyond_words(vec a, vec b)
{
    return v_any(vorrq_u8(v_mulhi16(a, b), v_srl16(v_mullo16(a, b), 15)), -1);
}

/* Transposes as decode_dct.h describes: stores the pairs of the first two columns of four outputs, and of the
 * last two. */
LAP_INLINE void v_turn(const vec out[4], v_pair *first, v_pair *last)
{
    const int16x4_t n0 = vqmovn_s32(v_s32(out[0])), n1 = vqmovn_s32(v_s32(out[1]));
    const int16x4_t n2 = vqmovn_s32(v_s32(out[2])), n3 = vqmovn_s32(v_s32(out[3]));
    const int32x2_t even01 = vreinterpret_s32_s16(vtrn1_s16(n0, n1));
    const int32x2_t odd01 = vreinterpret_s32_s16(vtrn2_s16(n0, n1));
    const int32x2_t even23 = vreinterpret_s32_s16(vtrn1_s16(n2, n3));
    const int32x2_t odd23 = vreinterpret_s32_s16(vtrn2_s16(n2, n3));
    first->a = vreinterpret_s16_s32(vtrn1_s32(even01, even23));
    first->b = vreinterpret_s16_s32(vtrn1_s32(odd01, odd23));
    last->a = vreinterpret_s16_s32(vtrn2_s32(even01, even23));
    last->b = vreinterpret_s16_s32(vtrn2_s32(odd01, odd23));
}

/* See lap_inverse_blocks in decode_dct.h. */
LAP_INLINE void v_load_columns(const int16_t *coefficients, const uint16_t *quant, bool whole,
    vec largest[V_SHARES], v_pair columns[2][4])
{
    const int used = whole ? 4 : 2;
#pragma GCC unroll 8
    for (int i = 0; i < 2 * used; i++)
        largest[i] = v_max16(largest[i], v_abs16(v_load(coefficients + 8 * i)));
#pragma GCC unroll 4
    for (int i = 0; i < used; i++) {
        const int16x8x2_t pair = vld2q_s16(coefficients + 16 * i);
        const uint16x8x2_t q = vld2q_u16(quant + 16 * i);
        const int16x8_t a = vmulq_s16(pair.val[0], vreinterpretq_s16_u16(q.val[0]));
        const int16x8_t b = vmulq_s16(pair.val[1], vreinterpretq_s16_u16(q.val[1]));
        const int to = i % 2 * 2 + i / 2;
        columns[0][to] = (v_pair){vget_low_s16(a), vget_low_s16(b)};
        columns[1][to] = (v_pair){vget_high_s16(a), vget_high_s16(b)};
    }
}

#define v_load_dc(coefficients) v_load(coefficients)

/* Stores two rows of samples: x 0 (row 0, row 1), x 4 (row 0, row 1), x 1, x 5, .. */
LAP_INLINE void v_store_rows(vec v, uint8_t *row0, uint8_t *row1)
{
    static const uint8_t order[16] = {0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15};
    const vec rows = vqtbl1q_u8(v, vld1q_u8(order));
    vst1_u8(row0, vget_low_u8(rows));
    vst1_u8(row1, vget_high_u8(rows));
}

/* Stores byte 0 eight times in each of eight rows. */
LAP_INLINE void v_store_flat(vec v, uint8_t *rows, ptrdiff_t stride)
{
    const uint8x8_t row = vdup_laneq_u8(v, 0);
    for (int y = 0; y < 8; y++)
        vst1_u8(rows + y * stride, row);
}

/* Interleaves eight even pixels and eight odd ones. */
LAP_INLINE vec v_in_turn(vec v)
{
    const uint8x8x2_t pairs = vzip_u8(vget_low_u8(v), vget_high_u8(v));
    return vcombine_u8(pairs.val[0], pairs.val[1]);
}

/* Stores V_BYTES pixels. Each colour has eight even pixels, then eight odd ones. */
LAP_INLINE void v_store_pixels(vec r, vec g, vec b, uint8_t *out)
{
    const uint8x16x3_t pixels = {{v_in_turn(r), v_in_turn(g), v_in_turn(b)}}; /* vst3q_u8 may be a macro */
    vst3q_u8(out, pixels);
}

#endif
