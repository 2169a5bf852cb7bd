/* The bytes in the bit buffer of libjpeg's Huffman decoders, which no public call gives. */
#ifndef LAP_JPEG_BITS_H
#define LAP_JPEG_BITS_H

#include "jpeg/jpeg_error.h"

enum { LAP_JPEG_MAX_BUFFERED = sizeof(size_t) };

/* After the last MCU of a scan: the whole bytes that were read and not used, in any order; returns their
 * number. The up to seven bits that fill the last byte of a scan are none. 0 for arithmetic coding, which
 * buffers nothing, and where the library that runs here is of another build than this knows. Thread safe. */
int lap_jpeg_buffered(const struct jpeg_decompress_struct *cinfo, uint8_t bytes[LAP_JPEG_MAX_BUFFERED]);

#endif
