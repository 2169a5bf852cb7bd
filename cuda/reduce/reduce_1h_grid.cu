/* cuda-grid: the blocks that fit on the device at once walk the array together.
 * Since cuda-shuffle: a thread adds many values in a register, and a block adds up its threads' sums only
 * once, at the end. Two launches, whatever the length.
 * Global memory: each value read once, 4 bytes of floats per load and one load in flight.
 * Shared memory: one value per warp.
 * 128 threads, 16 blocks per multiprocessor.
 * Measured: L2 65 % busy, DRAM 53, issue slots 16, L1 8; longest wait: loads, 88.5 cycles per instruction
 * (10^8 floats, H200). A thread adds more floats one after the other, so the result is less precise than
 * that of a tree. */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    grid_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T warps[LAP_WARPS];
    T sum = 0;
#pragma unroll 1 /* else the compiler would unroll by four, as cuda-unrolled does */
    for (size_t i = (size_t)blockIdx.x * LAP_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * LAP_BLOCK)
        sum += x[i];
    lap_halve_by_shuffles(sum, warps, block_sums);
}

extern "C" lap_code lap_reduce_cuda_grid(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double
               ? lap_reduce_by<double>("cuda-grid", grid_kernel<double>, LAP_BLOCK, 16, 0, in, sum, exec)
               : lap_reduce_by<float>("cuda-grid", grid_kernel<float>, LAP_BLOCK, 16, 0, in, sum, exec);
}
