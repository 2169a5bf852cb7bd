/* cuda-padded: the tile of 32x32 in rows of 33.
 * Since cuda-shared32: only the pitch.
 * Global memory: as cuda-shared32.
 * Shared memory: 4.1 KB for floats; a column's words are 33 apart: every lane on a bank of its own.
 * 32x32 threads, one element per thread.
 * Limit: waiting for loads, one in flight a thread, and for a barrier of 1024 threads; no unit is busier than
 * 44 % for floats, 65 for doubles, 61 for pixels (H200). */
#include "tile.cuh"

extern "C" lap_code lap_transpose_cuda_padded(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_tile_launch<32, 33>("cuda-padded", in, out, exec);
}
