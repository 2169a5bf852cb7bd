/* cuda-tile-x: the lecture's version 2, a piece of x in shared memory.
 * Since cuda-simple: x comes from shared memory. Fixed: the lecture lacks the barrier after the inner loop,
 * without which fast threads overwrite the piece that slow ones still read.
 * Global memory: as in cuda-simple for the matrix.
 * Shared memory: 128 bytes; all lanes read the same word: a broadcast.
 * 32 threads per block, one row per thread.
 * Measured: L1 66 % busy, L2 21, DRAM 13, issue slots 4; longest wait: loads, 20.7 cycles per instruction
 * (16000x16000, with checks, H200). */
#include "matvec.cuh"

template <bool CHECKED>
static __global__ void tile_x_kernel(const __grid_constant__ lap_product p)
{
    __shared__ float x_tile[LAP_ROWS];
    const unsigned t = threadIdx.x, row = blockIdx.x * LAP_ROWS + t;
    const bool has_row = !CHECKED || row < p.rows;
    float sum = 0;
    for (unsigned i = 0; i < p.cols; i += LAP_ROWS) {
        const unsigned n = !CHECKED || p.cols - i > LAP_ROWS ? LAP_ROWS : p.cols - i;
        if (t < n)
            x_tile[t] = p.x[i + t];
        __syncthreads();
        for (unsigned j = 0; j < n && has_row; j++)
            sum += p.a[row * p.lda + i + j] * x_tile[j];
        __syncthreads();
    }
    if (has_row)
        p.y[row] = sum;
}

extern "C" lap_code lap_matvec_cuda_tile_x(const lap_gemv *g, const lap_exec *exec)
{
    return lap_rows_launch("cuda-tile-x", tile_x_kernel<true>, tile_x_kernel<false>, g, exec);
}
