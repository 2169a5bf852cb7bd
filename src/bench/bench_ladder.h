/* The loop of all ladders' benches: finds each rung, compares its result with the reference's, and only then
 * times it; host rungs with one thread and with all threads. */
#ifndef LAP_BENCH_LADDER_H
#define LAP_BENCH_LADDER_H

#include "bench/bench.h"
#include "rungs/run_rung.h"

typedef struct lap_ladder lap_ladder;
enum { LAP_BENCH_DONE = 64 /* rungs, threads and forms of one ladder */, LAP_LADDER_TIMES = 4 };

struct lap_ladder {
    lap_bench_run *bench;
    lap_op op;
    int width, height, channels;
    const char *type;      /* element type: "u8", "f32" or "f64" */
    bool has_unchecked;    /* also time the form without bounds checks of rungs that have it */
    bool lists_families;   /* names that resolve to other rungs get rows even if they were not requested */
    bool times_apart;      /* device: time rung and copies separately, not in turns */
    size_t bytes;          /* read and written per run */
    double pixels;         /* elements computed per run */
    double flops_per_byte; /* NaN: no arithmetic */
    lap_exec form;         /* exec of the runs, except threads, stream and err */
    void *state;           /* for the ladder's functions below */

    /* Does one run on host memory, also for a device rung; `turn` is the number of the run, from 0, and
     * selects the buffers. */
    lap_code (*host)(lap_ladder *ladder, int turn, lap_error *err);
    /* Does one run and compares it with the reference: returns NULL, or a text about the difference. May set
     * first_ms, value and relative_error of row. */
    const char *(*differs)(lap_ladder *ladder, lap_bench_row *row, char message[160]);
    /* Called after the timed runs of a row to fill in more results; or NULL. */
    lap_code (*finish_host)(lap_ladder *ladder, lap_bench_row *row, lap_error *err);
    lap_code (*finish_device)(lap_ladder *ladder, lap_bench_row *row, lap_error *err);

    /* Called once before the first device rung: allocates device memory. May set the members below. */
    lap_code (*prepare_device)(lap_ladder *ladder, lap_error *err);
    /* Enqueues one run on device buffers; does not wait. */
    lap_code (*device)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* Enqueues a copy by CUDA of the number of bytes that one run reads; or NULL. */
    lap_code (*device_copy)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    size_t copy_bytes; /* bytes that device_copy reads and writes */
    /* The same with a kernel that copies one element per thread; or NULL. */
    lap_code (*device_copy_kernel)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* The same kernel through shared memory; only if device_copy_kernel is set. */
    lap_code (*device_copy_shared)(lap_ladder *ladder, int turn, void *stream, lap_error *err);

    /* the current rung; the functions above read these */
    const lap_rung *rung;
    lap_exec exec;
    lap_pool *pool;
    bool is_on_device;

    /* private to bench_ladder.c */
    int turn;
    bool is_prepared;
    lap_bench_row done[LAP_BENCH_DONE]; /* measured so far; each has a copy of its times */
    int done_count;
    double *times[LAP_LADDER_TIMES]; /* options->runs each: rung, copy, copying kernels */
};

/* Benches the ladder: reports a row for each rung that the options name. */
lap_code lap_bench_ladder(lap_ladder *ladder, lap_error *err);
/* Reports the row of memcpy, of at most that many bytes. Call it before the ladder. */
lap_code lap_bench_ladder_memcpy(lap_ladder *ladder, size_t bytes, lap_error *err);
/* Sets width, height, channels and pixels of the rows to those of a picture. */
void lap_bench_ladder_shape(lap_ladder *ladder, const lap_view *picture);
/* The resources of the current rung. */
lap_resources lap_bench_resources(const lap_ladder *ladder);
/* Formats a message for differs, and returns it. */
const char *lap_bench_refusal(char message[160], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
