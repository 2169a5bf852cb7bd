/* Shared by the stages of the JPEG encoder: the layout of their data, and the order of blocks in the scan. */
#ifndef LAP_CUDA_JPEG_ENCODE_CUH
#define LAP_CUDA_JPEG_ENCODE_CUH

#include "encode.h"
#include "scan.cuh"

constexpr unsigned LAP_JPEG_BLOCK = 64;            /* coefficients */
constexpr unsigned LAP_JPEG_PLACE_TILE = 1024;     /* blocks whose lengths are added up together */
constexpr unsigned LAP_JPEG_CHUNK = 16;            /* unstuffed bytes per thread */
constexpr unsigned LAP_JPEG_CHUNK_TILE = 256;      /* chunks per thread block */
constexpr unsigned LAP_JPEG_MAX_BLOCK_BITS = 1728; /* DC: 9 + 11, AC: 63 times 16 + 10; rounded up */

/* Computes n / by with a reciprocal instead of a division. The quotient by the reciprocal may be one too
 * small, and is then corrected. */
struct lap_jpeg_divider {
    unsigned by, reciprocal; /* (2^32 - 1) / by */
};

static inline lap_jpeg_divider lap_jpeg_divide_by(unsigned by)
{
    return {by, 0xffffffffu / by};
}

LAP_DEVICE unsigned lap_jpeg_divide(unsigned n, const lap_jpeg_divider &divider)
{
    const unsigned quotient = __umulhi(n, divider.reciprocal);
    return quotient + (n - quotient * divider.by >= divider.by);
}

struct lap_jpeg_plane { /* samples of one component */
    uint8_t *base;
    unsigned stride;             /* bytes; a multiple of 8 */
    unsigned across, down;       /* blocks with pixels; the scan may have dummy blocks in addition */
    unsigned h, v;               /* sampling factors: blocks in an MCU */
    unsigned first;              /* index in the MCU of the component's first block */
    unsigned expand_h, expand_v; /* pixels per sample, across and down */
    lap_jpeg_divider per_h;      /* h */
};

struct lap_jpeg_interval { /* a restart interval, before stuffing */
    unsigned bits;         /* bits before it in the scan, without padding */
    unsigned chunk;        /* its first chunk */
    unsigned bytes;
};

/* The way from pixels to planes: channels of a pixel, and pixels per chroma sample across and down; or
 * LAP_JPEG_SIMPLE, the simple kernel's way. */
template <int C, int EH, int EV>
constexpr unsigned lap_jpeg_wide_way = C | EH << 2 | EV << 4;
constexpr unsigned LAP_JPEG_SIMPLE = 0;

struct lap_jpeg_out {
    const uint8_t *pixels;
    ptrdiff_t pixel_stride;
    lap_jpeg_plane plane[3];
    unsigned long long component_of; /* 2 bits for each block of an MCU */
    int16_t *coefficients;           /* 64 per block, zigzag order, blocks in the order of the scan */
    int16_t *dc;
    uint8_t *lane_bits; /* bits of the AC symbols of each group of eight coefficients, including EOB */
    uint16_t *ac_bits;  /* bits of all AC symbols of a block */
    int *heads;         /* DC difference * 4, + 2 for chroma, + 1 for the last block of an interval */
    unsigned *starts;   /* bits before a block in its tile; later its position in bits */
    unsigned *tiles;    /* bits of each tile; later of all tiles before it */
    lap_jpeg_sums place_sums, stuffed_sums; /* of tiles, and of stuffed_tiles */
    lap_jpeg_interval *places;              /* intervals + 1: the last one is the end */
    unsigned *words;                        /* the scan before stuffing; each interval begins at a chunk */
    unsigned *stuffed_tiles;                /* stuffed bytes of each tile of chunks; later prefix sums */
    uint8_t *scan;                          /* the finished scan */
    uint4 *download;                        /* where to copy it to in host memory, or NULL */
    lap_cuda_jpeg_encoded *result, *host_result;
    int width, height, channels;
    unsigned components, groups; /* groups: rows of pixels / largest v, rounded up */
    unsigned way;                /* lap_jpeg_wide_way, or LAP_JPEG_SIMPLE */
    unsigned mcus_x, mcus, mcu_blocks, blocks, interval, intervals;
    lap_jpeg_divider per_mcu, per_row, per_interval; /* mcu_blocks, mcus_x, interval */
    unsigned capacity_chunks, capacity;
    uint2 divisor[2][64]; /* q = 8 * quantiser, row by row: 2^32 / q rounded down, plus 1, and q / 2 */
};
static_assert(sizeof(lap_jpeg_out) <= LAP_CUDA_JPEG_ENCODE_ROW, "a row of the table");
typedef lap_jpeg_batch<lap_jpeg_out> lap_jpeg_outs;
typedef lap_jpeg_one<lap_jpeg_out> lap_jpeg_out_one;
typedef lap_jpeg_many<lap_jpeg_out> lap_jpeg_out_many;

struct lap_jpeg_spot { /* of a block of the scan */
    unsigned component, mcu, across, down;
};

LAP_DEVICE lap_jpeg_spot lap_jpeg_spot_of(const lap_jpeg_out &out, unsigned block)
{
    const unsigned mcu = lap_jpeg_divide(block, out.per_mcu), in = block - mcu * out.mcu_blocks;
    const unsigned component = (unsigned)(out.component_of >> (2 * in)) & 3;
    const lap_jpeg_plane &plane = out.plane[component];
    const unsigned at = in - plane.first, row = lap_jpeg_divide(at, plane.per_h);
    const unsigned mcu_row = lap_jpeg_divide(mcu, out.per_row);
    return {component, mcu, (mcu - mcu_row * out.mcus_x) * plane.h + (at - row * plane.h),
        mcu_row * plane.v + row};
}

/* Bits of the magnitude of a value: 0 for 0, 1 for 1 and -1, 2 for 2 and 3, ... (T.81, F.1.2.1) */
LAP_DEVICE unsigned lap_jpeg_size(int value)
{
    return 32 - (unsigned)__clz(value < 0 ? -value : value);
}

/* Returns the bits of the scan before a block, without padding. */
LAP_DEVICE unsigned lap_jpeg_bits_before(const lap_jpeg_out &out, unsigned block)
{
    return out.tiles[block / LAP_JPEG_PLACE_TILE] + out.starts[block];
}

/* Launch the stages, in this order. */
extern "C" lap_code lap_jpeg_run_planes(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_wide_planes(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_dct(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_places(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_bits(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_stuffing(const lap_jpeg_outs &outs, const lap_launch &where);
extern "C" lap_code lap_jpeg_run_download(const lap_jpeg_outs &outs, const lap_launch &where);

/* A row of `blocks` thread blocks for each picture. */
static inline lap_launch lap_jpeg_grid(
    const lap_jpeg_outs &outs, const lap_launch &where, unsigned blocks, unsigned threads)
{
    lap_launch launch = where;
    launch.grid = dim3(blocks, outs.count);
    launch.block = dim3(threads);
    launch.shared = 0;
    return launch;
}

#endif
