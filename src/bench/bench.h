/* Shared by the benches of all ladders: timing, statistics, ceilings. */
#ifndef LAP_BENCH_H
#define LAP_BENCH_H

#include "base/control.h"
#include "base/pool.h"
#include "lapedge_program.h"
#include "rungs/backend.h"
#include "rungs/timing.h"

typedef struct lap_bench_run { /* one call of lap_bench */
    const lap_bench_options *options;
    lap_pool *pool;
    int threads;
    lap_bench_fn *each;
    void *user;
    lap_control control;        /* checked before each run of a backend */
    double ceiling_gb_per_s[2]; /* rates of host (memcpy, one thread) and device (copy); 0: not measured */
    double c_ms;                /* median time of c on one thread; 0: not run */
} lap_bench_run;

typedef struct lap_bench_work { /* the work to time */
    lap_timed_fn *fn;
    void *argument;
    size_t bytes;  /* moved per run */
    double pixels; /* computed per run */
    double *times; /* room for options->runs values */
} lap_bench_work;
/* Warms up, runs the work options->runs times with a monotonic clock, and fills row's times and the figures
 * derived from them. */
lap_code lap_bench_time(lap_bench_run *bench, const lap_bench_work *work, lap_bench_row *row, lap_error *err);
/* Fills the derived figures of row from times that were measured elsewhere (CUDA events). */
void lap_bench_fill_row(lap_bench_run *bench, int place, size_t bytes, double pixels, lap_bench_row *row);

/* Returns a row with the names, flags and op of its rung, one thread, and NaN for everything that is
 * measured. */
lap_bench_row lap_bench_row_of(const lap_rung *rung);
/* Processor time of this thread: waiting for other programs does not count. */
double lap_bench_cpu_ms(void);

/* Times memcpy of this many bytes on one thread, sets the host's ceiling and reports the row. The caller sets
 * op, width, height and channels of row. */
lap_code lap_bench_memcpy(
    lap_bench_run *bench, lap_bench_row *row, size_t bytes, double pixels, lap_error *err);

/* Times float32 multiply-adds, on one thread and on all, and reports the rows. The caller sets the same
 * members of row. */
lap_code lap_bench_peak(lap_bench_run *bench, const lap_bench_row *row, lap_error *err);

lap_code lap_bench_filter(lap_bench_run *bench, lap_error *err);
lap_code lap_bench_transpose(lap_bench_run *bench, lap_error *err);
lap_code lap_bench_reduce(lap_bench_run *bench, lap_error *err);
lap_code lap_bench_histogram(lap_bench_run *bench, lap_error *err);
lap_code lap_bench_matvec(lap_bench_run *bench, lap_error *err);
lap_code lap_bench_codec(lap_bench_run *bench, lap_context *context, lap_error *err);

#endif
