/* Baseline and extended sequential JPEG (8 bits, Huffman, one scan) decoded on a device, to the pixels that
 * libjpeg-turbo gives (ISLOW, fancy upsampling), bit for bit. C interface.
 *
 * A picture: lap_cuda_jpeg_decode_plan says whether the device takes such a frame and how much memory it
 * needs; lap_cuda_jpeg_decode_stage_tables fills host memory; lap_cuda_jpeg_decode_enqueue puts everything on
 * a stream: it allocates nothing and waits for nothing, so that many pictures can be on their way on as many
 * streams. Once the stream has come there, lap_cuda_jpeg_odd says what the device found. Anything but 0 means
 * "not mine": the pixels are worth nothing, and the serial decoder alone judges the file.
 *
 * Thread safe: a plan is read only once made; workspace, staging and result belong to one picture at a time.
 */
#ifndef LAP_CUDA_JPEG_DECODE_H
#define LAP_CUDA_JPEG_DECODE_H

#include "coding/jpeg_frame.h"
#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lap_cuda_jpeg_tuning { /* how, never what; zeroed is a good default */
    int sub_bits;                     /* of a subsequence, 128 .. 8192, a power of 2 */
    int group;                        /* subsequences that are walked over from one guess, 1 .. 64 */
    int chain_lanes;                  /* that follow chains at a time */
    int longest_chain;                /* subsequences */
} lap_cuda_jpeg_tuning;

typedef struct lap_cuda_jpeg_plan {
    lap_jpeg_frame frame;
    lap_cuda_jpeg_tuning tuning;
    int channels;                             /* 1 or 3, of the pixels */
    size_t scan_bytes;                        /* as given */
    size_t workspace_bytes;                   /* device memory, 256-byte aligned; need not be cleared */
    size_t staging_bytes;                     /* host memory, 16-byte aligned, pinned for speed */
    unsigned code_count, ac_count, codes[6];  /* distinct tables: those of AC first; indices into huffman */
    unsigned mcus, mcus_across, blocks, subs; /* subs: at most */
    size_t offset[12];                        /* of the areas of the workspace */
} lap_cuda_jpeg_plan;

/* gray: of three components the luma alone. scan_bytes: from the first byte behind the scan header to the end
 * of the file, whatever follows there. False: not mine (sizes, sampling, tables or memory sizes that the
 * device does not take). tuning may be NULL. */
bool lap_cuda_jpeg_decode_plan(const lap_jpeg_frame *frame, bool gray, size_t scan_bytes,
    const lap_cuda_jpeg_tuning *tuning, lap_cuda_jpeg_plan *plan);
/* Look-up tables and the like, into plan->staging_bytes of host memory. is_kept: staging holds what an
 * earlier call for any plan left there; tables that are the same again (0.04 ms each) are not made again. */
void lap_cuda_jpeg_decode_stage_tables(const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept);

typedef struct lap_cuda_jpeg_result {
    uint32_t odd[3]; /* all 0: decoded; else bits 1 << lap_huff_odd, by who found it */
    uint32_t bytes;  /* of the scan without stuffing and markers */
    uint32_t subs;   /* subsequences */
} lap_cuda_jpeg_result;
/* 0: the pixels are right; else "not mine", and why: bits 1 << lap_huff_odd. */
static inline uint32_t lap_cuda_jpeg_odd(const lap_cuda_jpeg_result *result)
{
    return result->odd[0] | result->odd[1] | result->odd[2];
}

enum { LAP_CUDA_JPEG_STAGES = 9 };
const char *lap_cuda_jpeg_stage(int i); /* "upload", ... */

/* scan: plan->scan_bytes of host memory. pixels: a device view of the plan's size and channels; nothing
 * outside its interior is written. scan, staging and result are used until the stream has come past this.
 * events: NULL, or LAP_CUDA_JPEG_STAGES + 1 cudaEvent_t, recorded before the first stage and after each,
 * NULL ones left out. LAP_OK or LAP_E_DEVICE. */
lap_code lap_cuda_jpeg_decode_enqueue(const lap_cuda_jpeg_plan *plan, const void *scan, const void *staging,
    void *workspace, const lap_view *pixels, lap_cuda_jpeg_result *result, void *stream, void *const *events,
    lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
