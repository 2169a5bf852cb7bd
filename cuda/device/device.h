/* The CUDA scaffold: everything around a kernel, written once. C interface, for src/. In a build without
 * CUDA, none.c replaces it: lap_cuda_unavailable says so, and every other function fails with LAP_E_BACKEND.
 *
 * CUDA is not used before one of these functions is called. Several threads may call them at once. After a
 * call, the device that it used is the current device of the calling thread. Streams are cudaStream_t passed
 * as void *; NULL is the default stream. Failures are LAP_E_MEMORY (with the bytes wanted and free) or
 * LAP_E_DEVICE (with CUDA's message, the call, file and line). With LAP_CUDA_DEBUG in the environment every
 * launch is followed by a synchronize, so that a fault is reported at the kernel that caused it.
 *
 * Device views: the interior starts on a 128-byte boundary and the stride is a multiple of 128, so
 * that 16-byte accesses work at any width and a GPU decoder can write into them. All bytes are readable from
 * 128 bytes before row -apron to the end of the stride of row height + apron - 1. */
#ifndef LAP_CUDA_DEVICE_H
#define LAP_CUDA_DEVICE_H

#include "base/rung.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL if a device can be used, else the reason in words. The first call looks for devices, without
 * creating a context. A child of a process that has called it cannot use a device: there, all other functions
 * of this header fail with LAP_E_BACKEND. */
const char *lap_cuda_unavailable(void);
/* Returns the number of usable devices; if it is 0, sets *reason (which may be NULL). */
int lap_cuda_count(const char **reason);
lap_code lap_cuda_info(int device, lap_device_info *info, lap_error *err);

/* Allocates device memory; *memory is NULL after a failure. NULL may be freed. */
lap_code lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err);
void lap_cuda_free(int device, void *memory);
/* The same for memory of views, which is reused: a freed block is kept for the next allocation of about the
 * same size. Memory is not zeroed. A block may be freed while work that uses it is still queued on any
 * stream: it is reused only after a wait for the whole device. At most a sixteenth of a device's memory is
 * kept. lap_cuda_kept_free: bytes is the size that was allocated. */
lap_code lap_cuda_kept_alloc(int device, size_t bytes, void **memory, lap_error *err);
void lap_cuda_kept_free(int device, void *memory, size_t bytes);
/* Frees the kept memory of a device (-1: of all devices). Returns whether there was any. lap_cuda_alloc calls
 * it when memory is short. */
bool lap_cuda_kept_empty(int device);
/* Count the users of kept memory: the last call of lap_cuda_kept_end frees it. */
void lap_cuda_kept_begin(void);
void lap_cuda_kept_end(void);
/* Allocates pinned host memory: copies to and from it run at the full speed of the bus, and asynchronously.
 * Allocating takes longer than most copies. *memory is NULL after a failure; NULL may be freed. */
lap_code lap_cuda_pinned_alloc(int device, size_t bytes, void **memory, lap_error *err);
void lap_cuda_pinned_free(void *memory);
/* Returns whether lap_cuda_pin works for this device. Creates no context. */
bool lap_cuda_may_pin(int device);
/* Returns how many GPUs CUDA has to initialise when it starts, at least 1. Does not start CUDA. */
int lap_cuda_to_start(void);
/* Pins memory of the caller, which must be whole pages of 4096 bytes. The caller unpins it before freeing it.
 * This is faster than lap_cuda_pinned_alloc if the pages exist, that is, if any thread has written to
 * them before: CUDA holds a lock while it pins. */
lap_code lap_cuda_pin(int device, void *memory, size_t bytes, lap_error *err);
void lap_cuda_unpin(void *memory); /* NULL is allowed */
/* Enqueues a copy; the pointers decide its direction. Host memory may be pageable. */
lap_code lap_cuda_copy(int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err);
lap_code lap_cuda_sync(int device, void *stream, lap_error *err);
/* Creates a stream that does not wait for the default stream; *stream is NULL after a failure. NULL may be
 * destroyed. */
lap_code lap_cuda_stream_create(int device, void **stream, lap_error *err);
void lap_cuda_stream_destroy(int device, void *stream);

/* Allocates zeroed device memory for a view: width and height >= 1, channels 1..8, and the given apron. */
lap_code lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
void lap_cuda_view_destroy(lap_view *view); /* a zeroed view is allowed */
/* The same with memory of lap_cuda_kept_alloc. Clears it on the stream, and waits until that is done. */
lap_code lap_cuda_view_take(
    int device, int width, int height, int channels, int apron, void *stream, lap_view *view, lap_error *err);
void lap_cuda_view_give(lap_view *view); /* a zeroed view is allowed */
/* Enqueue a copy of the interior on the stream. Host views may be pageable. */
lap_code lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err);
lap_code lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err);
/* Enqueues a copy of the interior between two views of one device. */
lap_code lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err);
/* Fails with LAP_E_USAGE, and a message that begins with `which`, unless view->place names the device that
 * the view's memory belongs to. */
lap_code lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err);
/* Fills the apron of a device view from its interior, on the device. */
lap_code lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err);
/* The same for the views `in` of several pairs, whose rows are on the device already. */
lap_code lap_cuda_border_many(const lap_view_pairs *pairs, lap_border border, void *stream, lap_error *err);
/* Copies rows, mirrored left to right if left_right is set. Both views are on one device and have the same
 * size and 1 or 3 channels; strides may be negative. May write up to 3 bytes after each row of out. */
lap_code lap_cuda_mirror(
    const lap_view *in, const lap_view *out, bool left_right, void *stream, lap_error *err);

/* ---- timing ---------------------------------------------------------------------------------- */

/* Enqueues one run on stream. turn is the number of the round, from 0, for functions that rotate buffers. */
typedef lap_code lap_cuda_timed_fn(void *argument, int turn, void *stream, lap_error *err);
typedef struct lap_cuda_job {
    lap_cuda_timed_fn *fn;
    void *argument;
    double *ms; /* [runs]: the time of each run */
} lap_cuda_job;
/* Times up to 16 jobs in turn, so that all run under the same conditions: three warm-up rounds, then `runs`
 * rounds timed with events, without synchronising in between. */
lap_code lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err);
/* Returns how many buffer sets of set_bytes must rotate so that no set is still in the L2 cache. Together
 * they are larger than twice the cache, and there are at least 4, so that two alternating jobs never use the
 * same set in succession. The number is smaller only if it would exceed 64, or if the sets would not fit in
 * half of the free memory. */
int lap_cuda_rotation(int device, size_t set_bytes);

#ifdef __cplusplus
}
#endif
#endif
