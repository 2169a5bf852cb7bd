/* Defines the operations of simd_filter.h in SSE4.1. */
#ifndef LAP_CPU_SIMD_SSE41_H
#define LAP_CPU_SIMD_SSE41_H

#include <smmintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m128i vec;
typedef __m128 vecf;
enum { VB = 16 };

#define v_zero() _mm_setzero_si128()
#define v_set8(x) _mm_set1_epi8((char)(x))
#define v_set16(x) _mm_set1_epi16((short)(x))
#define v_load(p) _mm_loadu_si128((const __m128i *)(p))
#define v_store(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define v_stream(p, v) _mm_stream_si128((__m128i *)(p), v)
#define v_fence() _mm_sfence()
#define v_lo8(a, b) _mm_unpacklo_epi8(a, b)
#define v_hi8(a, b) _mm_unpackhi_epi8(a, b)
#define v_pairs(u, w) _mm_maddubs_epi16(u, w)
#define v_add16(a, b) _mm_add_epi16(a, b)
#define v_sub16(a, b) _mm_sub_epi16(a, b)
#define v_abs16(a) _mm_abs_epi16(a)
#define v_pack16(lo, hi) _mm_packus_epi16(lo, hi)
#define v_xor(a, b) _mm_xor_si128(a, b)
#define v_ge8(a, b) _mm_cmpeq_epi8(_mm_max_epu8(a, b), a)
#define v_lo32(v) _mm_srai_epi32(_mm_unpacklo_epi16(v, v), 16)
#define v_hi32(v) _mm_srai_epi32(_mm_unpackhi_epi16(v, v), 16)
#define v_pack32(lo, hi) _mm_packs_epi32(lo, hi)

#define vf_set(x) _mm_set1_ps(x)
#define vf_zero() _mm_setzero_ps()
#define vf_load(p) _mm_loadu_ps(p)
#define vf_store(p, v) _mm_storeu_ps(p, v)
#define vf_from32(v) _mm_cvtepi32_ps(v)
#define vf_round(v) _mm_cvtps_epi32(v)
#define vf_add(a, b) _mm_add_ps(a, b)
#define vf_mul(a, b) _mm_mul_ps(a, b)
#define vf_max(a, b) _mm_max_ps(a, b)
#define vf_min(a, b) _mm_min_ps(a, b)
#define vf_andnot(a, b) _mm_andnot_ps(a, b)

/* VB/4 bytes as floats, in order. */
static inline vecf vf_from_bytes(const uint8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}

/* Four vectors of 0..255, in order, as bytes. */
static inline vec v_bytes(vec a, vec b, vec c, vec d)
{
    return _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
}

#endif
