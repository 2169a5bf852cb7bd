/* Baseline JPEG encoded on a device, to the bytes that libjpeg-turbo writes (slow integer DCT, standard
 * Huffman tables). C interface.
 *
 * lap_cuda_jpeg_encode_plan_make says whether the device can encode such a picture and how much memory that
 * needs; lap_cuda_jpeg_encode_enqueue enqueues all work on a stream, for one picture or for many in the same
 * launches: it allocates nothing and waits for nothing. When the stream has done the work, host memory holds
 * the scan (everything between the scan header and the EOI marker), and result holds its length.
 * result->overflow: the scan did not fit; the CPU has to encode the picture. Source of all arithmetic: ITU-T
 * T.81 and the roundings of libjpeg-turbo 2.1.
 *
 * Thread safe: a plan is only read after it is made; workspace, scan and result belong to one picture at a
 * time. */
#ifndef LAP_CUDA_JPEG_ENCODE_H
#define LAP_CUDA_JPEG_ENCODE_H

#include "cuda/device/queue.h"
#include "cuda/jpeg/photos.h"
#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_cuda_jpeg_target { /* the parameters in the file's header */
    int width, height;                /* pixels, 1..65500 */
    int channels;                     /* of a pixel: 1, 3 (RGB) or 4 (RGB and a byte that is ignored) */
    int sample_h[3], sample_v[3]; /* sampling factors of Y, Cb, Cr, 1..4; 1 and 1 if there is one channel */
    uint16_t quant[2][64];        /* of luma and chroma, row by row, 1..255 */
    int restart_interval; /* MCUs; 0: no restart markers. Each interval except the first begins with one */
} lap_cuda_jpeg_target;

typedef struct lap_cuda_jpeg_encode_plan {
    lap_cuda_jpeg_target target;
    int components;         /* 1 or 3 */
    int mcus_x, mcus_y;     /* MCUs of the picture */
    int mcu_blocks;         /* blocks in an MCU, 1..10 */
    uint32_t blocks;        /* of the whole scan */
    uint32_t intervals;     /* restart intervals, at least 1 */
    size_t capacity;        /* the most bytes of the scan, both before and after stuffing */
    size_t workspace_bytes; /* device memory, 256-byte aligned; need not be cleared */
    size_t offset[15];      /* where the areas of the workspace begin */
} lap_cuda_jpeg_encode_plan;

/* capacity: the most bytes of the finished scan; 0: the number of the picture's samples, which is enough
 * for photos. False: the device encoder does not support the picture, because the scan could exceed 2^31
 * bits or a ratio of sampling factors is not a whole number. */
bool lap_cuda_jpeg_encode_plan_make(
    const lap_cuda_jpeg_target *target, size_t capacity, lap_cuda_jpeg_encode_plan *plan);

typedef struct lap_cuda_jpeg_encoded { /* 16 bytes, written by the device */
    uint32_t overflow;                 /* not 0: the scan did not fit, and its bytes must not be used */
    uint32_t bytes;                    /* of the scan */
    uint32_t chunks, reserved;         /* used only by the device */
} lap_cuda_jpeg_encoded;

enum { LAP_CUDA_JPEG_ENCODE_STAGES = 6 };
const char *lap_cuda_jpeg_encode_stage(int i); /* "planes", "dct", ... */

typedef struct lap_cuda_jpeg_picture { /* to encode */
    const lap_cuda_jpeg_encode_plan *plan;
    const lap_view *pixels; /* a device view of the target's size and channels */
    void *workspace;        /* device memory */
    void *scan;             /* pinned host memory for plan->capacity bytes, 16-byte aligned; NULL: no copy */
    lap_cuda_jpeg_encoded *result; /* pinned host memory; 16-byte aligned */
} lap_cuda_jpeg_picture;

/* Enqueues the encoding of 1 .. LAP_CUDA_JPEG_PHOTOS pictures on one device, each with separate memory.
 * table: LAP_CUDA_JPEG_ENCODE_ROW bytes for each picture, which must stay valid like workspace; NULL for a
 * single picture.
 * events: NULL, or LAP_CUDA_JPEG_ENCODE_STAGES + 1 cudaEvent_t, recorded before the
 * first stage and after each stage; a NULL event is skipped. LAP_OK, LAP_E_USAGE or LAP_E_DEVICE. */
lap_code lap_cuda_jpeg_encode_enqueue(const lap_cuda_jpeg_picture *pictures, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err);
/* Returns where the scan lies in the workspace. */
const void *lap_cuda_jpeg_encode_scan(const lap_cuda_jpeg_encode_plan *plan, const void *workspace);

#ifdef __cplusplus
}
#endif
#endif
