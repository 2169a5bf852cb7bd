/* cuda-shared32: a tile of 32x32, as in the notes.
 * Since cuda-shared: the size of the tile: a warp reads and writes one row of 128 bytes of floats.
 * Global memory: each element read and written once.
 * Shared memory: 4 KB for floats. A column's words are 32 apart: all 32 lanes use one bank.
 * 32x32 threads, one element per thread.
 * Limit: conflicts: 31.1 per shared load for floats, 30.3 for doubles, 7.3 for pixels; cuda-padded, with
 * 0.0, 0.1 and 1.1, is 1.67, 1.45 and 1.30 times as fast (4992x3744, H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_shared32(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<32, 32>("cuda-shared32", in, out, exec);
}
