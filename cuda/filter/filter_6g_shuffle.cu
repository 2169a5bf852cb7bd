/* cuda-shuffle: 16 bytes per thread; sums of columns come from the neighbours by shuffles; laplace5 only.
 * Since cuda-pairs: a thread loads only its own bytes, in one access, and adds columns first. The sums of the
 * columns on either side come from its neighbours in the warp, which have just computed them. The two changes
 * need each other: with 4 bytes per thread most of a window lies two threads away.
 * Global memory: 16-byte accesses; a warp reads 512 bytes of a row to write 480, and reads 20 rows to
 * write 16.
 * Shared memory: none; 2 of 32 lanes only pass their columns on.
 * 128 threads, which are 4 independent warps, one below the other; 16 bytes times 16 rows per thread.
 * Measured: L2 62 % busy, DRAM 43, issue slots 36, L1 21; longest wait: loads, 9.1 cycles per instruction
 * (4992x3744x3, H200). */
#include "sliding.cuh"
#include "strip.cuh"
#include "words.cuh"

constexpr int THREADS = 128, WARPS = THREADS / LAP_LANES;
constexpr int ROWS = 16; /* per warp; as many warps as with 4 bytes and 64 rows per thread */

template <int C, lap_last LAST, int DOWN = ROWS> /* the controls of tests/kernels/gpu try other values */
static __global__ void __launch_bounds__(THREADS, 4) shuffle_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_strips g, const __grid_constant__ lap_finish f)
{
    const int lane = (int)threadIdx.x % LAP_LANES, warp = (int)threadIdx.x / LAP_LANES;
    const int strip = (int)blockIdx.x % g.strips;
    const int first = ((int)blockIdx.x / g.strips * WARPS + warp) * DOWN;
    const int n = min(DOWN, g.height - first), x = strip * LAP_STRIP + (lane - 1) * LAP_LANE_BYTES;
    const int writes = lane == 0 || lane == LAP_LANES - 1 ? 0 : g.width_bytes - x;
    if (n <= 0)
        return;
    const uint8_t *source = in + (first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + (first - 2 * LAP_APRON) * g.out_stride + x;
    uint4 rows[5] = {};
    lap_columns v;
    lap_columns_clear(v);
    for (int r = 0; r < n + 2 * LAP_APRON; r += 5) {
#pragma unroll
        for (int k = 0; k < 5; k++) {
            if (r + k >= n + 2 * LAP_APRON) /* the same for all lanes of a warp */
                return;
            lap_columns_leave(v, rows[k]);
            rows[k] = x < g.readable_bytes ? __ldg(reinterpret_cast<const uint4 *>(source))
                                           : make_uint4(0, 0, 0, 0);
            lap_columns_enter(v, rows[k]);
            if (r + k >= 2 * LAP_APRON)
                lap_store_lane(target, lap_slide<C, LAST>(v, rows[(k + 3) % 5], f), writes);
            source += g.in_stride;
            target += g.out_stride;
        }
    }
}

extern "C" lap_code lap_filter_cuda_shuffle(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_words(in, out, params, exec);
    lap_code code = lap_filter_needs("cuda-shuffle", LAP_LANE_BYTES, in, out, exec);
    if (code)
        return code;
    const lap_strips g = lap_strips_of(in, out);
    const long long stacks = (in->height + WARPS * ROWS - 1) / (WARPS * ROWS);
    const lap_launch launch = {
        in->place, dim3((unsigned)(g.strips * stacks)), dim3(THREADS), 0, exec->stream, exec->err};
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_cuda_launch(launch, "cuda-shuffle", __FILE__, __LINE__,
            lap_last_of(params) == LAP_LAST_CLAMP ? shuffle_kernel<C, LAP_LAST_CLAMP>
                                                  : shuffle_kernel<C, LAP_LAST_FLOAT>,
            in->base, out->base, g, lap_finish_of(params));
    });
}
