/* cuda-shared3: byte tile, converted to float at each read.
 * Since cuda-shared2: float multiply-adds, which cost a conversion for each of the 25 reads of a sample.
 * Global memory: as in cuda-shared2, 4.7 bytes read and 3 written per pixel of 3 channels.
 * Shared memory: 20 rows of 20 pixels as bytes, 1200 bytes; no conflict.
 * 16x16 threads, one pixel per thread.
 * Measured: L1 89 % busy, issue slots 88, L2 32, DRAM 8; longest wait: other warps, 8.2 cycles per
 * instruction (4992x3744x3, H200). */
#include "tile.cuh"

template <int C, typename Sum>
static __global__ void __launch_bounds__(256) shared3_kernel(const uint8_t *__restrict__ in,
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

extern "C" lap_code lap_filter_cuda_shared3(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch(
                "cuda-shared3", shared3_kernel<C, Sum>, 16, 16, in, out, params, w, exec);
        });
    });
}
