/* Look-up by name. The tables, one per ladder and one row per rung, are in table_*.c; what a row says is in
 * base/rung.h. Thread safe. */
#ifndef LAP_BACKEND_H
#define LAP_BACKEND_H

#include "base/rung.h"

/* The ladders, in order; the last row has no name. One file each: table_*.c. */
extern const lap_rung lap_filter_table[], lap_transpose_table[], lap_reduce_table[], lap_histogram_table[],
    lap_matvec_table[];

/* Row i of a ladder, or NULL. */
const lap_rung *lap_rung_row(lap_op op, int i);
/* By name or alias, families resolved to the rung that runs here. LAP_E_USAGE for an unknown name
 * (the message names the nearest), LAP_E_BACKEND with the reason where it cannot run. */
lap_code lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
/* Whether a comma separated list (NULL: everything) names the rung, by name or alias. */
bool lap_rung_is_listed(const lap_rung *rung, const char *list);
/* Runs a host filter rung on apron'd views, rows spread over threads as the row's threading says
 * (pool may be NULL: then LAP_THREADS_SPLIT rungs run on the calling thread). */
struct lap_pool;
lap_code lap_filter_rows(const lap_rung *rung, const lap_view *in, const lap_view *out,
    const lap_params *params, const lap_exec *exec, struct lap_pool *pool);

#endif
