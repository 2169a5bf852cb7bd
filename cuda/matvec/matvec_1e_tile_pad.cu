/* cuda-tile-pad: squares of the matrix in rows of 33 words.
 * Since cuda-tile-ax: only the pitch is different: lane t reads word 33 t + j, and each lane has its own
 * bank.
 * Global memory: 4 bytes per element, whole lines.
 * Shared memory: 4.3 KB, no conflict.
 * 32 threads per block, one row per thread.
 * Measured: L2 14 % busy, DRAM 10, L1 6, issue slots 6; longest wait: loads, 13.1 cycles per instruction
 * (16000x16000, with checks, H200). A multiprocessor has four schedulers and 3.8 warps: while a warp
 * waits, its scheduler has no other to run. */
#include "square.cuh"

extern "C" lap_code lap_matvec_cuda_tile_pad(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch(
        "cuda-tile-pad", lap_square_kernel<true, 33>, lap_square_kernel<false, 33>, g, exec);
}
