/* Frame, tables and scan of a JPEG's header, for decoders that do not go through the JPEG library. It never
 * judges a file: what it does not take is for the library. Any bytes are safe input. Source: ITU-T T.81,
 * annex B. Thread safe. */
#ifndef LAP_JPEG_FRAME_READ_H
#define LAP_JPEG_FRAME_READ_H

#include <stddef.h>

#include "coding/jpeg_script.h"

/* bytes: from the start of the file to the end of the first scan header, or more. False: not baseline or
 * extended sequential Huffman of 8 bits, with all components in one scan; or colours that libjpeg warns of;
 * or a table is missing or invalid, something stands where it should not, the data ends. */
bool lap_jpeg_frame_read(const uint8_t *bytes, size_t size, lap_jpeg_frame *frame);

/* bytes: the whole file. False: not progressive Huffman of 8 bits; or its scans are not those of a complete
 * picture, in which every bit of every coefficient comes once and in a legal order; or something else is odd
 * before or between its scans. What is behind the end marker is not looked at. */
bool lap_jpeg_script_read(const uint8_t *bytes, size_t size, lap_jpeg_script *script);

#endif
