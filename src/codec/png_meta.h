/* Encodes the metadata of a PNG output as chunks that follow its first chunk. */
#ifndef LAP_PNG_META_H
#define LAP_PNG_META_H

#include "codec/codec.h"

enum { LAP_PNG_HEAD = 33 }; /* bytes of signature and IHDR */

/* Encodes the kept metadata (meta.h): profile as iCCP, EXIF as eXIf, XMP as iTXt, comments as tEXt or iTXt.
 * IPTC becomes a zTXt "Raw profile type iptc", where other programs look for it. chunks may remain empty.
 * Adds a warning to options->drops for metadata that a PNG cannot hold. */
lap_code lap_png_meta(const lap_write_options *options, lap_chunk *chunks, lap_error *err);

#endif
