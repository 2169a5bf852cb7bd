/* Filter, AVX-512: 64 samples per vector. The algorithm stands in simd_filter.h. */
#include "simd_filter.h"

const char lap_filter_simd_avx512_flags[] = LAP_RUNG_FLAGS;

lap_code lap_filter_simd_avx512(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return simd_filter(in, out, params, exec);
}
