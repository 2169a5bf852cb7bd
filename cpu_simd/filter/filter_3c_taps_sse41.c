/* sse-taps: 16-bit integers, two taps per multiply-add.
 * Since sse-samples: a vector holds 16 bytes or 8 sums, and no sample becomes a float. If the
 * coefficients do not fit, the form of sse-samples is used.
 * Memory: bytes, read directly from the image.
 * Measured: 239 instructions for 16 samples; according to the source, 104 of them load, interleave,
 * multiply and add the 13 pairs of taps. */
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
