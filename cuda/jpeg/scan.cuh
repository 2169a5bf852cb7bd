/* Prefix sums, for the stages of the JPEG decoder and encoder. */
#ifndef LAP_CUDA_JPEG_SCAN_CUH
#define LAP_CUDA_JPEG_SCAN_CUH

#include "cuda/device/rung.cuh"

/* Returns the sum of the values of all threads before this one, modulo 2^32; *total receives the sum over all
 * threads. For blocks of THREADS threads in x, all of which must call. */
template <unsigned THREADS>
LAP_DEVICE unsigned lap_block_prefix(unsigned value, unsigned *total)
{
    constexpr unsigned WARPS = THREADS / LAP_WARP;
    static_assert(THREADS % LAP_WARP == 0 && WARPS <= LAP_WARP, "whole warps");
    __shared__ unsigned sums[WARPS];
    const unsigned lane = threadIdx.x % LAP_WARP, warp = threadIdx.x / LAP_WARP;
    unsigned sum = value;
#pragma unroll
    for (unsigned step = 1; step < LAP_WARP; step *= 2) {
        const unsigned before = __shfl_up_sync(LAP_ALL_LANES, sum, step);
        sum += lane >= step ? before : 0;
    }
    if (lane == LAP_WARP - 1)
        sums[warp] = sum;
    __syncthreads();
    unsigned first = 0, all = 0;
#pragma unroll
    for (unsigned i = 0; i < WARPS; i++) {
        first += i < warp ? sums[i] : 0;
        all += sums[i];
    }
    __syncthreads(); /* now the next call may overwrite the sums */
    *total = all;
    return first + sum - value;
}

/* Replaces each of `count` values by the sum of the values before it, in each of `arrays` contiguous arrays.
 */
extern "C" lap_code lap_jpeg_scan(unsigned *values, unsigned count, unsigned arrays, const lap_launch &where);

#endif
