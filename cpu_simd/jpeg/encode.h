/* The ladder `encode`: pixels to the entropy-coded data of a baseline JPEG, with the bytes of libjpeg-turbo.
 *
 * An encoder takes a row of MCUs in units of 128 pixels across, so that everything between its stages stays
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
    LAP_ENCODE_UNIT_BLOCKS = 64, /* of a unit at most: 4:4:0 */
    /* Of a block at most, every byte stuffed: a DC difference of 11 bits behind a code of 11, and 63
     * coefficients of 10 bits behind codes of 16, are 208 bytes. */
    LAP_ENCODE_BLOCK_BYTES = 416,
    LAP_ENCODE_SLACK = 128, /* bytes behind the last that an encoder may write to, of any value */
    LAP_ENCODE_FINISH = 2,  /* bytes of the last, incomplete byte at most */
    LAP_ENCODE_WORK = 64 << 10,
    LAP_ENCODE_ALIGNMENT = 64
};

typedef struct lap_encode_state { /* of a band: zeroed, but for work, before its first row of MCUs */
    int dc[3];                    /* of each component's block before */
    unsigned bits, bit_count;     /* 0..7 bits that wait for a whole byte, lowest; those above are 0 */
    bool is_raw;                  /* bytes come without zeros behind 0xFF, which lap_encode_join_fn adds */
    void *work;                   /* LAP_ENCODE_WORK bytes, aligned, of any content */
} lap_encode_state;

typedef struct lap_encode_rows { /* of pixels, of one row of MCUs */
    const uint8_t *base;         /* of the first */
    ptrdiff_t stride;
    int count; /* 1 .. 8 * plan->v; fewer than the latter only at the end of the picture */
} lap_encode_rows;

/* MCUs first .. first + count - 1 of these rows; first is a multiple of lap_encode_unit_mcus, count at most
 * that. out has room for LAP_ENCODE_BLOCK_BYTES a block, and LAP_ENCODE_SLACK. Returns how many bytes were
 * written. */
typedef size_t lap_encode_fn(const lap_encode_plan *plan, lap_encode_state *state,
    const lap_encode_rows *rows, int first, int count, uint8_t *out);

/* Whole bytes of raw bits, behind the bits that wait in state; as many wait then. out has room for twice
 * count, and LAP_ENCODE_SLACK. Returns how many bytes were written. */
typedef size_t lap_encode_join_fn(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out);

static inline int lap_encode_unit_mcus(const lap_encode_plan *plan)
{
    return LAP_ENCODE_UNIT / (8 * plan->h);
}

/* The end of a band: ones fill the last byte (T.81, F.1.2.3). At most LAP_ENCODE_FINISH bytes. */
static inline size_t lap_encode_finish(lap_encode_state *state, uint8_t *out)
{
    if (state->bit_count == 0)
        return 0;
    const unsigned fill = 8 - state->bit_count;
    out[0] = (uint8_t)(state->bits << fill | ((1u << fill) - 1));
    out[1] = 0; /* counts only behind 0xFF */
    state->bits = state->bit_count = 0;
    return out[0] == 0xFF ? 2 : 1;
}

extern const char lap_encode_c_flags[], lap_encode_avx2_flags[], lap_encode_avx512_flags[],
    lap_encode_neon_flags[];
lap_encode_fn lap_encode_c, lap_encode_avx2, lap_encode_avx512, lap_encode_neon;
/* The two forms of avx512, which takes the one that lap_cpu_scatters says. */
lap_encode_fn lap_encode_avx512_stores, lap_encode_avx512_scatter;
lap_encode_join_fn lap_encode_join_c, lap_encode_join_avx2, lap_encode_join_avx512, lap_encode_join_neon;

#endif
