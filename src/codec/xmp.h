/* XMP packets without what must not travel. Any bytes are safe input. Sources: the XMP specification, parts 1
 * and 3 (Adobe, 2012 and 2016), the IPTC Photo Metadata Standard. Thread safe. */
#ifndef LAP_XMP_H
#define LAP_XMP_H

#include "codec/meta_drops.h"

typedef enum lap_xmp_rule {
    LAP_XMP_PICTURES, /* without thumbnails and other embedded photos */
    LAP_XMP_HARMLESS  /* only properties of namespaces that are known, and of these none of a place */
} lap_xmp_rule;

typedef struct lap_xmp_cleaning {
    lap_xmp_rule rule;
    /* Other segments continue the packet (xmpNote:HasExtendedXMP); where they do not travel, neither does the
     * reference. */
    bool extended;
    lap_meta_drops *drops; /* is given what goes; or NULL */
} lap_xmp_cleaning;

/* Writes the packet to `to`, which has room for size bytes, without what the rule excludes. False: the packet
 * is not plain enough to be sure, and drops was given nothing. */
bool lap_xmp_clean(
    const uint8_t *packet, size_t size, const lap_xmp_cleaning *cleaning, uint8_t *to, size_t *to_size);
/* Whether something in the bytes looks like a photo in base64, or like a property that holds one. */
bool lap_xmp_has_picture(const uint8_t *packet, size_t size);

#endif
