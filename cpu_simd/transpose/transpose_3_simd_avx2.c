/* simd-avx2: blocks of 32 x 16 bytes, 8 x 8 RGB pixels, 8 x 4 floats, 4 x 2 doubles.
 * Since simd-sse41: each half of a 256-bit register holds other rows of the same columns, so that the
 * interleaves of the narrower rung turn two blocks at once, and results are stored as 32 consecutive bytes.
 * Memory: each line read and written once.
 * Limit: memory. */
#include "transpose_tiles.h"

const char lap_transpose_simd_avx2_flags[] = LAP_RUNG_FLAGS;

static inline __m256i load2(const uint8_t *low, const uint8_t *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
        _mm_loadu_si128((const __m128i *)high), 1);
}

static inline void store(uint8_t *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline void block1(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m256i a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        a[i] = load2(in + i * stride, in + (i + 16) * stride);
#pragma GCC unroll 4
    for (int pass = 0; pass < 4; pass++) {
        __m256i *from = pass % 2 ? b : a, *to = pass % 2 ? a : b;
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + 8]);
            to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + 8]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        store(out + i * LAP_STAGE_PITCH, a[i]);
}

static inline void turn4(__m256i r[4])
{
    __m256i a = _mm256_unpacklo_epi32(r[0], r[1]), b = _mm256_unpacklo_epi32(r[2], r[3]);
    __m256i c = _mm256_unpackhi_epi32(r[0], r[1]), d = _mm256_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm256_unpacklo_epi64(a, b), r[1] = _mm256_unpackhi_epi64(a, b);
    r[2] = _mm256_unpacklo_epi64(c, d), r[3] = _mm256_unpackhi_epi64(c, d);
}

/* As in the narrower rung; after packing, twelve bytes stand in each half and are closed up. */
static inline void block3(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    const __m256i spread[2] = {
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1)),
        _mm256_broadcastsi128_si256(_mm_setr_epi8(4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1))};
    const __m256i pack =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7);
#pragma GCC unroll 2
    for (int right = 0; right < 2; right++) {
        __m256i r[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            const uint8_t *p = in + i * stride + 8 * right;
            r[i] = _mm256_shuffle_epi8(load2(p, p + 4 * stride), spread[right]);
        }
        turn4(r);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            store(out + (4 * right + i) * LAP_STAGE_PITCH,
                _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(r[i], pack), close));
        }
    }
}

static inline void block4(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m256i r[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        r[i] = load2(in + i * stride, in + (i + 4) * stride);
    turn4(r);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        store(out + i * LAP_STAGE_PITCH, r[i]);
}

static inline void block8(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m256i a = load2(in, in + 2 * stride), b = load2(in + stride, in + 3 * stride);
    store(out, _mm256_unpacklo_epi64(a, b));
    store(out + LAP_STAGE_PITCH, _mm256_unpackhi_epi64(a, b));
}

lap_code lap_transpose_simd_avx2(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)exec;
    switch (in->channels) {
    case 1:
        lap_transpose_tiles(in, out, (lap_blocks){1, 32, 16, block1});
        break;
    case 3:
        lap_transpose_tiles(in, out, (lap_blocks){3, 8, 8, block3});
        break;
    case 4:
        lap_transpose_tiles(in, out, (lap_blocks){4, 8, 4, block4});
        break;
    default:
        lap_transpose_tiles(in, out, (lap_blocks){8, 4, 2, block8});
    }
    return LAP_OK;
}
