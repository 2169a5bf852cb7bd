/* cuda-fast: 16 bytes per thread, box sums sliding down 8 rows in registers; laplace5 only.
 * Since cuda-shuffle: a warp requests all 12 rows that it needs before it uses the first.
 * Global memory: 16-byte accesses; a warp reads 12 rows of 512 bytes and writes 8 of 480. The warps of a
 * block are stacked, so the rows that two of them read come from L2 once and then from L1.
 * Shared memory: none; columns pass between lanes by shuffles; 2 of 32 lanes only pass on their columns.
 * 128 threads, which are 4 independent warps; 96 registers, so 20 warps per multiprocessor.
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

/* DOWN and Load: tests/kernels/gpu/controls.cu tries other values. */
template <int C, lap_last LAST, int DOWN, typename Load>
LAP_DEVICE void fast(
    const uint8_t *__restrict__ in, uint8_t *__restrict__ out, const lap_strips &g, const lap_finish &f)
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

/* The kernel. Its registers are limited so that 5 blocks fit on an SM, or 4 if the last step of a sample
 * is more than a clamp and needs more registers. */
template <int C, lap_last LAST, int DOWN = ROWS, typename Load = load_with_hint>
static __global__ void __launch_bounds__(THREADS, LAST == LAP_LAST_CLAMP && DOWN <= ROWS ? 5 : 4)
    fast_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out,
        const __grid_constant__ lap_strips g, const __grid_constant__ lap_finish f)
{
    fast<C, LAST, DOWN, Load>(in, out, g, f);
}

/* The same for a batch: processes its pictures that have C channels. */
template <int C, lap_last LAST>
static __global__ void __launch_bounds__(THREADS, 4)
    fast_many_kernel(const lap_view_pair *pairs, const __grid_constant__ lap_finish f)
{
    const lap_view_pair &pair = pairs[blockIdx.y];
    const lap_strips g = lap_strips_of(&pair.in, &pair.out);
    if (pair.in.channels == C)
        fast<C, LAST, ROWS, load_with_hint>(pair.in.base, pair.out.base, g, f);
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

template <int C, lap_last LAST>
static lap_code launch_many(const lap_view_pairs *pairs, const lap_params *params, const lap_exec *exec)
{
    long long most = 0;
    for (int i = 0; i < pairs->count; i++) {
        const lap_view_pair *pair = &pairs->rows[i];
        const long long stacks = (pair->in.height + WARPS * ROWS - 1) / (WARPS * ROWS),
                        blocks = lap_strips_of(&pair->in, &pair->out).strips * stacks;
        most = pair->in.channels == C && blocks > most ? blocks : most;
    }
    const lap_launch launch = {pairs->rows->in.place, dim3((unsigned)most, (unsigned)pairs->count),
        dim3(THREADS), 0, exec->stream, exec->err};
    return most == 0 ? LAP_OK
                     : LAP_LAUNCH(launch, (fast_many_kernel<C, LAST>), (const lap_view_pair *)pairs->there,
                           lap_finish_of(params));
}

/* Calls f(lap_number<the last step>{}). */
template <typename F>
static lap_code by_last(const lap_params *params, F f)
{
    switch (lap_last_of(params)) {
    case LAP_LAST_CLAMP:
        return f(lap_number<LAP_LAST_CLAMP>{});
    case LAP_LAST_ABS:
        return f(lap_number<LAP_LAST_ABS>{});
    default:
        return f(lap_number<LAP_LAST_FLOAT>{});
    }
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
        return by_last(params, [&](auto last) {
            return launch_fast<decltype(c)::value, (lap_last) decltype(last)::value>(in, out, params, exec);
        });
    });
}

extern "C" lap_code lap_filter_cuda_fast_many(
    const lap_view_pairs *pairs, lap_border border, const lap_params *params, const lap_exec *exec)
{
    lap_code code = lap_cuda_copy(pairs->rows->in.place, pairs->there, pairs->rows,
        (size_t)pairs->count * sizeof(lap_view_pair), exec->stream, exec->err);
    if (!code)
        code = lap_cuda_border_many(pairs, border, exec->stream, exec->err);
    for (int i = 0; i < pairs->count && !code; i++) {
        const lap_view_pair *pair = &pairs->rows[i];
        code = params->kernel.is_laplace5
                   ? lap_filter_needs("cuda-fast", LAP_LANE_BYTES, &pair->in, &pair->out, exec)
                   : lap_filter_cuda_words(&pair->in, &pair->out, params, exec);
    }
    for (int channels = 1; channels <= 4 && !code && params->kernel.is_laplace5; channels++)
        if (channels != 2)
            code = lap_by_channels(channels, exec->err, [&](auto c) {
                return by_last(params, [&](auto last) {
                    return launch_many<decltype(c)::value, (lap_last) decltype(last)::value>(
                        pairs, params, exec);
                });
            });
    return code;
}
