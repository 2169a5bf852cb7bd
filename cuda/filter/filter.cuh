/* Shared by the filter rungs: parameters, the last step of a sample, and the launch.
 *
 * Coefficients are passed as kernel parameters by value. These lie in the constant bank, like a __constant__
 * symbol: one address for a whole warp costs no more than a register operand. Unlike the symbol they belong
 * to the launch, so several streams and threads cannot disturb each other. */
#ifndef LAP_CUDA_FILTER_CUH
#define LAP_CUDA_FILTER_CUH

#include <type_traits>

#include "base/kernel5x5.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/launch.cuh"

/* Minimal blocks per SM, for __launch_bounds__ of kernels that keep many sums in registers. Without it, ptxas
 * aims at more warps on these architectures than the registers allow, and spills. 0: ptxas chooses. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int LAP_LEAST_BLOCKS = 2;
#else
constexpr int LAP_LEAST_BLOCKS = 0;
#endif

template <typename Sum>
struct lap_weights {
    Sum h[25];
};

struct lap_finish {
    float scale, offset;
    int threshold; /* -1: no threshold */
    int flip;      /* 255 to invert, else 0 */
    int absolute;
};

struct lap_geometry {
    int width, height;
    ptrdiff_t in_stride, out_stride;
};

/* A float with the arithmetic of plain C: each product and each sum is rounded, in the order of the loops.
 * With it, kernels whose partial sums are not exact give the same result as the backend c, bit for bit. */
struct lap_rounded {
    float value;
    lap_rounded() = default;
    __host__ __device__ explicit lap_rounded(float v) : value(v)
    {
    }
    __device__ operator float() const
    {
        return value;
    }
};

LAP_DEVICE float lap_mad(float h, float p, float sum)
{
    return __fmaf_rn(h, p, sum); /* exact sums may be fused; only scale * o + offset must not be */
}

LAP_DEVICE lap_rounded lap_mad(lap_rounded h, lap_rounded p, lap_rounded sum)
{
    return lap_rounded(__fadd_rn(sum.value, __fmul_rn(h.value, p.value)));
}

/* Converts a sample to the type of the sums. */
template <typename Sum, typename T>
LAP_DEVICE Sum lap_to_sum(T sample)
{
    return static_cast<Sum>(sample);
}

LAP_DEVICE int lap_mad(int h, int p, int sum)
{
    return h * p + sum;
}

/* Converts o to the output byte. It is clamped before it is rounded, so that the conversion cannot overflow.
 * The result is the same in the other order, since 0 and 255 are integers. */
LAP_DEVICE unsigned lap_finish_sample(float o, const lap_finish &f)
{
    float r = __fadd_rn(__fmul_rn(f.scale, o), f.offset);
    r = f.absolute ? fabsf(r) : r;
    int v = __float2int_rn(fminf(fmaxf(r, 0.0f), 255.0f)) ^ f.flip;
    if (f.threshold >= 0)
        v = v >= f.threshold ? 255 : 0;
    return (unsigned)v;
}

template <int C, typename Sum>
LAP_DEVICE void lap_store_pixel(uint8_t *out, const Sum (&sum)[C], const lap_finish &f)
{
#pragma unroll
    for (int c = 0; c < C; c++)
        out[c] = (uint8_t)lap_finish_sample((float)sum[c], f);
}

/* ---- host side ------------------------------------------------------------------------------- */

template <int N>
struct lap_number {
    static constexpr int value = N;
};

/* Calls f(lap_number<channels>{}), because the kernels are templates over the number of channels. */
template <typename F>
static lap_code lap_by_channels(int channels, lap_error *err, F f)
{
    switch (channels) {
    case 1:
        return f(lap_number<1>{});
    case 3:
        return f(lap_number<3>{});
    case 4:
        return f(lap_number<4>{});
    default:
        return lap_fail(err, LAP_E_DEVICE, "%d channels: the filter takes 1, 3 or 4", channels);
    }
}

/* Calls f(weights) with coefficients of the type of the sums. */
template <typename F>
static lap_code lap_by_sum(const lap_params *params, F f)
{
    lap_weights<float> w;
    lap_weights<lap_rounded> rounded;
    for (int i = 0; i < 25; i++) {
        w.h[i] = params->kernel.h[i];
        rounded.h[i] = lap_rounded(params->kernel.h[i]);
    }
    return lap_kernel_is_exact(&params->kernel) ? f(w) : f(rounded);
}

static inline lap_weights<int> lap_int_weights(const lap_params *params)
{
    lap_weights<int> w;
    for (int i = 0; i < 25; i++)
        w.h[i] = params->kernel.hi[i];
    return w;
}

static inline lap_finish lap_finish_of(const lap_params *params)
{
    return {
        params->scale, params->offset, params->threshold, params->invert ? 255 : 0, params->range == LAP_ABS};
}

/* Launches a kernel in which each thread of a block of bx x by computes one pixel, or `deep` pixels, one
 * below the other. A grid has at most 65535 rows of blocks, so taller images take several launches. With
 * CUDA's own syntax a launch would be kernel<<<grid, block, 0, stream>>>(in, out, g, weights, finish). */
template <typename Sum>
static lap_code lap_filter_launch(const char *name,
    void (*kernel)(const uint8_t *, uint8_t *, lap_geometry, lap_weights<Sum>, lap_finish), int bx, int by,
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_weights<Sum> &weights,
    const lap_exec *exec, int deep = 1)
{
    const int rows = by * deep, max_rows = 65535 * rows;
    for (int y = 0; y < in->height; y += max_rows) {
        lap_geometry g = {
            in->width, in->height - y < max_rows ? in->height - y : max_rows, in->stride, out->stride};
        lap_launch launch = {in->place,
            dim3((unsigned)((g.width + bx - 1) / bx), (unsigned)((g.height + rows - 1) / rows)),
            dim3((unsigned)bx, (unsigned)by), 0, exec->stream, exec->err};
        lap_code code = lap_cuda_launch(launch, name, __FILE__, __LINE__, kernel, in->base + y * in->stride,
            out->base + y * out->stride, g, weights, lap_finish_of(params));
        if (code)
            return code;
    }
    return LAP_OK;
}

#endif
