/* A small bounds-checked EXIF reader and in-place patcher: orientation, pixel dimensions, thumbnail, maker's
 * note. Never re-serialises: whatever stays keeps its offset. Any bytes are safe input. Source:
 * EXIF 2.32, TIFF 6.0. Payload = APP1 data, beginning "Exif\0\0". Thread safe. */
#ifndef LAP_EXIF_H
#define LAP_EXIF_H

#include "lapedge.h"

bool lap_exif_is(const uint8_t *payload, size_t size);
/* It also begins as TIFF does: libpng complains about other ones. */
bool lap_exif_is_tiff(const uint8_t *payload, size_t size);
/* 1..8; 1 where the tag is missing or invalid. */
int lap_exif_orientation(const uint8_t *payload, size_t size);
/* Sets the orientation tag to 1 if turned; sets PixelXDimension / PixelYDimension (and the IFD0
 * ImageWidth / ImageLength where present); zeroes IFD0's link to the thumbnail IFD, and takes
 * the maker's note out of the EXIF IFD: both may show the unfiltered photo. Returns the new payload size:
 * their bytes are cut off where they are the payload's tail, else zeroed. keep: LAP_KEEP_GPS, without which
 * the place is taken out, and LAP_KEEP_THUMBNAIL. */
size_t lap_exif_patch(uint8_t *payload, size_t size, int width, int height, bool turned, unsigned keep);

#endif
