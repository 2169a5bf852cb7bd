/* Operations on pixels that only runs and streams use; the others are public (lapedge.h, lapedge_program.h).
 * Thread safe. */
#ifndef LAP_OPS_H
#define LAP_OPS_H

#include "base/pool.h"
#include "base/turn.h"
#include "rungs/run_views.h"

/* ---- turns, for an EXIF orientation or a transform; host views (orient.c) ----------------------- */

/* Writes `in`, rotated or mirrored, to `out`. The views must not overlap, and have the same 1, 3 or 4
 * channels; out has the size that results. Only interiors are read and written. The pool's threads help;
 * NULL: the calling thread works alone. LAP_E_MEMORY. */
lap_code lap_orient(const lap_view *in, const lap_view *out, lap_turn turn, lap_pool *pool, lap_error *err);
/* Returns the part of out, the rotated or mirrored image, to which rows y0..y1-1 of an input of `height` rows
 * are written. */
lap_view lap_orient_rows(const lap_view *out, lap_turn turn, int height, int y0, int y1);
/* Mirrors each row in place (LAP_TURN_H of a band). */
void lap_orient_mirror(const lap_view *view);

/* ---- pixels on a device (filter.c, stats.c) ------------------------------------------------------ */

/* Checks the arguments of a filter: LAP_E_USAGE or LAP_E_LIMIT, as lap_filter. Does not check that the memory
 * is where the view says. */
lap_code lap_filter_check(
    const lap_view *in, const lap_view *out, const lap_params *params, lap_border border, lap_error *err);
/* Counts the values of a view on a device, 1 to 4 channels, with a rung that runs there (NULL: the fastest).
 * Adds to counts. Waits for the stream. */
lap_code lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space, void *stream,
    uint64_t counts[4][256], lap_error *err);

#endif
