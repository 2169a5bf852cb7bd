/* Which metadata of the input a JPEG or PNG output carries. Kept, unless options->keep lists other kinds:
 * EXIF (patched: size, and orientation if the pixels were turned; thumbnail and maker's note dropped), XMP,
 * IPTC (APP13, without Photoshop's thumbnails), comments, and an ICC profile whose colour space is that of
 * the output. Dropped: all else, multi-picture data among it. */
#ifndef LAP_META_H
#define LAP_META_H

#include "codec/codec.h"

typedef struct lap_meta {
    lap_segment *segments; /* in the order to be written: EXIF first, then as in the input */
    size_t count;
    uint8_t *copies; /* of those that are changed, one after another */
} lap_meta;

/* options->from must outlive meta. */
lap_code lap_meta_choose(const lap_write_options *options, lap_meta *meta, lap_error *err);
/* Whether a colour profile is left out because its colour space is not that of the output. */
bool lap_meta_drops_profile(const lap_write_options *options);
void lap_meta_free(lap_meta *meta);

#endif
