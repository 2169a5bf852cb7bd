/* The loops of entropy_walk.c. They are in a header so that they can also be compiled for other instruction
 * sets: with BMI2, shifts by a variable are cheaper. Contracts: entropy_walk.h. */
#ifndef LAP_ENTROPY_LANES_H
#define LAP_ENTROPY_LANES_H

#include <string.h>

#include "coding/entropy_walk.h"

/* Forces inlining even of functions with several callers: a `lap_lane_place` cannot stay in registers if its
 * address is passed to a call. */
#define LAP_LANE_INLINE static inline __attribute__((always_inline))

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct lap_lane_bits {
    uint64_t window; /* the next bits, from bit 63 down; below the known ones there may be more data */
    uint64_t count;  /* known bits, in its lowest six bits; ignore the others */
    const uint8_t *next;
} lap_lane_bits;

/* Loads until at least 56 bits are known. Bits that are loaded twice have the same value both times, so an OR
 * is enough. */
LAP_LANE_INLINE void lap_lane_refill(lap_lane_bits *r)
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

LAP_LANE_INLINE void lap_lane_skip(lap_lane_bits *r, uint64_t entry)
{
    r->window <<= entry & 63;
    r->count -= entry;
}

static inline lap_lane_bits lap_lane_bits_at(const uint8_t *bytes, uint32_t bit)
{
    lap_lane_bits r = {.next = bytes + (bit >> 3)};
    lap_lane_refill(&r);
    lap_lane_skip(&r, bit & 7);
    return r;
}

static inline uint32_t lap_lane_bit(const lap_lane_bits *r, const uint8_t *bytes)
{
    return (uint32_t)((size_t)(r->next - bytes) * 8 - (r->count & 63));
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* The state of a walk. `lap_lane_place` holds the fields that each look-up changes: they stay in registers.
 */
typedef struct lap_lane {
    lap_walk *walk;
    const lap_walk_tables *tables;
    uint32_t stop;
    int block;     /* number of the block in its MCU */
    lap_note next; /* the next MCU: DC sums so far */
    lap_huff_odd odd;
    lap_code code;
} lap_lane;

typedef struct lap_lane_place {
    lap_lane_bits r;
    const uint16_t *ac; /* table of the block */
    uint64_t k;         /* the next coefficient */
} lap_lane_place;

static inline lap_lane lap_lane_of(lap_walk *walk, uint32_t stop)
{
    return (lap_lane){.walk = walk, .tables = walk->tables, .stop = stop, .next = walk->now};
}

static inline void lap_lane_add_dc(lap_lane *l, int value)
{
    uint32_t *sum = (uint32_t *)&l->next.dc[l->tables->layout.component[l->block]];
    *sum += (uint32_t)value;
}

/* Like lap_walk_note, which it calls only to make room. */
static inline lap_code lap_lane_note(lap_walk *walk)
{
    lap_notes *notes = walk->notes;
    if (notes->count == notes->room)
        return lap_walk_note(walk);
    notes->at[notes->count++] = walk->now;
    return LAP_OK;
}

/* Ends an MCU. True: the walk has reached its stop, or memory ran out. */
static inline bool lap_lane_end_mcu(lap_lane *l, uint32_t bit)
{
    l->next.bit = bit;
    l->block = 0;
    l->code = lap_lane_note(l->walk);
    if (l->code != LAP_OK)
        return true;
    l->walk->now = l->next;
    return bit >= l->stop;
}

/* Decodes one symbol from its full code, if the code is long or the end of the block is near. Sets p->k to 0
 * at the end of the block. True: l->odd is an error. */
static inline bool lap_lane_slowly(lap_lane *l, lap_lane_place *p)
{
    lap_huff_state state = {.block = l->block, .k = (int)p->k};
    lap_huff_token token;
    lap_lane_refill(&p->r);
    l->odd = lap_huff_step(&l->tables->layout, p->r.window, &state, &token);
    if (l->odd != LAP_HUFF_FINE)
        return true;
    lap_lane_skip(&p->r, (unsigned)token.bits);
    lap_lane_refill(&p->r);
    if (p->k == 0)
        lap_lane_add_dc(l, token.value);
    p->ac = l->tables->block[l->block]->ac;
    p->k = (unsigned)state.k;
    return false;
}

/* Decodes the DC difference of a block, and the AC symbols in the same entry. If these complete the block,
 * goes on with the next one. Leaves enough bits for one more look-up. True: the walk is over. */
LAP_LANE_INLINE bool lap_lane_begin(lap_lane *l, lap_lane_place *p)
{
    for (;;) {
        lap_lane_refill(&p->r);
        const lap_walk_codes *codes = l->tables->block[l->block];
        const uint32_t e = codes->first[p->r.window >> (64 - LAP_WALK_FIRST_BITS)];
        p->k = 0;
        if (e == 0) {
            lap_lane_place slow = *p;
            const bool is_over = lap_lane_slowly(l, &slow);
            *p = slow;
            return is_over;
        }
        lap_lane_add_dc(l, (int)(int32_t)e >> 16);
        lap_lane_skip(&p->r, e);
        p->ac = codes->ac;
        p->k = e >> 8 & 255;
        if (p->k < 64)
            return false;
        if (++l->block == l->tables->layout.blocks &&
            lap_lane_end_mcu(l, lap_lane_bit(&p->r, l->walk->bytes)))
            return true;
    }
}

/* Handles a look-up that reaches coefficient 64 or more: either the block is complete, or one symbol is
 * decoded from its full code instead. True: the walk is over. */
LAP_LANE_INLINE bool lap_lane_end(lap_lane *l, lap_lane_place *p, uint64_t next, unsigned entry)
{
    if (next - LAP_HUFF_EOB >= 64) {
        lap_lane_place slow = *p;
        const bool is_odd = lap_lane_slowly(l, &slow);
        *p = slow;
        if (is_odd || p->k != 0)
            return is_odd;
    } else {
        lap_lane_skip(&p->r, entry);
    }
    if (++l->block == l->tables->layout.blocks && lap_lane_end_mcu(l, lap_lane_bit(&p->r, l->walk->bytes)))
        return true;
    return lap_lane_begin(l, p);
}

/* Does one look-up, which consumes at most 28 bits. True: the walk is over. */
LAP_LANE_INLINE bool lap_lane_look(lap_lane *l, lap_lane_place *p)
{
    const uint64_t e = p->ac[p->r.window >> (64 - LAP_WALK_AC_BITS)];
    const uint64_t next = p->k + (e >> 8);
    if (next >= 64)
        return lap_lane_end(l, p, next, (unsigned)e);
    lap_lane_skip(&p->r, e);
    p->k = next;
    return false;
}

LAP_LANE_INLINE lap_lane_place lap_lane_place_of(const lap_walk *walk)
{
    return (lap_lane_place){.r = lap_lane_bits_at(walk->bytes, walk->now.bit)};
}

static inline bool lap_lane_is_done(const lap_lane *l)
{
    return l->odd != LAP_HUFF_FINE || l->code != LAP_OK || l->walk->now.bit >= l->stop;
}

/* See lap_lanes_fn. */
static inline lap_code lap_lanes_walk(
    lap_walk *const walks[LAP_WALK_LANES], const uint32_t stops[LAP_WALK_LANES], int *which)
{
    for (int i = 0; i < LAP_WALK_LANES; i++)
        if (walks[i]->now.bit >= stops[i]) {
            *which = i;
            return LAP_OK;
        }
    lap_lane a = lap_lane_of(walks[0], stops[0]), b = lap_lane_of(walks[1], stops[1]),
             c = lap_lane_of(walks[2], stops[2]);
    lap_lane_place p = lap_lane_place_of(walks[0]), q = lap_lane_place_of(walks[1]),
                   r = lap_lane_place_of(walks[2]);
    bool is_over = lap_lane_begin(&a, &p) || lap_lane_begin(&b, &q) || lap_lane_begin(&c, &r);
    while (!is_over) {
        lap_lane_refill(&p.r);
        lap_lane_refill(&q.r);
        lap_lane_refill(&r.r);
        is_over = lap_lane_look(&a, &p) || lap_lane_look(&b, &q) || lap_lane_look(&c, &r) ||
                  lap_lane_look(&a, &p) || lap_lane_look(&b, &q) || lap_lane_look(&c, &r);
    }
    *which = lap_lane_is_done(&a) ? 0 : lap_lane_is_done(&b) ? 1 : 2;
    return a.code != LAP_OK ? a.code : b.code != LAP_OK ? b.code : c.code;
}

#endif
