/* The least that a JPEG costs: libjpeg-turbo from memory to memory, whole image, one thread, nothing else.
 * The yardstick of the codec bench; no run goes this way. */
#ifndef LAP_JPEG_FLOOR_H
#define LAP_JPEG_FLOOR_H

#include "base/image.h"

typedef struct lap_jpeg_floor lap_jpeg_floor; /* libjpeg's two objects and an output buffer, reused */

lap_code lap_jpeg_floor_create(lap_jpeg_floor **floor, lap_error *err);
void lap_jpeg_floor_destroy(lap_jpeg_floor *floor); /* NULL is fine */
/* The header: width, height, channels (1 or 3). Damage of any kind is an error. */
lap_code lap_jpeg_floor_open(
    lap_jpeg_floor *floor, const void *bytes, size_t size, int shape[3], lap_error *err);
/* The pixels of what was opened last; view of its shape. */
lap_code lap_jpeg_floor_decode(lap_jpeg_floor *floor, const lap_view *view, lap_error *err);
/* With the sampling of what was decoded last, or 4:2:0; libjpeg's defaults else. The bytes live until the
 * next call. */
lap_code lap_jpeg_floor_encode(lap_jpeg_floor *floor, const lap_view *view, int quality,
    const unsigned char **bytes, size_t *size, lap_error *err);

#endif
