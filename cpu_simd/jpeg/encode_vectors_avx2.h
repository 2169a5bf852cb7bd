/* Defines the operations of encode_samples.h and encode_dct.h in AVX2: two blocks in a vector. */
#ifndef LAP_ENCODE_VECTORS_AVX2_H
#define LAP_ENCODE_VECTORS_AVX2_H

#include <immintrin.h>

#include "encode_strips.h"

typedef __m256i vec;
enum { V_BYTES = 32, V_LANES = 2, V_SETS = 2 };

#define v_zero() _mm256_setzero_si256()
#define v_set16(x) _mm256_set1_epi16((short)(x))
#define v_set32(x) _mm256_set1_epi32((int)(x))
#define v_load(p) _mm256_load_si256((const __m256i *)(p))
#define v_store(p, v) _mm256_store_si256((__m256i *)(p), v)
#define v_load_any(p) _mm256_loadu_si256((const __m256i *)(p)) /* at any address */
#define v_store_any(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_each_lane(p) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p)))
#define v_add16(a, b) _mm256_add_epi16(a, b)
#define v_sub16(a, b) _mm256_sub_epi16(a, b)
#define v_abs16(v) _mm256_abs_epi16(v)
#define v_mulhi16(a, b) _mm256_mulhi_epu16(a, b)
/* Shifts row i of a block by the shifts of its divisors. */
#define v_divisor_shift16(v, d, i) v_mulhi16(v, v_each_lane((d)->scale + 8 * (i)))
#define v_sll16(v, n) _mm256_slli_epi16(v, n)
#define v_srl16(v, n) _mm256_srli_epi16(v, n)
#define v_sra16(v, n) _mm256_srai_epi16(v, n)
#define v_sll32(v, n) _mm256_slli_epi32(v, n)
#define v_srl32(v, n) _mm256_srli_epi32(v, n)
#define v_pairs8(v) _mm256_maddubs_epi16(v, _mm256_set1_epi8(1)) /* sums of two bytes */
#define v_mean8(a, b) _mm256_avg_epu8(a, b)
#define v_pack16(a, b) _mm256_packus_epi16(a, b)
#define v_lo8(a, b) _mm256_unpacklo_epi8(a, b)
#define v_hi8(a, b) _mm256_unpackhi_epi8(a, b)
#define v_lo16(a, b) _mm256_unpacklo_epi16(a, b)
#define v_hi16(a, b) _mm256_unpackhi_epi16(a, b)
#define v_lo32(a, b) _mm256_unpacklo_epi32(a, b)
#define v_hi32(a, b) _mm256_unpackhi_epi32(a, b)
#define v_lo64(a, b) _mm256_unpacklo_epi64(a, b)
#define v_hi64(a, b) _mm256_unpackhi_epi64(a, b)
/* Bytes 0, 2 .. and 1, 3 .. as words. */
#define v_low_bytes(v) _mm256_and_si256(v, v_set16(0xFF))
#define v_high_bytes(v) v_srl16(v, 8)
/* Bits shift .. shift + 15 of 32, of low in even words and of high in odd ones. */
#define v_two_words(low, high, shift) \
    _mm256_blend_epi16(v_srl32(low, shift), v_sll32(high, 16 - (shift)), 0xAA)
/* Pairs of words of a and b, of the lower or the upper four of each lane. */
typedef vec v_pair;
#define v_pair_low(a, b) v_lo16(a, b)
#define v_pair_high(a, b) v_hi16(a, b)
/* Pairs of words (a, b) times (w0, w1), plus sum, in 32 bits. */
#define v_rotate(sum, pairs, w0, w1) _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, v_set32(V_PAIR(w0, w1))))
/* The first term of a sum that v_two_words shifts right; round makes the shift round to nearest. */
#define v_rotation(round, pair, w0, w1) v_rotate(round, pair, w0, w1)
/* v with the sign of like; 0 if like is 0. */
#define v_sign16(v, like) _mm256_sign_epi16(v, like)
#define v_centre() \
    _mm256_broadcastsi128_si256(_mm_setr_epi32(V_PAIR(V_CENTRE, 2), 0x00020002, 0x00020002, 0x00020002))

/* Returns the index of the first byte that is 0xFF, or V_BYTES. */
LAP_INLINE size_t v_first_ff(vec v)
{
    return _tzcnt_u32((uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(-1))));
}

/* Words a .. h of each lane of q[i]; index -1 gives 0. */
#define LAP_WORD(w) (char)((w) < 0 ? -128 : 2 * (w)), (char)((w) < 0 ? -128 : 2 * (w) + 1)
#define LAP_PICK(i, a, b, c, d, e, f, g, h)                                                                 \
    _mm256_shuffle_epi8(                                                                                    \
        q[i], _mm256_broadcastsi128_si256(_mm_setr_epi8(LAP_WORD(a), LAP_WORD(b), LAP_WORD(c), LAP_WORD(d), \
                  LAP_WORD(e), LAP_WORD(f), LAP_WORD(g), LAP_WORD(h))))
#define LAP_ANY3(a, b, c) _mm256_or_si256(_mm256_or_si256(a, b), c)
#define LAP_ANY5(a, b, c, d, e) _mm256_or_si256(LAP_ANY3(a, b, c), _mm256_or_si256(d, e))

/* Eight words of the scan come from three or five of the vectors in which the DCT stores its results. */
LAP_INLINE void v_store_zigzag(const vec q[8], int16_t *const blocks[V_LANES])
{
    const vec eights[8] = {
        LAP_ANY3(LAP_PICK(0, 0, 2, -1, -1, -1, 4, 6, -1), LAP_PICK(2, -1, -1, 0, -1, 2, -1, -1, 4),
            LAP_PICK(4, -1, -1, -1, 0, -1, -1, -1, -1)),
        LAP_ANY5(LAP_PICK(0, -1, -1, 1, -1, -1, -1, -1, -1), LAP_PICK(1, -1, -1, -1, -1, -1, -1, 0, 2),
            LAP_PICK(2, -1, -1, -1, -1, -1, 6, -1, -1), LAP_PICK(4, 2, -1, -1, -1, 4, -1, -1, -1),
            LAP_PICK(6, -1, 0, -1, 2, -1, -1, -1, -1)),
        LAP_ANY5(LAP_PICK(0, -1, -1, -1, 3, -1, -1, -1, 5), LAP_PICK(2, -1, -1, -1, -1, 1, -1, 3, -1),
            LAP_PICK(3, 0, -1, -1, -1, -1, -1, -1, -1), LAP_PICK(4, -1, 6, -1, -1, -1, 1, -1, -1),
            LAP_PICK(6, -1, -1, 4, -1, -1, -1, -1, -1)),
        LAP_ANY5(LAP_PICK(1, -1, -1, -1, 4, 6, -1, -1, -1), LAP_PICK(3, -1, -1, 2, -1, -1, 4, -1, -1),
            LAP_PICK(5, -1, 0, -1, -1, -1, -1, 2, -1), LAP_PICK(6, 6, -1, -1, -1, -1, -1, -1, -1),
            LAP_PICK(7, -1, -1, -1, -1, -1, -1, -1, 0)),
        LAP_ANY5(LAP_PICK(0, 7, -1, -1, -1, -1, -1, -1, -1), LAP_PICK(1, -1, -1, -1, -1, -1, -1, -1, 1),
            LAP_PICK(2, -1, 5, -1, -1, -1, -1, 7, -1), LAP_PICK(4, -1, -1, 3, -1, -1, 5, -1, -1),
            LAP_PICK(6, -1, -1, -1, 1, 3, -1, -1, -1)),
        LAP_ANY5(LAP_PICK(1, -1, -1, -1, -1, -1, 3, -1, -1), LAP_PICK(3, -1, -1, 6, -1, -1, -1, 1, -1),
            LAP_PICK(4, -1, -1, -1, -1, -1, -1, -1, 7), LAP_PICK(5, -1, 4, -1, 6, -1, -1, -1, -1),
            LAP_PICK(7, 2, -1, -1, -1, 4, -1, -1, -1)),
        LAP_ANY5(LAP_PICK(1, -1, -1, -1, -1, 5, -1, 7, -1), LAP_PICK(3, -1, -1, -1, 3, -1, -1, -1, 5),
            LAP_PICK(5, -1, -1, 1, -1, -1, -1, -1, -1), LAP_PICK(6, 5, 7, -1, -1, -1, -1, -1, -1),
            LAP_PICK(7, -1, -1, -1, -1, -1, 6, -1, -1)),
        LAP_ANY3(LAP_PICK(3, -1, -1, -1, -1, 7, -1, -1, -1), LAP_PICK(5, 3, -1, -1, 5, -1, 7, -1, -1),
            LAP_PICK(7, -1, 1, 3, -1, -1, -1, 5, 7)),
    };
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        _mm_store_si128((__m128i *)(blocks[0] + 8 * i), _mm256_castsi256_si128(eights[i]));
        _mm_store_si128((__m128i *)(blocks[1] + 8 * i), _mm256_extracti128_si256(eights[i], 1));
    }
}

#endif
