#include "coding/entropy_walk.h"

#include <stdlib.h>
#include <string.h>

void lap_walk_tables_init(lap_walk_tables *tables, const lap_huff_layout *layout)
{
    tables->layout = *layout;
    for (int c = 0; c < layout->components; c++) {
        lap_huff_fill(&layout->codes[layout->dc[c]], LAP_WALK_INDEX_BITS, tables->look[layout->dc[c]]);
        lap_huff_fill(&layout->codes[layout->ac[c]], LAP_WALK_INDEX_BITS, tables->look[layout->ac[c]]);
    }
    for (int b = 0; b < layout->blocks; b++) {
        tables->block[b].dc = tables->look[layout->dc[layout->component[b]]];
        tables->block[b].ac = tables->look[layout->ac[layout->component[b]]];
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct reader {
    uint64_t window; /* the next bits, uppermost; below the `count` known ones may be more of the data */
    unsigned count;
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
    r->window |= word >> r->count;
    r->next += (63 - r->count) >> 3;
    r->count |= 56;
}

static inline void skip(reader *r, lap_huff_entry e)
{
    r->window <<= e & 63; /* an entry skips 31 bits at most */
    r->count -= LAP_HUFF_SKIP(e);
}

static inline reader reader_at(const uint8_t *bytes, uint32_t bit)
{
    reader r = {.next = bytes + (bit >> 3)};
    refill(&r);
    r.window <<= bit & 7;
    r.count -= bit & 7;
    return r;
}

static inline uint32_t bit_of(const reader *r, const uint8_t *bytes)
{
    return (uint32_t)((size_t)(r->next - bytes) * 8 - r->count);
}

static inline size_t index_of(const reader *r)
{
    return r->window >> (64 - LAP_WALK_INDEX_BITS);
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The slow way: codes longer than the index, and the last coefficients of a block. */
static lap_huff_odd single(reader *r, const lap_huff_layout *layout, lap_huff_state *state, int *value)
{
    lap_huff_token token;
    refill(r);
    lap_huff_odd odd = lap_huff_step(layout, r->window, state, &token);
    if (odd == LAP_HUFF_FINE) {
        r->window <<= token.bits;
        r->count -= (unsigned)token.bits;
        *value = token.value;
    }
    return odd;
}

/* The DC difference that the block begins with. Without a branch on its sign, which nobody can predict. */
static inline lap_huff_odd take_dc(reader *r, const lap_walk_tables *tables, int block, int *value)
{
    lap_huff_entry e = tables->block[block].dc[index_of(r)];
    if (LAP_HUFF_FIRST_BITS(e) == 0) {
        lap_huff_state state = {.block = block};
        return single(r, &tables->layout, &state, value);
    }
    unsigned size = LAP_HUFF_FIRST(e);
    uint64_t bits = r->window << LAP_HUFF_FIRST_BITS(e);
    int is_negative = (int)(~bits >> 63);
    *value = (int)(bits >> 1 >> (63 - size)) - (is_negative ? (1 << size) - 1 : 0);
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

/* The other coefficients. Two entries a refill: 26 bits each at most, and an index behind them. */
static inline lap_huff_odd take_ac(reader *r, const lap_walk_tables *tables, int block)
{
    const lap_huff_entry *look = tables->block[block].ac;
    lap_huff_odd odd = LAP_HUFF_FINE;
    int k = 1;
    for (;;) {
        refill(r);
        lap_huff_entry e = look[index_of(r)];
        int k1 = k + (int)LAP_HUFF_ADVANCE(e);
        if (k1 < 64) {
            k = k1;
            skip(r, e);
            e = look[index_of(r)];
            k1 = k + (int)LAP_HUFF_ADVANCE(e);
        }
        if (k1 < 64) {
            k = k1;
            skip(r, e);
        } else if ((unsigned)(k1 - LAP_HUFF_EOB) < 64) {
            skip(r, e);
            return LAP_HUFF_FINE;
        } else if (take_ac_slowly(r, &tables->layout, block, &k, &odd)) {
            return odd;
        }
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
