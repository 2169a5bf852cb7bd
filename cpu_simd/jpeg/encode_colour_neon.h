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

/* The weights, loaded once. */
static const uint16_t lap_weights[8] = {19595, 38470, 7471, 32768, 11059, 21709, 27439, 5329};

/* Luma is rounded to nearest. */
LAP_INLINE uint16x4_t lap_luma(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    const uint16x8_t w = vld1q_u16(lap_weights);
    return vrshrn_n_u32(vmlal_laneq_u16(vmlal_laneq_u16(vmull_laneq_u16(r, w, 0), g, w, 1), b, w, 2), 16);
}

/* Chroma lies around 128 and is rounded to nearest, halves down. The colour itself has a weight of one half.
 */
LAP_INLINE uint16x4_t lap_blue(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    const uint16x8_t w = vld1q_u16(lap_weights);
    const uint32x4_t sum = vmlal_laneq_u16(vdupq_n_u32((128 << 16) + 32767), b, w, 3);
    return vshrn_n_u32(vmlsl_laneq_u16(vmlsl_laneq_u16(sum, r, w, 4), g, w, 5), 16);
}

LAP_INLINE uint16x4_t lap_red(uint16x4_t r, uint16x4_t g, uint16x4_t b)
{
    const uint16x8_t w = vld1q_u16(lap_weights);
    const uint32x4_t sum = vmlal_laneq_u16(vdupq_n_u32((128 << 16) + 32767), r, w, 3);
    return vshrn_n_u32(vmlsl_laneq_u16(vmlsl_laneq_u16(sum, g, w, 6), b, w, 7), 16);
}

/* f of the lower and of the upper four of eight pixels. */
#define LAP_EIGHT(f, p)                                                                \
    vmovn_u16(vcombine_u16(f(vget_low_u16(p.r), vget_low_u16(p.g), vget_low_u16(p.b)), \
        f(vget_high_u16(p.r), vget_high_u16(p.g), vget_high_u16(p.b))))

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
    return (lap_samples){vcombine_u8(LAP_EIGHT(lap_luma, a), LAP_EIGHT(lap_luma, b)),
        vcombine_u8(LAP_EIGHT(lap_blue, a), LAP_EIGHT(lap_blue, b)),
        vcombine_u8(LAP_EIGHT(lap_red, a), LAP_EIGHT(lap_red, b))};
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
