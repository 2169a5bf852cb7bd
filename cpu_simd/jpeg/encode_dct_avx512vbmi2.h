/* Samples to quantised coefficients: the DCT of encode_1_c.c for four blocks at a time, in 16 bits with sums
 * of products in 32, as libjpeg-turbo's vector code has it.
 *
 * A vector holds one column (first pass) or one row (second pass) of four blocks, eight words of each in one
 * of its 128-bit lanes, so that both passes are arithmetic between vectors. In between, an 8 x 8
 * transposition in each lane, for which the first pass leaves its results half done: outputs u and u + 4 side
 * by side.
 *
 *     sums of products in 32 bits     u:     . . . . x x x x        x: the 16 bits that count
 *                                     u + 4: . . . . y y y y
 *     shifted right, and left, and blended:  y y y y x x x x        one lane of 32 bits, two words
 *
 * That saves the packing of 32 to 16 bits and one of the three steps of the transposition. */
#ifndef LAP_ENCODE_DCT_AVX512VBMI2_H
#define LAP_ENCODE_DCT_AVX512VBMI2_H

#include <immintrin.h>

#include "coding/zigzag.h"
#include "encode_strips.h"

/* Four blocks after the second pass: vector 2 p + half has, for each u of that half of a row, the
 * coefficients of rows p and p + 4. The divisors must lie likewise, and zigzag order is made from that. */
typedef struct lap_dct_divisors { /* of luma, chroma; eight words for each of the eight vectors */
    _Alignas(16) uint16_t reciprocal[2][64], correction[2][64], scale[2][64];
} lap_dct_divisors;

LAP_INLINE __m512i lap_words_in_order(const uint16_t table[64], const uint16_t order[32])
{
    return _mm512_permutex2var_epi16(
        _mm512_load_si512(table), _mm512_loadu_si512(order), _mm512_load_si512(table + 32));
}

#define LAP_DCT_8(v)                                                                                     \
    8 * ((v) / 2) + 4 * ((v) % 2), 8 * ((v) / 2 + 4) + 4 * ((v) % 2), 8 * ((v) / 2) + 4 * ((v) % 2) + 1, \
        8 * ((v) / 2 + 4) + 4 * ((v) % 2) + 1, 8 * ((v) / 2) + 4 * ((v) % 2) + 2,                        \
        8 * ((v) / 2 + 4) + 4 * ((v) % 2) + 2, 8 * ((v) / 2) + 4 * ((v) % 2) + 3,                        \
        8 * ((v) / 2 + 4) + 4 * ((v) % 2) + 3

LAP_INLINE void lap_dct_divisors_make(const lap_encode_plan *plan, lap_dct_divisors *d)
{
    static const uint16_t order[2][32] = {{LAP_DCT_8(0), LAP_DCT_8(1), LAP_DCT_8(2), LAP_DCT_8(3)},
        {LAP_DCT_8(4), LAP_DCT_8(5), LAP_DCT_8(6), LAP_DCT_8(7)}};
#pragma GCC unroll 8
    for (int c = 0; c < 2; c++)
#pragma GCC unroll 8
        for (int i = 0; i < 2; i++) {
            const lap_encode_divisors *from = &plan->divisors[c];
            _mm512_storeu_si512(d->reciprocal[c] + 32 * i, lap_words_in_order(from->reciprocal, order[i]));
            _mm512_storeu_si512(d->correction[c] + 32 * i, lap_words_in_order(from->correction, order[i]));
            _mm512_storeu_si512(d->scale[c] + 32 * i, lap_words_in_order(from->scale, order[i]));
        }
}

/* Pairs of words (a, b) times (w0, w1), summed up: 32 bits. */
LAP_INLINE __m512i lap_rotate(__m512i sum, __m512i pairs, int w0, int w1)
{
    return _mm512_dpwssd_epi32(
        sum, pairs, _mm512_set1_epi32((int)((uint32_t)(w0 & 0xFFFF) | (uint32_t)w1 << 16)));
}

/* See the drawing above. */
LAP_INLINE __m512i lap_two_words(__m512i low, __m512i high, int shift)
{
    return _mm512_mask_blend_epi16(
        0xAAAAAAAA, _mm512_srli_epi32(low, (unsigned)shift), _mm512_slli_epi32(high, (unsigned)(16 - shift)));
}

/* v: a column or row each. out[2 p + half]: outputs p and p + 4 side by side, of the lower or upper four
 * words of each lane. */
LAP_INLINE void lap_dct_pass(const __m512i v[8], bool is_first, __m512i out[8])
{
    const int shift = is_first ? 11 : 15;
    const __m512i round = _mm512_set1_epi32(1 << (shift - 1));
    __m512i s[4], d[4];
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        s[i] = _mm512_add_epi16(v[i], v[7 - i]);
        d[i] = _mm512_sub_epi16(v[i], v[7 - i]);
    }
    const __m512i e0 = _mm512_add_epi16(s[0], s[3]), e3 = _mm512_sub_epi16(s[0], s[3]);
    const __m512i e1 = _mm512_add_epi16(s[1], s[2]), e2 = _mm512_sub_epi16(s[1], s[2]);
    __m512i o0 = _mm512_add_epi16(e0, e1), o4 = _mm512_sub_epi16(e0, e1);
    if (is_first) {
        o0 = _mm512_slli_epi16(o0, 2);
        o4 = _mm512_slli_epi16(o4, 2);
    } else {
        /* Samples are 128 too large, which only this output notices, in the first word of a lane: eight times
         * eight times 128, with two bits of fraction, are 2^15. */
        const __m512i centre = _mm512_set4_epi32(0x00020002, 0x00020002, 0x00020002, (int)0x00028002);
        o0 = _mm512_srai_epi16(_mm512_add_epi16(o0, centre), 2);
        o4 = _mm512_srai_epi16(_mm512_add_epi16(o4, _mm512_set1_epi16(2)), 2);
    }
    out[0] = _mm512_unpacklo_epi16(o0, o4);
    out[1] = _mm512_unpackhi_epi16(o0, o4);
    const __m512i z3 = _mm512_add_epi16(d[3], d[1]), z4 = _mm512_add_epi16(d[2], d[0]);
#pragma GCC unroll 8
    for (int half = 0; half < 2; half++) {
        const __m512i e = half ? _mm512_unpackhi_epi16(e2, e3) : _mm512_unpacklo_epi16(e2, e3);
        const __m512i z = half ? _mm512_unpackhi_epi16(z3, z4) : _mm512_unpacklo_epi16(z3, z4);
        const __m512i p = half ? _mm512_unpackhi_epi16(d[3], d[0]) : _mm512_unpacklo_epi16(d[3], d[0]);
        const __m512i q = half ? _mm512_unpackhi_epi16(d[2], d[1]) : _mm512_unpacklo_epi16(d[2], d[1]);
        const __m512i o2 = lap_rotate(round, e, 4433, 4433 + 6270);
        const __m512i o6 = lap_rotate(round, e, 4433 - 15137, 4433);
        const __m512i a = lap_rotate(round, z, 9633 - 16069, 9633),
                      b = lap_rotate(round, z, 9633, 9633 - 3196);
        const __m512i o7 = lap_rotate(a, p, 2446 - 7373, -7373), o1 = lap_rotate(b, p, -7373, 12299 - 7373);
        const __m512i o5 = lap_rotate(b, q, 16819 - 20995, -20995),
                      o3 = lap_rotate(a, q, -20995, 25172 - 20995);
        out[2 + half] = lap_two_words(o1, o5, shift);
        out[4 + half] = lap_two_words(o2, o6, shift);
        out[6 + half] = lap_two_words(o3, o7, shift);
    }
}

/* out of the first pass (outputs 0 4, 1 5, 2 6, 3 7 of four rows each) to rows of eight. */
LAP_INLINE void lap_dct_turn(const __m512i in[8], __m512i rows[8])
{
#pragma GCC unroll 8
    for (int half = 0; half < 2; half++) {
        const __m512i even_lo = _mm512_unpacklo_epi16(in[half], in[4 + half]); /* 0 2 4 6, of two rows */
        const __m512i even_hi = _mm512_unpackhi_epi16(in[half], in[4 + half]);
        const __m512i odd_lo = _mm512_unpacklo_epi16(in[2 + half], in[6 + half]); /* 1 3 5 7 */
        const __m512i odd_hi = _mm512_unpackhi_epi16(in[2 + half], in[6 + half]);
        rows[4 * half] = _mm512_unpacklo_epi16(even_lo, odd_lo);
        rows[4 * half + 1] = _mm512_unpackhi_epi16(even_lo, odd_lo);
        rows[4 * half + 2] = _mm512_unpacklo_epi16(even_hi, odd_hi);
        rows[4 * half + 3] = _mm512_unpackhi_epi16(even_hi, odd_hi);
    }
}

LAP_INLINE __m512i lap_quantise(__m512i v, const lap_dct_divisors *d, int chroma, int i)
{
    const __m512i reciprocal =
        _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(d->reciprocal[chroma] + 8 * i)));
    const __m512i correction =
        _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(d->correction[chroma] + 8 * i)));
    const __m512i scale = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(d->scale[chroma] + 8 * i)));
    const __m512i magnitude = _mm512_add_epi16(_mm512_abs_epi16(v), correction);
    const __m512i quotient = _mm512_mulhi_epu16(_mm512_mulhi_epu16(magnitude, reciprocal), scale);
    return _mm512_mask_sub_epi16(quotient, _mm512_movepi16_mask(v), _mm512_setzero_si512(), quotient);
}

/* Lanes a0 a1 a2 a3 of four vectors to vectors of one lane of each. */
LAP_INLINE void lap_turn_lanes(const __m512i in[4], __m512i out[4])
{
    const __m512i a = _mm512_shuffle_i32x4(in[0], in[1], 0x44), b = _mm512_shuffle_i32x4(in[2], in[3], 0x44);
    const __m512i c = _mm512_shuffle_i32x4(in[0], in[1], 0xEE), d = _mm512_shuffle_i32x4(in[2], in[3], 0xEE);
    out[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    out[1] = _mm512_shuffle_i32x4(a, b, 0xDD);
    out[2] = _mm512_shuffle_i32x4(c, d, 0x88);
    out[3] = _mm512_shuffle_i32x4(c, d, 0xDD);
}

/* The words of a block as they lie after quantisation, in zigzag order: where each comes from. */
static const uint16_t lap_dct_zigzag[64] = {0, 2, 16, 32, 18, 4, 6, 20, 34, 48, 1, 50, 36, 22, 8, 10, 24, 38,
    52, 3, 17, 33, 19, 5, 54, 40, 26, 12, 14, 28, 42, 56, 7, 21, 35, 49, 51, 37, 23, 9, 58, 44, 30, 46, 60,
    11, 25, 39, 53, 55, 41, 27, 13, 62, 15, 29, 43, 57, 59, 45, 31, 47, 61, 63};

/* columns: of four blocks. blocks: where their coefficients go. */
LAP_INLINE void lap_dct_four(
    const __m512i columns[8], const lap_dct_divisors *divisors, int chroma, int16_t *const blocks[4])
{
    __m512i half_done[8], rows[8], q[8], low[4], high[4];
    lap_dct_pass(columns, true, half_done);
    lap_dct_turn(half_done, rows);
    lap_dct_pass(rows, false, q);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        q[i] = lap_quantise(q[i], divisors, chroma, i);
    lap_turn_lanes(q, low);
    lap_turn_lanes(q + 4, high);
    const __m512i first = _mm512_loadu_si512(lap_dct_zigzag),
                  second = _mm512_loadu_si512(lap_dct_zigzag + 32);
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        _mm512_store_si512(blocks[i], _mm512_permutex2var_epi16(low[i], first, high[i]));
        _mm512_store_si512(blocks[i] + 32, _mm512_permutex2var_epi16(low[i], second, high[i]));
    }
}

/* Eight rows of samples to columns: a byte transposition in lanes of two blocks. even: the columns of blocks
 * 0, 2, 4 and 6, in words; odd: of the others. */
LAP_INLINE void lap_strip_columns(const uint8_t (*rows)[LAP_GROUP], __m512i even[8], __m512i odd[8])
{
    __m512i r[8], pairs[8], fours[8];
    const __m512i zero = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        r[i] = _mm512_load_si512(rows[i]);
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) { /* even blocks in 0..3, odd ones in 4..7 */
        pairs[i] = _mm512_unpacklo_epi8(r[2 * i], r[2 * i + 1]);
        pairs[4 + i] = _mm512_unpackhi_epi8(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
        fours[i] = _mm512_unpacklo_epi16(pairs[i], pairs[i + 1]);
        fours[i + 1] = _mm512_unpackhi_epi16(pairs[i], pairs[i + 1]);
        fours[i + 2] = _mm512_unpacklo_epi16(pairs[i + 2], pairs[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi16(pairs[i + 2], pairs[i + 3]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4) {
        __m512i *out = i ? odd : even;
#pragma GCC unroll 8
        for (int j = 0; j < 2; j++) {
            const __m512i two = _mm512_unpacklo_epi32(fours[i + j], fours[i + j + 2]);
            const __m512i next = _mm512_unpackhi_epi32(fours[i + j], fours[i + j + 2]);
            out[4 * j] = _mm512_unpacklo_epi8(two, zero);
            out[4 * j + 1] = _mm512_unpackhi_epi8(two, zero);
            out[4 * j + 2] = _mm512_unpacklo_epi8(next, zero);
            out[4 * j + 3] = _mm512_unpackhi_epi8(next, zero);
        }
    }
}

/* All blocks of a group, in the order of the scan. */
LAP_INLINE void lap_group_coefficients(
    const lap_encode_plan *plan, const lap_dct_divisors *divisors, const lap_group *group, int16_t *blocks)
{
    lap_strip strips[LAP_MAX_STRIPS];
    const int count = lap_strips_of(plan, group, strips);
    for (int i = 0; i < count; i++) {
        __m512i even[8], odd[8];
        int16_t *to[2][4];
#pragma GCC unroll 8
        for (int b = 0; b < 8; b++)
            to[b % 2][b / 2] = blocks + LAP_BLOCK * lap_strip_place(plan, &strips[i], b);
        lap_strip_columns(strips[i].rows, even, odd);
        lap_dct_four(even, divisors, strips[i].chroma, to[0]);
        lap_dct_four(odd, divisors, strips[i].chroma, to[1]);
    }
}

#endif
