/* Reads frame, tables and scan headers of a JPEG, for our own decoders. It never decides that a file is
 * invalid: the JPEG library decodes or refuses the files that it does not accept. Any bytes are safe input.
 * Source: ITU-T T.81, annex B. Thread safe. */
#ifndef LAP_JPEG_FRAME_READ_H
#define LAP_JPEG_FRAME_READ_H

#include <stddef.h>

#include "coding/jpeg_script.h"

/* bytes begin at the start of the file and reach at least to the end of the first scan header. Returns false
 * unless the file is baseline or extended sequential Huffman with 8 bits and all components in one scan; it
 * also returns false for colours that libjpeg warns of, for a missing or invalid table, for a segment in a
 * wrong place, and if the data ends too early. */
bool lap_jpeg_frame_read(const uint8_t *bytes, size_t size, lap_jpeg_frame *frame);

/* bytes are the whole file. Returns false unless the file is progressive Huffman with 8 bits and its scans
 * code every bit of every coefficient once, in a legal order; it also returns false for anything invalid
 * before or between scans. Ignores what follows the end marker. */
bool lap_jpeg_script_read(const uint8_t *bytes, size_t size, lap_jpeg_script *script);

#endif
