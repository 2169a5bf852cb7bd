/* Filter, SSE4.1: 16 samples per vector. The algorithm stands in simd_filter.h. */
#include "simd_filter.h"

const char lap_filter_simd_sse41_flags[] = LAP_RUNG_FLAGS;

lap_code lap_filter_simd_sse41(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return simd_filter(in, out, params, exec);
}
