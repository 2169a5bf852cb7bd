/* The CUDA scaffold: everything around a kernel, written once. C interface, for src/.
 *
 * No function here touches CUDA before it is called. Device views: the interior starts on a 128-byte
 * boundary and the stride is a multiple of 128, so that 16-byte accesses work at any width and a GPU
 * decoder can write into them. Streams are cudaStream_t passed as void *. */
#ifndef LAP_CUDA_DEVICE_H
#define LAP_CUDA_DEVICE_H

#include "../src/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of usable devices; 0 and *reason (may be NULL) where there are none. */
int lap_cuda_count(const char **reason);
lap_code lap_cuda_info(int device, lap_device_info *info, lap_error *err);

/* Device memory for a view (width, height, channels 1..8, apron as asked); out of memory says how
 * much was wanted and how much is free. */
lap_code lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
void lap_cuda_view_destroy(lap_view *view);
/* Interiors; host views may be pageable. Enqueued on stream, complete when the stream is. */
lap_code lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err);
lap_code lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err);
/* Fills the apron of a device view from its interior, on the device. */
lap_code lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err);

/* Host pixels in, host pixels out: device memory, upload, border, rung, download. in needs no apron.
 * Adds to times->upload, filter and download (event times). */
lap_code lap_cuda_filter_host(const lap_rung *rung, int device, const lap_view *in, const lap_view *out,
    const lap_params *params, lap_border border, lap_times *times, lap_error *err);

/* Times a rung on the device by events, `runs` runs after a warm-up: its kernel alone, and uploads and
 * downloads of a view of that size. host gives the pixels (no apron needed). Cold: each run takes
 * another of several buffer pairs that together exceed the L2 cache; warm: one pair all the time.
 * kernel_ms, upload_ms and download_ms take runs values; so does copy_ms, the device-to-device copy of
 * the same bytes under the same rotation, unless it is NULL. exec gives the block shape. */
lap_code lap_cuda_time_filter(const lap_rung *rung, int device, int width, int height, int channels,
    const lap_view *host, const lap_params *params, lap_border border, const lap_exec *exec, int runs,
    bool warm, double *kernel_ms, double *upload_ms, double *download_ms, double *copy_ms, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
