/* Walks through the blocks of an MCU, one symbol at a time, and detects errors. This is the reference: faster
 * loops decode several symbols at once (LAP_HUFF_ADVANCE), and must pass through the same states.
 *
 * An entry with several symbols may be used if k + advance < 64, or, at the end of the block, if advance
 * contains LAP_HUFF_EOB and k + advance - LAP_HUFF_EOB < 64. Otherwise the block ends inside the entry, or
 * there is an error: decode one symbol with lap_huff_step instead. */
#ifndef LAP_HUFFMAN_WALK_H
#define LAP_HUFFMAN_WALK_H

#include "coding/huffman.h"

enum { LAP_HUFF_BLOCKS = 10 }; /* maximum number of blocks in an MCU (T.81, B.2.3) */

typedef struct lap_huff_layout { /* components and tables of a sequential scan */
    int components;              /* 1..4 */
    int blocks;                  /* in an MCU */
    uint8_t component[LAP_HUFF_BLOCKS];
    uint8_t dc[4], ac[4]; /* tables of each component: indices into codes */
    lap_huff_code codes[8];
} lap_huff_layout;

/* Adds the scan's next component: its number of blocks in an MCU, and its tables as indices into codes. The
 * caller makes the codes. False: the MCU would have more than LAP_HUFF_BLOCKS blocks. */
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

typedef struct lap_huff_state { /* walks at the same bit in the same state stay identical */
    int block;                  /* number of the block in the MCU: 0 .. blocks - 1 */
    int k;                      /* next coefficient in zigzag order; 0: DC */
} lap_huff_state;

typedef struct lap_huff_token { /* the symbol of a step */
    int bits;                   /* number of bits of code and value */
    int value;                  /* for DC, the difference */
} lap_huff_token;

/* Decodes the symbol that begins `window`. At least 31 bits of the window must be data; else the caller
 * checks afterwards that the symbol did not pass the end. Returns FINE, CODE or RUN. The block is complete
 * when state->k is 0 again, and the MCU is complete when state->block is 0 too. */
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

/* Returns whether the `left` bits before a marker, the first in bit 63 of window, are valid padding: fewer
 * than 8, and all ones. */
LAP_HUFF_INLINE bool lap_huff_is_padding(uint64_t window, unsigned left)
{
    return left < 8 && (window >> 32 | 0xFFFFFFFFu >> left) == 0xFFFFFFFFu;
}

/* Returns the category of a value, that is the number of bits that follow its code: the inverse of EXTEND. */
LAP_HUFF_INLINE int lap_huff_category(int value)
{
    int n = 0;
    for (unsigned u = value < 0 ? 0u - (unsigned)value : (unsigned)value; u; u >>= 1)
        n++;
    return n;
}

#endif
