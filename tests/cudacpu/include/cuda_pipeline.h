/* Asynchronous copies to shared memory, for tests: the bytes arrive only when they are waited for, so
 * that a kernel that waits too little reads what was there before. */
#ifndef LAP_CUDACPU_PIPELINE_H
#define LAP_CUDACPU_PIPELINE_H

#include <cuda_runtime.h>

void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes, size_t zeros = 0);
void __pipeline_commit();
/* Waits until at most `groups` of the committed groups are still on their way. */
void __pipeline_wait_prior(size_t groups);

#endif
