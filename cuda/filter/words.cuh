/* Shared by the rungs in which a thread owns four bytes of a row, one word, and walks down the image.
 *
 * A rung's struct Sums holds what a thread keeps of five rows: enter(words, k) adds the next row, and
 * result(k, f) gives the four bytes two rows above it. k counts rows modulo 5, and is a constant once the
 * loop is unrolled, so that arrays of five stay in registers. */
#ifndef LAP_CUDA_WORDS_CUH
#define LAP_CUDA_WORDS_CUH

#include <limits.h>

#include "filter.cuh"

constexpr int LAP_WALK_THREADS = 128, LAP_WALK_ROWS = 64;

struct lap_walk {
    int width_bytes, readable_bytes; /* of a row without apron; of a row with apron */
    int height, rows;                /* of the image; rows that one thread walks */
    ptrdiff_t in_stride, out_stride;
};

/* How many words the windows of a thread's four bytes reach, with C channels; its own word is in the middle.
 */
template <int C>
constexpr int LAP_WORDS = C == 1 ? 3 : 5;
/* The index of the thread's first byte, counted from the first of these words. */
template <int C>
constexpr int LAP_OWN = 4 * (LAP_WORDS<C> / 2);

template <int C>
LAP_DEVICE void lap_read_words(unsigned (&words)[LAP_WORDS<C>], const uint8_t *p, int x, int readable)
{
#pragma unroll
    for (int j = 0; j < LAP_WORDS<C>; j++) {
        const int at = 4 * j - LAP_OWN<C>;
        words[j] = x + at < readable ? __ldg(reinterpret_cast<const unsigned *>(p + at)) : 0;
    }
}

LAP_DEVICE int lap_byte_of(unsigned word, int k)
{
    return (int)(word >> (8 * k) & 255);
}

/* Stores the first n bytes of a word, or all if n is larger. */
LAP_DEVICE void lap_store_word(uint8_t *p, unsigned word, int n)
{
    if (n >= 4)
        *reinterpret_cast<unsigned *>(p) = word;
    else
        for (int k = 0; k < n; k++, word >>= 8)
            p[k] = (uint8_t)word;
}

template <int C, typename Sums>
LAP_DEVICE void lap_walk_down(
    Sums sums, const uint8_t *in, uint8_t *out, const lap_walk &g, const lap_finish &f)
{
    const int x = 4 * (int)(blockIdx.x * LAP_WALK_THREADS + threadIdx.x), first = (int)blockIdx.y * g.rows;
    const int end = min(first + g.rows, g.height) + LAP_APRON;
    if (x >= g.width_bytes)
        return;
    const uint8_t *source = in + (first - LAP_APRON) * g.in_stride + x;
    uint8_t *target = out + (first - 2 * LAP_APRON) * g.out_stride + x;
    for (int r = first - LAP_APRON; r < end; r += 5) {
#pragma unroll
        for (int k = 0; k < 5; k++) {
            unsigned words[LAP_WORDS<C>];
            if (r + k >= end)
                return;
            lap_read_words<C>(words, source, x, g.readable_bytes);
            sums.enter(words, k);
            if (r + k >= first + LAP_APRON) /* all five rows of output row r + k - 2 are added */
                lap_store_word(target, sums.result(k, f), g.width_bytes - x);
            source += g.in_stride;
            target += g.out_stride;
        }
    }
}

/* ---- host side ------------------------------------------------------------------------------- */

/* Checks that the views suit a rung whose accesses are `bytes` wide. */
static inline lap_code lap_filter_needs(
    const char *name, int bytes, const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    if (in->width > INT_MAX / 4 - 4096)
        return lap_fail(exec->err, LAP_E_DEVICE, "rows of %d pixels are too long for %s", in->width, name);
    if (in->apron < LAP_APRON)
        return lap_fail(exec->err, LAP_E_DEVICE, "%s reads an apron of %d pixels, and this view has %d", name,
            LAP_APRON, in->apron);
    if (((uintptr_t)in->base | (uintptr_t)in->stride | (uintptr_t)out->base | (uintptr_t)out->stride) %
        (uintptr_t)bytes)
        return lap_fail(
            exec->err, LAP_E_DEVICE, "%s needs rows that start on multiples of %d bytes", name, bytes);
    return LAP_OK;
}

/* Launches kernel(in, out, walk, arguments...) over all words of the image. */
template <typename... Parameters, typename... Arguments>
static lap_code lap_walk_launch(const char *name,
    void (*kernel)(const uint8_t *, uint8_t *, lap_walk, Parameters...), const lap_view *in,
    const lap_view *out, const lap_exec *exec, Arguments... arguments)
{
    const int c = in->channels;
    lap_walk g = {in->width * c, (in->width + LAP_APRON) * c, in->height, 0, in->stride, out->stride};
    g.rows = max(LAP_WALK_ROWS, (in->height + 65534) / 65535); /* a grid has at most 65535 rows */
    const lap_launch launch = {in->place,
        dim3((unsigned)((g.width_bytes + 4 * LAP_WALK_THREADS - 1) / (4 * LAP_WALK_THREADS)),
            (unsigned)((g.height + g.rows - 1) / g.rows)),
        dim3(LAP_WALK_THREADS), 0, exec->stream, exec->err};
    lap_code code = lap_filter_needs(name, 4, in, out, exec);
    return code ? code
                : lap_cuda_launch(
                      launch, name, __FILE__, __LINE__, kernel, in->base, out->base, g, arguments...);
}

#endif
