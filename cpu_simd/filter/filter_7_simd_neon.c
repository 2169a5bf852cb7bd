/* simd-neon: 16 samples per vector on aarch64; the algorithm is in simd_filter.h.
 * Since c: the same as simd-sse41, with instructions that widen and add at once, so that bytes need not be
 * interleaved.
 * Memory: each byte read once and written once, the sums of four rows in the first-level cache.
 * Limit: not measured. */
#include "simd_filter.h"

const char lap_filter_simd_neon_flags[] = LAP_RUNG_FLAGS;

lap_code lap_filter_simd_neon(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return simd_filter(in, out, params, exec);
}
