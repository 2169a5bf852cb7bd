/* cuda-padded-rows: the tile of 32x33 with 32x8 threads.
 * Since cuda-padded: each thread has four elements, and four loads in flight before the barrier; a block
 * has a quarter of the threads, and four times as many blocks fit on a multiprocessor.
 * Global memory: as in cuda-shared32.
 * Shared memory: 4.1 KB for floats; no conflict.
 * 32x8 threads, 4 elements per thread.
 * Measured: floats: L2 85 % busy, longest wait: loads, 13.5 cycles per instruction; doubles: L2 85,
 * loads 35.2; pixels: L2 72, loads 15.4 (4992x3744, H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_padded_rows(
    const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<32, 33, 8>("cuda-padded-rows", in, out, exec);
}
