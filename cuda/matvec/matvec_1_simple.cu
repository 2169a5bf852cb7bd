/* cuda-simple: the lecture's version 1.0, one thread per row.
 * Since c: the loop over rows became the grid.
 * Global memory: 4 bytes per element; a warp reads 32 rows at once, one sector of 32 bytes of each, and the
 * other 28 bytes must stay in a cache until the next seven steps read them.
 * Shared memory: none.
 * 32 threads per block, one row per thread.
 * Measured: L1 76 % busy, L2 24, DRAM 15, issue slots 4; longest wait: loads, 24.6 cycles per instruction
 * (16000x16000, with checks, H200). A load of the matrix touches 32 lines, which L1 processes one by one:
 * 264 million wavefronts. */
#include "matvec.cuh"

template <bool CHECKED>
static __global__ void simple_kernel(const __grid_constant__ lap_product p)
{
    lap_whole_row<CHECKED>(p, blockIdx.x * LAP_ROWS + threadIdx.x);
}

extern "C" lap_code lap_matvec_cuda_simple(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch("cuda-simple", simple_kernel<true>, simple_kernel<false>, g, exec);
}
