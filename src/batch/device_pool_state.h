/* What the files of the pool share. Everything is under the executor's mutex unless said otherwise. */
#ifndef LAP_DEVICE_POOL_STATE_H
#define LAP_DEVICE_POOL_STATE_H

#include "batch/device_pool.h"
#include "batch/executor_state.h"
#include "device/device_slot.h"
#include "device/devices.h"
#include "run/photo_device.h"

enum { LAP_POOL_LANES = 12 }; /* photos at once on a device; more bring nothing (docs/gpu-codec.md) */
/* Photos loaded into new memory, which is slow, before lanes have taken others; and while a device starts. */
enum {
    LAP_POOL_AHEAD = 8,
    LAP_POOL_THREAD_LANE = LAP_POOL_LANES
}; /* lane: of the device's thread in a trace */
typedef struct lap_device_pool lap_device_pool;
typedef struct lap_pool_device lap_pool_device;

typedef struct lap_device_task { /* a job on its way over a device */
    lap_async_run run;
    lap_job *job; /* NULL: taken away from a device that no longer answers */
    lap_pool_device *device;
    bool is_refused; /* the device has not enough memory for it: the CPU's */
    struct lap_device_task *next;
} lap_device_task;

typedef struct lap_device_task_list {
    lap_device_task *first, **last;
} lap_device_task_list;

typedef struct lap_pool_lane {
    lap_device_slot *slot; /* the device's thread alone, */
    bool is_busy;          /* likewise: it looks at it without the mutex */
    lap_device_task *task;
} lap_pool_lane;

struct lap_pool_device {
    lap_device_pool *pool;
    int number;
    pthread_t thread;
    pthread_cond_t changed; /* there is a task, or the run ends */
    bool pins, has_thread, is_ready, is_lost, is_reported, has_ended;
    lap_error why;     /* it was lost */
    double busy_since; /* its thread has begun a round of calls; 0: it waits */
    double moved_ms;   /* the thread's own: the last progress of what is on the lanes */
    lap_device_task_list ready;
    lap_device_task *starting; /* between ready and a lane */
    /* taken back while its thread did not answer, which may use them until it has ended */
    lap_device_task_list taken_back;
    uint64_t done; /* photos */
    int under_way; /* tasks that are loaded, ready or on a lane */
    lap_device_staging **idle;
    int idle_count, staging_count, staging_limit;
    lap_pool_lane lanes[LAP_POOL_LANES];
    int lane_count, busy_lanes;
    size_t budget, lane_bytes; /* the thread's own */
};

struct lap_device_pool {
    lap_executor *executor;
    lap_device_pool_options options;
    double deadline_ms, soon_ms;
    bool is_closing;
    lap_device_task_list finished; /* through, or found odd */
    lap_job_list by_pieces;        /* not for a device, or not all of it */
    int count;
    lap_pool_device devices[];
};

void lap_device_task_list_init(lap_device_task_list *list);
void lap_device_task_push(lap_device_task_list *list, lap_device_task *task);
/* Of a device that is lost. */
void lap_device_task_abandon(lap_device_task *task);
lap_device_task *lap_device_task_pop(lap_device_task_list *list);

/* The tasks of a device that is lost go no further; their jobs wait again, as the first. hangs: its thread
 * may still use what it has. */
void lap_device_pool_take_back(lap_pool_device *device, bool hangs);
/* The job waits again, as the first. */
void lap_device_pool_wait_again(lap_device_pool *pool, lap_job *job);
/* No memory for one more staging: those that there are have to do. Leaves the mutex in between. */
void lap_device_pool_drop(lap_pool_device *device, lap_device_staging *staging, const lap_error *why);
/* There is no pinned memory for one more: the task's job waits for those that there are. */
void lap_device_pool_unload(lap_device_task *task, const lap_error *why);
/* Nobody calls this device any more. */
void lap_device_pool_lose(lap_pool_device *device, const lap_error *why);
/* The first device that can be used, or NULL. */
lap_pool_device *lap_device_pool_any(lap_device_pool *pool);

/* Whether one is not lost. */
bool lap_device_pool_is_alive(const lap_device_pool *pool);
/* Whether the CPU may do what a device could take: none is there, or will be soon. */
bool lap_device_pool_cpu_may(const lap_device_pool *pool);
/* lap_executor_kind.work: loads, stores, and does what no device takes (device_pool_work.c). */
void lap_device_pool_work(lap_executor *executor);
/* A device's thread (device_pool_thread.c). */
void *lap_device_pool_serve(void *device);

#endif
