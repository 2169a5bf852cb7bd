/* The EXIF tags known to be harmless: they hold no picture, no location and no maker's format. Thread
 * safe. */
#ifndef LAP_EXIF_TAGS_H
#define LAP_EXIF_TAGS_H

#include "lapedge.h"

/* Types of TIFF 6.0, and EXIF 3.0's UTF-8. */
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

/* The directories. CHAIN: those after IFD0, so IFD1 and later; SUB: those that tag 0x14A points to. */
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

/* Returns a tag's row; NULL if the tag is not known to be harmless. */
const lap_exif_tag *lap_exif_tag_find(lap_exif_group group, uint32_t tag);
/* "IFD0", "Exif", "GPS", ... */
const char *lap_exif_group_name(lap_exif_group group);
/* Returns "thumbnail" for a tag that may hold or point to any picture, and "maker's note" for one with data
 * in the maker's own format, whatever its directory; NULL for all other tags. *name: the tag's name. */
const char *lap_exif_tag_picture(uint32_t tag, const char **name);

#endif
