#include "coding/entropy_walk.h"

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

/* Makes the entries of all indices of `bits` bits; those of fewer bits must be there already. The entries of
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

/* Forces inlining even of functions with several callers: a `cursor` cannot stay in registers if its address
 * is passed to a call. */
#define LANE_INLINE static inline __attribute__((always_inline))

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct reader {
    uint64_t window; /* the next bits, from bit 63 down; below the known ones there may be more data */
    uint64_t count;  /* known bits, in its lowest six bits; ignore the others */
    const uint8_t *next;
} reader;

/* Loads until at least 56 bits are known. Bits that are loaded twice have the same value both times, so an OR
 * is enough. */
LANE_INLINE void refill(reader *r)
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

LANE_INLINE void skip(reader *r, uint64_t entry)
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

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The state of a walk. `cursor` holds the fields that each look-up changes: they stay in registers. */
typedef struct lane {
    lap_walk *walk;
    const lap_walk_tables *tables;
    uint32_t stop;
    int block;     /* number of the block in its MCU */
    lap_note next; /* the next MCU: DC sums so far */
    lap_huff_odd odd;
    lap_code code;
} lane;

typedef struct cursor {
    reader r;
    const uint16_t *ac; /* table of the block */
    uint64_t k;         /* the next coefficient */
} cursor;

static lane lane_of(lap_walk *walk, uint32_t stop)
{
    return (lane){.walk = walk, .tables = walk->tables, .stop = stop, .next = walk->now};
}

static inline void add_dc(lane *l, int value)
{
    uint32_t *sum = (uint32_t *)&l->next.dc[l->tables->layout.component[l->block]];
    *sum += (uint32_t)value;
}

/* Ends an MCU. True: the walk has reached its stop, or memory ran out. */
static bool end_mcu(lane *l, uint32_t bit)
{
    l->next.bit = bit;
    l->block = 0;
    l->code = lap_walk_note(l->walk);
    if (l->code != LAP_OK)
        return true;
    l->walk->now = l->next;
    return bit >= l->stop;
}

/* Takes one symbol by its whole code: if the code is long, or near the end of a block. Sets p->k to 0 at the
 * end of the block. True: l->odd is an error. */
static bool take_slowly(lane *l, cursor *p)
{
    lap_huff_state state = {.block = l->block, .k = (int)p->k};
    lap_huff_token token;
    refill(&p->r);
    l->odd = lap_huff_step(&l->tables->layout, p->r.window, &state, &token);
    if (l->odd != LAP_HUFF_FINE)
        return true;
    skip(&p->r, (unsigned)token.bits);
    refill(&p->r);
    if (p->k == 0)
        add_dc(l, token.value);
    p->ac = l->tables->block[l->block]->ac;
    p->k = (unsigned)state.k;
    return false;
}

/* Takes the DC difference of a block, and the AC symbols that the same look-up holds. If these complete the
 * block, goes on with the next one. Leaves enough bits for one more look-up. True: the walk is over. */
LANE_INLINE bool begin_block(lane *l, cursor *p)
{
    for (;;) {
        refill(&p->r);
        const lap_walk_codes *codes = l->tables->block[l->block];
        const uint32_t e = codes->first[p->r.window >> (64 - FIRST_BITS)];
        p->k = 0;
        if (e == 0) {
            cursor slow = *p;
            const bool is_over = take_slowly(l, &slow);
            *p = slow;
            return is_over;
        }
        add_dc(l, (int)(int32_t)e >> 16);
        skip(&p->r, e);
        p->ac = codes->ac;
        p->k = e >> 8 & 255;
        if (p->k < 64)
            return false;
        if (++l->block == l->tables->layout.blocks && end_mcu(l, bit_of(&p->r, l->walk->bytes)))
            return true;
    }
}

/* Handles a look-up that reached coefficient 64 or more: either the block is complete, or the look-up is
 * undone and one symbol is taken by its whole code. True: the walk is over. */
LANE_INLINE bool end_look(lane *l, cursor *p, uint64_t next, unsigned entry)
{
    if (next - EOB >= 64) {
        cursor slow = *p;
        slow.r = reader_at(l->walk->bytes, bit_of(&p->r, l->walk->bytes) - LENGTH(entry));
        const bool is_odd = take_slowly(l, &slow);
        *p = slow;
        if (is_odd || p->k != 0)
            return is_odd;
    }
    if (++l->block == l->tables->layout.blocks && end_mcu(l, bit_of(&p->r, l->walk->bytes)))
        return true;
    return begin_block(l, p);
}

/* Does one look-up, which takes at most 28 bits. True: the walk is over. */
LANE_INLINE bool look(lane *l, cursor *p)
{
    const unsigned e = p->ac[p->r.window >> (64 - AC_BITS)];
    const uint64_t next = p->k + ADVANCE(e);
    skip(&p->r, e);
    if (next >= 64)
        return end_look(l, p, next, e);
    p->k = next;
    return false;
}

LANE_INLINE cursor cursor_of(const lap_walk *walk)
{
    return (cursor){.r = reader_at(walk->bytes, walk->now.bit)};
}

/* ---- MCUs ------------------------------------------------------------------------------------ */

lap_huff_odd lap_walk_on(lap_walk *walk, uint32_t stop, lap_code *code)
{
    lane l = lane_of(walk, stop);
    cursor p = cursor_of(walk);
    bool is_over = walk->now.bit >= stop || begin_block(&l, &p);
    while (!is_over) {
        refill(&p.r);
        is_over = look(&l, &p);
        if (!is_over) /* one refill is enough for two look-ups */
            is_over = look(&l, &p);
    }
    if (l.odd != LAP_HUFF_FINE)
        l.code = lap_walk_note(walk);
    *code = l.code;
    return l.odd;
}

lap_code lap_walk_two(lap_walk *const walks[2], const uint32_t stops[2])
{
    if (walks[0]->now.bit >= stops[0] || walks[1]->now.bit >= stops[1])
        return LAP_OK;
    lane a = lane_of(walks[0], stops[0]), b = lane_of(walks[1], stops[1]);
    cursor p = cursor_of(walks[0]), q = cursor_of(walks[1]);
    bool is_over = begin_block(&a, &p) || begin_block(&b, &q);
    while (!is_over) {
        refill(&p.r);
        refill(&q.r);
        is_over = look(&a, &p) || look(&b, &q) || look(&a, &p) || look(&b, &q);
    }
    return a.code != LAP_OK ? a.code : b.code;
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
        if (lap_huff_is_padding(reader_at(walk->bytes, bit).window, end_bit - bit))
            return LAP_HUFF_FINE;
        odd = lap_walk_on(walk, bit + 1, code);
    }
    return odd;
}
