/* Turns coefficients into a flat stream of symbols, and these into bits. A symbol is an entry of
 * lap_encode_plan with the value added: one 32-bit word that holds the bits and their number. */
#ifndef LAP_ENCODE_SYMBOLS_AVX2_H
#define LAP_ENCODE_SYMBOLS_AVX2_H

#include "encode_put.h"
#include "encode_stuff.h"
#include "encode_symbols.h"

enum {
    LAP_STEP = 8,   /* symbols at once */
    LAP_BATCH = 128 /* symbols that a loop processes before the next loop starts */
};

typedef struct lap_scratch {
    _Alignas(64) uint32_t entry[LAP_BATCH];
} lap_scratch;

/* ---- coefficients to symbols --------------------------------------------------------------------- */

/* Returns a mask of the nonzero ones of 32 coefficients. */
LAP_INLINE uint32_t lap_nonzero(const int16_t *block)
{
    const vec bytes = _mm256_packs_epi16(v_load(block), v_load(block + 16));
    const vec is_zero = _mm256_cmpeq_epi8(_mm256_permute4x64_epi64(bytes, 0xD8), v_zero());
    return ~(uint32_t)_mm256_movemask_epi8(is_zero);
}

/* Appends those of eight coefficients that are coded, packed with a table of all 256 masks. */
LAP_INLINE int lap_append_eight(
    lap_symbols *s, int at, const int16_t *eight, unsigned coded, const lap_encode_tables *t, int first)
{
    const __m128i positions = _mm_loadl_epi64((const __m128i *)t->ones[0][coded]);
    /* Loading the order from lap_encode_tables, as NEON does, took longer (EPYC 9005, 2026-11-23). */
    const __m128i twice = _mm_add_epi8(positions, positions);
    const __m128i order = _mm_add_epi8(_mm_unpacklo_epi8(twice, twice), _mm_set1_epi16(1 << 8));
    const __m128i values = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)eight), order);
    _mm_storeu_si128((__m128i *)(s->value + at), values);
    _mm_storel_epi64((__m128i *)(s->position + at), _mm_add_epi8(positions, _mm_set1_epi8((char)first)));
    return at + __builtin_popcount(coded);
}

LAP_INLINE int lap_append_block(lap_symbols *s, int at, const int16_t *block, int dc_before, bool is_chroma,
    const lap_encode_tables *tables)
{
    const uint64_t coded = lap_coded((uint64_t)lap_nonzero(block + 32) << 32 | lap_nonzero(block));
    const int chroma = is_chroma ? LAP_POSITION_CHROMA : 0;
    int end = at;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        end = lap_append_eight(s, end, block + 8 * i, coded >> (8 * i) & 255, tables, 8 * i + chroma);
    s->value[at] = (int16_t)(block[0] - dc_before);
    return end;
}

/* Computes the table indices of the eight symbols from i on. The size is the exponent of 2 |value| + 1 as a
 * float. */
LAP_INLINE vec lap_entries(const lap_symbols *s, int i)
{
    const vec position = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s->position + i)));
    const vec before = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(s->position + i - 1)));
    const vec value = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(s->value + i)));
    const vec is_dc = _mm256_cmpeq_epi32(_mm256_and_si256(position, v_set32(63)), v_zero());
    const vec distance = _mm256_andnot_si256(is_dc, _mm256_sub_epi32(position, before));
    const vec magnitude = _mm256_abs_epi32(value);
    const vec odd = _mm256_sub_epi32(_mm256_add_epi32(magnitude, magnitude), v_set32(-1));
    const vec size = v_srl32(_mm256_castps_si256(_mm256_cvtepi32_ps(odd)), 23); /* plus 127 */
    const vec sign = _mm256_and_si256(_mm256_cmpgt_epi32(v_zero(), value), v_set32(LAP_ENCODE_NEGATIVE));
    const vec chroma = v_sll32(_mm256_and_si256(position, v_set32(LAP_POSITION_CHROMA)), 4);
    const vec row = _mm256_add_epi32(v_sll32(distance, 5), chroma);
    return _mm256_add_epi32(_mm256_sub_epi32(size, v_set32(127)), _mm256_add_epi32(row, sign));
}
_Static_assert(
    LAP_POSITION_CHROMA << 4 == LAP_ENCODE_CHROMA, "chroma's bit of a position leads to its entries");

/* The indices are computed in a separate loop: loading a vector stalls if its parts were stored just before
 * (no store forwarding). */
LAP_INLINE void lap_look_up(const lap_symbols *s, int i, int count, const uint32_t *entries, uint32_t *entry)
{
    for (int k = 0; k < count; k += LAP_STEP)
        v_store(entry + k, lap_entries(s, i + k));
    for (int k = 0; k < count; k += LAP_STEP)
#pragma GCC unroll 8
        for (int n = k; n < k + LAP_STEP; n++)
            entry[n] = entries[entry[n]];
    for (int k = count; k % LAP_STEP; k++)
        entry[k] = 0;
}

/* ---- symbols to bits ----------------------------------------------------------------------------- */

/* Writes eight symbols: merges pairs in 64-bit lanes, then pairs of these. */
LAP_INLINE void lap_put_step(lap_bits *b, const uint32_t *entries, const int16_t *values)
{
    const vec value = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)values));
    const vec s = _mm256_add_epi32(v_load(entries), value), low_half = _mm256_set1_epi64x(0xFFFFFFFF);
    const vec length = v_srl32(s, LAP_ENCODE_LENGTH_SHIFT);
    const vec bits = _mm256_and_si256(s, v_set32((1 << LAP_ENCODE_LENGTH_SHIFT) - 1));
    const vec second = _mm256_srli_epi64(length, 32);
    const vec two = _mm256_or_si256(
        _mm256_sllv_epi64(_mm256_and_si256(bits, low_half), second), _mm256_srli_epi64(bits, 32));
    const vec two_length = _mm256_add_epi64(_mm256_and_si256(length, low_half), second);
    const vec next_length = _mm256_unpackhi_epi64(two_length, two_length);
    const vec four = _mm256_or_si256(_mm256_sllv_epi64(two, next_length), _mm256_unpackhi_epi64(two, two));
    const vec four_length = _mm256_add_epi64(two_length, next_length);
    const __m128i upper = _mm256_extracti128_si256(four_length, 1);
    const unsigned first_four = (unsigned)_mm_cvtsi128_si32(_mm256_castsi256_si128(four_length));
    const unsigned next_four = (unsigned)_mm_cvtsi128_si32(upper);
    if (__builtin_expect(first_four > 56 || next_four > 56, 0)) {
        _Alignas(32) uint64_t word[4], count[4];
        v_store(word, two);
        v_store(count, two_length);
        for (int i = 0; i < 4; i++)
            lap_put(b, word[i], (unsigned)count[i]);
        return;
    }
    lap_put(b, (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(four)), first_four);
    lap_put(b, (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(four, 1)), next_four);
}

/* Writes the unstuffed bits to `bytes`. Returns the number of whole bytes; state keeps the rest. */
static inline size_t lap_unit_bits(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes)
{
    lap_bits b = lap_bits_of(state, bytes);
    for (int i = 0; i < s->count; i += LAP_BATCH) {
        const int count = s->count - i < LAP_BATCH ? s->count - i : LAP_BATCH;
        lap_look_up(s, i, count, plan->tables->entries, scratch->entry);
        for (int k = 0; k < count; k += LAP_STEP)
            lap_put_step(&b, scratch->entry + k, s->value + i + k);
    }
    lap_keep_bits(&b, state);
    return (size_t)(b.to - bytes);
}

#endif
