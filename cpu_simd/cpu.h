/* Finds out which instruction sets the processor has.
 *
 * The environment variable LAP_CPU_MASK, a comma list, hides instruction sets, so that every rung can be
 * tested on one machine: "sse41", "avx2", "avx512" (all of it), "neon", and single features by the compiler's
 * names: "bmi", "bmi2", "lzcnt", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512vbmi",
 * "avx512vbmi2", "avx512vnni"; "scatter" (lap_cpu_scatters). As thread-safe as getenv. */
#ifndef LAP_CPU_H
#define LAP_CPU_H

#include <stdbool.h>

/* Return NULL if a rung of that instruction set can run, else the reason. */
const char *lap_cpu_no_sse2(void); /* part of x86-64 */
const char *lap_cpu_no_sse41(void);
const char *lap_cpu_no_avx2(void);   /* AVX2 and BMI2 */
const char *lap_cpu_no_fma(void);    /* fused multiply-add */
const char *lap_cpu_no_avx512(void); /* F, BW, VL and DQ, and BMI2 */
/* The JPEG encoder needs more: also BMI1 and LZCNT, and with AVX-512 also CD, VBMI, VBMI2 and VNNI. */
const char *lap_cpu_no_avx2_bits(void);
const char *lap_cpu_no_avx512vbmi2(void);
const char *lap_cpu_no_neon(void); /* part of aarch64 */

/* Returns whether an AVX-512 scatter is faster on this processor than one store per element, according to a
 * fixed table. False if LAP_CPU_MASK contains scatter. */
bool lap_cpu_scatters(void);

#endif
