/* cuda-shared2: the block's pixels and apron as bytes in shared memory, integer arithmetic.
 * Since cuda-global: each byte is read from global memory once per block, not once per window.
 * Global memory: 400 pixels read for 256 (4.7 bytes per pixel of 3 channels), 3 bytes written.
 * Shared memory: 20 rows of 20 pixels, 1200 bytes; one or two lanes read bytes of the same word, which is
 * no conflict.
 * 16x16 threads, one pixel per thread; 240 of them load 5 bytes each.
 * Measured: L1 91 % busy, issue slots 74, L2 31, DRAM 8; longest wait: other warps, 6.9 cycles per
 * instruction (4992x3744x3, H200). */
#include "tile.cuh"

template <int C, typename Sum>
static __global__ void __launch_bounds__(256) shared2_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<Sum> w, const __grid_constant__ lap_finish f)
{
    constexpr int PITCH = 20 * C;
    __shared__ uint8_t tile[20 * PITCH];
    lap_load_tile<C, 16, 16, PITCH>(tile, in, g);
    const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    Sum sum[C] = {};
    lap_convolve_tile<C, PITCH>(sum, tile + threadIdx.y * PITCH + threadIdx.x * C, w);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

/* If integer sums are not exact, the next rung's float form is used. */
extern "C" lap_code lap_filter_cuda_shared2(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        if (params->kernel.is_integer && lap_kernel_is_exact(&params->kernel))
            return lap_filter_launch("cuda-shared2", shared2_kernel<C, int>, 16, 16, in, out, params,
                lap_int_weights(params), exec);
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch(
                "cuda-shared2", shared2_kernel<C, Sum>, 16, 16, in, out, params, w, exec);
        });
    });
}
