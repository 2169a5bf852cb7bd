/* Reads the bytes left in the bit buffer of libjpeg's Huffman decoders, for which libjpeg has no public
 * call. */
#ifndef LAP_JPEG_BITS_H
#define LAP_JPEG_BITS_H

#include "libjpeg/jpeg_error.h"

enum { LAP_JPEG_MAX_BUFFERED = sizeof(size_t) };

/* Returns whether the buffer of the loaded library can be read, which is tested with a picture whose result
 * is known. If the test fails, jpeg_walk.h counts the bytes instead. Always true for arithmetic coding, which
 * buffers nothing. Thread safe. */
bool lap_jpeg_shows_buffer(const struct jpeg_decompress_struct *cinfo);
/* Call it after the last MCU of a scan, if lap_jpeg_shows_buffer is true. Copies the whole bytes that libjpeg
 * has read but not used, in any order, and returns their number. The last byte of the scan, which may end in
 * padding bits, is not among them. Thread safe. */
int lap_jpeg_buffered(const struct jpeg_decompress_struct *cinfo, uint8_t bytes[LAP_JPEG_MAX_BUFFERED]);
#endif
