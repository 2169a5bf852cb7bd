/* The two copying kernels, which are ceilings: each does everything that a transpose does, except
 * transposing. copy-kernel: launched like cuda-naive, but copies each element to its own place: the cost
 * without scattering. copy-shared: launched like cuda-shared, through its tile and its barrier: what these
 * cost alone. Global memory: each element read and written once, along rows.
 * Shared memory: none, or 16x16 elements, read as they were written: no conflict.
 * 16x16 threads, one element per thread.
 * Measured: L2, the busiest unit: floats 63 and 58 %, doubles 87 and 82, pixels 80 and 75
 * (copy-kernel and copy-shared, 4992x3744, H200). */
#include "transpose.cuh"

constexpr int BLOCK = 16;

template <typename T>
static __global__ void copy_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, x, y) = *lap_in<T>(in, g, x, y);
}

template <typename T>
static __global__ void __launch_bounds__(BLOCK *BLOCK)
    copy_shared_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g)
{
    __shared__ T tile[BLOCK][BLOCK];
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < g.width && y < g.height)
        tile[threadIdx.y][threadIdx.x] = *lap_in<T>(in, g, x, y);
    __syncthreads();
    if (x < g.width && y < g.height)
        *lap_out<T>(out, g, x, y) = tile[threadIdx.y][threadIdx.x];
}

/* Copies in as many launches as the rows need. Unlike in a transpose, each launch writes whole rows of the
 * result. */
static lap_code copy(const char *name, const lap_transpose_kernels &kernels, const lap_view *in,
    const lap_view *out, const lap_exec *exec)
{
    const int max_rows = 65535 / 128 * 128 * BLOCK;
    for (int y = 0; y < in->height; y += max_rows) {
        lap_view rows = *in, to = *out;
        rows.base += y * in->stride;
        to.base += y * out->stride;
        rows.height = to.height = in->height - y < max_rows ? in->height - y : max_rows;
        lap_code code = lap_transpose_launch(
            name, lap_transpose_pick(kernels, in->channels), BLOCK, dim3(BLOCK, BLOCK), &rows, &to, exec);
        if (code || in->height - y <= max_rows)
            return code;
    }
    return LAP_OK;
}

extern "C" lap_code lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return copy("copy-kernel",
        {copy_kernel<uint8_t>, copy_kernel<lap_rgb>, copy_kernel<uint32_t>, copy_kernel<uint2>}, in, out,
        exec);
}

extern "C" lap_code lap_cuda_copy_shared(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return copy("copy-shared",
        {copy_shared_kernel<uint8_t>, copy_shared_kernel<lap_rgb>, copy_shared_kernel<uint32_t>,
            copy_shared_kernel<uint2>},
        in, out, exec);
}
