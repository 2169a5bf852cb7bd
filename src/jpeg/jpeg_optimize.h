/* A JPEG's coefficients coded again with Huffman tables made for them: nothing is lost. */
#ifndef LAP_JPEG_OPTIMIZE_H
#define LAP_JPEG_OPTIMIZE_H

#include "codec/codec.h"

/* bytes: a JPEG that a library just wrote, without metadata; progressive stays so. What it becomes is put
 * behind what out holds. */
lap_code lap_jpeg_optimize(const uint8_t *bytes, size_t size, lap_chunk *out, lap_error *err);

#endif
