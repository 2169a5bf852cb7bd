/* Prefix sums, for the stages of the JPEG decoder and encoder. */
#ifndef LAP_CUDA_JPEG_SCAN_CUH
#define LAP_CUDA_JPEG_SCAN_CUH

#include "cuda/device/rung.cuh"

/* Sum of the values of all threads before this one; *total of all threads. For blocks of THREADS in x; all of
 * them call. Modulo 2^32. */
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
    __syncthreads(); /* the sums may be written again */
    *total = all;
    return first + sum - value;
}

/* Puts the sum of all values before it in the place of each of count values, in each of `arrays` arrays that
 * follow each other. */
extern "C" lap_code lap_jpeg_scan(unsigned *values, unsigned count, unsigned arrays, const lap_launch &where);

#endif
