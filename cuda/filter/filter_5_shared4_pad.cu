/* cuda-shared4-pad: float tile, rows padded so that a warp's 32 reads hit 32 banks.
 * Since cuda-shared4-conflict: only the pitch of the tile is different.
 * Global memory: as in cuda-shared2, 4.7 bytes read and 3 written per pixel of 3 channels.
 * Shared memory: 20 rows of 80 words, 6400 bytes. Lane k of a row reads word 3k, and lane 16 is the first
 * of the next row. To avoid a conflict, lane 16 needs bank 16, the bank of word 3 * 16 = 48. With rows of
 * 80 words it gets bank 16; with rows of 65 words, as in the lab sheet, bank 1.
 * 16x16 threads, one pixel per thread.
 * Measured: L1 91 % busy, issue slots 74, L2 31, DRAM 8; longest wait: other warps, 7.1 cycles per
 * instruction; 0.01 conflicts per shared load (4992x3744x3, H200). */
#include "tile.cuh"

/* 1 channel: the next row must continue at bank 16, so rows have 48 words. 4 channels: the compiler reads
 * a pixel as one 16-byte word, eight lanes at a time and all in one row: no conflict, if pixels are
 * aligned to 16 bytes. */
template <int C>
constexpr int PADDED = C == 1 ? 48 : 80;

static_assert(lap_bank_ways(3, 16, 65) > 1, "the lab sheet's padding still conflicts");
static_assert(lap_bank_ways(3, 16, PADDED<3>) == 1, "no conflict with 3 channels");
static_assert(lap_bank_ways(1, 16, PADDED<1>) == 1, "no conflict with 1 channel");
static_assert(PADDED<4> % 4 == 0, "pixels of 4 channels on 16 bytes");

template <int C, typename Sum>
static __global__ void __launch_bounds__(256) shared4_pad_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<Sum> w, const __grid_constant__ lap_finish f)
{
    constexpr int PITCH = PADDED<C>;
    __shared__ float tile[20 * PITCH];
    lap_load_tile<C, 16, 16, PITCH>(tile, in, g);
    const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    Sum sum[C] = {};
    lap_convolve_tile<C, PITCH>(sum, tile + threadIdx.y * PITCH + threadIdx.x * C, w);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

extern "C" lap_code lap_filter_cuda_shared4_pad(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch(
                "cuda-shared4-pad", shared4_pad_kernel<C, Sum>, 16, 16, in, out, params, w, exec);
        });
    });
}
