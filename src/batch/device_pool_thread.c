/* The thread of a device, the only one that calls it: enqueues tasks on lanes, and detects when they are
 * done. */
#include <stdlib.h>

#include "base/condition.h"
#include "base/status.h"
#include "base/times.h"
#include "batch/device_pool_state.h"

enum { LOOK_US = 50 }; /* time between two checks of the lanes */

static pthread_mutex_t *mutex_of(const lap_pool_device *d)
{
    return &d->pool->executor->mutex;
}

/* ---- lanes: the mutex is not held -------------------------------------------------------------- */

static bool is_free(const lap_pool_device *d, int i)
{
    return !d->lanes[i].is_busy;
}

static lap_code resize(lap_pool_device *d, int i, size_t bytes, lap_error *err)
{
    const size_t before = lap_device_slot_room(d->lanes[i].slot);
    const lap_code code = lap_device_slot_resize(d->lanes[i].slot, bytes, err);
    d->lane_bytes += lap_device_slot_room(d->lanes[i].slot);
    d->lane_bytes -= before;
    return code;
}

/* Returns the smallest free lane with enough room, or else the largest one; -1: no lane is free. */
static int pick_lane(const lap_pool_device *d, size_t need)
{
    int best = -1;
    for (int i = 0; i < d->lane_count; i++) {
        const size_t room = lap_device_slot_room(d->lanes[i].slot);
        const size_t its = best < 0 ? 0 : lap_device_slot_room(d->lanes[best].slot);
        if (is_free(d, i) &&
            (best < 0 || (room >= need ? its < need || room < its : its < need && room > its)))
            best = i;
    }
    return best;
}

/* Call with the mutex held: the trace's owner may end the run while the device's thread hangs in a call. */
static void trace(const lap_pool_device *d, const char *what, double start, uint64_t photo)
{
    lap_trace_add(d->pool->executor->trace,
        (lap_trace_event){what, start, lap_now_ms() - start, photo, d->number, LAP_POOL_THREAD_LANE});
}

static void trace_call(const lap_pool_device *d, const char *what, double start, uint64_t photo)
{
    pthread_mutex_lock(mutex_of(d));
    trace(d, what, start, photo);
    pthread_mutex_unlock(mutex_of(d));
}

static lap_code add_lane(lap_pool_device *d, size_t bytes, int *lane, lap_error *err)
{
    lap_code code = lap_device_slot_create(d->number, &d->lanes[d->lane_count].slot, err);
    if (code != LAP_OK)
        return code;
    *lane = d->lane_count++;
    return resize(d, *lane, bytes, err);
}

/* The task's job may be taken away during this call. */
static lap_code pin(const lap_pool_device *d, lap_device_staging *staging, uint64_t photo, lap_error *err)
{
    if (lap_device_staging_is_pinned(staging))
        return LAP_OK;
    const double start = lap_now_ms();
    const lap_code code = lap_device_staging_pin(staging, err);
    trace_call(d, "pin", start, photo);
    return code;
}

/* Finds a free lane with room for `need` bytes; creates or grows one within the budget, to `wanted` bytes if
 * the budget allows. *lane is -1 if other photos must finish first. LAP_E_LIMIT: the photo never fits. */
static lap_code find_lane(lap_pool_device *d, size_t need, size_t wanted, int *lane, lap_error *err)
{
    *lane = pick_lane(d, need);
    if (*lane >= 0 && lap_device_slot_room(d->lanes[*lane].slot) >= need)
        return LAP_OK;
    if (need == 0 || need > d->budget)
        return LAP_E_LIMIT;
    const size_t unused = d->budget - d->lane_bytes;
    if (d->lane_count < LAP_POOL_LANES && unused >= need) {
        const double start = lap_now_ms();
        lap_code code = add_lane(d, unused >= wanted ? wanted : need, lane, err);
        trace_call(d, "room", start, 0);
        return code;
    }
    if (*lane < 0)
        return LAP_OK;
    for (int i = 0; i < d->lane_count; i++) /* memory of free lanes can be reused */
        if (is_free(d, i) && (i == *lane || d->budget - d->lane_bytes < need) &&
            resize(d, i, 0, err) != LAP_OK)
            return LAP_E_DEVICE;
    const size_t left = d->budget - d->lane_bytes;
    if (left >= need)
        return resize(d, *lane, left >= wanted ? wanted : need, err);
    *lane = -1;
    return LAP_OK;
}

/* ---- tasks: the mutex is held ------------------------------------------------------------------ */

static void store(lap_pool_device *d, lap_device_task *task)
{
    d->under_way--;
    STAILQ_INSERT_TAIL(&d->pool->finished, task, next);
    (void)lap_executor_wake(d->pool->executor);
}

/* Photos that begin together: a large one, or a chain of small ones. */
typedef struct group {
    lap_device_task *task[LAP_DEVICE_CHAIN];
    int count;
    size_t bytes;   /* sum of the device memory that each photo needs alone */
    uint64_t photo; /* trace number of the first photo, kept here because its job may be taken away */
} group;

/* The result of trying to begin the photos of a chain. */
typedef struct attempt {
    lap_code code;
    int unpinned; /* index of the photo whose memory could not be pinned; -1: all are pinned */
    int lane;     /* their lane; -1: not chosen yet */
} attempt;

/* A chain's lane gets much more memory than it needs, since chains become longer when more photos wait. */
static size_t wanted(const group *g)
{
    const size_t needs = lap_device_slot_chain_needs(g->bytes, g->count);
    if (!g->task[0]->is_small)
        return needs + needs / 8; /* the next may be larger */
    if (needs < LAP_DEVICE_CHAIN_BYTES / 16)
        return LAP_DEVICE_CHAIN_BYTES / 16;
    return needs > LAP_DEVICE_CHAIN_BYTES / 2 ? LAP_DEVICE_CHAIN_BYTES : 2 * needs;
}

/* Called without the mutex. */
static attempt try_group(lap_pool_device *d, const group *g, lap_error *err)
{
    const lap_plan *plan = &g->task[0]->run.photo.plan;
    const lap_views_filter filter = {plan->rung, &plan->params, plan->border};
    const lap_device_staging *stagings[LAP_DEVICE_CHAIN];
    attempt a = {.unpinned = -1, .lane = -1};
    for (int i = 0; i < g->count; i++) {
        stagings[i] = g->task[i]->run.staging;
        a.code = pin(d, g->task[i]->run.staging, g->photo, err);
        if (a.code == LAP_OK)
            continue;
        a.unpinned = i;
        return a;
    }
    a.code = find_lane(d, lap_device_slot_chain_needs(g->bytes, g->count), wanted(g), &a.lane, err);
    if (a.code != LAP_OK || a.lane < 0)
        return a;
    const double start = lap_now_ms();
    a.code = lap_device_slot_start(d->lanes[a.lane].slot, stagings, g->count, &filter, err);
    trace_call(d, "enqueue", start, g->photo);
    return a;
}

static void occupy(lap_pool_device *d, int i, const group *g)
{
    lap_pool_lane *lane = &d->lanes[i];
    if (!d->busy_lanes++)
        d->moved_ms = lap_now_ms();
    lane->is_busy = true;
    lane->has_chain = g->task[0]->is_small;
    lane->task_count = g->count;
    d->busy_chains += lane->has_chain;
    for (int k = 0; k < g->count; k++) {
        lap_pool_stagings *s = g->task[k]->stagings;
        STAILQ_INSERT_TAIL(&lane->tasks, g->task[k], next);
        s->loaded--;
        if (s->count < s->limit && d->pool->executor->queued > 0)
            (void)lap_executor_wake(d->pool->executor); /* another photo may be loaded */
    }
}

/* Puts all tasks but one back in front of the ready tasks. */
static void put_back(lap_pool_device *d, const group *g, int but)
{
    for (int i = g->count - 1; i >= 0; i--)
        if (i != but)
            STAILQ_INSERT_HEAD(&d->ready, g->task[i], next);
}

/* Moves the tasks according to the attempt. *moved: at least one task is no longer ready. May release the
 * mutex temporarily. */
static lap_code move(lap_pool_device *d, const group *g, const attempt *a, bool *moved, lap_error *err)
{
    *moved = true;
    if (a->code == LAP_OK && a->lane >= 0) {
        occupy(d, a->lane, g);
        return LAP_OK;
    }
    if (a->unpinned >= 0 && a->code == LAP_E_MEMORY) {
        put_back(d, g, a->unpinned);
        lap_device_pool_unload(g->task[a->unpinned], err);
        return LAP_OK;
    }
    if (a->code == LAP_E_LIMIT) { /* this happens only to a photo that is alone */
        put_back(d, g, 0);
        g->task[0]->is_refused = true;
        g->task[0]->stagings->loaded--;
        store(d, g->task[0]);
        return LAP_OK;
    }
    *moved = false; /* no free lane, or the device is lost */
    put_back(d, g, -1);
    if (a->code != LAP_E_MEMORY || d->lane_bytes == 0)
        return a->code;
    d->budget = d->lane_bytes; /* other programs use the device too: make do with less */
    return LAP_OK;
}

/* ---- a round: each function takes the mutex if it needs it ------------------------------------- */

static bool is_lost(const lap_pool_device *d)
{
    pthread_mutex_lock(mutex_of(d));
    const bool is_lost = d->is_lost;
    pthread_mutex_unlock(mutex_of(d));
    return is_lost;
}

/* Whether a task can join the chain of the tasks before it. */
static bool joins(const lap_pool_device *d, const group *g, const lap_device_task *task)
{
    const lap_device_task *first = g->task[0];
    const size_t most = d->budget < LAP_DEVICE_CHAIN_BYTES ? d->budget : LAP_DEVICE_CHAIN_BYTES;
    return first->is_small && task->is_small && g->count < LAP_DEVICE_CHAIN &&
           task->job->settings == first->job->settings &&
           lap_device_staging_go_together(first->run.staging, task->run.staging) &&
           lap_device_slot_chain_needs(g->bytes + task->needs, g->count + 1) <= most;
}

/* Removes the first ready task from the queue, and the tasks behind it that can join its chain. Removes
 * nothing if no task is ready, enough chains are under way, or the device is lost. */
static void take_ready(lap_pool_device *d, group *g)
{
    lap_device_task *task;
    g->count = 0;
    g->bytes = 0;
    pthread_mutex_lock(mutex_of(d));
    task = d->is_lost ? NULL : STAILQ_FIRST(&d->ready);
    if (task && !(task->is_small && d->busy_chains == LAP_POOL_CHAINS))
        g->photo = task->job->number;
    else
        task = NULL;
    for (; task && (g->count == 0 || joins(d, g, task)); task = STAILQ_FIRST(&d->ready)) {
        STAILQ_REMOVE_HEAD(&d->ready, next);
        STAILQ_INSERT_TAIL(&d->starting, task, next);
        g->bytes += task->needs;
        g->task[g->count++] = task;
    }
    pthread_mutex_unlock(mutex_of(d));
}

static lap_code settle(lap_pool_device *d, const group *g, const attempt *a, bool *moved, lap_error *err)
{
    lap_code code = LAP_OK;
    pthread_mutex_lock(mutex_of(d));
    *moved = true; /* the jobs were taken away because this took too long; the device is lost */
    if (!STAILQ_EMPTY(&d->starting)) {
        STAILQ_INIT(&d->starting);
        code = move(d, g, a, moved, err);
    }
    pthread_mutex_unlock(mutex_of(d));
    return code;
}

/* Begins ready tasks while lanes are available. */
static lap_code begin_tasks(lap_pool_device *d, bool *any, lap_error *err)
{
    lap_code code = LAP_OK;
    for (bool moved = true; code == LAP_OK && moved; *any |= moved) {
        group g;
        take_ready(d, &g);
        if (g.count == 0)
            break;
        const attempt a = try_group(d, &g, err);
        code = settle(d, &g, &a, &moved, err);
    }
    return code;
}

/* The lane's tasks are finished. False: they were taken away, since the device is lost. */
static bool end_group(lap_pool_device *d, int i, const lap_times *ms)
{
    lap_pool_lane *lane = &d->lanes[i];
    const lap_times share = lap_times_share(ms, lane->task_count);
    pthread_mutex_lock(mutex_of(d));
    const bool is_ours = !d->is_lost;
    if (is_ours) {
        lap_device_task *task = STAILQ_FIRST(&lane->tasks);
        lap_trace_stages(d->pool->executor->trace, d->number, i, ms, task->job->number);
        while ((task = lap_device_task_pop(&lane->tasks))) {
            lap_times_add(&task->run.photo.ms, &share);
            store(d, task);
        }
        d->busy_chains -= lane->has_chain;
        lane->is_busy = false;
        d->busy_lanes--;
        d->moved_ms = lap_now_ms();
    }
    pthread_mutex_unlock(mutex_of(d));
    return is_ours;
}

/* Checks every lane once. */
static lap_code end_tasks(lap_pool_device *d, bool *any, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < d->lane_count && code == LAP_OK; i++) {
        lap_times ms = {0};
        bool through = false;
        if (is_free(d, i))
            continue;
        if (is_lost(d))
            break;
        code = lap_device_slot_is_through(d->lanes[i].slot, &through, err);
        if (code == LAP_OK && through)
            code = lap_device_slot_times(d->lanes[i].slot, &ms, err);
        if (code == LAP_OK && through)
            *any |= end_group(d, i, &ms);
    }
    return code;
}

/* Waits before the next round, unless the last round made progress (moved). False: the run ends, or the
 * device is lost. */
static bool begin_round(lap_pool_device *d, bool moved)
{
    const bool *ends = &d->pool->is_closing, *is_lost = &d->is_lost;
    pthread_mutex_lock(mutex_of(d));
    d->busy_since = 0;
    if (!moved && !*ends && !*is_lost) {
        if (!d->busy_lanes && STAILQ_EMPTY(&d->ready)) {
            pthread_cond_wait(&d->changed, mutex_of(d));
        } else {
            const struct timespec until = lap_condition_until(LOOK_US);
            (void)pthread_cond_timedwait(&d->changed, mutex_of(d), &until);
        }
    }
    d->busy_since = lap_now_ms();
    const bool begins = !*ends && !*is_lost;
    pthread_mutex_unlock(mutex_of(d));
    return begins;
}

static lap_code open_device(lap_pool_device *d, lap_error *err)
{
    const size_t asked = d->pool->options.memory;
    const double start = lap_now_ms();
    size_t unused = 0;
    const lap_code code = lap_device_open(d->number, &unused, err);
    const size_t most = unused / 10 * 9; /* kernels and their tables need memory too */
    d->budget = asked ? asked : LAP_DEVICE_POOL_MEMORY;
    d->budget = d->budget < most ? d->budget : most;
    pthread_mutex_lock(mutex_of(d));
    trace(d, "start", start, 0);
    d->is_ready = code == LAP_OK && !d->is_lost;
    for (lap_device_task *task = STAILQ_FIRST(&d->ready); task; task = STAILQ_NEXT(task, next))
        lap_async_run_restart(&task->run);
    for (int i = 0; i < d->pool->executor->jobs && d->is_ready; i++)
        (void)lap_executor_wake(d->pool->executor);
    pthread_mutex_unlock(mutex_of(d));
    return code;
}

void lap_device_pool_free_idle(lap_pool_device *d)
{
    for (int k = 0; k < LAP_POOL_KINDS; k++) {
        lap_pool_stagings *s = &d->stagings[k];
        for (int i = 0; i < s->idle_count; i++)
            (d->is_lost ? lap_device_staging_abandon : lap_device_staging_destroy)(s->idle[i]);
        free(s->idle);
    }
}

static void free_device(lap_pool_device *d)
{
    for (lap_device_task *task; (task = lap_device_task_pop(&d->taken_back));)
        lap_device_task_abandon(task);
    for (int i = 0; i < d->lane_count; i++)
        (d->is_lost ? lap_device_slot_abandon : lap_device_slot_destroy)(d->lanes[i].slot);
    lap_device_pool_free_idle(d);
    pthread_cond_destroy(&d->changed);
}

void lap_device_pool_free(lap_device_pool *pool)
{
    for (int i = 0; i < pool->count; i++)
        free_device(&pool->devices[i]);
    free(pool);
}

void *lap_device_pool_serve(void *argument)
{
    lap_pool_device *d = argument;
    lap_device_pool *pool = d->pool;
    lap_executor *executor = pool->executor;
    lap_error err = {0};
    bool moved = true;
    (void)begin_round(d, moved); /* waits for the mutex, until all threads exist */
    lap_code code = open_device(d, &err);
    while (code == LAP_OK && begin_round(d, moved)) {
        moved = false;
        code = end_tasks(d, &moved, &err);
        if (code == LAP_OK)
            code = begin_tasks(d, &moved, &err);
        if (code == LAP_OK && d->busy_lanes && lap_now_ms() - d->moved_ms > pool->deadline_ms)
            code = lap_fail(
                &err, LAP_E_DEVICE, "no photo was finished for %.0f seconds", pool->deadline_ms / 1e3);
    }
    pthread_mutex_lock(&executor->mutex);
    if (code != LAP_OK)
        lap_device_pool_lose(d, &err);
    lap_device_pool_take_back(d, false);
    d->busy_since = 0;
    d->has_ended = true;
    const bool is_last = d->is_left && --pool->holders == 0;
    pthread_mutex_unlock(&executor->mutex);
    if (is_last) {
        lap_device_pool_free(pool);
        lap_executor_free(executor);
    }
    return NULL;
}
