/* The inverse DCT of ISLOW: Loeffler, Ligtenberg and Moschytz, 13-bit constants, 2 bits kept between columns
 * and rows, with libjpeg's roundings.
 *
 * libjpeg-turbo's vector code gives the same results as its C code as long as all values fit 16 bits. The
 * limit here is 2^14, so that every sum of two fits 16 bits and every value below fits 32. This costs little:
 * if all results are within -512 .. 511, no coefficient can be beyond 4096 (the transform preserves the sum
 * of squares), and other results are refused anyway, since C code wraps and vector code saturates. */
#ifndef LAP_CUDA_JPEG_IDCT_CUH
#define LAP_CUDA_JPEG_IDCT_CUH

#include "cuda/device/launch.cuh"

constexpr int LAP_IDCT_LIMIT = 1 << 14;
constexpr int LAP_IDCT_COLUMNS = 13 - 2, LAP_IDCT_ROWS = 13 + 2 + 3; /* bits to drop after each pass */

/* Returns bits that are not all 0 if v is outside of -2^14 .. 2^14 - 1. */
LAP_DEVICE unsigned lap_idct_beyond(int v)
{
    return ((unsigned)v + LAP_IDCT_LIMIT) & ~(2u * LAP_IDCT_LIMIT - 1);
}

/* Transforms v, 8 inputs within the limit, in place. The rotations are named as in the paper's figure 1. */
template <int DROP>
LAP_DEVICE void lap_idct(int v[8])
{
    constexpr int HALF = 1 << (DROP - 1);
    /* even */
    const int turn = (v[2] + v[6]) * 4433;                          /* 0.541196100 */
    const int low = turn - v[6] * 15137, high = turn + v[2] * 6270; /* 1.847759065, 0.765366865 */
    const int sum = (v[0] + v[4]) * 8192 + HALF, difference = (v[0] - v[4]) * 8192 + HALF;
    const int even[4] = {sum + high, difference + low, difference - low, sum - high};
    /* odd */
    const int both = (v[7] + v[3] + v[5] + v[1]) * 9633; /* 1.175875602 */
    const int z3 = both - (v[7] + v[3]) * 16069,
              z4 = both - (v[5] + v[1]) * 3196;                        /* 1.961570560, 0.390180644 */
    const int z1 = (v[7] + v[1]) * -7373, z2 = (v[5] + v[3]) * -20995; /* 0.899976223, 2.562915447 */
    const int odd[4] = {v[1] * 12299 + z1 + z4,                        /* 1.501321110 */
        v[3] * 25172 + z2 + z3,                                        /* 3.072711026 */
        v[5] * 16819 + z2 + z4,                                        /* 2.053119869 */
        v[7] * 2446 + z1 + z3};                                        /* 0.298631336 */
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[i] = (even[i] + odd[i]) >> DROP;
        v[7 - i] = (even[i] - odd[i]) >> DROP;
    }
}

#endif
