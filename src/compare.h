/* What the comparisons of the ladders share. */
#ifndef LAP_COMPARE_H
#define LAP_COMPARE_H

#include "backend.h"
#include "pool.h"

typedef struct lap_comparison { /* one call of lap_compare */
    lap_pool *pool;
    int threads, device;
    lap_view *pixels; /* with its apron filled */
    const char *backends;
    const lap_params *params;
    lap_border border;
    lap_compare_fn *each;
    void *user;
} lap_comparison;

/* Runs one rung on whatever the ladder compares; state is the ladder's own. Sets row->ms and either
 * row->difference or row->relative_error. */
typedef lap_code lap_compare_run_fn(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err);

/* Walks the ladder: rows that cannot run are told with their reason, the others run and are told. A rung
 * that fails is told with its message as the reason; only LAP_E_MEMORY ends the comparison. */
lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err);
lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_transpose(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_reduce(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_histogram(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_matvec(const lap_comparison *comparison, lap_error *err);

#endif
