/* simd-sse41: blocks of 16 x 16 bytes, 8 x 8 RGB pixels, 4 x 4 floats, 2 x 2 doubles.
 * Since c: blocks are turned in 128-bit registers, and results are written by whole lines.
 * Memory: each line read and written once.
 * Limit: memory. */
#include "transpose_tiles.h"

const char lap_transpose_simd_sse41_flags[] = LAP_RUNG_FLAGS;

static inline __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline void store(uint8_t *p, __m128i v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

/* Interleaving the first half of the rows with the second, byte by byte, four times over: the index
 * bits of row and column rotate past each other, which is the transpose. */
static inline void block1(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m128i a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        a[i] = load(in + i * stride);
#pragma GCC unroll 4
    for (int pass = 0; pass < 4; pass++) {
        __m128i *from = pass % 2 ? b : a, *to = pass % 2 ? a : b;
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
            to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        store(out + i * LAP_STAGE_PITCH, a[i]);
}

static inline void turn4(__m128i r[4])
{
    __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpacklo_epi32(r[2], r[3]);
    __m128i c = _mm_unpackhi_epi32(r[0], r[1]), d = _mm_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm_unpacklo_epi64(a, b), r[1] = _mm_unpackhi_epi64(a, b);
    r[2] = _mm_unpacklo_epi64(c, d), r[3] = _mm_unpackhi_epi64(c, d);
}

/* Four pixels become four words, the words are turned, and the words become pixels again. The right
 * half is loaded four bytes early, so that nothing past the block is read. */
static inline void block3(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    const __m128i spread[2] = {_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1),
        _mm_setr_epi8(4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1)};
    const __m128i pack = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
#pragma GCC unroll 2
    for (int y = 0; y < 8; y += 4) {
#pragma GCC unroll 2
        for (int right = 0; right < 2; right++) {
            __m128i r[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                r[i] = _mm_shuffle_epi8(load(in + (y + i) * stride + 8 * right), spread[right]);
            turn4(r);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                store(out + (4 * right + i) * LAP_STAGE_PITCH + 3 * y, _mm_shuffle_epi8(r[i], pack));
        }
    }
}

static inline void block4(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m128i r[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        r[i] = load(in + i * stride);
    turn4(r);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        store(out + i * LAP_STAGE_PITCH, r[i]);
}

static inline void block8(const uint8_t *in, ptrdiff_t stride, uint8_t *out)
{
    __m128i a = load(in), b = load(in + stride);
    store(out, _mm_unpacklo_epi64(a, b));
    store(out + LAP_STAGE_PITCH, _mm_unpackhi_epi64(a, b));
}

lap_code lap_transpose_simd_sse41(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    (void)exec;
    switch (in->channels) {
    case 1:
        lap_transpose_tiles(in, out, (lap_blocks){1, 16, 16, block1});
        break;
    case 3:
        lap_transpose_tiles(in, out, (lap_blocks){3, 8, 8, block3});
        break;
    case 4:
        lap_transpose_tiles(in, out, (lap_blocks){4, 4, 4, block4});
        break;
    default:
        lap_transpose_tiles(in, out, (lap_blocks){8, 2, 2, block8});
    }
    return LAP_OK;
}
