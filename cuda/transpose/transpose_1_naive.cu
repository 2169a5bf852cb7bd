/* cuda-naive, cuda-naive-write and the copy kernel: one element per thread, straight from memory to memory.
 * Since c: one thread per element. naive reads along rows and writes down columns; naive-write the other
 * way round; the copy does both along rows and shows what is left when nothing is scattered.
 * Global memory: an element read and written once; but the scattered side touches a 32-byte sector an
 * element, 8 times a float's bytes, and only the L2 cache puts sectors together again.
 * Shared memory: none.
 * 16x16 threads, one element per thread.
 * Limit: sectors of the scattered side; a scattered read waits, a scattered write does not. */
#include "transpose.cuh"

constexpr int BLOCK = 16;

template <typename T>
static __global__ void naive_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, y, x) = *lap_in<T>(in, g, x, y);
}

template <typename T>
static __global__ void naive_write_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.y), y = (int)(blockIdx.y * BLOCK + threadIdx.x);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, y, x) = *lap_in<T>(in, g, x, y);
}

template <typename T>
static __global__ void copy_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, x, y) = *lap_in<T>(in, g, x, y);
}

extern "C" lap_code lap_transpose_cuda_naive(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {
        naive_kernel<uint8_t>, naive_kernel<lap_rgb>, naive_kernel<uint32_t>, naive_kernel<uint2>};
    return lap_transpose_launch(
        "cuda-naive", lap_transpose_pick(kernels, in->channels), BLOCK, dim3(BLOCK, BLOCK), in, out, exec);
}

extern "C" lap_code lap_transpose_cuda_naive_write(
    const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {naive_write_kernel<uint8_t>, naive_write_kernel<lap_rgb>,
        naive_write_kernel<uint32_t>, naive_write_kernel<uint2>};
    return lap_transpose_launch("cuda-naive-write", lap_transpose_pick(kernels, in->channels), BLOCK,
        dim3(BLOCK, BLOCK), in, out, exec);
}

extern "C" lap_code lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_transpose_kernels kernels = {
        copy_kernel<uint8_t>, copy_kernel<lap_rgb>, copy_kernel<uint32_t>, copy_kernel<uint2>};
    const int max_rows = 65535 / 128 * 128 * BLOCK; /* rows of a launch: here the result is cut by rows too */
    for (int y = 0; y < in->height; y += max_rows) {
        lap_view rows = *in, to = *out;
        rows.base += y * in->stride;
        to.base += y * out->stride;
        rows.height = to.height = in->height - y < max_rows ? in->height - y : max_rows;
        lap_code code = lap_transpose_launch("copy kernel", lap_transpose_pick(kernels, in->channels), BLOCK,
            dim3(BLOCK, BLOCK), &rows, &to, exec);
        if (code || in->height - y <= max_rows)
            return code;
    }
    return LAP_OK;
}
