/* Defines the operations of simd_filter.h in AVX-512 (F, BW). */
#ifndef LAP_CPU_SIMD_AVX512_H
#define LAP_CPU_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

typedef __m512i vec;
typedef __m512 vecf;
enum { VB = 64 };

#define v_zero() _mm512_setzero_si512()
#define v_set8(x) _mm512_set1_epi8((char)(x))
#define v_set16(x) _mm512_set1_epi16((short)(x))
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_stream(p, v) _mm512_stream_si512((__m512i *)(p), v)
#define v_fence() _mm_sfence()
#define v_lo8(a, b) _mm512_unpacklo_epi8(a, b)
#define v_hi8(a, b) _mm512_unpackhi_epi8(a, b)
#define v_pairs(u, w) _mm512_maddubs_epi16(u, w)
#define v_add16(a, b) _mm512_add_epi16(a, b)
#define v_sub16(a, b) _mm512_sub_epi16(a, b)
#define v_abs16(a) _mm512_abs_epi16(a)
#define v_pack16(lo, hi) _mm512_packus_epi16(lo, hi)
#define v_xor(a, b) _mm512_xor_si512(a, b)
#define v_ge8(a, b) _mm512_movm_epi8(_mm512_cmpge_epu8_mask(a, b))
#define v_lo32(v) _mm512_srai_epi32(_mm512_unpacklo_epi16(v, v), 16)
#define v_hi32(v) _mm512_srai_epi32(_mm512_unpackhi_epi16(v, v), 16)
#define v_pack32(lo, hi) _mm512_packs_epi32(lo, hi)

#define vf_set(x) _mm512_set1_ps(x)
#define vf_zero() _mm512_setzero_ps()
#define vf_load(p) _mm512_loadu_ps(p)
#define vf_store(p, v) _mm512_storeu_ps(p, v)
#define vf_from32(v) _mm512_cvtepi32_ps(v)
#define vf_round(v) _mm512_cvtps_epi32(v)
#define vf_add(a, b) _mm512_add_ps(a, b)
#define vf_mul(a, b) _mm512_mul_ps(a, b)
#define vf_max(a, b) _mm512_max_ps(a, b)
#define vf_min(a, b) _mm512_min_ps(a, b)
#define vf_andnot(a, b) \
    _mm512_castsi512_ps(_mm512_andnot_si512(_mm512_castps_si512(a), _mm512_castps_si512(b)))
/* VB/4 bytes as floats, in order. */
#define vf_from_bytes(p) _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p))))

/* Four vectors of 0..255, in order, as bytes. */
static inline vec v_bytes(vec a, vec b, vec c, vec d)
{
    const vec order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    vec packed = _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    return _mm512_permutexvar_epi32(order, packed);
}

#endif
