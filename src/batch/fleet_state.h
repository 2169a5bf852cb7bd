/* What the files of the fleet share. Everything is under the executor's mutex unless said otherwise. */
#ifndef LAP_FLEET_STATE_H
#define LAP_FLEET_STATE_H

#include "batch/fleet.h"
#include "device/device_lane.h"
#include "run/flight.h"

enum { LAP_FLEET_LANES = 12 }; /* photos at once on a device; more bring nothing (docs/gpu-codec.md) */

typedef struct lap_fleet_device lap_fleet_device;

typedef struct lap_trip { /* a job on its way over a device */
    lap_flight flight;
    lap_job *job; /* NULL: taken away from a device that no longer answers */
    lap_fleet_device *device;
    struct lap_trip *next;
} lap_trip;

typedef struct lap_trip_list {
    lap_trip *first, **last;
} lap_trip_list;

typedef struct lap_fleet_lane { /* the device's thread alone, but for trip */
    lap_device_lane *lane;
    lap_trip *trip;
} lap_fleet_lane;

struct lap_fleet_device {
    lap_fleet *fleet;
    int number;
    pthread_t thread;
    pthread_cond_t changed; /* there is a trip, or the run ends */
    bool has_thread, is_ready, is_lost, is_reported, has_ended;
    lap_error why;     /* it was lost */
    double busy_since; /* its thread has begun a round of calls; 0: it waits */
    double moved_ms;   /* the thread's own: the last progress of what is on the lanes */
    lap_trip_list ready;
    lap_trip *starting; /* between ready and a lane */
    uint64_t done;      /* photos */
    int under_way;      /* trips that are loaded, ready or on a lane */
    lap_device_cargo **idle;
    int idle_count, cargo_count, cargo_limit;
    lap_fleet_lane lanes[LAP_FLEET_LANES];
    int lane_count, busy_lanes;
    size_t budget, lane_bytes; /* the thread's own */
};

struct lap_fleet {
    lap_executor *executor;
    lap_fleet_options options;
    double deadline_ms;
    bool is_closing;
    int on_cpu;             /* jobs that the CPU does now instead of a device */
    lap_trip_list landing;  /* through, or found odd */
    lap_job_list by_pieces; /* not for a device, or not all of it */
    int count;
    lap_fleet_device devices[];
};

void lap_trip_push(lap_trip_list *list, lap_trip *trip);
lap_trip *lap_trip_pop(lap_trip_list *list);

/* The trips of a device that is lost go no further; their jobs wait again, as the first. hangs: its thread
 * may still use what it has. */
void lap_fleet_take_back(lap_fleet_device *device, bool hangs);
/* Nobody calls this device any more. */
void lap_fleet_lose(lap_fleet_device *device, const lap_error *why);
/* The first device that can be used, or NULL. */
lap_fleet_device *lap_fleet_any(lap_fleet *fleet);

/* A device's thread (fleet_device.c). */
void *lap_fleet_serve(void *device);

#endif
