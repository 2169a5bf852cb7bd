/* Defines the operations of transpose_blocks.h in the instruction set that the including file is compiled
 * for. A register has one or two lanes of 16 bytes, which hold different rows of the same columns. */
#ifndef LAP_TRANSPOSE_WORDS_H
#define LAP_TRANSPOSE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#include <arm_neon.h>

typedef uint8x16_t vec;
enum { LANES = 1 };

#define v_load(row, other) vld1q_u8(row)
#define v_store(p, v) vst1q_u8(p, v)
#define v_32(v) vreinterpretq_u32_u8(v)
#define v_64(v) vreinterpretq_u64_u8(v)
#define v_low8(a, b) vzip1q_u8(a, b)
#define v_high8(a, b) vzip2q_u8(a, b)
#define v_low32(a, b) vreinterpretq_u8_u32(vzip1q_u32(v_32(a), v_32(b)))
#define v_high32(a, b) vreinterpretq_u8_u32(vzip2q_u32(v_32(a), v_32(b)))
#define v_low64(a, b) vreinterpretq_u8_u64(vzip1q_u64(v_64(a), v_64(b)))
#define v_high64(a, b) vreinterpretq_u8_u64(vzip2q_u64(v_64(a), v_64(b)))

#elif defined(__AVX2__)
#include <immintrin.h>

typedef __m256i vec;
enum { LANES = 2 };

#define v_half(p) _mm_loadu_si128((const __m128i *)(p))
#define v_load(row, other) _mm256_inserti128_si256(_mm256_castsi128_si256(v_half(row)), v_half(other), 1)
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define v_low8(a, b) _mm256_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm256_unpackhi_epi8(a, b)
#define v_low32(a, b) _mm256_unpacklo_epi32(a, b)
#define v_high32(a, b) _mm256_unpackhi_epi32(a, b)
#define v_low64(a, b) _mm256_unpacklo_epi64(a, b)
#define v_high64(a, b) _mm256_unpackhi_epi64(a, b)

#else
#include <smmintrin.h>

typedef __m128i vec;
enum { LANES = 1 };

#define v_load(row, other) _mm_loadu_si128((const __m128i *)(row))
#define v_store(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define v_low8(a, b) _mm_unpacklo_epi8(a, b)
#define v_high8(a, b) _mm_unpackhi_epi8(a, b)
#define v_low32(a, b) _mm_unpacklo_epi32(a, b)
#define v_high32(a, b) _mm_unpackhi_epi32(a, b)
#define v_low64(a, b) _mm_unpacklo_epi64(a, b)
#define v_high64(a, b) _mm_unpackhi_epi64(a, b)
#endif

#endif
