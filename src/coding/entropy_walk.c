#include "coding/entropy_lanes.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------ */

enum {
    AC_BITS = LAP_WALK_AC_BITS,
    FIRST_BITS = LAP_WALK_FIRST_BITS,
    EOB = LAP_HUFF_EOB,
    LONG = LAP_HUFF_LONG_CODE
};
#define LENGTH(e) ((e)&63u)
#define ADVANCE(e) ((unsigned)(e) >> 8)

static uint16_t entry_of(unsigned length, unsigned advance)
{
    return (uint16_t)(length | advance << 8);
}

/* Extends the entry of one symbol by the symbols that follow: to[i] is `one` and then rest[i], or only `one`
 * if both together would pass the end of the block. */
static void go_on_with(uint16_t one, const uint16_t *rest, unsigned count, uint16_t *to)
{
    for (unsigned i = 0; i < count; i++) {
        const bool is_too_far = ADVANCE(one) + (ADVANCE(rest[i]) & (EOB - 1)) >= 64;
        to[i] = is_too_far ? one : (uint16_t)(one + rest[i]);
    }
}

/* Makes the entries of all indices of `bits` bits. The caller has made those of fewer bits. The entries of
 * indices of n bits are at all + (1 << n). */
static void fill_indices(const lap_huff_code *code, int bits, uint16_t *all)
{
    uint16_t *to = all + (1u << bits);
    for (unsigned i = 0; i < 1u << bits;) {
        int length = 0;
        const int symbol = lap_huff_symbol(code, (uint64_t)i << (64 - bits), &length);
        const unsigned run = (unsigned)symbol >> 4, size = (unsigned)symbol & 15;
        const unsigned whole = (unsigned)length + size;
        if (symbol < 0 || length > bits || (size == 0 && run > 0 && run < 15)) {
            to[i++] = 0;
            continue;
        }
        const unsigned alike = 1u << (bits - length), end = i + alike;
        const uint16_t one = entry_of(whole, symbol ? run + 1 : EOB);
        if (symbol == 0 || whole >= (unsigned)bits)
            for (; i < end; i++)
                to[i] = one;
        const unsigned left = (unsigned)bits - whole;
        for (; i < end; i += 1u << left)
            go_on_with(one, all + (1u << left), 1u << left, to + i);
    }
}

/* `all` has the entries of indices of 1 .. AC_BITS bits. */
static void fill_ac(const uint16_t *all, uint16_t entries[1 << AC_BITS])
{
    for (unsigned i = 0; i < 1u << AC_BITS; i++) {
        const uint16_t e = all[(1u << AC_BITS) + i];
        entries[i] = e ? e : entry_of(0, LONG);
    }
}

/* Makes the entries that hold a whole DC difference and the AC symbols after it. */
static void fill_first(const lap_huff_code *code, const uint16_t *all, uint32_t entries[1 << FIRST_BITS])
{
    for (unsigned i = 0; i < 1u << FIRST_BITS;) {
        const uint64_t window = (uint64_t)i << (64 - FIRST_BITS);
        int length = 0;
        const int size = lap_huff_symbol(code, window, &length), left = FIRST_BITS - length - size;
        if (size < 0 || left < 0) {
            entries[i++] = 0;
            continue;
        }
        const uint32_t value = (uint16_t)lap_huff_value(window << length, size);
        const uint16_t one = entry_of((unsigned)(length + size), 1);
        uint16_t both[1 << FIRST_BITS];
        go_on_with(one, all + (1u << left), 1u << left, both);
        for (unsigned k = 0; k < 1u << left; k++)
            entries[i++] = both[k] | value << 16;
    }
}

static void fill_component(const lap_huff_layout *layout, int c, lap_walk_codes *codes)
{
    uint16_t all[2 << AC_BITS] = {0}; /* the entry of an index of no bits stays 0 */
    const lap_huff_code *ac = &layout->codes[layout->ac[c]];
    for (int bits = 1; bits <= AC_BITS; bits++)
        fill_indices(ac, bits, all);
    fill_ac(all, codes->ac);
    fill_first(&layout->codes[layout->dc[c]], all, codes->first);
}

/* Components with the same tables share one set. */
void lap_walk_tables_init(lap_walk_tables *tables, const lap_huff_layout *layout)
{
    tables->layout = *layout;
    tables->walk_together = lap_walk_together;
    for (int c = 0; c < layout->components; c++) {
        int same = 0;
        while (layout->dc[same] != layout->dc[c] || layout->ac[same] != layout->ac[c])
            same++;
        if (same == c)
            fill_component(layout, c, &tables->codes[c]);
        for (int b = 0; b < layout->blocks; b++)
            if (layout->component[b] == c)
                tables->block[b] = &tables->codes[same];
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static lap_code grow(lap_notes *notes)
{
    size_t room = notes->room ? 2 * notes->room : 256;
    lap_note *at = realloc(notes->at, room * sizeof *at);
    if (!at)
        return LAP_E_MEMORY;
    notes->at = at;
    notes->room = room;
    return LAP_OK;
}

lap_code lap_walk_note(lap_walk *walk)
{
    lap_notes *notes = walk->notes;
    if (notes->count == notes->room && grow(notes) != LAP_OK)
        return LAP_E_MEMORY;
    notes->at[notes->count++] = walk->now;
    return LAP_OK;
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

lap_huff_odd lap_walk_on(lap_walk *walk, uint32_t stop, lap_code *code)
{
    lap_lane l = lap_lane_of(walk, stop);
    lap_lane_place p = lap_lane_place_of(walk);
    bool is_over = walk->now.bit >= stop || lap_lane_begin(&l, &p);
    while (!is_over) {
        lap_lane_refill(&p.r);
        is_over = lap_lane_look(&l, &p);
        if (!is_over) /* one refill is enough for two look-ups */
            is_over = lap_lane_look(&l, &p);
    }
    if (l.odd != LAP_HUFF_FINE)
        l.code = lap_walk_note(walk);
    *code = l.code;
    return l.odd;
}

lap_code lap_walk_together(
    lap_walk *const walks[LAP_WALK_LANES], const uint32_t stops[LAP_WALK_LANES], int *which)
{
    return lap_lanes_walk(walks, stops, which);
}

lap_huff_odd lap_walk_to_marker(lap_walk *walk, uint32_t end, lap_code *code)
{
    uint32_t end_bit = end * 8;
    lap_huff_odd odd = lap_walk_on(walk, end_bit < 7 ? 0 : end_bit - 7, code);
    while (odd == LAP_HUFF_FINE && *code == LAP_OK) {
        uint32_t bit = walk->now.bit;
        if (bit > end_bit)
            return LAP_HUFF_SHORT;
        /* No code is all ones, so an MCU of fewer than 8 bits cannot be mistaken for padding. */
        if (lap_huff_is_padding(lap_lane_bits_at(walk->bytes, bit).window, end_bit - bit))
            return LAP_HUFF_FINE;
        odd = lap_walk_on(walk, bit + 1, code);
    }
    return odd;
}
