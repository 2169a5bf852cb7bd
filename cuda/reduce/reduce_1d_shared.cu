/* cuda-shared: halving in shared memory, the notes' kernel.
 * Since cuda-interleaved: a thread adds the value half a block away: neighbours read neighbouring banks.
 * Global memory: each value read once.
 * Shared memory: 128 values (512 bytes of floats), no conflict.
 * 128 threads, one value per thread; in each step half of them retire.
 * Limit: for floats, the rate at which the device starts blocks: 1610 per microsecond; 1641 if they do
 * nothing (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    shared_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T tile[LAP_BLOCK];
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * LAP_BLOCK + t;
    tile[t] = i < n ? x[i] : T(0);
    lap_halve(tile, block_sums);
}

extern "C" lap_code lap_reduce_cuda_shared(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double
               ? lap_reduce_by<double>("cuda-shared", shared_kernel<double>, LAP_BLOCK, 0, 0, in, sum, exec)
               : lap_reduce_by<float>("cuda-shared", shared_kernel<float>, LAP_BLOCK, 0, 0, in, sum, exec);
}
