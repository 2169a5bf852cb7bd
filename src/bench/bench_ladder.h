/* The loop that the benches of transpose, reduction, histogram and matrix-vector share: each rung is
 * found, held against c, and only then timed; host rungs with one thread and with all of them. */
#ifndef LAP_BENCH_LADDER_H
#define LAP_BENCH_LADDER_H

#include "bench/bench.h"
#include "rungs/run_rung.h"

typedef struct lap_ladder lap_ladder;

struct lap_ladder {
    lap_bench_run *bench;
    lap_op op;
    int width, height, channels;
    const char *type;      /* of the elements: "u8", "f32" or "f64" */
    bool has_unchecked;    /* device rungs but cuda-fast are timed without bounds checks too */
    size_t bytes;          /* read and written by one run */
    double pixels;         /* elements done by one run */
    double flops_per_byte; /* NaN: no arithmetic */
    void *state;           /* of the ladder's own functions below */

    /* One run on host memory, by a device rung too; turn counts from 0, so that buffers can rotate by it. */
    lap_code (*host)(lap_ladder *ladder, int turn, lap_error *err);
    /* One run on device buffers, enqueued on stream and not waited for; LAP_E_BACKEND: no such form. */
    lap_code (*device)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* The device's own copy of as many bytes as one run reads, or NULL. */
    lap_code (*device_copy)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    size_t copy_bytes; /* read and written by it */
    /* The same by a kernel of one element a thread, or NULL. */
    lap_code (*device_copy_kernel)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* Runs the rung (on the device if it is one's) and tells what differs from c, or NULL; may note
     * value and relative_error in row. */
    const char *(*differs)(lap_ladder *ladder, lap_bench_row *row, char message[160]);

    /* the rung at hand, as the functions above find it */
    const lap_rung *rung;
    lap_exec exec;
    lap_pool *pool;

    int turn;
    double *times[3]; /* options->runs values each: of the rung, the copy, the copying kernel */
};

/* What the rung at hand may use. */
lap_resources lap_bench_resources(const lap_ladder *ladder);
/* Hands out a row for every rung that is wanted; rows that only resolve to others where they are
 * named. */
lap_code lap_bench_ladder(lap_ladder *ladder, lap_error *err);
/* The row of memcpy, before the ladder: of at most so many bytes. */
lap_code lap_bench_ladder_memcpy(lap_ladder *ladder, size_t bytes, lap_error *err);
/* Whether rungs on a device are wanted and can run, so that buffers there are worth making. */
bool lap_bench_ladder_on_device(const lap_ladder *ladder);
/* Fills a message for differs, returns it. */
const char *lap_bench_refusal(char message[160], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
