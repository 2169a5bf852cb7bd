/* Shared by the stages of the JPEG decoder: where everything lies, and the walk from symbol to symbol. */
#ifndef LAP_CUDA_JPEG_DECODE_CUH
#define LAP_CUDA_JPEG_DECODE_CUH

#include "cuda/device/rung.cuh"
#include "decode.h"

constexpr unsigned LAP_JPEG_LOOK = 11, LAP_JPEG_ENTRIES = 1u << LAP_JPEG_LOOK; /* bits that a look-up takes */
constexpr unsigned LAP_JPEG_CODES = 6;

/* The stages that report errors. A stage reads only the reports of earlier stages, so all its threads read
 * the same values. */
enum { LAP_JPEG_AT_BYTES, LAP_JPEG_AT_BLOCKS, LAP_JPEG_AT_PIXELS };

struct lap_jpeg_control { /* uploaded as zeros with the tables; begins like lap_cuda_jpeg_result */
    unsigned odd[3];
    unsigned bytes;       /* of the scan, without stuffing and markers */
    unsigned subs;        /* subsequences in these bytes */
    unsigned end_inverse; /* ~ position of the marker that ends the scan; 0: not found */
    unsigned ticket;      /* chains that lanes have taken after their first one */
    unsigned reserved;
};

struct lap_jpeg_codes { /* as in shared memory, where only the used part of look is copied */
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

struct lap_jpeg_job {
    const uint8_t *bytes; /* the scan as in the file */
    unsigned size;
    unsigned *words; /* the scan without stuffing and markers, big-endian */
    lap_jpeg_staged *tables;
    unsigned *tiles; /* one sum per tile, for prefix sums */
    unsigned byte_tiles;
    unsigned *segments; /* first byte of each restart interval; then the end of the last one */
    unsigned segment_count;
    unsigned long long *records; /* for each subsequence: group << 32 | count << 14 | state at its end */
    unsigned *firsts;            /* for each group: count and state at its end, computed from its guess */
    unsigned *starts;            /* for each block in scan order, the bit of its first AC symbol */
    unsigned *dc;                /* by component: DC differences, later their sums modulo 2^32 */
    unsigned sub_bits, group, longest_chain;
    unsigned mcu_blocks, code_count, ac_count;
    unsigned codes_of; /* 4 bits for each block of an MCU: (DC code - ac_count) | AC code << 2 */
    unsigned mcus, mcus_across, blocks, interval; /* interval: MCUs in a restart interval */
    unsigned components;                          /* components to decode to pixels */
    lap_jpeg_component component[3];
};

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
lap_code lap_jpeg_run_bytes(const lap_jpeg_job &job, const lap_jpeg_run &run);
lap_code lap_jpeg_run_guess(const lap_jpeg_job &job, unsigned subs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_chains(const lap_jpeg_job &job, unsigned subs, unsigned lanes, const lap_jpeg_run &run);
lap_code lap_jpeg_run_blocks(const lap_jpeg_job &job, unsigned subs, const lap_jpeg_run &run);
lap_code lap_jpeg_run_dc(const lap_jpeg_job &job, const lap_jpeg_run &run);
lap_code lap_jpeg_run_pixels(const lap_jpeg_job &job, const lap_jpeg_run &run);
lap_code lap_jpeg_run_colour(const lap_jpeg_job &job, const lap_view &out, const lap_jpeg_run &run);
}

static inline lap_launch lap_jpeg_launch(
    const lap_jpeg_run &run, unsigned blocks, unsigned threads, size_t shared)
{
    return {run.device, dim3(blocks), dim3(threads), shared, run.stream, run.err};
}

static inline size_t lap_jpeg_codes_bytes(unsigned count)
{
    return offsetof(lap_jpeg_codes, look) + count * sizeof(lap_huff_entry) * LAP_JPEG_ENTRIES;
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
