/* The minimal cost of a JPEG: libjpeg-turbo alone codes a whole image from memory to memory in one thread.
 * Only the codec bench uses it, as its yardstick. */
#ifndef LAP_JPEG_FLOOR_H
#define LAP_JPEG_FLOOR_H

#include "base/image.h"

typedef struct lap_jpeg_floor lap_jpeg_floor; /* libjpeg's two objects and an output buffer, reused */

lap_code lap_jpeg_floor_create(lap_jpeg_floor **floor, lap_error *err);
void lap_jpeg_floor_destroy(lap_jpeg_floor *floor); /* NULL is allowed */
/* Reads the header; shape receives width, height and channels (1 or 3). Damage of any kind is an error. */
lap_code lap_jpeg_floor_open(
    lap_jpeg_floor *floor, const void *bytes, size_t size, int shape[3], lap_error *err);
/* Decodes the image that was opened last into view, which must have its shape. */
lap_code lap_jpeg_floor_decode(lap_jpeg_floor *floor, const lap_view *view, lap_error *err);
/* Encodes view with the sampling of the image that was opened last, or 4:2:0 if no image was opened, and with
 * libjpeg's defaults for everything else. The bytes are valid until the next call. */
lap_code lap_jpeg_floor_encode(lap_jpeg_floor *floor, const lap_view *view, int quality,
    const unsigned char **bytes, size_t *size, lap_error *err);

#endif
