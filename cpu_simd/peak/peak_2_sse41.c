#include <smmintrin.h>

#include "peak.h"

/* No fused multiply-add: two operations. */
typedef __m128 vecp;
#define p_set(x) _mm_set1_ps(x)
#define p_multiply_add(v, m, t) _mm_add_ps(_mm_mul_ps(v, m), t)
#define p_add(v, w) _mm_add_ps(v, w)
#include "peak_chains.h"

float lap_peak_sse41(size_t rounds)
{
    float lanes[4];
    _mm_storeu_ps(lanes, run_chains(rounds));
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
