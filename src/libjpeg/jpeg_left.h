/* Counts the bytes that a decoder leaves unread at the end of a scan. In damaged data a decoder often loses
 * its place and ends too early. Only the unread bytes show that: libjpeg warns only of bytes beyond its bit
 * buffer, and gives the same warning for stray bytes in a header. */
#ifndef LAP_JPEG_LEFT_H
#define LAP_JPEG_LEFT_H

#include "libjpeg/jpeg_reader.h"

/* Call it at the end of a scan, before libjpeg looks for the next marker. Reads up to that marker, and judges
 * the bytes before it: padding, harmless, or damage. A second call for the same scan does nothing. May call
 * lap_jpeg_raise. */
void lap_jpeg_check_left(lap_jpeg_reader *reader);

#endif
