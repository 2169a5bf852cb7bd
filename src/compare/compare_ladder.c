/* Shared by the comparisons of all ladders: walks the rungs, and times each. */
#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "compare/compare.h"

static bool ends_everything(lap_code code)
{
    return code == LAP_E_MEMORY || code == LAP_E_CANCELLED || code == LAP_E_TIMEOUT ||
           code == LAP_E_DIFFERENT;
}

lap_resources lap_compare_resources(const lap_comparison *comparison, lap_error *err)
{
    lap_resources use = comparison->use;
    use.exec.err = err;
    return use;
}

typedef struct walk {
    const lap_comparison *comparison;
    lap_compare_run_fn *run;
    void *state;
} walk;

static lap_code compare_rung(void *user, const lap_rung *row, const lap_rung *rung, const char *reason,
    const lap_error *unavailable, lap_error *err)
{
    const walk *w = user;
    lap_error why = *unavailable;
    lap_code code = why.code;
    lap_compare_row result = {.op = row->op,
        .backend = row->name,
        .resolved = rung ? rung->name : NULL,
        .cause = reason,
        .relative_error = NAN,
        .ms = NAN,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .min_ms = NAN,
        .max_ms = NAN,
        .stddev_ms = NAN};
    if (rung)
        code = w->run(w->state, rung, &result, &why);
    if (ends_everything(code))
        return lap_error_set(err, &why);
    if (code != LAP_OK)
        result.reason = why.message;
    w->comparison->each(w->comparison->user, &result);
    return LAP_OK;
}

lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err)
{
    walk w = {comparison, run, state};
    return lap_rung_walk(op, comparison->backends, comparison->control, compare_rung, &w, err);
}

/* ---- times -------------------------------------------------------------------------------------- */

enum { FEW_RUNS = 5 };
static const double enough_ms = 250; /* time limit for each rung if the caller sets no number of runs */

static void set_times(lap_compare_row *row, const lap_run_times *times)
{
    const lap_summary total = lap_summarize(times->total, times->runs);
    row->runs = times->runs;
    row->ms = total.median;
    row->min_ms = total.min;
    row->max_ms = total.max;
    row->stddev_ms = total.stddev;
    row->upload_ms = lap_summarize(times->upload, times->runs).median;
    row->kernel_ms = lap_summarize(times->filter, times->runs).median;
    row->download_ms = lap_summarize(times->download, times->runs).median;
}

lap_code lap_compare_repeat(const lap_comparison *comparison, lap_timed_fn *once, void *argument,
    lap_compare_row *row, lap_error *err)
{
    const int most = comparison->runs > 0 ? comparison->runs : FEW_RUNS;
    /* If there are several runs, the first is a warm-up: caches are cold, and the device is not started. */
    const lap_timing timing = {.control = comparison->control,
        .runs = most,
        .is_cold = most == 1,
        .enough_ms = comparison->runs > 0 ? 0 : enough_ms};
    double *memory = malloc(4 * (size_t)most * sizeof *memory);
    if (!memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d timings", most);
    lap_run_times times = {memory, memory + most, memory + 2 * most, memory + 3 * most, 0};
    const lap_code code = lap_time_runs(&timing, once, argument, &times, err);
    if (code == LAP_OK)
        set_times(row, &times);
    free(memory);
    return code;
}
