/* Turns bits into coefficients. Scalar code: each symbol begins where the one before it ends, so the speed
 * depends on the latency from one look-up to the next:
 *
 *     bits >> 53 ---> load an entry ---> bits << length of its symbols ---> ...
 *       1 cycle         4 or 5                  1
 *
 * Everything else (values, places, stores, counting) depends on this chain but does not lengthen it. An entry
 * holds two symbols if the 11 bits hold the first one and the code of the second. No branch tests whether
 * there are two: an entry of one symbol stores a zero as its first value, at a place that is 0 already or
 * that the second value overwrites. Values past the last coefficient of a block go to the place of DC, which
 * is written last. */
#ifndef LAP_DECODE_ENTROPY_H
#define LAP_DECODE_ENTROPY_H

#include <string.h>

#ifdef __BMI__
#include <immintrin.h>
#endif

#include "decode.h"

/* Keeps a pointer in a register: computing it again would lengthen the chain. */
#define LAP_DECODE_KEEP(pointer) __asm__("" : "+r"(pointer))

/* A refill makes at least 56 bits available. Two look-ups use at most 2 x (11 + 15) of them; a DC difference
 * uses at most 16 + 11, and one look-up after it 26. */
typedef struct lap_decode_bits {
    const uint8_t *at;
    uint64_t bits;
    uint64_t count; /* available bits, in the lowest six bits; ignore the others */
} lap_decode_bits;

static inline uint64_t lap_decode_load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __builtin_bswap64(word);
}

/* Makes at least 56 bits available. Bits that are loaded twice have the same value both times. */
static inline void lap_decode_refill(lap_decode_bits *r)
{
    const uint64_t count = r->count;
    r->bits |= lap_decode_load(r->at) >> (count & 63);
    r->at += ~count >> 3 & 7;
    r->count = count | 56;
}

static inline void lap_decode_skip(lap_decode_bits *r, uint64_t length)
{
    r->bits <<= length & 63;
    r->count -= length;
}

/* Returns the value of the last `size` of the first `length` bits (T.81, F.2.2.1, EXTEND). */
static inline int lap_decode_value(uint64_t bits, uint64_t length, unsigned size)
{
    const int mask = (1 << size) - 1, value = (int)(bits >> (-length & 63)) & mask;
    return value <= mask >> 1 ? value - mask : value;
}

/* Returns the value of the second symbol of an entry; 0 if it has no bits. */
static inline int lap_decode_value_2(uint64_t bits, uint64_t entry)
{
#ifdef __BMI__
    const int value = (int)__bextr_u64(bits, entry >> 16);
#else
    const int value = (int)(bits >> (LAP_DECODE_START_2(entry) & 63)) & ((1 << LAP_DECODE_SIZE_2(entry)) - 1);
#endif
    const int biased = value + LAP_DECODE_BIAS_2(entry);
    return value + biased < 0 ? biased : value;
}

/* Finds one symbol by its whole code. Returns its step, or 0 if the symbol is invalid in a sequential scan;
 * sets *length and *value. */
static inline unsigned lap_decode_single(
    const lap_huff_code *code, uint64_t bits, unsigned *length, int *value)
{
    int code_length = 0;
    const int symbol = lap_huff_symbol(code, bits, &code_length);
    const unsigned size = (unsigned)symbol & 15, run = (unsigned)symbol >> 4;
    if (symbol < 0 || (code->is_dc ? symbol > LAP_DECODE_DC_SIZE : size == 0 && run > 0 && run < 15))
        return 0;
    *length = (unsigned)code_length + size;
    *value = lap_decode_value(bits, *length, size);
    return code->is_dc || symbol ? run + 1 : LAP_DECODE_EOB;
}

/* Call after a look-up that cannot be used: continues at coefficient k, where that look-up began, and decodes
 * one symbol by its whole code. Returns the next coefficient, or 0 on an error. */
static inline unsigned lap_decode_retry(
    const lap_decode_plan *plan, const lap_huff_code *code, unsigned k, lap_decode_bits *r, int16_t *block)
{
    unsigned length = 0;
    int value = 0;
    lap_decode_refill(r);
    const unsigned step = lap_decode_single(code, r->bits, &length, &value), next = k + step;
    if (step == 0 || (step < LAP_DECODE_EOB && next > 64))
        return 0;
    block[plan->index[next - 1]] = (int16_t)value;
    lap_decode_skip(r, length);
    return next;
}

/* Decodes the symbols of one look-up. Returns the index of the next coefficient. */
static inline size_t lap_decode_look(
    const uint64_t *ac, const uint8_t *index, size_t k, lap_decode_bits *r, int16_t *block)
{
    const uint64_t bits = r->bits, entry = ac[bits >> (64 - LAP_DECODE_INDEX)];
    lap_decode_skip(r, entry);
    block[index[k + LAP_DECODE_ZEROS_1(entry)]] = LAP_DECODE_VALUE_1(entry);
    k += LAP_DECODE_STEP(entry);
    block[index[k - 1]] = (int16_t)lap_decode_value_2(bits, entry);
    return k;
}

/* Decodes the AC coefficients of a block. Returns the zigzag position of the last coded coefficient, 0 if the
 * block has no coded AC coefficient, or a negative number on an error. block[0] is undefined afterwards. */
static inline int lap_decode_ac(
    const lap_decode_plan *plan, const lap_decode_codes *codes, lap_decode_bits *r, int16_t *block)
{
    const uint64_t *ac = codes->ac;
    const uint8_t *index = plan->index;
    LAP_DECODE_KEEP(ac);
    LAP_DECODE_KEEP(index);
    size_t k = 1, next;
    lap_decode_bits before = *r;
    next = lap_decode_look(ac, index, k, r, block);
    for (;;) {
        while (next < 64) {
            lap_decode_refill(r);
            before = *r;
            k = next;
            next = lap_decode_look(ac, index, k, r, block);
            if (next >= 64)
                break;
            before = *r;
            k = next;
            next = lap_decode_look(ac, index, k, r, block);
        }
        if (next - LAP_DECODE_EOB < 64)
            return (int)(next - LAP_DECODE_EOB) - 1;
        if (next == 64)
            return 63;
        *r = before;
        next = lap_decode_retry(plan, &codes->all_ac, (unsigned)k, r, block);
        if (next == 0)
            return -1;
    }
}

/* Returns the DC difference. Sets *odd on an error, else does not change it. */
static inline int lap_decode_dc(const lap_decode_codes *codes, lap_decode_bits *r, unsigned *odd)
{
    const unsigned entry = codes->dc[r->bits >> (64 - LAP_DECODE_DC_INDEX)];
    unsigned length = entry & 63;
    int value = lap_decode_value(r->bits, length, entry >> 8);
    if (entry == 0 && lap_decode_single(&codes->all_dc, r->bits, &length, &value) == 0)
        *odd = 1;
    lap_decode_skip(r, length);
    return value;
}

/* Pointers for a block of an MCU, computed in advance; otherwise they would be computed only after the
 * mispredicted branch at the end of the block before. */
typedef struct lap_decode_way {
    const lap_decode_codes *codes;
    int *dc;
    int block, step;
} lap_decode_way;

static inline bool lap_decode_entropy(
    const lap_decode_plan *plan, lap_decode_state *state, int count, const lap_decode_unit *unit)
{
    lap_decode_bits r = {.at = state->at, .bits = state->bits, .count = state->count};
    lap_decode_way ways[LAP_DECODE_MCU_BLOCKS];
    unsigned odd = 0;
    for (int b = 0; b < plan->mcu_blocks; b++)
        ways[b] = (lap_decode_way){.codes = &plan->codes[plan->codes_of[plan->component[b]]],
            .dc = &state->dc[plan->component[b]],
            .block = plan->start[b],
            .step = plan->step[b]};
    for (int m = 0; m < count; m++) {
        if (r.at > state->end + sizeof r.bits)
            return false;
        for (lap_decode_way *way = ways; way < ways + plan->mcu_blocks; way++) {
            lap_decode_refill(&r);
            int16_t *block = unit->coefficients + (ptrdiff_t)way->block * 64;
            const int dc = *way->dc + lap_decode_dc(way->codes, &r, &odd);
            const int last = lap_decode_ac(plan, way->codes, &r, block);
            *way->dc = dc;
            block[0] = (int16_t)dc;
            if (last < 0 || dc != (int16_t)dc)
                return false;
            unit->last[way->block] = (uint8_t)last;
            way->block += way->step;
        }
        if (odd)
            return false;
    }
    state->at = r.at;
    state->bits = r.bits;
    state->count = (unsigned)r.count & 63;
    return lap_decode_left(state) >= 0;
}

#endif
