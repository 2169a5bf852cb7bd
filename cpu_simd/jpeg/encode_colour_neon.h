/* Turns pixels into samples, sixteen at a time: NEON's loads separate the colours, and NEON can multiply
 * words by a scalar.
 */
#ifndef LAP_ENCODE_COLOUR_NEON_H
#define LAP_ENCODE_COLOUR_NEON_H

#include "encode_vectors_neon.h"

typedef struct lap_samples {
    vec y, cb, cr;
} lap_samples;

typedef struct lap_eight { /* pixels */
    uint16x8_t r, g, b;
} lap_eight;

/* The weights, loaded once. */
static const uint16_t lap_weights[8] = {19595, 38470, 7471, 0, 11059, 21709, 27439, 5329};

typedef struct lap_sums { /* of four pixels and the next four */
    uint32x4_t low, high;
} lap_sums;

/* Luma is rounded to nearest. */
LAP_INLINE uint16x8_t lap_luma(lap_eight p, uint16x8_t w)
{
    lap_sums s = {vmull_laneq_u16(vget_low_u16(p.r), w, 0), vmull_high_laneq_u16(p.r, w, 0)};
    s.low = vmlal_laneq_u16(vmlal_laneq_u16(s.low, vget_low_u16(p.g), w, 1), vget_low_u16(p.b), w, 2);
    s.high = vmlal_high_laneq_u16(vmlal_high_laneq_u16(s.high, p.g, w, 1), p.b, w, 2);
    return vrshrn_high_n_u32(vrshrn_n_u32(s.low, 16), s.high, 16);
}

/* Chroma is centred at 128 and is rounded to nearest, halves down. The colour itself has a weight of one
 * half; the other two are subtracted. */
#define LAP_CHROMA_FOUR(half, sub, first, second, own, one, two) \
    sub(sub(half(own, 15), first, w, one), second, w, two)
LAP_INLINE uint16x8_t lap_rounded_chroma(lap_sums s)
{
    const uint32x4_t around = vdupq_n_u32((128 << 16) + 32767);
    return vaddhn_high_u32(vaddhn_u32(s.low, around), s.high, around);
}

LAP_INLINE uint16x8_t lap_blue(lap_eight p, uint16x8_t w)
{
    return lap_rounded_chroma((lap_sums){LAP_CHROMA_FOUR(vshll_n_u16, vmlsl_laneq_u16, vget_low_u16(p.r),
                                             vget_low_u16(p.g), vget_low_u16(p.b), 4, 5),
        LAP_CHROMA_FOUR(vshll_high_n_u16, vmlsl_high_laneq_u16, p.r, p.g, p.b, 4, 5)});
}

LAP_INLINE uint16x8_t lap_red(lap_eight p, uint16x8_t w)
{
    return lap_rounded_chroma((lap_sums){LAP_CHROMA_FOUR(vshll_n_u16, vmlsl_laneq_u16, vget_low_u16(p.g),
                                             vget_low_u16(p.b), vget_low_u16(p.r), 6, 7),
        LAP_CHROMA_FOUR(vshll_high_n_u16, vmlsl_high_laneq_u16, p.g, p.b, p.r, 6, 7)});
}

/* Returns the lower bytes of two vectors of words; samples fit in a byte. */
LAP_INLINE vec lap_sixteen(uint16x8_t first, uint16x8_t second)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(first), vreinterpretq_u8_u16(second));
}

LAP_INLINE lap_samples lap_colour(const uint8_t *pixels, int channels)
{
    const uint16x8_t w = vld1q_u16(lap_weights);
    uint8x16x3_t rgb;
    if (channels == 4) {
        const uint8x16x4_t rgbx = vld4q_u8(pixels);
        rgb.val[0] = rgbx.val[0];
        rgb.val[1] = rgbx.val[1];
        rgb.val[2] = rgbx.val[2];
    } else {
        rgb = vld3q_u8(pixels);
    }
    const lap_eight a = {vmovl_u8(vget_low_u8(rgb.val[0])), vmovl_u8(vget_low_u8(rgb.val[1])),
        vmovl_u8(vget_low_u8(rgb.val[2]))};
    const lap_eight b = {vmovl_high_u8(rgb.val[0]), vmovl_high_u8(rgb.val[1]), vmovl_high_u8(rgb.val[2])};
    return (lap_samples){lap_sixteen(lap_luma(a, w), lap_luma(b, w)),
        lap_sixteen(lap_blue(a, w), lap_blue(b, w)), lap_sixteen(lap_red(a, w), lap_red(b, w))};
}

/* Stores means of four pixels across, from column x on, in a strip's row Cb Cr Cb Cr: four samples of
 * each. */
LAP_INLINE void lap_store_quarters(vec cb, vec cr, uint8_t *row, int x)
{
    const uint16x4_t b = vrshrn_n_u32(vpaddlq_u16(vpaddlq_u8(cb)), 2);
    const uint16x4_t r = vrshrn_n_u32(vpaddlq_u16(vpaddlq_u8(cr)), 2);
    const uint8x8_t both = vmovn_u16(vcombine_u16(b, r));
    uint8_t *out = row + x / 32 * 16 + x % 32 / 4;
    vst1_lane_u32((uint32_t *)(void *)out, vreinterpret_u32_u8(both), 0);
    vst1_lane_u32((uint32_t *)(void *)(out + 8), vreinterpret_u32_u8(both), 1);
}

#endif
