/* Notes unusual or lost data in a JPEG, and refuses the file if the options say so. */
#ifndef LAP_JPEG_NOTE_H
#define LAP_JPEG_NOTE_H

#include "libjpeg/jpeg_reader.h"

/* Adds a warning to the decoder's damage. Calls lap_jpeg_raise if fail_on refuses its class. */
void lap_jpeg_note(lap_jpeg_reader *reader, lap_jpeg_class class, const char *text);
/* Does the same; the text also says how far into the image the loss is. */
void lap_jpeg_lose(lap_jpeg_reader *reader, lap_jpeg_class class, const char *what);

#endif
