/* Reads an EXIF payload: its signature, and the integers of the TIFF structure after it. Any bytes are safe
 * input. Thread safe. */
#ifndef LAP_TIFF_H
#define LAP_TIFF_H

#include "lapedge.h"

enum {
    LAP_EXIF_SIGNATURE = 6, /* length of "Exif\0\0" */
    LAP_EXIF_HEAD = 8,      /* TIFF header: byte order, 42, offset of IFD0 */
    LAP_EXIF_ENTRY = 12     /* length of a directory entry */
};

typedef struct lap_tiff { /* offsets count from the first byte of this */
    const uint8_t *bytes;
    size_t size;
    bool is_big_endian;
} lap_tiff;

/* Returns false unless the payload begins with an EXIF signature and a TIFF header. */
bool lap_tiff_open(lap_tiff *t, const uint8_t *payload, size_t size);
bool lap_tiff_has(const lap_tiff *t, size_t offset, size_t length);
uint32_t lap_tiff_get(const lap_tiff *t, size_t offset, int length); /* the caller has checked the bounds */
void lap_tiff_put(uint8_t *to, bool is_big_endian, int length, uint32_t value);

#endif
