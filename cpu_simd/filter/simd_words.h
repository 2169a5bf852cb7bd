/* Includes the operations of the instruction set that the including file is compiled for. */
#ifndef LAP_CPU_SIMD_WORDS_H
#define LAP_CPU_SIMD_WORDS_H

#if defined(__aarch64__)
#include "simd_neon.h"
#else
#if defined(__AVX512BW__)
#include "simd_avx512.h"
#elif defined(__AVX2__)
#include "simd_avx2.h"
#elif defined(__SSE4_1__)
#include "simd_sse41.h"
#else
#error "compile with -msse4.1, -mavx2 or -mavx512bw"
#endif

/* On x86 bytes are interleaved in pairs, so that one multiply-add widens, weights and adds. Low and high are
 * the halves of 16-bit values in the order of v_lo8 and v_hi8. */
#define v_low(a) v_lo8(a, v_zero())
#define v_high(a) v_hi8(a, v_zero())
#define v_sum_low(a, b) v_pairs(v_lo8(a, b), v_set8(1))
#define v_sum_high(a, b) v_pairs(v_hi8(a, b), v_set8(1))
/* For values up to 255. Not written as a multiplication, because compilers replace a multiplication by 25
 * with four shifts and adds. */
#define v_times(x, n) v_pairs(x, v_set8(n))
#define v_taps_low(a, b, weights) v_pairs(v_lo8(a, b), weights)
#define v_taps_high(a, b, weights) v_pairs(v_hi8(a, b), weights)
#endif

#endif
