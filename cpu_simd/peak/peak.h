/* The ceiling of arithmetic: multiply-adds in float32 on independent chains, and nothing else. One file per
 * instruction set. */
#ifndef LAP_CPU_PEAK_H
#define LAP_CPU_PEAK_H

#include <stddef.h>

/* On today's x86 cores a multiply-add takes 4 or 5 cycles, and two start in each cycle. Ten independent
 * chains hide this latency; twelve and two factors still fit the sixteen registers of AVX2. */
#define LAP_PEAK_CHAINS 12

/* Computes `rounds` times LAP_PEAK_CHAINS vector multiply-adds. Returns the sum of the chains, so that the
 * compiler cannot remove them. Values stay near 1, so that no slow denormals occur. */
typedef float lap_peak_fn(size_t rounds);
lap_peak_fn lap_peak_c, lap_peak_sse41, lap_peak_avx2, lap_peak_avx512;

#endif
