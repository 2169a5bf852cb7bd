/* The vocabulary of the instruction set that the including file is compiled for. */
#ifndef LAP_CPU_SIMD_WORDS_H
#define LAP_CPU_SIMD_WORDS_H

#if defined(__AVX512BW__)
#include "simd_avx512.h"
#elif defined(__AVX2__)
#include "simd_avx2.h"
#elif defined(__SSE4_1__)
#include "simd_sse41.h"
#else
#error "compile with -msse4.1, -mavx2 or -mavx512bw"
#endif

#endif
