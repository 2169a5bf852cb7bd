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

#ifdef __cplusplus
}
#endif
#endif
