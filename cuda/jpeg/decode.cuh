/* Shared by the stages of the JPEG decoder: the layout of their data, and how they are launched. */
#ifndef LAP_CUDA_JPEG_DECODE_CUH
#define LAP_CUDA_JPEG_DECODE_CUH

#include "decode.h"
#include "scan.cuh"

constexpr unsigned LAP_JPEG_LOOK = 11, LAP_JPEG_ENTRIES = 1u << LAP_JPEG_LOOK; /* bits that a look-up uses */
constexpr unsigned LAP_JPEG_CODES = 6;

/* The stages that report errors. A stage reads only the reports of earlier stages, so all its threads read
 * the same values. */
enum { LAP_JPEG_AT_BYTES, LAP_JPEG_AT_BLOCKS, LAP_JPEG_AT_PIXELS };

struct lap_jpeg_control { /* uploaded as zeros with the tables; begins like lap_cuda_jpeg_result */
    unsigned odd[3];
    unsigned bytes;       /* of the scan, without stuffing and markers */
    unsigned subs;        /* subsequences in these bytes */
    unsigned end_inverse; /* ~ position of the marker that ends the scan; 0: not found */
    unsigned ticket;      /* chains that lanes have begun after their first one */
    unsigned reserved;
};

struct lap_jpeg_codes { /* also the layout in shared memory, to which only the used part of look is copied */
    lap_huff_code code[LAP_JPEG_CODES];
    alignas(16) lap_huff_entry look[LAP_JPEG_CODES][LAP_JPEG_ENTRIES];
};
static_assert(offsetof(lap_jpeg_codes, look) % 16 == 0, "copied by 16 bytes");

struct lap_jpeg_staged { /* prepared by the host and uploaded */
    lap_jpeg_control control;
    unsigned quant[3 * 64]; /* zigzag order: quantiser | natural position << 16 */
    unsigned filled;        /* host only: how many codes are filled in */
    alignas(16) lap_jpeg_codes codes;
};
static_assert(offsetof(lap_jpeg_staged, codes) % 16 == 0, "copied by 16 bytes");

struct lap_jpeg_component {
    unsigned blocks; /* in an MCU */
    unsigned first;  /* index in dc[] of its first block */
    unsigned across; /* blocks across an MCU: 1 or 2 */
    unsigned width, height;
    unsigned stride;
    uint8_t *plane;
};

/* The way from samples to pixels: luma samples per chroma sample, across and down, and the kind of
 * upsampling. */
template <int H, int V, bool FANCY>
constexpr unsigned lap_jpeg_way = H | V << 2 | FANCY << 4;
constexpr unsigned LAP_JPEG_GRAY = 0;

struct lap_jpeg_job {
    const uint8_t *bytes; /* the scan as in the file */
    unsigned *words;      /* the scan without stuffing and markers, big-endian */
    lap_jpeg_staged *tables;
    unsigned *tiles; /* one sum per tile, for these prefix sums: */
    lap_jpeg_sums byte_sums, sub_sums, dc_sums;
    unsigned *segments;          /* first byte of each restart interval; then the end of the last one */
    unsigned long long *records; /* for each subsequence: group << 32 | count << 14 | state at its end */
    unsigned *firsts;            /* for each group: count and state at its end, computed from its guess */
    unsigned *starts;            /* for each block in scan order, the bit of its first AC symbol */
    unsigned *dc;                /* by component: DC differences, later their sums modulo 2^32 */
    uint8_t *pixels;
    ptrdiff_t pixel_stride;
    lap_jpeg_component component[3];
    const uint8_t *host_scan, *host_staging; /* pinned; NULL for a single picture, */
    lap_cuda_jpeg_result *host_result;       /* whose data the host copies */
    int width, height;
    unsigned size, staging_size, segment_count; /* size: bytes of the scan */
    unsigned sub_bits, group, longest_chain;
    unsigned most_subs, chain_lanes; /* only for the host, which does not know the number of subsequences */
    unsigned mcu_blocks, code_count, ac_count;
    unsigned codes_of; /* 4 bits for each block of an MCU: (DC code - ac_count) | AC code << 2 */
    unsigned mcus, mcus_across, blocks, interval; /* interval: MCUs in a restart interval */
    unsigned components;                          /* components to decode to pixels */
    unsigned way;                                 /* from samples to pixels */
};

static_assert(sizeof(lap_jpeg_job) <= LAP_CUDA_JPEG_DECODE_ROW, "a row of the table");
typedef lap_jpeg_batch<lap_jpeg_job> lap_jpeg_jobs;
typedef lap_jpeg_one<lap_jpeg_job> lap_jpeg_job_one;
typedef lap_jpeg_many<lap_jpeg_job> lap_jpeg_job_many;

constexpr unsigned LAP_JPEG_SUB_TILE = 256, LAP_JPEG_DC_TILE = 2048, LAP_JPEG_BYTE_TILE = 4096;
constexpr unsigned LAP_JPEG_STATE_BITS = 14, LAP_JPEG_STATE = (1u << LAP_JPEG_STATE_BITS) - 1;

LAP_DEVICE void lap_jpeg_say(const lap_jpeg_job &job, int stage, lap_huff_odd odd)
{
    atomicOr(&job.tables->control.odd[stage], 1u << odd);
}

/* Launch the stages, in this order. */
struct lap_jpeg_run {
    int device;
    void *stream;
    lap_error *err;
};
extern "C" {
lap_code lap_jpeg_run_upload(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_bytes(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_guess(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_chains(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_blocks(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_dc(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_pixels(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_colour(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_results(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
}

/* A row of `blocks` thread blocks for each picture. */
static inline lap_launch lap_jpeg_launch(
    const lap_jpeg_jobs &jobs, const lap_jpeg_run &run, unsigned blocks, unsigned threads)
{
    return {run.device, dim3(blocks, jobs.count), dim3(threads), 0, run.stream, run.err};
}

static inline size_t lap_jpeg_codes_bytes(unsigned count)
{
    return offsetof(lap_jpeg_codes, look) + count * sizeof(lap_huff_entry) * LAP_JPEG_ENTRIES;
}

/* Shared memory for the codes of the picture that has the most. */
static inline size_t lap_jpeg_most_codes_bytes(const lap_jpeg_jobs &jobs)
{
    return lap_jpeg_codes_bytes(lap_jpeg_most(jobs, [](const lap_jpeg_job &job) { return job.code_count; }));
}

/* Copies codes to shared memory. All threads of the block must call. */
LAP_DEVICE void lap_jpeg_load_codes(const lap_jpeg_job &job, unsigned count, uint4 *to)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(&job.tables->codes);
    const unsigned pieces = (unsigned)(offsetof(lap_jpeg_codes, look) / 16) + count * (LAP_JPEG_ENTRIES / 4);
    for (unsigned i = threadIdx.x; i < pieces; i += blockDim.x)
        to[i] = from[i];
    __syncthreads();
}

#endif
