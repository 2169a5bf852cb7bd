/* EXIF: reads the orientation, and selects the tags that an output keeps. Any bytes are safe input. Sources:
 * EXIF 2.32, TIFF 6.0. Payload = APP1 data, beginning "Exif\0\0". Thread safe. */
#ifndef LAP_EXIF_H
#define LAP_EXIF_H

#include "codec/meta_drops.h"

bool lap_exif_is(const uint8_t *payload, size_t size);
/* Returns 1..8; 1 if the tag is missing or invalid. */
int lap_exif_orientation(const uint8_t *payload, size_t size);

enum { LAP_EXIF_ROOM = 65533 }; /* largest payload: a segment without its length field */

typedef struct lap_exif_change {
    int width, height; /* size of the output */
    bool turned;       /* the output's pixels are upright, so the orientation becomes 1 */
    unsigned keep;     /* LAP_KEEP_... bits; with LAP_KEEP_LISTED the user gave a list */
    /* NULL, or records each entry that is dropped, and warns about unreadable EXIF */
    lap_meta_drops *drops;
} lap_exif_change;

/* Writes the kept part of a payload to `to`, with the output's size and orientation. `to` has room for
 * LAP_EXIF_ROOM bytes and for `size`.
 *
 * Without a list, tags keep their positions. Thumbnails and maker's notes are removed wherever they are, and
 * so are bytes that nothing refers to: they are cut off at the end, and zeroed elsewhere. With a list, a new
 * payload is written from the tags of exif_tags.h in the same byte order, with GPS and thumbnail only if
 * listed.
 *
 * *to_size 0: nothing is kept. LAP_E_MEMORY. */
lap_code lap_exif_choose(const uint8_t *payload, size_t size, const lap_exif_change *change, uint8_t *to,
    size_t *to_size, lap_error *err);

#endif
