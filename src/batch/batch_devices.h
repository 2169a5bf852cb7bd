/* Decides whether CUDA devices take part in a run. */
#ifndef LAP_BATCH_DEVICES_H
#define LAP_BATCH_DEVICES_H

#include "batch/executor.h"
#include "lapedge_program.h"

typedef struct lap_batch_load { /* the work to do, and the processors for it */
    const lap_settings *settings;
    const lap_batch_devices *devices; /* devices to use; NULL: the settings' device */
    int jobs;                         /* threads */
    bool is_asked;                    /* the caller asked for that number of threads */
    bool is_written;      /* outputs are written; else images are only measured, which is faster on the CPU */
    uint64_t large_bytes; /* total size of the inputs that are large enough for a device */
} lap_batch_load;

/* Creates an executor with threads only, or with CUDA devices: according to the settings, or, for "auto", to
 * the amount of work. Stores the choice and the reason in work, which may be NULL. */
lap_code lap_batch_executor(lap_context *context, const lap_batch_load *load, lap_batch_work *work,
    lap_executor **executor, lap_error *err);
/* Returns the largest size of an input file for which "auto" uses no device. */
uint64_t lap_batch_small(const lap_batch_load *load);

#endif
