/* Defines the operations of simd_filter.h in AVX2. */
#ifndef LAP_CPU_SIMD_AVX2_H
#define LAP_CPU_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

typedef __m256i vec;
typedef __m256 vecf;
enum { VB = 32 };

#define v_zero() _mm256_setzero_si256()
#define v_set8(x) _mm256_set1_epi8((char)(x))
#define v_set16(x) _mm256_set1_epi16((short)(x))
#define v_load(p) _mm256_loadu_si256((const __m256i *)(p))
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_stream(p, v) _mm256_stream_si256((__m256i *)(p), v)
#define v_fence() _mm_sfence()
#define v_lo8(a, b) _mm256_unpacklo_epi8(a, b)
#define v_hi8(a, b) _mm256_unpackhi_epi8(a, b)
#define v_pairs(u, w) _mm256_maddubs_epi16(u, w)
#define v_add16(a, b) _mm256_add_epi16(a, b)
#define v_sub16(a, b) _mm256_sub_epi16(a, b)
#define v_abs16(a) _mm256_abs_epi16(a)
#define v_pack16(lo, hi) _mm256_packus_epi16(lo, hi)
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_ge8(a, b) _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a)
#define v_lo32(v) _mm256_srai_epi32(_mm256_unpacklo_epi16(v, v), 16)
#define v_hi32(v) _mm256_srai_epi32(_mm256_unpackhi_epi16(v, v), 16)
#define v_pack32(lo, hi) _mm256_packs_epi32(lo, hi)

#define vf_set(x) _mm256_set1_ps(x)
#define vf_zero() _mm256_setzero_ps()
#define vf_load(p) _mm256_loadu_ps(p)
#define vf_store(p, v) _mm256_storeu_ps(p, v)
#define vf_from32(v) _mm256_cvtepi32_ps(v)
#define vf_round(v) _mm256_cvtps_epi32(v)
#define vf_add(a, b) _mm256_add_ps(a, b)
#define vf_mul(a, b) _mm256_mul_ps(a, b)
#define vf_max(a, b) _mm256_max_ps(a, b)
#define vf_min(a, b) _mm256_min_ps(a, b)
#define vf_andnot(a, b) _mm256_andnot_ps(a, b)
/* VB/4 bytes as floats, in order. */
#define vf_from_bytes(p) _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(p))))

/* Four vectors of 0..255, in order, as bytes. */
static inline vec v_bytes(vec a, vec b, vec c, vec d)
{
    const vec order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    vec packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(packed, order);
}

#endif
