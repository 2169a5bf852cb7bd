#include "batch/device_pool_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"

/* Starting a device takes some hundred milliseconds, on a machine with many of them seconds. */
enum { START_MS = 120000 };
_Static_assert((int)LAP_DEVICE_POOL_DEVICES == LAP_BATCH_DEVICES, "as many as a report has");

/* ---- tasks ------------------------------------------------------------------------------------- */

static void init(lap_device_task_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

void lap_device_task_push(lap_device_task_list *list, lap_device_task *task)
{
    task->next = NULL;
    *list->last = task;
    list->last = &task->next;
}

lap_device_task *lap_device_task_pop(lap_device_task_list *list)
{
    lap_device_task *task = list->first;
    if (task && !(list->first = task->next))
        list->last = &list->first;
    return task;
}

/* ---- a device that is lost --------------------------------------------------------------------- */

static void abandon(lap_device_task *task)
{
    lap_device_staging_abandon(task->run.staging);
    free(task);
}

static void take_back(lap_device_task *task, bool hangs)
{
    lap_executor *ex = task->device->pool->executor;
    lap_job_push_front(&ex->waiting, task->job);
    ex->queued++;
    (void)lap_executor_wake(ex);
    task->job = NULL;
    task->device->under_way--;
    lap_async_run_close(&task->run);
    if (hangs)
        lap_device_task_push(&task->device->taken_back, task);
    else
        abandon(task);
}

void lap_device_pool_take_back(lap_pool_device *d, bool hangs)
{
    lap_device_task *task;
    if (!d->is_lost)
        return;
    for (int i = 0; i < LAP_POOL_SLOTS; i++) { /* how many there are is known to its thread alone */
        if (d->slots[i].task && d->slots[i].task->job)
            take_back(d->slots[i].task, hangs);
        d->slots[i].task = NULL;
    }
    while ((task = lap_device_task_pop(&d->ready)))
        take_back(task, false);
    if (hangs && d->starting && d->starting->job)
        take_back(d->starting, true);
}

void lap_device_pool_lose(lap_pool_device *d, const lap_error *why)
{
    if (d->is_lost)
        return;
    d->is_lost = true;
    d->why = *why;
    pthread_cond_signal(&d->changed);
    /* Others may have to do its work now. */
    for (int i = 0; i < d->pool->executor->jobs; i++)
        (void)lap_executor_wake(d->pool->executor);
}

static bool next_warning(lap_executor *ex, lap_error *warning)
{
    lap_device_pool *pool = ex->pool;
    for (int i = 0; i < pool->count; i++) {
        lap_pool_device *d = &pool->devices[i];
        char name[32];
        if (!d->is_lost || d->is_reported)
            continue;
        d->is_reported = true;
        snprintf(name, sizeof name, "CUDA device %d", d->number);
        lap_fail_at(warning, LAP_E_DEVICE, name, "lost, its photos are done without it: %s", d->why.message);
        return true;
    }
    return false;
}

static void look(lap_executor *ex, lap_batch_work *work)
{
    const lap_device_pool *pool = ex->pool;
    work->device_count = pool->count;
    for (int i = 0; i < pool->count; i++) {
        const lap_pool_device *d = &pool->devices[i];
        work->device[i] = (lap_batch_device){.device = d->number,
            .is_ready = d->is_ready && !d->is_lost,
            .is_lost = d->is_lost,
            .under_way = d->under_way,
            .done = d->done};
    }
}

lap_pool_device *lap_device_pool_any(lap_device_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        if (pool->devices[i].is_ready && !pool->devices[i].is_lost)
            return &pool->devices[i];
    return NULL;
}

/* Whether devices still answer, and threads work. */
static void look_after(lap_executor *ex)
{
    lap_device_pool *pool = ex->pool;
    for (int i = 0; i < pool->count; i++) {
        lap_pool_device *d = &pool->devices[i];
        const double most = d->is_ready ? pool->deadline_ms : START_MS;
        if (!d->has_ended && !d->is_lost && d->busy_since > 0 && lap_now_ms() - d->busy_since > most) {
            lap_error why;
            lap_fail(&why, LAP_E_DEVICE, "a call has not returned for %.0f seconds", most / 1e3);
            lap_device_pool_lose(d, &why);
            lap_device_pool_take_back(d, true);
        }
    }
    if (!ex->running) /* a thread could not be started before */
        (void)lap_executor_wake(ex);
    if (ex->queued > 0 && lap_device_pool_cpu_may(pool)) /* a device is late */
        for (int i = 0; i < ex->jobs; i++)
            (void)lap_executor_wake(ex);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static lap_code start(lap_device_pool *pool, lap_pool_device *d, int number, int count, lap_error *err)
{
    pthread_condattr_t monotonic;
    d->pool = pool;
    d->number = number;
    d->pins = lap_device_pins(number);
    init(&d->ready);
    init(&d->taken_back);
    /* As many as its slots hold, and as threads can read and write meanwhile. */
    d->staging_limit = LAP_POOL_SLOTS + pool->executor->jobs / count + 1;
    d->idle = calloc((size_t)d->staging_limit, sizeof *d->idle);
    if (!d->idle)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->count++;
    const int rc = pthread_create(&d->thread, NULL, lap_device_pool_serve, d);
    d->has_thread = rc == 0;
    return rc ? lap_fail(err, LAP_E_MEMORY, "cannot start a thread: %s", strerror(rc)) : LAP_OK;
}

static lap_code create_pool(lap_executor *executor, const lap_device_pool_options *options, lap_error *err)
{
    const int there = lap_device_count();
    for (int i = 0; i < options->count; i++)
        if (options->devices[i] >= there)
            return lap_fail(err, LAP_E_BACKEND, "CUDA device %d does not exist: there %s %d, counted from 0",
                options->devices[i], there == 1 ? "is" : "are", there);
    lap_device_pool *f = calloc(1, sizeof *f + (size_t)options->count * sizeof *f->devices);
    if (!f)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    executor->pool = f;
    f->executor = executor;
    f->options = *options;
    f->options.devices = NULL;
    f->deadline_ms = options->deadline_ms > 0 ? options->deadline_ms : LAP_DEVICE_POOL_DEADLINE_MS;
    f->soon_ms = options->soon_ms > 0 ? options->soon_ms : LAP_DEVICE_POOL_SOON_MS;
    init(&f->finished);
    lap_job_list_init(&f->by_pieces);
    lap_code code = LAP_OK;
    pthread_mutex_lock(&executor->mutex); /* the threads begin when all are there */
    for (int i = 0; i < options->count && code == LAP_OK; i++)
        code = start(f, &f->devices[i], options->devices[i], options->count, err);
    pthread_mutex_unlock(&executor->mutex);
    return code;
}

static void free_device(lap_pool_device *d)
{
    for (lap_device_task *task; (task = lap_device_task_pop(&d->taken_back));)
        abandon(task);
    for (int i = 0; i < d->slot_count; i++)
        (d->is_lost ? lap_device_slot_abandon : lap_device_slot_destroy)(d->slots[i].slot);
    for (int i = 0; i < d->idle_count; i++)
        (d->is_lost ? lap_device_staging_abandon : lap_device_staging_destroy)(d->idle[i]);
    pthread_cond_destroy(&d->changed);
    free(d->idle);
}

static bool close_pool(lap_executor *ex)
{
    bool all = true;
    lap_device_pool *pool = ex->pool;
    if (!pool)
        return true;
    pthread_mutex_t *mutex = &ex->mutex;
    pthread_mutex_lock(mutex);
    pool->is_closing = true;
    for (int i = 0; i < pool->count; i++)
        pthread_cond_signal(&pool->devices[i].changed);
    pthread_mutex_unlock(mutex);
    for (int i = 0; i < pool->count; i++) {
        lap_pool_device *d = &pool->devices[i];
        pthread_mutex_lock(mutex);
        const bool hangs = d->is_lost && !d->has_ended && d->busy_since > 0;
        pthread_mutex_unlock(mutex);
        if (d->has_thread && (hangs ? pthread_detach(d->thread) : pthread_join(d->thread, NULL)) == 0 &&
            hangs)
            all = false;
    }
    lap_pool_drain(ex->context->pool); /* whom a device that became ready or was lost has woken */
    for (int i = 0; i < pool->count && all; i++)
        free_device(&pool->devices[i]);
    if (all)
        free(pool);
    return all;
}

lap_code lap_executor_devices(lap_context *context, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err)
{
    static const lap_executor_kind devices = {.work = lap_device_pool_work,
        .waits = true,
        .look_after = look_after,
        .warning = next_warning,
        .look = look,
        .close = close_pool};
    lap_code code = lap_executor_create(context, jobs, &devices, executor, err);
    if (code == LAP_OK)
        code = create_pool(*executor, options, err);
    if (code == LAP_OK)
        return LAP_OK;
    lap_executor_close(*executor);
    *executor = NULL;
    return code;
}
