/* What a decoder of our own has to know of a picture before its scan: the order of blocks, the quantisers and
 * the tables that turn bits into symbols. Every decoder of the ladder `decode` works by it. */
#ifndef LAP_DECODE_PLAN_H
#define LAP_DECODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "coding/jpeg_frame.h"

/* A look-up table for AC symbols is indexed by the next LAP_DECODE_INDEX bits. An entry stands for two
 * symbols if the bits hold the first one with its value, and the code of the second; else for one symbol,
 * which is the second then. Value bits of the second may lie beyond the index.
 *
 *     63    52 51     48 47     32 31    24 23    16 15  8 7      0
 *     | bias 2 | zeros 1 | value 1 | size 2 | start 2 | step | length |
 *
 *     length    bits of both symbols, values included
 *     step      coefficients that both advance by; LAP_DECODE_EOB more at the end of the block;
 *               LAP_DECODE_ODD: one symbol, to be found by its whole code
 *     start 2   how far from the lowest of 64 bits the second one's value begins
 *     size 2    bits of that value
 *     bias 2    what its bits are too large by if the first of them is 0: 1 - 2^size
 *     value 1   of the first, behind so many
 *     zeros 1   zeros; both are 0 where there is no first
 *
 * Fields lie where a processor takes them out at the least cost: `length` needs nothing, since shifts look at
 * six bits; `step` is a byte of its own; start and size together are what bextr wants. */
enum {
    LAP_DECODE_INDEX = 11,
    LAP_DECODE_DC_INDEX = 9,
    LAP_DECODE_DC_SIZE = 11, /* bits of a DC difference of 8-bit samples at most (T.81, table F.1) */
    LAP_DECODE_AC_SIZE = 11, /* bits of a value that an entry can stand for; 8-bit samples give 10 */
    LAP_DECODE_EOB = 128,
    LAP_DECODE_ODD = 255,
    LAP_DECODE_PLACES = 64 + LAP_DECODE_ODD
};
#define LAP_DECODE_LENGTH(e) ((unsigned)(e)&63)
#define LAP_DECODE_STEP(e) ((uint8_t)((e) >> 8))
#define LAP_DECODE_START_2(e) ((unsigned)((e) >> 16) & 255)
#define LAP_DECODE_SIZE_2(e) ((unsigned)((e) >> 24) & 255)
#define LAP_DECODE_VALUE_1(e) ((int16_t)((e) >> 32))
#define LAP_DECODE_ZEROS_1(e) ((unsigned)((e) >> 48) & 15)
#define LAP_DECODE_BIAS_2(e) ((int)((int64_t)(e) >> 52))

typedef struct lap_decode_codes {
    uint64_t ac[1 << LAP_DECODE_INDEX];
    uint16_t dc[1 << LAP_DECODE_DC_INDEX]; /* length of code and value, size << 8; 0: longer, or no code */
    lap_huff_code all_dc, all_ac;
} lap_decode_codes;

enum { LAP_DECODE_MCU_BLOCKS = 10 }; /* of an MCU at most */

typedef struct lap_decode_plan {
    int width, height;
    int components;           /* 1, 3 or 4; the first and the fourth have the most samples */
    bool is_ycc, is_inverted; /* as the frame has it */
    int across[LAP_JPEG_COMPONENTS],
        down[LAP_JPEG_COMPONENTS]; /* blocks of an MCU; 1, 1 with one component */
    int h, v;                      /* of the first component */
    int mcu_blocks;                /* blocks of an MCU */
    int mcus, mcu_rows;            /* of the picture, across and down */
    int unit_mcus;                 /* of a unit: what the stages work on at a time */
    int interval;                  /* MCUs between restart markers, 0: none */
    /* Block b of MCU m of a unit is block start[b] + m * step[b] of the unit's blocks. */
    int start[LAP_DECODE_MCU_BLOCKS], step[LAP_DECODE_MCU_BLOCKS];
    int unit_blocks; /* room for so many */
    uint8_t component[LAP_DECODE_MCU_BLOCKS];
    int code_count;
    lap_decode_codes codes[LAP_JPEG_COMPONENTS];
    uint8_t codes_of[LAP_JPEG_COMPONENTS];   /* index into codes */
    uint8_t place[LAP_DECODE_PLACES];        /* of the k-th coefficient; from 64 on 0, the place of DC */
    uint16_t quant[LAP_JPEG_COMPONENTS][64]; /* in the order of place */
} lap_decode_plan;

/* Whether the picture is one for us: its sampling. */
bool lap_decode_takes(const lap_jpeg_frame *frame);
/* place: [64], where a rung keeps a block's coefficients, by zigzag position; place[0] is 0. False: not a
 * picture for us; the plan is worth nothing then. Thread safe. */
bool lap_decode_plan_make(const lap_jpeg_frame *frame, const uint8_t *place, lap_decode_plan *plan);

#endif
