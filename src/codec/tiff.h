/* The bytes of an EXIF payload: its signature, and behind it the integers of a TIFF structure. Any bytes are
 * safe input. Thread safe. */
#ifndef LAP_TIFF_H
#define LAP_TIFF_H

#include "lapedge.h"

enum {
    LAP_EXIF_SIGNATURE = 6, /* bytes of "Exif\0\0" */
    LAP_EXIF_HEAD = 8,      /* of TIFF: byte order, 42, offset of IFD0 */
    LAP_EXIF_ENTRY = 12     /* bytes of a directory's entry */
};

typedef struct lap_tiff { /* offsets count from its first byte */
    const uint8_t *bytes;
    size_t size;
    bool is_big_endian;
} lap_tiff;

/* False unless the payload begins as EXIF and TIFF do. */
bool lap_tiff_open(lap_tiff *t, const uint8_t *payload, size_t size);
bool lap_tiff_has(const lap_tiff *t, size_t offset, size_t length);
uint32_t lap_tiff_get(const lap_tiff *t, size_t offset, int length); /* the caller has checked the bounds */
void lap_tiff_put(uint8_t *to, bool is_big_endian, int length, uint32_t value);

#endif
