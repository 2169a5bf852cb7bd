/* Turns coefficients into a flat stream of symbols, as in encode_symbols_avx2.h. General registers merge
 * their bits, since every table look-up passes through them anyway. */
#ifndef LAP_ENCODE_SYMBOLS_NEON_H
#define LAP_ENCODE_SYMBOLS_NEON_H

#include "encode_put.h"
#include "encode_stuff.h"
#include "encode_symbols.h"

enum {
    LAP_STEP = 16,  /* symbols at once */
    LAP_BATCH = 128 /* symbols that a loop processes before the next loop starts */
};

typedef struct lap_scratch { /* of two symbols, the first one lower: value << 16 | number of its entry */
    _Alignas(64) uint64_t two[LAP_BATCH / 2];
} lap_scratch;

/* ---- coefficients to symbols --------------------------------------------------------------------- */

/* Marks which of sixteen coefficients are not 0: byte i is 0, or only its bit i % 8 is set. */
LAP_INLINE uint8x16_t lap_flags(const int16_t *block)
{
    const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const int16x8_t a = vld1q_s16(block), b = vld1q_s16(block + 8);
    return vandq_u8(vcombine_u8(vmovn_u16(vtstq_s16(a, a)), vmovn_u16(vtstq_s16(b, b))), weights);
}

LAP_INLINE uint64_t lap_nonzero(const int16_t *block)
{
    const uint8x16_t low = vpaddq_u8(lap_flags(block), lap_flags(block + 16));
    const uint8x16_t high = vpaddq_u8(lap_flags(block + 32), lap_flags(block + 48));
    const uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

/* The number of bits set in the bytes below each byte, and in all eight bytes. */
typedef struct lap_counts {
    uint64_t below;
    int all;
} lap_counts;

LAP_INLINE lap_counts lap_count_bytes(uint64_t coded)
{
    const uint8x8_t counts = vcnt_u8(vcreate_u8(coded));
    const uint64_t sums = vget_lane_u64(vreinterpret_u64_u8(counts), 0) * 0x0101010101010101u;
    return (lap_counts){sums << 8, (int)(sums >> 56)};
}

/* Appends those of eight coefficients that are coded, packed with a table of all 256 masks. */
LAP_INLINE void lap_append_eight(
    int16_t *value, uint8_t *position, const int16_t *eight, const uint8_t order[16], uint8x8_t positions)
{
    vst1q_u8((uint8_t *)value, vqtbl1q_u8(vld1q_u8((const uint8_t *)eight), vld1q_u8(order)));
    vst1_u8(position, positions);
}

LAP_INLINE int lap_append_block(lap_symbols *s, int at, const int16_t *block, int dc_before, bool is_chroma,
    const lap_encode_tables *tables)
{
    const uint8_t *orders = tables->orders[0], *ones = tables->ones[is_chroma][0];
    const uint64_t coded = lap_coded(lap_nonzero(block));
    LAP_ONE_REGISTER(orders);
    LAP_ONE_REGISTER(ones);
    const lap_counts counts = lap_count_bytes(coded);
    int16_t *value = s->value + at;
    uint8_t *position = s->position + at;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const uint64_t byte = coded >> (8 * i) & 255, below = counts.below >> (8 * i) & 255;
        lap_append_eight(value + below, position + below, block + 8 * i, orders + 16 * byte,
            vadd_u8(vld1_u8(ones + 8 * byte), vdup_n_u8((uint8_t)(8 * i))));
    }
    value[0] = (int16_t)(block[0] - dc_before);
    return at + counts.all;
}

/* Stores eight values, each with the number of its entry in the lower half. rows: the rows of the table in
 * which these entries are; a row has 32 entries. */
LAP_INLINE void lap_store_pairs(uint8x8_t rows, const int16_t *values, uint64_t *two)
{
    const int16x8_t value = vld1q_s16(values);
    const uint16x8_t row = vaddq_u16(vshll_n_u8(rows, 5), vdupq_n_u16(16));
    const uint16x8_t zeros = vclzq_u16(vreinterpretq_u16_s16(vabsq_s16(value)));
    const uint16x8_t sign = vreinterpretq_u16_s16(value);
    vst2q_u16(
        (uint16_t *)(void *)two, ((uint16x8x2_t){{vsraq_n_u16(vsubq_u16(row, zeros), sign, 12), sign}}));
}

/* Finds the entries of sixteen symbols from i on. */
LAP_INLINE void lap_find_entries(const lap_symbols *s, int i, uint64_t *two)
{
    const uint8x16_t position = vld1q_u8(s->position + i), before = vld1q_u8(s->position + i - 1);
    const uint8x16_t in_block = vtstq_u8(position, vdupq_n_u8(63)); /* not DC */
    const uint8x16_t chroma = vandq_u8(position, vdupq_n_u8(LAP_POSITION_CHROMA));
    const uint8x16_t rows = vsraq_n_u8(vandq_u8(vsubq_u8(position, before), in_block), chroma, 1);
    lap_store_pairs(vget_low_u8(rows), s->value + i, two);
    lap_store_pairs(vget_high_u8(rows), s->value + i + 8, two + 4);
}
_Static_assert(32 * LAP_POSITION_CHROMA / 2 == LAP_ENCODE_CHROMA && LAP_ENCODE_NEGATIVE == 15,
    "chroma's bit of a position, and four bits of a sign, lead to their entries");

/* ---- symbols to bits ----------------------------------------------------------------------------- */

/* Keeps a symbol's bits and length in one 64-bit register, where shifts are free as part of other
 * instructions. The compiler does so only if it does not know that the upper half is 0. */
#define LAP_KEEP_WHOLE(symbol) __asm__("" : "+r"(symbol))

/* Appends a symbol. A shift uses only the lowest six bits of a length, or of a sum of lengths, so the bits
 * above them need no mask. */
LAP_INLINE void lap_add_symbol(uint64_t *bits, uint64_t *length, uint64_t symbol)
{
    *bits = *bits << (symbol & 63) | symbol >> LAP_ENCODE_BITS_SHIFT;
    *length += symbol;
}

/* Writes two symbols. They have at most 52 bits, so no branch on their length is needed. A symbol is its
 * entry and 64 times the value. A pair shifted right by ten bits gives 64 times the value, plus the highest
 * bit of the number, which is set for chroma. The lengths in chroma entries are one too small; that bit
 * corrects them. */
LAP_INLINE void lap_put_two(lap_bits *b, uint64_t two, const uint32_t *entries)
{
    enum { NUMBERS = 2 * LAP_ENCODE_CHROMA - 1 };
    uint64_t first = entries[two & NUMBERS] + (uint32_t)((int32_t)two >> 10);
    uint64_t second = entries[two >> 32 & NUMBERS] + (uint64_t)((int64_t)two >> 42);
    uint64_t length = b->count;
    LAP_KEEP_WHOLE(first);
    LAP_KEEP_WHOLE(second);
    lap_add_symbol(&b->bits, &length, first);
    lap_add_symbol(&b->bits, &length, second);
    const uint64_t word = __builtin_bswap64(b->bits << (-length & 63));
    memcpy(b->to, &word, sizeof word);
    b->to += length / 8 % 8;
    b->count = length % 8;
}
_Static_assert(LAP_ENCODE_CHROMA == 1 << 10 && LAP_ENCODE_BITS_SHIFT == 6, "the fields of a pair");

/* Writes the unstuffed bits to `bytes`. Returns the number of whole bytes; state keeps the rest. */
static inline size_t lap_unit_bits(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes)
{
    uint64_t *two = scratch->two;
    const uint32_t *entries = plan->tables->entries;
    lap_bits b = lap_bits_of(state, bytes);
    for (int i = 0; i < s->count; i += LAP_BATCH) {
        const int count = s->count - i < LAP_BATCH ? s->count - i : LAP_BATCH;
        for (int k = 0; k < count; k += LAP_STEP)
            lap_find_entries(s, i + k, two + k / 2);
        if (count % 2)
            two[count / 2] = (uint32_t)two[count / 2] | (uint64_t)LAP_ENCODE_NO_ENTRY << 32;
#pragma GCC unroll 8
        for (int k = 0; k < (count + 1) / 2; k++)
            lap_put_two(&b, two[k], entries);
    }
    lap_keep_bits(&b, state);
    return (size_t)(b.to - bytes);
}

#endif
