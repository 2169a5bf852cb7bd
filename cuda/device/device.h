/* The CUDA scaffold: everything around a kernel, written once. C interface, for src/. In a build without
 * CUDA none.c stands in for it: lap_cuda_unavailable says so, all else fails with LAP_E_BACKEND.
 *
 * No function here touches CUDA before it is called. All of them may be called from several threads
 * at once; they leave the device they worked on current in the calling thread. Streams are
 * cudaStream_t passed as void *; NULL is the default stream. Failures are LAP_E_MEMORY (with the
 * bytes wanted and free) or LAP_E_DEVICE (with CUDA's words, the call, file and line). With
 * LAP_CUDA_DEBUG in the environment every launch is followed by a synchronize, so that a fault is
 * reported at the kernel that caused it.
 *
 * Device views: the interior starts on a 128-byte boundary and the stride is a multiple of 128, so
 * that 16-byte accesses work at any width and a GPU decoder can write into them. From 128 bytes
 * before row -apron to the end of row height + apron - 1's stride all bytes are readable. */
#ifndef LAP_CUDA_DEVICE_H
#define LAP_CUDA_DEVICE_H

#include "base/rung.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL when a device can be used, else the reason in words; found once, creates no context. A child of a
 * process that has asked cannot use one: all else here fails with LAP_E_BACKEND there. */
const char *lap_cuda_unavailable(void);
/* Number of usable devices; 0 and *reason (may be NULL) where there are none. */
int lap_cuda_count(const char **reason);
lap_code lap_cuda_info(int device, lap_device_info *info, lap_error *err);

/* Device memory; *memory is NULL after a failure. Freeing NULL is fine. */
lap_code lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err);
void lap_cuda_free(int device, void *memory);
/* Host memory that copies reach at the full speed of the bus, and while the host goes on. Making it takes
 * longer than most copies. *memory is NULL after a failure; freeing NULL is fine. */
lap_code lap_cuda_pinned_alloc(int device, size_t bytes, void **memory, lap_error *err);
void lap_cuda_pinned_free(void *memory);
/* Whether lap_cuda_pin works there. Creates no context. */
bool lap_cuda_may_pin(int device);
/* GPUs that a start of CUDA has to go through, without starting it; at least 1. */
int lap_cuda_to_start(void);
/* Makes memory of the caller's, whole pages of 4096 bytes, into pinned memory until it is unpinned, which is
 * to be before it is freed. Sooner done than lap_cuda_pinned_alloc where the pages are there already: written
 * to, by any thread, since CUDA holds a lock while it pins. */
lap_code lap_cuda_pin(int device, void *memory, size_t bytes, lap_error *err);
void lap_cuda_unpin(void *memory); /* NULL is fine */
/* Enqueues a copy; the pointers say from where to where (pageable host memory is fine). */
lap_code lap_cuda_copy(int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err);
lap_code lap_cuda_sync(int device, void *stream, lap_error *err);
/* A stream that does not wait for the default one; *stream is NULL after a failure. Destroying NULL is fine.
 */
lap_code lap_cuda_stream_create(int device, void **stream, lap_error *err);
void lap_cuda_stream_destroy(int device, void *stream);

/* Device memory for a view (width, height >= 1, channels 1..8, apron as asked), cleared. */
lap_code lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
void lap_cuda_view_destroy(lap_view *view); /* a zeroed one is fine */
/* Interiors; host views may be pageable. Enqueued on stream, complete when the stream is. */
lap_code lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err);
lap_code lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err);
/* The same between two views of one device. */
lap_code lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err);
/* LAP_E_USAGE, with the words `which` in front, unless the memory of a view is that of the device in its
 * place. */
lap_code lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err);
/* Fills the apron of a device view from its interior, on the device. */
lap_code lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err);
/* Rows to rows, mirrored left and right or as they are: views of one device and size, 1 or 3 channels,
 * strides negative too. Up to 3 bytes behind each row of out are written. */
lap_code lap_cuda_mirror(
    const lap_view *in, const lap_view *out, bool left_right, void *stream, lap_error *err);

/* ---- timing ---------------------------------------------------------------------------------- */

/* Enqueues one run on stream; turn counts from 0, so that buffers can rotate by it. */
typedef lap_code lap_cuda_timed_fn(void *argument, int turn, void *stream, lap_error *err);
typedef struct lap_cuda_job {
    lap_cuda_timed_fn *fn;
    void *argument;
    double *ms; /* runs of them */
} lap_cuda_job;
/* Each of the jobs (up to 16) by turns, so that all see the same machine; three warm-up rounds, then
 * runs timed with events, nothing waiting in between. */
lap_code lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err);
/* How many buffer sets of set_bytes must rotate so that none is still in the L2 cache: they exceed it
 * twice over, and there are at least 4, so that two jobs by turns never meet on one; fewer only where
 * they would not fit in half of the free memory. */
int lap_cuda_rotation(int device, size_t set_bytes);

#ifdef __cplusplus
}
#endif
#endif
