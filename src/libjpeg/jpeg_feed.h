/* Feeds the bytes of a source to libjpeg, and stops it at limits, cancellation and refused damage. */
#ifndef LAP_JPEG_FEED_H
#define LAP_JPEG_FEED_H

#include "libjpeg/jpeg_reader.h"

/* Sets the error manager. reader->decoder must be set. */
void lap_jpeg_feed_init(lap_jpeg_reader *reader);
/* Sets the source and progress managers of cinfo, which must have been created. */
void lap_jpeg_feed_attach(lap_jpeg_reader *reader);

#endif
