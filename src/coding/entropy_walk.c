#include "coding/entropy_walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------------------------ */

enum { AC_BITS = LAP_WALK_AC_BITS, DC_BITS = LAP_WALK_DC_BITS, EOB = 128, LONG = 255 };
#define LENGTH(e) ((e)&63u)
#define ADVANCE(e) ((unsigned)(e) >> 8)

static uint16_t entry_of(unsigned length, unsigned advance)
{
    return (uint16_t)(length | advance << 8);
}

/* What begins with one symbol goes on as shorter indices do: to[i] = one, and rest[i] behind it. */
static void go_on_with(uint16_t one, const uint16_t *rest, unsigned count, uint16_t *to)
{
    for (unsigned i = 0; i < count; i++) {
        const bool is_too_far = ADVANCE(one) + (ADVANCE(rest[i]) & (EOB - 1)) >= 64;
        to[i] = is_too_far ? one : (uint16_t)(one + rest[i]);
    }
}

/* The entries of indices of `bits` bits; those of less bits are there. all + (1 << n): indices of n bits. */
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

static void fill_ac(const lap_huff_code *code, uint16_t entries[1 << AC_BITS])
{
    uint16_t all[2 << AC_BITS];
    for (int bits = 1; bits <= AC_BITS; bits++)
        fill_indices(code, bits, all);
    for (unsigned i = 0; i < 1u << AC_BITS; i++) {
        const uint16_t e = all[(1u << AC_BITS) + i];
        entries[i] = e ? e : entry_of(0, LONG);
    }
}

static void fill_dc(const lap_huff_code *code, uint16_t entries[1 << DC_BITS])
{
    for (unsigned i = 0; i < 1u << DC_BITS; i++) {
        int length = 0;
        const int size = lap_huff_symbol(code, (uint64_t)i << (64 - DC_BITS), &length);
        const bool is_there = size >= 0 && length <= DC_BITS;
        entries[i] = is_there ? entry_of((unsigned)(length + size), (unsigned)size) : 0;
    }
}

void lap_walk_tables_init(lap_walk_tables *tables, const lap_huff_layout *layout)
{
    bool has_dc[8] = {false}, has_ac[8] = {false};
    tables->layout = *layout;
    for (int c = 0; c < layout->components; c++) {
        const int dc = layout->dc[c], ac = layout->ac[c];
        if (!has_dc[dc])
            fill_dc(&layout->codes[dc], tables->dc[dc & 3]);
        if (!has_ac[ac])
            fill_ac(&layout->codes[ac], tables->ac[ac & 3]);
        has_dc[dc] = has_ac[ac] = true;
    }
    for (int b = 0; b < layout->blocks; b++) {
        tables->block[b].dc = tables->dc[layout->dc[layout->component[b]] & 3];
        tables->block[b].ac = tables->ac[layout->ac[layout->component[b]] & 3];
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct reader {
    uint64_t window; /* the next bits, uppermost; below the known ones may be more of the data */
    uint64_t count;  /* of known ones, in its lowest six bits */
    const uint8_t *next;
} reader;

/* At least 56 bits from here on. Bits that are loaded twice are the same bits. */
static inline void refill(reader *r)
{
    uint64_t word;
    memcpy(&word, r->next, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    r->window |= word >> (r->count & 63);
    r->next += ~r->count >> 3 & 7;
    r->count |= 56;
}

static inline void skip(reader *r, uint64_t entry)
{
    r->window <<= entry & 63;
    r->count -= entry;
}

static inline reader reader_at(const uint8_t *bytes, uint32_t bit)
{
    reader r = {.next = bytes + (bit >> 3)};
    refill(&r);
    skip(&r, bit & 7);
    return r;
}

static inline uint32_t bit_of(const reader *r, const uint8_t *bytes)
{
    return (uint32_t)((size_t)(r->next - bytes) * 8 - (r->count & 63));
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The slow way: codes longer than the index, and the last coefficients of a block. */
static lap_huff_odd single(reader *r, const lap_huff_layout *layout, lap_huff_state *state, int *value)
{
    lap_huff_token token;
    refill(r);
    lap_huff_odd odd = lap_huff_step(layout, r->window, state, &token);
    if (odd == LAP_HUFF_FINE) {
        skip(r, (unsigned)token.bits);
        *value = token.value;
    }
    return odd;
}

/* The DC difference that the block begins with. Without a branch on its sign, which nobody can predict. */
static inline lap_huff_odd take_dc(reader *r, const lap_walk_tables *tables, int block, int *value)
{
    const unsigned e = tables->block[block].dc[r->window >> (64 - DC_BITS)];
    if (e == 0) {
        lap_huff_state state = {.block = block};
        const lap_huff_odd odd = single(r, &tables->layout, &state, value);
        refill(r);
        return odd;
    }
    const int mask = (1 << ADVANCE(e)) - 1, bits = (int)(r->window >> (64 - LENGTH(e))) & mask;
    *value = bits <= mask >> 1 ? bits - mask : bits;
    skip(r, e);
    return LAP_HUFF_FINE;
}

/* What an entry does not settle; true: the block is over, or odd. */
static bool take_ac_slowly(reader *r, const lap_huff_layout *layout, int block, int *k, lap_huff_odd *odd)
{
    lap_huff_state state = {.block = block, .k = *k};
    int value;
    *odd = single(r, layout, &state, &value);
    *k = state.k;
    return state.k == 0 || *odd != LAP_HUFF_FINE;
}

/* The other coefficients. Two entries a refill: 28 bits each at most, and an index behind them. */
static inline lap_huff_odd take_ac(reader *r, const lap_walk_tables *tables, int block)
{
    const uint16_t *look = tables->block[block].ac;
    lap_huff_odd odd = LAP_HUFF_FINE;
    unsigned k = 1, e = look[r->window >> (64 - AC_BITS)];
    reader before = *r;
    skip(r, e);
    for (;;) {
        unsigned next = k + ADVANCE(e);
        while (next < 64) {
            refill(r);
            before = *r;
            k = next;
            e = look[r->window >> (64 - AC_BITS)];
            skip(r, e);
            next = k + ADVANCE(e);
            if (next >= 64)
                break;
            before = *r;
            k = next;
            e = look[r->window >> (64 - AC_BITS)];
            skip(r, e);
            next = k + ADVANCE(e);
        }
        if (next - EOB < 64)
            return LAP_HUFF_FINE;
        *r = before;
        int place = (int)k;
        if (take_ac_slowly(r, &tables->layout, block, &place, &odd))
            return odd;
        k = (unsigned)place;
        refill(r);
        e = look[r->window >> (64 - AC_BITS)];
        before = *r;
        skip(r, e);
    }
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

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

lap_huff_odd lap_walk_on(lap_walk *walk, uint32_t stop, lap_code *code)
{
    const lap_walk_tables *tables = walk->tables;
    const int blocks = tables->layout.blocks;
    reader r = reader_at(walk->bytes, walk->now.bit);
    *code = LAP_OK;
    while (walk->now.bit < stop) {
        lap_note next = walk->now;
        *code = lap_walk_note(walk);
        if (*code != LAP_OK)
            return LAP_HUFF_FINE;
        for (int block = 0; block < blocks; block++) {
            int value = 0;
            refill(&r);
            lap_huff_odd odd = take_dc(&r, tables, block, &value);
            if (odd == LAP_HUFF_FINE)
                odd = take_ac(&r, tables, block);
            if (odd != LAP_HUFF_FINE)
                return odd;
            uint32_t *sum = (uint32_t *)&next.dc[tables->layout.component[block]];
            *sum += (uint32_t)value;
        }
        next.bit = bit_of(&r, walk->bytes);
        walk->now = next;
    }
    return LAP_HUFF_FINE;
}

lap_huff_odd lap_walk_to_marker(lap_walk *walk, uint32_t end, lap_code *code)
{
    uint32_t end_bit = end * 8;
    lap_huff_odd odd = lap_walk_on(walk, end_bit < 7 ? 0 : end_bit - 7, code);
    while (odd == LAP_HUFF_FINE && *code == LAP_OK) {
        uint32_t bit = walk->now.bit;
        if (bit > end_bit)
            return LAP_HUFF_SHORT;
        /* Ones are never a code, so an MCU that is shorter than 8 bits is not taken for padding. */
        if (lap_huff_is_padding(reader_at(walk->bytes, bit).window, end_bit - bit))
            return LAP_HUFF_FINE;
        odd = lap_walk_on(walk, bit + 1, code);
    }
    return odd;
}
