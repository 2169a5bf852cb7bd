/* One pool of threads, shared by the pipeline (bands of one image) and the executor (files). */
#ifndef LAP_POOL_H
#define LAP_POOL_H

#include "lapedge.h"

typedef struct lap_pool lap_pool;
typedef void lap_job_fn(void *argument);

/* threads >= 1: the number that may work at once, the thread that waits in lap_pool_team counted, so
 * threads - 1 are started, and none for 1. */
lap_pool *lap_pool_create(int threads, lap_error *err);
void lap_pool_destroy(lap_pool *pool); /* waits for running jobs */
int lap_pool_threads(const lap_pool *pool);
/* Threads that have nothing to do now, the calling one not counted; jobs that wait take theirs. A team asked
 * for right afterwards will likely get that number. 0 for NULL. */
int lap_pool_idle(lap_pool *pool);

/* Calls fn(argument) on the calling thread and on up to members - 1 idle threads of the pool, and
 * returns when all of these calls have returned. fn must share its work by itself and return when
 * nothing is left for it; late joiners may find nothing to do. Never waits for a free thread, so
 * teams inside jobs cannot deadlock. pool NULL: the calling thread alone. */
void lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);

/* A piece of a range that lap_pool_for hands out. */
typedef struct lap_piece {
    size_t first, n;
    int member; /* who works on it, 0 .. members - 1: one thread at a time has a number */
} lap_piece;
typedef lap_code lap_piece_fn(void *argument, const lap_piece *piece, lap_error *err);

typedef struct lap_span { /* that a team works on */
    int members;          /* threads at once, at most */
    size_t size, piece;   /* items; of a piece */
} lap_span;

/* Calls fn for the pieces of 0 .. size - 1, `piece` items each (the last may be shorter), in order and from
 * up to `members` threads at once. After a failure no more pieces are handed out; the first one is returned,
 * with its message in err. pool NULL: the calling thread alone. */
lap_code lap_pool_for(lap_pool *pool, lap_span span, lap_piece_fn *fn, void *argument, lap_error *err);

/* Queues fn(argument) for a thread of the pool (one is started even for threads = 1); first in,
 * first out, before any waiting team seats. */
lap_code lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
/* Waits until every submitted job has returned. */
void lap_pool_drain(lap_pool *pool);

#endif
