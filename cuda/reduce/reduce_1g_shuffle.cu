/* cuda-shuffle: warps add by shuffles.
 * Since cuda-first-add: five of the seven steps stay inside a warp, without shared memory or a barrier;
 * one barrier is left, before the sums of four warps are added.
 * Global memory: each value read once.
 * Shared memory: one value per warp.
 * 128 threads, 2 values per thread.
 * Limit: for floats, the rate at which the device starts blocks: 1584 per microsecond; 1641 if they do
 * nothing (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    shuffle_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T warps[LAP_WARPS];
    const size_t i = (size_t)blockIdx.x * (2 * LAP_BLOCK) + threadIdx.x, j = i + LAP_BLOCK;
    const T value = (i < n ? x[i] : T(0)) + (j < n ? x[j] : T(0));
    lap_halve_by_shuffles(value, warps, block_sums);
}

extern "C" lap_code lap_reduce_cuda_shuffle(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? lap_reduce_by<double>(
                               "cuda-shuffle", shuffle_kernel<double>, 2 * LAP_BLOCK, 0, 0, in, sum, exec)
                         : lap_reduce_by<float>(
                               "cuda-shuffle", shuffle_kernel<float>, 2 * LAP_BLOCK, 0, 0, in, sum, exec);
}
