/* The ladder `decode`: the entropy-coded data of a JPEG to pixels, with the pixels of libjpeg-turbo.
 *
 * A decoder processes each row of MCUs of a baseline file in units of a few adjacent MCUs, so that
 * coefficients stay in the first-level cache. The samples of a row of MCUs are kept until the row below is
 * decoded, because upsampling needs both:
 *
 *     bytes ---> bits ---> symbols ---> coefficients ---> samples ---> pixels
 *        0xFF 0x00    Huffman    runs,           inverse DCT    upsampling,
 *        unstuffed    codes      values                         colour
 *
 * For a progressive file, all coefficients are kept until the last scan has been decoded.
 *
 * Each rung is a table of functions, one for each stage; the driver of the decoder calls them in turn.
 * Thread safe: a plan is read only; a state belongs to one scan at a time. */
#ifndef LAP_DECODE_H
#define LAP_DECODE_H

#include <stddef.h>

#include "coding/decode_plan.h"
#include "coding/entropy_bytes.h"
#include "coding/entropy_walk.h"
#include "coding/script_codes.h"

enum {
    LAP_DECODE_SLACK = 64,       /* bytes: see each function */
    LAP_DECODE_GROUP = 8,        /* blocks: coefficients are stored in whole groups */
    LAP_DECODE_UNIT_BLOCKS = 16, /* at most this many adjacent blocks of a component; a multiple of GROUP */
    LAP_DECODE_PAD = 4096        /* zeros after the data: an MCU reads at most this far past the end */
};

typedef struct lap_decode_state { /* between units of a scan */
    const uint8_t *at, *end;      /* unstuffed data; LAP_DECODE_PAD zeros follow */
    uint64_t bits;                /* the next bits, from bit 63 down; bits after `count` are 0 or also data */
    unsigned count;               /* 0 .. 63 */
    int dc[LAP_JPEG_COMPONENTS];  /* DC value of each component's previous block */
} lap_decode_state;

typedef struct lap_decode_unit { /* blocks of a unit, numbered by plan->start and plan->step */
    int16_t *coefficients;       /* 64 for each block, all 0; aligned to 64 bytes */
    uint8_t *last;               /* one for each block, all 0 */
} lap_decode_unit;

/* Returns the bits left in the data; negative if symbols went past its end. */
static inline ptrdiff_t lap_decode_left(const lap_decode_state *state)
{
    return (state->end - state->at) * 8 + (ptrdiff_t)state->count;
}

/* ---- progressive scans --------------------------------------------------------------------------- */

typedef struct lap_held_scan {     /* parameters of a scan, for all its units */
    unsigned first, last;          /* the band, in zigzag order */
    int low;                       /* low bits that are still missing after the scan */
    bool refines;                  /* it is not the first scan of its band */
    const uint8_t *index;          /* the rung's, see lap_decode_stages */
    const lap_script_codes *codes; /* one for each component; unused in a DC refinement */
} lap_held_scan;

typedef struct lap_held_state { /* between units of a scan */
    lap_decode_state bits;      /* its dc: values of the scan's components, without the missing bits */
    unsigned ended;             /* blocks left in the EOB run: they have no more symbols */
} lap_held_state;

typedef struct lap_held_way { /* one block of an MCU, in successive MCUs */
    int16_t *blocks;          /* the block of the first MCU */
    int step;                 /* coefficients from one MCU's block to the next */
    int part;                 /* number of its component in the scan */
} lap_held_way;

typedef struct lap_held_unit { /* adjacent MCUs; in a scan of one component, an MCU is a block */
    lap_held_way way[LAP_DECODE_MCU_BLOCKS];
    int ways, count;   /* blocks in an MCU; MCUs */
    uint64_t *nonzero; /* AC scans only: one for each block, bit 63 - k for coefficient k */
} lap_held_unit;
enum { LAP_HELD_UNIT = 64 }; /* the most blocks of a unit */

/* ---- blocks and pixels --------------------------------------------------------------------------- */

/* Adjacent blocks of a component. */
typedef struct lap_decode_blocks {
    const int16_t *coefficients; /* 64 for each block, in the order of the rung, not yet dequantised; aligned
                                  * to 64 bytes */
    const uint8_t *last;         /* [i]: all coefficients after this zigzag position are 0; 0: only DC */
    const uint16_t *quant;       /* [64], 1 .. 65535, in the same order */
    int count; /* 1 .. LAP_DECODE_UNIT_BLOCKS; zero blocks with last 0 pad it to a multiple of
                * LAP_DECODE_GROUP */
} lap_decode_blocks;

/* The samples for one row of pixels. A rung may read LAP_DECODE_SLACK bytes before the first and after the
 * last sample of each row; they have any value. Rows need not be aligned.
 *
 * The colours are Y, Cb, Cr if is_ycc is set; else red, green, blue. With black they are inks: cyan, magenta
 * and yellow; or if is_ycc is set, 255 minus each ink, converted to Y, Cb, Cr. A pixel has the colour of
 * white light that has passed all inks. */
typedef struct lap_decode_row {
    const uint8_t *y;
    const uint8_t *near[2], *far[2]; /* Cb, Cr: the row of samples at this row of pixels, and the second
                                      * nearest row, which is used only if v2 is set */
    const uint8_t *black;            /* or NULL; has full width, like y */
    int width;                       /* pixels */
    int chroma_width; /* samples: width, or with h2 half of it, rounded up; libjpeg's downsampled_width */
    bool h2, v2;      /* chroma has half the width, half the height: see lap_decode_c */
    bool upper;       /* v2 only: far is the row above near, else the row below */
    bool is_ycc;
    bool is_inverted; /* with black: 255 means no ink */
} lap_decode_row;

typedef struct lap_decode_stages {
    const uint8_t *index; /* [64]: index in a block of each zigzag position; index[0] is 0 */
    const char *flags;    /* compiler flags of the rung */

    lap_unstuff_fn *unstuff;
    lap_lanes_fn *walk; /* for the pass that finds where rows begin */

    /* Decodes `count` MCUs, up to plan->unit_mcus. False: an error, or the data is too short; the state must
     * not be used any more. */
    bool (*entropy)(
        const lap_decode_plan *plan, lap_decode_state *state, int count, const lap_decode_unit *unit);

    /* Decodes the next MCUs of a progressive scan. Coefficients must be 0 before the first scan of their
     * band. False: an error, or the data is too short; the state must not be used any more. */
    bool (*script)(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit);

    /* Computes the samples of blocks: 8 rows of 8 * count bytes. STRIDE is a multiple of 64 bytes; `samples`
     * is aligned to 8 bytes. May write any value to LAP_DECODE_SLACK bytes after each row. False if a value
     * leaves the range in which the C and vector code of libjpeg-turbo agree: a dequantised coefficient or a
     * value between the passes outside of -2^14 .. 2^14 - 1, or a result outside of -512 .. 511 before 128 is
     * added. The samples must not be used then. A rung may refuse somewhat more, but nothing that the forward
     * DCT of samples can produce. */
    bool (*inverse)(const lap_decode_blocks *blocks, uint8_t *samples, ptrdiff_t stride);

    /* Converts samples to RGB: writes exactly 3 * row->width bytes. */
    void (*pixels)(const lap_decode_row *row, uint8_t *rgb);
} lap_decode_stages;

extern const lap_decode_stages lap_decode_c, lap_decode_avx2, lap_decode_avx512, lap_decode_neon;

#endif
