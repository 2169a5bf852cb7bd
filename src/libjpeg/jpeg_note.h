/* What a JPEG decoder finds odd or lost: noted, and refused where the options say so. */
#ifndef LAP_JPEG_NOTE_H
#define LAP_JPEG_NOTE_H

#include "libjpeg/jpeg_reader.h"

/* Counts one oddity or loss in the decoder's damage, and raises where fail_on refuses it. */
void lap_jpeg_note(lap_jpeg_reader *reader, lap_jpeg_class class, const char *text);
/* The same, and adds how far into the image that was. */
void lap_jpeg_lose(lap_jpeg_reader *reader, lap_jpeg_class class, const char *what);

#endif
