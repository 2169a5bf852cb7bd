/* cuda-slide: the sum of the window slides down the image; laplace5 only.
 * Since cuda-box-sum: box += the row that enters - the row that leaves, instead of adding five rows.
 * Global memory: as in cuda-words, five words of a row read and one written per thread and row.
 * Shared memory: none; the sums and centres of five rows, and the box, are in registers.
 * 128 threads, 4 bytes times 64 rows per thread.
 * Measured: issue slots 58 % busy, L2 31, DRAM 20, L1 13; longest wait: loads, 6.0 cycles per instruction;
 * 1.68 waves of blocks (4992x3744x3, H200). No faster than cuda-box-sum: an addition takes three
 * operands, so that adding five rows takes two additions; sliding takes one addition, and one move to
 * keep the row that entered. The box needs registers: 26 warps fit instead of 28. */
#include "words.cuh"

template <int C>
struct sliding_sums {
    int row[5][4], centre[5][4], box[4];

    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
#pragma unroll
        for (int b = 0; b < 4; b++) {
            int entering = 0;
#pragma unroll
            for (int fx = -2; fx <= 2; fx++) {
                const int at = LAP_OWN<C> + b + fx * C;
                entering += lap_byte_of(words[at / 4], at % 4);
            }
            box[b] += entering - row[k][b]; /* row[k] is five rows old and leaves the window */
            row[k][b] = entering;
            centre[k][b] = lap_byte_of(words[LAP_OWN<C> / 4], b);
        }
    }

    LAP_MEMBER unsigned result(int k, const lap_finish &f) const
    {
        unsigned word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++)
            word |= lap_finish_sample((float)(25 * centre[(k + 3) % 5][b] - box[b]), f) << (8 * b);
        return word;
    }
};

template <int C>
static __global__ void __launch_bounds__(LAP_WALK_THREADS, LAP_LEAST_BLOCKS)
    slide_kernel(const uint8_t *__restrict__ in, uint8_t *__restrict__ out,
        const __grid_constant__ lap_walk g, const __grid_constant__ lap_finish f)
{
    lap_walk_down<C>(sliding_sums<C>{}, in, out, g, f);
}

extern "C" lap_code lap_filter_cuda_slide(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_words(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        return lap_walk_launch(
            "cuda-slide", slide_kernel<decltype(c)::value>, in, out, exec, lap_finish_of(params));
    });
}
