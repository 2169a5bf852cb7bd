/* One symbol after the other through the blocks of an MCU: the state that a walk over a scan has, and what
 * is odd in it. This is the reference; faster loops take several symbols at once (LAP_HUFF_ADVANCE) and must
 * end in the same states.
 *
 * The rule for several symbols at once: an entry counts if k + advance < 64, or if the advance has
 * LAP_HUFF_EOB and k + advance - LAP_HUFF_EOB < 64; the block ends in the latter case. In any other case the
 * block ends inside the entry, or something is odd: take one symbol by lap_huff_step instead. */
#ifndef LAP_HUFFMAN_WALK_H
#define LAP_HUFFMAN_WALK_H

#include "coding/huffman.h"

enum { LAP_HUFF_BLOCKS = 10 }; /* of an MCU at most (T.81, B.2.3) */

typedef struct lap_huff_layout { /* of the one scan */
    int components;              /* 1..4 */
    int blocks;                  /* of an MCU */
    uint8_t component[LAP_HUFF_BLOCKS];
    uint8_t dc[4], ac[4]; /* tables of each component: indices into codes */
    lap_huff_code codes[8];
} lap_huff_layout;

/* Adds the scan's next component: its blocks in an MCU, and its tables as indices into codes, which are the
 * caller's to make. False: an MCU has no more than LAP_HUFF_BLOCKS. */
LAP_HUFF_INLINE bool lap_huff_layout_add(lap_huff_layout *layout, int blocks, int dc, int ac)
{
    const int c = layout->components++;
    if (blocks > LAP_HUFF_BLOCKS - layout->blocks)
        return false;
    layout->dc[c] = (uint8_t)dc;
    layout->ac[c] = (uint8_t)ac;
    for (int i = 0; i < blocks; i++)
        layout->component[layout->blocks++] = (uint8_t)c;
    return true;
}

typedef struct lap_huff_state { /* two walks at the same bit in the same state go the same way */
    int block;                  /* of the MCU: 0 .. blocks - 1 */
    int k;                      /* next coefficient in zigzag order; 0: DC comes next */
} lap_huff_state;

typedef struct lap_huff_token { /* what a step found */
    int bits;                   /* to go on by */
    int value;                  /* DC: the difference */
} lap_huff_token;

/* The symbol that begins window; at least 31 bits of it must be data, or be checked for afterwards. FINE,
 * CODE or RUN. A block is over when state->k is 0 again; an MCU, when state->block is 0 too. */
LAP_HUFF_INLINE lap_huff_odd lap_huff_step(
    const lap_huff_layout *layout, uint64_t window, lap_huff_state *state, lap_huff_token *token)
{
    int component = layout->component[state->block], length;
    bool is_dc = state->k == 0;
    const lap_huff_code *code = &layout->codes[is_dc ? layout->dc[component] : layout->ac[component]];
    int symbol = lap_huff_symbol(code, window, &length);
    if (symbol < 0)
        return LAP_HUFF_CODE;
    int run = symbol >> 4, size = symbol & 15, k = state->k + run;
    token->bits = length + size;
    token->value = lap_huff_value(window << length, size);
    if (!is_dc && size == 0 && run > 0 && run < 15) /* progressive scans have these */
        return LAP_HUFF_CODE;
    if (k > 63)
        return LAP_HUFF_RUN;
    state->k = !is_dc && symbol == 0 ? 0 : (k + 1) & 63;
    if (state->k == 0 && ++state->block == layout->blocks)
        state->block = 0;
    return LAP_HUFF_FINE;
}

/* Whether the `left` bits before a marker, uppermost in window, may stand there: less than 8, all ones. */
LAP_HUFF_INLINE bool lap_huff_is_padding(uint64_t window, unsigned left)
{
    return left < 8 && (window >> 32 | 0xFFFFFFFFu >> left) == 0xFFFFFFFFu;
}

/* Bits for a value as they stand behind its category: EXTEND the other way round. */
LAP_HUFF_INLINE int lap_huff_category(int value)
{
    int n = 0;
    for (unsigned u = value < 0 ? 0u - (unsigned)value : (unsigned)value; u; u >>= 1)
        n++;
    return n;
}

#endif
