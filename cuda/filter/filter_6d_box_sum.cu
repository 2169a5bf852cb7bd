/* cuda-box-sum: 25 times the centre minus the sum of the window, made from sums of rows; laplace5 only.
 * Since cuda-words: o = 25 p - box. The five neighbours in a row are added once, and their sum is used for
 * five output rows, so that a sample takes 8 additions and one multiply-add instead of 25 multiply-adds; all
 * arithmetic is in integers.
 * Global memory: as in cuda-words, five words of a row read and one written per thread and row.
 * Shared memory: none; the sums and centres of five rows in registers.
 * 128 threads, 4 bytes times 64 rows per thread.
 * Measured: issue slots 59 % busy, L2 32, DRAM 21, L1 14; longest wait: loads, 6.3 cycles per instruction;
 * 1.49 waves of blocks (4992x3744x3, H200). The kernel's registers allow 36 of 64 warps; 28 are resident
 * on average. */
#include "words.cuh"

template <int C>
struct row_sums {
    int row[5][4], centre[5][4];

    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
#pragma unroll
        for (int b = 0; b < 4; b++) {
            row[k][b] = 0;
#pragma unroll
            for (int fx = -2; fx <= 2; fx++) {
                const int at = LAP_OWN<C> + b + fx * C;
                row[k][b] += lap_byte_of(words[at / 4], at % 4);
            }
            centre[k][b] = lap_byte_of(words[LAP_OWN<C> / 4], b);
        }
    }

    LAP_MEMBER unsigned result(int k, const lap_finish &f) const
    {
        unsigned word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const int box = row[0][b] + row[1][b] + row[2][b] + row[3][b] + row[4][b];
            word |= lap_finish_sample((float)(25 * centre[(k + 3) % 5][b] - box), f) << (8 * b);
        }
        return word;
    }
};

template <int C>
static __global__ void __launch_bounds__(LAP_WALK_THREADS) box_sum_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_walk g, const __grid_constant__ lap_finish f)
{
    lap_walk_down<C>(row_sums<C>{}, in, out, g, f);
}

extern "C" lap_code lap_filter_cuda_box_sum(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    if (!params->kernel.is_laplace5)
        return lap_filter_cuda_words(in, out, params, exec);
    return lap_by_channels(in->channels, exec->err, [&](auto c) {
        return lap_walk_launch(
            "cuda-box-sum", box_sum_kernel<decltype(c)::value>, in, out, exec, lap_finish_of(params));
    });
}
