/* Decoding of one JPEG by parts, timed: the scan alone, and all of it by 1, 2, 4, 8 and 16 threads. */
#ifndef LAP_BENCH_DECODE_H
#define LAP_BENCH_DECODE_H

#include "base/image.h"
#include "base/pool.h"

enum { LAP_BENCH_TEAMS = 5 }; /* of 1 << i threads */

typedef struct lap_bench_teams { /* zeroed is empty */
    lap_pool *pools[LAP_BENCH_TEAMS];
    int count;
    /* of the photo that was decoded last, in milliseconds on the clock: */
    double ms[LAP_BENCH_TEAMS]; /* each team's, */
    double scan_ms;             /* and the scan by one thread */
} lap_bench_teams;

/* Teams of up to `threads` threads. */
lap_code lap_bench_teams_create(lap_bench_teams *teams, int threads, lap_error *err);
void lap_bench_teams_destroy(lap_bench_teams *teams);
/* Decodes bytes into pixels (of the picture's size and channels) by each team, and times that. A picture that
 * has no parts is decoded serially, and its scan takes no time. */
lap_code lap_bench_decode(
    lap_bench_teams *teams, const void *bytes, size_t size, const lap_view *pixels, lap_error *err);

#endif
