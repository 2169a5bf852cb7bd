/* Converts colours and averages pixels, rounded as libjpeg-turbo does. */
#ifndef LAP_CUDA_JPEG_ENCODE_COLOUR_CUH
#define LAP_CUDA_JPEG_ENCODE_COLOUR_CUH

#include "encode.cuh"

constexpr unsigned FRACTION = 16;

/* A weight of the conversion of T.871, rounded to 16 bits of fraction. */
__host__ __device__ constexpr unsigned weight(double w)
{
    return (unsigned)(w * (1 << FRACTION) + 0.5);
}

/* Returns R, G and B, the lowest bytes of a word, times their weights, plus ADD. A weight has two bytes, and
 * __dp4a multiplies by one byte of each. */
template <unsigned R, unsigned G, unsigned B, unsigned ADD>
LAP_DEVICE unsigned weighted(unsigned rgb)
{
    constexpr unsigned high = R >> 8 | G >> 8 << 8 | B >> 8 << 16;
    constexpr unsigned low = (R & 255) | (G & 255) << 8 | (B & 255) << 16;
    return (__dp4a(rgb, high, 0u) << 8) + __dp4a(rgb, low, ADD);
}

/* Returns luma << FRACTION, rounded to nearest; the bits below are a fraction. The highest byte of `rgb` may
 * have any value. */
LAP_DEVICE unsigned luma(unsigned rgb)
{
    return weighted<weight(0.29900), weight(0.58700), weight(0.11400), 1u << (FRACTION - 1)>(rgb);
}

/* Chroma in the same form: centred at 128 and rounded to nearest, halves down. A component with a negative
 * weight is complemented, and 255 times its weight is subtracted: the negative weights add up to -1/2. */
constexpr unsigned CHROMA = (128 << FRACTION) + (1 << (FRACTION - 1)) - 1 - 255 * weight(0.50000);

LAP_DEVICE unsigned blue(unsigned rgb)
{
    constexpr unsigned r = weight(0.16874), g = weight(0.33126), b = weight(0.50000);
    static_assert(r + g == b, "the sum of the negative weights");
    return weighted<r, g, b, CHROMA>(rgb ^ 0x00FFFF);
}

LAP_DEVICE unsigned red(unsigned rgb)
{
    constexpr unsigned r = weight(0.50000), g = weight(0.41869), b = weight(0.08131);
    static_assert(g + b == r, "the sum of the negative weights");
    return weighted<r, g, b, CHROMA>(rgb ^ 0xFFFF00);
}

/* The mean of two or four pixels. Halves, or quarters, are rounded down and up alternately, so that the
 * average does not drift. */
LAP_DEVICE int mean(int sum, unsigned expand_h, unsigned expand_v, unsigned x)
{
    if (expand_h == 2 && expand_v == 1)
        return (sum + (int)(x & 1)) >> 1;
    if (expand_h == 2 && expand_v == 2)
        return (sum + 1 + (int)(x & 1)) >> 2;
    const int pixels = (int)(expand_h * expand_v);
    return (sum + pixels / 2) / pixels;
}

#endif
