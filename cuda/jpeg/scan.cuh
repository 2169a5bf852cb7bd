/* Prefix sums, for the stages of the JPEG decoder and encoder. */
#ifndef LAP_CUDA_JPEG_SCAN_CUH
#define LAP_CUDA_JPEG_SCAN_CUH

#include "photos.cuh"

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
    unsigned count, reserved;
};
struct lap_jpeg_sums_rows { /* of many pictures, in device memory */
    const uint8_t *first;
    size_t stride; /* bytes from one picture's sums to the next picture's */
};

/* Replaces each value by the sum of the values before it in its array. Each of `photos` pictures has
 * `arrays` arrays; one: the arrays of a single picture. */
extern "C" lap_code lap_jpeg_scan(const lap_jpeg_sums &one, const lap_jpeg_sums_rows &many, unsigned photos,
    unsigned arrays, const lap_launch &where);

/* The same for a member of each picture of a batch. */
template <typename T>
static inline lap_code lap_jpeg_scan_of(
    const lap_jpeg_batch<T> &batch, lap_jpeg_sums(T::*sums), unsigned arrays, const lap_launch &where)
{
    const uint8_t *first = batch.there ? reinterpret_cast<const uint8_t *>(&(batch.there->*sums)) : NULL;
    return lap_jpeg_scan(batch.photo->*sums, {first, sizeof(T)}, batch.count, arrays, where);
}

#endif
