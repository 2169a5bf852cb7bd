/* What a decoder of our own has to know of a picture before its scan: the order of blocks, the quantisers and
 * the tables that turn bits into symbols. Every decoder of the ladder `decode` works by it. */
#ifndef LAP_DECODE_PLAN_H
#define LAP_DECODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/jpeg_frame.h"

/* A look-up table for AC symbols is indexed by the next LAP_DECODE_INDEX bits. An entry stands for two
 * symbols if the bits hold the first one with its value and the code of the second; else for one symbol,
 * which is then the second. The value bits of the second may lie beyond the index.
 *
 *     bits   0..5   length of both symbols, values included
 *            6..9   size of the second: bits of its value
 *           10..14  length of the first with its value; 0: there is no first
 *           16..23  step: coefficients that both advance by; LAP_DECODE_EOB more at the end of the block;
 *                   LAP_DECODE_ODD: code is longer than the index, or none
 *           24..28  step of the first, 1 .. 16; 0: there is no first
 *           29..33  zeros before the first's value, 0 .. 15
 *           48..63  value of the first
 */
enum { LAP_DECODE_INDEX = 11, LAP_DECODE_DC_INDEX = 9, LAP_DECODE_EOB = 128, LAP_DECODE_ODD = 255 };

typedef struct lap_decode_codes {
    uint64_t ac[1 << LAP_DECODE_INDEX];
    uint16_t dc[1 << LAP_DECODE_DC_INDEX]; /* length of code and value, size << 8; 0: longer, or no code */
} lap_decode_codes;

enum { LAP_DECODE_MCU_BLOCKS = 6 }; /* of an MCU at most */

typedef struct lap_decode_plan {
    int width, height;
    int components;     /* 1 or 3 */
    int h, v;           /* luma blocks of an MCU, across and down; 1, 1 with one component */
    int mcu_blocks;     /* blocks of an MCU */
    int mcus, mcu_rows; /* of the picture, across and down */
    int unit_mcus;      /* of a unit: what the stages work on at a time */
    int interval;       /* MCUs between restart markers, 0: none */
    /* Block b of MCU m of a unit is block start[b] + m * step[b] of the unit's blocks. */
    int start[LAP_DECODE_MCU_BLOCKS], step[LAP_DECODE_MCU_BLOCKS];
    int unit_blocks; /* room for so many */
    uint8_t component[LAP_DECODE_MCU_BLOCKS];
    uint8_t codes_of[3]; /* of each component: index into codes */
    lap_decode_codes codes[3];
    lap_huff_code slow_dc[3], slow_ac[3]; /* of each of codes: symbols that these do not have */
    uint8_t natural[96];                  /* place of the k-th coefficient; from 64 on 0, the place of DC */
    _Alignas(64) uint16_t quant[3][64];   /* of each component, natural order */
} lap_decode_plan;

/* False: not a picture for us; the plan is worth nothing then. Thread safe. */
bool lap_decode_plan_make(const lap_jpeg_frame *frame, lap_decode_plan *plan);

#endif
