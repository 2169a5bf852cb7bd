#include <immintrin.h>

#include "peak.h"

/* Only this file uses FMA: the other rungs of AVX2 do not, so that every rung rounds the same way. */
#if !defined(__FMA__)
#error "compiled with -mfma"
#endif
typedef __m256 vecp;
#define p_set(x) _mm256_set1_ps(x)
#define p_multiply_add(v, m, t) _mm256_fmadd_ps(v, m, t)
#define p_add(v, w) _mm256_add_ps(v, w)
#include "peak_chains.h"

float lap_peak_avx2(size_t rounds)
{
    float lanes[8], sum = 0;
    _mm256_storeu_ps(lanes, run_chains(rounds));
    for (int i = 0; i < 8; i++)
        sum += lanes[i];
    return sum;
}
