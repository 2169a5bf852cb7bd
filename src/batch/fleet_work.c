/* What threads do for the devices: load and land; and what they do instead of them. */
#include <stdlib.h>

#include "base/status.h"
#include "batch/fleet_state.h"
#include "run/run.h"

static pthread_mutex_t *mutex_of(const lap_fleet *fleet)
{
    return &fleet->executor->mutex;
}

/* ---- load: the mutex is held, but while the file is read --------------------------------------- */

static void wait_again(lap_fleet *fleet, lap_job *job)
{
    lap_job_push_front(&fleet->executor->waiting, job);
    fleet->executor->queued++;
}

static void by_pieces(lap_fleet *fleet, lap_job *job, lap_job_way way)
{
    job->way = way;
    lap_job_push(&fleet->by_pieces, job);
    (void)lap_executor_wake(fleet->executor);
}

/* No memory for one more: those that there are have to do. */
static void drop_cargo(lap_fleet_device *d, lap_device_cargo *cargo, const lap_error *why)
{
    const bool is_lost = d->is_lost;
    d->cargo_limit = --d->cargo_count;
    if (d->cargo_limit == 0)
        lap_fleet_lose(d, why);
    pthread_mutex_unlock(mutex_of(d->fleet));
    (is_lost ? lap_device_cargo_abandon : lap_device_cargo_destroy)(cargo);
    pthread_mutex_lock(mutex_of(d->fleet));
}

static lap_code read_photo(
    lap_fleet_device *d, lap_job *job, lap_device_cargo **cargo, lap_trip **trip, bool *mine, lap_error *err)
{
    const lap_fleet *fleet = d->fleet;
    const size_t most =
        fleet->options.pinned ? fleet->options.pinned / (size_t)fleet->count / (size_t)d->cargo_limit : 0;
    lap_code code = *cargo ? LAP_OK : lap_device_cargo_create(d->number, most, cargo, err);
    *mine = false;
    *trip = calloc(1, sizeof **trip);
    if (code == LAP_OK && !*trip)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    if (code == LAP_OK)
        code = lap_flight_load(&(*trip)->flight, fleet->executor->context, job->input, job->relative,
            job->settings, fleet->options.rung, *cargo, mine, err);
    if (code != LAP_OK || !*mine) {
        free(*trip);
        *trip = NULL;
    }
    return code;
}

static void load(lap_fleet_device *d, lap_job *job)
{
    lap_fleet *fleet = d->fleet;
    lap_device_cargo *cargo = d->idle_count ? d->idle[--d->idle_count] : NULL;
    lap_trip *trip;
    lap_error err = {0};
    bool mine;
    d->cargo_count += !cargo;
    d->under_way++;
    pthread_mutex_unlock(mutex_of(fleet));
    const double start = lap_now_ms();
    const lap_code code = read_photo(d, job, &cargo, &trip, &mine, &err);
    lap_trace_thread(fleet->executor->trace, "read", start, job->number);
    pthread_mutex_lock(mutex_of(fleet));
    if (code == LAP_OK && mine && !d->is_lost) {
        trip->job = job;
        trip->device = d;
        lap_trip_push(&d->ready, trip);
        pthread_cond_signal(&d->changed);
        return;
    }
    d->under_way--;
    if (code == LAP_OK && !d->is_lost) {
        d->idle[d->idle_count++] = cargo;
        by_pieces(fleet, job, LAP_WAY_PIECES);
        return;
    }
    if (trip) {
        lap_flight_close(&trip->flight);
        free(trip);
    }
    if (code != LAP_OK && code != LAP_E_MEMORY)
        lap_fleet_lose(d, &err);
    drop_cargo(d, cargo, &err);
    wait_again(fleet, job);
}

/* ---- land -------------------------------------------------------------------------------------- */

static void keep_cargo(lap_fleet_device *d, lap_device_cargo *cargo)
{
    if (d->is_lost)
        lap_device_cargo_abandon(cargo);
    else
        d->idle[d->idle_count++] = cargo;
}

static void land(lap_fleet *fleet, lap_trip *trip)
{
    lap_job *job = trip->job;
    lap_fleet_device *d = trip->device;
    lap_device_cargo *cargo = trip->flight.cargo;
    pthread_mutex_unlock(mutex_of(fleet));
    const double start = lap_now_ms();
    const bool is_done = lap_flight_is_done(&trip->flight);
    if (is_done)
        lap_flight_land(&trip->flight, job->tree, job->relative, &job->stat, &job->sink, &job->report,
            &job->report.error);
    lap_flight_close(&trip->flight);
    free(trip);
    lap_trace_thread(fleet->executor->trace, "write", start, job->number);
    pthread_mutex_lock(mutex_of(fleet));
    keep_cargo(d, cargo);
    if (is_done) {
        job->device = d->number;
        d->done++;
        lap_executor_finish(fleet->executor, job);
    } else {
        by_pieces(fleet, job, LAP_WAY_CPU_CODEC);
    }
}

/* ---- the CPU ----------------------------------------------------------------------------------- */

/* What a job that no device does from file to file is run with. */
static lap_settings settings_of(lap_fleet *fleet, const lap_job *job, const lap_fleet_device *d)
{
    lap_settings s = *job->settings;
    if (!fleet->options.is_named || !d) {
        s.backend = "auto";
        s.codec = LAP_CODEC_CPU;
    } else {
        s.device = d->number;
        if (job->way == LAP_WAY_CPU_CODEC) {
            s.backend = fleet->options.rung->name;
            s.codec = LAP_CODEC_CPU;
        }
    }
    return s;
}

/* The filter of a named backend runs on a device here, too, which may be lost in the middle of it. */
static void run_here(lap_fleet *fleet, lap_job *job)
{
    lap_fleet_device *d = lap_fleet_any(fleet);
    const lap_settings s = settings_of(fleet, job, d);
    const bool uses_device = fleet->options.is_named && d;
    fleet->on_cpu += !uses_device;
    pthread_mutex_unlock(mutex_of(fleet));
    lap_job_run(fleet->executor, job, &s);
    const lap_code code = job->report.error.code;
    if (uses_device && code == LAP_E_MEMORY) { /* on the device, perhaps */
        const lap_settings plain = settings_of(fleet, job, NULL);
        lap_job_run(fleet->executor, job, &plain);
    }
    pthread_mutex_lock(mutex_of(fleet));
    fleet->on_cpu -= !uses_device;
    if (uses_device && (code == LAP_E_DEVICE || code == LAP_E_BACKEND)) {
        lap_fleet_lose(d, &job->report.error);
        wait_again(fleet, job);
    } else {
        lap_executor_finish(fleet->executor, job);
    }
}

/* ---- what is next ------------------------------------------------------------------------------ */

/* The device that is to have the next photo: the one with the fewest, if it can take any. */
static lap_fleet_device *choose_device(lap_fleet *fleet)
{
    lap_fleet_device *best = NULL;
    for (int i = 0; i < fleet->count; i++) {
        lap_fleet_device *d = &fleet->devices[i];
        if (d->is_ready && !d->is_lost && (d->idle_count || d->cargo_count < d->cargo_limit) &&
            (!best || d->under_way < best->under_way))
            best = d;
    }
    return best;
}

static bool may_run_here(const lap_fleet *fleet)
{
    int alive = 0; /* or starting: photos begun meanwhile would delay the start, and end last */
    for (int i = 0; i < fleet->count; i++)
        alive += !fleet->devices[i].is_lost;
    if (!alive)
        return true;
    if (fleet->options.is_named)
        return false;
    return fleet->on_cpu < fleet->executor->jobs - alive * fleet->options.feeders;
}

static bool is_small(const lap_fleet *fleet, const lap_job *job)
{
    return !fleet->options.is_named && (size_t)job->stat.st_size <= fleet->options.small_bytes;
}

static bool take_waiting(lap_fleet *fleet)
{
    lap_executor *ex = fleet->executor;
    lap_job *job = ex->waiting.first;
    if (!job)
        return false;
    lap_fleet_device *d = is_small(fleet, job) ? NULL : choose_device(fleet);
    const bool here = !d && (is_small(fleet, job) || may_run_here(fleet));
    if (!d && !here)
        return false;
    (void)lap_job_pop(&ex->waiting);
    ex->queued--;
    if (d)
        load(d, job);
    else
        run_here(fleet, job);
    return true;
}

void lap_fleet_work(lap_fleet *fleet)
{
    for (bool any = true; any;) {
        lap_trip *trip = lap_trip_pop(&fleet->landing);
        lap_job *job = trip ? NULL : lap_job_pop(&fleet->by_pieces);
        if (trip)
            land(fleet, trip);
        else if (job)
            run_here(fleet, job);
        else
            any = take_waiting(fleet);
    }
}
