/* Turns samples into quantised coefficients: the DCT of encode_1_c.c for one, two or four blocks at a time,
 * in 16 bits with sums of products in 32, as in libjpeg-turbo's vector code, with the operations of
 * encode_words.h.
 *
 * A vector holds one column (first pass) or one row (second pass) of these blocks: eight words of each, in
 * one lane of 128 bits. So both passes need only arithmetic between whole vectors. Between the passes, 8 x 8
 * words are transposed within each lane. The first pass leaves its results half transposed, with outputs u
 * and u + 4 side by side.
 *
 *     sums of products in 32 bits     u:     . . . . x x x x        x: the 16 bits of the result
 *                                     u + 4: . . . . y y y y
 *     shifted right, and left, and blended:  y y y y x x x x        one lane of 32 bits, two words
 *
 * That saves the packing of 32 to 16 bits and one of the three steps of the transposition. The second pass
 * leaves its results in the same form, which lap_encode_turned describes. */
#ifndef LAP_ENCODE_DCT_H
#define LAP_ENCODE_DCT_H

#include "encode_words.h"

/* Each vector of v is a column or a row. out[2 p + half] receives outputs p and p + 4 interleaved, for the
 * lower or upper four words of each lane. */
LAP_INLINE void lap_dct_pass(const vec v[8], bool is_first, vec out[8])
{
    const int shift = is_first ? 11 : 15;
    const vec round = v_set32(1 << (shift - 1));
    vec s[4], d[4];
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        s[i] = v_add16(v[i], v[7 - i]);
        d[i] = v_sub16(v[i], v[7 - i]);
    }
    const vec e0 = v_add16(s[0], s[3]), e3 = v_sub16(s[0], s[3]);
    const vec e1 = v_add16(s[1], s[2]), e2 = v_sub16(s[1], s[2]);
    vec o0 = v_add16(e0, e1), o4 = v_sub16(e0, e1);
    if (is_first) {
        o0 = v_sll16(o0, 2);
        o4 = v_sll16(o4, 2);
    } else {
        o0 = v_sra16(v_add16(o0, v_centre()), 2);
        o4 = v_sra16(v_add16(o4, v_set16(2)), 2);
    }
    out[0] = v_lo16(o0, o4);
    out[1] = v_hi16(o0, o4);
    const vec z3 = v_add16(d[3], d[1]), z4 = v_add16(d[2], d[0]);
#pragma GCC unroll 8
    for (int half = 0; half < 2; half++) {
        const v_pair e = half ? v_pair_high(e2, e3) : v_pair_low(e2, e3);
        const v_pair z = half ? v_pair_high(z3, z4) : v_pair_low(z3, z4);
        const v_pair p = half ? v_pair_high(d[3], d[0]) : v_pair_low(d[3], d[0]);
        const v_pair q = half ? v_pair_high(d[2], d[1]) : v_pair_low(d[2], d[1]);
        const vec o2 = v_rotation(round, e, 4433, 4433 + 6270);
        const vec o6 = v_rotation(round, e, 4433 - 15137, 4433);
        const vec a = v_rotation(round, z, 9633 - 16069, 9633), b = v_rotation(round, z, 9633, 9633 - 3196);
        const vec o7 = v_rotate(a, p, 2446 - 7373, -7373), o1 = v_rotate(b, p, -7373, 12299 - 7373);
        const vec o5 = v_rotate(b, q, 16819 - 20995, -20995), o3 = v_rotate(a, q, -20995, 25172 - 20995);
        out[2 + half] = v_two_words(o1, o5, shift);
        out[4 + half] = v_two_words(o2, o6, shift);
        out[6 + half] = v_two_words(o3, o7, shift);
    }
}

/* Converts the result of the first pass (outputs 0 4, 1 5, 2 6, 3 7 of four rows each) to rows of eight. */
LAP_INLINE void lap_dct_turn(const vec in[8], vec rows[8])
{
#pragma GCC unroll 8
    for (int half = 0; half < 2; half++) {
        const vec even_lo = v_lo16(in[half], in[4 + half]); /* 0 2 4 6, of two rows */
        const vec even_hi = v_hi16(in[half], in[4 + half]);
        const vec odd_lo = v_lo16(in[2 + half], in[6 + half]); /* 1 3 5 7 */
        const vec odd_hi = v_hi16(in[2 + half], in[6 + half]);
        rows[4 * half] = v_lo16(even_lo, odd_lo);
        rows[4 * half + 1] = v_hi16(even_lo, odd_lo);
        rows[4 * half + 2] = v_lo16(even_hi, odd_hi);
        rows[4 * half + 3] = v_hi16(even_hi, odd_hi);
    }
}

LAP_INLINE vec lap_quantise(vec v, const lap_encode_divisors *d, int i)
{
    const vec magnitude = v_add16(v_abs16(v), v_each_lane(d->correction + 8 * i));
    const vec product = v_mulhi16(magnitude, v_each_lane(d->reciprocal + 8 * i));
    return v_sign16(v_divisor_shift16(product, d, i), v);
}

/* Transforms V_SETS sets of V_LANES blocks, given by their columns. The sets alternate at every stage, so
 * that one computes while another waits. blocks: where the coefficients are stored, in zigzag order. */
LAP_INLINE void lap_dct_blocks(
    const vec columns[V_SETS][8], const lap_encode_divisors *divisors, int16_t *const blocks[V_SETS][V_LANES])
{
    vec half_done[V_SETS][8], rows[V_SETS][8], q[V_SETS][8];
#pragma GCC unroll 2
    for (int i = 0; i < V_SETS; i++)
        lap_dct_pass(columns[i], true, half_done[i]);
#pragma GCC unroll 2
    for (int i = 0; i < V_SETS; i++)
        lap_dct_turn(half_done[i], rows[i]);
#pragma GCC unroll 2
    for (int i = 0; i < V_SETS; i++)
        lap_dct_pass(rows[i], false, q[i]);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
#pragma GCC unroll 2
        for (int i = 0; i < V_SETS; i++)
            q[i][k] = lap_quantise(q[i][k], divisors, k);
#pragma GCC unroll 2
    for (int i = 0; i < V_SETS; i++)
        v_store_zigzag(q[i], blocks[i]);
}

/* Transposes eight rows of samples to columns of words: columns[0] has blocks 0, 2 .., columns[1] the others.
 * A lane has a row of two blocks. Two adjacent samples are moved as one word and separated at the end, which
 * takes fewer shuffles than moving single bytes. */
LAP_INLINE void lap_strip_columns(const uint8_t (*samples)[LAP_GROUP], int x, vec columns[2][8])
{
    vec twos[2][4]; /* of two rows each: words 0, 0, 1, 1 .. of even blocks, and of odd ones */
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        const vec row = v_load(samples[2 * i] + x), next = v_load(samples[2 * i + 1] + x);
        twos[0][i] = v_lo16(row, next);
        twos[1][i] = v_hi16(row, next);
    }
#pragma GCC unroll 8
    for (int set = 0; set < 2; set++)
#pragma GCC unroll 8
        for (int half = 0; half < 2; half++) { /* columns 0..3, 4..7 */
            const vec *t = twos[set];
            const vec above = half ? v_hi32(t[0], t[1]) : v_lo32(t[0], t[1]);
            const vec below = half ? v_hi32(t[2], t[3]) : v_lo32(t[2], t[3]);
            const vec first = v_lo64(above, below), second = v_hi64(above, below);
            vec *out = columns[set] + 4 * half;
            out[0] = v_low_bytes(first);
            out[1] = v_high_bytes(first);
            out[2] = v_low_bytes(second);
            out[3] = v_high_bytes(second);
        }
}

/* Computes the coefficients of all blocks of a group, in scan order. */
LAP_INLINE void lap_group_coefficients(const lap_encode_plan *plan, const lap_group *group, int16_t *blocks)
{
    lap_strip strips[LAP_MAX_STRIPS];
    const int count = lap_strips_of(plan, group, strips);
    for (int i = 0; i < count; i++)
        for (int first = 0; first < 8; first += 2 * V_LANES) {
            vec columns[2][8];
            int16_t *to[2][V_LANES];
#pragma GCC unroll 8
            for (int b = 0; b < 2 * V_LANES; b++)
                to[b % 2][b / 2] = blocks + LAP_BLOCK * lap_strip_block(plan, &strips[i], first + b);
            lap_strip_columns(strips[i].rows, 8 * first, columns);
#pragma GCC unroll 2
            for (int set = 0; set < 2; set += V_SETS)
                lap_dct_blocks(columns + set, &plan->turned[strips[i].chroma], to + set);
        }
}

#endif
