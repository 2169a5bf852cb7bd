/* What a decoder leaves unread at the end of a scan. A decoder that lost its place in damaged data often ends
 * too early, and nothing else shows it: libjpeg warns only of what lies beyond its bit buffer, and takes
 * stray bytes in a header for the same oddity. */
#ifndef LAP_JPEG_LEFT_H
#define LAP_JPEG_LEFT_H

#include "libjpeg/jpeg_reader.h"

/* At the end of a scan, before libjpeg looks for the next marker: reads up to that marker and counts what
 * lies before it as padding, an oddity, or damage. A second call for the same scan does nothing. Raises. */
void lap_jpeg_check_left(lap_jpeg_reader *reader);

#endif
