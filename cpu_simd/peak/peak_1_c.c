#include "peak_chains.h"

float lap_peak_c(size_t rounds)
{
    return run_chains(rounds);
}
