/* Photos on their way through devices, and what happens to them if a device is lost or has no memory for
 * another photo. */
#include <stdlib.h>

#include "base/status.h"
#include "batch/device_pool_state.h"

lap_device_task *lap_device_task_pop(lap_device_task_list *list)
{
    lap_device_task *task = STAILQ_FIRST(list);
    if (task)
        STAILQ_REMOVE_HEAD(list, next);
    return task;
}

void lap_device_pool_wait_again(lap_device_pool *pool, lap_job *job)
{
    STAILQ_INSERT_HEAD(&pool->executor->waiting, job, next);
    pool->executor->queued++;
}

void lap_device_task_abandon(lap_device_task *task)
{
    lap_device_staging_abandon(task->run.staging);
    free(task);
}

/* ---- a device that is lost --------------------------------------------------------------------- */

static void take_back(lap_device_task *task, bool hangs)
{
    lap_device_pool_wait_again(task->device->pool, task->job);
    (void)lap_executor_wake(task->device->pool->executor);
    task->job = NULL;
    task->device->under_way--;
    lap_async_run_close(&task->run);
    if (hangs)
        STAILQ_INSERT_TAIL(&task->device->taken_back, task, next);
    else
        lap_device_task_abandon(task);
}

void lap_device_pool_take_back(lap_pool_device *d, bool hangs)
{
    lap_device_task *task;
    if (!d->is_lost)
        return;
    for (int i = 0; i < LAP_POOL_LANES; i++) /* only the device's thread knows how many lanes there are */
        while ((task = lap_device_task_pop(&d->lanes[i].tasks)))
            take_back(task, hangs);
    while ((task = lap_device_task_pop(&d->ready)))
        take_back(task, false);
    while (hangs && (task = lap_device_task_pop(&d->starting)))
        take_back(task, true);
}

void lap_device_pool_lose(lap_pool_device *d, const lap_error *why)
{
    if (d->is_lost)
        return;
    d->is_lost = true;
    d->why = *why;
    pthread_cond_signal(&d->changed);
    /* Other threads may have to do its work now. */
    for (int i = 0; i < d->pool->executor->jobs; i++)
        (void)lap_executor_wake(d->pool->executor);
}

lap_pool_device *lap_device_pool_any(lap_device_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        if (pool->devices[i].is_ready && !pool->devices[i].is_lost)
            return &pool->devices[i];
    return NULL;
}

void lap_device_pool_drop(
    lap_pool_device *d, lap_pool_stagings *stagings, lap_device_staging *staging, const lap_error *why)
{
    const bool is_lost = d->is_lost;
    stagings->limit = --stagings->count;
    /* Small photos can use stagings for large ones. But without those, large photos would wait for ever. */
    if (d->stagings[LAP_POOL_LARGE].limit == 0)
        lap_device_pool_lose(d, why);
    pthread_mutex_unlock(&d->pool->executor->mutex);
    (is_lost && staging ? lap_device_staging_abandon : lap_device_staging_destroy)(staging);
    pthread_mutex_lock(&d->pool->executor->mutex);
}

void lap_device_pool_unload(lap_device_task *task, const lap_error *why)
{
    lap_pool_device *d = task->device;
    d->under_way--;
    task->stagings->loaded--;
    lap_device_pool_wait_again(d->pool, task->job);
    (void)lap_executor_wake(d->pool->executor);
    lap_async_run_close(&task->run);
    lap_device_pool_drop(d, task->stagings, task->run.staging, why);
    free(task);
}

bool lap_device_pool_is_alive(const lap_device_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        if (!pool->devices[i].is_lost)
            return true;
    return false;
}

/* While threads decode and encode photos on the CPU, the device waits for them: with 32 threads, 16 of which
 * coded photos, 437 photos a second were measured instead of 1129. Threads do not code photos while a device
 * starts either, for as long as a start usually takes: these photos would delay the start, and would finish
 * last. */
bool lap_device_pool_cpu_may(const lap_device_pool *pool)
{
    const double now = lap_now_ms();
    if (pool->options.is_named)
        return !lap_device_pool_is_alive(pool);
    for (int i = 0; i < pool->count; i++) {
        const lap_pool_device *d = &pool->devices[i];
        const bool is_late = !d->is_ready && d->busy_since > 0 && now - d->busy_since > pool->soon_ms;
        if (!d->is_lost && !is_late)
            return false;
    }
    return true;
}
