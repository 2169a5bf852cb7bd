/* Filter, SSE4.1, 16-bit integers: changed since sse-samples: a vector holds 16 bytes or 8 sums, and one
 * instruction multiplies and adds two taps. Coefficients that do not fit take the form of sse-samples. */
#include "simd_steps.h"

const char lap_filter_sse_taps_flags[] = LAP_RUNG_FLAGS;

static void run(const plane *p, const lap_params *params)
{
    const finish f = finish_of(params);
    if (taps_fit(&params->kernel))
        run_taps(p, params, &f);
    else
        run_float(p, params, &f);
}

lap_code lap_filter_sse_taps(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)exec;
    return simd_filter_by(run, in, out, params, false);
}
