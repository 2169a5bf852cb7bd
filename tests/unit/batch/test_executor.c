/* The queue of jobs: in which order they come back, how many are pending, and what becomes of jobs that have
 * not begun when the queue ends. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "batch/executor.h"

enum { LONG_MS = 60000 };

/* Jobs wait at the gate; `entered` counts those that have come to it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_open;
static int entered;

static void set_gate(bool open)
{
    pthread_mutex_lock(&mutex);
    is_open = open;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void await_entered(int count)
{
    pthread_mutex_lock(&mutex);
    while (entered < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void pass_gate(lap_context *context, lap_job *job, const lap_settings *settings)
{
    (void)context, (void)settings;
    pthread_mutex_lock(&mutex);
    entered++;
    pthread_cond_broadcast(&changed);
    while (!is_open)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    job->report.status = LAP_DONE;
    job->is_large = true; /* the job ran */
}

typedef struct fixture {
    lap_context *context;
    lap_executor *ex;
} fixture;

static int open_executor(void **state)
{
    static fixture f;
    lap_error err;
    f = (fixture){.context = lap_context_create(2, &err)};
    entered = 0;
    set_gate(false);
    if (!f.context || lap_executor_threads(f.context, 1, &f.ex, &err) != LAP_OK)
        return -1;
    *state = &f;
    return 0;
}

static int close_executor(void **state)
{
    fixture *f = *state;
    lap_executor_close(f->ex);
    lap_context_destroy(f->context);
    return 0;
}

static void submit(fixture *f, uint64_t turn)
{
    lap_error err;
    lap_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->work = pass_gate;
    job->input = strdup("photo.jpg");
    job->turn = turn;
    assert_int_equal(lap_executor_submit(f->ex, job, &err), LAP_OK);
}

/* The next finished job has this turn, and ran or was cancelled. */
static void reap(fixture *f, uint64_t turn, bool ran)
{
    const size_t pending = lap_executor_pending(f->ex);
    lap_job *job = lap_executor_reap(f->ex, LONG_MS);
    assert_non_null(job);
    assert_int_equal(job->turn, turn);
    assert_int_equal(job->is_large, ran);
    assert_int_equal(job->device, -1);
    if (ran) {
        assert_int_equal(job->report.status, LAP_DONE);
    } else {
        assert_int_equal(job->report.status, LAP_FAILED);
        assert_int_equal(job->report.error.code, LAP_E_CANCELLED);
        assert_string_equal(job->report.error.subject, "photo.jpg");
        assert_string_equal(job->report.error.message, "not started: the run was stopped");
    }
    lap_job_free(job);
    assert_int_equal(lap_executor_pending(f->ex), pending - 1);
}

static void test_order(void **state)
{
    fixture *f = *state;
    assert_null(lap_executor_reap(f->ex, LONG_MS)); /* at once: none is pending */
    for (uint64_t i = 0; i < 3; i++) {
        submit(f, i);
        assert_int_equal(lap_executor_pending(f->ex), i + 1);
    }
    await_entered(1);
    assert_null(lap_executor_reap(f->ex, 0));
    assert_null(lap_executor_reap(f->ex, 1)); /* the gate is closed */
    assert_int_equal(lap_executor_pending(f->ex), 3);
    set_gate(true);
    for (uint64_t i = 0; i < 3; i++)
        reap(f, i, true);
    assert_int_equal(entered, 3);
}

/* A running job goes on; those that wait, and those that come later, come back as cancelled. */
static void test_cancel(void **state)
{
    fixture *f = *state;
    for (uint64_t i = 0; i < 3; i++)
        submit(f, i);
    await_entered(1);
    lap_executor_cancel(f->ex);
    submit(f, 3);
    assert_int_equal(lap_executor_pending(f->ex), 4);
    for (uint64_t i = 1; i < 4; i++)
        reap(f, i, false);
    assert_int_equal(lap_executor_pending(f->ex), 1);
    set_gate(true);
    reap(f, 0, true);
    assert_int_equal(entered, 1);
}

static bool is_second(const lap_job *job)
{
    return job->turn == 1;
}

/* After the job that is_last names, no other one begins. */
static void test_end_at(void **state)
{
    fixture *f = *state;
    lap_executor_end_at(f->ex, is_second);
    for (uint64_t i = 0; i < 4; i++)
        submit(f, i);
    set_gate(true);
    reap(f, 0, true);
    reap(f, 1, true);
    reap(f, 2, false);
    reap(f, 3, false);
    submit(f, 4);
    reap(f, 4, false);
    assert_int_equal(entered, 2);
}

/* The limit of open files bounds the number of jobs: each job opens four files, the process itself 24. */
static void test_files(void **state)
{
    (void)state;
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    static const struct {
        rlim_t files;
        int jobs, within, beside; /* of `jobs` jobs */
    } cases[] = {{24, 5, 1, 0}, {25, 5, 1, 0}, {31, 5, 1, 0}, {32, 5, 2, 0}, {43, 5, 4, 0}, {44, 5, 5, 0},
        {45, 5, 5, 1}, {64, 5, 5, 20}, {10, 1, 1, 0}, {28, 1, 1, 0}, {29, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        few.rlim_cur = cases[i].files;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const int within = lap_batch_jobs_within_files(cases[i].jobs),
                  beside = lap_batch_files_beside(cases[i].jobs);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(within, cases[i].within);
        assert_int_equal(beside, cases[i].beside);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, open_executor, close_executor),
        cmocka_unit_test_setup_teardown(test_cancel, open_executor, close_executor),
        cmocka_unit_test_setup_teardown(test_end_at, open_executor, close_executor),
        cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
