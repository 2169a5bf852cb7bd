/* Prefix sums over the sums of tiles: one block per array, since the sums are few (one for 2 to 8 KB of
 * the data that is summed). Reads and writes 4 bytes per value, coalesced, 16 bytes per access.
 * Shared memory: one sum per warp.
 * 256 threads, 4 values each, round after round.
 * Measured: issue slots 14 % busy, L1 0, DRAM 0; the encoder's longest launch of it; L2 was not
 * counted (bench photo, H200). */
#include "scan.cuh"

constexpr unsigned SCAN_THREADS = 256, EACH = 4;

LAP_DEVICE lap_jpeg_sums sums_of(const lap_jpeg_sums &one, unsigned)
{
    return one;
}

LAP_DEVICE lap_jpeg_sums sums_of(const lap_jpeg_sums_rows &rows, unsigned i)
{
    return *reinterpret_cast<const lap_jpeg_sums *>(rows.first + i * rows.stride);
}

template <typename SUMS>
static __global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(const __grid_constant__ SUMS all)
{
    const lap_jpeg_sums sums = sums_of(all, blockIdx.y);
    const unsigned count = sums.count;
    unsigned *mine = sums.values + (size_t)blockIdx.x * count;
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

lap_code lap_jpeg_scan(const lap_jpeg_sums &one, const lap_jpeg_sums_rows &many, unsigned photos,
    unsigned arrays, const lap_launch &where)
{
    lap_launch launch = where;
    launch.grid = dim3(arrays, photos);
    launch.block = dim3(SCAN_THREADS);
    launch.shared = 0;
    return photos == 1 ? LAP_LAUNCH(launch, (scan_kernel<lap_jpeg_sums>), one)
                       : LAP_LAUNCH(launch, (scan_kernel<lap_jpeg_sums_rows>), many);
}
