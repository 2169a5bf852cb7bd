/* simd-avx2: 32 samples per vector; the algorithm is in simd_filter.h.
 * Since simd-sse41: wider vectors.
 * Memory: each byte read once and written once, the sums of four rows in the first-level cache.
 * Measured: 4.8 instructions per pixel of three channels; this rung takes 1.32 times as long as memcpy
 * for the same bytes (4992x3744x3, one thread, Zen 4); docs/ports.md has more. */
#include "simd_filter.h"

const char lap_filter_simd_avx2_flags[] = LAP_RUNG_FLAGS;

lap_code lap_filter_simd_avx2(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return simd_filter(in, out, params, exec);
}
