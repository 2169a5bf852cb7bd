/* cuda-shared: a tile of 16x16 goes through shared memory; global memory is read and written along rows.
 * Since cuda-naive-write: only shared memory is accessed down columns.
 * Global memory: each element read and written once; a warp covers 2 rows of 64 bytes of floats.
 * Shared memory: 1 KB for floats. A read goes down a column of the tile, whose words are 16 apart: 16
 * lanes use 2 banks, 8 lanes each.
 * 16x16 threads, one element per thread.
 * Measured: floats: L2 55 % busy, longest wait: loads, 19.2 cycles per instruction; doubles: L1 69,
 * loads 23.7; pixels: L2 68, loads 16.6 (4992x3744, H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_shared(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<16, 16>("cuda-shared", in, out, exec);
}
