/* Sampling factors of a JPEG output. */
#ifndef LAP_JPEG_SAMPLING_H
#define LAP_JPEG_SAMPLING_H

#include "codec/codec.h"

/* Of the three components (gray output uses the first: 1x1). LAP_SUB_SAME gives those of options->from,
 * reduced, where libjpeg can write them, else 4:4:4. */
void lap_jpeg_sampling(const lap_write_options *options, int h[3], int v[3]);

/* What libjpeg holds until the last row of an image in several scans, or with tables of its own: all
 * coefficients, 16 bits each, chroma as if it were not subsampled. False where the bytes cannot be counted.
 */
bool lap_jpeg_coefficients(const lap_write_options *options, int mcu_width, int mcu_height, size_t *bytes);

#endif
