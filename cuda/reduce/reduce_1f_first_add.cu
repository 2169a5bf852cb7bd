/* cuda-first-add: two values per thread, added as they are loaded.
 * Since cuda-shared: the first step of the halving needs no shared memory, and a block takes 256 values:
 * half as many blocks, two loads in flight per thread.
 * Global memory: each value read once.
 * Shared memory: 128 values, no conflict.
 * 128 threads, 2 values per thread.
 * Limit: for floats, the rate at which the device starts blocks: 1576 per microsecond; 1641 if they do
 * nothing (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    first_add_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T tile[LAP_BLOCK];
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * (2 * LAP_BLOCK) + t, j = i + LAP_BLOCK;
    tile[t] = (i < n ? x[i] : T(0)) + (j < n ? x[j] : T(0));
    lap_halve(tile, block_sums);
}

extern "C" lap_code lap_reduce_cuda_first_add(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? lap_reduce_by<double>(
                               "cuda-first-add", first_add_kernel<double>, 2 * LAP_BLOCK, 0, 0, in, sum, exec)
                         : lap_reduce_by<float>(
                               "cuda-first-add", first_add_kernel<float>, 2 * LAP_BLOCK, 0, 0, in, sum, exec);
}
