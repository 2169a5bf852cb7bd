/* Shared by the files of the device pool. The executor's mutex protects everything unless stated
 * otherwise. */
#ifndef LAP_DEVICE_POOL_STATE_H
#define LAP_DEVICE_POOL_STATE_H

#include "batch/device_pool.h"
#include "batch/executor_state.h"
#include "device/device_slot.h"
#include "device/devices.h"
#include "run/photo_device.h"

enum { LAP_POOL_LANES = 12 }; /* large photos at once on a device; more gain nothing (docs/gpu-codec.md) */
/* Small photos are processed in chains. A chain contains all small photos that are ready, up to
 * LAP_DEVICE_CHAIN of them and up to LAP_DEVICE_CHAIN_BYTES of device memory. While LAP_POOL_CHAINS chains
 * are under way, further photos wait, so the next chain is longer. */
enum { LAP_POOL_CHAINS = 4 };
#define LAP_POOL_SMALL_FILE ((size_t)256 << 10) /* a file up to this size may hold a small photo */
enum { LAP_POOL_SMALL_STAGINGS = 96 };
/* How many large photos may be loaded into newly allocated memory, which is slow, while no lane has begun
 * them. While a device starts, the limit applies to photos of any size. */
enum { LAP_POOL_AHEAD = 8 };
enum { LAP_POOL_THREAD_LANE = LAP_POOL_LANES }; /* the lane number of the device's thread in a trace */
typedef struct lap_device_pool lap_device_pool;
typedef struct lap_pool_device lap_pool_device;

/* Host memory for photos of one kind. */
typedef struct lap_pool_stagings {
    lap_device_staging **idle;
    size_t most; /* most bytes of each; 0: no limit */
    int idle_count, count, limit;
    int loaded; /* loaded photos that no lane has begun */
} lap_pool_stagings;

typedef struct lap_device_task { /* a job that a device processes */
    lap_async_run run;
    lap_job *job;                /* NULL: the job was taken away because the device no longer answers */
    lap_pool_stagings *stagings; /* the kind that its staging belongs to */
    lap_pool_device *device;
    size_t needs;    /* bytes of device memory; 0: too many */
    bool is_small;   /* it is processed in a chain */
    bool is_refused; /* the device has too little memory for it: the CPU processes it */
    STAILQ_ENTRY(lap_device_task) next;
} lap_device_task;

typedef STAILQ_HEAD(lap_device_task_list, lap_device_task) lap_device_task_list;

typedef struct lap_pool_lane {
    lap_device_slot *slot; /* only the device's thread uses slot, is_busy and has_chain, without the mutex */
    bool is_busy;
    bool has_chain; /* the lane has a chain of small photos */
    lap_device_task_list tasks;
    int task_count;
} lap_pool_lane;

enum { LAP_POOL_LARGE, LAP_POOL_SMALL, LAP_POOL_KINDS };

struct lap_pool_device {
    lap_device_pool *pool;
    int number;
    pthread_t thread;
    pthread_cond_t changed; /* there is a new task, or the run ends */
    bool pins, has_thread, is_ready, is_lost, is_reported, has_ended;
    bool is_left;      /* the pool was closed while this thread was in a call: the thread still uses the
                          pool */
    lap_error why;     /* why the device was lost */
    double busy_since; /* when its thread began a round of calls; 0: the thread is waiting */
    double moved_ms;   /* used only by the thread: when a lane last made progress */
    lap_device_task_list ready;
    lap_device_task_list starting; /* tasks that were removed from ready, and are on no lane yet */
    /* tasks that were taken back while the thread did not answer: it may still use them until it ends */
    lap_device_task_list taken_back;
    uint64_t done; /* number of finished photos */
    int under_way; /* number of tasks that are loaded, ready or on a lane */
    lap_pool_stagings stagings[LAP_POOL_KINDS];
    lap_pool_lane lanes[LAP_POOL_LANES];
    int lane_count, busy_lanes, busy_chains;
    size_t budget, lane_bytes; /* used only by the thread */
};

struct lap_device_pool {
    lap_executor *executor;
    lap_device_pool_options options;
    double deadline_ms, soon_ms;
    bool is_closing;
    int holders; /* once the pool is closed: number of threads that still use it; the last one frees it */
    lap_device_task_list finished; /* done by a device, given up by it, or refused */
    int small_busy;                /* threads that read or write a small photo */
    lap_job_list by_pieces;        /* jobs that no device processes completely */
    int count;
    lap_pool_device devices[];
};

/* Frees a task of a lost device without calling the device. */
void lap_device_task_abandon(lap_device_task *task);
lap_device_task *lap_device_task_pop(lap_device_task_list *list); /* NULL: the list is empty */

/* Takes back the tasks of a lost device; their jobs go to the front of the queue. hangs: the device's thread
 * may still use their memory. */
void lap_device_pool_take_back(lap_pool_device *device, bool hangs);
/* Puts the job back at the front of the queue. */
void lap_device_pool_wait_again(lap_device_pool *pool, lap_job *job);
/* Call if there is no memory for another staging: photos then wait for the existing ones. Releases the mutex
 * temporarily. */
void lap_device_pool_drop(
    lap_pool_device *device, lap_pool_stagings *stagings, lap_device_staging *staging, const lap_error *why);
/* Call if no more memory can be pinned: puts the task's job back into the queue, where it waits for memory
 * that is already pinned. */
void lap_device_pool_unload(lap_device_task *task, const lap_error *why);
/* Marks the device as lost; it is not called any more. */
void lap_device_pool_lose(lap_pool_device *device, const lap_error *why);
/* Returns the first usable device, or NULL. */
lap_pool_device *lap_device_pool_any(lap_device_pool *pool);

/* Whether at least one device is not lost. */
bool lap_device_pool_is_alive(const lap_device_pool *pool);
/* Whether the CPU may process photos that a device could process: no device is ready, or will be soon. */
bool lap_device_pool_cpu_may(const lap_device_pool *pool);
/* lap_executor_kind.is_enough (device_pool_work.c): whether the next work is for a small photo, and enough
 * threads already read and write small photos. */
bool lap_device_pool_is_enough(const lap_executor *executor);
/* lap_executor_kind.work: loads and stores photos for devices, and processes the others on the CPU
 * (device_pool_work.c). */
void lap_device_pool_work(lap_executor *executor);
/* The main function of a device's thread (device_pool_thread.c). */
void *lap_device_pool_serve(void *device);
/* Frees the stagings that no task uses. */
void lap_device_pool_free_idle(lap_pool_device *device);
/* Frees the pool, not its executor (device_pool_thread.c). */
void lap_device_pool_free(lap_device_pool *pool);

#endif
