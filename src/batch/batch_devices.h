/* Whether CUDA devices take part in a run. */
#ifndef LAP_BATCH_DEVICES_H
#define LAP_BATCH_DEVICES_H

#include "batch/executor.h"
#include "lapedge_program.h"

typedef struct lap_batch_load { /* what there is to do, and what with */
    const lap_settings *settings;
    const lap_batch_devices *devices; /* or NULL: that of the settings */
    int jobs;                         /* threads */
    bool is_written;                  /* else only measured, which takes the CPU less time */
    uint64_t large_bytes;             /* of inputs that a device would be worth */
} lap_batch_load;

/* An executor of threads alone or with CUDA devices: by the settings, and for "auto" by what there is to do;
 * work (NULL is fine) says which, and why. */
lap_code lap_batch_executor(lap_context *context, const lap_batch_load *load, lap_batch_work *work,
    lap_executor **executor, lap_error *err);
/* Inputs up to this size are not worth a device to "auto". */
uint64_t lap_batch_small(const lap_batch_load *load);

#endif
