/* Decides which metadata of the input a JPEG or PNG output keeps. Without a list in options->keep it keeps
 * EXIF (with the output's size, and orientation 1 if the pixels were rotated upright), XMP, IPTC (APP13),
 * comments, and an ICC profile if its colour space is the output's; it drops thumbnails and maker's notes.
 * With a list, EXIF, IPTC and (unless GPS is listed) XMP are rewritten from entries known to be harmless.
 * Everything else is dropped, including multi-picture data. */
#ifndef LAP_META_H
#define LAP_META_H

#include "codec/codec.h"
#include "codec/meta_drops.h"

typedef struct lap_meta {
    lap_segment *segments; /* in output order: EXIF first, then as in the input */
    size_t count;
    uint8_t *copies; /* bytes of changed segments, one after another */
} lap_meta;

/* options->from must outlive meta. Records dropped metadata in options->drops. LAP_E_UNSUPPORTED: metadata
 * would be lost that the user did not ask to drop, and options->fail_on does not allow that. */
lap_code lap_meta_choose(const lap_write_options *options, lap_meta *meta, lap_error *err);
/* Whether a colour profile is dropped because its colour space is not the output's. */
bool lap_meta_drops_profile(const lap_write_options *options);
void lap_meta_free(lap_meta *meta);
/* Returns the most bytes that a run needs at once for the metadata segments of an input: in the decoder,
 * here, and in the encoder. */
size_t lap_meta_memory(const lap_header *from);

enum { LAP_META_XMP = 29 }; /* length of the XMP name, including its zero byte */
/* Returns the kind of a segment as in lap_info: "EXIF", "XMP" (also for extended XMP), ... */
const char *lap_meta_kind(const lap_segment *segment);
bool lap_meta_is_xmp(const lap_segment *segment);

#endif
