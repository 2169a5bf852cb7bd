/* Look-up by name. The tables, one per ladder and one row per rung, are in table_*.c; what a row says is in
 * base/rung.h. Thread safe. */
#ifndef LAP_BACKEND_H
#define LAP_BACKEND_H

#include "base/control.h"
#include "base/rung.h"

/* The ladders, in order; the last row has no name. One file each: table_*.c. */
extern const lap_rung lap_filter_table[], lap_transpose_table[], lap_reduce_table[], lap_histogram_table[],
    lap_matvec_table[];

/* Row i of a ladder, or NULL. */
const lap_rung *lap_rung_row(lap_op op, int i);
/* By name or alias, families resolved to the rung that runs here. LAP_E_USAGE for an unknown name
 * (the message names the nearest), LAP_E_BACKEND with the reason where it cannot run. */
lap_code lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
/* The same for pixels that lie on a CUDA device. "auto" and NULL: the fastest there; LAP_E_USAGE for a rung
 * of the CPU. */
lap_code lap_rung_find_on_device(
    lap_op op, const char *name, int device, const lap_rung **rung, lap_error *err);
/* One row of a ladder that is walked. rung does the work of the row here; NULL: nothing can, why has the
 * error of lap_rung_find and reason its cause alone (NULL: not known). */
typedef lap_code lap_rung_visit_fn(void *user, const lap_rung *row, const lap_rung *rung, const char *reason,
    const lap_error *why, lap_error *err);
/* Visits the rows of a ladder that a comma separated list names (NULL: all), in order, until a visit fails.
 * The control is checked before each. */
lap_code lap_rung_walk(lap_op op, const char *list, const lap_control *control, lap_rung_visit_fn *visit,
    void *user, lap_error *err);
/* Whether a comma separated list (NULL: everything) names the rung, by name or alias. */
bool lap_rung_is_listed(const lap_rung *rung, const char *list);
/* The rung that all others of a ladder are compared with: the first row. */
const lap_rung *lap_rung_reference(lap_op op);
/* The name of a ladder's fastest backend on a device: its last row there. */
const char *lap_rung_fastest_on_device(lap_op op);
/* Whether a picture may be given to the rung in bands, as it is decoded; a device takes it whole. */
bool lap_rung_takes_bands(const lap_rung *rung);
/* A backend of another ladder for pixels that this rung has worked on: a device's fastest (its last row)
 * where they have been on a device, else "auto". */
const char *lap_rung_companion(lap_op op, const lap_rung *rung);
/* Whether a backend that stands for several was resolved to a rung of another family than its first choice.
 */
bool lap_rung_fell_back(lap_op op, const char *backend, const lap_rung *rung);

#endif
