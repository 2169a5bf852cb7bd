/* cuda-tile-ax: the lecture's version 3, squares of the matrix in shared memory too.
 * Since cuda-tile-x: a square is loaded row by row, so that a warp reads 128 bytes of one row.
 * Global memory: 4 bytes per element, whole lines.
 * Shared memory: 4.1 KB; lane t reads word 32 t + j: all 32 lanes use one bank, as in the lecture.
 * 32 threads per block, one row per thread.
 * Measured: L1 38 % busy, L2 10, DRAM 7, issue slots 4; longest wait: loads, 13.8 cycles per instruction
 * (16000x16000, with checks, H200). Without the conflict (cuda-tile-pad), the kernel takes 28 % less
 * time, or 35 % less without checks. */
#include "square.cuh"

extern "C" lap_code lap_matvec_cuda_tile_ax(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch(
        "cuda-tile-ax", lap_square_kernel<true, 32>, lap_square_kernel<false, 32>, g, exec);
}
