#include <immintrin.h>

#include "peak.h"

typedef __m512 vecp;
#define p_set(x) _mm512_set1_ps(x)
#define p_multiply_add(v, m, t) _mm512_fmadd_ps(v, m, t)
#define p_add(v, w) _mm512_add_ps(v, w)
#include "peak_chains.h"

float lap_peak_avx512(size_t rounds)
{
    return _mm512_reduce_add_ps(run_chains(rounds));
}
