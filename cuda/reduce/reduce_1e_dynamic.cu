/* cuda-dynamic: cuda-shared with its shared memory sized at the launch.
 * Since cuda-shared: the only difference is where the size of the shared memory is given. Fixed: the
 * notes' kernel loads from the array of results, ours from the input.
 * Global memory: each value read once.
 * Shared memory: 128 values, no conflict.
 * 128 threads, one value per thread.
 * Limit: for floats, the rate at which the device starts blocks: 1609 per microsecond; 1641 if they do
 * nothing (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    dynamic_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    LAP_DYNAMIC_SHARED(T, tile);
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * LAP_BLOCK + t;
    tile[t] = i < n ? x[i] : T(0);
    lap_halve(tile, block_sums);
}

extern "C" lap_code lap_reduce_cuda_dynamic(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? lap_reduce_by<double>("cuda-dynamic", dynamic_kernel<double>, LAP_BLOCK, 0,
                               LAP_BLOCK * sizeof(double), in, sum, exec)
                         : lap_reduce_by<float>("cuda-dynamic", dynamic_kernel<float>, LAP_BLOCK, 0,
                               LAP_BLOCK * sizeof(float), in, sum, exec);
}
