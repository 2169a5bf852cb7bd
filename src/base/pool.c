#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

typedef struct job {
    lap_job_fn *fn;
    void *argument;
    struct job *next;
} job;

typedef struct team { /* lives on the stack of the thread that called lap_pool_team */
    lap_job_fn *fn;
    void *argument;
    int seats;  /* free seats; a full team is not in the list */
    int inside; /* pool threads that are running fn */
    pthread_cond_t left;
    struct team *next;
} team;

struct lap_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* signalled for a job, a seat, or stop */
    pthread_cond_t drained; /* signalled if pending is 0 */
    job *first, **last;     /* jobs waiting */
    team *teams;            /* teams with free seats; oldest first */
    int pending;            /* jobs waiting or running */
    int waiting, busy;      /* number of waiting jobs; threads that run a job or work in a team */
    int threads, started;
    bool stop;
    pthread_t handles[]; /* room for `threads` */
};

static void run_job(lap_pool *pool)
{
    job *mine = pool->first;
    pool->first = mine->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->waiting--;
    pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    mine->fn(mine->argument);
    free(mine);
    pthread_mutex_lock(&pool->lock);
    pool->busy--;
    if (--pool->pending == 0)
        pthread_cond_broadcast(&pool->drained);
}

static void run_seat(lap_pool *pool)
{
    team *t = pool->teams;
    if (--t->seats == 0)
        pool->teams = t->next;
    t->inside++;
    pool->busy++;
    pthread_mutex_unlock(&pool->lock);
    t->fn(t->argument);
    pthread_mutex_lock(&pool->lock);
    pool->busy--;
    if (--t->inside == 0)
        pthread_cond_signal(&t->left); /* call it with the lock held: `t` ends once its owner gets the lock */
}

static void *worker(void *argument)
{
    lap_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pool->first)
            run_job(pool);
        else if (pool->teams)
            run_seat(pool);
        else if (pool->stop)
            break;
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts threads until there are `wanted`; the caller holds the lock. Blocks signals in the new threads, so
 * that signals for the process reach the caller's own threads; signals for faults stay unblocked. */
static int start(lap_pool *pool, int wanted)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = 0;
    while (pool->started < wanted && rc == 0) {
        rc = pthread_create(&pool->handles[pool->started], NULL, worker, pool);
        pool->started += rc == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

lap_pool *lap_pool_create(int threads, lap_error *err)
{
    if (threads < 1)
        threads = 1;
    lap_pool *pool = calloc(1, sizeof *pool + (size_t)threads * sizeof pool->handles[0]);
    if (!pool) {
        lap_fail(err, LAP_E_MEMORY, "out of memory for a pool of %d threads", threads);
        return NULL;
    }
    pool->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool->work = pool->drained = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool->last = &pool->first;
    pool->threads = threads;
    pthread_mutex_lock(&pool->lock);
    int rc = start(pool, threads - 1);
    pthread_mutex_unlock(&pool->lock);
    if (rc) {
        lap_fail(err, LAP_E_MEMORY, "cannot start %d threads: %s", threads - 1, strerror(rc));
        lap_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void lap_pool_destroy(lap_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    int started = pool->started;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < started; i++)
        pthread_join(pool->handles[i], NULL);
    pthread_cond_destroy(&pool->drained);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

int lap_pool_threads(const lap_pool *pool)
{
    return pool ? pool->threads : 1;
}

int lap_pool_idle(lap_pool *pool)
{
    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    int idle = pool->started - pool->busy - pool->waiting;
    pthread_mutex_unlock(&pool->lock);
    return idle > 0 ? idle : 0;
}

void lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument)
{
    if (!pool || members < 2 || pool->threads < 2) {
        fn(argument);
        return;
    }
    team mine = {.fn = fn, .argument = argument, .seats = members - 1, .left = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&pool->lock);
    team **end = &pool->teams;
    while (*end)
        end = &(*end)->next;
    *end = &mine;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    fn(argument);

    pthread_mutex_lock(&pool->lock);
    for (team **t = &pool->teams; *t; t = &(*t)->next) {
        if (*t == &mine) {
            *t = mine.next;
            break;
        }
    }
    while (mine.inside > 0)
        pthread_cond_wait(&mine.left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&mine.left);
}

typedef struct range { /* shared by the threads of one lap_pool_for */
    lap_piece_fn *fn;
    void *argument;
    size_t size, piece;
    atomic_size_t next; /* the next piece to hand out */
    atomic_int members; /* threads that joined */
    atomic_int code;    /* the first failure */
    lap_error err;      /* written by the thread that set code */
} range;

static void work_on_pieces(void *argument)
{
    range *r = argument;
    lap_piece piece = {.member = atomic_fetch_add(&r->members, 1)};
    while (atomic_load(&r->code) == LAP_OK) {
        const size_t i = atomic_fetch_add(&r->next, 1);
        if (i > (r->size - 1) / r->piece)
            return;
        lap_error err = {0};
        piece.first = i * r->piece;
        piece.n = r->size - piece.first < r->piece ? r->size - piece.first : r->piece;
        int code = (int)r->fn(r->argument, &piece, &err), none = LAP_OK;
        if (code != LAP_OK && atomic_compare_exchange_strong(&r->code, &none, code))
            r->err = err;
    }
}

lap_code lap_pool_for(lap_pool *pool, lap_span all, lap_piece_fn *fn, void *argument, lap_error *err)
{
    range r = {.fn = fn, .argument = argument, .size = all.size, .piece = all.piece ? all.piece : 1};
    if (all.size == 0)
        return LAP_OK;
    const size_t pieces = (all.size - 1) / r.piece + 1;
    lap_pool_team(pool, pieces < (size_t)all.members ? (int)pieces : all.members, work_on_pieces, &r);
    const lap_code code = (lap_code)atomic_load(&r.code);
    if (code != LAP_OK && err) {
        *err = r.err;
        err->code = code;
    }
    return code;
}

lap_code lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err)
{
    job *mine = malloc(sizeof *mine);
    if (!mine)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a job");
    *mine = (job){.fn = fn, .argument = argument};
    pthread_mutex_lock(&pool->lock);
    /* The thread that submits a job does not work on it, unlike a thread that calls a team, so start one more
     * thread in its place. */
    int rc = start(pool, pool->threads);
    if (rc && pool->started == 0) {
        pthread_mutex_unlock(&pool->lock);
        free(mine);
        return lap_fail(err, LAP_E_MEMORY, "cannot start a thread: %s", strerror(rc));
    }
    *pool->last = mine;
    pool->last = &mine->next;
    pool->pending++;
    pool->waiting++;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    return LAP_OK;
}

void lap_pool_drain(lap_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->pending > 0)
        pthread_cond_wait(&pool->drained, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
