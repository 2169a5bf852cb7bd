/* cuda-unrolled: four loads in flight per thread.
 * Since cuda-wide: four vectors are requested before the first is added.
 * Global memory: each value read once, 16 bytes per load, 64 bytes in flight per thread.
 * Shared memory: one value per warp.
 * 128 threads, 16 blocks per multiprocessor.
 * Measured: L2 92 % busy, DRAM 91, L1 15, issue slots 9; longest wait: loads, 172.1 cycles per instruction
 * (10^8 floats, H200). A second launch adds the block sums; cuda-fast needs only one launch. */
#include "wide.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    unrolled_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T warps[LAP_WARPS];
    const lap_wide_walk<T> walk(x, n);
    T sum = walk.ends();
    size_t i = walk.thread;
    for (; i + 3 * walk.threads < walk.count; i += 4 * walk.threads) {
        const auto a = walk.vectors[i], b = walk.vectors[i + walk.threads],
                   c = walk.vectors[i + 2 * walk.threads], d = walk.vectors[i + 3 * walk.threads];
        sum += (lap_vector_sum(a) + lap_vector_sum(b)) + (lap_vector_sum(c) + lap_vector_sum(d));
    }
    for (; i < walk.count; i += walk.threads)
        sum += lap_vector_sum(walk.vectors[i]);
    lap_halve_by_shuffles(sum, warps, block_sums);
}

extern "C" lap_code lap_reduce_cuda_unrolled(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? lap_reduce_by<double>(
                               "cuda-unrolled", unrolled_kernel<double>, 16 * LAP_BLOCK, 16, 0, in, sum, exec)
                         : lap_reduce_by<float>(
                               "cuda-unrolled", unrolled_kernel<float>, 16 * LAP_BLOCK, 16, 0, in, sum, exec);
}
