/* The CUDA devices of a run, and the way of jobs over them. A thread reads a file into memory and
 * looks at its header (load); the device's own thread pins that memory the first time, enqueues the photo's
 * whole way and watches for its end;
 * any thread then writes the file (store). So no thread waits for a device, and while photos are as large as
 * those before, nothing is allocated.
 *
 * What a device does not take, or finds odd, is for lap_run_to_sink. A device that is lost (an error that
 * sticks, no memory, no progress for too long) is never called again: its photos and those to come are done
 * by the others, or by the CPU.
 */
#ifndef LAP_DEVICE_POOL_H
#define LAP_DEVICE_POOL_H

#include "base/rung.h"
#include "batch/executor.h"

typedef struct lap_device_pool_options {
    const int *devices;   /* numbers, each once */
    int count;            /* 1 .. LAP_DEVICE_POOL_DEVICES */
    const lap_rung *rung; /* of a device: filters there */
    size_t memory;        /* bytes of device memory of each; 0: LAP_DEVICE_POOL_MEMORY, or what there is */
    size_t pinned;        /* bytes of pinned host memory of all; 0: any number */
    bool is_named;        /* the backend was asked for by name: the CPU does only what is left over */
    size_t small_bytes;   /* else the CPU does files up to this size, and larger ones without a device */
    double deadline_ms;   /* without any progress; 0: LAP_DEVICE_POOL_DEADLINE_MS */
    double soon_ms;       /* for so long the CPU waits for a device to start; 0: LAP_DEVICE_POOL_SOON_MS */
} lap_device_pool_options;

enum { LAP_DEVICE_POOL_DEVICES = 64, LAP_DEVICE_POOL_DEADLINE_MS = 30000, LAP_DEVICE_POOL_SOON_MS = 1000 };
/* With what CUDA itself takes, a device holds less than 4 GB. */
#define LAP_DEVICE_POOL_MEMORY ((size_t)3400000000)

/* An executor with devices: threads read and write, the devices do the rest. Each device starts on a thread
 * of its own; nobody waits for it. LAP_E_BACKEND: there is no such device. LAP_E_MEMORY. */
lap_code lap_executor_devices(lap_context *context, int jobs, const lap_device_pool_options *options,
    lap_executor **executor, lap_error *err);

#endif
