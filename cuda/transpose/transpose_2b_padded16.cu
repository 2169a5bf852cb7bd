/* cuda-padded16: the tile of 16x16 in rows of 17.
 * Since cuda-shared: only the pitch is different; cuda-padded changes the size of the block as well.
 * Global memory: as in cuda-shared.
 * Shared memory: 1.1 KB for floats; a column's words are 17 apart: lanes k and k + 16 read neighbouring
 * columns. One lane of either column shares a bank with one of the other: two passes instead of eight.
 * 16x16 threads, one element per thread.
 * Measured: floats: L2 58 % busy, longest wait: loads, 19.1 cycles per instruction; doubles: L2 77,
 * loads 25.4; pixels: L1 74, loads 16.6 (4992x3744, H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_padded16(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<16, 17>("cuda-padded16", in, out, exec);
}
