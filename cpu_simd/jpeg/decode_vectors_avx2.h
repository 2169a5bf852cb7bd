/* Defines the operations of decode_dct.h, decode_pixels.h and decode_unstuff.h in AVX2: those that the
 * encoder's header lacks. */
#ifndef LAP_DECODE_VECTORS_AVX2_H
#define LAP_DECODE_VECTORS_AVX2_H

#include "encode_vectors_avx2.h"

enum { V_SHARES = 4 }; /* vectors per block in memory */

#define v_each_lane_any(p) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p)))
/* V_BYTES / 2 bytes to words. */
#define v_widen(p) _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p)))
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_sub32(a, b) _mm256_sub_epi32(a, b)
#define v_sra32(v, n) _mm256_srai_epi32(v, n)
#define v_mullo16(a, b) _mm256_mullo_epi16(a, b)
#define v_scale16(v, w) _mm256_mulhrs_epi16(v, v_set16(w)) /* v * w / 2^15, rounded to nearest */
#define v_adds16(a, b) _mm256_adds_epi16(a, b)
#define v_max16(a, b) _mm256_max_epu16(a, b)
#define v_less16(a, b) _mm256_subs_epu16(a, b) /* a - b, not below 0 */
#define v_and(a, b) _mm256_and_si256(a, b)
#define v_or3(a, b, c) _mm256_or_si256(_mm256_or_si256(a, b), c)
#define v_clamp8(a, b) v_pack16(a, b) /* signed words to bytes */
#define v_pack32(a, b) _mm256_packs_epi32(a, b)

/* sum + pairs of words times (w0, w1), 32 bits. */
#define v_dot(sum, pair, w0, w1) v_rotate(sum, pair, w0, w1)
/* The first of two vectors in even words, the second in odd ones. */
#define v_words(even, odd) _mm256_blend_epi16(even, odd, 0xAA)

LAP_INLINE bool v_any(vec v, int bits)
{
    return !_mm256_testz_si256(v, v_set16(bits));
}

/* Returns whether any product of unsigned words exceeds 2^15 - 1. */
LAP_INLINE bool v_beyond_words(vec a, vec b)
{
    return v_any(_mm256_or_si256(v_mulhi16(a, b), v_srl16(v_mullo16(a, b), 15)), -1);
}

/* Transposes as decode_dct.h describes: stores the pairs of the first two columns of four outputs, and of the
 * last two. */
#define v_pick32(a, b, which) \
    _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), which))
LAP_INLINE void v_turn(const vec out[4], v_pair *first, v_pair *last)
{
    const vec a = v_pack32(out[0], out[1]), b = v_pack32(out[2], out[3]);
    *first = v_pick32(a, b, 0x88);
    *last = v_pick32(a, b, 0xDD);
}

/* Loads 128 bits from a into the lower lane, and 128 bits from b into the upper one. */
#define v_lanes(a, b)                                                                     \
    _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128((const __m128i *)(a))), \
        _mm_load_si128((const __m128i *)(b)), 1)

/* See lap_inverse_blocks in decode_dct.h. */
LAP_INLINE void v_load_columns(const int16_t *coefficients, const uint16_t *quant, bool whole,
    vec largest[V_SHARES], v_pair columns[2][4])
{
    const int used = whole ? 4 : 2;
#pragma GCC unroll 4
    for (int i = 0; i < used; i++) {
        const int16_t *pairs = coefficients + 16 * i;
        const int to = i % 2 * 2 + i / 2;
        largest[i] = v_max16(largest[i], v_max16(v_abs16(v_load(pairs)), v_abs16(v_load(pairs + 64))));
        columns[0][to] = v_mullo16(v_lanes(pairs, pairs + 64), v_each_lane_any(quant + 16 * i));
        if (whole)
            columns[1][to] = v_mullo16(v_lanes(pairs + 8, pairs + 72), v_each_lane_any(quant + 16 * i + 8));
    }
}

/* DC of each block in word 0 of its lane. */
#define v_load_dc(coefficients) v_lanes(coefficients, (coefficients) + 64)

/* Stores two rows of samples of each block. In a lane: x 0 (row 0, row 1), x 4 (row 0, row 1), x 1, .. */
LAP_INLINE void v_store_rows(vec v, uint8_t *row0, uint8_t *row1)
{
    const vec order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
    const vec rows = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, order), 0xD8);
    _mm_storeu_si128((__m128i *)row0, _mm256_castsi256_si128(rows));
    _mm_storeu_si128((__m128i *)row1, _mm256_extracti128_si256(rows, 1));
}

/* Stores byte 0 of each lane eight times in each of eight rows. */
LAP_INLINE void v_store_flat(vec v, uint8_t *rows, ptrdiff_t stride)
{
    const vec bytes = _mm256_shuffle_epi8(v, v_zero());
    const __m128i row = _mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0x08));
    for (int y = 0; y < 8; y++)
        _mm_storeu_si128((__m128i *)(rows + y * stride), row);
}

/* Stores V_BYTES pixels. Each lane of a colour has eight even pixels, then eight odd ones.
 *
 * Byte 3 i + c of a lane's 48 goes to byte (3 i + c) % 16 of one of three vectors. Since 3 has an inverse
 * modulo 16, no two bytes of a colour go to the same place: one permutation per colour, then blends. */
LAP_INLINE void v_store_pixels(vec r, vec g, vec b, uint8_t *out)
{
/* The position of the pixel i for which (3 i + c) % 16 = byte; 11 is the inverse of 3. */
#define LAP_FROM(c, byte) (((byte) + 16 - (c)) * 11 % 2 * 8 + ((byte) + 16 - (c)) * 11 % 16 / 2)
#define LAP_FROM16(c)                                                                                        \
    _mm256_broadcastsi128_si256(                                                                             \
        _mm_setr_epi8(LAP_FROM(c, 0), LAP_FROM(c, 1), LAP_FROM(c, 2), LAP_FROM(c, 3), LAP_FROM(c, 4),        \
            LAP_FROM(c, 5), LAP_FROM(c, 6), LAP_FROM(c, 7), LAP_FROM(c, 8), LAP_FROM(c, 9), LAP_FROM(c, 10), \
            LAP_FROM(c, 11), LAP_FROM(c, 12), LAP_FROM(c, 13), LAP_FROM(c, 14), LAP_FROM(c, 15)))
    r = _mm256_shuffle_epi8(r, LAP_FROM16(0));
    g = _mm256_shuffle_epi8(g, LAP_FROM16(1));
    b = _mm256_shuffle_epi8(b, LAP_FROM16(2));
    const vec second =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0));
    const vec third =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0));
    const vec bytes[3] = {_mm256_blendv_epi8(_mm256_blendv_epi8(r, g, second), b, third),
        _mm256_blendv_epi8(_mm256_blendv_epi8(g, r, third), b, second),
        _mm256_blendv_epi8(_mm256_blendv_epi8(b, g, third), r, second)};
#pragma GCC unroll 4
    for (int i = 0; i < 3; i++) {
        _mm_storeu_si128((__m128i *)(out + 16 * i), _mm256_castsi256_si128(bytes[i]));
        _mm_storeu_si128((__m128i *)(out + 48 + 16 * i), _mm256_extracti128_si256(bytes[i], 1));
    }
}

#endif
