/* The body of lap_peak_fn. The including file defines vecp, p_set, p_multiply_add and p_add; by default these
 * are single floats. Each chain is a variable, because a compiler might keep an array in memory. */
#ifndef LAP_CPU_PEAK_CHAINS_H
#define LAP_CPU_PEAK_CHAINS_H

#include "peak.h"

#ifndef p_set
typedef float vecp;
#define p_set(x) (x)
#define p_multiply_add(v, m, t) ((v) * (m) + (t))
#define p_add(v, w) ((v) + (w))
#endif

_Static_assert(LAP_PEAK_CHAINS == 12, "twelve chains are written out here");
#define EACH_CHAIN(X) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h) X(i) X(j) X(k) X(l)
#define BEGIN(chain) vecp chain = p_set(start += 0.01F);
#define STEP(chain) chain = p_multiply_add(chain, factor, term);
#define COLLECT(chain) sum = p_add(sum, chain);

static inline vecp run_chains(size_t rounds)
{
    float start = 1;
    const vecp factor = p_set(0.5F), term = p_set(0.5F);
    vecp sum = p_set(0);
    EACH_CHAIN(BEGIN)
    for (size_t round = 0; round < rounds; round++) {
        EACH_CHAIN(STEP)
    }
    EACH_CHAIN(COLLECT)
    return sum;
}

#endif
