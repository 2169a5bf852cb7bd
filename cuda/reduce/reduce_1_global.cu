/* cuda-global: halving in global memory, 128 values per block.
 * Since c: in each step, half of a block's threads add the other half's values. Fixed: the notes' kernel
 * overwrites its input; this one writes the partial sums to scratch memory. Any length works.
 * Global memory: each value read once; then half of the values are written and read, then a quarter, ...
 * Shared memory: none.
 * 128 threads, two values for each of the first 64; in each step half of them retire.
 * Limit: for floats, the rate at which the device starts blocks: 1598 per microsecond; 1641 if they do
 * nothing (H200). */
#include "reduce.cuh"

template <typename T>
static __global__ void __launch_bounds__(LAP_BLOCK)
    global_kernel(const T *__restrict__ x, size_t n, T *half, T *block_sums)
{
    const unsigned t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * LAP_BLOCK;
    T *work = half + (size_t)blockIdx.x * (LAP_BLOCK / 2);
    if (t < LAP_BLOCK / 2) {
        const size_t i = first + t, j = i + LAP_BLOCK / 2;
        work[t] = (i < n ? x[i] : T(0)) + (j < n ? x[j] : T(0));
    }
    __syncthreads();
    for (unsigned offset = LAP_BLOCK / 4; offset > 0; offset /= 2) {
        if (t < offset)
            work[t] += work[t + offset];
        __syncthreads();
    }
    if (t == 0)
        block_sums[blockIdx.x] = work[0];
}

extern "C" size_t lap_cuda_scratch_bytes(size_t n, size_t size)
{
    const size_t blocks = lap_blocks(n, LAP_BLOCK);
    return LAP_SCRATCH_HEAD + lap_rounded_up(blocks * size) +
           lap_rounded_up((blocks / LAP_BLOCK + 1) * size) + lap_rounded_up(blocks * (LAP_BLOCK / 2) * size);
}

extern "C" lap_code lap_reduce_cuda_global(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double
               ? lap_reduce_by<double>("cuda-global", global_kernel<double>, LAP_BLOCK, 0, 0, in, sum, exec)
               : lap_reduce_by<float>("cuda-global", global_kernel<float>, LAP_BLOCK, 0, 0, in, sum, exec);
}
