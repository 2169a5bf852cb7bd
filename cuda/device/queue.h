/* Work on streams that no host thread waits for: events, and views in memory that is there already. C
 * interface; contracts as in device.h. In a build without CUDA everything fails with LAP_E_BACKEND. */
#ifndef LAP_CUDA_QUEUE_H
#define LAP_CUDA_QUEUE_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cudaEvent_t passed as void *; *event is NULL after a failure. Destroying NULL is fine. */
lap_code lap_cuda_event_create(int device, void **event, lap_error *err);
void lap_cuda_event_destroy(int device, void *event);
lap_code lap_cuda_event_record(int device, void *event, void *stream, lap_error *err);
/* Whether all that stands before the event on its stream is done. Never waits. */
lap_code lap_cuda_event_happened(int device, void *event, bool *happened, lap_error *err);
/* Between two events that have happened. */
lap_code lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err);

/* Enqueues zeros for device memory. */
lap_code lap_cuda_clear(int device, void *memory, size_t bytes, void *stream, lap_error *err);

/* Names what the calling thread enqueues until the end, for NVIDIA's profilers; nothing where NVTX's header
 * was not found. */
void lap_cuda_range_begin(const char *name);
void lap_cuda_range_end(void);

/* Bytes of device memory for a view as lap_cuda_view_create makes it; false where they cannot be counted. */
bool lap_cuda_view_bytes(int width, int height, int channels, int apron, size_t *bytes);
/* That view in the first lap_cuda_view_bytes of memory, which is aligned to 128 bytes. */
lap_view lap_cuda_view_in(int device, void *memory, int width, int height, int channels, int apron);

#ifdef __cplusplus
}
#endif
#endif
