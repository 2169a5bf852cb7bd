/* cuda-fast: 16 bytes a thread, box sums sliding down the rows in registers; laplace5 only.
 * Since cuda-shared4: 25 * centre - box instead of 25 products; no block-wide barrier; rows are asked
 * for AHEAD before they are needed, so that what is under way holds no registers.
 * Global memory: 16-byte accesses, each byte read once, 4 rows in every ROWS twice, and 2 of 32 lanes
 * twice (they only hand their sums to the neighbours); a warp reads 512 bytes of a row, writes 480.
 * Shared memory: AHEAD rows of 16 bytes a thread, own slots only: no conflict, no barrier.
 * 128 threads, which are 4 independent warps; 16 bytes times up to ROWS rows a thread.
 * Limit: DRAM; see docs/ladder.md. */
#include <limits.h>

#include "async.cuh"
#include "sliding.cuh"

constexpr int THREADS = 128, WARP = 32, BYTES = 16; /* bytes a thread */
constexpr int STRIP = (WARP - 2) * BYTES;           /* bytes of a row that a warp writes */
constexpr int WINDOW = 5, AHEAD = 10;
/* Rows a warp: the fewest that make up for the 4 read only to begin, and the most that keep the rows
 * in work close together; few at the end of the image, so that all multiprocessors end together. */
constexpr int FEWEST = 6, MOST = 18, TAIL = 4, TAIL_PERCENT = 10;

struct plan {
    int width_bytes, readable_bytes; /* of a row: the interior; with the apron, in whole vectors */
    int height, strips;
    int chunks, rows; /* that many chunks of that many rows, then chunks of TAIL rows */
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
static __global__ void __launch_bounds__(THREADS, 5) fast_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ plan g, const __grid_constant__ lap_finish f)
{
    __shared__ uint4 slots[AHEAD][THREADS];
    const int t = (int)threadIdx.x, lane = t % WARP, warp = (int)blockIdx.x * (THREADS / WARP) + t / WARP;
    const int strip = warp % g.strips, chunk = warp / g.strips;
    const bool tail = chunk >= g.chunks, up = chunk & 1;
    const int first = tail ? g.chunks * g.rows + (chunk - g.chunks) * TAIL : chunk * g.rows;
    const int n = min(tail ? TAIL : g.rows, g.height - first);
    if (n <= 0)
        return;
    const int x = strip * STRIP + (lane - 1) * BYTES;
    const bool reads = x < g.readable_bytes;
    const int writes = lane == 0 || lane == WARP - 1 ? 0 : g.width_bytes - x; /* 16 or more: all */
    const ptrdiff_t in_step = up ? -g.in_stride : g.in_stride, out_step = up ? -g.out_stride : g.out_stride;
    const uint8_t *source = in + (up ? first + n - 1 + LAP_APRON : first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + (up ? first + n - 1 : first) * g.out_stride + x;
    int left = n + 2 * LAP_APRON, slot = 0; /* rows not yet asked for; the next one's slot */

    auto ask = [&]() {
        if (left-- > 0)
            lap_async_copy16(&slots[slot][t], source, reads);
        lap_async_commit();
        slot = slot + 1 < AHEAD ? slot + 1 : 0;
        source += in_step;
        LAP_OPAQUE(source);
    };
    auto take = [&]() { /* the oldest row; its slot goes to the newest */
        lap_async_wait<AHEAD - 1>();
        const uint4 row = slots[slot][t];
        ask();
        return row;
    };
    for (int k = 0; k < AHEAD; k++)
        ask();
    uint4 rows[WINDOW]; /* row i of the chunk in rows[i % WINDOW] */
    lap_columns v;
    lap_columns_clear(v);
#pragma unroll
    for (int k = 0; k < WINDOW - 1; k++) {
        rows[k] = take();
        lap_columns_enter(v, rows[k]);
    }
    for (int i = 0; i < n; i += WINDOW) {
#pragma unroll
        for (int k = 0; k < WINDOW; k++) {
            if (i + k >= n)
                return;
            uint4 &newest = rows[(k + 4) % WINDOW];
            newest = take();
            lap_columns_enter(v, newest);
            const uint4 result = lap_slide<C, PLAIN>(v, rows[(k + 2) % WINDOW], f);
            lap_columns_leave(v, rows[k]);
            if (writes >= BYTES)
                __stcs(reinterpret_cast<uint4 *>(target), result);
            else if (writes > 0)
                store_part(target, result, writes);
            target += out_step;
            LAP_OPAQUE(target);
        }
    }
}

/* About one warp for each that fits the device at once, within the bounds above. */
static lap_code make_plan(
    const lap_view *in, const lap_view *out, const void *kernel, plan *g, lap_error *err)
{
    int multiprocessors = 0, blocks = 0;
    lap_code code = lap_cuda_use(in->place, err);
    if (!code)
        code = LAP_CUDA(
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, in->place), err);
    if (!code)
        code = LAP_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0), err);
    if (code)
        return code;
    g->width_bytes = in->width * in->channels;
    g->readable_bytes = ((in->width + LAP_APRON) * in->channels + BYTES - 1) / BYTES * BYTES;
    g->height = in->height;
    g->strips = (g->width_bytes + STRIP - 1) / STRIP;
    g->in_stride = in->stride;
    g->out_stride = out->stride;
    const long long work = (long long)g->strips * g->height;
    const long long rows = work / max(1, multiprocessors * blocks * (THREADS / WARP)) + 1;
    g->rows = rows < FEWEST ? FEWEST : rows > MOST ? MOST : (int)rows;
    g->chunks = (int)((long long)g->height * (100 - TAIL_PERCENT) / 100 / g->rows);
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
    plan g;
    lap_code code = make_plan(in, out, (const void *)fast_kernel<C, PLAIN>, &g, exec->err);
    if (code)
        return code;
    const int tails = (g.height - g.chunks * g.rows + TAIL - 1) / TAIL;
    const long long warps = (long long)g.strips * (g.chunks + tails);
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
