/* The lab sheet's 5x5 loops over pixels of four components, as a row function for openmp; c uses only
 * conv_range. Like the sheet's conv_filter, conv_row gets the widths of the image and of the extended image,
 * the coefficients, and pointers to the source window and the result. */
#ifndef LAP_CPU_CONV_ROW_H
#define LAP_CPU_CONV_ROW_H

#include "float4.h"

/* Computes one pixel, dst; src is the top left pixel of its window. */
static inline void conv_pixel(int src_width, const float *filter, const float *src, float *dst)
{
    float r = 0, g = 0, b = 0, a = 0;
    for (int fy = 0; fy < 5; fy++, src += (size_t)src_width * COMPONENTS) {
        for (int fx = 0; fx < 5; fx++) {
            const float h = filter[5 * fy + fx], *p = src + fx * COMPONENTS;
            r += h * p[0];
            g += h * p[1];
            b += h * p[2];
            a += h * p[3];
        }
    }
    dst[0] = r;
    dst[1] = g;
    dst[2] = b;
    dst[3] = a;
}

static inline void conv_range(const lap_params *params, float *dst)
{
    for (int c = 0; c < COMPONENTS; c++)
        dst[c] = float4_range(dst[c], params->scale, params->offset, params->range == LAP_ABS);
}

static inline void conv_row(int width, int src_width, const lap_params *params, const float *src, float *dst)
{
    for (int x = 0; x < width; x++, src += COMPONENTS, dst += COMPONENTS) {
        conv_pixel(src_width, params->kernel.h, src, dst);
        conv_range(params, dst);
    }
}

#endif
