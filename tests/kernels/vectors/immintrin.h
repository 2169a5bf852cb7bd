/* AVX-512 for tests, in plain C: the files of cpu_simd with _avx512 in their names are compiled against
 * this header instead of the compiler's, and so run on every x86-64 processor. Each function does what
 * Intel's Intrinsics Guide says of the intrinsic of that name. A load or store that must be aligned ends the
 * program if it is not. An intrinsic that is missing here does not compile: add it. */
#ifndef LAP_TEST_IMMINTRIN_H
#define LAP_TEST_IMMINTRIN_H

#include <math.h>
#include <smmintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long long __m512i __attribute__((vector_size(64)));
typedef long long __m256i __attribute__((vector_size(32)));
typedef float __m512 __attribute__((vector_size(64)));
typedef uint32_t __mmask32;
typedef uint64_t __mmask64;

typedef union model { /* of a vector: its elements, the lowest first */
    __m512i v;
    __m512 ps;
    __m256i half[2];
    __m128i lane[4];
    uint8_t u8[64];
    int8_t i8[64];
    uint16_t u16[32];
    int16_t i16[32];
    uint32_t u32[16];
    int32_t i32[16];
    uint64_t u64[8];
    int64_t i64[8];
    float f[16];
} model;

/* ---- how functions are defined ------------------------------------------------------------------- */

/* Not inlined: compilers take minutes for a file of vectors if each intrinsic is a loop within it. */
#define MODEL static __attribute__((noinline, unused))
#define EACH_OF(part) for (int i = 0; i < (int)(sizeof r.part / sizeof r.part[0]); i++)
/* Element i of the result r, from those of a, and of b. */
#define ONE(name, part, ...)                                            \
    MODEL __m512i _mm512_##name(__m512i a_)                             \
    {                                                                   \
        const model a = {a_};                                           \
        model r;                                                        \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))(__VA_ARGS__); \
        return r.v;                                                     \
    }
#define TWO(name, part, ...)                                            \
    MODEL __m512i _mm512_##name(__m512i a_, __m512i b_)                 \
    {                                                                   \
        const model a = {a_}, b = {b_};                                 \
        model r;                                                        \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))(__VA_ARGS__); \
        return r.v;                                                     \
    }
#define THREE(name, part, ...)                                          \
    MODEL __m512i _mm512_##name(__m512i a_, __m512i b_, __m512i c_)     \
    {                                                                   \
        const model a = {a_}, b = {b_}, c = {c_};                       \
        model r;                                                        \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))(__VA_ARGS__); \
        return r.v;                                                     \
    }
/* With a number n. */
#define BY(name, part, ...)                                             \
    MODEL __m512i _mm512_##name(__m512i a_, unsigned n)                 \
    {                                                                   \
        const model a = {a_};                                           \
        model r;                                                        \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))(__VA_ARGS__); \
        return r.v;                                                     \
    }
#define TWO_BY(name, part, ...)                                         \
    MODEL __m512i _mm512_##name(__m512i a_, __m512i b_, unsigned n)     \
    {                                                                   \
        const model a = {a_}, b = {b_};                                 \
        model r;                                                        \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))(__VA_ARGS__); \
        return r.v;                                                     \
    }
/* Bit i of a mask. */
#define MASK(name, type, part, ...)                         \
    MODEL type _mm512_##name(__m512i a_, __m512i b_)        \
    {                                                       \
        const model a = {a_}, b = {b_}, r = a;              \
        uint64_t mask = 0;                                  \
        EACH_OF(part) mask |= (uint64_t)(__VA_ARGS__) << i; \
        return (type)mask;                                  \
    }
#define HAS(mask) ((uint64_t)(mask) >> i & 1)

MODEL int model_clamped(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

/* ---- memory -------------------------------------------------------------------------------------- */

MODEL __m512i _mm512_loadu_si512(const void *from)
{
    model r;
    memcpy(&r, from, sizeof r);
    return r.v;
}

MODEL void _mm512_storeu_si512(void *to, __m512i v)
{
    memcpy(to, &v, sizeof v);
}

MODEL const void *model_aligned(const void *at)
{
    if ((uintptr_t)at % sizeof(model))
        abort();
    return at;
}

#define _mm512_load_si512(from) _mm512_loadu_si512(model_aligned(from))
#define _mm512_store_si512(to, v) (model_aligned(to), _mm512_storeu_si512(to, v))
#define _mm512_stream_si512(to, v) _mm512_store_si512(to, v)

MODEL __m256i _mm256_loadu_si256(const void *from)
{
    __m256i v;
    memcpy(&v, from, sizeof v);
    return v;
}

MODEL void _mm256_storeu_si256(void *to, __m256i v)
{
    memcpy(to, &v, sizeof v);
}

/* In order: where elements overlap, the later one stays. */
MODEL void _mm512_i64scatter_epi64(void *to, __m512i places, __m512i v, int scale)
{
    const model at = {places}, from = {v};
    for (int i = 0; i < 8; i++)
        memcpy((char *)to + at.i64[i] * scale, &from.u64[i], sizeof from.u64[i]);
}

/* ---- constants ----------------------------------------------------------------------------------- */

#define SET1(name, part, type)                              \
    MODEL __m512i _mm512_set1_##name(type x)                \
    {                                                       \
        model r;                                            \
        EACH_OF(part) r.part[i] = (__typeof__(r.part[0]))x; \
        return r.v;                                         \
    }
SET1(epi8, i8, char)
SET1(epi16, i16, short)
SET1(epi32, i32, int)
SET1(epi64, i64, long long)

ONE(model_turned_8, u8, a.u8[63 - i])
ONE(model_turned_32, u32, a.u32[15 - i])
ONE(model_turned_64, u64, a.u64[7 - i])
#define _mm512_setzero_si512() _mm512_set1_epi8(0)
#define _mm512_setr_epi32(...) ((const model){.i32 = {__VA_ARGS__}}).v
#define _mm512_setr_epi64(...) ((const model){.i64 = {__VA_ARGS__}}).v
#define _mm512_set_epi8(...) _mm512_model_turned_8(((const model){.i8 = {__VA_ARGS__}}).v)
#define _mm512_set_epi32(...) _mm512_model_turned_32(((const model){.i32 = {__VA_ARGS__}}).v)
#define _mm512_set_epi64(...) _mm512_model_turned_64(((const model){.i64 = {__VA_ARGS__}}).v)
#define _mm512_set4_epi32(d, c, b, a) _mm512_setr_epi32(a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d)
#define _mm256_set1_epi8(x) _mm512_castsi512_si256(_mm512_set1_epi8(x))

/* ---- parts of vectors ---------------------------------------------------------------------------- */

#define _mm512_castsi512_ps(a) ((const model){a}).ps
#define _mm512_castps_si512(a) ((const model){.ps = (a)}).v
#define _mm512_castsi512_si128(a) _mm512_extracti64x2_epi64(a, 0)
#define _mm512_castsi512_si256(a) _mm512_extracti64x4_epi64(a, 0)

MODEL __m128i _mm512_extracti64x2_epi64(__m512i a, int which)
{
    return ((const model){a}).lane[which];
}

MODEL __m256i _mm512_extracti64x4_epi64(__m512i a, int which)
{
    return ((const model){a}).half[which];
}

MODEL __m512i _mm512_zextsi256_si512(__m256i a)
{
    return ((const model){.half = {a}}).v;
}

MODEL __m512i _mm512_broadcast_i32x4(__m128i a)
{
    return ((const model){.lane = {a, a, a, a}}).v;
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

TWO(add_epi8, u8, a.u8[i] + b.u8[i])
TWO(add_epi16, u16, a.u16[i] + b.u16[i])
TWO(add_epi32, u32, a.u32[i] + b.u32[i])
TWO(add_epi64, u64, a.u64[i] + b.u64[i])
TWO(sub_epi16, u16, a.u16[i] - b.u16[i])
TWO(sub_epi32, u32, a.u32[i] - b.u32[i])
TWO(sub_epi64, u64, a.u64[i] - b.u64[i])
TWO(adds_epi16, i16, model_clamped(a.i16[i] + b.i16[i], INT16_MIN, INT16_MAX))
TWO(subs_epu16, u16, model_clamped(a.u16[i] - b.u16[i], 0, UINT16_MAX))
TWO(max_epu16, u16, a.u16[i] > b.u16[i] ? a.u16[i] : b.u16[i])
TWO(avg_epu8, u8, (a.u8[i] + b.u8[i] + 1) >> 1)
TWO(mulhi_epu16, u16, (uint32_t)a.u16[i] * b.u16[i] >> 16)
TWO(mullo_epi16, u16, (uint32_t)a.u16[i] * b.u16[i])
TWO(mulhrs_epi16, i16, ((a.i16[i] * b.i16[i] >> 14) + 1) >> 1)
TWO(madd_epi16, u32,
    (uint32_t)(a.i16[2 * i] * b.i16[2 * i]) + (uint32_t)(a.i16[2 * i + 1] * b.i16[2 * i + 1]))
TWO(maddubs_epi16, i16,
    model_clamped(a.u8[2 * i] * b.i8[2 * i] + a.u8[2 * i + 1] * b.i8[2 * i + 1], INT16_MIN, INT16_MAX))
THREE(dpwssd_epi32, u32,
    a.u32[i] + (uint32_t)(b.i16[2 * i] * c.i16[2 * i]) + (uint32_t)(b.i16[2 * i + 1] * c.i16[2 * i + 1]))
THREE(dpbusd_epi32, u32,
    a.u32[i] + (uint32_t)(b.u8[4 * i] * c.i8[4 * i] + b.u8[4 * i + 1] * c.i8[4 * i + 1] +
                          b.u8[4 * i + 2] * c.i8[4 * i + 2] + b.u8[4 * i + 3] * c.i8[4 * i + 3]))
ONE(abs_epi16, u16, a.i16[i] < 0 ? -a.i16[i] : a.i16[i])

MODEL __m512i _mm512_sad_epu8(__m512i a_, __m512i b_)
{
    const model a = {a_}, b = {b_};
    model r = {0};
    for (int i = 0; i < 64; i++)
        r.u64[i / 8] += (uint64_t)abs(a.u8[i] - b.u8[i]);
    return r.v;
}

/* ---- bits ---------------------------------------------------------------------------------------- */

TWO(and_si512, u64, a.u64[i] & b.u64[i])
TWO(or_si512, u64, a.u64[i] | b.u64[i])
TWO(xor_si512, u64, a.u64[i] ^ b.u64[i])
TWO(andnot_si512, u64, ~a.u64[i] & b.u64[i])
BY(slli_epi16, u16, n < 16 ? (uint32_t)a.u16[i] << n : 0)
BY(slli_epi32, u32, n < 32 ? a.u32[i] << n : 0)
BY(srli_epi16, u16, n < 16 ? a.u16[i] >> n : 0)
BY(srli_epi32, u32, n < 32 ? a.u32[i] >> n : 0)
BY(srli_epi64, u64, n < 64 ? a.u64[i] >> n : 0)
BY(srai_epi16, i16, a.i16[i] >> (n < 15 ? n : 15))
BY(srai_epi32, i32, a.i32[i] >> (n < 31 ? n : 31))
TWO(sllv_epi16, u16, b.u16[i] < 16 ? (uint32_t)a.u16[i] << b.u16[i] : 0)
TWO(sllv_epi64, u64, b.u64[i] < 64 ? a.u64[i] << b.u64[i] : 0)
TWO(rolv_epi32, u32, a.u32[i] << b.u32[i] % 32 | a.u32[i] >> (32 - b.u32[i] % 32) % 32)
TWO(rolv_epi64, u64, a.u64[i] << b.u64[i] % 64 | a.u64[i] >> (64 - b.u64[i] % 64) % 64)
THREE(
    shldv_epi64, u64, c.u64[i] % 64 ? a.u64[i] << c.u64[i] % 64 | b.u64[i] >> (64 - c.u64[i] % 64) : a.u64[i])
THREE(
    shrdv_epi64, u64, c.u64[i] % 64 ? a.u64[i] >> c.u64[i] % 64 | b.u64[i] << (64 - c.u64[i] % 64) : a.u64[i])

/* Bit k of `table` is the result of the three bits of k, that of a the highest. */
MODEL __m512i _mm512_ternarylogic_epi32(__m512i a, __m512i b, __m512i c, int table)
{
    __m512i r = _mm512_setzero_si512();
    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

MODEL uint64_t _pdep_u64(uint64_t bits, uint64_t mask)
{
    uint64_t r = 0;
    for (; mask; mask &= mask - 1, bits >>= 1)
        r |= bits & 1 ? mask & -mask : 0;
    return r;
}

MODEL uint64_t _pext_u64(uint64_t bits, uint64_t mask)
{
    uint64_t r = 0;
    for (int n = 0; mask; mask &= mask - 1, n++)
        r |= (uint64_t)((bits & mask & -mask) != 0) << n;
    return r;
}

#define _mm_popcnt_u64(bits) __builtin_popcountll(bits)

/* ---- masks --------------------------------------------------------------------------------------- */

MASK(test_epi8_mask, __mmask64, u8, (a.u8[i] & b.u8[i]) != 0)
MASK(test_epi16_mask, __mmask32, u16, (a.u16[i] & b.u16[i]) != 0)
MASK(testn_epi16_mask, __mmask32, u16, (a.u16[i] & b.u16[i]) == 0)
MASK(cmpeq_epi8_mask, __mmask64, u8, a.u8[i] == b.u8[i])
MASK(cmpge_epu8_mask, __mmask64, u8, a.u8[i] >= b.u8[i])
MASK(cmpgt_epi16_mask, __mmask32, i16, a.i16[i] > b.i16[i])
MASK(cmple_epi16_mask, __mmask32, i16, a.i16[i] <= b.i16[i])
MASK(cmpgt_epu64_mask, __mmask32, u64, a.u64[i] > b.u64[i])
#define _mm512_movepi16_mask(a) _mm512_cmpgt_epi16_mask(_mm512_setzero_si512(), a)
#define _mm256_cmpeq_epi8_mask(a, b) \
    (uint32_t) _mm512_cmpeq_epi8_mask(_mm512_zextsi256_si512(a), _mm512_zextsi256_si512(b))

/* Elements of b where the mask has a bit, elsewhere of a. */
#define BLEND(name, part)                                                      \
    MODEL __m512i _mm512_mask_blend_##name(uint64_t k, __m512i a_, __m512i b_) \
    {                                                                          \
        const model a = {a_}, b = {b_};                                        \
        model r;                                                               \
        EACH_OF(part) r.part[i] = HAS(k) ? b.part[i] : a.part[i];              \
        return r.v;                                                            \
    }
BLEND(epi8, u8)
BLEND(epi16, u16)
BLEND(epi64, u64)
#define _mm512_movm_epi8(k) _mm512_mask_blend_epi8(k, _mm512_setzero_si512(), _mm512_set1_epi8(-1))
#define _mm512_mask_mov_epi16(old, k, a) _mm512_mask_blend_epi16(k, old, a)
#define _mm512_maskz_mov_epi16(k, a) _mm512_mask_blend_epi16(k, _mm512_setzero_si512(), a)
#define _mm512_mask_add_epi16(old, k, a, b) _mm512_mask_blend_epi16(k, old, _mm512_add_epi16(a, b))
#define _mm512_mask_sub_epi16(old, k, a, b) _mm512_mask_blend_epi16(k, old, _mm512_sub_epi16(a, b))
#define _mm512_mask_srli_epi16(old, k, a, n) _mm512_mask_blend_epi16(k, old, _mm512_srli_epi16(a, n))

#define COMPRESS(name, part)                                           \
    MODEL __m512i _mm512_maskz_compress_##name(uint64_t k, __m512i a_) \
    {                                                                  \
        const model a = {a_};                                          \
        model r = {0};                                                 \
        int n = 0;                                                     \
        EACH_OF(part) if (HAS(k)) r.part[n++] = a.part[i];             \
        return r.v;                                                    \
    }
COMPRESS(epi8, u8)
COMPRESS(epi16, u16)

MODEL __m512i _mm512_maskz_expand_epi8(uint64_t k, __m512i a_)
{
    const model a = {a_};
    model r = {0};
    int n = 0;
    EACH_OF(u8) if (HAS(k)) r.u8[i] = a.u8[n++];
    return r.v;
}

/* ---- permutations -------------------------------------------------------------------------------- */

/* In each lane of 16 bytes: elements of both in turn, from `from` on. */
#define UNPACK(name, part, in_lane, from)                                \
    TWO(name, part,                                                      \
        i % 2 ? b.part[i / in_lane * in_lane + i % in_lane / 2 + (from)] \
              : a.part[i / in_lane * in_lane + i % in_lane / 2 + (from)])
UNPACK(unpacklo_epi8, u8, 16, 0)
UNPACK(unpackhi_epi8, u8, 16, 8)
UNPACK(unpacklo_epi16, u16, 8, 0)
UNPACK(unpackhi_epi16, u16, 8, 4)
UNPACK(unpacklo_epi32, u32, 4, 0)
UNPACK(unpackhi_epi32, u32, 4, 2)
UNPACK(unpacklo_epi64, u64, 2, 0)
UNPACK(unpackhi_epi64, u64, 2, 1)

/* In each lane: the elements of a, then those of b, clamped. */
#define PACK(name, part, wide, in_lane, least, most)                                                   \
    TWO(name, part,                                                                                    \
        model_clamped(i % (2 * in_lane) < in_lane ? a.wide[i / (2 * in_lane) * in_lane + i % in_lane]  \
                                                  : b.wide[i / (2 * in_lane) * in_lane + i % in_lane], \
            least, most))
PACK(packus_epi16, u8, i16, 8, 0, UINT8_MAX)
PACK(packs_epi32, i16, i32, 4, INT16_MIN, INT16_MAX)

TWO(shuffle_epi8, u8, b.u8[i] & 0x80 ? 0 : a.u8[i / 16 * 16 + b.u8[i] % 16])
TWO(permutexvar_epi8, u8, b.u8[a.u8[i] % 64])
TWO(permutexvar_epi32, u32, b.u32[a.u32[i] % 16])
TWO(permutexvar_epi64, u64, b.u64[a.u64[i] % 8])
THREE(permutex2var_epi8, u8, b.u8[i] & 64 ? c.u8[b.u8[i] % 64] : a.u8[b.u8[i] % 64])
THREE(permutex2var_epi16, u16, b.u16[i] & 32 ? c.u16[b.u16[i] % 32] : a.u16[b.u16[i] % 32])
TWO_BY(shuffle_i32x4, lane, i < 2 ? a.lane[n >> 2 * i & 3] : b.lane[n >> 2 * i & 3])
TWO_BY(model_shuffle_32, u32, (i % 4 < 2 ? a.u32 : b.u32)[i / 4 * 4 + (n >> i % 4 * 2 & 3)])
TWO_BY(alignr_epi64, u64, i + (int)n < 8 ? b.u64[i + (int)n] : a.u64[i + (int)n - 8])
#define _mm512_maskz_permutexvar_epi8(k, order, a) \
    _mm512_mask_blend_epi8(k, _mm512_setzero_si512(), _mm512_permutexvar_epi8(order, a))
#define _mm512_shuffle_ps(a, b, n) \
    _mm512_castsi512_ps(_mm512_model_shuffle_32(_mm512_castps_si512(a), _mm512_castps_si512(b), n))

/* ---- other widths -------------------------------------------------------------------------------- */

MODEL __m512i _mm512_cvtepu8_epi16(__m256i a_)
{
    const model a = {.half = {a_}};
    model r;
    EACH_OF(u16) r.u16[i] = a.u8[i];
    return r.v;
}

MODEL __m512i _mm512_cvtepu8_epi32(__m128i a_)
{
    const model a = {.lane = {a_}};
    model r;
    EACH_OF(u32) r.u32[i] = a.u8[i];
    return r.v;
}

MODEL __m128i _mm512_cvtepi32_epi8(__m512i a_)
{
    const model a = {a_};
    model r = {0};
    for (int i = 0; i < 16; i++)
        r.u8[i] = (uint8_t)a.u32[i];
    return r.lane[0];
}

MODEL __m128i _mm512_cvtepi64_epi16(__m512i a_)
{
    const model a = {a_};
    model r = {0};
    for (int i = 0; i < 8; i++)
        r.u16[i] = (uint16_t)a.u64[i];
    return r.lane[0];
}

/* ---- floats -------------------------------------------------------------------------------------- */

#define FLOATS_OF(name, ...)                         \
    MODEL __m512 _mm512_##name(__m512 a_, __m512 b_) \
    {                                                \
        const model a = {.ps = a_}, b = {.ps = b_};  \
        model r;                                     \
        EACH_OF(f) r.f[i] = (__VA_ARGS__);           \
        return r.ps;                                 \
    }
FLOATS_OF(add_ps, a.f[i] + b.f[i])
FLOATS_OF(mul_ps, a.f[i] * b.f[i])
FLOATS_OF(max_ps, a.f[i] > b.f[i] ? a.f[i] : b.f[i])
FLOATS_OF(min_ps, a.f[i] < b.f[i] ? a.f[i] : b.f[i])
#define _mm512_setzero_ps() _mm512_castsi512_ps(_mm512_setzero_si512())
#define _mm512_loadu_ps(from) _mm512_castsi512_ps(_mm512_loadu_si512(from))
#define _mm512_storeu_ps(to, v) _mm512_storeu_si512(to, _mm512_castps_si512(v))

MODEL __m512 _mm512_set1_ps(float x)
{
    model r;
    EACH_OF(f) r.f[i] = x;
    return r.ps;
}

MODEL __m512 _mm512_cvtepi32_ps(__m512i a_)
{
    const model a = {a_};
    model r;
    EACH_OF(f) r.f[i] = (float)a.i32[i];
    return r.ps;
}

MODEL __m512i _mm512_cvtps_epi32(__m512 a_)
{
    const model a = {.ps = a_};
    model r;
    EACH_OF(i32) r.i32[i] = _mm_cvtss_si32(_mm_set_ss(a.f[i]));
    return r.v;
}

MODEL __m512 _mm512_fmadd_ps(__m512 a_, __m512 b_, __m512 c_)
{
    const model a = {.ps = a_}, b = {.ps = b_}, c = {.ps = c_};
    model r;
    EACH_OF(f) r.f[i] = fmaf(a.f[i], b.f[i], c.f[i]);
    return r.ps;
}

MODEL float _mm512_reduce_add_ps(__m512 a)
{
    model r = {.ps = a};
    for (int n = 8; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            r.f[i] += r.f[i + n];
    return r.f[0];
}

#endif
