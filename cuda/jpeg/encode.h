/* Baseline JPEG encoded on a device, to the bytes that libjpeg-turbo writes (slow integer DCT, standard
 * Huffman tables). C interface.
 *
 * lap_cuda_jpeg_encode_plan says whether the device takes such a picture and how much memory it needs;
 * lap_cuda_jpeg_encode_enqueue puts everything on a stream: it allocates nothing and waits for nothing. Once
 * the stream has come there, the scan (all that stands between the scan header and the EOI marker) lies in
 * host memory and result says how long it is. result->overflow: it did not fit, and the CPU has to encode the
 * picture. Source of all arithmetic: ITU-T T.81 and the roundings of libjpeg-turbo 2.1.
 *
 * Thread safe: a plan is read only once made; workspace, scan and result belong to one picture at a time. */
#ifndef LAP_CUDA_JPEG_ENCODE_H
#define LAP_CUDA_JPEG_ENCODE_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_cuda_jpeg_target { /* what the file's header says */
    int width, height;                /* pixels, 1..65500 */
    int channels;                     /* of the pixels: 1, 3 (RGB) or 4 (RGB and a byte that is left out) */
    int sample_h[3], sample_v[3];     /* sampling factors of Y, Cb, Cr, 1..4; 1, 1 with one channel */
    uint16_t quant[2][64];            /* of luma and chroma, row by row, 1..255 */
    int restart_interval;             /* MCUs; 0: none. A marker stands before each interval but the first */
} lap_cuda_jpeg_target;

typedef struct lap_cuda_jpeg_encode_plan {
    lap_cuda_jpeg_target target;
    int components;         /* 1 or 3 */
    int mcus_x, mcus_y;     /* MCUs of the picture */
    int mcu_blocks;         /* blocks of an MCU, 1..10 */
    uint32_t blocks;        /* of the whole scan */
    uint32_t intervals;     /* restart intervals, at least 1 */
    size_t capacity;        /* bytes that the scan may take before stuffing, and after it */
    size_t workspace_bytes; /* device memory, 256-byte aligned; need not be cleared */
    size_t offset[15];      /* of the areas of the workspace */
} lap_cuda_jpeg_encode_plan;

/* capacity: bytes that the finished scan may take; 0: as many as the picture has samples, which is enough for
 * photos. False: not for the device (more than 2^31 bits might come out, or the sampling is not whole). */
bool lap_cuda_jpeg_encode_plan_make(
    const lap_cuda_jpeg_target *target, size_t capacity, lap_cuda_jpeg_encode_plan *plan);

typedef struct lap_cuda_jpeg_encoded { /* 16 bytes, as the device leaves them */
    uint32_t overflow;                 /* not 0: the scan did not fit, its bytes are worth nothing */
    uint32_t bytes;                    /* of the scan */
    uint32_t chunks, reserved;         /* of the device */
} lap_cuda_jpeg_encoded;

enum { LAP_CUDA_JPEG_ENCODE_STAGES = 6 };
const char *lap_cuda_jpeg_encode_stage(int i); /* "planes", "dct", ... */

/* pixels: a device view of the target's size and channels. scan: plan->capacity bytes of pinned host memory,
 * 16-byte aligned, or NULL: the scan stays on the device. *scan_on_device (may be NULL) is set to where it
 * lies in the workspace. result: pinned host memory. events: NULL, or LAP_CUDA_JPEG_ENCODE_STAGES + 1
 * cudaEvent_t, recorded before the first stage and after each, NULL ones left
 * out. LAP_OK or LAP_E_DEVICE. */
lap_code lap_cuda_jpeg_encode_enqueue(const lap_cuda_jpeg_encode_plan *plan, const lap_view *pixels,
    void *workspace, void *scan, const void **scan_on_device, lap_cuda_jpeg_encoded *result, void *stream,
    void *const *events, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
