/* Times one rung: the loop and the statistics that compare and bench share. Thread safe. */
#ifndef LAP_TIMING_H
#define LAP_TIMING_H

#include "base/control.h"
#include "lapedge.h"

/* Does one run. A device rung sets upload, filter and download in times; a host rung sets none of them. */
typedef lap_code lap_timed_fn(void *argument, lap_times *times, lap_error *err);

typedef struct lap_timing {
    const lap_control *control; /* checked before each run */
    int runs;                   /* the most timed runs */
    bool is_cold;               /* no warm-up: the first run is timed */
    double warm_up_ms;          /* unless is_cold: untimed runs for at least this long, at least one */
    double enough_ms;           /* stop before the sum of all runs exceeds this; 0: no limit */
} lap_timing;

/* Milliseconds of each timed run; arrays of timing->runs values. The last three may be NULL; they hold NaN if
 * a run did not set that stage. */
typedef struct lap_run_times {
    double *total, *upload, *filter, *download;
    int runs; /* number of timed runs so far */
} lap_run_times;

/* Runs fn according to timing, and times at least one run. Errors: those of fn, LAP_E_CANCELLED,
 * LAP_E_TIMEOUT. */
lap_code lap_time_runs(
    const lap_timing *timing, lap_timed_fn *fn, void *argument, lap_run_times *times, lap_error *err);

typedef struct lap_summary {
    double median, mean, stddev, min, max;
} lap_summary;

/* Summarizes n >= 1 values in any order. A NaN among them makes the median NaN. stddev is the sample standard
 * deviation, 0 for n = 1. */
lap_summary lap_summarize(const double *values, int n);

#endif
