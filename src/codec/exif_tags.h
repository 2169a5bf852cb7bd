/* The EXIF tags that are known to be harmless: neither a picture, nor a place, nor the maker's own form.
 * Thread safe. */
#ifndef LAP_EXIF_TAGS_H
#define LAP_EXIF_TAGS_H

#include "lapedge.h"

/* Types of TIFF 6.0, and of EXIF 3.0 (UTF-8). */
enum {
    LAP_EXIF_BYTE = 1,
    LAP_EXIF_ASCII = 2,
    LAP_EXIF_SHORT = 3,
    LAP_EXIF_LONG = 4,
    LAP_EXIF_RATIONAL = 5,
    LAP_EXIF_UNDEFINED = 7,
    LAP_EXIF_SLONG = 9,
    LAP_EXIF_SRATIONAL = 10,
    LAP_EXIF_UTF8 = 129
};

/* The directories. CHAIN: behind IFD0, so IFD1 and later ones; SUB: what tag 0x14A leads to. */
typedef enum lap_exif_group {
    LAP_EXIF_IFD0,
    LAP_EXIF_EXIF,
    LAP_EXIF_INTEROP,
    LAP_EXIF_GPS,
    LAP_EXIF_CHAIN,
    LAP_EXIF_SUB
} lap_exif_group;

typedef struct lap_exif_tag {
    lap_exif_group group;
    uint16_t tag;
    uint16_t types; /* bits 1 << type; UTF-8 counts as ASCII */
    const char *name;
} lap_exif_tag;

/* The row of a tag; NULL if it is not known to be harmless. */
const lap_exif_tag *lap_exif_tag_find(lap_exif_group group, uint32_t tag);
/* "IFD0", "Exif", "GPS", ... */
const char *lap_exif_group_name(lap_exif_group group);
/* "thumbnail" or "maker's note" for tags that hold or lead to one in any directory, or may: other pictures
 * and forms of a maker; NULL for all others. *name: what it is called. */
const char *lap_exif_tag_picture(uint32_t tag, const char **name);

#endif
