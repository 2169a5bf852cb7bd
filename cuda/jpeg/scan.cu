/* Prefix sums over the sums of tiles: one block an array, since these are few (a number for 2 to 8 KB of
 * what they stand for).
 * Reads and writes 4 bytes a value, coalesced by 16.
 * Shared memory: one sum per warp.
 * 256 threads, 4 values each, round after round.
 * Measured: issue slots 14 % busy, L1 0, DRAM 0; the encoder's longest launch of it; L2 was not
 * counted (bench photo, H200). */
#include "scan.cuh"

constexpr unsigned SCAN_THREADS = 256, EACH = 4;

static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_kernel(const __grid_constant__ lap_jpeg_sums_batch sums)
{
    const unsigned count = sums.count[blockIdx.y];
    unsigned *mine = sums.values[blockIdx.y] + (size_t)blockIdx.x * count;
    unsigned carry = 0;
    for (unsigned first = 0; first < count; first += SCAN_THREADS * EACH) {
        const unsigned at = first + threadIdx.x * EACH;
        unsigned value[EACH], sum = 0, total;
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) {
            value[i] = at + i < count ? mine[at + i] : 0;
            sum += value[i];
        }
        unsigned before = carry + lap_block_prefix<SCAN_THREADS>(sum, &total);
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) {
            if (at + i < count)
                mine[at + i] = before;
            before += value[i];
        }
        carry += total;
    }
}

lap_code lap_jpeg_scan(const lap_jpeg_sums_batch &sums, unsigned arrays, const lap_launch &where)
{
    lap_launch launch = where;
    launch.grid = dim3(arrays, sums.photos);
    launch.block = dim3(SCAN_THREADS);
    launch.shared = 0;
    return LAP_LAUNCH(launch, scan_kernel, sums);
}
