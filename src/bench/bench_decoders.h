/* The ladder `decode`, timed: the pixels of photos in memory, on one thread, compared with libjpeg-turbo's
 * first. */
#ifndef LAP_BENCH_DECODERS_H
#define LAP_BENCH_DECODERS_H

#include "base/image.h"
#include "bench/bench_coders.h"

typedef struct lap_decoders_bench { /* zeroed is empty */
    lap_coders_bench coders;
    lap_image reference, pixels; /* of the last photo */
} lap_decoders_bench;

/* Adds the processor time of each rung to its `run`-th. */
lap_code lap_decoders_bench_photo(
    lap_decoders_bench *b, const void *bytes, size_t size, int run, lap_error *err);
void lap_decoders_bench_end(lap_decoders_bench *b);

#endif
