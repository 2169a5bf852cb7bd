/* What the files of the runtime share. */
#ifndef LAP_CUDACPU_STATE_H
#define LAP_CUDACPU_STATE_H

#include <cuda_runtime.h>

/* Of this run: LAP_CUDACPU_SEED, else another one each time. */
uint64_t lap_cudacpu_seed();

/* A copy that the address sanitizer does not watch. */
void lap_cudacpu_raw_copy(void *to, const void *from, size_t bytes);

#endif
