/* Removes what an output must not contain from Photoshop's image resources (APP13) and their IPTC data sets.
 * Any bytes are safe input. Sources: Adobe Photoshop File Formats Specification, IPTC-NAA IIM 4.2. Thread
 * safe. */
#ifndef LAP_RESOURCES_H
#define LAP_RESOURCES_H

#include "codec/meta_drops.h"

/* An APP13 segment begins with this name and a zero byte; blocks follow. */
#define LAP_RESOURCES_NAME "Photoshop 3.0"
enum { LAP_RESOURCES_HEAD = sizeof LAP_RESOURCES_NAME };

bool lap_resources_is(const uint8_t *payload, size_t size);
/* Whether the bytes consist only of complete blocks. */
bool lap_resources_are_whole(const uint8_t *blocks, size_t size);
/* Writes the blocks that are kept to `to`, which has room for size bytes; returns their size. Without
 * LAP_KEEP_LISTED, drops only pictures, also from XMP, and EXIF that may contain a maker's note; keeps other
 * unreadable data unchanged. With it, keeps known IPTC data sets (those with a location only with
 * LAP_KEEP_GPS), and the picture's resolution, copyright and URL. Records in drops what is removed. */
size_t lap_resources_clean(
    const uint8_t *blocks, size_t size, unsigned keep, uint8_t *to, lap_meta_drops *drops);

#endif
