/* Photoshop's image resources (APP13) and the IPTC data sets in them, without what must not travel. Any bytes
 * are safe input. Sources: Adobe Photoshop File Formats Specification, IPTC-NAA IIM 4.2. Thread safe. */
#ifndef LAP_RESOURCES_H
#define LAP_RESOURCES_H

#include "codec/meta_drops.h"

/* An APP13 segment begins with this name and its zero byte; blocks follow. */
#define LAP_RESOURCES_NAME "Photoshop 3.0"
enum { LAP_RESOURCES_HEAD = sizeof LAP_RESOURCES_NAME };

bool lap_resources_is(const uint8_t *payload, size_t size);
/* Whether the bytes are whole blocks from the first to the last one. */
bool lap_resources_are_whole(const uint8_t *blocks, size_t size);
/* Writes the blocks that stay to `to`, which has room for size bytes; returns their size. Without
 * LAP_KEEP_LISTED all stay but pictures, and what cannot be read stays as it is. With it: the IPTC data sets
 * that are known, those of a place only with LAP_KEEP_GPS, and the resolution, copyright and URL of the
 * picture. What goes is given to drops. */
size_t lap_resources_clean(
    const uint8_t *blocks, size_t size, unsigned keep, uint8_t *to, lap_meta_drops *drops);

#endif
