/* The pictures that a bench rotates through, so that no run finds its data in a cache, on the host and on a
 * device. */
#ifndef LAP_BENCH_BUFFERS_H
#define LAP_BENCH_BUFFERS_H

#include "base/image.h"
#include "bench/bench.h"

enum { LAP_BENCH_PAIRS = 64 }; /* at most */
/* How many pairs of buffers of this many bytes a timed loop rotates through, so that no run finds its
 * data in a cache; 1 where options->warm asks for the contrary. */
size_t lap_bench_pairs(const lap_bench_run *bench, size_t bytes);

typedef struct lap_bench_buffers {
    lap_image in[LAP_BENCH_PAIRS], out[LAP_BENCH_PAIRS];
    int pairs;
    lap_view device_in[LAP_BENCH_PAIRS], device_out[LAP_BENCH_PAIRS];
    int device_pairs;
} lap_bench_buffers;

/* in[0] is there: makes the other inputs, copies of it, and results of width x height (0: none). */
lap_code lap_bench_buffers_create(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int width, int height, lap_error *err);
/* The same on the device of the bench, as many as a run of set_bytes needs; the inputs, which get an apron,
 * are uploaded. */
lap_code lap_bench_buffers_on_device(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int apron, size_t set_bytes, lap_error *err);
void lap_bench_buffers_destroy(lap_bench_buffers *buffers); /* a zeroed one is fine */

/* Bytes of a picture's samples. */
size_t lap_bench_bytes(const lap_view *view);
/* Fills a result, so that a rung that writes nothing does not inherit a right one. */
void lap_bench_poison(const lap_view *view);

#endif
