/* The loop that the benches of all ladders share: each rung is found, its result compared with that of the
 * reference, and only then timed; host rungs with one thread and with all of them. */
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
    const char *type;      /* of the elements: "u8", "f32" or "f64" */
    bool has_unchecked;    /* rungs that have such a form are timed without bounds checks too */
    bool lists_families;   /* names that resolve to others have rows even if nobody named them */
    bool times_apart;      /* device: rung and copies each by itself instead of by turns */
    size_t bytes;          /* read and written by one run */
    double pixels;         /* elements done by one run */
    double flops_per_byte; /* NaN: no arithmetic */
    lap_exec form;         /* what the runs are given besides threads, stream and error */
    void *state;           /* of the ladder's own functions below */

    /* One run on host memory, by a device rung too; turn counts from 0, so that buffers can rotate by it. */
    lap_code (*host)(lap_ladder *ladder, int turn, lap_error *err);
    /* Compares one run with the reference: NULL, or what differs; may note first_ms, value and
     * relative_error in row. */
    const char *(*differs)(lap_ladder *ladder, lap_bench_row *row, char message[160]);
    /* After the timed runs of a row, or NULL: what else it reports. */
    lap_code (*finish_host)(lap_ladder *ladder, lap_bench_row *row, lap_error *err);
    lap_code (*finish_device)(lap_ladder *ladder, lap_bench_row *row, lap_error *err);

    /* Once, before the first device rung is timed: memory there. May set what follows. */
    lap_code (*prepare_device)(lap_ladder *ladder, lap_error *err);
    /* One run on device buffers, enqueued on stream and not waited for. */
    lap_code (*device)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* The device's own copy of as many bytes as one run reads, or NULL. */
    lap_code (*device_copy)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    size_t copy_bytes; /* read and written by it */
    /* The same by a kernel of one element per thread, or NULL. */
    lap_code (*device_copy_kernel)(lap_ladder *ladder, int turn, void *stream, lap_error *err);
    /* That one through shared memory, where the other is. */
    lap_code (*device_copy_shared)(lap_ladder *ladder, int turn, void *stream, lap_error *err);

    /* the rung at hand, as the functions above find it */
    const lap_rung *rung;
    lap_exec exec;
    lap_pool *pool;
    bool is_on_device;

    /* of bench_ladder.c */
    int turn;
    bool is_prepared;
    lap_bench_row done[LAP_BENCH_DONE]; /* what was measured so far; each has times of its own */
    int done_count;
    double *times[LAP_LADDER_TIMES]; /* options->runs each: of the rung, the copy, the copying kernels */
};

/* Reports a row for every rung that is wanted. */
lap_code lap_bench_ladder(lap_ladder *ladder, lap_error *err);
/* The row of memcpy, before the ladder: of at most that number of bytes. */
lap_code lap_bench_ladder_memcpy(lap_ladder *ladder, size_t bytes, lap_error *err);
/* Width, height, channels and pixels of the rows, as those of a picture. */
void lap_bench_ladder_shape(lap_ladder *ladder, const lap_view *picture);
/* What the rung at hand may use. */
lap_resources lap_bench_resources(const lap_ladder *ladder);
/* Fills a message for differs, returns it. */
const char *lap_bench_refusal(char message[160], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
