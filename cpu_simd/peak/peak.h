/* The ceiling of arithmetic: multiply-adds in float32 on independent chains, and nothing else. One file an
 * instruction set. */
#ifndef LAP_CPU_PEAK_H
#define LAP_CPU_PEAK_H

#include <stddef.h>

/* A multiply-add takes 4 or 5 cycles and two start in each on today's x86 cores: ten chains hide the wait,
 * and twelve still fit the sixteen registers of AVX2 beside two factors. */
#define LAP_PEAK_CHAINS 12

/* Does `rounds` times LAP_PEAK_CHAINS vector multiply-adds. The sum that it returns keeps the compiler from
 * leaving them out; values stay near 1, so that no slow denormals occur. */
typedef float lap_peak_fn(size_t rounds);
lap_peak_fn lap_peak_c, lap_peak_sse41, lap_peak_avx2, lap_peak_avx512;

#endif
