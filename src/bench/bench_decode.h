/* Times decoding one JPEG by parts: the scan alone, and all of it with 1, 2, 4, 8 and 16 threads. */
#ifndef LAP_BENCH_DECODE_H
#define LAP_BENCH_DECODE_H

#include "base/image.h"
#include "base/pool.h"

enum { LAP_BENCH_TEAMS = 5 }; /* team i has 1 << i threads */

typedef struct lap_bench_teams { /* all zero: empty */
    lap_pool *pools[LAP_BENCH_TEAMS];
    int count;
    /* for the last photo, in milliseconds of wall time: */
    double ms[LAP_BENCH_TEAMS]; /* of each team, */
    double scan_ms;             /* and of the scan on one thread */
} lap_bench_teams;

/* Creates teams of up to `threads` threads. */
lap_code lap_bench_teams_create(lap_bench_teams *teams, int threads, lap_error *err);
void lap_bench_teams_destroy(lap_bench_teams *teams);
/* Decodes bytes into pixels (which have the picture's size and channels) with each team, and times that. A
 * picture that cannot be split into parts is decoded serially; scan_ms is 0 then. */
lap_code lap_bench_decode(
    lap_bench_teams *teams, const void *bytes, size_t size, const lap_view *pixels, lap_error *err);

#endif
