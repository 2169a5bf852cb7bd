#include "batch/fleet_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"

/* Starting a device takes some hundred milliseconds, on a machine with many of them seconds. */
enum { START_MS = 120000 };
_Static_assert((int)LAP_FLEET_DEVICES == LAP_BATCH_DEVICES, "as many as a report has");

/* ---- trips ------------------------------------------------------------------------------------- */

static void init(lap_trip_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

void lap_trip_push(lap_trip_list *list, lap_trip *trip)
{
    trip->next = NULL;
    *list->last = trip;
    list->last = &trip->next;
}

lap_trip *lap_trip_pop(lap_trip_list *list)
{
    lap_trip *trip = list->first;
    if (trip && !(list->first = trip->next))
        list->last = &list->first;
    return trip;
}

/* ---- a device that is lost --------------------------------------------------------------------- */

static void take_back(lap_trip *trip, bool hangs)
{
    lap_executor *ex = trip->device->fleet->executor;
    lap_job_push_front(&ex->waiting, trip->job);
    ex->queued++;
    (void)lap_executor_wake(ex);
    trip->job = NULL;
    trip->device->under_way--;
    lap_flight_close(&trip->flight);
    if (hangs)
        return;
    lap_device_cargo_abandon(trip->flight.cargo);
    free(trip);
}

void lap_fleet_take_back(lap_fleet_device *d, bool hangs)
{
    lap_trip *trip;
    if (!d->is_lost)
        return;
    for (int i = 0; i < d->lane_count; i++) {
        if (d->lanes[i].trip && d->lanes[i].trip->job)
            take_back(d->lanes[i].trip, hangs);
        d->lanes[i].trip = NULL;
    }
    while ((trip = lap_trip_pop(&d->ready)))
        take_back(trip, false);
    if (hangs && d->starting && d->starting->job)
        take_back(d->starting, true);
}

void lap_fleet_lose(lap_fleet_device *d, const lap_error *why)
{
    if (d->is_lost)
        return;
    d->is_lost = true;
    d->why = *why;
    pthread_cond_signal(&d->changed);
    /* Others may have to do its work now. */
    for (int i = 0; i < d->fleet->executor->jobs; i++)
        (void)lap_executor_wake(d->fleet->executor);
}

bool lap_fleet_warning(lap_fleet *fleet, lap_error *warning)
{
    for (int i = 0; i < fleet->count; i++) {
        lap_fleet_device *d = &fleet->devices[i];
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

void lap_fleet_look(const lap_fleet *fleet, lap_batch_work *work)
{
    work->device_count = fleet->count;
    for (int i = 0; i < fleet->count; i++) {
        const lap_fleet_device *d = &fleet->devices[i];
        work->device[i] = (lap_batch_device){.device = d->number,
            .is_ready = d->is_ready && !d->is_lost,
            .is_lost = d->is_lost,
            .under_way = d->under_way,
            .done = d->done};
    }
}

lap_fleet_device *lap_fleet_any(lap_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++)
        if (fleet->devices[i].is_ready && !fleet->devices[i].is_lost)
            return &fleet->devices[i];
    return NULL;
}

void lap_fleet_look_after(lap_fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        lap_fleet_device *d = &fleet->devices[i];
        const double most = d->is_ready ? fleet->deadline_ms : START_MS;
        if (!d->has_ended && !d->is_lost && d->busy_since > 0 && lap_now_ms() - d->busy_since > most) {
            lap_error why;
            lap_fail(&why, LAP_E_DEVICE, "a call has not returned for %.0f seconds", most / 1e3);
            lap_fleet_lose(d, &why);
            lap_fleet_take_back(d, true);
        }
    }
    if (!fleet->executor->running) /* a thread could not be started before */
        (void)lap_executor_wake(fleet->executor);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static lap_code start(lap_fleet *fleet, lap_fleet_device *d, int number, int count, lap_error *err)
{
    pthread_condattr_t monotonic;
    d->fleet = fleet;
    d->number = number;
    init(&d->ready);
    /* As many as its lanes hold, and as threads can read and write meanwhile. */
    d->cargo_limit = LAP_FLEET_LANES + fleet->executor->jobs / count + 1;
    d->idle = calloc((size_t)d->cargo_limit, sizeof *d->idle);
    if (!d->idle)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    fleet->count++;
    const int rc = pthread_create(&d->thread, NULL, lap_fleet_serve, d);
    d->has_thread = rc == 0;
    return rc ? lap_fail(err, LAP_E_MEMORY, "cannot start a thread: %s", strerror(rc)) : LAP_OK;
}

lap_code lap_fleet_create(
    lap_executor *executor, const lap_fleet_options *options, lap_fleet **fleet, lap_error *err)
{
    const int there = lap_device_count();
    *fleet = NULL;
    for (int i = 0; i < options->count; i++)
        if (options->devices[i] >= there)
            return lap_fail(err, LAP_E_BACKEND, "CUDA device %d does not exist: there %s %d, counted from 0",
                options->devices[i], there == 1 ? "is" : "are", there);
    lap_fleet *f = calloc(1, sizeof *f + (size_t)options->count * sizeof *f->devices);
    if (!f)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    *fleet = f;
    f->executor = executor;
    f->options = *options;
    f->options.devices = NULL;
    f->deadline_ms = options->deadline_ms > 0 ? options->deadline_ms : LAP_FLEET_DEADLINE_MS;
    init(&f->landing);
    lap_job_list_init(&f->by_pieces);
    lap_code code = LAP_OK;
    pthread_mutex_lock(&executor->mutex); /* the threads begin when all are there */
    for (int i = 0; i < options->count && code == LAP_OK; i++)
        code = start(f, &f->devices[i], options->devices[i], options->count, err);
    pthread_mutex_unlock(&executor->mutex);
    return code;
}

static void free_device(lap_fleet_device *d)
{
    for (int i = 0; i < d->lane_count; i++)
        (d->is_lost ? lap_device_lane_abandon : lap_device_lane_destroy)(d->lanes[i].lane);
    for (int i = 0; i < d->idle_count; i++)
        (d->is_lost ? lap_device_cargo_abandon : lap_device_cargo_destroy)(d->idle[i]);
    pthread_cond_destroy(&d->changed);
    free(d->idle);
}

bool lap_fleet_close(lap_fleet *fleet)
{
    bool all = true;
    if (!fleet)
        return true;
    pthread_mutex_t *mutex = &fleet->executor->mutex;
    pthread_mutex_lock(mutex);
    fleet->is_closing = true;
    for (int i = 0; i < fleet->count; i++)
        pthread_cond_signal(&fleet->devices[i].changed);
    pthread_mutex_unlock(mutex);
    for (int i = 0; i < fleet->count; i++) {
        lap_fleet_device *d = &fleet->devices[i];
        pthread_mutex_lock(mutex);
        const bool hangs = d->is_lost && !d->has_ended && d->busy_since > 0;
        pthread_mutex_unlock(mutex);
        if (d->has_thread && (hangs ? pthread_detach(d->thread) : pthread_join(d->thread, NULL)) == 0 &&
            hangs)
            all = false;
    }
    for (int i = 0; i < fleet->count && all; i++)
        free_device(&fleet->devices[i]);
    if (all)
        free(fleet);
    return all;
}
