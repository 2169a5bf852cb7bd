/* Pictures turned on a device, by the fastest rung of the transpose ladder there. */
#ifndef LAP_DEVICE_TURN_H
#define LAP_DEVICE_TURN_H

#include "base/turn.h"

/* Device memory for the picture as it is stored, where the turned one has this size; false where it cannot be
 * counted. */
bool lap_device_stored_bytes(int width, int height, int channels, lap_turn turn, size_t *bytes);
/* The view in it. */
lap_view lap_device_stored_in(int device, void *memory, int width, int height, int channels, lap_turn turn);
/* Enqueues the turn of `stored`, 1 or 3 channels. Up to 3 bytes behind each row of `turned` may be written:
 * before its apron is filled. */
lap_code lap_device_turn(
    const lap_view *stored, const lap_view *turned, lap_turn turn, void *stream, lap_error *err);

#endif
