/* What an encoder of our own has to know of a picture before its pixels: the order of blocks, the divisors,
 * and the Huffman codes. Every coder of the ladder `encode` works by it.
 *
 * The pictures that it describes: one component, or a luma of h x v blocks in an MCU and two chroma
 * components of one block each.
 *
 *     4:4:4      4:2:2         4:2:0         4:4:0      4:1:1                    (an MCU's blocks, in order)
 *     Y Cb Cr    Y0 Y1 Cb Cr   Y0 Y1  Cb Cr  Y0 Cb Cr   Y0 Y1 Y2 Y3 Cb Cr
 *                              Y2 Y3         Y1
 */
#ifndef LAP_ENCODE_PLAN_H
#define LAP_ENCODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* A division by a quantiser is a multiplication by its reciprocal, as libjpeg-turbo does it in 16 bits:
 *     quotient = (|value| + correction) * reciprocal >> 16 >> shift, with the sign of value.
 * With these three numbers that is value / divisor, rounded to nearest and halves away from zero, for every
 * value that a block can have. scale = 2^(16 - shift): multiplying by it and keeping the upper 16 bits is the
 * shift. The member `shift` is its negative, as NEON's shifts to the left take it. */
typedef struct lap_encode_divisors {
    _Alignas(64) uint16_t reciprocal[64]; /* row by row */
    _Alignas(64) uint16_t correction[64];
    _Alignas(64) uint16_t scale[64];
    _Alignas(64) int16_t shift[64];
} lap_encode_divisors;

/* A symbol of the scan is a pair: how far a coefficient is from the one before it that is coded (one more
 * than the zeros between them), and how many bits its value has (size). Its number in the tables is distance
 * + 16 size; the DC differences, which have no distance, follow.
 *
 *     0      1         16    17         32    33        176    177     188
 *     | none | 1 .. 16, size 0 | 1 .. 16, size 1 | ...       | DC, size 0 .. 11 |
 *              EOB     ZRL
 *
 * Number 0 has a code of no bits: what fills a vector that has fewer symbols. */
enum {
    LAP_ENCODE_SIZE_STEP = 16,
    LAP_ENCODE_EOB = 1,      /* only zeros until the end of the block */
    LAP_ENCODE_ZRL = 16,     /* sixteen zeros */
    LAP_ENCODE_DC = 177,     /* size 0..11 */
    LAP_ENCODE_SYMBOLS = 192 /* three vectors of 64 */
};

typedef struct lap_encode_codes { /* of luma, or of chroma */
    _Alignas(64) uint16_t code[LAP_ENCODE_SYMBOLS];
    _Alignas(64) uint8_t length[LAP_ENCODE_SYMBOLS]; /* bits of the code, 0: there is none */
} lap_encode_codes;

/* The same for coders that look symbols up one by one: entry 32 distance + 15 (value is negative) + size, of
 * the DC differences at distance 0; chroma's are 1024 further. Adding the value to an entry gives the
 * symbol's bits, since a negative value's are those of value - 1, of which `size` bits count:
 *
 *     31    27 26                                0
 *     | length |    code | size bits: 0, or ones |      + value              vectors
 *
 *     31                                6 5      0
 *     |    code | size bits: 0, or ones | length |      + 64 value           general registers
 *
 * length: of code and value together, at most 26. Vectors part the two by a shift and a mask. On aarch64 the
 * strings are put together in general registers, where a shift takes its number from the lowest six bits,
 * whatever stands above them; there the entries of chroma are one less
 * (encode_symbols_neon.h). */
enum {
    LAP_ENCODE_PLACE_CHROMA = 64,
    LAP_ENCODE_CHROMA = 1024,
    LAP_ENCODE_NEGATIVE = 15,
    LAP_ENCODE_NO_ENTRY = 15
};
#if defined(__aarch64__)
enum { LAP_ENCODE_LENGTH_SHIFT = 0, LAP_ENCODE_BITS_SHIFT = 6, LAP_ENCODE_CHROMA_LESS = 1 };
#else
enum { LAP_ENCODE_LENGTH_SHIFT = 27, LAP_ENCODE_BITS_SHIFT = 0, LAP_ENCODE_CHROMA_LESS = 0 };
#endif

/* What is the same for all pictures. Of each of the 256 selections of eight words: the places of those that
 * are selected, from the lowest on, and where their bytes stand. */
typedef struct lap_encode_tables {
    lap_encode_codes codes[2];               /* luma, chroma */
    uint32_t entries[2 * LAP_ENCODE_CHROMA]; /* LAP_ENCODE_NO_ENTRY is 0: no bits */
    _Alignas(16) uint8_t orders[256][16];
    uint8_t ones[2][256][8]; /* the places; those of chroma, LAP_ENCODE_PLACE_CHROMA more */
} lap_encode_tables;

/* Made at the first call. Thread safe. */
const lap_encode_tables *lap_encode_tables_get(void);

/* Vectors that transform four or two blocks at once leave a block's coefficients in eight lanes of eight
 * words: lane 2 p + half has rows p and p + 4 side by side, for the columns of that half. Returns where the
 * i-th of these words stands in the block, row by row.
 *
 *     lane 0   0,0  4,0  0,1  4,1  0,2  4,2  0,3  4,3      (row, column)
 *     lane 1   0,4  4,4  0,5  4,5  ...
 *     lane 2   1,0  5,0  1,1  5,1  ...
 */
static inline int lap_encode_turned(int i)
{
    const int lane = i / 8, word = i % 8;
    return 8 * (lane / 2 + 4 * (word % 2)) + 4 * (lane % 2) + word / 2;
}

typedef struct lap_encode_plan {
    int width;                       /* pixels, 1..65500 */
    int channels;                    /* of the pixels: 1, 3 (RGB) or 4 (RGB and a byte that is left out) */
    int components;                  /* 1 or 3 */
    int h, v;                        /* luma blocks of an MCU, across and down; 1, 1 with one component */
    int mcu_blocks;                  /* blocks of an MCU */
    int mcus;                        /* MCUs in a row of them */
    int luma_blocks;                 /* blocks of luma that the width fills; an MCU may have more, dummies */
    lap_encode_divisors divisors[2]; /* luma, chroma */
    lap_encode_divisors turned[2];   /* the same in the order of lap_encode_turned */
    const lap_encode_tables *tables;
} lap_encode_plan;

typedef struct lap_encode_target { /* what the file's header says */
    int width, channels;
    int h[3], v[3];        /* sampling factors of Y, Cb, Cr */
    uint16_t quant[2][64]; /* of luma and chroma, row by row, 1..255 */
} lap_encode_target;

/* False: not a picture for us (other samplings, other sizes, quantisers of 16 bits); the plan is worth
 * nothing then. Thread safe. */
bool lap_encode_plan_make(const lap_encode_target *target, lap_encode_plan *plan);

#endif
