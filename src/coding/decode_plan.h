/* What our own decoders need to know before they decode a scan: the order of blocks, the quantisers and the
 * tables that turn bits into symbols. All decoders of the ladder `decode` use it. */
#ifndef LAP_DECODE_PLAN_H
#define LAP_DECODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "coding/jpeg_frame.h"

/* A look-up table for AC symbols is indexed by the next LAP_DECODE_INDEX bits. An entry holds two symbols if
 * the index contains the first symbol with its value, and the code of the second one. Otherwise it holds one
 * symbol, in the fields of the second. The value of the second may extend beyond the index.
 *
 *     63    52 51     48 47     32 31    24 23    16 15  8 7      0
 *     | bias 2 | zeros 1 | value 1 | size 2 | start 2 | step | length |
 *
 *     length    bits of both symbols, values included
 *     step      how many coefficients both cover; plus LAP_DECODE_EOB at the end of the block;
 *               LAP_DECODE_ODD: decode one symbol from its full code instead
 *     start 2   position of the second value's lowest bit in a window of the next 64 bits
 *     size 2    bits of that value
 *     bias 2    1 - 2^size: add it to the value if its first bit is 0
 *     value 1   the first symbol's value
 *     zeros 1   zeros before it; value and zeros are 0 if there is no first symbol
 *
 * The fields are cheap to extract: `length` needs no mask, since a shift uses only the lowest six bits of its
 * count; `step` is a whole byte; start and size together are an operand of bextr. */
enum {
    LAP_DECODE_INDEX = 11,
    LAP_DECODE_DC_INDEX = 9,
    LAP_DECODE_DC_SIZE = 11, /* most bits of a DC difference of 8-bit samples (T.81, table F.1) */
    LAP_DECODE_AC_SIZE = 11, /* maximum number of bits of a value in an entry; 8-bit samples need 10 */
    LAP_DECODE_EOB = 128,
    LAP_DECODE_ODD = 255,
    LAP_DECODE_INDICES = 64 + LAP_DECODE_ODD
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
    uint16_t dc[1 << LAP_DECODE_DC_INDEX]; /* bits of code and value | size << 8; 0: too long, or invalid */
    lap_huff_code all_dc, all_ac;
} lap_decode_codes;

enum { LAP_DECODE_MCU_BLOCKS = 10 }; /* maximum number of blocks in an MCU */

typedef struct lap_decode_plan {
    int width, height;
    int components;           /* 1, 3 or 4; the first and the fourth have full resolution */
    bool is_ycc, is_inverted; /* as in lap_jpeg_frame */
    int across[LAP_JPEG_COMPONENTS],
        down[LAP_JPEG_COMPONENTS]; /* blocks in an MCU; 1 and 1 if there is one component */
    int h, v;                      /* across[0] and down[0] */
    int together; /* rows of MCUs that libjpeg-turbo decodes before it outputs the first of them: 1; for gray,
                   * its vertical sampling factor */
    int mcu_blocks;     /* blocks in an MCU, all components */
    int mcus, mcu_rows; /* MCUs of the picture, across and down */
    int unit_mcus;      /* MCUs in a unit; each call of a stage processes one unit */
    int interval;       /* MCUs between restart markers; 0: no markers */
    /* Block b of the unit's MCU m is stored as block start[b] + m * step[b] of the unit. */
    int start[LAP_DECODE_MCU_BLOCKS], step[LAP_DECODE_MCU_BLOCKS];
    int unit_blocks; /* blocks that a unit needs room for */
    uint8_t component[LAP_DECODE_MCU_BLOCKS];
    int code_count;
    lap_decode_codes codes[LAP_JPEG_COMPONENTS];
    uint8_t codes_of[LAP_JPEG_COMPONENTS]; /* index into codes */
    uint8_t index[LAP_DECODE_INDICES];     /* [k]: index of the k-th coefficient in a block; 0 for k >= 64 */
    uint16_t quant[LAP_JPEG_COMPONENTS][64]; /* indexed like a block */
} lap_decode_plan;

/* Returns whether our decoders support the picture's sampling. */
bool lap_decode_takes(const lap_jpeg_frame *frame);
/* index: [64], the index in a block where a rung stores the coefficient of each zigzag position; index[0] is
 * 0. False: our decoders do not support the picture, and the plan must not be used. Thread safe. */
bool lap_decode_plan_make(const lap_jpeg_frame *frame, const uint8_t *index, lap_decode_plan *plan);

#endif
