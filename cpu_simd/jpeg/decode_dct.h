/* Turns coefficients into samples: the inverse DCT of decode_1_c.c for one, two or four blocks at a time,
 * with the operations of decode_words.h.
 *
 * Each block is in one lane of 128 bits. Inputs are pairs of words, of rows 0 and 2, 4 and 6 (even half),
 * 1 and 3, 5 and 7 (odd half), so that an output is four sums of two products in 32 bits:
 *
 *     even[i] = half + 02 . w + 46 . w       odd[i] = 13 . w + 57 . w       out i, 7 - i: even[i] +- odd[i]
 *
 * 32 bits hold every such sum of words, so nothing wraps. To transpose, only two steps are needed: pack two
 * outputs to words with saturation, then pick pairs of words from two such vectors.
 *
 *     outputs u, u + 1 of columns 0 2 1 3:     u: 0 2 | 1 3    u + 1: 0 2 | 1 3
 *     and u + 2, u + 3: even pairs             02 of u | u + 1 | u + 2 | u + 3, in one lane
 *
 * libjpeg-turbo's C and vector code agree as long as sums of two words fit in words. Two checks are enough
 * for that: products of coefficients and quantisers are words, and results lie within -512 .. 511. These
 * suffice because the transform preserves the sum of squares: a value of 2^14 or more before the second pass,
 * or a saturated one, gives a result of 512 or more. */
#ifndef LAP_DECODE_DCT_H
#define LAP_DECODE_DCT_H

#include "decode.h"
#include "decode_words.h"

enum {
    LAP_COLUMNS_SHIFT = 13 - 2, /* fraction bits of the constants, less those kept between the passes */
    LAP_ROWS_SHIFT = 13 + 2 + 3,
    LAP_FLAT_SHIFT = 3, /* for a block with only DC, both passes together */
    LAP_BELOW = 512,    /* added to results, so that they fit 10 bits */
    LAP_CENTRE = 128,
    LAP_QUARTER = 9 /* up to this zigzag position, coefficients are in rows 0 .. 3 and columns 0 .. 3 */
};

/* The order of coefficients in a block: pairs of rows 02, 13, 46, 57, with columns 0 2 1 3 4 6 5 7. With it,
 * no vector must be transposed before the first pass. LAP_INDEX converts from natural order. */
#define LAP_PAIR_OF(row) ((row) / 4 * 2 + (row) % 2)
#define LAP_ACROSS_OF(column) ((column) / 4 * 4 + (column) % 2 * 2 + (column) / 2 % 2)
#define LAP_INDEX(natural) \
    (LAP_PAIR_OF((natural) / 8) * 16 + LAP_ACROSS_OF((natural) % 8) * 2 + (natural) / 16 % 2)
static const uint8_t lap_inverse_indices[64] = {LAP_INDEX(0), LAP_INDEX(1), LAP_INDEX(8), LAP_INDEX(16),
    LAP_INDEX(9), LAP_INDEX(2), LAP_INDEX(3), LAP_INDEX(10), LAP_INDEX(17), LAP_INDEX(24), LAP_INDEX(32),
    LAP_INDEX(25), LAP_INDEX(18), LAP_INDEX(11), LAP_INDEX(4), LAP_INDEX(5), LAP_INDEX(12), LAP_INDEX(19),
    LAP_INDEX(26), LAP_INDEX(33), LAP_INDEX(40), LAP_INDEX(48), LAP_INDEX(41), LAP_INDEX(34), LAP_INDEX(27),
    LAP_INDEX(20), LAP_INDEX(13), LAP_INDEX(6), LAP_INDEX(7), LAP_INDEX(14), LAP_INDEX(21), LAP_INDEX(28),
    LAP_INDEX(35), LAP_INDEX(42), LAP_INDEX(49), LAP_INDEX(56), LAP_INDEX(57), LAP_INDEX(50), LAP_INDEX(43),
    LAP_INDEX(36), LAP_INDEX(29), LAP_INDEX(22), LAP_INDEX(15), LAP_INDEX(23), LAP_INDEX(30), LAP_INDEX(37),
    LAP_INDEX(44), LAP_INDEX(51), LAP_INDEX(58), LAP_INDEX(59), LAP_INDEX(52), LAP_INDEX(45), LAP_INDEX(38),
    LAP_INDEX(31), LAP_INDEX(39), LAP_INDEX(46), LAP_INDEX(53), LAP_INDEX(60), LAP_INDEX(61), LAP_INDEX(54),
    LAP_INDEX(47), LAP_INDEX(55), LAP_INDEX(62), LAP_INDEX(63)};

typedef struct lap_inverse_checks {
    vec largest[V_SHARES]; /* magnitudes of coefficients, in their order in memory */
    vec beyond;            /* OR of all results plus LAP_BELOW */
} lap_inverse_checks;

/* in: pairs 02, 46, 13, 57; without `whole`, 46 and 57 are 0. */
LAP_INLINE void lap_inverse_pass(const v_pair in[4], bool whole, int shift, int centre, vec out[8])
{
    const vec half = v_set32((centre << shift) + (1 << (shift - 1)));
    vec even[4] = {v_dot(half, in[0], 8192, 10703), v_dot(half, in[0], 8192, 4433),
        v_dot(half, in[0], 8192, -4433), v_dot(half, in[0], 8192, -10703)};
    vec odd[4] = {v_dot(v_zero(), in[2], 11363, 9633), v_dot(v_zero(), in[2], 9633, -2259),
        v_dot(v_zero(), in[2], 6437, -11362), v_dot(v_zero(), in[2], 2260, -6436)};
    if (whole) {
        even[0] = v_dot(even[0], in[1], 8192, 4433);
        even[1] = v_dot(even[1], in[1], -8192, -10704);
        even[2] = v_dot(even[2], in[1], -8192, 10704);
        even[3] = v_dot(even[3], in[1], 8192, -4433);
        odd[0] = v_dot(odd[0], in[3], 6437, 2260);
        odd[1] = v_dot(odd[1], in[3], -11362, -6436);
        odd[2] = v_dot(odd[2], in[3], 2261, 9633);
        odd[3] = v_dot(odd[3], in[3], 9633, -11363);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        out[i] = v_sra32(v_add32(even[i], odd[i]), shift);
        out[7 - i] = v_sra32(v_sub32(even[i], odd[i]), shift);
    }
}

/* Stores samples; each vector of `out` has the rows of one column, 32 bits each. */
LAP_INLINE void lap_store_samples(const vec out[8], vec *beyond, uint8_t *rows, ptrdiff_t stride)
{
    vec words[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = v_pack32(out[2 * i], out[2 * i + 1]);
    *beyond = v_or3(*beyond, words[0], words[1]);
    *beyond = v_or3(*beyond, words[2], words[3]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        words[i] = v_less16(words[i], v_set16(LAP_BELOW - LAP_CENTRE));
    /* Four rows of columns 0, 1, 2, 3; and of 4, 5, 6, 7. */
    const vec left = v_pack16(words[0], words[1]), right = v_pack16(words[2], words[3]);
    v_store_rows(v_words(left, v_sll32(right, 16)), rows, rows + stride);
    v_store_rows(v_words(v_srl32(left, 16), right), rows + 2 * stride, rows + 3 * stride);
}

/* Transforms V_LANES blocks. v_load_columns loads their pairs 02, 46, 13, 57 of columns 0 2 1 3 and of
 * columns 4 6 5 7, times the quantisers; without `whole`, only pairs 02 and 13 of columns 0 2 1 3. */
LAP_INLINE void lap_inverse_blocks(const int16_t *coefficients, const uint16_t *quant, bool whole,
    lap_inverse_checks *checks, uint8_t *samples, ptrdiff_t stride)
{
    v_pair columns[2][4], rows[2][4]; /* columns: 0 .. 3, then 4 .. 7; rows likewise */
    vec out[8];
    const int halves = whole ? 2 : 1;
    v_load_columns(coefficients, quant, whole, checks->largest, columns);
#pragma GCC unroll 2
    for (int half = 0; half < halves; half++) {
        lap_inverse_pass(columns[half], whole, LAP_COLUMNS_SHIFT, 0, out);
        v_turn(out, &rows[0][half], &rows[0][2 + half]);
        v_turn(out + 4, &rows[1][half], &rows[1][2 + half]);
    }
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        lap_inverse_pass(rows[half], whole, LAP_ROWS_SHIFT, LAP_BELOW, out);
        lap_store_samples(out, &checks->beyond, samples + 4 * half * stride, stride);
    }
}

/* Transforms V_LANES blocks that have only DC. */
LAP_INLINE void lap_inverse_flat(const int16_t *coefficients, const uint16_t *quant,
    lap_inverse_checks *checks, uint8_t *samples, ptrdiff_t stride)
{
    const vec half = v_set16(1 << (LAP_FLAT_SHIFT - 1));
    const vec scaled = v_mullo16(v_load_dc(coefficients), v_set16(quant[0]));
#pragma GCC unroll 4
    for (int i = 0; i < V_LANES; i++)
        checks->largest[0] = v_max16(checks->largest[0], v_abs16(v_load(coefficients + 64 * i)));
    const vec result = v_add16(v_sra16(v_adds16(scaled, half), LAP_FLAT_SHIFT), v_set16(LAP_BELOW));
    checks->beyond = v_or3(checks->beyond, result, result);
    const vec words = v_less16(result, v_set16(LAP_BELOW - LAP_CENTRE));
    v_store_flat(v_pack16(words, words), samples, stride);
}

/* Returns whether a product does not fit a word, or a result is outside of -512 .. 511. */
LAP_INLINE bool lap_inverse_odd(const lap_inverse_checks *checks, const uint16_t *quant)
{
    bool is_odd = v_any(checks->beyond, -2 * LAP_BELOW);
#pragma GCC unroll 8
    for (int i = 0; i < V_SHARES; i++)
        is_odd |= v_beyond_words(checks->largest[i], v_load_any(quant + i * V_BYTES / 2));
    return is_odd;
}

/* Returns the zigzag position after which all coefficients of V_LANES blocks are 0. */
LAP_INLINE unsigned lap_largest_last(const uint8_t *last)
{
    unsigned largest = 0;
#pragma GCC unroll 4
    for (int i = 0; i < V_LANES; i++)
        largest = last[i] > largest ? last[i] : largest;
    return largest;
}

static bool lap_decode_inverse(const lap_decode_blocks *blocks, uint8_t *samples, ptrdiff_t stride)
{
    lap_inverse_checks checks = {.beyond = v_zero()};
#pragma GCC unroll 8
    for (int i = 0; i < V_SHARES; i++)
        checks.largest[i] = v_zero();
    for (int i = 0; i < blocks->count; i += V_LANES) {
        const int16_t *from = blocks->coefficients + (ptrdiff_t)64 * i;
        const unsigned last = lap_largest_last(blocks->last + i);
        uint8_t *to = samples + (ptrdiff_t)8 * i;
        if (last > LAP_QUARTER)
            lap_inverse_blocks(from, blocks->quant, true, &checks, to, stride);
        else if (last > 0)
            lap_inverse_blocks(from, blocks->quant, false, &checks, to, stride);
        else
            lap_inverse_flat(from, blocks->quant, &checks, to, stride);
    }
    return !lap_inverse_odd(&checks, blocks->quant);
}

#endif
