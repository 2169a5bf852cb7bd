/* The bytes in the bit buffer of libjpeg's Huffman decoders, which no public call gives. */
#ifndef LAP_JPEG_BITS_H
#define LAP_JPEG_BITS_H

#include "libjpeg/jpeg_error.h"

enum { LAP_JPEG_MAX_BUFFERED = sizeof(size_t) };

/* Whether the library that runs here keeps its buffer where we know it: it showed so with a picture whose
 * answer is known. Yes for arithmetic coding, which buffers nothing. If not, jpeg_walk.h counts. Thread safe.
 */
bool lap_jpeg_shows_buffer(const struct jpeg_decompress_struct *cinfo);
/* After the last MCU of a scan, where lap_jpeg_shows_buffer: the whole bytes that were read and not used, in
 * any order; returns their number. The padding bits in the last byte of a scan do not count. Thread safe. */
int lap_jpeg_buffered(const struct jpeg_decompress_struct *cinfo, uint8_t bytes[LAP_JPEG_MAX_BUFFERED]);
#endif
