/* The vector forms of the encoder cut a unit into groups of 64 pixels across. A group's samples lie in strips
 * of eight rows of 64 bytes, that is, eight blocks side by side:
 *
 *     4:2:0, 16 rows of 64 pixels     strip 0   Y  Y  Y  Y  Y  Y  Y  Y     (blocks of 8 x 8 samples)
 *                                     strip 1   Y  Y  Y  Y  Y  Y  Y  Y
 *                                     strip 2   Cb Cr Cb Cr Cb Cr Cb Cr
 *
 * If chroma is as wide as luma, Cb and Cr have a strip each; if narrower, they share one. */
#ifndef LAP_ENCODE_STRIPS_H
#define LAP_ENCODE_STRIPS_H

#include "encode_dummies.h"

/* Vectors stay in registers only if everything is inlined into one function. */
#define LAP_INLINE static inline __attribute__((always_inline))

enum {
    LAP_GROUP = 64, /* pixels across, and bytes of a strip's row */
    LAP_UNIT_GROUPS = LAP_ENCODE_UNIT / LAP_GROUP,
    LAP_LUMA_ROWS = 16, /* two strips */
    LAP_CHROMA_STRIPS = 2,
    LAP_MAX_STRIPS = 4,
    LAP_BLOCK = 64 /* coefficients */
};

/* Two words in 32 bits, the first one lower. */
#define V_PAIR(w0, w1) ((int)((uint32_t)((w0)&0xFFFF) | (uint32_t)(w1) << 16))
/* The DCT expects samples minus 128. These forms do not subtract 128, which changes only the first output: by
 * 8 * 8 * 128, that is 2^15 with two bits of fraction. V_CENTRE corrects that and also contains 2, the half
 * for rounding. */
#define V_CENTRE (0x8000 + 2)

typedef struct lap_group { /* the samples of a group */
    _Alignas(64) uint8_t luma[LAP_LUMA_ROWS][LAP_GROUP];
    _Alignas(64) uint8_t chroma[LAP_CHROMA_STRIPS][8][LAP_GROUP];
    uint8_t pixels[LAP_LUMA_ROWS][4 * LAP_GROUP]; /* a copy, if the picture does not fill the group */
} lap_group;

typedef struct lap_strip { /* eight blocks, and their position among the group's blocks in the scan */
    const uint8_t (*rows)[LAP_GROUP];
    int chroma;
    int first; /* number of the first block */
    int shift; /* an MCU has 1 << shift adjacent blocks of the strip */
} lap_strip;

/* Fills strips and returns how many there are. */
static inline int lap_strips_of(
    const lap_encode_plan *plan, const lap_group *group, lap_strip strips[LAP_MAX_STRIPS])
{
    int n = 0;
    for (int i = 0; i < plan->v; i++)
        strips[n++] = (lap_strip){group->luma + 8 * i, 0, i * plan->h, plan->h / 2};
    const int first = plan->h * plan->v;
    if (plan->components == 3 && plan->h > 1)
        strips[n++] = (lap_strip){group->chroma[0], 1, first, 1};
    for (int c = 0; c < 2 && plan->components == 3 && plan->h == 1; c++)
        strips[n++] = (lap_strip){group->chroma[c], 1, first + c, 0};
    return n;
}

/* Returns the number of block i of a strip, counted from the group's first block. */
static inline int lap_strip_block(const lap_encode_plan *plan, const lap_strip *strip, int i)
{
    return strip->first + (i >> strip->shift) * plan->mcu_blocks + (i & ((1 << strip->shift) - 1));
}

static inline int lap_group_blocks(const lap_encode_plan *plan)
{
    return LAP_GROUP / (8 * plan->h) * plan->mcu_blocks;
}

/* The rows of a group's pixels inside the picture. If the second row of a pair is missing, the first is used
 * for both. */
typedef struct lap_pixel_rows {
    const uint8_t *base;
    ptrdiff_t stride;
    int count;
} lap_pixel_rows;

LAP_INLINE const uint8_t *lap_pixel_row(const lap_pixel_rows *rows, int y)
{
    return rows->base + (y < rows->count ? y : rows->count - 1) * rows->stride;
}

/* Returns the pixels of a group from column x on: in the picture itself, or at the right edge a copy, in
 * which the last pixel of each row is repeated up to the end of its MCU. Zeros follow, in blocks that are not
 * coded. */
static inline lap_pixel_rows lap_group_pixels(
    const lap_encode_plan *plan, const lap_encode_rows *rows, int x, lap_group *group)
{
    const size_t channels = (size_t)plan->channels, mcu = 8 * (size_t)plan->h;
    const size_t pixels = (size_t)(plan->width - x), left = pixels * channels;
    const uint8_t *base = rows->base + (size_t)x * channels;
    if (pixels >= LAP_GROUP)
        return (lap_pixel_rows){base, rows->stride, rows->count};
    const size_t full = (pixels + mcu - 1) / mcu * mcu * channels;
    for (int y = 0; y < rows->count; y++) {
        uint8_t *padded = group->pixels[y];
        memcpy(padded, base + y * rows->stride, left);
        for (size_t i = left; i < full; i++)
            padded[i] = padded[i - channels];
        memset(padded + full, 0, LAP_GROUP * channels - full);
    }
    return (lap_pixel_rows){group->pixels[0], sizeof group->pixels[0], rows->count};
}

/* Repeats the last row of samples below the picture. */
static inline void lap_repeat_rows(uint8_t (*rows)[LAP_GROUP], int have, int need)
{
    for (int y = have; y < need; y++)
        memcpy(rows[y], rows[have - 1], LAP_GROUP);
}

#endif
