/* One pool of threads, shared by the pipeline (bands of one image) and the executor (files). */
#ifndef LAP_POOL_H
#define LAP_POOL_H

#include "lapedge.h"

typedef struct lap_pool lap_pool;
typedef void lap_job_fn(void *argument);

/* threads >= 1: how many may work at once. This counts the thread that calls lap_pool_team, so threads - 1
 * are started; for 1, no thread is started. */
lap_pool *lap_pool_create(int threads, lap_error *err);
void lap_pool_destroy(lap_pool *pool); /* waits for running jobs */
int lap_pool_threads(const lap_pool *pool);
/* The number of idle threads, without the calling one; each waiting job counts as a busy thread. A team that
 * is formed right afterwards will probably get that many threads. Returns 0 for NULL. */
int lap_pool_idle(lap_pool *pool);

/* Calls fn(argument) on the calling thread and on up to members - 1 idle threads of the pool, and returns
 * when all of these calls have returned. The calls of fn divide the work among themselves, and return when no
 * work is left; a thread that joins late may find no work. Never waits for a free thread, so teams inside
 * jobs cannot deadlock. pool NULL: the calling thread alone. */
void lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);

/* A piece of a range that lap_pool_for hands out. */
typedef struct lap_piece {
    size_t first, n;
    int member; /* the thread that works on it, 0 .. members - 1; no two threads share a number */
} lap_piece;
typedef lap_code lap_piece_fn(void *argument, const lap_piece *piece, lap_error *err);

typedef struct lap_span { /* a team's work */
    int members;          /* at most this many threads at once */
    size_t size, piece;   /* items in total; items per piece */
} lap_span;

/* Calls fn for the pieces of 0 .. size - 1, `piece` items each (the last may be shorter), in order and from
 * up to `members` threads at once. After a failure hands out no more pieces, and returns the first failure
 * with its message in err. pool NULL: the calling thread alone. */
lap_code lap_pool_for(lap_pool *pool, lap_span span, lap_piece_fn *fn, void *argument, lap_error *err);

/* Queues fn(argument) for a thread of the pool (starts one even for threads = 1). Jobs run first in, first
 * out, and before team seats. */
lap_code lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
/* Waits until every submitted job has returned. */
void lap_pool_drain(lap_pool *pool);

#endif
