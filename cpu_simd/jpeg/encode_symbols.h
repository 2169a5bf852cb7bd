/* Shared by the vector forms: a flat stream of symbols, across blocks and components. Each form appends a
 * block's symbols in its own way. */
#ifndef LAP_ENCODE_SYMBOLS_H
#define LAP_ENCODE_SYMBOLS_H

#include "encode_coded.h"

enum {
    LAP_POSITION_CHROMA = LAP_ENCODE_POSITION_CHROMA,
    LAP_SYMBOLS = LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK,                    /* in a unit: at most 64 per block */
    LAP_UNIT_BYTES = LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES / 2 /* not yet stuffed */
};

/* The symbols of a unit: the value of each (a coefficient, a DC difference, or 0 for ZRL and EOB), and its
 * zigzag position, plus LAP_POSITION_CHROMA for chroma. */
typedef struct lap_symbols {
    _Alignas(64) int16_t value[LAP_SYMBOLS + LAP_GROUP / 2];
    _Alignas(64) uint8_t before[LAP_GROUP]; /* its last byte precedes the first position */
    uint8_t position[LAP_SYMBOLS + LAP_GROUP];
    int count;
} lap_symbols;

/* Appends a block's symbols to the `at` symbols in s, and returns the new number of symbols. May overwrite up
 * to 64 entries after them. */
typedef int lap_append_fn(lap_symbols *s, int at, const int16_t *block, int dc_before, bool is_chroma,
    const lap_encode_tables *tables);

LAP_INLINE void lap_unit_symbols(const lap_encode_plan *plan, lap_encode_state *state, int mcus,
    const int16_t *blocks, lap_append_fn *append, lap_symbols *s)
{
    const int luma = plan->h * plan->v;
    int dc[3] = {state->dc[0], state->dc[1], state->dc[2]}, count = 0;
    for (int mcu = 0; mcu < mcus; mcu++) {
        for (int i = 0; i < luma; i++, blocks += LAP_BLOCK) {
            count = append(s, count, blocks, dc[0], false, plan->tables);
            dc[0] = blocks[0];
        }
        for (int c = 1; c < plan->components; c++, blocks += LAP_BLOCK) {
            count = append(s, count, blocks, dc[c], true, plan->tables);
            dc[c] = blocks[0];
        }
    }
    s->before[LAP_GROUP - 1] = 0;
    /* Fills up the last vector with DC symbols that have no bits. */
    memset(s->value + count, 0, LAP_GROUP / 2 * sizeof *s->value);
    memset(s->position + count, 0, LAP_GROUP);
    s->count = count;
    memcpy(state->dc, dc, sizeof dc);
}

#endif
