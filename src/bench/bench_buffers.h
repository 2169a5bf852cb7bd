/* Buffers that a bench rotates through, on the host and on a device, so that no run finds its data in a
 * cache. */
#ifndef LAP_BENCH_BUFFERS_H
#define LAP_BENCH_BUFFERS_H

#include "base/image.h"
#include "bench/bench.h"

enum { LAP_BENCH_PAIRS = 64 }; /* at most */
/* The number of buffer pairs of this many bytes that a timed loop rotates through, so that no run finds its
 * data in a cache. 1 if options->warm asks for cached data. */
size_t lap_bench_pairs(const lap_bench_run *bench, size_t bytes);

typedef struct lap_bench_buffers {
    lap_image in[LAP_BENCH_PAIRS], out[LAP_BENCH_PAIRS];
    int pairs;
    lap_view device_in[LAP_BENCH_PAIRS], device_out[LAP_BENCH_PAIRS];
    int device_pairs;
} lap_bench_buffers;

/* Call it with in[0] filled. Copies it to the other inputs, and allocates results of width x height (0:
 * none). */
lap_code lap_bench_buffers_create(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int width, int height, lap_error *err);
/* The same on the bench's device, with as many buffers as are needed if a run uses set_bytes bytes. Uploads
 * the inputs, which get an apron. */
lap_code lap_bench_buffers_on_device(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int apron, size_t set_bytes, lap_error *err);
void lap_bench_buffers_destroy(lap_bench_buffers *buffers); /* all zero is fine */

/* Bytes of a picture's samples. */
size_t lap_bench_bytes(const lap_view *view);
/* Overwrites a result, so that a rung that writes nothing cannot pass with the result of an earlier run. */
void lap_bench_poison(const lap_view *view);

#endif
