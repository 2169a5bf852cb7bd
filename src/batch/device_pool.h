/* Runs jobs on the CUDA devices of a run. A thread reads a file into memory and parses its header (load). The
 * device's thread pins that memory on first use, enqueues the photo's whole work and polls until it is done.
 * Then any thread writes the file (store). So threads do not wait for a device, and nothing is allocated
 * while photos are no larger than earlier ones.
 *
 * lap_run_to_sink processes photos that a device does not support or gives up (photo_device.h). A lost device
 * (a sticky error, no memory, or no progress for too long) is never called again; other devices or the CPU
 * take over its photos. */
#ifndef LAP_DEVICE_POOL_H
#define LAP_DEVICE_POOL_H

#include "base/rung.h"
#include "batch/executor.h"

typedef struct lap_device_pool_options {
    const int *devices;   /* device numbers without duplicates */
    int count;            /* 1 .. LAP_DEVICE_POOL_DEVICES */
    const lap_rung *rung; /* the device rung that filters */
    size_t memory; /* bytes of device memory to use on each; 0: LAP_DEVICE_POOL_MEMORY, or what is free */
    size_t pinned; /* bytes of pinned host memory in total; 0: no limit */
    bool is_named; /* the backend was given by name: the CPU only gets what devices cannot process */
    size_t small_bytes; /* if not is_named: the CPU gets files up to this size, and larger files only if no
                           device works */
    int small_threads;  /* most threads per device that read and write small photos; 0: no limit */
    double deadline_ms; /* longest time without progress; 0: LAP_DEVICE_POOL_DEADLINE_MS */
    double soon_ms;     /* how long the CPU waits for a device to start; 0: LAP_DEVICE_POOL_SOON_MS */
} lap_device_pool_options;

enum { LAP_DEVICE_POOL_DEVICES = 64, LAP_DEVICE_POOL_DEADLINE_MS = 30000, LAP_DEVICE_POOL_SOON_MS = 1000 };
/* Together with CUDA's own memory, this is less than 4 GB on a device. */
#define LAP_DEVICE_POOL_MEMORY ((size_t)3400000000)

/* Creates an executor with devices: threads read and write, devices do the rest. Each device starts on a
 * separate thread, and nothing waits for it. LAP_E_BACKEND: a device does not exist. LAP_E_MEMORY. */
lap_code lap_executor_devices(lap_context *context, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err);

#endif
