#include "rungs/timing.h"

#include <math.h>

#include "base/status.h"

static void keep(lap_run_times *times, double total, const lap_times *stages)
{
    const int i = times->runs++;
    times->total[i] = total;
    if (times->upload)
        times->upload[i] = stages->upload;
    if (times->filter)
        times->filter[i] = stages->filter;
    if (times->download)
        times->download[i] = stages->download;
}

lap_code lap_time_runs(
    const lap_timing *timing, lap_timed_fn *fn, void *argument, lap_run_times *times, lap_error *err)
{
    const double began = lap_now_ms();
    bool is_warm = timing->is_cold;
    double spent = 0;
    times->runs = 0;
    while (times->runs < timing->runs) {
        lap_times stages = {.upload = NAN, .filter = NAN, .download = NAN};
        lap_code code = lap_control_check(timing->control, err);
        const double start = lap_now_ms();
        if (code == LAP_OK)
            code = fn(argument, &stages, err);
        if (code != LAP_OK)
            return code;
        const double now = lap_now_ms(), took = now - start;
        const bool on_device = !isnan(stages.filter);
        /* A device's warm-up run includes its start, so it never counts. A host's warm-up run counts if it is
         * slow. */
        if (is_warm || !on_device)
            spent += took;
        if (is_warm || (!on_device && timing->enough_ms > 0 && 2 * took > timing->enough_ms))
            keep(times, took, &stages);
        is_warm = is_warm || now - began >= timing->warm_up_ms;
        if (timing->enough_ms > 0 && times->runs > 0 && spent + took > timing->enough_ms)
            break;
    }
    return LAP_OK;
}

/* The value at this rank (from 0) in sorted order, found without sorting or memory. */
static double of_rank(const double *values, int n, int rank)
{
    for (int i = 0; i < n; i++) {
        int below = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            below += values[j] < values[i];
            equal += values[j] == values[i];
        }
        if (below <= rank && rank < below + equal)
            return values[i];
    }
    return NAN;
}

lap_summary lap_summarize(const double *values, int n)
{
    double sum = 0, squares = 0;
    lap_summary s = {.min = values[0], .max = values[0]};
    for (int i = 0; i < n; i++) {
        sum += values[i];
        s.min = fmin(s.min, values[i]);
        s.max = fmax(s.max, values[i]);
    }
    s.mean = sum / n;
    for (int i = 0; i < n; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.stddev = n > 1 ? sqrt(squares / (n - 1)) : 0;
    s.median = isnan(sum) ? NAN : (of_rank(values, n, (n - 1) / 2) + of_rank(values, n, n / 2)) / 2;
    return s;
}
