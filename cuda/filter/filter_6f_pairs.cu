/* cuda-pairs: two samples in the 16-bit halves of a register; laplace5 only.
 * Since cuda-slide: a word is split into two pairs, bytes 0 and 2 and bytes 1 and 3, each by one mask or
 * permutation, and an addition adds two samples. A sum of 25 samples, at most 6375, always fits its half.
 * The last step clamps pairs, without a conversion to float, if only a clamp is requested.
 * Global memory: as in cuda-words, five words of a row read and one written per thread and row.
 * Shared memory: none.
 * 128 threads, 4 bytes times 64 rows per thread.
 * Measured: issue slots 42 % busy, L2 40, DRAM 27, L1 20; longest wait: loads, 14.8 cycles per instruction;
 * 1.12 waves of blocks (4992x3744x3, H200). */
#include "sliding.cuh"
#include "words.cuh"

/* Returns bytes AT .. AT + 3 of a row of words as one word. */
template <int AT, int N>
LAP_DEVICE unsigned word_at(const unsigned (&words)[N])
{
    if constexpr (AT % 4 == 0)
        return words[AT / 4];
    else
        return __funnelshift_r(words[AT / 4], words[AT / 4 + 1], AT % 4 * 8);
}

template <int C, lap_last LAST>
struct pair_sums {
    unsigned even[5], odd[5], own[5]; /* sums of rows, two to a word; the thread's word of each row */
    unsigned box_even, box_odd;

    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
        constexpr int OWN = LAP_OWN<C>;
        const unsigned neighbours[5] = {word_at<OWN - 2 * C>(words), word_at<OWN - C>(words),
            word_at<OWN>(words), word_at<OWN + C>(words), word_at<OWN + 2 * C>(words)};
        unsigned entering_even = 0, entering_odd = 0;
#pragma unroll
        for (int i = 0; i < 5; i++) {
            entering_even += neighbours[i] & LAP_EVEN;
            entering_odd += lap_odd(neighbours[i]);
        }
        box_even += entering_even - even[k];
        box_odd += entering_odd - odd[k];
        even[k] = entering_even;
        odd[k] = entering_odd;
        own[k] = neighbours[2];
    }

    LAP_MEMBER unsigned result(int k, const lap_finish &f) const
    {
        constexpr unsigned BIASED = 5 * LAP_BIAS * LAP_BOTH;
        const unsigned centre = own[(k + 3) % 5];
        return __byte_perm(lap_finish_pair<LAST>(centre & LAP_EVEN, BIASED - box_even, f),
            lap_finish_pair<LAST>(lap_odd(centre), BIASED - box_odd, f), 0x6240);
    }
};

template <int C, lap_last LAST>
static __global__ void __launch_bounds__(LAP_WALK_THREADS) pairs_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_walk g, const __grid_constant__ lap_finish f)
{
    lap_walk_down<C>(pair_sums<C, LAST>{}, in, out, g, f);
}

extern "C" lap_code lap_filter_cuda_pairs(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_words(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        constexpr int C = decltype(c)::value;
        return lap_walk_launch("cuda-pairs",
            lap_last_of(params) == LAP_LAST_CLAMP ? pairs_kernel<C, LAP_LAST_CLAMP>
                                                  : pairs_kernel<C, LAP_LAST_FLOAT>,
            in, out, exec, lap_finish_of(params));
    });
}
