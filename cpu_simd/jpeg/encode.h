/* The ladder `encode`: pixels to the entropy-coded data of a baseline JPEG, with the bytes of libjpeg-turbo.
 *
 * An encoder processes a row of MCUs in units of 128 pixels across, so that all data between its stages stays
 * in the first-level cache:
 *
 *     pixels ---> samples ---> coefficients ---> symbols ---> bits ---> bytes
 *          colour         DCT,            runs,         Huffman   0xFF
 *          downsampling   quantisation    values        codes     stuffed
 *
 * Thread safe: a plan is read only; a state belongs to one band at a time. */
#ifndef LAP_ENCODE_H
#define LAP_ENCODE_H

#include <stddef.h>

#include "coding/encode_plan.h"

enum {
    LAP_ENCODE_UNIT = 128,       /* pixels across */
    LAP_ENCODE_UNIT_BLOCKS = 64, /* the most blocks of a unit: with 4:4:0 */
    /* The most bytes of a block, if every byte is stuffed. Unstuffed, a DC difference of 11 bits with a code
     * of 11 bits and 63 coefficients of 10 bits with codes of 16 bits are 208 bytes. */
    LAP_ENCODE_BLOCK_BYTES = 416,
    LAP_ENCODE_SLACK = 128, /* bytes after the output that an encoder may overwrite */
    LAP_ENCODE_FINISH = 2,  /* the most bytes that lap_encode_finish writes */
    LAP_ENCODE_WORK = 64 << 10,
    LAP_ENCODE_ALIGNMENT = 64
};

typedef struct lap_encode_state { /* of a band; before its first row of MCUs, all but work is 0 */
    int dc[3];                    /* DC value of each component's previous block */
    unsigned bits, bit_count;     /* the lowest 0..7 bits do not fill a byte yet; the others are 0 */
    bool is_raw;                  /* do not stuff bytes; lap_encode_join_fn does it later */
    void *work; /* LAP_ENCODE_WORK bytes, aligned to LAP_ENCODE_ALIGNMENT; need no initial value */
} lap_encode_state;

typedef struct lap_encode_rows { /* rows of pixels of one row of MCUs */
    const uint8_t *base;         /* the first row */
    ptrdiff_t stride;
    int count; /* 8 * plan->v; 1 or more at the bottom of the picture */
} lap_encode_rows;

/* Encodes MCUs first .. first + count - 1 of these rows. first is a multiple of lap_encode_unit_mcus, and
 * count is at most lap_encode_unit_mcus. out must have room for LAP_ENCODE_BLOCK_BYTES for each block, and
 * for LAP_ENCODE_SLACK. Returns how many bytes were written. */
typedef size_t lap_encode_fn(const lap_encode_plan *plan, lap_encode_state *state,
    const lap_encode_rows *rows, int first, int count, uint8_t *out);

/* Appends `count` bytes of unstuffed bits to the bits in state, and stuffs them. The number of bits in state
 * does not change. out must have room for 2 * count and LAP_ENCODE_SLACK bytes. Returns how many bytes were
 * written. */
typedef size_t lap_encode_join_fn(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out);

static inline int lap_encode_unit_mcus(const lap_encode_plan *plan)
{
    return LAP_ENCODE_UNIT / (8 * plan->h);
}

/* Ends a band: pads the last byte with ones (T.81, F.1.2.3). Writes at most LAP_ENCODE_FINISH bytes and
 * returns how many. */
static inline size_t lap_encode_finish(lap_encode_state *state, uint8_t *out)
{
    if (state->bit_count == 0)
        return 0;
    const unsigned fill = 8 - state->bit_count;
    out[0] = (uint8_t)(state->bits << fill | ((1u << fill) - 1));
    out[1] = 0; /* stuffing; used only after 0xFF */
    state->bits = state->bit_count = 0;
    return out[0] == 0xFF ? 2 : 1;
}

extern const char lap_encode_c_flags[], lap_encode_avx2_flags[], lap_encode_avx512_flags[],
    lap_encode_neon_flags[];
lap_encode_fn lap_encode_c, lap_encode_avx2, lap_encode_avx512, lap_encode_neon;
/* The two forms of lap_encode_avx512, which chooses one by lap_cpu_scatters. */
lap_encode_fn lap_encode_avx512_stores, lap_encode_avx512_scatter;
lap_encode_join_fn lap_encode_join_c, lap_encode_join_avx2, lap_encode_join_avx512, lap_encode_join_neon;

#endif
