/* Computes DC values from their differences: sums from the beginning of the picture, modulo 2^32. DC
 * prediction restarts at each interval; readers of a sum subtract the sum at the interval's start.
 * Reads each block's difference twice and writes its sum once: 4 bytes, 32 bytes apart for neighbouring
 * lanes.
 * Shared memory: one sum per warp.
 * 256 threads, 8 differences each.
 * Measured: L1 26 % busy, DRAM 5, issue slots 4; the longest of three kernels; L2 was not counted (bench
 * photo, H200). */
#include "decode.cuh"

constexpr unsigned DC_THREADS = 256, EACH = 8;
static_assert(DC_THREADS * EACH == LAP_JPEG_DC_TILE, "a tile is a piece a thread");

template <bool WRITES, typename PHOTOS>
static __global__ void __launch_bounds__(DC_THREADS) dc_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    const lap_jpeg_control &control = job.tables->control;
    if (control.odd[LAP_JPEG_AT_BYTES] | control.odd[LAP_JPEG_AT_BLOCKS] ||
        blockIdx.x * LAP_JPEG_DC_TILE >= job.blocks)
        return;
    const unsigned at = blockIdx.x * LAP_JPEG_DC_TILE + threadIdx.x * EACH;
    unsigned value[EACH], sum = 0, total;
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        value[i] = at + i < job.blocks ? job.dc[at + i] : 0;
        sum += value[i];
    }
    unsigned before = lap_block_prefix<DC_THREADS>(sum, &total);
    if (!WRITES) {
        if (threadIdx.x == 0)
            job.tiles[blockIdx.x] = total;
        return;
    }
    before += job.tiles[blockIdx.x];
#pragma unroll
    for (unsigned i = 0; i < EACH; i++) {
        before += value[i];
        if (at + i < job.blocks)
            job.dc[at + i] = before;
    }
}

lap_code lap_jpeg_run_dc(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    const lap_launch launch = lap_jpeg_launch(jobs, run,
        lap_jpeg_most(jobs, [](const lap_jpeg_job &job) { return job.dc_sums.count; }), DC_THREADS);
    lap_code code = LAP_JPEG_LAUNCH(
        launch, jobs, (dc_kernel<false, lap_jpeg_job_one>), (dc_kernel<false, lap_jpeg_job_many>));
    if (!code)
        code = lap_jpeg_scan_of(jobs, &lap_jpeg_job::dc_sums, 1, launch);
    if (!code)
        code = LAP_JPEG_LAUNCH(
            launch, jobs, (dc_kernel<true, lap_jpeg_job_one>), (dc_kernel<true, lap_jpeg_job_many>));
    return code;
}
