/* How a test controls the CUDA runtime on the CPU. README.md lists settings and counters. Thread safe. */
#ifndef LAP_CUDACPU_CONTROL_H
#define LAP_CUDACPU_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As if a new process began: defaults, then the settings of LAP_CUDACPU in the environment, then these,
 * "devices=2,shared=64K,..." (NULL: none). Counters are 0, no device is lost, queued work is dropped;
 * memory, streams and events stay. Returns 0, or -1 after printing the setting that is not understood on
 * stderr. */
int lap_cudacpu_configure(const char *settings);

/* Ends the calls that `slow` delays, and makes later ones as fast as others. */
void lap_cudacpu_hurry(void);

/* Returns a counter since then; 0 for a name that was never counted. "cudaMalloc" etc. count calls. */
uint64_t lap_cudacpu_count(const char *what);

/* Returns how many pieces of memory and pinned memory, streams and events exist. */
uint64_t lap_cudacpu_alive(void);

/* A launch as the runtime got it. */
typedef struct lap_cudacpu_shape {
    unsigned grid[3], block[3];
    size_t shared; /* bytes of dynamic shared memory */
} lap_cudacpu_shape;

/* Sets *shape to one of the last 32 launches since lap_cudacpu_configure (back 0: the last one). Returns 0,
 * or -1 if there was no such launch. */
int lap_cudacpu_launched(unsigned back, lap_cudacpu_shape *shape);

/* Returns how many bytes of a device's memory are allocated. */
size_t lap_cudacpu_allocated(int device);
/* Returns the number of the error that cudaGetLastError would return to this thread; 0: none. */
int lap_cudacpu_left_error(void);

#ifdef __cplusplus
}
#endif
#endif
