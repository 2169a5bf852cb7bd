/* Turns pixels into samples, 64 at a time.
 *
 * A weight of the conversion has 16 bits of fraction, but vpdpbusd multiplies bytes, so each weight is
 * split into two signed bytes, 256 * high + low. A pixel occupies four bytes, R G B G, since the weight of
 * green is too large for one signed byte and is split between two:
 *
 *     high = vpdpbusd(128,        R G B G, high bytes)         4 products and 4 sums in each of 16 lanes
 *     sum  = vpdpbusd(high << 8,  R G B G, low bytes)          128 << 8 is the half that rounds
 *     byte 2 of sum is the sample
 *
 * Chroma is rounded to nearest with halves down. With negated weights, rounding halves up gives the
 * complement of the sample. So the weights are negated, and the samples complemented. */
#ifndef LAP_ENCODE_COLOUR_AVX512VBMI2_H
#define LAP_ENCODE_COLOUR_AVX512VBMI2_H

#include "encode_vectors_avx512vbmi2.h"

#define LAP_RGBG(r, g, b)                                                                    \
    (int)((uint32_t)((r)&255) | (uint32_t)((g) / 2 & 255) << 8 | (uint32_t)((b)&255) << 16 | \
          (uint32_t)(((g) - (g) / 2) & 255) << 24)

typedef struct lap_weights {
    __m512i high, low, half;
} lap_weights;

/* Returns byte 2 of each 32-bit lane: bytes 0..31 are from a and b, bytes 32..63 from c and d. */
LAP_INLINE __m512i lap_third_bytes(__m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i every = _mm512_set_epi8(126, 122, 118, 114, 110, 106, 102, 98, 94, 90, 86, 82, 78, 74, 70,
        66, 62, 58, 54, 50, 46, 42, 38, 34, 30, 26, 22, 18, 14, 10, 6, 2, 126, 122, 118, 114, 110, 106, 102,
        98, 94, 90, 86, 82, 78, 74, 70, 66, 62, 58, 54, 50, 46, 42, 38, 34, 30, 26, 22, 18, 14, 10, 6, 2);
    return _mm512_mask_blend_epi64(
        0xF0, _mm512_permutex2var_epi8(a, every, b), _mm512_permutex2var_epi8(c, every, d));
}

LAP_INLINE __m512i lap_weighted(const __m512i rgbg[4], lap_weights w)
{
    __m512i sum[4];
#pragma GCC unroll 8
    for (int i = 0; i < 4; i++) {
        const __m512i high = _mm512_dpbusd_epi32(w.half, rgbg[i], w.high);
        sum[i] = _mm512_dpbusd_epi32(_mm512_slli_epi32(high, 8), rgbg[i], w.low);
    }
    return lap_third_bytes(sum[0], sum[1], sum[2], sum[3]);
}

/* Loads 64 pixels as R G B G. */
LAP_INLINE void lap_load_pixels(const uint8_t *pixels, int channels, __m512i rgbg[4])
{
    if (channels == 4) {
        const __m512i order = _mm512_set4_epi32(0x0D0E0D0C, 0x090A0908, 0x05060504, 0x01020100);
#pragma GCC unroll 8
        for (int i = 0; i < 4; i++)
            rgbg[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(pixels + 64 * i), order);
        return;
    }
    const __m512i order = _mm512_set_epi32(0x2E2F2E2D, 0x2B2C2B2A, 0x28292827, 0x25262524, 0x22232221,
        0x1F201F1E, 0x1C1D1C1B, 0x191A1918, 0x16171615, 0x13141312, 0x1011100F, 0x0D0E0D0C, 0x0A0B0A09,
        0x07080706, 0x04050403, 0x01020100);
#pragma GCC unroll 8
    for (int i = 0; i < 3; i++)
        rgbg[i] = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(pixels + 48 * i));
    /* Loads the last 48 bytes at the end of a vector, so that nothing after the pixels is read. */
    rgbg[3] = _mm512_permutexvar_epi8(
        _mm512_add_epi8(order, _mm512_set1_epi8(16)), _mm512_loadu_si512(pixels + 128));
}

typedef struct lap_samples {
    __m512i y, cb, cr;
} lap_samples;

LAP_INLINE lap_samples lap_colour(const uint8_t *pixels, int channels)
{
    const lap_weights y = {.high = _mm512_set1_epi32(LAP_RGBG(77, 150, 29)),
        .low = _mm512_set1_epi32(LAP_RGBG(-117, 70, 47)),
        .half = _mm512_set1_epi32(128)};
    const lap_weights cb = {.high = _mm512_set1_epi32(LAP_RGBG(43, 85, -128)),
        .low = _mm512_set1_epi32(LAP_RGBG(51, -51, 0)),
        .half = _mm512_set1_epi32(-32896)};
    const lap_weights cr = {.high = _mm512_set1_epi32(LAP_RGBG(-128, 107, 21)),
        .low = _mm512_set1_epi32(LAP_RGBG(0, 47, -47)),
        .half = _mm512_set1_epi32(-32896)};
    __m512i rgbg[4];
    lap_load_pixels(pixels, channels, rgbg);
    const __m512i ones = _mm512_set1_epi32(-1);
    return (lap_samples){lap_weighted(rgbg, y), _mm512_xor_si512(lap_weighted(rgbg, cb), ones),
        _mm512_xor_si512(lap_weighted(rgbg, cr), ones)};
}

/* Stores means of four pixels across, from column x on, in a strip's row Cb Cr Cb Cr. */
LAP_INLINE void lap_store_quarters(__m512i cb, __m512i cr, uint8_t *row, int x)
{
    const __m512i ones = _mm512_set1_epi16(1), two = _mm512_set1_epi32(2);
    const __m512i b = _mm512_add_epi32(_mm512_madd_epi16(v_pairs8(cb), ones), two);
    const __m512i r = _mm512_add_epi32(_mm512_madd_epi16(v_pairs8(cr), ones), two);
    const __m128i b8 = _mm512_cvtepi32_epi8(_mm512_srli_epi32(b, 2));
    const __m128i r8 = _mm512_cvtepi32_epi8(_mm512_srli_epi32(r, 2));
    uint8_t *out = row + x / 2;
    _mm_store_si128((__m128i *)out, _mm_unpacklo_epi64(b8, r8));
    _mm_store_si128((__m128i *)(out + 16), _mm_unpackhi_epi64(b8, r8));
}

#endif
