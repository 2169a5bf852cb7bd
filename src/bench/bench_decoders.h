/* Times the ladder `decode`: decodes photos in memory on one thread. Each rung's pixels are compared with
 * libjpeg-turbo's first. */
#ifndef LAP_BENCH_DECODERS_H
#define LAP_BENCH_DECODERS_H

#include "base/image.h"
#include "bench/bench_coders.h"

typedef struct lap_decoders_bench { /* all zero: empty */
    lap_coders_bench coders;
    lap_image reference, pixels; /* of the last photo */
} lap_decoders_bench;

/* Decodes one photo with each rung, and adds the processor time to the rung's time of run `run`. */
lap_code lap_decoders_bench_photo(
    lap_decoders_bench *b, const void *bytes, size_t size, int run, lap_error *err);
void lap_decoders_bench_end(lap_decoders_bench *b);

#endif
