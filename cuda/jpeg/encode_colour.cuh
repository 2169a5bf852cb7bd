/* Converts colours and averages pixels, rounded as libjpeg-turbo does. */
#ifndef LAP_CUDA_JPEG_ENCODE_COLOUR_CUH
#define LAP_CUDA_JPEG_ENCODE_COLOUR_CUH

#include "encode.cuh"

constexpr int FRACTION = 16;

/* A weight of the conversion of T.871, rounded to 16 bits of fraction. */
__host__ __device__ constexpr int weight(double w)
{
    return (int)(w * (1 << FRACTION) + 0.5);
}

/* Luma is rounded to nearest. Chroma is centred at 128 and rounded to nearest, halves down. */
LAP_DEVICE int luma(int r, int g, int b)
{
    return (weight(0.29900) * r + weight(0.58700) * g + weight(0.11400) * b + (1 << (FRACTION - 1))) >>
           FRACTION;
}

constexpr int CHROMA = (128 << FRACTION) + (1 << (FRACTION - 1)) - 1;

LAP_DEVICE int blue(int r, int g, int b)
{
    return (weight(0.50000) * b - weight(0.16874) * r - weight(0.33126) * g + CHROMA) >> FRACTION;
}

LAP_DEVICE int red(int r, int g, int b)
{
    return (weight(0.50000) * r - weight(0.41869) * g - weight(0.08131) * b + CHROMA) >> FRACTION;
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
