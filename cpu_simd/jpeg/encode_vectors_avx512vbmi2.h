/* Defines the operations of encode_samples.h and encode_dct.h in AVX-512: four blocks in a vector. */
#ifndef LAP_ENCODE_VECTORS_AVX512VBMI2_H
#define LAP_ENCODE_VECTORS_AVX512VBMI2_H

#include <immintrin.h>

#include "encode_strips.h"

typedef __m512i vec;
enum { V_BYTES = 64, V_LANES = 4, V_SETS = 2 };

#define v_zero() _mm512_setzero_si512()
#define v_set16(x) _mm512_set1_epi16((short)(x))
#define v_set32(x) _mm512_set1_epi32((int)(x))
#define v_load(p) _mm512_load_si512(p)
#define v_store(p, v) _mm512_store_si512(p, v)
#define v_load_any(p) _mm512_loadu_si512(p) /* at any address */
#define v_store_any(p, v) _mm512_storeu_si512(p, v)
#define v_each_lane(p) _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(p)))
#define v_add16(a, b) _mm512_add_epi16(a, b)
#define v_sub16(a, b) _mm512_sub_epi16(a, b)
#define v_abs16(v) _mm512_abs_epi16(v)
#define v_mulhi16(a, b) _mm512_mulhi_epu16(a, b)
/* Shifts row i of a block by the shifts of its divisors. */
#define v_divisor_shift16(v, d, i) v_mulhi16(v, v_each_lane((d)->scale + 8 * (i)))
#define v_sll16(v, n) _mm512_slli_epi16(v, (unsigned)(n))
#define v_srl16(v, n) _mm512_srli_epi16(v, (unsigned)(n))
#define v_sra16(v, n) _mm512_srai_epi16(v, (unsigned)(n))
#define v_sll32(v, n) _mm512_slli_epi32(v, (unsigned)(n))
#define v_srl32(v, n) _mm512_srli_epi32(v, (unsigned)(n))
#define v_pairs8(v) _mm512_maddubs_epi16(v, _mm512_set1_epi8(1)) /* sums of two bytes */
#define v_mean8(a, b) _mm512_avg_epu8(a, b)
#define v_pack16(a, b) _mm512_packus_epi16(a, b)
#define v_lo8(a, b) _mm512_unpacklo_epi8(a, b)
#define v_hi8(a, b) _mm512_unpackhi_epi8(a, b)
#define v_lo16(a, b) _mm512_unpacklo_epi16(a, b)
#define v_hi16(a, b) _mm512_unpackhi_epi16(a, b)
#define v_lo32(a, b) _mm512_unpacklo_epi32(a, b)
#define v_hi32(a, b) _mm512_unpackhi_epi32(a, b)
#define v_lo64(a, b) _mm512_unpacklo_epi64(a, b)
#define v_hi64(a, b) _mm512_unpackhi_epi64(a, b)
/* Bytes 0, 2 .. and 1, 3 .. as words. */
#define v_low_bytes(v) _mm512_and_si512(v, v_set16(0xFF))
#define v_high_bytes(v) v_srl16(v, 8)
/* Bits shift .. shift + 15 of 32, of low in even words and of high in odd ones. */
#define v_two_words(low, high, shift) \
    _mm512_mask_blend_epi16(0xAAAAAAAA, v_srl32(low, shift), v_sll32(high, 16 - (shift)))
/* Pairs of words of a and b, of the lower or the upper four of each lane. */
typedef vec v_pair;
#define v_pair_low(a, b) v_lo16(a, b)
#define v_pair_high(a, b) v_hi16(a, b)
/* Pairs of words (a, b) times (w0, w1), plus sum, in 32 bits. */
#define v_rotate(sum, pairs, w0, w1) _mm512_dpwssd_epi32(sum, pairs, v_set32(V_PAIR(w0, w1)))
/* The first term of a sum that v_two_words shifts right; round makes the shift round to nearest. */
#define v_rotation(round, pair, w0, w1) v_rotate(round, pair, w0, w1)
/* v with the sign of like. */
#define v_sign16(v, like) _mm512_mask_sub_epi16(v, _mm512_movepi16_mask(like), v_zero(), v)
#define v_centre() _mm512_set4_epi32(0x00020002, 0x00020002, 0x00020002, V_PAIR(V_CENTRE, 2))

/* Transposes lanes: result k has lane k of each of the four vectors. */
LAP_INLINE void lap_turn_lanes(const __m512i in[4], __m512i out[4])
{
    const __m512i a = _mm512_shuffle_i32x4(in[0], in[1], 0x44), b = _mm512_shuffle_i32x4(in[2], in[3], 0x44);
    const __m512i c = _mm512_shuffle_i32x4(in[0], in[1], 0xEE), d = _mm512_shuffle_i32x4(in[2], in[3], 0xEE);
    out[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    out[1] = _mm512_shuffle_i32x4(a, b, 0xDD);
    out[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    out[3] = _mm512_shuffle_i32x4(c, d, 0xDD);
}

/* For each word in zigzag order: its position in the block as encode_dct.h leaves it. */
static const uint16_t lap_dct_zigzag[64] = {0, 2, 16, 32, 18, 4, 6, 20, 34, 48, 1, 50, 36, 22, 8, 10, 24, 38,
    52, 3, 17, 33, 19, 5, 54, 40, 26, 12, 14, 28, 42, 56, 7, 21, 35, 49, 51, 37, 23, 9, 58, 44, 30, 46, 60,
    11, 25, 39, 53, 55, 41, 27, 13, 62, 15, 29, 43, 57, 59, 45, 31, 47, 61, 63};

LAP_INLINE void v_store_zigzag(const vec q[8], int16_t *const blocks[V_LANES])
{
    vec low[4], high[4];
    lap_turn_lanes(q, low);
    lap_turn_lanes(q + 4, high);
    const vec first = _mm512_loadu_si512(lap_dct_zigzag), second = _mm512_loadu_si512(lap_dct_zigzag + 32);
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        _mm512_store_si512(blocks[i], _mm512_permutex2var_epi16(low[i], first, high[i]));
        _mm512_store_si512(blocks[i] + 32, _mm512_permutex2var_epi16(low[i], second, high[i]));
    }
}

#endif
