/* What a test may ask of the CUDA runtime on the CPU. README.md lists settings and counters. Thread safe. */
#ifndef LAP_CUDACPU_CONTROL_H
#define LAP_CUDACPU_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As if a new process began: defaults, then the settings of LAP_CUDACPU in the environment, then these,
 * "devices=2,shared=64K,..." (NULL: none). Counters at 0, no device lost, what was queued is dropped;
 * memory, streams and events stay. 0, or -1 with the setting on stderr that is not understood. */
int lap_cudacpu_configure(const char *settings);

/* How often since then; 0 for a name that never counted. "cudaMalloc" and so on: calls. */
uint64_t lap_cudacpu_count(const char *what);

/* Memory, pinned memory, streams and events that exist. */
uint64_t lap_cudacpu_alive(void);

#ifdef __cplusplus
}
#endif
#endif
