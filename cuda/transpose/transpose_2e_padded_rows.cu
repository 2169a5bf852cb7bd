/* cuda-padded-rows: the tile of 32x33 with 32x8 threads.
 * Since cuda-padded: four elements per thread, so that four loads are in flight before the barrier, and
 * four times as many blocks fit a multiprocessor.
 * Global memory: as cuda-shared32.
 * Shared memory: 4.1 KB for floats; no conflict.
 * 32x8 threads, 4 elements per thread.
 * Limit: for floats and doubles L2, at 85 %; for pixels of three bytes no unit is busier than 72 % (H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_padded_rows(
    const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<32, 33, 8>("cuda-padded-rows", in, out, exec);
}
