/* Whether CUDA devices take part in a run. */
#ifndef LAP_BATCH_DEVICES_H
#define LAP_BATCH_DEVICES_H

#include "batch/batch.h"

/* Makes b->executor, of threads alone or with CUDA devices: by the settings, and for "auto" by what there is
 * to do; b->how says which, and why. */
lap_code lap_batch_executor(batch *b, lap_error *err);
uint64_t lap_batch_small(const batch *b); /* inputs up to this size are not worth a device to "auto" */

#endif
