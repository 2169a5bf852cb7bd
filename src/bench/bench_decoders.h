/* The ladder `decode`, timed: the pixels of photos in memory, on one thread, compared with libjpeg-turbo's
 * first. */
#ifndef LAP_BENCH_DECODERS_H
#define LAP_BENCH_DECODERS_H

#include "base/image.h"
#include "bench/bench.h"

enum { LAP_DECODE_ROWS = 8 };

typedef struct lap_decoders_bench { /* zeroed is empty */
    lap_bench_run *bench;
    double *times[LAP_DECODE_ROWS];
    bool differs[LAP_DECODE_ROWS];
    char reason[LAP_DECODE_ROWS][200]; /* empty: timed */
    lap_image reference, pixels;       /* of the last photo */
    double pixel_count;
    size_t bytes;
} lap_decoders_bench;

lap_code lap_decoders_bench_begin(lap_decoders_bench *b, lap_bench_run *bench, lap_error *err);
/* Adds the processor time of each rung to its `run`-th. */
lap_code lap_decoders_bench_photo(
    lap_decoders_bench *b, const void *bytes, size_t size, int run, lap_error *err);
/* Rows for bench->each; width, height and channels are those of shape. */
void lap_decoders_bench_report(lap_decoders_bench *b, const lap_bench_row *shape);
void lap_decoders_bench_end(lap_decoders_bench *b);

#endif
