#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/pool.h"

enum { ITEMS = 1000 };

typedef struct shared {
    atomic_int next, calls;
    atomic_int done[ITEMS];
} shared;

static void share(void *argument)
{
    shared *s = argument;
    atomic_fetch_add(&s->calls, 1);
    for (int i; (i = atomic_fetch_add(&s->next, 1)) < ITEMS;)
        atomic_fetch_add(&s->done[i], 1);
}

static void each_item_is_done_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        lap_pool *pool = lap_pool_create(threads, NULL);
        assert_non_null(pool);
        assert_int_equal(lap_pool_threads(pool), threads);
        for (int members = 1; members <= 7; members++) {
            shared s = {0};
            lap_pool_team(pool, members, share, &s);
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(s.done[i], 1);
            assert_true(s.calls >= 1 && s.calls <= members);
        }
        lap_pool_destroy(pool);
    }
}

/* Signals for the process go to its own threads; what a thread does wrong is its own. */
typedef struct signals {
    pthread_t own;
    atomic_int inside, wrong;
} signals;

static void look_at_signals(void *argument)
{
    signals *s = argument;
    sigset_t blocked;
    const int failed = pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    const int wanted = !pthread_equal(pthread_self(), s->own);
    atomic_fetch_add(&s->wrong, failed || sigismember(&blocked, SIGINT) != wanted ||
                                    sigismember(&blocked, SIGTERM) != wanted ||
                                    sigismember(&blocked, SIGSEGV) != 0);
    atomic_fetch_add(&s->inside, 1);
    while (atomic_load(&s->inside) < 3)
        sched_yield();
}

static void threads_leave_signals_to_the_caller(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    signals s = {.own = pthread_self()};
    lap_pool_team(pool, 3, look_at_signals, &s);
    assert_int_equal(s.wrong, 0);
    lap_pool_destroy(pool);
}

static void no_pool_is_the_calling_thread(void **state)
{
    (void)state;
    shared s = {0};
    lap_pool_team(NULL, 4, share, &s);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.done[ITEMS - 1], 1);
    assert_int_equal(lap_pool_threads(NULL), 1);
    lap_pool_destroy(NULL);
}

/* Returns only when `wanted` threads are inside at once. */
typedef struct meeting {
    atomic_int inside;
    int wanted;
} meeting;

static void meet(void *argument)
{
    meeting *m = argument;
    atomic_fetch_add(&m->inside, 1);
    while (atomic_load(&m->inside) < m->wanted)
        sched_yield();
}

static void idle_threads_join_a_team(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    meeting m = {.wanted = 3};
    lap_pool_team(pool, 3, meet, &m);
    assert_int_equal(m.inside, 3);
    lap_pool_destroy(pool);
}

typedef struct nest {
    lap_pool *pool;
    atomic_int done;
} nest;

static void inner(void *argument)
{
    nest *n = argument;
    shared s = {0};
    lap_pool_team(n->pool, 4, share, &s);
    for (int i = 0; i < ITEMS; i++)
        if (s.done[i] != 1)
            return;
    atomic_fetch_add(&n->done, 1);
}

/* More jobs than threads, and each job starts its own team: no job may wait for a free thread. */
static void teams_inside_jobs(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        nest n = {.pool = lap_pool_create(threads, NULL)};
        for (int i = 0; i < 50; i++)
            assert_int_equal(lap_pool_submit(n.pool, inner, &n, NULL), LAP_OK);
        lap_pool_drain(n.pool);
        assert_int_equal(n.done, 50);
        lap_pool_destroy(n.pool);
    }
}

/* `threads` jobs run at once although the thread that submitted them only waits. */
static void jobs_use_every_thread(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        lap_pool *pool = lap_pool_create(threads, NULL);
        meeting m = {.wanted = threads};
        for (int i = 0; i < threads; i++)
            assert_int_equal(lap_pool_submit(pool, meet, &m, NULL), LAP_OK);
        lap_pool_drain(pool);
        assert_int_equal(m.inside, threads);
        lap_pool_destroy(pool);
    }
}

typedef struct order {
    int next, wrong;
} order;
typedef struct numbered {
    order *order;
    int number;
} numbered;

static void in_turn(void *argument)
{
    numbered *n = argument;
    if (n->order->next++ != n->number)
        n->order->wrong++;
}

static void jobs_are_first_in_first_out(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(1, NULL);
    order o = {0};
    numbered jobs[100];
    for (int i = 0; i < 100; i++) {
        jobs[i] = (numbered){&o, i};
        assert_int_equal(lap_pool_submit(pool, in_turn, &jobs[i], NULL), LAP_OK);
    }
    lap_pool_drain(pool);
    lap_pool_drain(pool);
    assert_int_equal(o.next, 100);
    assert_int_equal(o.wrong, 0);
    lap_pool_destroy(pool);
}

static void destroying_finishes_the_jobs(void **state)
{
    (void)state;
    nest n = {.pool = lap_pool_create(2, NULL)};
    for (int i = 0; i < 20; i++)
        assert_int_equal(lap_pool_submit(n.pool, inner, &n, NULL), LAP_OK);
    lap_pool_destroy(n.pool);
    assert_int_equal(n.done, 20);
}

typedef struct counted {
    atomic_int done[ITEMS];
    atomic_int inside[8], wrong; /* threads with that member number */
    size_t piece, fails_at;
} counted;

static lap_code count_piece(void *argument, const lap_piece *piece, lap_error *err)
{
    counted *c = argument;
    if (piece->member < 0 || piece->member > 7 || atomic_fetch_add(&c->inside[piece->member], 1) != 0)
        atomic_fetch_add(&c->wrong, 1);
    if (piece->first % c->piece || piece->n < 1 || piece->n > c->piece)
        atomic_fetch_add(&c->wrong, 1);
    for (size_t i = 0; i < piece->n; i++)
        atomic_fetch_add(&c->done[piece->first + i], 1);
    atomic_fetch_sub(&c->inside[piece->member], 1);
    if (piece->first <= c->fails_at && c->fails_at < piece->first + piece->n) {
        snprintf(err->message, sizeof err->message, "item %zu", c->fails_at);
        return LAP_E_DEVICE;
    }
    return LAP_OK;
}

static void ranges_are_done_in_pieces(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(4, NULL);
    for (int members = 1; members <= 8; members++) {
        for (size_t piece = 1; piece <= ITEMS + 1; piece = piece * 3 + 1) {
            counted c = {.piece = piece, .fails_at = SIZE_MAX};
            const size_t size = ITEMS - piece % 7;
            assert_int_equal(lap_pool_for(members % 2 ? pool : NULL, (lap_span){members, size, piece},
                                 count_piece, &c, NULL),
                LAP_OK);
            for (size_t i = 0; i < ITEMS; i++)
                assert_int_equal(c.done[i], i < size);
            assert_int_equal(c.wrong, 0);
        }
    }
    counted none = {.piece = 1};
    assert_int_equal(lap_pool_for(pool, (lap_span){4, 0, 1}, count_piece, &none, NULL), LAP_OK);
    assert_int_equal(none.done[0], 0);
    lap_pool_destroy(pool);
}

static void a_failed_piece_ends_the_range(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    for (int members = 1; members <= 4; members++) {
        counted c = {.piece = 1, .fails_at = 10};
        lap_error err = {0};
        assert_int_equal(
            lap_pool_for(pool, (lap_span){members, ITEMS, 1}, count_piece, &c, &err), LAP_E_DEVICE);
        assert_int_equal(err.code, LAP_E_DEVICE);
        assert_string_equal(err.message, "item 10");
        for (int i = 0; i <= 10; i++)
            assert_int_equal(c.done[i], 1);
        assert_true(members > 1 || c.done[11] == 0); /* others may have been ahead */
    }
    lap_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_done_once),
        cmocka_unit_test(threads_leave_signals_to_the_caller),
        cmocka_unit_test(no_pool_is_the_calling_thread),
        cmocka_unit_test(idle_threads_join_a_team),
        cmocka_unit_test(teams_inside_jobs),
        cmocka_unit_test(jobs_use_every_thread),
        cmocka_unit_test(jobs_are_first_in_first_out),
        cmocka_unit_test(destroying_finishes_the_jobs),
        cmocka_unit_test(ranges_are_done_in_pieces),
        cmocka_unit_test(a_failed_piece_ends_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
