/* cuda-shared4-conflict: float tile, converted once when it is loaded.
 * Since cuda-shared3: 1.6 conversions per sample instead of 25; the tile is four times as large, and the
 * number of accesses is the same.
 * Global memory: as in cuda-shared2, 4.7 bytes read and 3 written per pixel of 3 channels.
 * Shared memory: 20 rows of 60 words, 4800 bytes; a warp spans two rows. Row one uses every third bank from 0
 * to 45, and row two starts at bank 60 mod 32 = 28. Two lanes share each of four banks; that alone makes
 * every read take two passes.
 * 16x16 threads, one pixel per thread.
 * Measured: L1 96 % busy, issue slots 45, L2 18, DRAM 5; longest wait: the queue of shared memory, 18.2
 * cycles per instruction; 1.01 conflicts per shared load (4992x3744x3, H200). Kept so that the conflict can
 * be seen. */
#include "tile.cuh"

static_assert(lap_bank_ways(3, 16, 60) == 2, "the conflict that this rung is there to show");

template <int C, typename Sum>
static __global__ void __launch_bounds__(256) shared4_conflict_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<Sum> w, const __grid_constant__ lap_finish f)
{
    constexpr int PITCH = 20 * C;
    __shared__ float tile[20 * PITCH];
    lap_load_tile<C, 16, 16, PITCH>(tile, in, g);
    const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    Sum sum[C] = {};
    lap_convolve_tile<C, PITCH>(sum, tile + threadIdx.y * PITCH + threadIdx.x * C, w);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

extern "C" lap_code lap_filter_cuda_shared4_conflict(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch(
                "cuda-shared4-conflict", shared4_conflict_kernel<C, Sum>, 16, 16, in, out, params, w, exec);
        });
    });
}
