/* Filter, SSE4.1, four samples per vector: changed since sse: a vector holds four samples in a row, whichever
 * their channels, so that no component is empty; and five rows of floats are kept instead of an image, so
 * that they stay in the first-level cache. */
#include "simd_steps.h"

const char lap_filter_sse_samples_flags[] = LAP_RUNG_FLAGS;

static void run(const plane *p, const lap_params *params)
{
    const finish f = finish_of(params);
    run_float(p, params, &f);
}

lap_code lap_filter_sse_samples(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)exec;
    return simd_filter_by(run, in, out, params, false);
}
