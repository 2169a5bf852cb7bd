/* BT.601 luma of RGB, in the fixed point of libjpeg's grayscale conversion, so that --gray means the
 * same for every input format: round(0.299 R + 0.587 G + 0.114 B). */
#ifndef LAP_LUMA_H
#define LAP_LUMA_H

#include <stddef.h>
#include <stdint.h>

static inline uint8_t lap_luma(unsigned red, unsigned green, unsigned blue)
{
    _Static_assert(19595 + 38470 + 7471 == 65536, "white stays white");
    return (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

/* Converts n pixels of 3 samples to n samples; out may be rgb. */
static inline void lap_luma_row(const uint8_t *rgb, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = lap_luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

#endif
