/* cuda-strided: the lecture's version 1.1, neighbouring threads 513 rows apart.
 * Since cuda-simple: the only difference is which row a thread computes. Fixed: row numbers are taken modulo
 * the number of rows, rounded up to a multiple of 32; every row is then computed once (513 is 1 modulo 32),
 * and rows past the end are skipped.
 * Global memory: as in cuda-simple; a thread works along its own row, so which 32 rows these are matters
 * little.
 * Shared memory: none.
 * 32 threads per block, one row per thread.
 * Measured: L1 75 % busy, L2 23, DRAM 15, issue slots 4; longest wait: loads, 24.9 cycles per instruction
 * (16000x16000, with checks, H200). */
#include "matvec.cuh"

template <bool CHECKED>
static __global__ void strided_kernel(const __grid_constant__ lap_product p)
{
    const unsigned rounded = (p.rows + LAP_ROWS - 1) / LAP_ROWS * LAP_ROWS;
    lap_whole_row<CHECKED>(p, (blockIdx.x * LAP_ROWS + 513 * threadIdx.x) % rounded);
}

extern "C" lap_code lap_matvec_cuda_strided(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch("cuda-strided", strided_kernel<true>, strided_kernel<false>, g, exec);
}
