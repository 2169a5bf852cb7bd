/* cuda-global: one thread per pixel, everything from global memory.
 * Since c: the loops over the image became the grid; the loops over the window stayed.
 * Global memory: 75 bytes read per pixel (3 channels): 25 threads read each byte; 3 bytes written.
 * Shared memory: none; overlapping bytes are read again from L1. Coefficients: constant bank.
 * 16x16 threads per block (32x16 and 32x32 on request), one pixel per thread.
 * Measured: L1 93 % busy, issue slots 44, L2 14, DRAM 5; longest wait: the queue of loads, 18.5 cycles per
 * instruction (4992x3744x3, H200). */
#include "filter.cuh"

template <int C, typename Sum>
static __global__ void global_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out,
    const __grid_constant__ lap_geometry g, const __grid_constant__ lap_weights<Sum> w,
    const __grid_constant__ lap_finish f)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x),
              y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    const uint8_t *window = in + (y - LAP_APRON) * g.in_stride + (ptrdiff_t)(x - LAP_APRON) * C;
    Sum sum[C] = {};
#pragma unroll
    for (int fy = 0; fy < 5; fy++)
#pragma unroll
        for (int fx = 0; fx < 5; fx++)
#pragma unroll
            for (int c = 0; c < C; c++)
                sum[c] = lap_mad(w.h[5 * fy + fx], (Sum)(float)window[fy * g.in_stride + fx * C + c], sum[c]);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

extern "C" lap_code lap_filter_cuda_global(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    const int bx = exec->block_x > 0 ? exec->block_x : 16, by = exec->block_y > 0 ? exec->block_y : 16;
    if (bx * by > 1024)
        return lap_fail(exec->err, LAP_E_DEVICE, "a block of %dx%d threads is more than 1024", bx, by);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_filter_launch("cuda-global", global_kernel<C, Sum>, bx, by, in, out, params, w, exec);
        });
    });
}
