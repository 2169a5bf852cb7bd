/* The ladder `decode`: the entropy-coded data of a JPEG to pixels, with the pixels of libjpeg-turbo.
 *
 * Of a baseline file, a decoder takes a row of MCUs in units of some MCUs across, so that coefficients stay
 * in the first-level cache; samples of a whole row of MCUs wait for the one below it, which upsampling looks
 * at:
 *
 *     bytes ---> bits ---> symbols ---> coefficients ---> samples ---> pixels
 *        0xFF 0x00    Huffman    runs,           inverse DCT    upsampling,
 *        unstuffed    codes      values                         colour
 *
 * Of a progressive file all coefficients are held until the last scan has been decoded.
 *
 * Each rung is a table of functions, one for each stage; the driver of the decoder calls them in turn.
 * Thread safe: a plan is read only; a state belongs to one scan at a time. */
#ifndef LAP_DECODE_H
#define LAP_DECODE_H

#include <stddef.h>

#include "coding/decode_plan.h"
#include "coding/script_codes.h"

enum {
    LAP_DECODE_SLACK = 64,       /* bytes: see each function */
    LAP_DECODE_GROUP = 8,        /* blocks: coefficients come in whole groups */
    LAP_DECODE_UNIT_BLOCKS = 16, /* side by side of one component at most, a multiple of GROUP */
    LAP_DECODE_PAD = 4096        /* zeros behind the data: what an MCU reads at most past their end */
};

typedef struct lap_decode_state { /* between units of a scan */
    const uint8_t *at, *end;      /* unstuffed data; LAP_DECODE_PAD zeros follow */
    uint64_t bits;                /* the next ones, uppermost; those behind `count` are 0 or data too */
    unsigned count;               /* 0 .. 63 */
    int dc[LAP_JPEG_COMPONENTS];  /* of each component's block before */
} lap_decode_state;

typedef struct lap_decode_unit { /* where plan->start and plan->step count from */
    int16_t *coefficients;       /* 64 a block, all 0; aligned to 64 bytes */
    uint8_t *last;               /* one a block, all 0 */
} lap_decode_unit;

/* Bits from the state's place to the end of its data; negative where symbols went past it. */
static inline ptrdiff_t lap_decode_left(const lap_decode_state *state)
{
    return (state->end - state->at) * 8 + (ptrdiff_t)state->count;
}

/* ---- progressive scans --------------------------------------------------------------------------- */

typedef struct lap_held_scan {     /* what all units of a scan share */
    unsigned first, last;          /* the band, in zigzag order */
    int low;                       /* bits that are still missing behind the scan */
    bool refines;                  /* it is not the first of its band */
    const uint8_t *place;          /* of the rung */
    const lap_script_codes *codes; /* of each of its components; a DC refinement has none */
} lap_held_scan;

typedef struct lap_held_state { /* between units of a scan */
    lap_decode_state bits;      /* dc: of the scan's components, without the missing bits */
    unsigned ended;             /* blocks that come next and have no more symbols */
} lap_held_state;

typedef struct lap_held_way { /* a block of an MCU, in MCU after MCU */
    int16_t *blocks;          /* of the first MCU */
    int step;                 /* words to the next MCU's */
    int part;                 /* component, as the scan counts them */
} lap_held_way;

typedef struct lap_held_unit { /* MCUs side by side; blocks, in a scan of one component */
    lap_held_way way[LAP_DECODE_MCU_BLOCKS];
    int ways, count;   /* of an MCU; MCUs */
    uint64_t *nonzero; /* of an AC scan: one a block, bit 63 - k for coefficient k */
} lap_held_unit;
enum { LAP_HELD_UNIT = 64 }; /* blocks of a unit at most */

/* ---- blocks and pixels --------------------------------------------------------------------------- */

/* Blocks side by side. */
typedef struct lap_decode_blocks {
    const int16_t *coefficients; /* 64 a block, in the order of the rung, not yet dequantised; aligned to
                                  * 64 bytes */
    const uint8_t *last;         /* [i]: all coefficients behind this zigzag position are 0; 0: DC alone */
    const uint16_t *quant;       /* [64], 1 .. 65535, in the same order */
    int count;                   /* 1 .. LAP_DECODE_UNIT_BLOCKS; up to the next multiple of GROUP, blocks of
                                  * zeros with last 0 follow */
} lap_decode_blocks;

/* One row of pixels and the samples it comes from. LAP_DECODE_SLACK bytes before the first and behind the
 * last sample of each row may be read; they hold any value. No row is aligned.
 *
 * Colours are Y, Cb, Cr where is_ycc is set; else red, green, blue. With black, they are inks: cyan, magenta,
 * yellow, or Y, Cb, Cr of 255 less these; a pixel is what all inks leave of white. */
typedef struct lap_decode_row {
    const uint8_t *y;
    const uint8_t *near[2], *far[2]; /* Cb, Cr: the row of samples beside this row of pixels, and the next
                                      * nearest one, which counts only where v2 is set */
    const uint8_t *black;            /* or NULL; of full width, as y */
    int width;                       /* pixels */
    int chroma_width;                /* samples: libjpeg's downsampled_width, that is width, or half of it
                                      * rounded up where h2 is set */
    bool h2, v2;                     /* chroma has half the width, half the height: see lap_decode_c */
    bool upper;                      /* v2 only: far is the row above near, else the row below */
    bool is_ycc;
    bool is_inverted; /* with black: 255 of an ink is none of it */
} lap_decode_row;

typedef struct lap_decode_stages {
    const uint8_t *place; /* [64], of coefficients in a block, by zigzag position; place[0] is 0 */
    const char *flags;    /* of the compiler */

    /* Removes the zero behind each 0xFF from bytes in[0 .. size - 1], up to a marker: 0xFF and anything but
     * a zero. Returns the bytes written to `out`; *taken: those read, which ends before the 0xFF of a marker
     * and before a last 0xFF. `out` has room for size + LAP_DECODE_SLACK bytes, and does not overlap. */
    size_t (*unstuff)(const uint8_t *in, size_t size, uint8_t *out, size_t *taken);

    /* `count` MCUs, up to plan->unit_mcus. False: something odd, or data too short; the state is lost. */
    bool (*entropy)(
        const lap_decode_plan *plan, lap_decode_state *state, int count, const lap_decode_unit *unit);

    /* The next MCUs of a progressive scan, or blocks where it has one component. Coefficients that the scan
     * is the first to have are 0 before. False: something odd, or data too short; the state is lost. */
    bool (*script)(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit);

    /* The samples of blocks: 8 rows of 8 * count bytes, STRIDE bytes apart, a multiple of 64; `samples` is
     * aligned to 8 bytes. May write any value to LAP_DECODE_SLACK bytes right of each row's last.
     * False if a value leaves the range in which C and vector code of libjpeg-turbo agree: a dequantised
     * coefficient or a value between the passes outside of -2^14 .. 2^14 - 1, or a result outside of
     * -512 .. 511, before 128 is added. Samples are worth nothing then. A rung may refuse somewhat more, but
     * nothing that the forward DCT of samples can give. */
    bool (*inverse)(const lap_decode_blocks *blocks, uint8_t *samples, ptrdiff_t stride);

    /* Samples to RGB: writes exactly 3 * row->width bytes. */
    void (*pixels)(const lap_decode_row *row, uint8_t *rgb);
} lap_decode_stages;

extern const lap_decode_stages lap_decode_c, lap_decode_avx2, lap_decode_avx512, lap_decode_neon;

#endif
