/* Times the ladder `encode`: encodes photos' pixels in memory. Each rung's bytes are compared with
 * libjpeg-turbo's first: a rung is refused if one byte differs. */
#ifndef LAP_BENCH_ENCODE_H
#define LAP_BENCH_ENCODE_H

#include "bench/bench_coders.h"
#include "codec/codec.h"

typedef struct lap_encode_bench { /* all zero: empty */
    lap_coders_bench coders;
    lap_chunk file, reference; /* one photo's, by a rung and by libjpeg-turbo */
} lap_encode_bench;

/* Encodes one photo's pixels with all rungs, and adds to their times of round number `run`. */
lap_code lap_encode_bench_photo(
    lap_encode_bench *b, const lap_view *pixels, int quality, int run, lap_error *err);
void lap_encode_bench_end(lap_encode_bench *b);

#endif
