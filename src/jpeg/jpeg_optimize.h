/* A JPEG's coefficients coded again with Huffman tables made for them: nothing is lost. */
#ifndef LAP_JPEG_OPTIMIZE_H
#define LAP_JPEG_OPTIMIZE_H

#include "lapedge.h"

/* bytes: a JPEG that a library just wrote, without metadata; progressive stays so. *out is malloc'ed. */
lap_code lap_jpeg_optimize(
    const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size, lap_error *err);

#endif
