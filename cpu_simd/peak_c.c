#include "peak.h"

typedef float vecp;
#define p_set(x) (x)
#define p_multiply_add(v, m, t) ((v) * (m) + (t))
#define p_add(v, w) ((v) + (w))
#include "peak_chains.h"

float lap_peak_c(size_t rounds)
{
    return run_chains(rounds);
}
