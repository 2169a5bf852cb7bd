/* cuda-fast: 16 bytes per thread, box sums sliding down 8 rows in registers; laplace5 only.
 * Since cuda-shared4: 25 * centre - box instead of 25 products; no shared memory, no barrier; all 12
 * rows that a warp needs are asked for before it looks at the first.
 * Global memory: 16-byte accesses; a warp reads 12 rows of 512 bytes and writes 8 of 480. The warps of
 * a block are stacked, so the rows that two of them read come from L2 once and then from L1.
 * Shared memory: none; columns pass between lanes by shuffles, 2 of 32 lanes only hand theirs on.
 * 128 threads, which are 4 independent warps; 96 registers, so 20 warps a multiprocessor.
 * Limit: the memory system; see docs/ladder.md. */
#include <limits.h>

#include "sliding.cuh"

constexpr int THREADS = 128, WARP = 32, WARPS = THREADS / WARP;
constexpr int BYTES = 16;                 /* of a row, a thread */
constexpr int STRIP = (WARP - 2) * BYTES; /* of a row, that a warp writes */
/* Rows that a warp writes. Fewer: the 4 that it reads besides weigh more; more: too few registers. */
constexpr int ROWS = 8;
constexpr int WINDOW = ROWS + 2 * LAP_APRON;

struct plan {
    int width_bytes, readable_bytes; /* of a row: the interior; with the apron, in whole vectors */
    int height, strips;
    ptrdiff_t in_stride, out_stride;
};

/* The hint fetches 128 bytes into L2 where 64 would do: the neighbours want the rest. */
LAP_DEVICE uint4 load(const uint8_t *p)
{
#ifdef __CUDA_ARCH__
    uint4 v; /* volatile: all loads of a warp go out before the first of them is used */
    asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
#else
    return __ldg(reinterpret_cast<const uint4 *>(p));
#endif
}

/* The first n of 16 bytes; p is on a 16-byte boundary. */
LAP_DEVICE void store_part(uint8_t *p, uint4 v, int n)
{
    if (n & 8) {
        *reinterpret_cast<uint2 *>(p) = make_uint2(v.x, v.y);
        v.x = v.z;
        v.y = v.w;
        p += 8;
    }
    if (n & 4) {
        *reinterpret_cast<unsigned *>(p) = v.x;
        v.x = v.y;
        p += 4;
    }
    if (n & 2) {
        *reinterpret_cast<uint16_t *>(p) = (uint16_t)v.x;
        v.x >>= 16;
        p += 2;
    }
    if (n & 1)
        *p = (uint8_t)v.x;
}

/* A last step of a sample that is more than a clamp takes registers of its own. */
template <int C, lap_last LAST>
static __global__ void __launch_bounds__(THREADS, LAST == LAP_LAST_CLAMP ? 5 : 4)
    fast_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, const __grid_constant__ plan g,
        const __grid_constant__ lap_finish f)
{
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int strip = (int)blockIdx.x % g.strips, first = ((int)blockIdx.x / g.strips * WARPS + warp) * ROWS;
    const int n = min(ROWS, g.height - first);
    if (n <= 0)
        return;
    const int x = strip * STRIP + (lane - 1) * BYTES;
    const bool reads = x < g.readable_bytes;
    const int writes = lane == 0 || lane == WARP - 1 ? 0 : g.width_bytes - x; /* 16 or more: all */
    const uint8_t *source = in + (first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + first * g.out_stride + x;

    uint4 rows[WINDOW];
#pragma unroll
    for (int k = 0; k < WINDOW; k++)
        rows[k] = reads && k < n + 2 * LAP_APRON ? load(source + k * g.in_stride) : make_uint4(0, 0, 0, 0);
    lap_columns v;
    lap_columns_clear(v);
#pragma unroll
    for (int k = 0; k < 2 * LAP_APRON; k++)
        lap_columns_enter(v, rows[k]);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (k >= n)
            return;
        lap_columns_enter(v, rows[k + 2 * LAP_APRON]);
        const uint4 result = lap_slide<C, LAST>(v, rows[k + LAP_APRON], f);
        lap_columns_leave(v, rows[k]);
        if (writes >= BYTES)
            *reinterpret_cast<uint4 *>(target) = result;
        else if (writes > 0)
            store_part(target, result, writes);
        target += g.out_stride;
    }
}

static lap_last last_step(const lap_params *p)
{
    if (p->scale != 1 || p->offset != 0 || p->invert || p->threshold >= 0)
        return LAP_LAST_FLOAT;
    return p->range == LAP_ABS ? LAP_LAST_ABS : LAP_LAST_CLAMP;
}

template <int C, lap_last LAST>
static lap_code launch_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    plan g;
    g.width_bytes = in->width * in->channels;
    g.readable_bytes = ((in->width + LAP_APRON) * in->channels + BYTES - 1) / BYTES * BYTES;
    g.height = in->height;
    g.strips = (g.width_bytes + STRIP - 1) / STRIP;
    g.in_stride = in->stride;
    g.out_stride = out->stride;
    const long long stacks = (in->height + WARPS * ROWS - 1) / (WARPS * ROWS);
    const lap_launch launch = {
        in->place, dim3((unsigned)(g.strips * stacks)), dim3(THREADS), 0, exec->stream, exec->err};
    return LAP_LAUNCH(launch, (fast_kernel<C, LAST>), in->base, out->base, g, lap_finish_of(params));
}

static bool is_aligned(const lap_view *view)
{
    return ((uintptr_t)view->base | (uintptr_t)view->stride) % BYTES == 0;
}

extern "C" lap_code lap_filter_cuda_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (in->width > INT_MAX / 4 - 4 * STRIP)
        return lap_fail(exec->err, LAP_E_DEVICE, "rows of %d pixels are too long for cuda-fast", in->width);
    if (in->apron < LAP_APRON)
        return lap_fail(exec->err, LAP_E_DEVICE,
            "cuda-fast reads an apron of %d pixels, and this view has %d", LAP_APRON, in->apron);
    if (!is_aligned(in) || !is_aligned(out))
        return lap_fail(
            exec->err, LAP_E_DEVICE, "cuda-fast needs rows that start on multiples of %d bytes", BYTES);
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_fast_any(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        switch (last_step(params)) {
        case LAP_LAST_CLAMP:
            return launch_fast<C, LAP_LAST_CLAMP>(in, out, params, exec);
        case LAP_LAST_ABS:
            return launch_fast<C, LAP_LAST_ABS>(in, out, params, exec);
        default:
            return launch_fast<C, LAP_LAST_FLOAT>(in, out, params, exec);
        }
    });
}
