/* cuda-words: a thread owns four bytes of a row and walks down 64 rows; cuda-fast does the same for kernels
 * other than laplace5.
 * Since cuda-pixels: a load brings four samples instead of one. Five words hold the windows of a thread's
 * bytes. There is no tile: the rest of the overlap is read from L1, and a tile costs time even with byte
 * loads (without its tile, cuda-pixels takes 0.91 times as long). A sample is converted once for its five
 * output rows.
 * Global memory: a thread reads five words of a row (three for one channel) and writes one.
 * Shared memory: none; coefficients in the constant bank, running sums of five rows in registers.
 * 128 threads, 4 bytes times 64 rows per thread.
 * Measured: issue slots 77 % busy, L2 23, DRAM 15, L1 10; longest wait: other warps, 3.6 cycles per
 * instruction; 1.34 waves of blocks (4992x3744x3, H200). */
#include "words.cuh"

/* Converts byte k of a word to float: puts it in the low bits of 2^23, and then subtracts 2^23. A GPU has
 * more units for additions than for conversions. */
LAP_DEVICE float byte_to_float(unsigned word, int k)
{
    constexpr unsigned TWO_23 = 0x4b000000u;
    return __fadd_rn(__uint_as_float(__byte_perm(word, TWO_23, 0x7440 + (unsigned)k)), -8388608.0f);
}

template <int C, typename Sum>
struct products {
    const lap_weights<Sum> &w;
    Sum sum[5][4]; /* of row r - 2 + d in sum[(k + d) % 5] */

    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
        float samples[4 * LAP_WORDS<C>];
#pragma unroll
        for (int i = 0; i < 4 * LAP_WORDS<C>; i++)
            samples[i] = byte_to_float(words[i / 4], i % 4);
        add(samples, k);
    }

    LAP_MEMBER void add(const float (&samples)[4 * LAP_WORDS<C>], int k)
    {
#pragma unroll
        for (int b = 0; b < 4; b++)
            sum[(k + 4) % 5][b] = Sum(0.0f);
#pragma unroll
        for (int d = 0; d < 5; d++)
#pragma unroll
            for (int fx = 0; fx < 5; fx++)
#pragma unroll
                for (int b = 0; b < 4; b++)
                    sum[(k + d) % 5][b] = lap_mad(w.h[5 * (4 - d) + fx],
                        (Sum)samples[LAP_OWN<C> + b + (fx - 2) * C], sum[(k + d) % 5][b]);
    }

    LAP_MEMBER unsigned result(int k, const lap_finish &f) const
    {
        unsigned word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++)
            word |= lap_finish_sample(sum[k][b], f) << (8 * b);
        return word;
    }
};

template <int C, typename Sum>
static __global__ void __launch_bounds__(LAP_WALK_THREADS) words_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_walk g, const __grid_constant__ lap_weights<Sum> w,
    const __grid_constant__ lap_finish f)
{
    lap_walk_down<C>(products<C, Sum>{w, {}}, in, out, g, f);
}

extern "C" lap_code lap_filter_cuda_words(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_by_sum(params, [&](const auto &w) {
            typedef std::decay_t<decltype(w.h[0])> Sum; /* float or lap_rounded */
            return lap_walk_launch(
                "cuda-words", words_kernel<C, Sum>, in, out, exec, w, lap_finish_of(params));
        });
    });
}
