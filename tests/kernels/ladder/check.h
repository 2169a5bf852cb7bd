/* The checking core of the filter ladder: one case, the reference's answer to it, and whether a rung gives
 * the same. It uses no test library and no files, since it is copied to GPU machines, and linked with
 * CUDA rungs that were compiled for the CPU. */
#ifndef LAP_CHECK_H
#define LAP_CHECK_H

#include "base/pool.h"
#include "rungs/run_rung.h"

typedef enum check_fill { FILL_RANDOM, FILL_0, FILL_255, FILL_CHECKER, FILL_PHOTO, FILLS } check_fill;

typedef struct check_case {
    int width, height, channels;
    check_fill fill;
    lap_border border;
    lap_params params;
    int in_gap, out_gap; /* bytes between a row's end and the next row's beginning */
    bool at_end;         /* an inaccessible page follows the source, else precedes it */
    uint64_t seed;       /* of the fill */
} check_case;

typedef struct check_subject { /* a prepared case: source with apron, and c's answer */
    check_case c;
    lap_view in;
    uint8_t *expected; /* rows without gaps */
    void *pages;
    size_t pages_size;
} check_subject;

/* The next number; any state is fine. */
uint64_t check_random(uint64_t *state);

/* Aborts when out of memory: a test that cannot be prepared has failed. */
void check_prepare(check_subject *subject, const check_case *c, const lap_rung *reference);
void check_release(check_subject *subject);

/* Runs a rung as exec says on host or device views, as its row says, and compares: every byte
 * equal, with any kernel (more than lap_params_tolerance promises), and nothing written outside the interior.
 * pool, if any, spreads rows over exec->threads. If they differ, returns False and sets a message that
 * describes the case. */
bool check_rung(const check_subject *subject, const lap_rung *rung, const lap_exec *exec, lap_pool *pool,
    char *message, size_t size);

#endif
