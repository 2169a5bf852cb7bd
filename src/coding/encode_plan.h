/* What our own encoders need to know before they encode pixels: the order of blocks, the divisors, and the
 * Huffman codes. All encoders of the ladder `encode` use it.
 *
 * It describes pictures of one component, and pictures whose MCU has h x v blocks of luma and one block of
 * each of two chroma components.
 *
 *     4:4:4      4:2:2         4:2:0         4:4:0      4:1:1                    (an MCU's blocks, in order)
 *     Y Cb Cr    Y0 Y1 Cb Cr   Y0 Y1  Cb Cr  Y0 Cb Cr   Y0 Y1 Y2 Y3 Cb Cr
 *                              Y2 Y3         Y1
 */
#ifndef LAP_ENCODE_PLAN_H
#define LAP_ENCODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Quantising multiplies by a reciprocal instead of dividing, as libjpeg-turbo does in 16 bits:
 *     quotient = (|value| + correction) * reciprocal >> 16 >> shift, with the sign of value.
 * For every value that a block can have, this equals value / divisor, rounded to nearest, halves away from
 * zero. scale is 2^(16 - shift): multiplying by it and keeping the upper 16 bits shifts right by `shift`. The
 * member `shift` holds the negative, because NEON shifts right by a negative left shift. */
typedef struct lap_encode_divisors {
    _Alignas(64) uint16_t reciprocal[64]; /* row by row */
    _Alignas(64) uint16_t correction[64];
    _Alignas(64) uint16_t scale[64];
    _Alignas(64) int16_t shift[64];
} lap_encode_divisors;

/* A symbol of the scan is a pair: its distance from the coefficient coded before it (one more than the zeros
 * between them), and the number of bits of its value (size). Its number in the tables is distance + 16 size.
 * DC differences have no distance; their numbers come last.
 *
 *     0      1         16    17         32    33        176    177     188
 *     | none | 1 .. 16, size 0 | 1 .. 16, size 1 | ...       | DC, size 0 .. 11 |
 *              EOB     ZRL
 *
 * Number 0 has a code of zero bits, which fills the unused lanes of a vector. */
enum {
    LAP_ENCODE_SIZE_STEP = 16,
    LAP_ENCODE_EOB = 1,      /* only zeros up to the end of the block */
    LAP_ENCODE_ZRL = 16,     /* sixteen zeros */
    LAP_ENCODE_DC = 177,     /* size 0..11 */
    LAP_ENCODE_SYMBOLS = 192 /* three vectors of 64 */
};

typedef struct lap_encode_codes { /* either luma's or chroma's */
    _Alignas(64) uint16_t code[LAP_ENCODE_SYMBOLS];
    _Alignas(64) uint8_t length[LAP_ENCODE_SYMBOLS]; /* bits of the code; 0: no such symbol */
} lap_encode_codes;

/* A second table, for encoders that look up one symbol at a time. The index of a symbol is 32 distance +
 * size, plus 15 if its value is negative, plus 1024 for chroma; DC differences have distance 0. Adding the
 * value to an entry gives the bits of code and value. This holds for negative values too: JPEG writes the
 * lowest `size` bits of value - 1, and adding `size` ones, that is 2^size - 1, to the value gives these bits.
 *
 *     31    27 26                                0
 *     | length |    code | size bits: 0, or ones |      + value              vectors
 *
 *     31                                6 5      0
 *     |    code | size bits: 0, or ones | length |      + 64 value           general registers
 *
 * length: bits of code and value together, at most 26. Vector code separates length and bits by a shift and a
 * mask. On aarch64 the bits are joined in general registers, where a shift uses only the lowest six bits of
 * its count, so `length` needs no mask. There the entries of chroma are smaller by one
 * (encode_symbols_neon.h). */
enum {
    LAP_ENCODE_POSITION_CHROMA = 64,
    LAP_ENCODE_CHROMA = 1024,
    LAP_ENCODE_NEGATIVE = 15,
    LAP_ENCODE_NO_ENTRY = 15
};
#if defined(__aarch64__)
enum { LAP_ENCODE_LENGTH_SHIFT = 0, LAP_ENCODE_BITS_SHIFT = 6, LAP_ENCODE_CHROMA_LESS = 1 };
#else
enum { LAP_ENCODE_LENGTH_SHIFT = 27, LAP_ENCODE_BITS_SHIFT = 0, LAP_ENCODE_CHROMA_LESS = 0 };
#endif

/* Tables that are the same for all pictures. `orders` and `ones` are indexed by a mask of 8 bits, which
 * selects some of eight words. `ones` lists the numbers of the selected words, ascending; `orders` is the
 * byte shuffle that packs them. */
typedef struct lap_encode_tables {
    lap_encode_codes codes[2];               /* luma, chroma */
    uint32_t entries[2 * LAP_ENCODE_CHROMA]; /* LAP_ENCODE_NO_ENTRY is 0: no bits */
    _Alignas(16) uint8_t orders[256][16];
    uint8_t ones[2][256][8]; /* [1], for chroma: plus LAP_ENCODE_POSITION_CHROMA */
} lap_encode_tables;

/* The first call makes the tables. Thread safe. */
const lap_encode_tables *lap_encode_tables_get(void);

/* Vector code that transforms two or four blocks at once leaves the coefficients of a block in eight lanes of
 * eight words: lane 2 p + half has rows p and p + 4 interleaved, for the four columns of that half. Returns
 * the index in the block, row by row, of the i-th of these words.
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
    int width;       /* pixels, 1..65500 */
    int channels;    /* of a pixel: 1, 3 (RGB) or 4 (RGB and a byte that is ignored) */
    int components;  /* 1 or 3 */
    int h, v;        /* luma blocks in an MCU, across and down; 1 and 1 if there is one component */
    int mcu_blocks;  /* blocks in an MCU, all components */
    int mcus;        /* MCUs across the picture */
    int luma_blocks; /* luma blocks across the picture; the last MCU may add dummy blocks */
    lap_encode_divisors divisors[2]; /* luma, chroma */
    lap_encode_divisors turned[2];   /* the same, in the order of lap_encode_turned */
    const lap_encode_tables *tables;
} lap_encode_plan;

typedef struct lap_encode_target { /* what the file's header says */
    int width, channels;
    int h[3], v[3];        /* sampling factors of Y, Cb, Cr */
    uint16_t quant[2][64]; /* of luma and chroma, row by row, 1..255 */
} lap_encode_target;

/* False: our encoders do not support the picture (its sampling, its size, or quantisers of 16 bits), and the
 * plan must not be used. Thread safe. */
bool lap_encode_plan_make(const lap_encode_target *target, lap_encode_plan *plan);

#endif
