/* The thread of a device, which alone calls it: enqueues trips on lanes, and sees when they are through. */
#include <time.h>

#include "base/status.h"
#include "base/times.h"
#include "batch/fleet_state.h"

enum { LOOK_US = 50 }; /* between two looks at what is under way */

static pthread_mutex_t *mutex_of(const lap_fleet_device *d)
{
    return &d->fleet->executor->mutex;
}

/* ---- lanes: the mutex is not held -------------------------------------------------------------- */

static bool is_free(const lap_fleet_device *d, int i)
{
    return !d->lanes[i].trip;
}

static lap_code resize(lap_fleet_device *d, int i, size_t bytes, lap_error *err)
{
    const size_t before = lap_device_lane_room(d->lanes[i].lane);
    const lap_code code = lap_device_lane_resize(d->lanes[i].lane, bytes, err);
    d->lane_bytes += lap_device_lane_room(d->lanes[i].lane);
    d->lane_bytes -= before;
    return code;
}

/* The smallest of the free lanes with that much room, or the largest with less; -1: none. */
static int pick_lane(const lap_fleet_device *d, size_t need)
{
    int best = -1;
    for (int i = 0; i < d->lane_count; i++) {
        const size_t room = lap_device_lane_room(d->lanes[i].lane);
        const size_t its = best < 0 ? 0 : lap_device_lane_room(d->lanes[best].lane);
        if (is_free(d, i) &&
            (best < 0 || (room >= need ? its < need || room < its : its < need && room > its)))
            best = i;
    }
    return best;
}

static lap_code add_lane(lap_fleet_device *d, size_t bytes, int *lane, lap_error *err)
{
    lap_fleet_lane *l = &d->lanes[d->lane_count];
    lap_code code = lap_device_lane_create(d->number, &l->lane, err);
    if (code != LAP_OK)
        return code;
    *lane = d->lane_count++;
    return resize(d, *lane, bytes, err);
}

/* A free lane with room for the photo, made or grown within the budget; *lane -1: not before others are
 * through. LAP_E_LIMIT: never. */
static lap_code find_lane(lap_fleet_device *d, size_t need, int *lane, lap_error *err)
{
    *lane = pick_lane(d, need);
    if (*lane >= 0 && lap_device_lane_room(d->lanes[*lane].lane) >= need)
        return LAP_OK;
    if (need == 0 || need > d->budget)
        return LAP_E_LIMIT;
    const size_t unused = d->budget - d->lane_bytes, wanted = need + need / 8; /* the next may be larger */
    if (d->lane_count < LAP_FLEET_LANES && unused >= need)
        return add_lane(d, unused >= wanted ? wanted : need, lane, err);
    if (*lane < 0)
        return LAP_OK;
    for (int i = 0; i < d->lane_count; i++) /* what free lanes have is there for the taking */
        if (is_free(d, i) && (i == *lane || d->budget - d->lane_bytes < need) &&
            resize(d, i, 0, err) != LAP_OK)
            return LAP_E_DEVICE;
    if (d->budget - d->lane_bytes >= need)
        return resize(d, *lane, need, err);
    *lane = -1;
    return LAP_OK;
}

/* ---- trips: the mutex is held ------------------------------------------------------------------ */

static void land(lap_fleet_device *d, lap_trip *trip)
{
    d->under_way--;
    lap_trip_push(&d->fleet->landing, trip);
    (void)lap_executor_wake(d->fleet->executor);
}

/* Begins the first trip that is ready, if a lane can be had; *moved says so. */
static lap_code begin_trip(lap_fleet_device *d, bool *moved, lap_error *err)
{
    const lap_fleet_options *o = &d->fleet->options;
    lap_trip *trip = d->ready.first;
    const lap_settings *s = &trip->flight.settings;
    int lane = -1;
    d->starting = lap_trip_pop(&d->ready);
    pthread_mutex_unlock(mutex_of(d));
    lap_code code = find_lane(d, lap_device_lane_needs(trip->flight.cargo), &lane, err);
    if (code == LAP_OK && lane >= 0)
        code = lap_device_lane_start(
            d->lanes[lane].lane, trip->flight.cargo, o->rung, &s->params, s->border, err);
    pthread_mutex_lock(mutex_of(d));
    d->starting = NULL;
    *moved = code == LAP_OK && lane >= 0;
    if (!trip->job) /* taken away meanwhile: this took too long */
        return LAP_E_DEVICE;
    if (*moved) {
        if (!d->busy_lanes++)
            d->moved_ms = lap_now_ms();
        d->lanes[lane].trip = trip;
    } else if (code == LAP_E_LIMIT) {
        trip->flight.cargo->decoded->odd[0] = 1; /* the CPU's */
        land(d, trip);
        *moved = true;
        return LAP_OK;
    } else { /* no lane now, or no device any more */
        trip->next = d->ready.first;
        if (!d->ready.first)
            d->ready.last = &trip->next;
        d->ready.first = trip;
    }
    if (code == LAP_E_MEMORY && d->lane_bytes > 0) { /* others use the device too: less will do */
        d->budget = d->lane_bytes;
        code = LAP_OK;
    }
    return code;
}

static lap_code begin_trips(lap_fleet_device *d, bool *any, lap_error *err)
{
    lap_code code = LAP_OK;
    bool moved = true;
    while (code == LAP_OK && moved && d->ready.first && !d->is_lost) {
        code = begin_trip(d, &moved, err);
        *any |= moved;
    }
    return code;
}

/* Looks at every lane once. */
static lap_code end_trips(lap_fleet_device *d, bool *any, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < d->lane_count && code == LAP_OK && !d->is_lost; i++) {
        lap_trip *trip = d->lanes[i].trip;
        lap_times ms = {0};
        bool through = false;
        if (!trip)
            continue;
        pthread_mutex_unlock(mutex_of(d));
        code = lap_device_lane_is_through(d->lanes[i].lane, &through, err);
        if (code == LAP_OK && through)
            code = lap_device_lane_times(d->lanes[i].lane, &ms, err);
        pthread_mutex_lock(mutex_of(d));
        if (code != LAP_OK || !through || d->is_lost)
            continue;
        lap_times_add(&trip->flight.pipe.ms, &ms);
        lap_trace_stages(d->fleet->executor->trace, d->number, i, &ms, trip->job->number);
        d->lanes[i].trip = NULL;
        d->busy_lanes--;
        d->moved_ms = lap_now_ms();
        land(d, trip);
        *any = true;
    }
    return code;
}

static void rest(lap_fleet_device *d)
{
    struct timespec until;
    d->busy_since = 0;
    if (!d->busy_lanes && !d->ready.first) {
        pthread_cond_wait(&d->changed, mutex_of(d));
    } else {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_US * 1000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        (void)pthread_cond_timedwait(&d->changed, mutex_of(d), &until);
    }
    d->busy_since = lap_now_ms();
}

static lap_code open_device(lap_fleet_device *d, lap_error *err)
{
    const size_t asked = d->fleet->options.memory;
    size_t unused = 0;
    pthread_mutex_unlock(mutex_of(d));
    const lap_code code = lap_device_open(d->number, &unused, err);
    pthread_mutex_lock(mutex_of(d));
    const size_t most = unused / 10 * 9; /* kernels and their tables want some, too */
    d->budget = asked ? asked : LAP_FLEET_MEMORY;
    d->budget = d->budget < most ? d->budget : most;
    d->is_ready = code == LAP_OK && !d->is_lost;
    for (int i = 0; i < d->cargo_limit && d->is_ready; i++)
        (void)lap_executor_wake(d->fleet->executor);
    return code;
}

void *lap_fleet_serve(void *argument)
{
    lap_fleet_device *d = argument;
    lap_error err = {0};
    pthread_mutex_lock(mutex_of(d));
    d->busy_since = lap_now_ms();
    lap_code code = open_device(d, &err);
    while (code == LAP_OK && !d->is_lost && !d->fleet->is_closing) {
        bool any = false;
        code = end_trips(d, &any, &err);
        if (code == LAP_OK)
            code = begin_trips(d, &any, &err);
        if (code == LAP_OK && d->busy_lanes && lap_now_ms() - d->moved_ms > d->fleet->deadline_ms)
            code = lap_fail(
                &err, LAP_E_DEVICE, "no photo was finished for %.0f seconds", d->fleet->deadline_ms / 1e3);
        if (code == LAP_OK && !any)
            rest(d);
    }
    if (code != LAP_OK)
        lap_fleet_lose(d, &err);
    lap_fleet_take_back(d, false);
    d->busy_since = 0;
    d->has_ended = true;
    pthread_mutex_unlock(mutex_of(d));
    return NULL;
}
