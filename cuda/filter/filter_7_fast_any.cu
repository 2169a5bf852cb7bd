/* cuda-fast for kernels other than laplace5: 4 bytes per thread, 25 float products per sample.
 * Since cuda-shared4: a sample is read and converted once for its five output rows, not 25 times.
 * Global memory: words, five of a row per thread; the overlap with the neighbours comes from L1.
 * Shared memory: none; coefficients in the constant bank, running sums of five rows in registers.
 * 128 threads, 4 bytes times 64 rows per thread.
 * Limit: float multiply-adds. */
#include "filter.cuh"

constexpr int THREADS = 128, MIN_ROWS = 64;

struct plan {
    int width_bytes, readable_bytes, height, rows;
    ptrdiff_t in_stride, out_stride;
};

/* Byte k of a word as a float: into the low bits of 2^23, which is then taken away; faster than the
 * conversion instruction, which runs at an eighth of the rate of an addition. */
template <int K>
LAP_DEVICE float byte_to_float(unsigned word)
{
    constexpr unsigned TWO_23 = 0x4b000000u;
    return __fadd_rn(__uint_as_float(__byte_perm(word, TWO_23, 0x7440 + K)), -8388608.0f);
}

/* Bytes -2C .. 3+2C around the word at p, in whole words. */
template <int C, int WORDS>
LAP_DEVICE void read_row(float (&samples)[4 * WORDS], const uint8_t *p, int x, int readable)
{
    constexpr int REACH = WORDS / 2;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        const int at = 4 * (j - REACH);
        const unsigned word = x + at < readable ? __ldg(reinterpret_cast<const unsigned *>(p + at)) : 0;
        samples[4 * j] = byte_to_float<0>(word);
        samples[4 * j + 1] = byte_to_float<1>(word);
        samples[4 * j + 2] = byte_to_float<2>(word);
        samples[4 * j + 3] = byte_to_float<3>(word);
    }
}

LAP_DEVICE void store_word(uint8_t *p, unsigned word, int bytes)
{
    if (bytes >= 4)
        *reinterpret_cast<unsigned *>(p) = word;
    else
        for (int k = 0; k < bytes; k++, word >>= 8)
            p[k] = (uint8_t)word;
}

template <int C, typename Sum>
static __global__ void __launch_bounds__(THREADS)
    any_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, const __grid_constant__ plan g,
        const __grid_constant__ lap_weights<Sum> w, const __grid_constant__ lap_finish f)
{
    constexpr int WORDS = C == 1 ? 3 : 5, CENTRE = 4 * (WORDS / 2);
    const int x = 4 * (int)(blockIdx.x * THREADS + threadIdx.x), first = (int)blockIdx.y * g.rows;
    const int end = min(first + g.rows, g.height) + LAP_APRON;
    if (x >= g.width_bytes)
        return;
    Sum sum[5][4] = {};
    float samples[4 * WORDS]; /* of row r - 2 + d in sum[(k + d) % 5] */
    const uint8_t *source = in + (first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + (first - 2 * LAP_APRON) * g.out_stride + x;
    for (int r = first - LAP_APRON; r < end; r += 5) {
#pragma unroll
        for (int k = 0; k < 5; k++) {
            if (r + k >= end)
                return;
            read_row<C, WORDS>(samples, source, x, g.readable_bytes);
#pragma unroll
            for (int d = 0; d < 5; d++)
#pragma unroll
                for (int fx = 0; fx < 5; fx++)
#pragma unroll
                    for (int b = 0; b < 4; b++)
                        sum[(k + d) % 5][b] = lap_mad(w.h[5 * (4 - d) + fx],
                            (Sum)samples[CENTRE + b + (fx - 2) * C], sum[(k + d) % 5][b]);
            if (r + k >= first + LAP_APRON) { /* row r + k - 2 has met its five */
                unsigned word = 0;
#pragma unroll
                for (int b = 0; b < 4; b++)
                    word |= lap_finish_sample(sum[k][b], f) << (8 * b);
                store_word(target, word, g.width_bytes - x);
            }
#pragma unroll
            for (int b = 0; b < 4; b++)
                sum[k][b] = Sum(0.0f);
            source += g.in_stride;
            target += g.out_stride;
        }
    }
}

extern "C" lap_code lap_filter_cuda_fast_any(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        plan g = {in->width * C, (in->width + LAP_APRON) * C, in->height, 0, in->stride, out->stride};
        g.rows = max(MIN_ROWS, (in->height + 65534) / 65535); /* a grid has at most 65535 rows */
        const lap_launch launch = {in->place,
            dim3((unsigned)((g.width_bytes + 4 * THREADS - 1) / (4 * THREADS)),
                (unsigned)((g.height + g.rows - 1) / g.rows)),
            dim3(THREADS), 0, exec->stream, exec->err};
        return lap_by_sum(params, [&](const auto &w) {
            typedef typename lap_sum_of<std::decay_t<decltype(w)>>::type Sum;
            return LAP_LAUNCH(launch, (any_kernel<C, Sum>), in->base, out->base, g, w, lap_finish_of(params));
        });
    });
}
