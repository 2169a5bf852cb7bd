/* The metadata of a PNG output, as chunks for right behind its first one. */
#ifndef LAP_PNG_META_H
#define LAP_PNG_META_H

#include "codec/codec.h"

enum { LAP_PNG_HEAD = 33 }; /* bytes of signature and IHDR */

/* What of the input is kept (meta.h): profile as iCCP, EXIF as eXIf, XMP as iTXt, comments as tEXt or iTXt,
 * IPTC as programs expect it, in a zTXt "Raw profile type iptc". chunks may stay empty. For what has no place
 * in a PNG there is a warning in options->drops. */
lap_code lap_png_meta(const lap_write_options *options, lap_chunk *chunks, lap_error *err);

#endif
