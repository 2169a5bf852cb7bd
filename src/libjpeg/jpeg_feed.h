/* The bytes of a source for libjpeg, and when it has to stop. */
#ifndef LAP_JPEG_FEED_H
#define LAP_JPEG_FEED_H

#include "libjpeg/jpeg_reader.h"

/* Sets the error manager; reader->decoder is set. */
void lap_jpeg_feed_init(lap_jpeg_reader *reader);
/* Sets source and progress managers in cinfo, which exists. */
void lap_jpeg_feed_attach(lap_jpeg_reader *reader);

#endif
