#include "batch/device_pool_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/status.h"

/* Starting a device takes a few hundred milliseconds, and seconds on a machine with many devices. */
enum { START_MS = 120000 };
_Static_assert((int)LAP_DEVICE_POOL_DEVICES == LAP_BATCH_DEVICES, "a report has room for every device");

/* ---- for the owner ------------------------------------------------------------------------------ */

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
        lap_fail_at(
            warning, LAP_E_DEVICE, name, "failed; its photos are processed without it: %s", d->why.message);
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

/* Checks that devices still answer and that threads work. */
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
    if (!ex->running) /* earlier, no thread could be started */
        (void)lap_executor_wake(ex);
    if (ex->queued > 0 && lap_device_pool_cpu_may(pool)) /* a device is late in starting */
        for (int i = 0; i < ex->jobs; i++)
            (void)lap_executor_wake(ex);
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* Makes room for enough stagings to fill the lanes while threads read and write. If pinned memory is limited,
 * stagings of small photos get at most an eighth of it, and the other stagings get equal shares of the
 * rest. */
static lap_code make_stagings(lap_pool_device *d, int threads, int devices, lap_error *err)
{
    lap_pool_stagings *large = &d->stagings[LAP_POOL_LARGE], *small = &d->stagings[LAP_POOL_SMALL];
    const size_t pinned = d->pool->options.pinned / (size_t)devices;
    large->limit = LAP_POOL_LANES + threads / devices + 1;
    /* The file of each loaded photo stays open until its result is stored. */
    const int files = lap_batch_files_beside(threads) / devices - large->limit;
    small->most = LAP_DEVICE_SMALL_STAGING;
    small->limit = files < 0 ? 0 : files < LAP_POOL_SMALL_STAGINGS ? files : LAP_POOL_SMALL_STAGINGS;
    if (pinned > 0 && small->most * (size_t)small->limit > pinned / 8)
        small->limit = 0;
    if (pinned > 0)
        large->most = (pinned - small->most * (size_t)small->limit) / (size_t)large->limit;
    for (int i = 0; i < LAP_POOL_KINDS; i++) {
        lap_pool_stagings *s = &d->stagings[i];
        s->idle = calloc((size_t)s->limit + 1, sizeof(lap_device_staging *));
        if (!s->idle)
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    return LAP_OK;
}

static lap_code start(lap_device_pool *pool, lap_pool_device *d, int number, int count, lap_error *err)
{
    d->pool = pool;
    d->number = number;
    d->pins = lap_device_pins(number);
    STAILQ_INIT(&d->ready);
    STAILQ_INIT(&d->taken_back);
    STAILQ_INIT(&d->starting);
    for (int i = 0; i < LAP_POOL_LANES; i++)
        STAILQ_INIT(&d->lanes[i].tasks);
    lap_code code = make_stagings(d, pool->executor->jobs, count, err);
    if (code == LAP_OK)
        code = lap_condition_init(&d->changed, err);
    if (code != LAP_OK) {
        lap_device_pool_free_idle(d);
        return code;
    }
    pool->count++;
    const int rc = pthread_create(&d->thread, NULL, lap_device_pool_serve, d);
    d->has_thread = rc == 0;
    return rc ? lap_fail(err, LAP_E_MEMORY, "cannot start a thread: %s", strerror(rc)) : LAP_OK;
}

/* Returns false if a thread hangs in a call to a device. When its call returns, the last such thread
 * frees everything. */
static bool close_pool(lap_executor *ex)
{
    lap_device_pool *pool = ex->pool;
    if (!pool)
        return true;
    pthread_mutex_t *mutex = &ex->mutex;
    pthread_mutex_lock(mutex);
    pool->is_closing = true;
    pool->holders = 1;
    for (int i = 0; i < pool->count; i++)
        pthread_cond_signal(&pool->devices[i].changed);
    pthread_mutex_unlock(mutex);
    for (int i = 0; i < pool->count; i++) {
        lap_pool_device *d = &pool->devices[i];
        pthread_mutex_lock(mutex);
        const bool hangs = d->has_thread && d->is_lost && !d->has_ended && d->busy_since > 0;
        d->is_left = hangs && pthread_detach(d->thread) == 0;
        pool->holders += d->is_left;
        pthread_mutex_unlock(mutex);
        if (d->has_thread && !d->is_left)
            pthread_join(d->thread, NULL);
    }
    lap_pool_drain(ex->context->pool); /* threads woken by a device that became ready or was lost */
    pthread_mutex_lock(mutex);
    ex->trace = NULL; /* the caller may free it before a hanging call returns */
    const bool is_last = --pool->holders == 0;
    pthread_mutex_unlock(mutex);
    if (is_last)
        lap_device_pool_free(pool);
    return is_last;
}

/* Starts a thread for each device, which starts the device. Returns immediately. */
static lap_code create_pool(lap_executor *executor, const lap_device_pool_options *options, lap_error *err)
{
    const int there = lap_device_count();
    for (int i = 0; i < options->count; i++)
        if (options->devices[i] >= there)
            return lap_fail(err, LAP_E_BACKEND, "CUDA device %d does not exist: there %s %d, counted from 0",
                options->devices[i], there == 1 ? "is" : "are", there);
    lap_device_pool *made = calloc(1, sizeof *made + (size_t)options->count * sizeof *made->devices);
    if (!made)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    executor->pool = made;
    made->executor = executor;
    made->options = *options;
    made->options.devices = NULL;
    made->deadline_ms = options->deadline_ms > 0 ? options->deadline_ms : LAP_DEVICE_POOL_DEADLINE_MS;
    made->soon_ms = options->soon_ms > 0 ? options->soon_ms : LAP_DEVICE_POOL_SOON_MS;
    STAILQ_INIT(&made->finished);
    STAILQ_INIT(&made->by_pieces);
    lap_code code = LAP_OK;
    pthread_mutex_lock(&executor->mutex); /* the threads wait for it until all of them exist */
    for (int i = 0; i < options->count && code == LAP_OK; i++)
        code = start(made, &made->devices[i], options->devices[i], options->count, err);
    pthread_mutex_unlock(&executor->mutex);
    return code;
}

lap_code lap_executor_devices(lap_context *context, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err)
{
    static const lap_executor_kind devices = {.work = lap_device_pool_work,
        .ahead = LAP_POOL_CHAINS * LAP_DEVICE_CHAIN,
        .is_enough = lap_device_pool_is_enough,
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
