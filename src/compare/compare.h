/* What the comparisons of the ladders share. */
#ifndef LAP_COMPARE_H
#define LAP_COMPARE_H

#include "base/control.h"
#include "lapedge_program.h"
#include "rungs/run_rung.h"
#include "rungs/timing.h"

typedef struct lap_comparison { /* one call of lap_compare */
    lap_resources use;          /* err is that of the rung at hand */
    const lap_control *control;
    int mask_border, runs;  /* runs 0: as many as take little time */
    const lap_view *pixels; /* their apron is there, and may be filled */
    const char *backends;
    const lap_params *params;
    lap_border border;
    lap_compare_fn *each;
    void *user;
} lap_comparison;

/* Runs one rung on what the ladder compares and sets the results of the row; state is the ladder's own. */
typedef lap_code lap_compare_run_fn(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err);

/* Walks the ladder: rows that cannot run are reported with the reason, the others run and are reported.
 * A rung that fails is reported with its message as the reason; LAP_E_MEMORY, LAP_E_CANCELLED,
 * LAP_E_DIFFERENT (a mask that leaves nothing) and LAP_E_TIMEOUT end the comparison. */
lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err);

/* Runs once, or again as the comparison says, and sets the times of the row; once() sets what it knows of
 * upload, filter and download. */
lap_code lap_compare_repeat(const lap_comparison *comparison, lap_timed_fn *once, void *argument,
    lap_compare_row *row, lap_error *err);

/* The resources of the comparison, with an error to fill. */
lap_resources lap_compare_resources(const lap_comparison *comparison, lap_error *err);

/* One for each ladder. */
lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_transpose(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_reduce(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_histogram(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_matvec(const lap_comparison *comparison, lap_error *err);

#endif
