/* Shared by the comparisons of all ladders. */
#ifndef LAP_COMPARE_H
#define LAP_COMPARE_H

#include "base/control.h"
#include "lapedge_program.h"
#include "rungs/run_rung.h"
#include "rungs/timing.h"

typedef struct lap_comparison { /* one call of lap_compare */
    lap_resources use;          /* exec.err: set for each rung */
    const lap_control *control;
    int mask_border, runs;  /* runs 0: a few runs, within a short time */
    const lap_view *pixels; /* have an apron, which the comparison may fill */
    const char *backends;
    const lap_params *params;
    lap_border border;
    lap_compare_fn *each;
    void *user;
} lap_comparison;

/* Runs one rung on the ladder's data and sets the results of the row; state belongs to the ladder. */
typedef lap_code lap_compare_run_fn(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err);

/* Goes through the ladder: runs each row and reports it, or reports why it cannot run. A rung that fails is
 * reported with its message as the reason; but LAP_E_MEMORY, LAP_E_CANCELLED, LAP_E_DIFFERENT (the mask
 * leaves no pixels) and LAP_E_TIMEOUT end the comparison. */
lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err);

/* Calls once() for each run of the comparison, and sets the times of the row. once() is a lap_timed_fn
 * (rungs/timing.h). */
lap_code lap_compare_repeat(const lap_comparison *comparison, lap_timed_fn *once, void *argument,
    lap_compare_row *row, lap_error *err);

/* The comparison's resources, with err for the message of a failure. */
lap_resources lap_compare_resources(const lap_comparison *comparison, lap_error *err);

lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_transpose(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_reduce(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_histogram(const lap_comparison *comparison, lap_error *err);
lap_code lap_compare_matvec(const lap_comparison *comparison, lap_error *err);

#endif
