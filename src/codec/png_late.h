/* Finds EXIF that follows a PNG's picture, before the picture is decoded: the orientation must be known
 * first.
 */
#ifndef LAP_PNG_LATE_H
#define LAP_PNG_LATE_H

#include "codec/codec.h"
#include "io/source.h"

/* Copies the data of an intact eXIf chunk of at most `most` bytes after the picture. exif->size stays 0 if
 * the file has no such chunk, or the source cannot seek. LAP_E_MEMORY. */
lap_code lap_png_late_exif(const lap_source *source, size_t most, lap_chunk *exif, lap_error *err);

#endif
