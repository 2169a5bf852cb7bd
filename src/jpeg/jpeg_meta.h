/* Which metadata of the input a JPEG output carries. Kept: EXIF (patched: size, and orientation if the
 * pixels were turned; thumbnail and maker's note dropped), XMP, IPTC (APP13, without Photoshop's thumbnails),
 * comments, and an ICC profile whose colour space is that of the output. Dropped: all else, multi-picture
 * data among it. */
#ifndef LAP_JPEG_META_H
#define LAP_JPEG_META_H

#include "codec/codec.h"

typedef struct lap_jpeg_meta {
    lap_segment *segments; /* in the order to be written: EXIF first, then as in the input */
    size_t count;
    uint8_t *copies; /* of those that are changed, one after another */
} lap_jpeg_meta;

/* options->from must outlive meta. */
lap_code lap_jpeg_meta_choose(const lap_write_options *options, lap_jpeg_meta *meta, lap_error *err);
void lap_jpeg_meta_free(lap_jpeg_meta *meta);

#endif
