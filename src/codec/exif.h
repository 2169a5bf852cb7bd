/* EXIF: the orientation, and what of it an output carries. Any bytes are safe input. Sources: EXIF 2.32,
 * TIFF 6.0. Payload = APP1 data, beginning "Exif\0\0". Thread safe. */
#ifndef LAP_EXIF_H
#define LAP_EXIF_H

#include "codec/meta_drops.h"

bool lap_exif_is(const uint8_t *payload, size_t size);
/* 1..8; 1 where the tag is missing or invalid. */
int lap_exif_orientation(const uint8_t *payload, size_t size);

enum { LAP_EXIF_ROOM = 65533 }; /* bytes of a payload, at most: a segment without its length field */

typedef struct lap_exif_change {
    int width, height; /* of the output */
    bool turned;       /* its pixels are upright: the orientation becomes 1 */
    unsigned keep;     /* LAP_KEEP_...; LAP_KEEP_LISTED: the user gave the list */
    /* gets each entry that goes, and a warning for EXIF that cannot be read; or NULL */
    lap_meta_drops *drops;
} lap_exif_change;

/* Writes what stays of a payload to `to`, which has room for LAP_EXIF_ROOM bytes and for `size`, with the
 * output's size and orientation.
 *
 * Without a list, tags keep their places; thumbnails and maker's notes go wherever they stand, and so do
 * bytes that nothing refers to: cut off at the end, else zeroed. With a list, the payload is written anew
 * from the tags of exif_tags.h, in the same byte order; GPS and thumbnail only if they are in the list.
 *
 * *to_size 0: nothing stays. LAP_E_MEMORY. */
lap_code lap_exif_choose(const uint8_t *payload, size_t size, const lap_exif_change *change, uint8_t *to,
    size_t *to_size, lap_error *err);

#endif
