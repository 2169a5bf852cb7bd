/* The queue of jobs: in which order they come back, how many are pending, and what becomes of jobs that have
 * not begun when the queue ends. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/condition.h"
#include "base/status.h"
#include "batch/executor_state.h"
#include "batch/in_place_record.h"
#include "tests/support/temporary.h"

/* ---- what jobs and the executor call -------------------------------------------------------------- */

static struct fake {
    bool is_on;       /* the test stands in for runs and threads */
    const char *lost; /* of a sink */
    lap_code hash, thread, condition;
    int allocations; /* how many there are; -1: enough */
    int signals, wakes, freed;
    rlim_t files;  /* 0: the limit of this process */
    bool no_limit; /* it cannot be read */
    char calls[200], traced[80];
    lap_run_order order; /* of the last run */
} fake = {.allocations = -1};

static void say(const char *what)
{
    strncat(fake.calls, what, sizeof fake.calls - strlen(fake.calls) - 1);
}

const char *__real_lap_sink_lost(const lap_sink *sink);
const char *__wrap_lap_sink_lost(const lap_sink *sink);
const char *__wrap_lap_sink_lost(const lap_sink *sink)
{
    return fake.lost ? fake.lost : __real_lap_sink_lost(sink);
}

void __real_lap_sink_close(lap_sink *sink);
void __wrap_lap_sink_close(lap_sink *sink);
void __wrap_lap_sink_close(lap_sink *sink)
{
    if (fake.is_on)
        fake.freed += sink != NULL;
    else
        __real_lap_sink_close(sink);
}

lap_code __wrap_lap_content_hash_path(
    const char *path, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash_path(
    const char *path, const struct stat *there, uint64_t *hash, lap_error *err)
{
    assert_true(path && there && !err);
    *hash = 77;
    say("hash ");
    return fake.hash;
}

lap_code __wrap_lap_run_to_sink(
    const lap_run_order *order, struct stat *read, lap_sink **sink, lap_report *report, lap_error *err);
lap_code __wrap_lap_run_to_sink(
    const lap_run_order *order, struct stat *read, lap_sink **sink, lap_report *report, lap_error *err)
{
    (void)read, (void)sink;
    assert_ptr_equal(err, &report->error);
    fake.order = *order;
    report->status = LAP_DONE;
    say("run ");
    return LAP_OK;
}

lap_code __wrap_lap_measure_to(const lap_run_order *order, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);
lap_code __wrap_lap_measure_to(const lap_run_order *order, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err)
{
    assert_true(options && measurement && err == &report->error);
    fake.order = *order;
    report->status = LAP_DONE;
    say("measure ");
    return LAP_OK;
}

void __real_lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo);
void __wrap_lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo);
void __wrap_lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo)
{
    (void)trace;
    if (fake.is_on)
        snprintf(fake.traced, sizeof fake.traced, "%s:%d:%d", what, (int)photo, from_ms > 0);
}

lap_code __real_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
lap_code __wrap_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
lap_code __wrap_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err)
{
    if (!fake.is_on)
        return __real_lap_pool_submit(pool, fn, argument, err);
    fake.wakes++;
    return fake.thread;
}

lap_code __real_lap_condition_init(pthread_cond_t *condition, lap_error *err);
lap_code __wrap_lap_condition_init(pthread_cond_t *condition, lap_error *err);
lap_code __wrap_lap_condition_init(pthread_cond_t *condition, lap_error *err)
{
    return fake.condition == LAP_OK ? __real_lap_condition_init(condition, err)
                                    : lap_fail(err, fake.condition, "no condition");
}

/* One whose mutex is locked once at a time, and unlocked by those who have it: no other thread is there. */
static lap_executor *watched;
static int locks;

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    if (watched && lock == &watched->mutex)
        assert_int_equal(locks++, 0);
    return __real_pthread_mutex_lock(lock);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
    if (watched && lock == &watched->mutex)
        assert_int_equal(--locks, 0);
    return __real_pthread_mutex_unlock(lock);
}

int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (fake.is_on)
        fake.signals++;
    return __real_pthread_cond_signal(condition);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    if (fake.allocations == 0)
        return NULL;
    fake.allocations -= fake.allocations > 0;
    return __real_calloc(count, size);
}

int __real_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit)
{
    if (fake.no_limit)
        return -1;
    const int rc = __real_getrlimit(resource, limit);
    limit->rlim_cur = fake.files ? fake.files : limit->rlim_cur;
    return rc;
}

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

/* A limit that does not fit an int counts as no limit. */
static void test_no_limit_of_files(void **state)
{
    (void)state;
    static const rlim_t limits[] = {0, (rlim_t)INT_MAX + 1, INT_MAX, RLIM_INFINITY};
    for (int i = 0; i < 4; i++) {
        fake.no_limit = i == 0;
        fake.files = limits[i];
        const int all = i == 2 ? INT_MAX - 24 : INT_MAX;
        assert_int_equal(lap_batch_files_beside(5), all - 20);
        assert_int_equal(lap_batch_jobs_within_files(INT_MAX), all / 4);
    }
    fake.no_limit = false;
    fake.files = 0;
}

/* ---- jobs ------------------------------------------------------------------------------------------------
 */

static void test_whole_jobs(void **state)
{
    (void)state;
    for (int warnings = 0; warnings < 3; warnings++)
        for (int lost = 0; lost < 2; lost++) {
            const lap_job job = {.report.warnings = warnings};
            fake.lost = lost ? "its times" : "";
            assert_int_equal(lap_job_is_whole(&job), warnings == lost);
        }
    fake.lost = NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* After an output is made: the content of its input, and whether a record lies beside that. */
static void test_looking_again(void **state)
{
    (void)state;
    char folder[TEMPORARY_PATH], previous[PATH_MAX], longest[PATH_MAX + 10];
    assert_true(getcwd(previous, sizeof previous) && mkdtemp(temporary(folder, "executor")));
    assert_int_equal(chdir(folder), 0);
    assert_true(mkdir("a", 0777) == 0 && mkdir("a/b", 0777) == 0);
    touch("a/" LAP_IN_PLACE_RECORD);
    touch("a/photo.jpg");
    touch("a" LAP_IN_PLACE_RECORD); /* not beside it */
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    longest[1] = longest[sizeof longest - 3] = '/';
    char *const names[] = {
        "photo.jpg", "a/photo.jpg", "a/b/photo.jpg", "./a/x", "nowhere/photo.jpg", "a/photo.jpg/x", longest};
    static const bool found[] = {false, true, false, true, false, true, true};
    lap_sink *sink = (lap_sink *)&sink;
    fake.is_on = true;
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 4; k++) {
            lap_job job = {.input = names[i], .sink = k & 1 ? sink : NULL, .has_record = true};
            job.photo.is_known = true;
            fake.hash = k & 2 ? LAP_E_CHANGED : LAP_OK;
            fake.calls[0] = 0;
            lap_job_look_again(&job);
            assert_int_equal(job.photo.is_known, k == 1);
            assert_int_equal(job.has_record, (k & 1) && found[i]);
            assert_string_equal(fake.calls, k & 1 ? "hash " : "");
            assert_true(k != 1 || job.photo.hash == 77);
        }
    fake.is_on = false;
    assert_int_equal(chdir(previous), 0);
    assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static char *text_of(void *user, const lap_measured *file)
{
    assert_true(file->input && file->report && file->measurement);
    return strdup(user);
}

/* What a job orders, and the text of what it measured. */
static void test_orders(void **state)
{
    (void)state;
    lap_measurement measurement = {0};
    const lap_tree tree = {.fd = 5};
    const lap_settings settings = {.quality = 5};
    fake.is_on = true;
    for (int i = 0; i < 8; i++) {
        const lap_measure_options measure = {.threshold = 3};
        lap_job job = {.input = "in.jpg",
            .relative = "out.jpg",
            .tree = &tree,
            .measure = i & 1 ? &measure : NULL,
            .measurement = &measurement,
            .left_by_device = i & 2};
        const lap_run_order order = lap_job_order((lap_context *)&job, &job, &settings);
        assert_true(order.context == (lap_context *)&job && order.settings == &settings);
        assert_true(order.in == job.input && order.tree == &tree);
        assert_ptr_equal(order.out, i & 1 ? NULL : job.relative);
        assert_int_equal(order.left_by_device, job.left_by_device);
        fake.calls[0] = 0;
        if (i & 1)
            lap_job_measure(NULL, &job, &settings);
        else
            lap_job_write(NULL, &job, &settings);
        assert_string_equal(fake.calls, i & 1 ? "measure " : "run ");
        assert_int_equal(job.report.status, LAP_DONE);
        assert_true(fake.order.in == job.input && fake.order.settings == &settings);
    }
    for (int i = 0; i < 8; i++) {
        const lap_measure_order order = {.text = i & 1 ? text_of : NULL, .user = "a text"};
        lap_job job = {.input = "in.jpg",
            .measurement = &measurement,
            .order = i & 2 ? &order : NULL,
            .report.status = i & 4 ? LAP_FAILED : LAP_DONE,
            .text = strdup("of an earlier attempt")};
        lap_job_describe(&job);
        if (i == 3)
            assert_string_equal(job.text, "a text");
        else
            assert_null(job.text);
        free(job.text);
    }
    /* All that a job owns. */
    lap_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->sink = (lap_sink *)&fake;
    job->measurement = calloc(1, sizeof *job->measurement);
    job->text = strdup("a");
    job->input = strdup("b");
    job->output = strdup("c");
    job->relative = strdup("d");
    fake.freed = 0;
    lap_job_free(job);
    lap_job_free(NULL);
    assert_int_equal(fake.freed, 1);
    fake.is_on = false;
}

/* ---- an executor whose threads are the test's ----------------------------------------------------- */

static bool enough, closes;
static int looks;

static void no_work(lap_executor *ex)
{
    (void)ex;
}

static bool is_enough(const lap_executor *ex)
{
    (void)ex;
    return enough;
}

static void look_after(lap_executor *ex)
{
    (void)ex;
    looks++;
}

static bool warn(lap_executor *ex, lap_error *warning)
{
    lap_fail(warning, LAP_E_DEVICE, "%d jobs", ex->jobs);
    return true;
}

static void look(lap_executor *ex, lap_batch_work *work)
{
    assert_int_equal(work->device_count, 0);
    work->device_count = ex->jobs;
}

static bool close_it(lap_executor *ex)
{
    (void)ex;
    return closes;
}

static lap_job *plain_job(void)
{
    lap_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->input = strdup("photo.jpg");
    return job;
}

/* Whether threads are woken, and what becomes of a job if none can be started. */
static void test_waking(void **state)
{
    (void)state;
    lap_error err;
    lap_context *context = lap_context_create(1, &err);
    assert_non_null(context);
    for (int i = 0; i < 32; i++) {
        const bool waits = i & 1, no_thread = i & 2, has_one = i & 4, is_full = i & 8;
        const lap_executor_kind kind = {
            .work = no_work, .waits = waits, .is_enough = i & 16 ? is_enough : NULL};
        lap_executor *ex;
        assert_int_equal(lap_executor_create(context, 2, &kind, &ex, &err), LAP_OK);
        fake.is_on = true;
        fake.wakes = 0;
        fake.thread = no_thread ? LAP_E_MEMORY : LAP_OK;
        enough = true;
        ex->running = is_full ? 2 : has_one;
        const int running = ex->running;
        const bool wakes = !is_full && !(i & 16), fails = wakes && no_thread && !has_one && !waits;
        err = (lap_error){0};
        assert_int_equal(lap_executor_submit(ex, plain_job(), &err), fails ? LAP_E_MEMORY : LAP_OK);
        assert_string_equal(err.message, fails ? "no thread can be started" : "");
        assert_int_equal(fake.wakes, wakes);
        assert_int_equal(ex->running, running + (wakes && !no_thread));
        assert_int_equal(ex->queued, !fails);
        assert_int_equal(lap_executor_pending(ex), !fails);
        assert_int_equal(STAILQ_EMPTY(&ex->waiting), fails);
        enough = false;
        fake.wakes = 0;
        assert_int_equal(lap_executor_wake(ex), is_full || !no_thread || ex->running > 0);
        lap_job *job = lap_job_pop(&ex->waiting);
        lap_job_free(job);
        fake.is_on = false;
        fake.thread = LAP_OK;
        lap_executor_free(ex);
    }
    lap_context_destroy(context);
}

static void test_kinds(void **state)
{
    (void)state;
    lap_error err = {0};
    lap_executor *ex;
    lap_context *context = lap_context_create(1, &err);
    assert_non_null(context);
    static const lap_executor_kind plain = {.work = no_work, .ahead = 5}, full = {.work = no_work,
                                                                              .ahead = 9,
                                                                              .look_after = look_after,
                                                                              .warning = warn,
                                                                              .look = look,
                                                                              .close = close_it};
    for (int i = 0; i < 2; i++) {
        lap_batch_work work = {.device_count = 7};
        lap_error warning = {0};
        assert_int_equal(lap_executor_create(context, 3, i ? &full : &plain, &ex, &err), LAP_OK);
        watched = ex;
        assert_int_equal(lap_executor_ahead(ex), i ? 9 : 5);
        assert_int_equal(lap_executor_warning(ex, &warning), i);
        assert_string_equal(warning.message, i ? "3 jobs" : "");
        lap_executor_look(ex, &work);
        assert_int_equal(work.device_count, i ? 3 : 0);
        looks = 0;
        assert_null(lap_executor_reap(ex, 0));
        assert_int_equal(looks, i);
        fake.is_on = true;
        assert_int_equal(lap_executor_submit(ex, plain_job(), &err), LAP_OK);
        lap_job *job = lap_job_pop(&ex->waiting);
        assert_true(job->device == -1 && job->number == 0);
        job->work = pass_gate;
        set_gate(true);
        ex->queued = 0;
        lap_job_run(ex, job, NULL);
        assert_string_equal(fake.traced, "photo:0:1");
        lap_executor_finish(ex, job);
        looks = 0;
        assert_ptr_equal(lap_executor_reap(ex, 0), job);
        assert_true(looks == 0 && lap_executor_pending(ex) == 0);
        lap_job_free(job);
        fake.is_on = false;
        lap_executor_cancel(ex);
        assert_int_equal(lap_executor_submit(ex, plain_job(), &err), LAP_OK);
        lap_job_free(lap_executor_reap(ex, 0));
        lap_executor_trace(ex, NULL);
        assert_int_equal(locks, 0);
        watched = NULL;
        closes = true;
        lap_executor_close(ex);
    }
    /* One that a thread still uses is not freed. */
    assert_int_equal(lap_executor_create(context, 3, &full, &ex, &err), LAP_OK);
    closes = false;
    lap_executor_close(ex);
    assert_int_equal(ex->jobs, 3);
    lap_executor_free(ex);
    lap_executor_close(NULL);
    for (int i = 0; i < 2; i++) {
        fake.allocations = i - 1;
        fake.condition = i ? LAP_OK : LAP_E_MEMORY;
        err = (lap_error){0};
        if (i == 1)
            fake.allocations = 0;
        assert_int_equal(lap_executor_create(context, 3, &plain, &ex, &err), LAP_E_MEMORY);
        assert_string_equal(err.message, i ? "out of memory" : "no condition");
        assert_null(ex);
    }
    fake.allocations = -1;
    assert_int_equal(lap_executor_threads(context, 3, &ex, &err), LAP_OK);
    assert_int_equal(lap_executor_ahead(ex), 64);
    lap_executor_trace(ex, (lap_trace *)&fake);
    assert_ptr_equal(ex->trace, &fake);
    ex->trace = NULL;
    lap_executor_close(ex);
    lap_context_destroy(context);
}

static bool is_last(const lap_job *job)
{
    return job->turn == 99;
}

/* The owner is woken for a job if few others wait. */
static void test_signals(void **state)
{
    (void)state;
    lap_error err;
    lap_executor *ex;
    static const lap_executor_kind plain = {.work = no_work};
    lap_context *context = lap_context_create(1, &err);
    assert_non_null(context);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(lap_executor_create(context, 1, &plain, &ex, &err), LAP_OK);
        lap_job *job = plain_job();
        job->turn = i == 3 ? 99 : 0;
        fake.is_on = true;
        fake.signals = 0;
        ex->queued = i == 0 ? 17 : i == 1 ? 16 : i == 2 ? 0 : 17;
        if (i >= 3)
            lap_executor_end_at(ex, is_last);
        lap_executor_finish(ex, job);
        assert_int_equal(fake.signals, i != 0 && i < 4);
        assert_int_equal(ex->is_ending, i == 3);
        assert_int_equal(ex->queued, i == 0 || i > 3 ? 17 : i == 1 ? 16 : 0);
        fake.signals = 0;
        lap_executor_cancel(ex);
        assert_true(fake.signals == 1 && ex->is_ending && ex->queued == 0);
        job = lap_job_pop(&ex->done);
        lap_job_free(job);
        fake.is_on = false;
        lap_executor_close(ex);
    }
    lap_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, open_executor, close_executor),
        cmocka_unit_test_setup_teardown(test_cancel, open_executor, close_executor),
        cmocka_unit_test_setup_teardown(test_end_at, open_executor, close_executor),
        cmocka_unit_test(test_files), cmocka_unit_test(test_no_limit_of_files),
        cmocka_unit_test(test_whole_jobs), cmocka_unit_test(test_looking_again),
        cmocka_unit_test(test_orders), cmocka_unit_test(test_waking), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_signals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
