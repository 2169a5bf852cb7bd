/* Turns images, for an EXIF orientation or a transform. Host views. */
#ifndef LAP_ORIENT_H
#define LAP_ORIENT_H

#include "base/pool.h"
#include "base/turn.h"

/* out = in, turned. The views must not overlap, and have the same 1, 3 or 4 channels; out has the turned
 * size. Only interiors. The pool's threads help; NULL: the calling thread alone. LAP_E_MEMORY. */
lap_code lap_orient(const lap_view *in, const lap_view *out, lap_turn turn, lap_pool *pool, lap_error *err);
/* The part of the turned image `out` that rows y0..y1-1 of an image of `height` rows fill. */
lap_view lap_orient_rows(const lap_view *out, lap_turn turn, int height, int y0, int y1);
/* Mirrors each row in place (LAP_TURN_H of a band). */
void lap_orient_mirror(const lap_view *view);

#endif
