/* Baseline and extended sequential JPEG (8 bits, Huffman, one scan) decoded on a device, to the pixels that
 * libjpeg-turbo gives (ISLOW, fancy upsampling), bit for bit. C interface.
 *
 * A picture: lap_cuda_jpeg_decode_plan says whether the device can decode such a frame and how much memory
 * that needs; lap_cuda_jpeg_decode_stage_tables fills host memory; lap_cuda_jpeg_decode_enqueue enqueues all
 * work on a stream, for one picture or for many in the same launches: it allocates nothing and waits for
 * nothing, so several streams can work at once. When the stream has done the work, lap_cuda_jpeg_odd reports
 * what the device found in each picture. If that is not 0, discard its pixels and decode the file with the
 * serial decoder, which decides whether it is valid; the other pictures are not affected.
 *
 * Thread safe: a plan is only read after it is made; workspace, staging and result belong to one picture at a
 * time.
 */
#ifndef LAP_CUDA_JPEG_DECODE_H
#define LAP_CUDA_JPEG_DECODE_H

#include "coding/jpeg_frame.h"
#include "cuda/device/queue.h"
#include "cuda/jpeg/photos.h"
#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_cuda_jpeg_tuning { /* affects only the speed; zeros are a good default */
    int sub_bits;                     /* bits of a subsequence: 128 .. 8192, a power of 2 */
    int group;                        /* subsequences walked from one guess: 1 .. 64 */
    int chain_lanes;                  /* lanes that follow chains at the same time */
    int longest_chain;                /* the most subsequences of a chain */
} lap_cuda_jpeg_tuning;

typedef struct lap_cuda_jpeg_plan {
    lap_jpeg_frame frame;
    lap_cuda_jpeg_tuning tuning;
    int channels;                             /* of a pixel: 1 or 3 */
    size_t scan_bytes;                        /* as given */
    size_t workspace_bytes;                   /* device memory, 256-byte aligned; need not be cleared */
    size_t staging_bytes;                     /* host memory, 16-byte aligned, pinned for speed */
    unsigned code_count, ac_count, codes[6];  /* distinct tables, AC tables first: indices into huffman */
    unsigned mcus, mcus_across, blocks, subs; /* subs: the most subsequences */
    size_t offset[12];                        /* where the areas of the workspace begin */
} lap_cuda_jpeg_plan;

/* gray: decode only luma of three components. scan_bytes: from the first byte after the scan header to the
 * end of the file, including anything after the scan. tuning may be NULL. False: the device decoder does not
 * support the size, the sampling, the tables, or the memory that would be needed. */
bool lap_cuda_jpeg_decode_plan(const lap_jpeg_frame *frame, bool gray, size_t scan_bytes,
    const lap_cuda_jpeg_tuning *tuning, lap_cuda_jpeg_plan *plan);
/* Writes the look-up tables and parameters to plan->staging_bytes of host memory. is_kept: staging still
 * holds the result of an earlier call, for any plan; tables that have not changed are then reused, which
 * saves 0.04 ms for each. */
void lap_cuda_jpeg_decode_stage_tables(const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept);

typedef struct lap_cuda_jpeg_result {
    uint32_t odd[3]; /* all 0: decoded; else bits 1 << lap_huff_odd, one word per stage */
    uint32_t bytes;  /* of the scan, without stuffing and markers */
    uint32_t subs;   /* subsequences */
} lap_cuda_jpeg_result;
/* Returns 0 if the pixels are right; else the reasons why the serial decoder must decode the picture: bits
 * 1 << lap_huff_odd. */
static inline uint32_t lap_cuda_jpeg_odd(const lap_cuda_jpeg_result *result)
{
    return result->odd[0] | result->odd[1] | result->odd[2];
}

enum { LAP_CUDA_JPEG_STAGES = 9 };
const char *lap_cuda_jpeg_stage(int i); /* "upload", ... */

/* A picture to decode. scan, staging, workspace and result must stay valid until the stream has done the
 * work; plan and pixels are needed only during the call. Host memory must be pinned unless this is the only
 * picture. */
typedef struct lap_cuda_jpeg_photo {
    const void *scan, *staging;   /* plan->scan_bytes and plan->staging_bytes of host memory */
    void *workspace;              /* device memory */
    lap_cuda_jpeg_result *result; /* host memory */
    const lap_cuda_jpeg_plan *plan;
    const lap_view *pixels; /* a device view of the plan's size and channels; only its interior is written */
} lap_cuda_jpeg_photo;

/* Enqueues the decoding of 1 .. LAP_CUDA_JPEG_PHOTOS pictures on one device, each with separate memory.
 * table: LAP_CUDA_JPEG_DECODE_ROW bytes for each picture, which must stay valid like workspace; NULL for a
 * single picture.
 * events: NULL, or LAP_CUDA_JPEG_STAGES + 1 cudaEvent_t, recorded before the first stage and after each
 * stage; a NULL event is skipped. LAP_OK, LAP_E_USAGE or LAP_E_DEVICE. */
lap_code lap_cuda_jpeg_decode_enqueue(const lap_cuda_jpeg_photo *photos, int count,
    const lap_cuda_table *table, void *stream, void *const *events, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
