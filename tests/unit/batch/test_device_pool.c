/* The device pool without threads and without devices: a test does the work of each thread in turn, at
 * times that it sets. It checks what is chosen for a run, where each photo goes, the order of the calls
 * to devices, and what happens to photos if a device, memory or a thread is missing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/condition.h"
#include "base/status.h"
#include "batch/batch_devices.h"
#include "batch/device_pool_state.h"
#include "rungs/backend.h"

/* ---- what the pool calls --------------------------------------------------------------------------- */

struct lap_device_slot {
    size_t room;
    int number; /* in order of creation */
    bool is_busy;
};

enum { MOST_CALLS = 4000 };

static struct fake {
    double now;
    char calls[MOST_CALLS]; /* the calls, as words */
    char traced[MOST_CALLS];
    int wakes, signals, restarts, slots, alive; /* alive: slots and stagings */
    /* what calls answer */
    int devices, threads, allocations; /* how many there are; -1: enough */
    bool pins, has_no_workers;
    lap_code open, create, pin, slot, resize, start, look, times, load;
    size_t unused; /* free bytes of a device */
    bool unhandled, is_short, unfinished, apart, is_lost_meanwhile;
    lap_code job;           /* result of a job that the CPU does with a device's help */
    int files;              /* beside the jobs */
    void (*idle)(int turn); /* called when a device's thread waits */
    int turns;
} fake;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    const size_t at = strlen(fake.calls);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fake.calls + at, sizeof fake.calls - at, format, arguments);
    va_end(arguments);
}

static lap_code answer(lap_code code, const char *what, lap_error *err)
{
    return code == LAP_OK ? LAP_OK : lap_fail(err, code, "%s failed", what);
}

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return fake.now;
}

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (start != lap_device_pool_serve)
        return __real_pthread_create(thread, attributes, start, argument);
    if (fake.threads == 0)
        return EAGAIN;
    fake.threads -= fake.threads > 0;
    say("thread%d ", ((lap_pool_device *)argument)->number);
    return 0;
}

int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread)
{
    (void)thread;
    say("detach ");
    return 0;
}

/* The mutex of the executor is locked once at a time, and unlocked by those who have it. */
static lap_executor *ex;
static int locks;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (ex && mutex == &ex->mutex)
        assert_int_equal(locks++, 0);
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (ex && mutex == &ex->mutex)
        assert_int_equal(--locks, 0);
    return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    (void)condition;
    fake.signals++;
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    say("join ");
    return 0;
}

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!fake.idle)
        return __real_pthread_cond_wait(condition, mutex);
    say("wait ");
    fake.idle(fake.turns++);
    return 0;
}

int __real_pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!fake.idle)
        return __real_pthread_cond_timedwait(condition, mutex, until);
    say("look ");
    fake.idle(fake.turns++);
    return 0;
}

/* No thread starts: the test does the work. */
lap_code __real_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
lap_code __wrap_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err);
lap_code __wrap_lap_pool_submit(lap_pool *pool, lap_job_fn *fn, void *argument, lap_error *err)
{
    (void)pool, (void)fn, (void)argument;
    fake.wakes += !fake.has_no_workers;
    return fake.has_no_workers ? lap_fail(err, LAP_E_MEMORY, "no thread") : LAP_OK;
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

int __wrap_lap_device_count(void);
int __wrap_lap_device_count(void)
{
    return fake.devices;
}

bool __wrap_lap_device_pins(int device);
bool __wrap_lap_device_pins(int device)
{
    (void)device;
    return fake.pins;
}

lap_code __wrap_lap_device_open(int device, size_t *unused, lap_error *err);
lap_code __wrap_lap_device_open(int device, size_t *unused, lap_error *err)
{
    say("open%d ", device);
    *unused = fake.unused;
    return answer(fake.open, "open", err);
}

int __wrap_lap_batch_files_beside(int jobs);
int __wrap_lap_batch_files_beside(int jobs)
{
    (void)jobs;
    return fake.files;
}

/* The first device is lost while its thread, or another one, is in a call. */
static void lose_meanwhile(bool hangs)
{
    lap_error why;
    if (!fake.is_lost_meanwhile)
        return;
    lap_fail(&why, LAP_E_DEVICE, "lost meanwhile");
    pthread_mutex_lock(&ex->mutex);
    lap_device_pool_lose(&ex->pool->devices[0], &why);
    if (hangs)
        lap_device_pool_take_back(&ex->pool->devices[0], true);
    pthread_mutex_unlock(&ex->mutex);
}

/* ---- what is asked about devices before a pool is made ---------------------------------------------- */

static struct asked {
    bool is_asked;
    bool may_not_be; /* no device */
    int to_start;
    int tolerance;
    const char *codec; /* why there is no device's codec */
    lap_code rungs;
    lap_device_pool_options options;
    int list[LAP_DEVICE_POOL_DEVICES];
} asked;

static const lap_rung cpu_rung = {.name = "cpu"}, card_rung = {.name = "card", .device = 1};

lap_code __real_lap_executor_devices(lap_context *of, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err);
lap_code __wrap_lap_executor_devices(lap_context *of, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err);
lap_code __wrap_lap_executor_devices(lap_context *of, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err)
{
    if (!asked.is_asked)
        return __real_lap_executor_devices(of, jobs, options, executor, err);
    asked.options = *options;
    memcpy(asked.list, options->devices, (size_t)options->count * sizeof *asked.list);
    say("devices:%d ", jobs);
    return LAP_OK;
}

lap_code __real_lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
lap_code __wrap_lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
lap_code __wrap_lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err)
{
    if (!asked.is_asked)
        return __real_lap_rung_find(op, name, rung, err);
    *rung = strcmp(name, "card") == 0 ? &card_rung : &cpu_rung;
    return asked.rungs == LAP_OK ? LAP_OK : lap_fail(err, asked.rungs, "no such rung");
}

const char *__wrap_lap_rung_fastest_on_device(lap_op op);
const char *__wrap_lap_rung_fastest_on_device(lap_op op)
{
    (void)op;
    return "card";
}

bool __wrap_lap_device_may_be(const char **reason);
bool __wrap_lap_device_may_be(const char **reason)
{
    if (asked.may_not_be)
        *reason = "there is no device";
    return !asked.may_not_be;
}

int __wrap_lap_device_to_start(void);
int __wrap_lap_device_to_start(void)
{
    return asked.to_start;
}

const char *__wrap_lap_device_codec_unavailable(unsigned directions);
const char *__wrap_lap_device_codec_unavailable(unsigned directions)
{
    assert_int_equal(directions, LAP_DEVICE_CODES);
    return asked.codec;
}

int __wrap_lap_params_tolerance(const lap_params *params);
int __wrap_lap_params_tolerance(const lap_params *params)
{
    (void)params;
    return asked.tolerance;
}

/* ---- fake stagings: file_bytes is what a photo needs on the device --------------------------------- */

lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err);
lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err)
{
    *staging = fake.create == LAP_OK ? __real_calloc(1, sizeof **staging) : NULL;
    fake.alive += *staging != NULL;
    if (*staging) {
        (*staging)->device = device;
        (*staging)->kind = kind;
        (*staging)->most = most;
    }
    say("new%d ", device);
    return answer(fake.create, "create", err);
}

void __wrap_lap_device_staging_destroy(lap_device_staging *staging);
void __wrap_lap_device_staging_destroy(lap_device_staging *staging)
{
    say("destroy ");
    fake.alive -= staging != NULL;
    free(staging);
}

void __wrap_lap_device_staging_abandon(lap_device_staging *staging);
void __wrap_lap_device_staging_abandon(lap_device_staging *staging)
{
    say("abandon ");
    fake.alive -= staging != NULL;
    free(staging);
}

lap_code __wrap_lap_device_staging_pin(lap_device_staging *staging, lap_error *err);
lap_code __wrap_lap_device_staging_pin(lap_device_staging *staging, lap_error *err)
{
    (void)staging;
    say("pin ");
    lose_meanwhile(true);
    return answer(fake.pin, "pin", err);
}

bool __wrap_lap_device_staging_is_pinned(const lap_device_staging *staging);
bool __wrap_lap_device_staging_is_pinned(const lap_device_staging *staging)
{
    return !staging->is_filtered; /* in this test, is_filtered means that it must be pinned */
}

bool __wrap_lap_device_staging_is_done(const lap_device_staging *staging);
bool __wrap_lap_device_staging_is_done(const lap_device_staging *staging)
{
    (void)staging;
    return !fake.unfinished;
}

bool __wrap_lap_device_staging_go_together(const lap_device_staging *a, const lap_device_staging *b);
bool __wrap_lap_device_staging_go_together(const lap_device_staging *a, const lap_device_staging *b)
{
    return a->turn == b->turn;
}

/* ---- fake slots ------------------------------------------------------------------------------------ */

lap_code __wrap_lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err);
lap_code __wrap_lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err)
{
    (void)device;
    *slot = fake.slot == LAP_OK ? __real_calloc(1, sizeof **slot) : NULL;
    fake.alive += *slot != NULL;
    if (*slot)
        (*slot)->number = fake.slots++;
    return answer(fake.slot, "slot", err);
}

static void end_slot(lap_device_slot *slot, const char *how)
{
    say("%s%d ", how, slot->number);
    fake.alive--;
    free(slot);
}

void __wrap_lap_device_slot_destroy(lap_device_slot *slot);
void __wrap_lap_device_slot_destroy(lap_device_slot *slot)
{
    end_slot(slot, "end");
}

void __wrap_lap_device_slot_abandon(lap_device_slot *slot);
void __wrap_lap_device_slot_abandon(lap_device_slot *slot)
{
    end_slot(slot, "leave");
}

size_t __wrap_lap_device_slot_needs(const lap_device_staging *staging);
size_t __wrap_lap_device_slot_needs(const lap_device_staging *staging)
{
    return staging->file_bytes;
}

/* In a chain, each photo after the first needs one byte more. */
size_t __wrap_lap_device_slot_chain_needs(size_t bytes, int count);
size_t __wrap_lap_device_slot_chain_needs(size_t bytes, int count)
{
    return bytes + (size_t)count - 1;
}

size_t __wrap_lap_device_slot_room(const lap_device_slot *slot);
size_t __wrap_lap_device_slot_room(const lap_device_slot *slot)
{
    return slot->room;
}

lap_code __wrap_lap_device_slot_resize(lap_device_slot *slot, size_t bytes, lap_error *err);
lap_code __wrap_lap_device_slot_resize(lap_device_slot *slot, size_t bytes, lap_error *err)
{
    say("room%d=%zu ", slot->number, bytes);
    slot->room = fake.resize == LAP_OK ? bytes : 0;
    return answer(fake.resize, "resize", err);
}

lap_code __wrap_lap_device_slot_start(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *filter, lap_error *err);
lap_code __wrap_lap_device_slot_start(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *filter, lap_error *err)
{
    assert_non_null(filter->params);
    assert_false(slot->is_busy);
    say("start%d:", slot->number);
    for (int i = 0; i < count; i++)
        say("%s%zu", i ? "+" : "", stagings[i]->file_bytes);
    say(" ");
    slot->is_busy = fake.start == LAP_OK;
    return answer(fake.start, "start", err);
}

static unsigned through; /* one bit per slot: its work is done */

lap_code __wrap_lap_device_slot_is_through(lap_device_slot *slot, bool *is_through, lap_error *err);
lap_code __wrap_lap_device_slot_is_through(lap_device_slot *slot, bool *is_through, lap_error *err)
{
    assert_true(slot->is_busy);
    *is_through = through >> slot->number & 1;
    slot->is_busy = !*is_through;
    through &= ~(1U << slot->number);
    return answer(fake.look, "look", err);
}

lap_code __wrap_lap_device_slot_times(lap_device_slot *slot, lap_times *times, lap_error *err);
lap_code __wrap_lap_device_slot_times(lap_device_slot *slot, lap_times *times, lap_error *err)
{
    lose_meanwhile(true);
    times->filter += 60;
    times->encode += slot->number + 1;
    return answer(fake.times, "times", err);
}

/* ---- fake runs -------------------------------------------------------------------------------------- */

/* The name of an input begins with what its photo needs on the device. */
lap_code __wrap_lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err);
lap_code __wrap_lap_async_run_load(lap_async_run *run, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err)
{
    (void)rung;
    say("load%d:%s ", staging->device, order->in);
    run->staging = staging;
    staging->file_bytes = strtoul(order->in, NULL, 10);
    staging->is_short = fake.is_short;
    *handled = !fake.unhandled;
    lose_meanwhile(false);
    return answer(fake.load, "load", err);
}

void __wrap_lap_async_run_restart(lap_async_run *run);
void __wrap_lap_async_run_restart(lap_async_run *run)
{
    (void)run;
    fake.restarts++;
}

lap_code __wrap_lap_async_run_store(lap_async_run *run, const lap_run_order *order, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err);
lap_code __wrap_lap_async_run_store(lap_async_run *run, const lap_run_order *order, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err)
{
    (void)run, (void)read, (void)sink, (void)err;
    say("store:%s ", order->in);
    report->status = LAP_DONE;
    return LAP_OK;
}

lap_code __wrap_lap_async_run_measure(lap_async_run *run, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err);
lap_code __wrap_lap_async_run_measure(lap_async_run *run, const lap_measure_options *options,
    lap_measurement *measurement, lap_report *report, lap_error *err)
{
    (void)run, (void)options, (void)measurement, (void)err;
    say("measure ");
    report->status = LAP_DONE;
    return LAP_OK;
}

void __wrap_lap_async_run_close(lap_async_run *run);
void __wrap_lap_async_run_close(lap_async_run *run)
{
    say(run->staging ? "close " : "close? ");
}

void __wrap_lap_job_look_again(lap_job *job);
void __wrap_lap_job_look_again(lap_job *job)
{
    (void)job;
    say("again ");
}

void __wrap_lap_job_describe(lap_job *job);
void __wrap_lap_job_describe(lap_job *job)
{
    (void)job;
    say("describe ");
}

static void trace(const char *what, int device, int lane, uint64_t photo, double ms)
{
    const size_t at = strlen(fake.traced);
    snprintf(
        fake.traced + at, sizeof fake.traced - at, "%s:%d/%d#%d=%.0f ", what, device, lane, (int)photo, ms);
}

void __wrap_lap_trace_add(lap_trace *to, lap_trace_event event);
void __wrap_lap_trace_add(lap_trace *to, lap_trace_event event)
{
    (void)to;
    trace(event.what, event.device, event.lane, event.photo, event.from_ms);
}

void __wrap_lap_trace_thread(lap_trace *to, const char *what, double from_ms, uint64_t photo);
void __wrap_lap_trace_thread(lap_trace *to, const char *what, double from_ms, uint64_t photo)
{
    (void)to;
    trace(what, -1, 0, photo, from_ms);
}

void __wrap_lap_trace_stages(lap_trace *to, int device, int lane, const lap_times *ms, uint64_t photo);
void __wrap_lap_trace_stages(lap_trace *to, int device, int lane, const lap_times *ms, uint64_t photo)
{
    (void)to;
    trace("stages", device, lane, photo, ms->filter);
}

void __real_lap_executor_free(lap_executor *executor);
void __wrap_lap_executor_free(lap_executor *executor);
void __wrap_lap_executor_free(lap_executor *executor)
{
    say("freed ");
    __real_lap_executor_free(executor);
}

/* ---- pools ------------------------------------------------------------------------------------------ */

enum { JOBS = 3, NOW = 1000 };

static lap_context *context;
static lap_settings settings, other_settings;
static const int numbers[] = {0, 1, 2};

static void begin(void)
{
    fake = (struct fake){
        .now = NOW, .devices = 3, .threads = -1, .allocations = -1, .unused = 10000, .files = 1000};
    through = 0;
}

static void open_pool(const lap_device_pool_options *options, int count)
{
    lap_device_pool_options all = *options;
    lap_error err = {0};
    all.devices = numbers;
    all.count = count;
    assert_int_equal(lap_executor_devices(context, JOBS, &all, &ex, &err), LAP_OK);
    fake.calls[0] = fake.traced[0] = 0;
}

static lap_pool_device *device(int i)
{
    return &ex->pool->devices[i];
}

/* There are no threads, so the test frees the pending jobs. */
static void close_pool(void)
{
    lap_job *job;
    lap_executor_cancel(ex);
    while ((job = lap_executor_reap(ex, 0)))
        lap_job_free(job);
    while ((job = lap_job_pop(&ex->pool->by_pieces)))
        lap_job_free(job);
    lap_executor_close(ex);
    ex = NULL;
    assert_int_equal(fake.alive, 0);
}

/* Does a job on the CPU. */
static void do_job(lap_context *of, lap_job *job, const lap_settings *with)
{
    (void)of;
    const bool is_helped = strcmp(with->backend, "auto") != 0;
    say("cpu:%s/%s%d ", job->input, with->backend, with->device);
    assert_true(is_helped || with->codec == LAP_CODEC_CPU);
    job->report.status = LAP_DONE;
    job->report.error = (lap_error){0};
    if ((is_helped || !ex->pool->options.is_named) && fake.job != LAP_OK)
        lap_fail(&job->report.error, fake.job, "job failed");
}

static lap_job *new_job(const char *name, size_t size)
{
    lap_job *job = __real_calloc(1, sizeof *job);
    assert_non_null(job);
    job->work = do_job;
    job->input = strdup(name);
    job->settings = &settings;
    job->stat.st_size = (off_t)size;
    return job;
}

static lap_job *submit(const char *name, size_t size)
{
    lap_error err;
    lap_job *job = new_job(name, size);
    assert_int_equal(lap_executor_submit(ex, job, &err), LAP_OK);
    return job;
}

/* Does all the work that one thread would find. */
static void work(void)
{
    pthread_mutex_lock(&ex->mutex);
    ex->kind->work(ex);
    pthread_mutex_unlock(&ex->mutex);
}

static void forget(void)
{
    fake.calls[0] = fake.traced[0] = 0;
    fake.wakes = fake.signals = 0;
    ex->running = 0;
}

/* Adds a loaded photo in the state in which load() leaves it. */
static lap_device_task *put_task(int i, const char *name, bool is_small)
{
    lap_pool_device *d = device(i);
    lap_device_task *task = __real_calloc(1, sizeof *task);
    assert_non_null(task);
    task->job = new_job(name, 0);
    task->job->number = ex->submitted++;
    task->job->device = -1;
    ex->pending++;
    task->device = d;
    task->stagings = &d->stagings[is_small ? LAP_POOL_SMALL : LAP_POOL_LARGE];
    task->stagings->count++;
    task->stagings->loaded++;
    d->under_way++;
    task->is_small = is_small;
    task->run.staging = __real_calloc(1, sizeof *task->run.staging);
    assert_non_null(task->run.staging);
    fake.alive++;
    task->needs = task->run.staging->file_bytes = strtoul(name, NULL, 10);
    STAILQ_INSERT_TAIL(&d->ready, task, next);
    return task;
}

static int waiting(void)
{
    int count = 0;
    const lap_job *job;
    STAILQ_FOREACH(job, &ex->waiting, next)
    count++;
    assert_int_equal(ex->queued, count);
    return count;
}

static void assert_calls(const char *wanted, const char *file, int line)
{
    if (strcmp(fake.calls, wanted) != 0)
        fail_msg("%s:%d: \"%s\" instead of \"%s\"", file, line, fake.calls, wanted);
    fake.calls[0] = 0;
}
#define CALLS(wanted) assert_calls(wanted, __FILE__, __LINE__)

/* ---- opening and closing ----------------------------------------------------------------------------- */

static void test_opening(void **state)
{
    (void)state;
    lap_error err = {0};
    static const int some[] = {0, 2, 1};
    for (int there = 0; there <= 3; there++) {
        char wanted[100] = "";
        lap_device_pool_options options = {.devices = some, .count = 3};
        begin();
        fake.devices = there;
        const int missing = there == 0 ? 0 : 2;
        if (there < 3)
            snprintf(wanted, sizeof wanted, "CUDA device %d does not exist: there %s %d, counted from 0",
                missing, there == 1 ? "is" : "are", there);
        err = (lap_error){0};
        const lap_code code = lap_executor_devices(context, JOBS, &options, &ex, &err);
        assert_int_equal(code, there < 3 ? LAP_E_BACKEND : LAP_OK);
        assert_string_equal(err.message, wanted);
        assert_int_equal(ex != NULL, code == LAP_OK);
        if (code == LAP_OK) {
            assert_int_equal(lap_executor_ahead(ex), 256);
            assert_true(ex->pool->deadline_ms == 30000 && ex->pool->soon_ms == 1000);
            assert_true(ex->pool->count == 3 && device(1)->number == 2 && device(2)->number == 1);
            CALLS("thread0 thread2 thread1 ");
            close_pool();
            CALLS("join join join ");
        }
    }
    /* A thread or memory is missing. */
    for (int i = 0; i < 10; i++) {
        const lap_device_pool_options options = {.devices = some, .count = 2, .deadline_ms = 7, .soon_ms = 8};
        begin();
        if (i < 2)
            fake.threads = i;
        else
            fake.allocations = i - 2;
        err = (lap_error){0};
        const lap_code code = lap_executor_devices(context, JOBS, &options, &ex, &err);
        fake.allocations = -1;
        assert_int_equal(code, i < 8 ? LAP_E_MEMORY : LAP_OK);
        assert_string_equal(err.message, i < 2   ? "cannot start a thread: Resource temporarily unavailable"
                                         : i < 8 ? "out of memory"
                                                 : "");
        if (code != LAP_OK) {
            assert_null(ex);
            continue;
        }
        assert_true(ex->pool->deadline_ms == 7 && ex->pool->soon_ms == 8);
        close_pool();
    }
}

/* How many photos a device may have under way, and in how much pinned memory. */
static void test_shares(void **state)
{
    (void)state;
    enum { SMALL = 4 << 20 };
    static const struct {
        int devices, files;
        size_t pinned;
        int large, small;
        size_t most;
    } cases[] = {{1, 1000, 0, 16, 96, 0}, {3, 1000, 0, 14, 96, 0}, {1, 16, 0, 16, 0, 0}, {1, 17, 0, 16, 1, 0},
        {1, 15, 0, 16, 0, 0}, {1, 111, 0, 16, 95, 0}, {1, 112, 0, 16, 96, 0}, {1, 113, 0, 16, 96, 0},
        {2, 40, 0, 14, 6, 0}, {1, 18, 64u << 20, 16, 2, (56u << 20) / 16},
        {1, 18, (64u << 20) - 1, 16, 0, ((64u << 20) - 1) / 16}, {2, 32, 128u << 20, 14, 2, (56u << 20) / 14},
        {1, 16, 1 << 20, 16, 0, (1 << 20) / 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        fake.files = cases[i].files;
        fake.pins = i % 2;
        open_pool(&(lap_device_pool_options){.pinned = cases[i].pinned}, cases[i].devices);
        for (int k = 0; k < cases[i].devices; k++) {
            const lap_pool_stagings *large = &device(k)->stagings[LAP_POOL_LARGE],
                                    *small = &device(k)->stagings[LAP_POOL_SMALL];
            assert_int_equal(large->limit, cases[i].large);
            assert_int_equal(small->limit, cases[i].small);
            assert_int_equal(large->most, cases[i].most);
            assert_int_equal(small->most, SMALL);
            assert_int_equal(device(k)->pins, i % 2);
            assert_true(large->idle && small->idle);
        }
        close_pool();
    }
}

/* If a device's thread hangs in a call, the pool is kept; its thread frees all when the call returns. */
static void test_closing(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        const bool is_lost = i & 1, has_ended = i & 2, is_busy = i & 4,
                   hangs = is_lost && !has_ended && is_busy;
        begin();
        open_pool(&(lap_device_pool_options){.count = 0}, 2);
        lap_pool_device *d = device(1);
        d->is_lost = is_lost;
        d->has_ended = has_ended;
        d->busy_since = is_busy ? 5 : 0;
        d->has_thread = !(i & 8);
        lap_executor *executor = ex;
        const bool is_left = hangs && d->has_thread;
        lap_executor_close(ex);
        CALLS(is_left ? "join detach " : d == NULL ? "" : i & 8 ? "join " : "join join ");
        if (!is_left)
            continue;
        assert_true(executor->pool->is_closing && executor->pool->holders == 1 && !executor->trace);
        assert_null(lap_device_pool_serve(d));
        CALLS("open1 freed ");
    }
    begin();
    ex = NULL;
    lap_executor_close(ex);
}

/* ---- the owner ---------------------------------------------------------------------------------------- */

static void test_warnings(void **state)
{
    (void)state;
    lap_error warning;
    begin();
    open_pool(&(lap_device_pool_options){.count = 0}, 3);
    assert_false(lap_executor_warning(ex, &warning));
    for (int i = 2; i >= 1; i--) {
        lap_error why;
        lap_fail(&why, LAP_E_DEVICE, "reason %d", i);
        forget();
        lap_device_pool_lose(device(i), &why);
        assert_true(device(i)->is_lost && fake.wakes == JOBS && fake.signals == 1);
        lap_fail(&why, LAP_E_DEVICE, "another reason");
        forget();
        lap_device_pool_lose(device(i), &why); /* the first reason counts */
        assert_int_equal(fake.wakes, 0);
    }
    for (int i = 1; i <= 2; i++) {
        char wanted[2][100];
        snprintf(wanted[0], sizeof wanted[0], "CUDA device %d", i);
        snprintf(wanted[1], sizeof wanted[1], "failed; its photos are processed without it: reason %d", i);
        assert_true(lap_executor_warning(ex, &warning));
        assert_int_equal(warning.code, LAP_E_DEVICE);
        assert_string_equal(warning.subject, wanted[0]);
        assert_string_equal(warning.message, wanted[1]);
    }
    assert_false(lap_executor_warning(ex, &warning));
    lap_batch_work seen;
    device(0)->is_ready = device(1)->is_ready = true;
    device(0)->done = 77;
    device(2)->under_way = 5;
    lap_executor_look(ex, &seen);
    assert_int_equal(seen.device_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen.device[i].device, i);
        assert_int_equal(seen.device[i].is_ready, i == 0);
        assert_int_equal(seen.device[i].is_lost, i > 0);
        assert_int_equal(seen.device[i].done, i == 0 ? 77 : 0);
        assert_int_equal(seen.device[i].under_way, i == 2 ? 5 : 0);
    }
    device(2)->under_way = 0;
    close_pool();
}

/* Calls that take too long: more than 30 seconds, or more than two minutes while the device starts. */
static void test_looking_after(void **state)
{
    (void)state;
    static const struct {
        bool is_ready, has_ended, is_lost;
        double busy_since, after;
        const char *why;
    } cases[] = {{true, false, false, NOW, 30000, NULL},
        {true, false, false, NOW, 30001, "a call has not returned for 30 seconds"},
        {false, false, false, NOW, 120000, NULL},
        {false, false, false, NOW, 120001, "a call has not returned for 120 seconds"},
        {true, true, false, NOW, 30001, NULL}, {true, false, false, 0, 90000, NULL},
        {true, false, true, NOW, 30001, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 2);
        lap_pool_device *d = device(1);
        d->is_ready = cases[i].is_ready;
        d->has_ended = cases[i].has_ended;
        d->is_lost = cases[i].is_lost;
        d->busy_since = cases[i].busy_since;
        put_task(1, "5", false);
        forget();
        ex->running = 1;
        fake.now = NOW + cases[i].after;
        assert_null(lap_executor_reap(ex, 0));
        assert_int_equal(d->is_lost, cases[i].why != NULL);
        assert_string_equal(d->why.message, cases[i].why ? cases[i].why : "");
        /* Its photo waits again. */
        const bool taken = cases[i].why && cases[i].why[0];
        assert_int_equal(waiting(), taken);
        assert_int_equal(d->under_way, !taken);
        CALLS(taken ? "close abandon " : "");
        /* A hanging thread may have no photo left when the test ends. */
        d->has_ended = true;
        lap_device_task *task;
        while ((task = lap_device_task_pop(&d->ready))) {
            lap_job_free(task->job);
            ex->pending--;
            lap_device_task_abandon(task);
        }
        close_pool();
    }
    /* A thread that could not be started, and a device that is late. */
    begin();
    open_pool(&(lap_device_pool_options){.count = 0}, 1);
    forget();
    assert_null(lap_executor_reap(ex, 0));
    assert_int_equal(fake.wakes, 1);
    forget();
    ex->running = 1;
    assert_null(lap_executor_reap(ex, 0));
    assert_int_equal(fake.wakes, 0);
    close_pool();
    for (int i = 0; i < 4; i++) {
        const bool is_late = i & 1, is_queued = i & 2;
        begin();
        open_pool(&(lap_device_pool_options){.count = 0}, 1);
        device(0)->busy_since = NOW;
        fake.now = NOW + 1000 + is_late;
        if (is_queued)
            submit("5", 1 << 20);
        forget();
        assert_null(lap_executor_reap(ex, 0));
        assert_int_equal(fake.wakes, is_late && is_queued ? JOBS : 1);
        close_pool();
    }
}

static void test_what_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = i & 1}, 2);
        bool any = false, alive = false, all_late = true;
        int first = -1;
        fake.now = NOW + 1001;
        for (int k = 0; k < 2; k++) {
            lap_pool_device *d = device(k);
            d->is_ready = i & (k ? 16 : 2);
            d->is_lost = i & (k ? 32 : 4);
            d->busy_since = i & 8 ? NOW : 0;
            any = any || (d->is_ready && !d->is_lost);
            first = first < 0 && d->is_ready && !d->is_lost ? k : first;
            alive = alive || !d->is_lost;
            all_late = all_late && (d->is_lost || (!d->is_ready && (i & 8)));
        }
        assert_ptr_equal(lap_device_pool_any(ex->pool), any ? device(first) : NULL);
        assert_int_equal(lap_device_pool_is_alive(ex->pool), alive);
        assert_int_equal(lap_device_pool_cpu_may(ex->pool), i & 1 ? !alive : all_late);
        fake.now = NOW + 1000; /* not yet late */
        assert_int_equal(lap_device_pool_cpu_may(ex->pool), !alive);
        device(0)->is_lost = device(1)->is_lost = false;
        close_pool();
    }
}

/* ---- a device that is lost ----------------------------------------------------------------------------- */

static void test_taking_back(void **state)
{
    (void)state;
    for (int hangs = 0; hangs < 3; hangs++) { /* 2: it is not lost */
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 1);
        lap_pool_device *d = device(0);
        for (int i = 1; i <= 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "%d", i);
            put_task(0, name, i == 2);
        }
        /* One photo is on the last lane, and one is being started. */
        lap_device_task *on_lane = lap_device_task_pop(&d->ready), *first = lap_device_task_pop(&d->ready);
        STAILQ_INSERT_TAIL(&d->lanes[LAP_POOL_LANES - 1].tasks, on_lane, next);
        STAILQ_INSERT_TAIL(&d->starting, first, next);
        lap_error why;
        lap_fail(&why, LAP_E_DEVICE, "gone");
        if (hangs < 2)
            lap_device_pool_lose(d, &why);
        forget();
        lap_device_pool_take_back(d, hangs == 1);
        if (hangs == 2) {
            CALLS("");
            assert_int_equal(d->under_way, 4);
            lap_device_pool_lose(d, &why);
            forget();
            lap_device_pool_take_back(d, false);
            CALLS("close abandon close abandon close abandon ");
        } else if (hangs == 1) { /* memory that its thread may still use is kept until it ends */
            CALLS("close close abandon close abandon close ");
            assert_true(on_lane == STAILQ_FIRST(&d->taken_back) && !on_lane->job);
            assert_true(STAILQ_NEXT(on_lane, next) == first && !first->job && STAILQ_EMPTY(&d->starting));
        } else {
            CALLS("close abandon close abandon close abandon ");
            assert_ptr_equal(STAILQ_FIRST(&d->starting), first);
        }
        const int back = hangs == 1 ? 4 : 3;
        assert_int_equal(fake.wakes, JOBS);
        assert_int_equal(d->under_way, 4 - back);
        assert_int_equal(waiting(), back);
        assert_string_equal(STAILQ_FIRST(&ex->waiting)->input, hangs == 1 ? "2" : "4");
        d->has_ended = true;
        if (hangs != 1) {
            lap_job_free(first->job);
            ex->pending--;
            lap_device_task_abandon(first);
        }
        STAILQ_INIT(&d->starting);
        close_pool();
    }
}

/* There is no memory for another photo, or memory cannot be pinned. */
static void test_dropping(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        const bool is_last = i & 1, was_lost = i & 2, is_small = i & 4, unloads = i & 8;
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 1);
        lap_pool_device *d = device(0);
        lap_pool_stagings *s = &d->stagings[is_small ? LAP_POOL_SMALL : LAP_POOL_LARGE];
        lap_error why;
        lap_fail(&why, LAP_E_MEMORY, "no memory");
        lap_device_task *task = put_task(0, "5", is_small);
        STAILQ_INIT(&d->ready);
        lap_job *job = task->job;
        s->count = is_last ? 1 : 3;
        d->is_lost = was_lost;
        forget();
        pthread_mutex_lock(&ex->mutex);
        if (unloads) {
            lap_device_pool_unload(task, &why);
        } else {
            lap_device_pool_drop(d, s, task->run.staging, &why);
            s->loaded--;
            d->under_way--;
            free(task);
        }
        pthread_mutex_unlock(&ex->mutex);
        CALLS(unloads    ? (was_lost ? "close abandon " : "close destroy ")
              : was_lost ? "abandon "
                         : "destroy ");
        assert_int_equal(s->count, is_last ? 0 : 2);
        assert_int_equal(s->limit, s->count);
        assert_int_equal(s->loaded, 0);
        assert_int_equal(d->under_way, 0);
        const bool loses = is_last && !is_small;
        assert_int_equal(d->is_lost, was_lost || loses);
        assert_string_equal(d->why.message, loses && !was_lost ? "no memory" : "");
        assert_int_equal(waiting(), unloads);
        assert_int_equal(fake.wakes, loses && !was_lost ? JOBS : unloads);
        if (!unloads) {
            lap_job_free(job);
            ex->pending--;
        }
        d->has_ended = true;
        close_pool();
    }
}

/* ---- threads: which photo goes where ------------------------------------------------------------------- */

enum { SMALL_FILE = 256 << 10 };

/* Chooses the device with the fewest photos that can take another one; each case gives the state of two
 * devices. */
static void test_choice_of_device(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        bool pins, ready[2], lost[2];
        int under_way[2], idle[2], count[2], loaded[2];
        bool is_small, is_large;
        int chosen; /* -1: the photo waits */
    } cases[] = {
        {"alike: the first", false, {true, true}, {0}, {0}, {0}, {0}, {0}, false, false, 0},
        {"fewer", false, {true, true}, {0}, {3, 2}, {0}, {0}, {0}, false, false, 1},
        {"as many", false, {true, true}, {0}, {2, 2}, {0}, {0}, {0}, false, false, 0},
        {"not ready", false, {false, true}, {0}, {0, 9}, {0}, {0}, {0}, false, false, 1},
        {"not ready, but no call is needed", true, {false, true}, {0}, {0, 9}, {0}, {0}, {0}, false, false,
            0},
        {"lost", true, {true, true}, {true, false}, {0, 9}, {0}, {0}, {0}, false, false, 1},
        {"neither is ready", false, {false, false}, {0}, {0}, {0}, {0}, {0}, false, false, -1},
        {"no room", false, {true, true}, {0}, {0, 9}, {0}, {14, 0}, {0}, false, false, 1},
        {"room again", false, {true, true}, {0}, {0, 9}, {1, 0}, {14, 0}, {0}, false, false, 0},
        {"room for one more", false, {true, true}, {0}, {0, 9}, {0}, {13, 0}, {0}, false, false, 0},
        {"eight are loaded", false, {true, true}, {0}, {0, 9}, {0}, {9, 0}, {8, 0}, false, false, 1},
        {"seven are loaded", false, {true, true}, {0}, {0, 9}, {0}, {9, 0}, {7, 0}, false, false, 0},
        {"eight small ones are loaded", false, {true, true}, {0}, {0, 9}, {0}, {9, 0}, {8, 0}, true, false,
            0},
        {"small ones, while it starts", true, {false, true}, {0}, {0, 9}, {0}, {9, 0}, {8, 0}, true, false,
            1},
        {"small ones, at first", true, {false, true}, {0}, {0, 9}, {0}, {9, 0}, {7, 0}, true, false, 0},
        {"all small ones", false, {true, true}, {0}, {0, 9}, {0}, {96, 0}, {0, 0}, true, false, 1},
        {"a small file, a large photo", false, {true, true}, {0}, {0, 9}, {0}, {14, 0}, {0}, true, true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        fake.pins = cases[i].pins;
        open_pool(&(lap_device_pool_options){.is_named = true}, 2);
        const int kind = cases[i].is_small && !cases[i].is_large ? LAP_POOL_SMALL : LAP_POOL_LARGE;
        for (int k = 0; k < 2; k++) {
            lap_pool_device *d = device(k);
            lap_pool_stagings *s = &d->stagings[kind];
            d->is_ready = cases[i].ready[k];
            d->is_lost = cases[i].lost[k];
            d->under_way = cases[i].under_way[k];
            s->count = cases[i].count[k];
            s->loaded = cases[i].loaded[k];
            if (cases[i].idle[k]) {
                s->idle[s->idle_count++] = __real_calloc(1, sizeof **s->idle);
                fake.alive++;
                s->idle[0]->device = k;
            }
        }
        lap_job *job = submit("5", SMALL_FILE + !cases[i].is_small);
        job->is_large = cases[i].is_large;
        forget();
        work();
        const int at = cases[i].chosen;
        char wanted[40] = "";
        if (at >= 0)
            snprintf(wanted, sizeof wanted, cases[i].idle[at] ? "load%d:5 " : "new%d load%d:5 ", at, at);
        if (strcmp(fake.calls, wanted) != 0)
            fail_msg("%s: %s", cases[i].what, fake.calls);
        assert_int_equal(waiting(), at < 0);
        assert_int_equal(fake.signals, at >= 0);
        for (int k = 0; k < 2; k++) {
            lap_pool_device *d = device(k);
            lap_device_task *task = lap_device_task_pop(&d->ready);
            assert_int_equal(task != NULL, k == at);
            assert_int_equal(d->under_way, cases[i].under_way[k] + (k == at));
            assert_int_equal(d->stagings[kind].loaded, cases[i].loaded[k] + (k == at));
            assert_int_equal(d->stagings[kind].count, cases[i].count[k] + (k == at && !cases[i].idle[k]));
            assert_int_equal(d->stagings[kind].idle_count, 0);
            d->is_lost = false;
            if (!task)
                continue;
            assert_true(task->job == job && task->device == d && task->needs == 5 && task->is_small);
            assert_ptr_equal(task->stagings, &d->stagings[kind]);
            assert_int_equal(task->run.staging->device, k);
            if (!cases[i].idle[k])
                assert_int_equal(task->run.staging->kind, cases[i].pins ? LAP_HOST_PINS : LAP_HOST_PINNED);
            lap_job_free(job);
            ex->pending--;
            lap_device_task_abandon(task);
        }
        close_pool();
    }
}

/* The memory that a photo needs decides whether it is small, not the size of its file. */
static void test_small_photos(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_small;
    } cases[] = {{"0", false}, {"1", true}, {"8388608", true}, {"8388609", false}};
    for (int i = 0; i < 4; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true, .pinned = 0}, 1);
        device(0)->is_ready = true;
        lap_job *job = submit(cases[i].name, 7);
        work();
        lap_device_task *task = lap_device_task_pop(&device(0)->ready);
        assert_non_null(task);
        assert_int_equal(task->is_small, cases[i].is_small);
        assert_int_equal(task->run.staging->most, LAP_DEVICE_SMALL_STAGING);
        assert_string_equal(fake.traced, "read:-1/0#0=1000 ");
        lap_job_free(job);
        ex->pending--;
        lap_device_task_abandon(task);
        close_pool();
    }
}

/* If a photo cannot be loaded: what happens to the photo and to the device. */
static void test_failed_loads(void **state)
{
    (void)state;
    enum { FINE, UNHANDLED, SHORT, LOST };
    static const struct {
        const char *what;
        int how;
        lap_code create, load;
        bool is_idle, is_small;
        int measured; /* 1: with profiles; 2: without the outer pixels */
        const char *calls;
        bool is_lost;
        int count; /* stagings of this kind that remain */
    } cases[] = {
        {"not for a device", UNHANDLED, 0, 0, false, true, 0, "new0 load0:5 cpu:5/card0 ", false, 1},
        {"the same, in memory that was there", UNHANDLED, 0, 0, true, true, 0, "load0:5 cpu:5/card0 ", false,
            1},
        {"a small file, a large photo", SHORT, 0, 0, false, true, 0, "new0 load0:5 new0 load0:5 cpu:5/card0 ",
            false, 1},
        {"a large photo", SHORT, 0, 0, false, false, 0, "new0 load0:5 cpu:5/card0 ", false, 1},
        {"profiles", FINE, 0, 0, false, true, 1, "new0 cpu:5/card0 ", false, 1},
        {"without the outer pixels", FINE, 0, 0, false, true, 2, "new0 cpu:5/card0 ", false, 1},
        {"no memory", FINE, LAP_E_MEMORY, 0, false, true, 0, "new0 destroy new0 destroy cpu:5/auto0 ", true,
            0},
        {"the device fails", FINE, LAP_E_DEVICE, 0, false, true, 0, "new0 destroy cpu:5/auto0 ", true, 0},
        {"loading needs more memory", FINE, 0, LAP_E_MEMORY, false, true, 0,
            "new0 load0:5 destroy new0 load0:5 destroy cpu:5/auto0 ", true, 0},
        {"loading fails", FINE, 0, LAP_E_DEVICE, true, true, 0, "load0:5 abandon cpu:5/auto0 ", true, 0},
        {"it is lost meanwhile", LOST, 0, 0, false, true, 0, "new0 load0:5 close abandon cpu:5/auto0 ", true,
            0},
        {"it is lost meanwhile, and could not have done it", LOST + UNHANDLED, 0, 0, false, true, 0,
            "new0 load0:5 abandon cpu:5/auto0 ", true, 0},
        {"no memory for large photos", FINE, LAP_E_MEMORY, 0, false, false, 0, "new0 destroy cpu:5/auto0 ",
            true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 1);
        lap_pool_device *d = device(0);
        lap_pool_stagings *s = &d->stagings[cases[i].is_small ? LAP_POOL_SMALL : LAP_POOL_LARGE];
        const lap_measure_options measure = {
            .profiles = cases[i].measured == 1, .mask_border = cases[i].measured == 2};
        d->is_ready = true;
        if (cases[i].is_idle) {
            s->idle[s->idle_count++] = __real_calloc(1, sizeof **s->idle);
            s->count++;
            fake.alive++;
        }
        lap_job *job = submit("5", SMALL_FILE + !cases[i].is_small);
        job->measure = cases[i].measured ? &measure : NULL;
        fake.unhandled = cases[i].how % LOST > 0;
        fake.is_short = cases[i].how == SHORT;
        fake.is_lost_meanwhile = cases[i].how >= LOST;
        fake.create = cases[i].create;
        fake.load = cases[i].load;
        forget();
        work();
        if (strcmp(fake.calls, cases[i].calls) != 0)
            fail_msg("%s: %s", cases[i].what, fake.calls);
        assert_int_equal(d->is_lost, cases[i].is_lost);
        assert_int_equal(d->under_way, 0);
        assert_int_equal(s->loaded, 0);
        assert_int_equal(s->count, cases[i].count);
        assert_int_equal(s->idle_count, cases[i].count);
        assert_int_equal(ex->pool->small_busy, 0);
        assert_false(job->is_large); /* of the last try */
        assert_int_equal(job->device, -1);
        assert_ptr_equal(lap_executor_reap(ex, 0), job);
        lap_job_free(job);
        d->has_ended = true;
        close_pool();
    }
    /* There is no memory for the task. */
    begin();
    open_pool(&(lap_device_pool_options){.is_named = true}, 1);
    device(0)->is_ready = true;
    lap_job *job = submit("5", SMALL_FILE + 1);
    fake.allocations = 0;
    forget();
    work();
    fake.allocations = -1;
    CALLS("new0 destroy cpu:5/auto0 ");
    assert_string_equal(device(0)->why.message, "out of memory");
    assert_ptr_equal(lap_executor_reap(ex, 0), job);
    lap_job_free(job);
    device(0)->has_ended = true;
    close_pool();
}

/* ---- threads: what devices have finished --------------------------------------------------------------- */

static void test_storing(void **state)
{
    (void)state;
    static const lap_measure_options measure = {.mask_border = 0};
    for (int i = 0; i < 32; i++) {
        const bool is_small = i & 1, measured = i & 2, refused = i & 4, unfinished = i & 8, lost = i & 16;
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 2);
        lap_pool_device *d = device(1);
        lap_device_task *task = put_task(1, "5", is_small);
        lap_job *job = task->job;
        lap_pool_stagings *s = task->stagings;
        STAILQ_INIT(&d->ready);
        d->under_way = s->loaded = 0;
        d->is_ready = true;
        d->is_lost = lost;
        task->is_refused = refused;
        job->measure = measured ? &measure : NULL;
        fake.unfinished = unfinished;
        STAILQ_INSERT_TAIL(&ex->pool->finished, task, next);
        forget();
        work();
        const bool is_done = !refused && !unfinished;
        char wanted[80];
        /* The CPU does what a device has left, with the help of the same device or of another; the other
         * is not ready. */
        snprintf(wanted, sizeof wanted, "%s%s%s",
            !is_done   ? "close "
            : measured ? "measure describe close "
                       : "store:5 again close ",
            lost ? "abandon " : "", !is_done && !lost ? "cpu:5/card1 " : "");
        CALLS(wanted);
        assert_string_equal(fake.traced, !is_done && !lost
                                             ? (measured ? "measure:-1/0#0=1000 photo:-1/0#0=1000 "
                                                         : "write:-1/0#0=1000 photo:-1/0#0=1000 ")
                                         : measured ? "measure:-1/0#0=1000 "
                                                    : "write:-1/0#0=1000 ");
        assert_int_equal(s->idle_count, !lost);
        assert_int_equal(d->done, is_done);
        assert_int_equal(job->device, is_done ? 1 : -1);
        assert_int_equal(job->left_by_device, !is_done);
        assert_int_equal(ex->pool->small_busy, 0);
        const bool is_waiting = !is_done && lost;
        assert_ptr_equal(STAILQ_FIRST(&ex->pool->by_pieces), is_waiting ? job : NULL);
        assert_ptr_equal(lap_executor_reap(ex, 0), is_waiting ? NULL : job);
        if (!is_waiting) {
            assert_int_equal(job->report.status, LAP_DONE);
            lap_job_free(job);
        } else {
            ex->pending--;
        }
        d->has_ended = true;
        close_pool();
    }
}

/* A photo that no device can do completely is done by the CPU, with or without the help of a device. */
static void test_cpu(void **state)
{
    (void)state;
    static const struct {
        bool is_named, is_ready, is_lost;
        lap_code code;
        const char *calls;
        bool loses;
    } cases[] = {{true, true, false, LAP_OK, "cpu:5/card0 ", false}, {true, false, false, LAP_OK, "", false},
        {true, true, true, LAP_OK, "cpu:5/auto0 ", false},
        {false, true, false, LAP_OK, "cpu:5/auto0 ", false},
        {false, false, false, LAP_OK, "cpu:5/auto0 ", false},
        {true, true, false, LAP_E_MEMORY, "cpu:5/card0 cpu:5/auto0 ", false},
        {true, true, false, LAP_E_DEVICE, "cpu:5/card0 cpu:5/auto0 ", true},
        {true, true, false, LAP_E_BACKEND, "cpu:5/card0 cpu:5/auto0 ", true},
        {true, true, false, LAP_E_DAMAGED, "cpu:5/card0 ", false},
        {false, true, false, LAP_E_DAMAGED, "cpu:5/auto0 ", false},
        {false, true, false, LAP_E_MEMORY, "cpu:5/auto0 ", false},
        {false, true, false, LAP_E_DEVICE, "cpu:5/auto0 ", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = cases[i].is_named}, 1);
        lap_pool_device *d = device(0);
        d->is_ready = cases[i].is_ready;
        d->is_lost = cases[i].is_lost;
        lap_job *job = new_job("5", 9);
        ex->pending++;
        STAILQ_INSERT_TAIL(&ex->pool->by_pieces, job, next);
        fake.job = cases[i].code;
        forget();
        work();
        CALLS(cases[i].calls);
        assert_int_equal(d->is_lost, cases[i].is_lost || cases[i].loses);
        assert_string_equal(d->why.message, cases[i].loses ? "job failed" : "");
        const bool waits = !cases[i].calls[0];
        assert_ptr_equal(lap_executor_reap(ex, 0), waits ? NULL : job);
        if (waits) {
            ex->pending--;
        } else {
            const bool is_final = !cases[i].is_named || cases[i].code == LAP_E_DAMAGED;
            assert_int_equal(job->report.error.code, is_final ? cases[i].code : LAP_OK);
            lap_job_free(job);
        }
        d->has_ended = true;
        close_pool();
    }
}

/* Photos that wait for a device do not delay small ones, which the CPU does. */
static void test_beside_the_cpu(void **state)
{
    (void)state;
    static const char *const names[] = {"1", "2", "3", "4"};
    static const size_t sizes[] = {1001, 1000, 5000, 999};
    static const struct {
        bool is_named, is_ready, is_lost, is_late;
        const char *calls;
        int waits;
    } cases[] = {{false, false, false, false, "cpu:2/auto0 cpu:4/auto0 ", 2},
        {false, true, false, false, "new0 load0:1 cpu:2/auto0 new0 load0:3 cpu:4/auto0 ", 0},
        {false, false, false, true, "cpu:1/auto0 cpu:2/auto0 cpu:3/auto0 cpu:4/auto0 ", 0},
        {false, false, true, false, "cpu:1/auto0 cpu:2/auto0 cpu:3/auto0 cpu:4/auto0 ", 0},
        {true, false, false, true, "", 4},
        {true, false, true, false, "cpu:1/auto0 cpu:2/auto0 cpu:3/auto0 cpu:4/auto0 ", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = cases[i].is_named, .small_bytes = 1000}, 1);
        lap_pool_device *d = device(0);
        d->is_ready = cases[i].is_ready;
        d->is_lost = cases[i].is_lost;
        fake.now = NOW + 5000;
        d->busy_since = cases[i].is_late ? NOW : 0;
        for (int k = 0; k < 4; k++)
            submit(names[k], sizes[k]);
        forget();
        work();
        CALLS(cases[i].calls);
        assert_int_equal(waiting(), cases[i].waits);
        lap_device_task *task;
        while ((task = lap_device_task_pop(&d->ready))) {
            lap_job_free(task->job);
            ex->pending--;
            lap_device_task_abandon(task);
        }
        d->busy_since = 0;
        d->has_ended = true;
        close_pool();
    }
}

/* Whether enough threads have small photos, for each kind of next work and number of those threads. */
static void test_enough(void **state)
{
    (void)state;
    enum { NOTHING, SMALL_JOB, LARGE_JOB, CPU_JOB, SMALL_TASK, LARGE_TASK, PIECES, NEXT };
    for (int i = 0; i < NEXT * 8; i++) {
        const int next = i % NEXT, busy = 3 + i / NEXT % 2, threads = i / NEXT / 2 % 2 ? 2 : 0;
        const bool has_device = i / NEXT / 4;
        begin();
        open_pool(&(lap_device_pool_options){.small_threads = threads, .small_bytes = 10}, 2);
        ex->pool->small_busy = busy;
        device(1)->is_ready = has_device;
        lap_device_task *task = NULL;
        if (next >= SMALL_JOB && next <= CPU_JOB)
            submit("5", next == SMALL_JOB ? SMALL_FILE : next == CPU_JOB ? 10 : SMALL_FILE + 1);
        if (next == SMALL_TASK || next == LARGE_TASK) {
            task = put_task(0, "5", next == SMALL_TASK);
            STAILQ_INIT(&device(0)->ready);
            STAILQ_INSERT_TAIL(&ex->pool->finished, task, next);
        }
        if (next == PIECES) {
            submit("5", SMALL_FILE);
            lap_job *piece = new_job("6", 5);
            STAILQ_INSERT_TAIL(&ex->pool->by_pieces, piece, next);
        }
        const bool small = next == SMALL_TASK || (next == SMALL_JOB && has_device);
        const bool enough = small && threads > 0 && busy >= 4;
        assert_int_equal(lap_device_pool_is_enough(ex), enough);
        /* If so, no thread is woken, and a thread that looks for work does nothing. */
        forget();
        pthread_mutex_lock(&ex->mutex);
        assert_true(lap_executor_wake(ex));
        pthread_mutex_unlock(&ex->mutex);
        assert_int_equal(fake.wakes, !enough);
        if (enough) {
            work();
            CALLS("");
        }
        if (task) {
            STAILQ_INIT(&ex->pool->finished);
            lap_job_free(task->job);
            ex->pending--;
            lap_device_task_abandon(task);
        }
        close_pool();
    }
    /* A thread that begins other work wakes another thread for the small photo that comes next. */
    for (int kind = 0; kind < 2; kind++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true}, 1);
        lap_pool_device *d = device(0);
        d->is_ready = true;
        submit("5", SMALL_FILE + kind);
        submit("6", SMALL_FILE);
        forget();
        fake.is_lost_meanwhile = false;
        work();
        assert_int_equal(fake.wakes, kind);
        lap_device_task *task;
        while ((task = lap_device_task_pop(&d->ready))) {
            lap_job_free(task->job);
            ex->pending--;
            lap_device_task_abandon(task);
        }
        close_pool();
    }
}

/* ---- a device's thread --------------------------------------------------------------------------------- */

enum { STEPS = 6 };

static const unsigned *done_at; /* which slots are through when the thread waits for the n-th time */
static double later;            /* how much time passes until then */
static lap_code *mended;        /* what fails until the thread waits for the first time */

static void next_step(int turn)
{
    fake.now += later;
    if (mended)
        *mended = LAP_OK;
    bool is_last = later == 0 || turn > 2;
    for (int i = turn; i < STEPS; i++)
        is_last = is_last && !done_at[i];
    through |= turn < STEPS ? done_at[turn] : 0;
    ex->pool->is_closing = is_last;
}

/* Photos in words: what each needs; s: it is small; p: its memory must be pinned; o: other settings; a to h:
 * which go together. */
static void put_photos(const char *words)
{
    while (*words) {
        const size_t length = strspn(words, "0123456789"), end = strcspn(words, " ");
        char name[20];
        snprintf(name, sizeof name, "%.*s", (int)length, words);
        lap_device_task *task = put_task(0, name, memchr(words, 's', end) != NULL);
        task->run.staging->is_filtered = memchr(words, 'p', end) != NULL;
        if (memchr(words, 'o', end))
            task->job->settings = &other_settings;
        for (int c = 'a'; c <= 'h'; c++)
            if (memchr(words, c, end))
                task->run.staging->turn = (lap_turn)(1 + c - 'a');
        words += end + (words[end] == ' ');
    }
}

/* The photos that are done, in words; refused ones with an exclamation mark. */
static void take_finished(char words[400], double filter_ms)
{
    lap_device_task *task;
    words[0] = 0;
    while ((task = lap_device_task_pop(&ex->pool->finished))) {
        const size_t at = strlen(words);
        snprintf(words + at, 400 - at, "%s%s ", task->job->input, task->is_refused ? "!" : "");
        if (!task->is_refused && filter_ms > 0)
            assert_true(task->run.photo.ms.filter == filter_ms);
        lap_job_free(task->job);
        ex->pending--;
        lap_device_task_abandon(task);
    }
}

static void drop_tasks(lap_device_task_list *list, bool is_ready)
{
    lap_device_task *task;
    while ((task = lap_device_task_pop(list))) {
        device(0)->under_way--;
        task->stagings->loaded -= is_ready;
        lap_job_free(task->job);
        ex->pending--;
        lap_device_task_abandon(task);
    }
}

/* How much memory a device has for photos, and what begins when it is ready. */
static void test_start(void **state)
{
    (void)state;
    static const unsigned nothing[STEPS];
    static const size_t most = 3400000000;
    static const struct {
        size_t asked, unused, budget;
        lap_code code;
        bool is_lost;
    } cases[] = {{0, 10000, 9000, LAP_OK, false}, {8999, 10000, 8999, LAP_OK, false},
        {9001, 10000, 9000, LAP_OK, false}, {0, 109, 90, LAP_OK, false},
        {0, (size_t)40 << 30, most, LAP_OK, false},
        {(size_t)5 << 30, (size_t)40 << 30, (size_t)5 << 30, LAP_OK, false},
        {0, 10000, 9000, LAP_E_DEVICE, false}, {0, 10000, 9000, LAP_OK, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true, .memory = cases[i].asked}, 1);
        lap_pool_device *d = device(0);
        const bool is_good = cases[i].code == LAP_OK && !cases[i].is_lost;
        put_photos("999999999999 5s");
        forget();
        d->is_lost = cases[i].is_lost;
        fake.unused = cases[i].unused;
        fake.open = cases[i].code;
        fake.now = NOW + 7;
        fake.idle = next_step;
        done_at = nothing;
        assert_null(lap_device_pool_serve(d));
        assert_int_equal(d->budget, cases[i].budget);
        assert_int_equal(d->is_ready, is_good);
        assert_int_equal(d->is_lost, !is_good);
        assert_string_equal(d->why.message, cases[i].code != LAP_OK ? "open failed" : "");
        assert_int_equal(fake.restarts, 2);
        assert_true(d->has_ended && d->busy_since == 0 && ex->pool->holders == 0);
        assert_memory_equal(fake.traced, "start:0/12#0=1007 ", 18);
        char finished[400];
        take_finished(finished, 0);
        assert_string_equal(finished, is_good ? "999999999999! " : "");
        assert_int_equal(waiting(), is_good ? 0 : 2);
        assert_int_equal(fake.wakes, cases[i].is_lost ? 2 : JOBS);
        drop_tasks(&d->lanes[0].tasks, false);
        fake.idle = NULL;
        close_pool();
    }
}

/* Which lanes photos get, when they begin and end. */
static void test_rounds(void **state)
{
    (void)state;
    static const struct {
        size_t memory;
        const char *photos;
        unsigned through[STEPS];
        const char *calls, *finished;
    } cases[] = {
        {1000, "80 80", {3}, "room0=90 start0:80 room1=90 start1:80 look wait ", "80 80 "},
        {1000, "80 80", {2, 1}, "room0=90 start0:80 room1=90 start1:80 look look wait ", "80 80 "},
        /* There is room for two, and the third waits. */
        {200, "80 80 79", {0, 2, 3}, "room0=90 start0:80 room1=90 start1:80 look look start1:79 look wait ",
            "80 80 79 "},
        /* Only as much as there is: just what it needs. */
        {100, "90", {1}, "room0=90 start0:90 look wait ", "90 "},
        {101, "90", {1}, "room0=101 start0:90 look wait ", "90 "},
        {100, "100", {1}, "room0=100 start0:100 look wait ", "100 "},
        /* Too large, and of no known size. */
        {100, "101 0 8", {1}, "room0=9 start0:8 look wait ", "101! 0! 8 "},
        /* The lane grows, with the memory of lanes that are free. */
        {200, "80 150", {1, 1}, "room0=90 start0:80 look room0=0 room0=168 start0:150 look wait ", "80 150 "},
        {200, "80 60 150", {3, 1},
            "room0=90 start0:80 room1=67 start1:60 look room0=0 room1=0 room0=168 start0:150 look wait ",
            "80 60 150 "},
        {300, "80 60 170", {3, 1},
            "room0=90 start0:80 room1=67 start1:60 look room0=0 room0=191 start0:170 look wait ",
            "80 60 170 "},
        /* One that is busy keeps its memory, and the photo waits for it. */
        {200, "80 60 150", {1, 0, 2, 2},
            "room0=90 start0:80 room1=67 start1:60 look room0=0 room0=0 look room0=0 look room0=0 room1=0 "
            "room1=168 start1:150 look wait ",
            "80 60 150 "},
        /* The smallest lane that is large enough; or else the largest one. */
        {1000, "80 40 160 30 90 70", {63},
            "room0=90 start0:80 room1=45 start1:40 room2=180 start2:160 room3=33 start3:30 room4=101 "
            "start4:90 room5=78 start5:70 look wait ",
            "80 40 160 30 90 70 "},
        {350, "80 40 160 40 41 91", {7, 7},
            "room0=90 start0:80 room1=45 start1:40 room2=180 start2:160 look start1:40 start0:41 start2:91 "
            "look "
            "wait ",
            "80 40 160 41 40 91 "},
        {350, "80 40 160 181", {7, 4},
            "room0=90 start0:80 room1=45 start1:40 room2=180 start2:160 look room0=0 room1=0 room2=0 "
            "room2=203 start2:181 "
            "look "
            "wait ",
            "80 40 160 181 "},
        /* Twelve large photos at once. */
        {10000, "8 8 8 8 8 8 8 8 8 8 8 8 7", {4095, 1},
            "room0=9 start0:8 room1=9 start1:8 room2=9 start2:8 room3=9 start3:8 room4=9 start4:8 room5=9 "
            "start5:8 "
            "room6=9 start6:8 room7=9 start7:8 room8=9 start8:8 room9=9 start9:8 room10=9 start10:8 room11=9 "
            "start11:8 look start0:7 look wait ",
            "8 8 8 8 8 8 8 8 8 8 8 8 7 "},
        /* Small ones together: those of one kind that follow each other. */
        {3000000000, "5s 6s 7s", {1}, "room0=16777216 start0:5+6+7 look wait ", "5 6 7 "},
        {18, "5s 6s 7s", {1, 1}, "room0=12 start0:5+6 look start0:7 look wait ", "5 6 7 "},
        {19, "5s 6s 7s", {3}, "room0=12 start0:5+6 room1=7 start1:7 look wait ", "5 6 7 "},
        {20, "5s 6s 7s", {1}, "room0=20 start0:5+6+7 look wait ", "5 6 7 "},
        {1000, "5s 6sa 7sa", {3}, "room0=5 start0:5 room1=14 start1:6+7 look wait ", "5 6 7 "},
        {1000, "5s 6so 7s", {7}, "room0=5 start0:5 room1=6 start1:6 room2=7 start2:7 look wait ", "5 6 7 "},
        {1000, "5s 6 7s", {7}, "room0=5 start0:5 room1=6 start1:6 room2=7 start2:7 look wait ", "5 6 7 "},
        {1000, "5 6s", {3}, "room0=5 start0:5 room1=6 start1:6 look wait ", "5 6 "},
        /* At most four chains; what comes behind them waits, too. */
        {1000, "1sa 2sb 3sc 4sd 5se 6", {2, 61},
            "room0=1 start0:1 room1=2 start1:2 room2=3 start2:3 room3=4 start3:4 look room4=5 start4:5 "
            "room5=6 start5:6 look wait ",
            "2 1 3 4 5 6 "},
        {1000, "1sa 2sb 3sc 4 5sd 6se", {2, 253},
            "room0=1 start0:1 room1=2 start1:2 room2=3 start2:3 room3=4 start3:4 room4=5 start4:5 look "
            "room5=6 start5:6 look wait ",
            "2 1 3 4 5 6 "},
        /* How much memory a chain's lane gets. */
        {3000000000, "16777215s", {1}, "room0=16777216 start0:16777215 look wait ", "16777215 "},
        {3000000000, "16777216s", {1}, "room0=33554432 start0:16777216 look wait ", "16777216 "},
        {3000000000, "20000000s", {1}, "room0=40000000 start0:20000000 look wait ", "20000000 "},
        {3000000000, "134217729s", {1}, "room0=268435456 start0:134217729 look wait ", "134217729 "},
        {3000000000, "200000000s 68435455s", {1}, "room0=268435456 start0:200000000+68435455 look wait ",
            "200000000 68435455 "},
        {3000000000, "200000000s 68435456s", {3},
            "room0=268435456 start0:200000000 room1=136870912 start1:68435456 look wait ",
            "200000000 68435456 "},
        {1000, "5p 6", {3}, "pin room0=5 start0:5 room1=6 start1:6 look wait ", "5 6 "},
        {1000, "5sp 6s 7sp", {1}, "pin pin room0=20 start0:5+6+7 look wait ", "5 6 7 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        fake.unused = (size_t)1 << 40;
        open_pool(&(lap_device_pool_options){.is_named = true, .memory = cases[i].memory}, 1);
        lap_pool_device *d = device(0);
        put_photos(cases[i].photos);
        forget();
        fake.idle = next_step;
        done_at = cases[i].through;
        assert_null(lap_device_pool_serve(d));
        fake.idle = NULL;
        char finished[400];
        if (strncmp(fake.calls, "open0 ", 6) != 0 || strcmp(fake.calls + 6, cases[i].calls) != 0)
            fail_msg("%s in %zu: %s", cases[i].photos, cases[i].memory, fake.calls);
        take_finished(finished, 0);
        assert_string_equal(finished, cases[i].finished);
        assert_true(STAILQ_EMPTY(&d->starting) && !d->is_lost && d->has_ended);
        size_t rooms = 0;
        int busy = 0, chains = 0;
        for (int k = 0; k < d->lane_count; k++) {
            rooms += d->lanes[k].slot->room;
            busy += d->lanes[k].is_busy;
            chains += d->lanes[k].is_busy && d->lanes[k].has_chain;
        }
        assert_true(rooms == d->lane_bytes && rooms <= d->budget);
        assert_true(busy == d->busy_lanes && chains == d->busy_chains);
        assert_int_equal(d->under_way, 0);
        assert_int_equal(d->stagings[LAP_POOL_LARGE].loaded, 0);
        assert_int_equal(d->stagings[LAP_POOL_SMALL].loaded, 0);
        close_pool();
    }
}

/* At most 64 photos in a chain, and only as much device memory as chains get. */
static void test_long_chains(void **state)
{
    (void)state;
    static const unsigned all[STEPS] = {7};
    begin();
    fake.unused = (size_t)1 << 40;
    open_pool(&(lap_device_pool_options){.is_named = true, .memory = 1000}, 1);
    char wanted[600] = "open0 room0=127 start0:1";
    for (int i = 0; i < 65; i++) {
        put_photos("1s");
        if (i > 0 && i < 64)
            strcat(wanted, "+1");
    }
    strcat(wanted, " room1=1 start1:1 look wait ");
    forget();
    fake.idle = next_step;
    done_at = all;
    assert_null(lap_device_pool_serve(device(0)));
    fake.idle = NULL;
    CALLS(wanted);
    /* Their times are shared. */
    lap_device_task *task = lap_device_task_pop(&ex->pool->finished);
    assert_true(task->run.photo.ms.filter == 60 / 64.0 && task->run.photo.ms.encode == 1 / 64.0);
    STAILQ_INSERT_HEAD(&ex->pool->finished, task, next);
    char finished[400];
    take_finished(finished, 0);
    assert_int_equal(strlen(finished), 65 * 2);
    close_pool();
}

/* The record of what the thread did, and how photos are woken for. */
static void test_record_of_rounds(void **state)
{
    (void)state;
    static const unsigned once[STEPS] = {1};
    for (int i = 0; i < 8; i++) {
        const bool has_queue = i & 1, is_full = i & 2, is_small = i & 4;
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true, .memory = 1000}, 1);
        lap_pool_device *d = device(0);
        put_photos(is_small ? "5sp" : "5p");
        lap_pool_stagings *s = &d->stagings[is_small ? LAP_POOL_SMALL : LAP_POOL_LARGE];
        s->limit = is_full ? 1 : 2;
        if (has_queue)
            submit("7", 9);
        forget();
        fake.idle = next_step;
        done_at = once;
        ex->jobs = 1;
        ex->running = 1; /* the wakes of the start */
        assert_null(lap_device_pool_serve(d));
        fake.idle = NULL;
        assert_string_equal(fake.traced,
            "start:0/12#0=1000 pin:0/12#0=1000 room:0/12#0=1000 enqueue:0/12#0=1000 stages:0/0#0=60 ");
        char finished[400];
        take_finished(finished, 60);
        assert_string_equal(finished, "5 ");
        assert_true(d->moved_ms == NOW);
        ex->jobs = JOBS;
        close_pool();
    }
    /* A photo that begins leaves room for another one to be loaded. */
    for (int i = 0; i < 4; i++) {
        const bool has_queue = i & 1, is_full = i & 2;
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true, .memory = 1000}, 1);
        lap_pool_device *d = device(0);
        put_photos("5");
        d->stagings[LAP_POOL_LARGE].limit = is_full ? 1 : 2;
        if (has_queue)
            submit("7", 9);
        forget();
        ex->jobs = 9;
        static const unsigned none[STEPS];
        fake.idle = next_step;
        done_at = none;
        assert_null(lap_device_pool_serve(d));
        fake.idle = NULL;
        assert_int_equal(fake.wakes, 9); /* when the device is ready */
        assert_true(d->under_way == 1 && d->stagings[LAP_POOL_LARGE].loaded == 0);
        drop_tasks(&d->lanes[0].tasks, false);
        ex->jobs = JOBS;
        close_pool();
    }
}

/* Calls that fail, at first or always, and a device that is lost in a call. */
static void test_failing_rounds(void **state)
{
    (void)state;
    static struct fake *const f = &fake;
    static const struct {
        const char *what;
        size_t memory;
        const char *photos;
        lap_code *fails;
        lap_code code;
        bool is_mended, is_lost_meanwhile;
        double later;
        const char *calls, *finished, *why;
        int waits;
    } cases[] = {
        {"memory that cannot be pinned", 1000, "5 6p 7", &f->pin, LAP_E_MEMORY, false, false, 0,
            "room0=5 start0:5 pin close destroy room1=7 start1:7 look wait ", "5 7 ", "", 1},
        {"in a chain", 1000, "5s 6sp 7s", &f->pin, LAP_E_MEMORY, false, false, 0,
            "pin close destroy room0=13 start0:5+7 look wait ", "5 7 ", "", 1},
        {"pinning fails", 1000, "5 6p 7", &f->pin, LAP_E_DEVICE, false, false, 0,
            "room0=5 start0:5 pin close abandon close abandon close abandon ", "", "pin failed", 3},
        {"it is lost while it pins", 1000, "5 6p 7", &f->pin, LAP_OK, false, true, 0,
            "room0=5 start0:5 pin close close abandon close room1=6 start1:6 ", "", "lost meanwhile", 3},
        {"no stream", 1000, "5", &f->slot, LAP_E_DEVICE, false, false, 0, "close abandon ", "", "slot failed",
            1},
        {"no memory at all", 1000, "5", &f->resize, LAP_E_MEMORY, false, false, 0, "room0=5 close abandon ",
            "", "resize failed", 1},
        {"enqueueing fails", 1000, "5", &f->start, LAP_E_DEVICE, false, false, 0,
            "room0=5 start0:5 close abandon ", "", "start failed", 1},
        {"enqueueing finds no memory at first", 1000, "5 6", &f->start, LAP_E_MEMORY, true, false, 0,
            "room0=5 start0:5 look start0:5 wait ", "6! 5 ", "", 0},
        {"looking fails", 1000, "5 6", &f->look, LAP_E_DEVICE, false, false, 0,
            "room0=5 start0:5 room1=6 start1:6 close abandon close abandon ", "", "look failed", 2},
        {"times fail", 1000, "5", &f->times, LAP_E_DEVICE, false, false, 0,
            "room0=5 start0:5 look close abandon ", "", "times failed", 1},
        {"it is lost when the photo is done", 1000, "5", &f->times, LAP_OK, false, true, 0,
            "room0=5 start0:5 look close ", "", "lost meanwhile", 1},
        {"nothing is finished for a while", 1000, "5", &f->times, LAP_OK, false, false, 30000,
            "room0=5 start0:5 look look close abandon ", "", "no photo was finished for 30 seconds", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const unsigned all[STEPS] = {255}, none[STEPS];
        begin();
        open_pool(&(lap_device_pool_options){.is_named = true, .memory = cases[i].memory}, 1);
        lap_pool_device *d = device(0);
        put_photos(cases[i].photos);
        forget();
        *cases[i].fails = cases[i].code;
        mended = cases[i].is_mended ? cases[i].fails : NULL;
        fake.is_lost_meanwhile = cases[i].is_lost_meanwhile;
        later = cases[i].later;
        fake.idle = next_step;
        done_at = later ? none : all;
        assert_null(lap_device_pool_serve(d));
        fake.idle = NULL;
        mended = NULL;
        later = 0;
        if (strncmp(fake.calls, "open0 ", 6) != 0 || strcmp(fake.calls + 6, cases[i].calls) != 0)
            fail_msg("%s: %s", cases[i].what, fake.calls);
        char finished[400];
        take_finished(finished, 0);
        assert_string_equal(finished, cases[i].finished);
        assert_string_equal(d->why.message, cases[i].why);
        assert_int_equal(d->is_lost, cases[i].why[0] != 0);
        assert_int_equal(waiting(), cases[i].waits);
        assert_int_equal(d->under_way, 0);
        close_pool();
    }
}

/* ---- which processors a run uses ---------------------------------------------------------------------- */

static void test_small_files(void **state)
{
    (void)state;
    static const struct {
        int jobs;
        uint64_t written, measured;
    } cases[] = {{1, 8000, 12000}, {2, 8000, 12000}, {9, 8000, 12000}, {10, 8000, 12000}, {11, 8800, 13200},
        {20, 16000, 24000}, {100, 80000, 120000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            lap_batch_small(&(lap_batch_load){.jobs = cases[i].jobs, .is_written = true}), cases[i].written);
        assert_int_equal(lap_batch_small(&(lap_batch_load){.jobs = cases[i].jobs}), cases[i].measured);
    }
}

/* Whether devices are used, and what is said about it. */
static void test_choice_of_processors(void **state)
{
    (void)state;
    static const char few[] =
        "the CPU alone: the photos are few or small: the CPU finishes before a device has "
        "started",
                      requested[] = "the CPU alone: a CPU backend was requested",
                      card[] = "1 CUDA device with card", both[] = "1 CUDA device with card, and the CPU";
    static const struct {
        const char *backend;
        lap_codec_place codec;
        bool no_filter, is_measured;
        uint64_t bytes;
        struct asked how;
        const char *said;
        bool is_named;
    } cases[] = {
        {"auto", LAP_CODEC_AUTO, false, false, 8000000, {.to_start = 1}, both, false},
        {"auto", LAP_CODEC_AUTO, false, false, 7999999, {.to_start = 1}, few, false},
        {"auto", LAP_CODEC_AUTO, false, true, 12000000, {.to_start = 1}, both, false},
        {"auto", LAP_CODEC_AUTO, false, true, 11999999, {.to_start = 1}, few, false},
        {"auto", LAP_CODEC_AUTO, false, false, 16000000, {.to_start = 3}, both, false},
        {"auto", LAP_CODEC_AUTO, false, false, 15999999, {.to_start = 3}, few, false},
        {"auto", LAP_CODEC_AUTO, true, false, 1 << 30, {.to_start = 1}, requested, false},
        {"auto", LAP_CODEC_CPU, false, false, 1 << 30, {.to_start = 1}, requested, false},
        {"cpu", LAP_CODEC_AUTO, false, false, 1 << 30, {.to_start = 1}, requested, false},
        {"card", LAP_CODEC_CPU, false, false, 1 << 30, {.to_start = 1}, requested, false},
        {"card", LAP_CODEC_AUTO, true, false, 1 << 30, {.to_start = 1}, requested, false},
        {"auto", LAP_CODEC_AUTO, false, false, 1 << 30, {.may_not_be = true},
            "the CPU alone: there is no device", false},
        {"auto", LAP_CODEC_AUTO, false, false, 1 << 30, {.tolerance = -1},
            "the CPU alone: with this kernel, backends may differ by any amount", false},
        {"auto", LAP_CODEC_AUTO, false, false, 1 << 30, {.codec = "it rounds"}, "the CPU alone: it rounds",
            false},
        {"card", LAP_CODEC_AUTO, false, false, 0, {.may_not_be = true}, card, true},
        {"auto", LAP_CODEC_CUDA, false, false, 0, {.may_not_be = true}, card, true},
        {"card", LAP_CODEC_CUDA, false, false, 0, {.tolerance = -1}, card, true},
        {"card", LAP_CODEC_AUTO, false, false, 0, {.codec = "it rounds"},
            "JPEGs are coded on the CPU: it rounds", true},
        {"cpu", LAP_CODEC_CUDA, false, false, 0, {.to_start = 1}, requested, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int with_work = 0; with_work < 2; with_work++) {
            lap_settings s = settings;
            lap_batch_work seen = {.jobs = 99};
            lap_executor *executor = NULL;
            lap_error err = {0};
            begin();
            asked = cases[i].how;
            asked.is_asked = true;
            s.backend = cases[i].backend;
            s.codec = cases[i].codec;
            s.filter = !cases[i].no_filter;
            s.device = 2;
            s.max_memory = 1001;
            const lap_batch_load load = {.settings = &s,
                .jobs = 1,
                .is_written = !cases[i].is_measured,
                .large_bytes = cases[i].bytes};
            assert_int_equal(
                lap_batch_executor(context, &load, with_work ? &seen : NULL, &executor, &err), LAP_OK);
            if (with_work)
                assert_string_equal(seen.how, cases[i].said);
            assert_int_equal(seen.jobs, with_work ? 1 : 99);
            const bool has_devices = strstr(cases[i].said, "CUDA device") != NULL;
            CALLS(has_devices ? "devices:1 " : "");
            lap_executor_close(executor);
            if (!has_devices)
                continue;
            const lap_device_pool_options *o = &asked.options;
            assert_true(o->count == 1 && asked.list[0] == 2 && o->rung == &card_rung);
            assert_true(o->memory == 0 && o->pinned == 500 && o->deadline_ms == 0 && o->soon_ms == 0);
            assert_int_equal(o->is_named, cases[i].is_named);
            assert_int_equal(o->small_bytes, cases[i].is_measured ? 12000 : 8000);
            assert_int_equal(o->small_threads, cases[i].is_measured ? 0 : 8);
        }
    /* A rung that is not there: the error of a name, or the reason. */
    for (int named = 0; named < 2; named++) {
        lap_settings s = settings;
        lap_batch_work seen = {.jobs = 99};
        lap_executor *executor = NULL;
        lap_error err = {0};
        begin();
        asked = (struct asked){.is_asked = true, .rungs = LAP_E_BACKEND};
        s.backend = named ? "card" : "auto";
        const lap_batch_load load = {.settings = &s, .jobs = 1, .large_bytes = 1 << 30};
        assert_int_equal(lap_batch_executor(context, &load, &seen, &executor, &err), LAP_E_BACKEND);
        assert_string_equal(err.message, "no such rung");
        assert_true(!executor && seen.jobs == 99);
    }
    asked.is_asked = false;
}

/* Which devices: each one once, and a share of them. */
static void test_lists_of_devices(void **state)
{
    (void)state;
    static const int some[] = {2, 0, 2, 1}, one[] = {1};
    static const struct {
        const char *what;
        lap_batch_devices devices;
        int there;
        const char *list, *said;
    } cases[] = {{"all", {.count = -1}, 3, "0 1 2 ", "3 CUDA devices with card"},
        {"all of one", {.count = -1}, 1, "0 ", "1 CUDA device with card"},
        {"listed", {.numbers = some, .count = 4}, 3, "2 0 1 ", "3 CUDA devices with card"},
        {"one", {.numbers = one, .count = 1}, 3, "1 ", "1 CUDA device with card"},
        {"none listed", {.numbers = some}, 3, "7 ", "1 CUDA device with card"},
        {"no numbers", {.count = 4}, 3, "7 ", "1 CUDA device with card"},
        {"one share", {.count = -1, .shares = 1}, 3, "0 1 2 ", "3 CUDA devices with card"},
        {"the first share", {.count = -1, .shares = 2}, 3, "0 2 ", "2 CUDA devices with card"},
        {"the second share", {.count = -1, .share = 1, .shares = 2}, 3, "1 ", "1 CUDA device with card"},
        {"too many shares", {.count = -1, .share = 4, .shares = 5}, 3, "1 ", "1 CUDA device with card"},
        {"the share after the last", {.count = -1, .share = 3, .shares = 5}, 3, "0 ",
            "1 CUDA device with card"},
        {"a share of a list", {.numbers = some, .count = 4, .share = 1, .shares = 2}, 3, "0 ",
            "1 CUDA device with card"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = settings;
        lap_batch_work seen = {.jobs = 0};
        lap_executor *executor = NULL;
        lap_error err = {0};
        lap_batch_devices devices = cases[i].devices;
        begin();
        asked = (struct asked){.is_asked = true};
        fake.devices = cases[i].there;
        s.device = 7;
        devices.memory = 12345;
        const lap_batch_load load = {
            .settings = &s, .devices = &devices, .jobs = 2, .is_written = true, .is_asked = true};
        assert_int_equal(lap_batch_executor(context, &load, &seen, &executor, &err), LAP_OK);
        char list[200] = "";
        for (int k = 0; k < asked.options.count; k++)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%d ", asked.list[k]);
        if (strcmp(list, cases[i].list) != 0 || strcmp(seen.how, cases[i].said) != 0)
            fail_msg("%s: %s: %s", cases[i].what, list, seen.how);
        assert_true(asked.options.memory == 12345 && asked.options.small_threads == 0);
    }
    /* There is room for 64. */
    for (int there = 63; there <= 66; there++) {
        lap_batch_work seen = {.jobs = 0};
        lap_executor *executor = NULL;
        lap_error err = {0};
        const lap_batch_devices devices = {.count = -1};
        const lap_batch_load load = {.settings = &settings, .devices = &devices, .jobs = 2};
        begin();
        asked = (struct asked){.is_asked = true};
        fake.devices = there;
        assert_int_equal(lap_batch_executor(context, &load, &seen, &executor, &err), LAP_OK);
        assert_int_equal(asked.options.count, there < 64 ? there : 64);
    }
    asked.is_asked = false;
}

static int set_up(void **state)
{
    (void)state;
    begin();
    settings = other_settings = lap_settings_default();
    settings.backend = other_settings.backend = "card";
    context = lap_context_create(1, NULL);
    return context ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    lap_context_destroy(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_closing),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_looking_after),
        cmocka_unit_test(test_what_is_there),
        cmocka_unit_test(test_taking_back),
        cmocka_unit_test(test_dropping),
        cmocka_unit_test(test_choice_of_device),
        cmocka_unit_test(test_small_photos),
        cmocka_unit_test(test_failed_loads),
        cmocka_unit_test(test_storing),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_beside_the_cpu),
        cmocka_unit_test(test_enough),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_record_of_rounds),
        cmocka_unit_test(test_failing_rounds),
        cmocka_unit_test(test_small_files),
        cmocka_unit_test(test_choice_of_processors),
        cmocka_unit_test(test_lists_of_devices),
    };
    return cmocka_run_group_tests_name("device pool", tests, set_up, tear_down);
}
