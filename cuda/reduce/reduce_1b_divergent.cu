/* cuda-divergent: halving in shared memory, neighbours first.
 * Since cuda-global: the values of a block lie in shared memory; and, as one would first write it, every
 * second thread adds its neighbour's value, then every fourth, ... so that in each warp some lanes work
 * while the others wait.
 * Global memory: each value read once.
 * Shared memory: 128 values (512 bytes of floats).
 * 128 threads, one value per thread.
 * Limit: for floats, the rate at which the device starts blocks: 1610 per microsecond; 1641 if they do
 * nothing (H200). Doubles are slower: lanes that are 2, 4, ... apart conflict, 0.7 times per load, and L1
 * is 91 % busy (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    divergent_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T tile[LAP_BLOCK];
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * LAP_BLOCK + t;
    tile[t] = i < n ? x[i] : T(0);
    __syncthreads();
    for (unsigned step = 1; step < LAP_BLOCK; step *= 2) {
        if (t % (2 * step) == 0)
            tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0)
        block_sums[blockIdx.x] = tile[0];
}

extern "C" lap_code lap_reduce_cuda_divergent(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? lap_reduce_by<double>(
                               "cuda-divergent", divergent_kernel<double>, LAP_BLOCK, 0, 0, in, sum, exec)
                         : lap_reduce_by<float>(
                               "cuda-divergent", divergent_kernel<float>, LAP_BLOCK, 0, 0, in, sum, exec);
}
