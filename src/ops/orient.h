/* Turning images: what an EXIF orientation or a transform does to the pixels. Host views. */
#ifndef LAP_ORIENT_H
#define LAP_ORIENT_H

#include "base/pool.h"
#include "base/turn.h"

/* out = in, turned: views that do not overlap, of the same 1, 3 or 4 channels; out has the turned
 * size. Interiors only. The pool's threads help; NULL: the calling thread alone. LAP_E_MEMORY. */
lap_code lap_orient(const lap_view *in, const lap_view *out, lap_turn turn, lap_pool *pool, lap_error *err);
/* Where rows y0..y1-1 of an image of `height` rows go in the turned image `out`. */
lap_view lap_orient_rows(const lap_view *out, lap_turn turn, int height, int y0, int y1);
/* Each row mirrored in place (LAP_TURN_H of a band). */
void lap_orient_mirror(const lap_view *view);

#endif
