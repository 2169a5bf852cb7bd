/* cuda-naive-write: one element per thread; reads go down columns, writes along rows.
 * Since cuda-naive: x and y of a thread are exchanged, so that reads are scattered instead of writes.
 * Global memory: each element read and written once; a warp reads 16 sectors of 32 bytes; the bytes that
 * it does not use stay in L1 for the neighbouring warps.
 * Shared memory: none.
 * 16x16 threads, one element per thread.
 * Measured: floats: L1 70 % busy, longest wait: loads, 45.0 cycles per instruction; doubles: L1 90,
 * loads 66.5; pixels: L1 99, loads 84.9 (4992x3744, H200). */
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
