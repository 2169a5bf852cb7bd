/* Where each block's bits go: lengths with the DC symbol, their prefix sums, and a whole number of chunks for
 * each restart interval.
 * Global memory: 4 bytes read and 4 written per block of 8x8.
 * Shared memory: a sum per warp.
 * 256 threads, four blocks of 8x8 each; the intervals by one block of threads, since they are few.
 * Limit: latency; some microseconds. */
#include "encode.cuh"
#include "encode_codes.cuh"
#include "scan.cuh"

constexpr unsigned THREADS = 256, EACH = 4;
static_assert(THREADS * EACH == LAP_JPEG_PLACE_TILE, "a tile per block of threads");

static __global__ void __launch_bounds__(THREADS) lengths_kernel(const __grid_constant__ lap_jpeg_out out)
{
    const unsigned first = blockIdx.x * LAP_JPEG_PLACE_TILE + threadIdx.x * EACH;
    unsigned bits[EACH], sum = 0, total;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned block = first + i;
        bits[i] = 0;
        if (block < out.blocks) {
            const unsigned in = block % out.mcu_blocks;
            const unsigned table = ((out.component_of >> (2 * in)) & 3) != 0;
            const unsigned size = lap_jpeg_size(lap_jpeg_dc_difference(out, block));
            bits[i] = out.ac_bits[block] + (lap_jpeg_codes_of.dc[table][size] & 31);
        }
        sum += bits[i];
    }
    unsigned before = lap_block_prefix<THREADS>(sum, &total);
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        if (first + i <= out.blocks) /* one more: the end */
            out.starts[first + i] = before;
        before += bits[i];
    }
    if (threadIdx.x == 0)
        out.tiles[blockIdx.x] = total;
}

static __global__ void __launch_bounds__(THREADS) intervals_kernel(const __grid_constant__ lap_jpeg_out out)
{
    unsigned carry = 0;
    for (unsigned first = 0; first < out.intervals; first += THREADS) {
        const unsigned i = first + threadIdx.x;
        unsigned bits = 0, bytes = 0, total;
        if (i < out.intervals) {
            const unsigned from = i * out.interval, to = min(from + out.interval, out.mcus);
            bits = lap_jpeg_bits_before(out, from * out.mcu_blocks);
            bytes = (lap_jpeg_bits_before(out, to * out.mcu_blocks) - bits + 7) / 8;
        }
        const unsigned chunks = (bytes + LAP_JPEG_CHUNK - 1) / LAP_JPEG_CHUNK;
        const unsigned before = carry + lap_block_prefix<THREADS>(chunks, &total);
        if (i < out.intervals)
            out.places[i] = {bits, before, bytes};
        carry += total;
    }
    if (threadIdx.x == 0) {
        const bool fits = carry <= out.capacity_chunks;
        out.places[out.intervals] = {0, carry, 0};
        *out.result = {!fits, 0, fits ? carry : 0, 0};
    }
}

lap_code lap_jpeg_run_places(const lap_jpeg_out &out, const lap_launch &where)
{
    const unsigned tiles = out.blocks / LAP_JPEG_PLACE_TILE + 1; /* the end has a place too */
    lap_code code = LAP_LAUNCH(lap_jpeg_grid(where, tiles, THREADS), lengths_kernel, out);
    if (!code)
        code = lap_jpeg_scan(out.tiles, tiles, 1, where);
    if (!code)
        code = LAP_LAUNCH(lap_jpeg_grid(where, 1, THREADS), intervals_kernel, out);
    return code;
}
