/* Timing of one rung: the loop and the figures that compare and bench share. Thread safe. */
#ifndef LAP_TIMING_H
#define LAP_TIMING_H

#include "base/control.h"
#include "lapedge.h"

/* One run. It sets what it knows of times->upload, filter and download; a host rung leaves them alone. */
typedef lap_code lap_timed_fn(void *argument, lap_times *times, lap_error *err);

typedef struct lap_timing {
    const lap_control *control; /* checked before each run */
    int runs;                   /* timed runs, at most */
    bool is_cold;               /* no warm-up: the first run is timed */
    double warm_up_ms;          /* else untimed runs for at least this long, and at least one */
    double enough_ms;           /* stop before the runs take longer than this altogether; 0: never */
} lap_timing;

/* Milliseconds of each timed run, timing->runs values each. The last three may be NULL; they hold NaN for a
 * run that did not set its stage. */
typedef struct lap_run_times {
    double *total, *upload, *filter, *download;
    int runs; /* timed so far */
} lap_run_times;

/* Runs fn as timing says; at least one run is timed. Errors: those of fn, LAP_E_CANCELLED, LAP_E_TIMEOUT. */
lap_code lap_time_runs(
    const lap_timing *timing, lap_timed_fn *fn, void *argument, lap_run_times *times, lap_error *err);

typedef struct lap_summary {
    double median, mean, stddev, min, max;
} lap_summary;

/* Of n >= 1 values in any order. A NaN among them makes the median NaN. stddev is that of a sample, 0 for n
 * = 1. */
lap_summary lap_summarize(const double *values, int n);

#endif
