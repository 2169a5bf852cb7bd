/* cuda-fast: 16 bytes per thread, box sums sliding down 8 rows in registers; laplace5 only.
 * Since cuda-shuffle: a warp requests all 12 rows that it needs before it uses the first.
 * Global memory: 16-byte accesses; a warp reads 12 rows of 512 bytes and writes 8 of 480. The warps of a
 * block are stacked, so the rows that two of them read come from L2 once and then from L1.
 * Shared memory: none; columns pass between lanes by shuffles, 2 of 32 lanes only pass theirs on.
 * 128 threads, which are 4 independent warps; 96 registers, so 20 warps a multiprocessor.
 * Measured: L2 82 % busy, DRAM 62, issue slots 54, L1 38; longest wait: loads, 3.9 cycles per instruction
 * (4992x3744x3, H200). */
#include "sliding.cuh"
#include "strip.cuh"
#include "words.cuh"

constexpr int THREADS = 128, WARPS = THREADS / LAP_LANES;
/* Rows that a warp writes. With fewer rows, the 4 extra rows that it reads cost more; with more rows,
 * registers run out. */
constexpr int ROWS = 8;

/* The hint fetches 128 bytes into L2 instead of 64, because neighbouring warps need the rest. */
struct load_with_hint {
    LAP_MEMBER static uint4 from(const uint8_t *p)
    {
#ifdef __CUDA_ARCH__
        uint4 v; /* volatile: a warp issues all loads before it uses the first */
        asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p));
        return v;
#else
        return __ldg(reinterpret_cast<const uint4 *>(p));
#endif
    }
};

/* The kernel. Its registers are limited so that 5 blocks fit on an SM; or 4, if the last step of a sample is
 * more than a clamp and needs more registers. DOWN and Load: tests/gpu/controls.cu tries other values. */
template <int C, lap_last LAST, int DOWN = ROWS, typename Load = load_with_hint>
static __global__ void __launch_bounds__(THREADS, LAST == LAP_LAST_CLAMP && DOWN <= ROWS ? 5 : 4)
    fast_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out,
        const __grid_constant__ lap_strips g, const __grid_constant__ lap_finish f)
{
    const int lane = (int)threadIdx.x % LAP_LANES, warp = (int)threadIdx.x / LAP_LANES;
    const int strip = (int)blockIdx.x % g.strips, first = ((int)blockIdx.x / g.strips * WARPS + warp) * DOWN;
    const int n = min(DOWN, g.height - first);
    if (n <= 0)
        return;
    const int x = strip * LAP_STRIP + (lane - 1) * LAP_LANE_BYTES;
    const bool reads = x < g.readable_bytes;
    const int writes = lane == 0 || lane == LAP_LANES - 1 ? 0 : g.width_bytes - x; /* 16 or more: all */
    const uint8_t *source = in + (first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + first * g.out_stride + x;

    uint4 rows[DOWN + 2 * LAP_APRON];
#pragma unroll
    for (int k = 0; k < DOWN + 2 * LAP_APRON; k++)
        rows[k] =
            reads && k < n + 2 * LAP_APRON ? Load::from(source + k * g.in_stride) : make_uint4(0, 0, 0, 0);
    lap_columns v;
    lap_columns_clear(v);
#pragma unroll
    for (int k = 0; k < 2 * LAP_APRON; k++)
        lap_columns_enter(v, rows[k]);
#pragma unroll
    for (int k = 0; k < DOWN; k++) {
        if (k >= n)
            return;
        lap_columns_enter(v, rows[k + 2 * LAP_APRON]);
        const uint4 result = lap_slide<C, LAST>(v, rows[k + LAP_APRON], f);
        lap_columns_leave(v, rows[k]);
        lap_store_lane(target, result, writes);
        target += g.out_stride;
    }
}

template <int C, lap_last LAST, int DOWN = ROWS, typename Load = load_with_hint>
static lap_code launch_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    const lap_strips g = lap_strips_of(in, out);
    const long long stacks = (in->height + WARPS * DOWN - 1) / (WARPS * DOWN);
    const lap_launch launch = {
        in->place, dim3((unsigned)(g.strips * stacks)), dim3(THREADS), 0, exec->stream, exec->err};
    return LAP_LAUNCH(
        launch, (fast_kernel<C, LAST, DOWN, Load>), in->base, out->base, g, lap_finish_of(params));
}

extern "C" lap_code lap_filter_cuda_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = lap_filter_needs("cuda-fast", LAP_LANE_BYTES, in, out, exec);
    if (code)
        return code;
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_words(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        switch (lap_last_of(params)) {
        case LAP_LAST_CLAMP:
            return launch_fast<C, LAP_LAST_CLAMP>(in, out, params, exec);
        case LAP_LAST_ABS:
            return launch_fast<C, LAP_LAST_ABS>(in, out, params, exec);
        default:
            return launch_fast<C, LAP_LAST_FLOAT>(in, out, params, exec);
        }
    });
}
