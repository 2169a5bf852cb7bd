/* Finds where each block's bits go: lengths with the DC symbol, their prefix sums, and a whole number of
 * chunks for each restart interval.
 * Global memory: 12 bytes read and 12 written per block of 8x8.
 * Shared memory: a sum per warp.
 * 256 threads, four blocks of 8x8 each; one block of threads computes the intervals, since they are few.
 * Measured: issue slots 36 % busy, L1 22, DRAM 5; kernel lengths; L2 was not counted (bench photo, H200). */
#include "encode.cuh"
#include "encode_codes.cuh"

constexpr unsigned THREADS = 256, EACH = 4;
static_assert(THREADS * EACH == LAP_JPEG_PLACE_TILE, "a tile per block of threads");

/* Returns the entry of out.heads for a block. The DC difference is relative to the previous block of the
 * same component, or to 0 at the start of an interval. */
LAP_DEVICE int head_of(const lap_jpeg_out &out, unsigned block)
{
    const unsigned mcu = lap_jpeg_divide(block, out.per_mcu), in = block - mcu * out.mcu_blocks;
    const unsigned component = (unsigned)(out.component_of >> (2 * in)) & 3;
    const unsigned in_interval = mcu - lap_jpeg_divide(mcu, out.per_interval) * out.interval;
    const lap_jpeg_plane &plane = out.plane[component];
    int difference = out.dc[block];
    if (in != plane.first)
        difference -= out.dc[block - 1];
    else if (in_interval != 0)
        difference -= out.dc[block - out.mcu_blocks + plane.h * plane.v - 1];
    const bool is_last = in + 1 == out.mcu_blocks && (in_interval + 1 == out.interval || mcu + 1 == out.mcus);
    return difference * 4 + (component != 0) * 2 + is_last;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) lengths_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    const unsigned first = blockIdx.x * LAP_JPEG_PLACE_TILE + threadIdx.x * EACH;
    unsigned bits[EACH], sum = 0, total;
    if (!PHOTOS::is_alone && blockIdx.x >= out.place_sums.count)
        return;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        const unsigned block = first + i;
        bits[i] = 0;
        if (block < out.blocks) {
            const int head = head_of(out, block);
            out.heads[block] = head;
            bits[i] = out.ac_bits[block] +
                      (lap_jpeg_codes_of.of[head >> 1 & 1][LAP_JPEG_DC_SIZE + lap_jpeg_size(head >> 2)] & 31);
        }
        sum += bits[i];
    }
    unsigned before = lap_block_prefix<THREADS>(sum, &total);
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        if (first + i <= out.blocks) /* one entry more, for the end */
            out.starts[first + i] = before;
        before += bits[i];
    }
    if (threadIdx.x == 0)
        out.tiles[blockIdx.x] = total;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) intervals_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
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

/* Computes the bit of the unstuffed scan at which each block begins. */
template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) positions_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    const unsigned block = blockIdx.x * THREADS + threadIdx.x;
    if (block >= out.blocks)
        return;
    const unsigned mcu = lap_jpeg_divide(block, out.per_mcu);
    const lap_jpeg_interval &interval = out.places[lap_jpeg_divide(mcu, out.per_interval)];
    out.starts[block] =
        interval.chunk * (LAP_JPEG_CHUNK * 8) + lap_jpeg_bits_before(out, block) - interval.bits;
}

lap_code lap_jpeg_run_places(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned blocks = lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return out.blocks; });
    const lap_launch tiles = lap_jpeg_grid(outs, where,
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return out.place_sums.count; }), THREADS);
    lap_code code =
        LAP_JPEG_LAUNCH(tiles, outs, lengths_kernel<lap_jpeg_out_one>, lengths_kernel<lap_jpeg_out_many>);
    if (!code)
        code = lap_jpeg_scan_of(outs, &lap_jpeg_out::place_sums, 1, where);
    if (!code)
        code = LAP_JPEG_LAUNCH(lap_jpeg_grid(outs, where, 1, THREADS), outs,
            intervals_kernel<lap_jpeg_out_one>, intervals_kernel<lap_jpeg_out_many>);
    if (!code)
        code = LAP_JPEG_LAUNCH(lap_jpeg_grid(outs, where, lap_blocks(blocks, THREADS), THREADS), outs,
            positions_kernel<lap_jpeg_out_one>, positions_kernel<lap_jpeg_out_many>);
    return code;
}
