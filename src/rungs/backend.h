/* Finds rungs by name. table_*.c holds one table per ladder, with one row per rung; base/rung.h says what a
 * row contains. Thread safe. */
#ifndef LAP_BACKEND_H
#define LAP_BACKEND_H

#include "base/control.h"
#include "base/rung.h"

/* The ladders, in order; the last row has no name. One file each: table_*.c. */
extern const lap_rung lap_filter_table[], lap_transpose_table[], lap_reduce_table[], lap_histogram_table[],
    lap_matvec_table[];

/* Row i of a ladder, or NULL. */
const lap_rung *lap_rung_row(lap_op op, int i);
/* Finds a rung by name or alias, and resolves a family to the rung that runs here. LAP_E_USAGE for an unknown
 * name (the message names the nearest), LAP_E_BACKEND with the reason if it cannot run. */
lap_code lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
/* The same for pixels in the memory of a CUDA device. "auto" and NULL: the fastest rung there; LAP_E_USAGE
 * for a CPU rung. */
lap_code lap_rung_find_on_device(
    lap_op op, const char *name, int device, const lap_rung **rung, lap_error *err);
/* Visits one row of a ladder. rung: the rung that runs here for the row; NULL: none can run. Then `why` holds
 * the error of lap_rung_find, and `reason` holds only the cause (NULL: not known). */
typedef lap_code lap_rung_visit_fn(void *user, const lap_rung *row, const lap_rung *rung, const char *reason,
    const lap_error *why, lap_error *err);
/* Visits those rows of a ladder that a comma separated list names (NULL: all), in order, until a visit fails.
 * Checks the control before each row. */
lap_code lap_rung_walk(lap_op op, const char *list, const lap_control *control, lap_rung_visit_fn *visit,
    void *user, lap_error *err);
/* Whether a comma separated list (NULL: everything) names the rung, by name or alias. */
bool lap_rung_is_listed(const lap_rung *rung, const char *list);
/* The reference of a ladder: its first row. All other rungs are compared with it. */
const lap_rung *lap_rung_reference(lap_op op);
/* The name of a ladder's fastest backend on a device: its last row there. */
const char *lap_rung_fastest_on_device(lap_op op);
/* Whether the rung can filter a picture band by band, while the picture is decoded; a device filters only
 * whole pictures. */
bool lap_rung_takes_bands(const lap_rung *rung);
/* The backend of ladder op to use for pixels that this rung has worked on: the fastest on a device if they
 * were on one, else "auto". */
const char *lap_rung_companion(lap_op op, const lap_rung *rung);
/* Whether a backend that stands for several rungs resolved to a rung of a different family than its first
 * choice. */
bool lap_rung_fell_back(lap_op op, const char *backend, const lap_rung *rung);

#endif
