/* The work of threads: loading and storing photos for the devices, and processing photos without a device. */
#include <stdlib.h>

#include "base/status.h"
#include "batch/device_pool_state.h"

static pthread_mutex_t *mutex_of(const lap_device_pool *pool)
{
    return &pool->executor->mutex;
}

/* ---- what is next ------------------------------------------------------------------------------ */

/* Returns the stagings for the job's kind of photo, guessed from the file: a small file usually holds a small
 * photo. */
static lap_pool_stagings *stagings_for(lap_pool_device *d, const lap_job *job)
{
    const bool is_small = d->stagings[LAP_POOL_SMALL].limit > 0 && !job->is_large &&
                          (size_t)job->stat.st_size <= LAP_POOL_SMALL_FILE;
    return &d->stagings[is_small ? LAP_POOL_SMALL : LAP_POOL_LARGE];
}

/* Whether a staging is free for reuse, or a new one may be allocated because the device needs more photos. */
static bool has_staging(const lap_pool_device *d, const lap_pool_stagings *s)
{
    const int ahead = d->is_ready && s == &d->stagings[LAP_POOL_SMALL] ? s->limit : LAP_POOL_AHEAD;
    return s->idle_count > 0 || (s->count < s->limit && s->loaded < ahead);
}

/* Chooses the device for the next photo: the one with the fewest photos, if it can take more. A device that
 * is starting also counts if no call to it is needed yet. */
static lap_pool_device *choose_device(lap_device_pool *pool, const lap_job *job)
{
    lap_pool_device *best = NULL;
    for (int i = 0; i < pool->count; i++) {
        lap_pool_device *d = &pool->devices[i];
        if ((d->is_ready || d->pins) && !d->is_lost && has_staging(d, stagings_for(d, job)) &&
            (!best || d->under_way < best->under_way))
            best = d;
    }
    return best;
}

static bool is_for_cpu(const lap_device_pool *pool, const lap_job *job)
{
    return !pool->options.is_named && (size_t)job->stat.st_size <= pool->options.small_bytes;
}

/* Whether the next work is to read or write a small photo for a device. */
static bool is_next_small(lap_device_pool *pool)
{
    const lap_device_task *task = STAILQ_FIRST(&pool->finished);
    const lap_job *job = STAILQ_FIRST(&pool->executor->waiting);
    if (task || !STAILQ_EMPTY(&pool->by_pieces))
        return task && task->is_small;
    lap_pool_device *d = job && !is_for_cpu(pool, job) ? choose_device(pool, job) : NULL;
    return d && stagings_for(d, job) == &d->stagings[LAP_POOL_SMALL];
}

bool lap_device_pool_is_enough(const lap_executor *executor)
{
    lap_device_pool *pool = executor->pool;
    const int most = pool->options.small_threads * pool->count;
    return most > 0 && pool->small_busy >= most && is_next_small(pool);
}

/* Call when a thread begins to read, write or process a photo. If the photo is not small, wakes another
 * thread for waiting small photos: none was woken for them while enough threads had small photos. */
static void begin(lap_device_pool *pool, bool is_small)
{
    pool->small_busy += is_small;
    if (!is_small && is_next_small(pool))
        (void)lap_executor_wake(pool->executor);
}

/* ---- load: the mutex is held, except while the file is read --------------------------------------- */

/* Queues the job for a thread that processes it with lap_run_to_sink, in separate steps. */
static void by_pieces(lap_device_pool *pool, lap_job *job)
{
    STAILQ_INSERT_TAIL(&pool->by_pieces, job, next);
    (void)lap_executor_wake(pool->executor);
}

/* Whether a device can do the job. If a device measures, it returns only histograms, from which neither
 * profiles nor statistics without the outer pixels can be computed. */
static bool is_for_devices(const lap_job *job)
{
    return !job->measure || (!job->measure->profiles && job->measure->mask_border == 0);
}

/* A job that a thread reads for a device. */
typedef struct reading {
    lap_pool_device *device;
    lap_pool_stagings *stagings;
    lap_job *job;
    lap_device_staging *staging; /* NULL: not allocated yet */
    lap_device_task *task;       /* NULL: the device cannot process the photo, or reading failed */
} reading;

/* Called without the mutex. */
static lap_code read_photo(reading *r, lap_error *err)
{
    const lap_pool_device *d = r->device;
    const lap_device_pool *pool = d->pool;
    const lap_run_order order = lap_job_order(pool->executor->context, r->job, r->job->settings);
    const lap_host_memory kind = d->pins ? LAP_HOST_PINS : LAP_HOST_PINNED;
    lap_code code =
        r->staging ? LAP_OK : lap_device_staging_create(d->number, kind, r->stagings->most, &r->staging, err);
    bool handled = false;
    lap_device_task *task = calloc(1, sizeof *task);
    if (code == LAP_OK && !task)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    if (code == LAP_OK && is_for_devices(r->job))
        code = lap_async_run_load(&task->run, &order, pool->options.rung, r->staging, &handled, err);
    if (code != LAP_OK || !handled) {
        free(task);
        return code;
    }
    task->job = r->job;
    task->device = r->device;
    task->stagings = r->stagings;
    task->needs = lap_device_slot_needs(r->staging);
    task->is_small = task->needs > 0 && task->needs <= LAP_DEVICE_SMALL_BYTES;
    r->task = task;
    return LAP_OK;
}

static void keep_staging(lap_pool_device *d, lap_pool_stagings *stagings, lap_device_staging *staging)
{
    if (d->is_lost)
        lap_device_staging_abandon(staging);
    else
        stagings->idle[stagings->idle_count++] = staging;
}

static void load(lap_pool_device *d, lap_pool_stagings *stagings, lap_job *job)
{
    lap_device_pool *pool = d->pool;
    reading r = {.device = d, .stagings = stagings, .job = job};
    lap_error err = {0};
    if (stagings->idle_count > 0)
        r.staging = stagings->idle[--stagings->idle_count];
    else
        stagings->count++;
    stagings->loaded++;
    d->under_way++;
    const bool is_small = stagings == &d->stagings[LAP_POOL_SMALL];
    begin(pool, is_small);
    pthread_mutex_unlock(mutex_of(pool));
    const double start = lap_now_ms();
    const lap_code code = read_photo(&r, &err);
    lap_trace_thread(pool->executor->trace, "read", start, job->number);
    pthread_mutex_lock(mutex_of(pool));
    pool->small_busy -= is_small;
    if (r.task && !d->is_lost) {
        STAILQ_INSERT_TAIL(&d->ready, r.task, next);
        pthread_cond_signal(&d->changed);
        return;
    }
    d->under_way--;
    stagings->loaded--;
    if (code == LAP_OK && !d->is_lost) {
        keep_staging(d, stagings, r.staging);
        job->is_large = r.staging->is_short && stagings == &d->stagings[LAP_POOL_SMALL];
        if (job->is_large)
            lap_device_pool_wait_again(pool, job);
        else
            by_pieces(pool, job);
        return;
    }
    if (r.task) {
        lap_async_run_close(&r.task->run);
        free(r.task);
    }
    if (code != LAP_OK && code != LAP_E_MEMORY)
        lap_device_pool_lose(d, &err);
    lap_device_pool_drop(d, stagings, r.staging, &err);
    lap_device_pool_wait_again(pool, job);
}

/* ---- store -------------------------------------------------------------------------------------- */

static void store(lap_device_pool *pool, lap_device_task *task)
{
    lap_job *job = task->job;
    lap_pool_device *d = task->device;
    lap_pool_stagings *stagings = task->stagings;
    lap_device_staging *staging = task->run.staging;
    const lap_run_order order = lap_job_order(pool->executor->context, job, job->settings);
    const bool is_small = task->is_small;
    begin(pool, is_small);
    pthread_mutex_unlock(mutex_of(pool));
    const double start = lap_now_ms();
    const bool is_done = !task->is_refused && lap_device_staging_is_done(task->run.staging);
    if (is_done && job->measure)
        lap_async_run_measure(&task->run, job->measure, job->measurement, &job->report, &job->report.error);
    if (is_done && job->measure)
        lap_job_describe(job);
    else if (is_done)
        lap_async_run_store(&task->run, &order, &job->stat, &job->sink, &job->report, &job->report.error);
    if (is_done && !job->measure)
        lap_job_look_again(job);
    lap_async_run_close(&task->run);
    free(task);
    lap_trace_thread(pool->executor->trace, job->measure ? "measure" : "write", start, job->number);
    pthread_mutex_lock(mutex_of(pool));
    pool->small_busy -= is_small;
    keep_staging(d, stagings, staging);
    if (is_done) {
        job->device = d->number;
        d->done++;
        lap_executor_finish(pool->executor, job);
    } else {
        job->left_by_device = true;
        by_pieces(pool, job);
    }
}

/* ---- the CPU ----------------------------------------------------------------------------------- */

/* Returns the settings for a job that no device processes completely; d: the device to use, or NULL. */
static lap_settings settings_of(lap_device_pool *pool, const lap_job *job, const lap_pool_device *d)
{
    lap_settings s = *job->settings;
    if (pool->options.is_named && d) {
        s.device = d->number;
    } else {
        s.backend = "auto";
        s.codec = LAP_CODEC_CPU;
    }
    return s;
}

/* A named backend filters on a device here too, and the device may be lost during that time. */
static void run_here(lap_device_pool *pool, lap_job *job)
{
    lap_pool_device *d = lap_device_pool_any(pool);
    const lap_settings s = settings_of(pool, job, d);
    const bool uses_device = pool->options.is_named && d;
    begin(pool, false);
    pthread_mutex_unlock(mutex_of(pool));
    lap_job_run(pool->executor, job, &s);
    const lap_code code = job->report.error.code;
    if (uses_device && code == LAP_E_MEMORY) { /* perhaps on the device */
        const lap_settings plain = settings_of(pool, job, NULL);
        lap_job_run(pool->executor, job, &plain);
    }
    pthread_mutex_lock(mutex_of(pool));
    if (uses_device && (code == LAP_E_DEVICE || code == LAP_E_BACKEND)) {
        lap_device_pool_lose(d, &job->report.error);
        lap_device_pool_wait_again(pool, job);
    } else {
        lap_executor_finish(pool->executor, job);
    }
}

/* ---- a thread ----------------------------------------------------------------------------------- */

/* Photos that wait for a device do not delay those that need no device. All others begin in order: letting
 * small photos pass large ones that wait for memory gained nothing (docs/bench/queue.txt). */
static bool take_waiting(lap_device_pool *pool)
{
    lap_executor *ex = pool->executor;
    lap_job *job = STAILQ_FIRST(&ex->waiting);
    lap_pool_device *d = job ? choose_device(pool, job) : NULL;
    if (!d && !lap_device_pool_cpu_may(pool))
        while (job && !is_for_cpu(pool, job))
            job = STAILQ_NEXT(job, next);
    if (!job)
        return false;
    if (is_for_cpu(pool, job))
        d = NULL;
    STAILQ_REMOVE(&ex->waiting, job, lap_job, next);
    ex->queued--;
    if (d)
        load(d, stagings_for(d, job), job);
    else
        run_here(pool, job);
    return true;
}

/* Whether jobs that no device processes completely may begin: a named backend filters them on a device, so
 * they wait until one is ready or all are lost. */
static bool may_run_pieces(lap_device_pool *pool)
{
    return !pool->options.is_named || lap_device_pool_any(pool) || !lap_device_pool_is_alive(pool);
}

void lap_device_pool_work(lap_executor *executor)
{
    lap_device_pool *pool = executor->pool;
    for (bool any = true; any;) {
        if (lap_device_pool_is_enough(executor))
            return; /* the threads that have small photos do this, too */
        lap_device_task *task = lap_device_task_pop(&pool->finished);
        lap_job *job = task || !may_run_pieces(pool) ? NULL : lap_job_pop(&pool->by_pieces);
        if (task)
            store(pool, task);
        else if (job)
            run_here(pool, job);
        else
            any = take_waiting(pool);
    }
}
