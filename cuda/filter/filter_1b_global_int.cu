/* cuda-global-int: one thread per pixel, everything from global memory, integer arithmetic.
 * Since cuda-global: integer sums, as in the lab sheet's first kernel; the 75 samples are not converted
 * to float.
 * Global memory: as in cuda-global, 75 bytes read per pixel (3 channels), 3 written.
 * Shared memory: none.
 * 16x16 threads, one pixel per thread.
 * Measured: L1 94 % busy, issue slots 34, L2 15, DRAM 5; longest wait: the queue of loads, 25.6 cycles per
 * instruction (4992x3744x3, H200). */
#include "filter.cuh"

template <int C>
static __global__ void __launch_bounds__(256) global_int_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<int> w, const __grid_constant__ lap_finish f)
{
    const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
    if (x >= g.width || y >= g.height)
        return;
    const uint8_t *window = in + (y - LAP_APRON) * g.in_stride + (ptrdiff_t)(x - LAP_APRON) * C;
    int sum[C] = {};
#pragma unroll
    for (int fy = 0; fy < 5; fy++)
#pragma unroll
        for (int fx = 0; fx < 5; fx++)
#pragma unroll
            for (int c = 0; c < C; c++)
                sum[c] = lap_mad(w.h[5 * fy + fx], (int)window[fy * g.in_stride + fx * C + c], sum[c]);
    lap_store_pixel<C>(out + y * g.out_stride + (ptrdiff_t)x * C, sum, f);
}

/* If integer sums are not exact, the float form is used. */
extern "C" lap_code lap_filter_cuda_global_int(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (!params->kernel.is_integer || !lap_kernel_is_exact(&params->kernel))
        return lap_filter_cuda_global(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        return lap_filter_launch("cuda-global-int", global_int_kernel<decltype(c)::value>, 16, 16, in, out,
            params, lap_int_weights(params), exec);
    });
}
