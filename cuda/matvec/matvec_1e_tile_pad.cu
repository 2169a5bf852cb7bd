/* cuda-tile-pad: squares of the matrix in rows of 33 words.
 * Since cuda-tile-ax: only the pitch: lane t reads word 33 t + j, and every lane has a bank of its own.
 * Global memory: 4 bytes per element, whole lines.
 * Shared memory: 4.3 KB, no conflict.
 * 32 threads per block, one row per thread.
 * Limit: as few threads as rows: one warp per scheduler, and nobody to work while it waits for loads. */
#include "square.cuh"

extern "C" lap_code lap_matvec_cuda_tile_pad(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch(
        "cuda-tile-pad", lap_square_kernel<true, 33>, lap_square_kernel<false, 33>, g, exec);
}
