/* The rows of the codec bench for the ladder of encoders: each is compared with libjpeg-turbo before it is
 * timed, and refused if one byte differs. */
#ifndef LAP_BENCH_ENCODE_H
#define LAP_BENCH_ENCODE_H

#include "bench/bench.h"
#include "codec/codec.h"

enum { LAP_ENCODE_ROWS = 8 };

typedef struct lap_encode_bench {
    lap_bench_run *bench;
    lap_chunk file, reference; /* of one photo, by a rung and by libjpeg-turbo */
    double *times[LAP_ENCODE_ROWS];
    size_t bytes;
    double pixel_count;
    char reason[LAP_ENCODE_ROWS][200]; /* empty: timed */
    bool differs[LAP_ENCODE_ROWS];
} lap_encode_bench;

lap_code lap_encode_bench_begin(lap_encode_bench *b, lap_bench_run *bench, lap_error *err);
/* All rungs on one photo's pixels in round number `run`, added to the times. */
lap_code lap_encode_bench_photo(
    lap_encode_bench *b, const lap_view *pixels, int quality, int run, lap_error *err);
/* shape: a row of the photos' size, photos and channels. */
void lap_encode_bench_report(lap_encode_bench *b, const lap_bench_row *shape);
void lap_encode_bench_end(lap_encode_bench *b);

#endif
