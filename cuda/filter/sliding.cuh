/* Box sums of 5x5 samples that slide down a column, two to a register.
 *
 * A thread owns 16 bytes of a row: four words. The samples of a word are held as two pairs of 16-bit
 * halves: bytes 0 and 2 ("even"), bytes 1 and 3 ("odd"). Each sum is kept as a bias minus the sum, so
 * that no half ever borrows from the other and one instruction gives 25 * centre - box:
 *     column = BIAS - sum of 5 rows,    5 * BIAS - box = sum of 5 columns
 * The even pairs are not kept; they are computed from sum of words = even + 256 * odd, modulo 2^32.
 *
 * The same without pairs, for each of a thread's 16 samples; entering is the row two below the centre:
 *     column[i] += entering[i] - leaving[i];
 *     box = column[i - 2 * C] + column[i - C] + column[i] + column[i + C] + column[i + 2 * C];
 *     result[i] = min(max(25 * centre[i] - box, 0), 255);
 * An example in pairs, in which one sample is 20 and all others are 10:
 *     bytes of the word       10  20  10  10            0x0a0a140a
 *     even pair, odd pair     (10, 10) (20, 10)         word & 0x00ff00ff; bytes 1 and 3, a permutation
 *     columns of 5 rows       50, or 60 with the 20     kept as 1536 - 50 = 1486, 1536 - 60 = 1476
 *     box, biased             4 * 1486 + 1476 = 7420    which is 5 * 1536 - 260
 *     centre                  25 * 20 + 57856 = 58356   57856 = LAP_UNBIAS = 65536 - 5 * 1536
 *     both added              58356 + 7420 = 65776      240 modulo 2^16, and 25 * 20 - 260 is 240
 *     clamped to 0..255       240                       the byte of the result
 * For a neighbour: 25 * 10 + 57856 + 7420 = 65526, which is -10 modulo 2^16, and the clamp makes it 0. */
#ifndef LAP_CUDA_SLIDING_CUH
#define LAP_CUDA_SLIDING_CUH

#include "filter.cuh"

constexpr unsigned LAP_BOTH = 0x00010001u; /* multiplied by n: n in each half */
constexpr unsigned LAP_BIAS = 1536u;       /* for a column of 5 samples, whose sum is at most 1275 */
constexpr unsigned LAP_EVEN = 0x00ff00ffu; /* the even samples of a word */
constexpr unsigned LAP_UNBIAS = 65536u - 5 * LAP_BIAS; /* removes the bias of a box, modulo 2^16 */
constexpr unsigned LAP_MIRROR = 32767u;                /* this minus a biased box: a positive signed half */
constexpr unsigned LAP_UNMIRROR = 65536u + 5 * LAP_BIAS - LAP_MIRROR;
static_assert(LAP_BIAS >= 5 * 255, "a column's half must not fall below zero");
static_assert(25 * 255 + LAP_UNBIAS <= 65535, "the centre's half must not carry");
static_assert(
    5 * LAP_BIAS <= LAP_MIRROR, "a biased box, and what is left of the mirror value, must be positive");
static_assert(LAP_UNMIRROR >= 25 * 255 && LAP_UNMIRROR < 65536, "the mirrored centre's half must not borrow");

/* How a sum becomes a byte: in integers, clamped or as its absolute value; or in float, for all other cases.
 */
enum lap_last { LAP_LAST_CLAMP, LAP_LAST_ABS, LAP_LAST_FLOAT };

static inline lap_last lap_last_of(const lap_params *p)
{
    if (p->scale != 1 || p->offset != 0 || p->invert || p->threshold >= 0)
        return LAP_LAST_FLOAT;
    return p->range == LAP_ABS ? LAP_LAST_ABS : LAP_LAST_CLAMP;
}

LAP_DEVICE unsigned lap_odd(unsigned word)
{
    return __byte_perm(word, 0, 0x4341);
}

struct lap_columns {
    unsigned words[4]; /* BIAS * (1 + 256) - sum of 5 rows of words */
    unsigned odd[4];
};

LAP_DEVICE void lap_columns_clear(lap_columns &v)
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        v.odd[j] = LAP_BIAS * LAP_BOTH;
        v.words[j] = LAP_BIAS * LAP_BOTH + (LAP_BIAS * LAP_BOTH << 8);
    }
}

LAP_DEVICE void lap_columns_enter(lap_columns &v, const uint4 &row)
{
    const unsigned words[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        v.words[j] -= words[j];
        v.odd[j] -= lap_odd(words[j]);
    }
}

LAP_DEVICE void lap_columns_leave(lap_columns &v, const uint4 &row)
{
    const unsigned words[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        v.words[j] += words[j];
        v.odd[j] += lap_odd(words[j]);
    }
}

/* How many words on each side the window of +-2 pixels of C channels reaches. */
template <int C>
constexpr int LAP_REACH = C == 1 ? 1 : 2;

/* The column sums of this thread's words and of its neighbours' words: word j is at index j + reach. */
template <int C>
struct lap_span {
    unsigned even[4 + 2 * LAP_REACH<C>], odd[4 + 2 * LAP_REACH<C>];
};

template <int C>
LAP_DEVICE lap_span<C> lap_span_of(const lap_columns &v)
{
    constexpr int R = LAP_REACH<C>;
    constexpr unsigned ALL = 0xffffffffu;
    lap_span<C> s;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        s.odd[j + R] = v.odd[j];
        s.even[j + R] = v.words[j] - (v.odd[j] << 8);
    }
#pragma unroll
    for (int k = 0; k < R; k++) {
        s.even[k] = __shfl_up_sync(ALL, s.even[k + 4], 1);
        s.odd[k] = __shfl_up_sync(ALL, s.odd[k + 4], 1);
        s.even[k + 4 + R] = __shfl_down_sync(ALL, s.even[k + R], 1);
        s.odd[k + 4 + R] = __shfl_down_sync(ALL, s.odd[k + R], 1);
    }
    return s;
}

/* Returns halves K and K + 1 of an array of pairs. */
template <int K, int N>
LAP_DEVICE unsigned lap_halves(const unsigned (&pairs)[N])
{
    if constexpr (K % 2 == 0)
        return pairs[K / 2];
    else
        return __byte_perm(pairs[K / 2], pairs[K / 2 + 1], 0x5432);
}

/* Returns the pair of columns that begins at byte B; byte 0 is the first of the left neighbour. */
template <int C, int B>
LAP_DEVICE unsigned lap_columns_at(const lap_span<C> &s)
{
    if constexpr (B % 2 == 0)
        return lap_halves<B / 2>(s.even);
    else
        return lap_halves<B / 2>(s.odd);
}

/* Returns 5 * BIAS - box for the pair that begins at byte B of this thread's 16. */
template <int C, int B>
LAP_DEVICE unsigned lap_box(const lap_span<C> &s)
{
    constexpr int AT = B + 4 * LAP_REACH<C>;
    return lap_columns_at<C, AT - 2 * C>(s) + lap_columns_at<C, AT - C>(s) + lap_columns_at<C, AT>(s) +
           lap_columns_at<C, AT + C>(s) + lap_columns_at<C, AT + 2 * C>(s);
}

/* Computes a pair of output bytes from 25 * centre - box. */
template <lap_last LAST>
LAP_DEVICE unsigned lap_finish_pair(unsigned centre, unsigned box, const lap_finish &f)
{
    const unsigned c = centre * 25 + LAP_UNBIAS * LAP_BOTH;
    if constexpr (LAST == LAP_LAST_FLOAT) {
        const int low = (int16_t)(c + box), high = (int16_t)((c >> 16) + (box >> 16));
        return lap_finish_sample((float)low, f) | lap_finish_sample((float)high, f) << 16;
    }
    const unsigned positive = __viaddmin_s16x2_relu(c, box, 255 * LAP_BOTH);
    if constexpr (LAST == LAP_LAST_CLAMP)
        return positive;
    /* One of o and -o is clamped to 0, so OR gives the absolute value. */
    return positive | __viaddmin_s16x2_relu(
                          LAP_UNMIRROR * LAP_BOTH - centre * 25, LAP_MIRROR * LAP_BOTH - box, 255 * LAP_BOTH);
}

template <int C, lap_last LAST, int J>
LAP_DEVICE unsigned lap_word(const lap_span<C> &s, unsigned centre, const lap_finish &f)
{
    const unsigned even = lap_finish_pair<LAST>(centre & LAP_EVEN, lap_box<C, 4 * J>(s), f);
    const unsigned odd = lap_finish_pair<LAST>(lap_odd(centre), lap_box<C, 4 * J + 1>(s), f);
    return __byte_perm(even, odd, 0x6240);
}

/* Computes 16 output bytes; centre is the middle row of the five. All lanes of the warp must call. */
template <int C, lap_last LAST>
LAP_DEVICE uint4 lap_slide(const lap_columns &v, const uint4 &centre, const lap_finish &f)
{
    const lap_span<C> s = lap_span_of<C>(v);
    return make_uint4(lap_word<C, LAST, 0>(s, centre.x, f), lap_word<C, LAST, 1>(s, centre.y, f),
        lap_word<C, LAST, 2>(s, centre.z, f), lap_word<C, LAST, 3>(s, centre.w, f));
}

#endif
