/* Turns the bits of progressive scans into coefficients: one function for each of the four kinds.
 *
 *     DC first        the upper bits of DC values, as differences to the block before
 *     DC refinement   the next bit of each
 *     AC first        the upper bits of the coefficients of a band, in runs of zeros and values
 *     AC refinement   the next bit of each nonzero coefficient, and the values that are new among the zeros
 *
 * Each block has a mask of 64 bits that marks its nonzero AC coefficients; the first coefficient is the
 * highest bit, as in the data. A refinement reads this mask instead of the coefficients: a shift and a
 * deposit find the coefficient that a symbol leads to, and a bit count gives the number of correction bits
 * for the coefficients that it passes. The correction bits that are 1 are collected, and their coefficients
 * are changed at the end of the block. */
#ifndef LAP_DECODE_SCRIPT_H
#define LAP_DECODE_SCRIPT_H

#include "decode_entropy.h"

/* ---- symbols ------------------------------------------------------------------------------------- */

static inline lap_decode_bits lap_script_begin(const lap_decode_state *state)
{
    return (lap_decode_bits){.at = state->at, .bits = state->bits, .count = state->count};
}

/* Stores the reader's position in state. False if bits after the end of the data were used. */
static inline bool lap_script_end(lap_decode_state *state, const lap_decode_bits *r)
{
    state->at = r->at;
    state->bits = r->bits;
    state->count = (unsigned)r->count & 63;
    return lap_decode_left(state) >= 0;
}

/* Returns whether bits after the data were read. One check per block (or MCU of a DC scan) is enough, since
 * it reads at most LAP_DECODE_PAD bytes after the data. */
static inline bool lap_script_is_past(const lap_decode_bits *r, const lap_decode_state *state)
{
    return r->at > state->end + sizeof r->bits;
}

/* Returns the entry of the next symbol, or 0 if its code is invalid. Refills the bits first, so that at least
 * 56 - 11 bits are left after a code in the table, and 56 - 16 after a longer code. */
static inline lap_script_entry lap_script_look(const lap_script_codes *codes, lap_decode_bits *r)
{
    lap_decode_refill(r);
    const lap_script_entry entry = codes->entries[r->bits >> (64 - LAP_SCRIPT_INDEX)];
    if (entry != 0)
        return entry;
    int length = 0;
    const int symbol = lap_huff_symbol(codes->code, r->bits, &length);
    return lap_script_entry_of(codes, symbol, length);
}

/* Returns the length of an EOB run, including this block. */
static inline unsigned lap_script_blocks(uint64_t bits, lap_script_entry entry)
{
    const unsigned size = LAP_SCRIPT_SIZE(entry);
    const unsigned more = (unsigned)(bits >> (64 - LAP_SCRIPT_LENGTH(entry))) & ((1U << size) - 1);
    return (1U << size) + more;
}

static inline int16_t lap_script_shifted(int value, int low)
{
    return (int16_t)(uint16_t)((unsigned)value << low);
}

/* ---- DC ------------------------------------------------------------------------------------------ */

static inline bool lap_script_dc(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    lap_decode_bits r = lap_script_begin(&state->bits);
    for (int m = 0; m < unit->count; m++) {
        if (lap_script_is_past(&r, &state->bits))
            return false;
        for (int w = 0; w < unit->ways; w++) {
            const lap_held_way *way = &unit->way[w];
            const lap_script_entry entry = lap_script_look(&scan->codes[way->part], &r);
            const int difference = lap_decode_value(r.bits, LAP_SCRIPT_LENGTH(entry), LAP_SCRIPT_SIZE(entry));
            const int dc = state->bits.dc[way->part] + difference;
            const int value = (int)((unsigned)dc << scan->low);
            if (entry == 0 || dc != (int16_t)dc || value != (int16_t)value)
                return false;
            lap_decode_skip(&r, LAP_SCRIPT_LENGTH(entry));
            state->bits.dc[way->part] = dc;
            way->blocks[(ptrdiff_t)m * way->step] = (int16_t)value;
        }
    }
    return lap_script_end(&state->bits, &r);
}

static inline bool lap_script_dc_more(
    const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    lap_decode_bits r = lap_script_begin(&state->bits);
    for (int m = 0; m < unit->count; m++) {
        if (lap_script_is_past(&r, &state->bits))
            return false;
        lap_decode_refill(&r);
        for (int w = 0; w < unit->ways; w++) {
            const lap_held_way *way = &unit->way[w];
            int16_t *dc = &way->blocks[(ptrdiff_t)m * way->step];
            *dc = (int16_t)(*dc | lap_script_shifted((int)(r.bits >> 63), scan->low));
            lap_decode_skip(&r, 1);
        }
    }
    return lap_script_end(&state->bits, &r);
}

/* ---- AC, first ----------------------------------------------------------------------------------- */

/* Decodes one block. Returns the length of the EOB run that begins here, including this block; 1 if the block
 * has all coefficients of the band; 0 on an error. */
static inline unsigned lap_script_ac_block(
    const lap_held_scan *scan, lap_decode_bits *r, int16_t *block, uint64_t *nonzero)
{
    const lap_script_codes *codes = scan->codes;
    const uint8_t *index = scan->index;
    const unsigned end = scan->last + 1U;
    unsigned blocks = 1;
    uint64_t new = 0;
    for (unsigned k = scan->first; k < end;) {
        const lap_script_entry entry = lap_script_look(codes, r);
        const unsigned length = LAP_SCRIPT_LENGTH(entry), step = LAP_SCRIPT_STEP(entry);
        const unsigned size = LAP_SCRIPT_SIZE(entry);
        const uint64_t bits = r->bits;
        k += step;
        if (entry == 0 || k > end)
            return 0;
        lap_decode_skip(r, length);
        if (step == 0) {
            blocks = lap_script_blocks(bits, entry);
            break;
        }
        block[index[k - 1]] = lap_script_shifted(lap_decode_value(bits, length, size), scan->low);
        new |= (uint64_t)(size > 0) << (64 - k);
    }
    *nonzero |= new;
    return blocks;
}

static inline bool lap_script_ac(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    lap_decode_bits r = lap_script_begin(&state->bits);
    for (int b = 0; b < unit->count; b++) {
        if (state->ended == 0) {
            if (lap_script_is_past(&r, &state->bits))
                return false;
            state->ended =
                lap_script_ac_block(scan, &r, unit->way->blocks + (ptrdiff_t)64 * b, &unit->nonzero[b]);
            if (state->ended == 0)
                return false;
        }
        state->ended--;
    }
    return lap_script_end(&state->bits, &r);
}

/* ---- AC, refinement ------------------------------------------------------------------------------ */

/* Deposits the lowest bits of `bits` at the ones of `mask`, in order. */
static inline uint64_t lap_script_deposit(uint64_t bits, uint64_t mask)
{
#ifdef __BMI2__
    return _pdep_u64(bits, mask);
#else
    uint64_t deposited = 0;
    for (; mask != 0; mask &= mask - 1, bits >>= 1)
        deposited |= mask & -mask & -(bits & 1);
    return deposited;
#endif
}

/* Reads a correction bit for each one of `passed`, and returns the ones whose bit is 1. */
static inline uint64_t lap_script_ones(lap_decode_bits *r, uint64_t passed)
{
    const unsigned count = (unsigned)__builtin_popcountll(passed);
    const uint64_t bits = r->bits >> 1 >> (63 - count);
    lap_decode_skip(r, count);
    return lap_script_deposit(bits, passed);
}

/* As lap_script_ones, but `passed` may have more ones than the 40 bits that are available. */
static inline uint64_t lap_script_many_ones(lap_decode_bits *r, uint64_t passed)
{
    const uint64_t upper = passed & UINT64_MAX << 32;
    if (__builtin_popcountll(passed) <= 32)
        return lap_script_ones(r, passed);
    const uint64_t ones = lap_script_ones(r, upper);
    lap_decode_refill(r);
    return ones | lap_script_ones(r, passed ^ upper);
}

/* Increases the magnitude of nonzero coefficients by `bit`. */
static inline void lap_script_grow(int16_t *block, const uint8_t *index, uint64_t ones, int bit)
{
    for (; ones != 0; ones &= ones - 1) {
        int16_t *value = &block[index[63 - __builtin_ctzll(ones)]];
        const int sign = *value >> 15;
        *value = (int16_t)(*value + ((bit ^ sign) - sign));
    }
}

/* Refines one block; `open` is the mask of the band. *ended: before, the blocks left in an EOB run, including
 * this one, or 0; after, the same value if it was not 0, else what lap_script_ac_block would return. */
static inline bool lap_script_refine_block(const lap_held_scan *scan, lap_decode_bits *r, uint64_t open,
    int16_t *block, uint64_t *nonzero, unsigned *ended)
{
    const uint64_t old = *nonzero;
    uint64_t ones = 0, new = 0;
    while (open != 0 && *ended == 0) {
        const lap_script_entry entry = lap_script_look(scan->codes, r);
        const unsigned run = LAP_SCRIPT_STEP(entry) - 1, size = LAP_SCRIPT_SIZE(entry);
        const uint64_t bits = r->bits, zeros = open & ~old;
        const unsigned count = (unsigned)__builtin_popcountll(zeros);
        if (entry == 0)
            return false;
        lap_decode_skip(r, LAP_SCRIPT_LENGTH(entry));
        if (LAP_SCRIPT_STEP(entry) == 0) {
            *ended = lap_script_blocks(bits, entry);
            break;
        }
        if (run >= count)
            return false;
        const uint64_t here = lap_script_deposit((uint64_t)1 << (count - 1 - run), zeros);
        ones |= lap_script_many_ones(r, open & old & ~(2 * here - 1));
        open &= here - 1;
        if (size > 0) {
            const int sign = (int)(bits >> (64 - LAP_SCRIPT_LENGTH(entry))) & 1;
            block[scan->index[63 - __builtin_ctzll(here)]] = lap_script_shifted(sign ? 1 : -1, scan->low);
            new |= here;
        }
    }
    if (*ended > 0) {
        lap_decode_refill(r);
        ones |= lap_script_many_ones(r, open & old);
    } else {
        *ended = 1;
    }
    lap_script_grow(block, scan->index, ones, 1 << scan->low);
    *nonzero = old | new;
    return true;
}

static inline bool lap_script_ac_more(
    const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    const uint64_t band = UINT64_MAX >> scan->first & UINT64_MAX << (63 - scan->last);
    lap_decode_bits r = lap_script_begin(&state->bits);
    for (int b = 0; b < unit->count; b++) {
        if (state->ended == 0 || (unit->nonzero[b] & band) != 0) {
            if (lap_script_is_past(&r, &state->bits) ||
                !lap_script_refine_block(
                    scan, &r, band, unit->way->blocks + (ptrdiff_t)64 * b, &unit->nonzero[b], &state->ended))
                return false;
        }
        state->ended--;
    }
    return lap_script_end(&state->bits, &r);
}

/* ---- all four ------------------------------------------------------------------------------------ */

static inline bool lap_decode_script(
    const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    if (scan->first == 0)
        return scan->refines ? lap_script_dc_more(scan, state, unit) : lap_script_dc(scan, state, unit);
    return scan->refines ? lap_script_ac_more(scan, state, unit) : lap_script_ac(scan, state, unit);
}

#endif
