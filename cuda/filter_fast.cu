/* cuda-fast: 16 bytes a thread, box sums sliding down the rows in registers; laplace5 only.
 * Since cuda-shared4: 25 * centre - box instead of 25 products; no block-wide barrier; rows are asked
 * for RING - 5 ahead, straight into shared memory, so that what is under way holds no registers.
 * Global memory: each byte read once, 4 rows in ROWS twice, and 2 of 32 lanes twice (they only hand
 * their sums to the neighbours); 16-byte accesses; a warp reads 512 bytes of a row and writes 480.
 * Shared memory: RING rows of 16 bytes a thread, each thread in its own slots: 16 lanes of 16 bytes
 * in a row, no conflict, no barrier.
 * 128 threads in 4 independent warps, 16 bytes times ROWS rows a thread.
 * Limit: DRAM; see docs/ladder.md. */
#include <cuda_pipeline.h>
#include <limits.h>

#include "sliding.cuh"

constexpr int THREADS = 128, WARP = 32, BYTES = 16; /* bytes a thread */
constexpr int STRIP = (WARP - 2) * BYTES;           /* bytes of a row that a warp writes */
constexpr int RING = 8;                             /* five rows of the window and three under way */
static_assert((RING & (RING - 1)) == 0 && RING > 5, "slots are found with a mask");

struct plan {
    int width_bytes, readable_bytes; /* of a row: the interior; with the apron, in whole vectors */
    int height, strips, rows;        /* rows a warp */
    ptrdiff_t in_stride, out_stride;
};

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

/* Neighbouring warps go through their rows in opposite directions, so that both are at their common
 * edge at the same time and the rows that both read come from DRAM once: the filter does not care. */
template <int C, bool PLAIN>
static __global__ void __launch_bounds__(THREADS) fast_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ plan g, const __grid_constant__ lap_finish f)
{
    __shared__ uint4 ring[RING][THREADS];
    const int t = (int)threadIdx.x, lane = t % WARP, warp = (int)blockIdx.x * (THREADS / WARP) + t / WARP;
    const int strip = warp % g.strips, chunk = warp / g.strips;
    const int first = chunk * g.rows, n = min(g.rows, g.height - first), last = n + 2 * LAP_APRON;
    if (n <= 0)
        return;
    const bool up = chunk & 1;
    const int x = strip * STRIP + (lane - 1) * BYTES;
    const bool reads = x < g.readable_bytes;
    const int writes = lane == 0 || lane == WARP - 1 ? 0 : g.width_bytes - x; /* 16 or more: all */
    const ptrdiff_t in_step = up ? -g.in_stride : g.in_stride, out_step = up ? -g.out_stride : g.out_stride;
    const uint8_t *source = in + (up ? first + n + 1 : first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + (up ? first + n - 1 : first) * g.out_stride + x;

    auto ask = [&](int row) { /* in order: row 0, 1, 2... */
        if (row < last && reads)
            __pipeline_memcpy_async(&ring[row & (RING - 1)][t], source, BYTES);
        __pipeline_commit();
        source += in_step;
    };
    for (int k = 0; k < RING; k++)
        ring[k][t] = make_uint4(0, 0, 0, 0); /* what is not read must still be defined */
    for (int k = 0; k < RING; k++)
        ask(k);
    lap_columns v;
    lap_columns_clear(v);
    __pipeline_wait_prior(RING - 4);
    for (int k = 0; k < 4; k++)
        lap_columns_enter(v, ring[k][t]);
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        __pipeline_wait_prior(RING - 5);
        lap_columns_enter(v, ring[(i + 4) & (RING - 1)][t]);
        const uint4 result = lap_slide<C, PLAIN>(v, ring[(i + 2) & (RING - 1)][t], f);
        lap_columns_leave(v, ring[i & (RING - 1)][t]);
        ask(i + RING);
        if (writes >= BYTES)
            __stcs(reinterpret_cast<uint4 *>(target), result);
        else if (writes > 0)
            store_part(target, result, writes);
        target += out_step;
    }
}

/* Rows a warp: as many as let all warps run at once, but enough to make up for the 4 that are read
 * only to begin. */
static lap_code plan_rows(int device, const void *kernel, plan *g, lap_error *err)
{
    constexpr int FEWEST = 16;
    int multiprocessors = 0, blocks = 0;
    lap_code code =
        LAP_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), err);
    if (!code)
        code = LAP_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0), err);
    if (code)
        return code;
    const int warps = multiprocessors * blocks * (THREADS / WARP), chunks = max(1, warps / g->strips);
    g->rows = max(FEWEST, (g->height + chunks - 1) / chunks);
    return LAP_OK;
}

static bool is_plain(const lap_params *p)
{
    return p->range == LAP_CLAMP && p->scale == 1 && p->offset == 0 && !p->invert && p->threshold < 0;
}

template <int C, bool PLAIN>
static lap_code launch_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    plan g = {in->width * C, ((in->width + LAP_APRON) * C + BYTES - 1) / BYTES * BYTES, in->height, 0, 0,
        in->stride, out->stride};
    g.strips = (g.width_bytes + STRIP - 1) / STRIP;
    lap_code code = lap_cuda_use(in->place, exec->err);
    if (!code)
        code = plan_rows(in->place, (const void *)fast_kernel<C, PLAIN>, &g, exec->err);
    if (code)
        return code;
    const long long warps = (long long)g.strips * ((g.height + g.rows - 1) / g.rows);
    const lap_launch launch = {in->place, dim3((unsigned)((warps * WARP + THREADS - 1) / THREADS)),
        dim3(THREADS), 0, exec->stream, exec->err};
    return LAP_LAUNCH(launch, (fast_kernel<C, PLAIN>), in->base, out->base, g, lap_finish_of(params));
}

extern "C" lap_code lap_filter_cuda_fast(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (in->width > INT_MAX / 4 - 4 * STRIP)
        return lap_fail(exec->err, LAP_E_DEVICE, "rows of %d pixels are too long for cuda-fast", in->width);
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_fast_any(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return is_plain(params) ? launch_fast<C, true>(in, out, params, exec)
                                : launch_fast<C, false>(in, out, params, exec);
    });
}
