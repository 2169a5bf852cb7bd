/* Work on streams that no host thread waits for: events, and views in memory that already exists. C
 * interface; contracts as in device.h. In a build without CUDA everything fails with LAP_E_BACKEND. */
#ifndef LAP_CUDA_QUEUE_H
#define LAP_CUDA_QUEUE_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table in pinned host memory, and its copy on a device, which the kernels of a batch read. */
typedef struct lap_cuda_table {
    void *host, *device;
} lap_cuda_table;

/* Events are cudaEvent_t passed as void *. *event is NULL after a failure. NULL may be destroyed. */
lap_code lap_cuda_event_create(int device, void **event, lap_error *err);
void lap_cuda_event_destroy(int device, void *event);
lap_code lap_cuda_event_record(int device, void *event, void *stream, lap_error *err);
/* Sets *happened to whether all work before the event on its stream is done. Never waits. */
lap_code lap_cuda_event_happened(int device, void *event, bool *happened, lap_error *err);
/* Computes the time between two events that have happened. */
lap_code lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err);

/* Enqueues the clearing of device memory. */
lap_code lap_cuda_clear(int device, void *memory, size_t bytes, void *stream, lap_error *err);

/* Name the work that the calling thread enqueues between begin and end, for NVIDIA's profilers. They do
 * nothing if NVTX's header was missing in the build. */
void lap_cuda_range_begin(const char *name);
void lap_cuda_range_end(void);

/* Computes the bytes of device memory that lap_cuda_view_create would allocate for a view. False on overflow.
 */
bool lap_cuda_view_bytes(int width, int height, int channels, int apron, size_t *bytes);
/* Returns such a view in memory of lap_cuda_view_bytes bytes, which must be aligned to 128 bytes. */
lap_view lap_cuda_view_in(int device, void *memory, int width, int height, int channels, int apron);

#ifdef __cplusplus
}
#endif
#endif
