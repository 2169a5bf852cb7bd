/* The ladder `encode`, timed: the bytes of photos' pixels in memory, compared with libjpeg-turbo's first: a
 * rung is refused if one byte differs. */
#ifndef LAP_BENCH_ENCODE_H
#define LAP_BENCH_ENCODE_H

#include "bench/bench_coders.h"
#include "codec/codec.h"

typedef struct lap_encode_bench { /* zeroed is empty */
    lap_coders_bench coders;
    lap_chunk file, reference; /* of one photo, by a rung and by libjpeg-turbo */
} lap_encode_bench;

/* All rungs on one photo's pixels in round number `run`, added to the times. */
lap_code lap_encode_bench_photo(
    lap_encode_bench *b, const lap_view *pixels, int quality, int run, lap_error *err);
void lap_encode_bench_end(lap_encode_bench *b);

#endif
