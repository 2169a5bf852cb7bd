/* Which metadata of the input a JPEG or PNG output carries. Kept, unless options->keep lists other kinds:
 * EXIF (size, and orientation if the pixels were turned, are the output's), XMP, IPTC (APP13), comments, and
 * an ICC profile whose colour space is that of the output; without thumbnails and maker's notes. With a list
 * EXIF, IPTC and, unless it has gps, XMP are written anew from what is known to be harmless. Dropped: all
 * else, multi-picture data among it. */
#ifndef LAP_META_H
#define LAP_META_H

#include "codec/codec.h"
#include "codec/meta_drops.h"

typedef struct lap_meta {
    lap_segment *segments; /* in the order to be written: EXIF first, then as in the input */
    size_t count;
    uint8_t *copies; /* of those that are changed, one after another */
} lap_meta;

/* options->from must outlive meta. What is left out goes to options->drops. LAP_E_DAMAGED: something is lost
 * that the user did not ask to lose, and options->fail_on refuses that. */
lap_code lap_meta_choose(const lap_write_options *options, lap_meta *meta, lap_error *err);
/* Whether a colour profile is left out because its colour space is not that of the output. */
bool lap_meta_drops_profile(const lap_write_options *options);
void lap_meta_free(lap_meta *meta);

enum { LAP_META_XMP = 29 }; /* bytes of the name of XMP, its zero byte counted */
/* The kind of a segment as lap_info has it: "EXIF", "XMP", "extended XMP" counts as XMP, ... */
const char *lap_meta_kind(const lap_segment *segment);
bool lap_meta_is_xmp(const lap_segment *segment);

#endif
