/* cuda-naive: one element per thread, straight from memory to memory; reads go along rows, writes down
 * columns.
 * Since c: one thread per element instead of two loops.
 * Global memory: each element read and written once. The 16 lanes of a block's row write to 16 rows; lane k
 * and lane k + 16 write neighbours, so that a warp touches 16 sectors of 32 bytes: four times what it
 * writes for floats, sixteen times for bytes, twice for doubles.
 * Shared memory: none.
 * 16x16 threads, one element per thread.
 * Measured: floats: L2 80 % busy, longest wait: loads, 67.3 cycles per instruction; doubles: L2 65,
 * loads 89.8; pixels: L2 84, the queue of shared memory 80.1 (4992x3744, H200). */
#include "transpose.cuh"

constexpr int BLOCK = 16;

template <typename T>
static __global__ void naive_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, y, x) = *lap_in<T>(in, g, x, y);
}

extern "C" lap_code lap_transpose_cuda_naive(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {
        naive_kernel<uint8_t>, naive_kernel<lap_rgb>, naive_kernel<uint32_t>, naive_kernel<uint2>};
    return lap_transpose_launch(
        "cuda-naive", lap_transpose_pick(kernels, in->channels), BLOCK, dim3(BLOCK, BLOCK), in, out, exec);
}
