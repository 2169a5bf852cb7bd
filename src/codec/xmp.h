/* Removes from XMP packets what an output must not contain. Any bytes are safe input. Sources: the XMP
 * specification, parts 1 and 3 (Adobe, 2012 and 2016), the IPTC Photo Metadata Standard. Thread safe. */
#ifndef LAP_XMP_H
#define LAP_XMP_H

#include "codec/meta_drops.h"

/* Each rule removes what the rules before it remove, too. */
typedef enum lap_xmp_rule {
    LAP_XMP_REFERENCE, /* remove the reference to a continuation that is dropped */
    LAP_XMP_PICTURES,  /* remove thumbnails, other embedded photos, and maker's notes */
    LAP_XMP_HARMLESS   /* keep only properties of known namespaces that reveal no location */
} lap_xmp_rule;

typedef struct lap_xmp_cleaning {
    lap_xmp_rule rule;
    /* Other segments continue the packet (xmpNote:HasExtendedXMP). If they are dropped, the reference is
     * dropped too. */
    bool extended;
    lap_meta_drops *drops; /* records what is removed; or NULL */
    bool *keeps_any;       /* set to whether a property stays; or NULL */
} lap_xmp_cleaning;

/* Writes the packet without what the rule excludes to `to`, which has room for size bytes. False: the packet
 * is too complex for a safe result; then nothing was recorded in drops. */
bool lap_xmp_clean(
    const uint8_t *packet, size_t size, const lap_xmp_cleaning *cleaning, uint8_t *to, size_t *to_size);
/* Whether the bytes, in any encoding of XML, seem to contain what LAP_XMP_PICTURES removes. */
bool lap_xmp_has_picture(const uint8_t *packet, size_t size);

#endif
