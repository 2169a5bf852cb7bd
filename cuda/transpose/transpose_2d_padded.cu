/* cuda-padded: the tile of 32x32 in rows of 33.
 * Since cuda-shared32: only the pitch is different.
 * Global memory: as in cuda-shared32.
 * Shared memory: 4.1 KB for floats; a column's words are 33 apart: each lane has its own bank.
 * 32x32 threads, one element per thread.
 * Measured: floats: L2 44 % busy, longest wait: loads, 15.1 cycles per instruction; doubles: L2 65,
 * loads 22.3; pixels: L2 61, loads 12.9 (4992x3744, H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_padded(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<32, 33>("cuda-padded", in, out, exec);
}
