/* cuda-shared4-wide: float tile, 32x8 threads, so that a warp reads one row of the tile.
 * Since cuda-shared4-pad: the shape of the block replaces the padding; reads within one row never conflict.
 * Global memory: 36 * 12 pixels read for 256 (5.1 bytes per pixel of 3 channels), 3 bytes written.
 * Shared memory: 12 rows of 108 words, 5184 bytes; lane k reads word 3k: 32 lanes, 32 banks.
 * 32x8 threads, one pixel per thread. The flatter tile has 176 pixels of apron; the tile of 16x16 threads
 * has 144.
 * Measured: L1 91 % busy, issue slots 79, L2 30, DRAM 9; longest wait: other warps, 6.6 cycles per
 * instruction (4992x3744x3, H200). */
#include "tile.cuh"

static_assert(lap_bank_ways(3, 32, 108) == 1 && lap_bank_ways(1, 32, 36) == 1, "one row, no conflict");

template <int C, typename Sum>
static __global__ void __launch_bounds__(256) shared4_wide_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<Sum> w, const __grid_constant__ lap_finish f)
{
    constexpr int PITCH = 36 * C;
    __shared__ float tile[12 * PITCH];
    lap_load_tile<C, 32, 8, PITCH>(tile, in, g);
    const int x = (int)(blockIdx.x * 32 + threadIdx.x), y = (int)(blockIdx.y * 8 + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    Sum sum[C] = {};
    lap_convolve_tile<C, PITCH>(sum, tile + threadIdx.y * PITCH + threadIdx.x * C, w);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

extern "C" lap_code lap_filter_cuda_shared4_wide(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch(
                "cuda-shared4-wide", shared4_wide_kernel<C, Sum>, 32, 8, in, out, params, w, exec);
        });
    });
}
