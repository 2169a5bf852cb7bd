/* Prefix sums, for the stages of the JPEG decoder and encoder. */
#ifndef LAP_CUDA_JPEG_SCAN_CUH
#define LAP_CUDA_JPEG_SCAN_CUH

#include "cuda/device/rung.cuh"
#include "photos.h"

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

struct lap_jpeg_sums { /* contiguous arrays of `count` values each */
    unsigned *values;
    unsigned count;
};
struct lap_jpeg_sums_batch { /* of each picture */
    unsigned *values[LAP_CUDA_JPEG_PHOTOS];
    unsigned count[LAP_CUDA_JPEG_PHOTOS];
    unsigned photos, reserved;
};

/* Collects the sums that `of` returns for each picture. */
template <typename PHOTO, typename F>
static inline lap_jpeg_sums_batch lap_jpeg_sums_of(const PHOTO *photos, unsigned count, F of)
{
    lap_jpeg_sums_batch sums = {};
    for (; sums.photos < count; sums.photos++) {
        const lap_jpeg_sums its = of(photos[sums.photos]);
        sums.values[sums.photos] = its.values;
        sums.count[sums.photos] = its.count;
    }
    return sums;
}

/* Replaces each value by the sum of the values before it in its array; each picture has `arrays`. */
extern "C" lap_code lap_jpeg_scan(const lap_jpeg_sums_batch &sums, unsigned arrays, const lap_launch &where);

#endif
