/* One photo on a CUDA device: decoded or uploaded, filtered, encoded or downloaded, on a stream of its own.
 * What the device does not take is "not mine": the caller then does that step on the CPU, with the same
 * result. An object belongs to one thread at a time. In a build without CUDA every function fails with
 * LAP_E_BACKEND. */
#ifndef LAP_DEVICE_PHOTO_H
#define LAP_DEVICE_PHOTO_H

#include "base/rung.h"
#include "base/turn.h"
#include "codec/codec.h"
#include "jpeg/jpeg_parts.h"

typedef struct lap_device_photo lap_device_photo;

/* NULL, or why JPEGs are not coded on the device: no device, or a JPEG library here whose files would differ
 * from the device's (a small picture is coded once to find out). */
const char *lap_device_codec_unavailable(void);

/* Pixels of the source and of the result, both of this size, 1 or 3 channels. */
lap_code lap_device_photo_create(
    int device, int width, int height, int channels, lap_device_photo **photo, lap_error *err);
/* On a stream of the caller's, and on views of the caller's that are named before each step; for pictures of
 * any size, one after the other. */
lap_code lap_device_photo_create_on(int device, void *stream, lap_device_photo **photo, lap_error *err);
void lap_device_photo_use(lap_device_photo *photo, const lap_view *source, const lap_view *result);
void lap_device_photo_destroy(lap_device_photo *photo); /* NULL is fine */

/* The source from the bytes of a whole JPEG file, turned; gray: its luma alone. *mine is false, and the
 * source is undefined, for whatever the device does not decode. times: upload and decode. */
lap_code lap_device_photo_decode(lap_device_photo *photo, const uint8_t *file, size_t size, bool gray,
    lap_turn turn, bool *mine, lap_times *times, lap_error *err);
/* The source from pixels on the host. */
lap_code lap_device_photo_upload(
    lap_device_photo *photo, const lap_view *pixels, lap_times *times, lap_error *err);
/* The result from the source. */
lap_code lap_device_photo_filter(lap_device_photo *photo, const lap_rung *rung, const lap_params *params,
    lap_border border, lap_times *times, lap_error *err);
/* How often each value occurs in source and result, by a rung of the histogram ladder; added to both. */
lap_code lap_device_photo_count(lap_device_photo *photo, const lap_rung *rung, uint64_t source[4][256],
    uint64_t result[4][256], lap_times *times, lap_error *err);
/* The result as the scan of a JPEG with this header, behind what scan holds. *mine is false where it is not
 * for the device, or does not fit into the memory that it takes for it. */
lap_code lap_device_photo_encode(lap_device_photo *photo, const lap_jpeg_parts *parts, lap_chunk *scan,
    bool *mine, lap_times *times, lap_error *err);
/* The result as pixels on the host. */
lap_code lap_device_photo_download(
    lap_device_photo *photo, const lap_view *pixels, lap_times *times, lap_error *err);

#endif
