/* cuda-wide: 16 bytes per load.
 * Since cuda-grid: a load brings four floats or two doubles.
 * Global memory: each value read once, 16 bytes per load and one load in flight.
 * Shared memory: one value per warp.
 * 128 threads, 16 blocks per multiprocessor.
 * Measured: L2 89 % busy, DRAM 88, L1 14, issue slots 12; longest wait: loads, 125.7 cycles per instruction
 * (10^8 floats, H200). */
#include "wide.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    wide_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T warps[LAP_WARPS];
    const lap_wide_walk<T> walk(x, n);
    T sum = walk.ends();
#pragma unroll 1
    for (size_t i = walk.thread; i < walk.count; i += walk.threads)
        sum += lap_vector_sum(walk.vectors[i]);
    lap_halve_by_shuffles(sum, warps, block_sums);
}

extern "C" lap_code lap_reduce_cuda_wide(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double
               ? lap_reduce_by<double>("cuda-wide", wide_kernel<double>, 4 * LAP_BLOCK, 16, 0, in, sum, exec)
               : lap_reduce_by<float>("cuda-wide", wide_kernel<float>, 4 * LAP_BLOCK, 16, 0, in, sum, exec);
}
