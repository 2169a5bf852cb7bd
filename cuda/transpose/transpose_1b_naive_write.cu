/* cuda-naive-write: one element per thread; reads go down columns, writes along rows.
 * Since cuda-naive: x and y of a thread change places, so that the scattered side is the reading one.
 * Global memory: an element read and written once; 16 sectors of 32 bytes are read by a warp, and what of
 * them it does not use stays in L1 for the warps beside it.
 * Shared memory: none.
 * 16x16 threads, one element per thread.
 * Limit: L1, by sectors of the scattered reads: 99 % for pixels, 90 for doubles; floats (70 %) wait for
 * loads, too. */
#include "transpose.cuh"

constexpr int BLOCK = 16;

template <typename T>
static __global__ void naive_write_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.y), y = (int)(blockIdx.y * BLOCK + threadIdx.x);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, y, x) = *lap_in<T>(in, g, x, y);
}

extern "C" lap_code lap_transpose_cuda_naive_write(
    const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {naive_write_kernel<uint8_t>, naive_write_kernel<lap_rgb>,
        naive_write_kernel<uint32_t>, naive_write_kernel<uint2>};
    return lap_transpose_launch("cuda-naive-write", lap_transpose_pick(kernels, in->channels), BLOCK,
        dim3(BLOCK, BLOCK), in, out, exec);
}
