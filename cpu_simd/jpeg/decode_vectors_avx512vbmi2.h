/* Defines the operations of decode_dct.h, decode_pixels.h and decode_unstuff.h in AVX-512: those that the
 * encoder's header lacks.
 */
#ifndef LAP_DECODE_VECTORS_AVX512VBMI2_H
#define LAP_DECODE_VECTORS_AVX512VBMI2_H

#include "encode_vectors_avx512vbmi2.h"

enum { V_SHARES = 2 }; /* vectors per block in memory */

/* V_BYTES / 2 bytes to words. */
#define v_widen(p) _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p)))
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_sub32(a, b) _mm512_sub_epi32(a, b)
#define v_sra32(v, n) _mm512_srai_epi32(v, (unsigned)(n))
#define v_mullo16(a, b) _mm512_mullo_epi16(a, b)
#define v_scale16(v, w) _mm512_mulhrs_epi16(v, v_set16(w)) /* v * w / 2^15, rounded to nearest */
#define v_adds16(a, b) _mm512_adds_epi16(a, b)
#define v_max16(a, b) _mm512_max_epu16(a, b)
#define v_less16(a, b) _mm512_subs_epu16(a, b) /* a - b, not below 0 */
#define v_and(a, b) _mm512_and_si512(a, b)
#define v_or3(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0xFE)
#define v_clamp8(a, b) v_pack16(a, b) /* signed words to bytes */
#define v_pack32(a, b) _mm512_packs_epi32(a, b)

/* sum + pairs of words times (w0, w1), 32 bits. */
#define v_dot(sum, pair, w0, w1) v_rotate(sum, pair, w0, w1)
/* The first of two vectors in even words, the second in odd ones. */
#define v_words(even, odd) _mm512_mask_blend_epi16(0xAAAAAAAA, even, odd)

LAP_INLINE bool v_any(vec v, int bits)
{
    return _mm512_test_epi16_mask(v, v_set16(bits)) != 0;
}

/* Returns whether any product of unsigned words exceeds 2^15 - 1. */
LAP_INLINE bool v_beyond_words(vec a, vec b)
{
    const vec high = v_mulhi16(a, b), low = v_mullo16(a, b);
    return (_mm512_test_epi16_mask(high, high) | _mm512_movepi16_mask(low)) != 0;
}

/* Transposes as decode_dct.h describes: stores the pairs of the first two columns of four outputs, and of the
 * last two. */
#define v_pick32(a, b, which) \
    _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), which))
LAP_INLINE void v_turn(const vec out[4], v_pair *first, v_pair *last)
{
    const vec a = v_pack32(out[0], out[1]), b = v_pack32(out[2], out[3]);
    *first = v_pick32(a, b, 0x88);
    *last = v_pick32(a, b, 0xDD);
}

/* See lap_inverse_blocks in decode_dct.h. A block's first half is 02 02 13 13, its second 46 46 57 57. */
LAP_INLINE void v_load_columns(const int16_t *coefficients, const uint16_t *quant, bool whole,
    vec largest[V_SHARES], v_pair columns[2][4])
{
    const int halves = whole ? 2 : 1;
#pragma GCC unroll 2
    for (int half = 0; half < halves; half++) {
        vec blocks[V_LANES], lanes[V_LANES];
#pragma GCC unroll 4
        for (int b = 0; b < V_LANES; b++) {
            const vec v = v_load(coefficients + 64 * b + 32 * half);
            largest[half] = v_max16(largest[half], v_abs16(v));
            blocks[b] = v_mullo16(v, v_load_any(quant + 32 * half));
        }
        lap_turn_lanes(blocks, lanes);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            columns[i % 2][i / 2 * 2 + half] = lanes[i];
    }
}

/* DC of each block in word 0 of its lane. */
LAP_INLINE vec v_load_dc(const int16_t *c)
{
    return _mm512_setr_epi64((uint16_t)c[0], 0, (uint16_t)c[64], 0, (uint16_t)c[128], 0, (uint16_t)c[192], 0);
}

/* Stores two rows of samples of each block. In a lane: x 0 (row 0, row 1), x 4 (row 0, row 1), x 1, .. */
LAP_INLINE void v_store_rows(vec v, uint8_t *row0, uint8_t *row1)
{
#define LAP_ROW_OF(lane, row)                                                                        \
    16 * (lane) + (row), 16 * (lane) + (row) + 4, 16 * (lane) + (row) + 8, 16 * (lane) + (row) + 12, \
        16 * (lane) + (row) + 2, 16 * (lane) + (row) + 6, 16 * (lane) + (row) + 10, 16 * (lane) + (row) + 14
    static const _Alignas(64) uint8_t order[64] = {LAP_ROW_OF(0, 0), LAP_ROW_OF(1, 0), LAP_ROW_OF(2, 0),
        LAP_ROW_OF(3, 0), LAP_ROW_OF(0, 1), LAP_ROW_OF(1, 1), LAP_ROW_OF(2, 1), LAP_ROW_OF(3, 1)};
    const vec rows = _mm512_permutexvar_epi8(v_load(order), v);
    _mm256_storeu_si256((__m256i *)row0, _mm512_castsi512_si256(rows));
    _mm256_storeu_si256((__m256i *)row1, _mm512_extracti64x4_epi64(rows, 1));
}

/* Stores byte 0 of each lane eight times in each of eight rows. */
LAP_INLINE void v_store_flat(vec v, uint8_t *rows, ptrdiff_t stride)
{
    const vec order =
        _mm512_set_epi64(0, 0, 0, 0, 0x3030303030303030, 0x2020202020202020, 0x1010101010101010, 0);
    const __m256i row = _mm512_castsi512_si256(_mm512_permutexvar_epi8(order, v));
    for (int y = 0; y < 8; y++)
        _mm256_storeu_si256((__m256i *)(rows + y * stride), row);
}

/* Stores V_BYTES pixels. Each lane of a colour has eight even pixels, then eight odd ones.
 *
 * Byte 3 i + c of the 192 goes to byte (3 i + c) % 64 of one of three vectors. Since 3 has an inverse modulo
 * 64, no two bytes of a colour go to the same place: one permutation per colour, then three blends. */
LAP_INLINE void v_store_pixels(vec r, vec g, vec b, uint8_t *out)
{
#define LAP_AT(pixel) ((pixel) / 16 * 16 + (pixel) % 2 * 8 + (pixel) % 16 / 2)
/* The pixel i for which (3 i + c) % 64 = byte; 43 is the inverse of 3. */
#define LAP_FROM(c, byte) LAP_AT(((byte) + 64 - (c)) * 43 % 64)
#define LAP_FROM8(c, byte)                                                                        \
    LAP_FROM(c, byte), LAP_FROM(c, (byte) + 1), LAP_FROM(c, (byte) + 2), LAP_FROM(c, (byte) + 3), \
        LAP_FROM(c, (byte) + 4), LAP_FROM(c, (byte) + 5), LAP_FROM(c, (byte) + 6), LAP_FROM(c, (byte) + 7)
#define LAP_FROM64(c)                                                                       \
    LAP_FROM8(c, 0), LAP_FROM8(c, 8), LAP_FROM8(c, 16), LAP_FROM8(c, 24), LAP_FROM8(c, 32), \
        LAP_FROM8(c, 40), LAP_FROM8(c, 48), LAP_FROM8(c, 56)
    static const _Alignas(64) uint8_t from[3][64] = {{LAP_FROM64(0)}, {LAP_FROM64(1)}, {LAP_FROM64(2)}};
    r = _mm512_permutexvar_epi8(v_load(from[0]), r);
    g = _mm512_permutexvar_epi8(v_load(from[1]), g);
    b = _mm512_permutexvar_epi8(v_load(from[2]), b);
    const __mmask64 every3 = 0x9249249249249249; /* bytes 0, 3, .. 63 */
    const __mmask64 second = every3 << 1, third = every3 << 2;
    _mm512_storeu_si512(out, _mm512_mask_blend_epi8(third, _mm512_mask_blend_epi8(second, r, g), b));
    _mm512_storeu_si512(out + 64, _mm512_mask_blend_epi8(second, _mm512_mask_blend_epi8(third, g, r), b));
    _mm512_storeu_si512(out + 128, _mm512_mask_blend_epi8(second, _mm512_mask_blend_epi8(third, b, g), r));
}

#endif
