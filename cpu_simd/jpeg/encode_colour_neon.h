/* Pixels to samples, sixteen at a time: NEON's loads part the colours, and it multiplies words by a number.
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

/* Luma is rounded to nearest. */
LAP_INLINE uint16x4_t lap_luma(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    return vrshrn_n_u32(vmlal_n_u16(vmlal_n_u16(vmull_n_u16(r, 19595), g, 38470), b, 7471), 16);
}

/* Chroma lies around 128 and is rounded to nearest, halves down. plus is the colour itself, whose weight is
 * one half. */
LAP_INLINE uint16x4_t lap_chroma(uint16x4_t plus, uint16x4_t one, uint16_t w1, uint16x4_t two, uint16_t w2)
{
    const uint32x4_t centre = vdupq_n_u32((128 << 16) + 32767);
    const uint32x4_t sum = vmlal_n_u16(centre, plus, 32768);
    return vshrn_n_u32(vmlsl_n_u16(vmlsl_n_u16(sum, one, w1), two, w2), 16);
}

#define LAP_EIGHT(f, ...) vmovn_u16(vcombine_u16(f(low, __VA_ARGS__), f(high, __VA_ARGS__)))
#define LAP_Y(half, p) lap_luma(vget_##half##_u16(p.r), vget_##half##_u16(p.g), vget_##half##_u16(p.b))
#define LAP_CB(half, p) \
    lap_chroma(vget_##half##_u16(p.b), vget_##half##_u16(p.r), 11059, vget_##half##_u16(p.g), 21709)
#define LAP_CR(half, p) \
    lap_chroma(vget_##half##_u16(p.r), vget_##half##_u16(p.g), 27439, vget_##half##_u16(p.b), 5329)

LAP_INLINE lap_samples lap_colour(const uint8_t *pixels, int channels)
{
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
    return (lap_samples){vcombine_u8(LAP_EIGHT(LAP_Y, a), LAP_EIGHT(LAP_Y, b)),
        vcombine_u8(LAP_EIGHT(LAP_CB, a), LAP_EIGHT(LAP_CB, b)),
        vcombine_u8(LAP_EIGHT(LAP_CR, a), LAP_EIGHT(LAP_CR, b))};
}

/* Means of four pixels across, from column x on, in a strip's row Cb Cr Cb Cr: four samples of each. */
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
