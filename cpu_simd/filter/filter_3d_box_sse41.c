/* Filter, SSE4.1, 25 p - box: changed since sse-taps: a row's five bytes are added once and serve five rows
 * of the result. laplace5; other kernels as sse-taps. */
#include "simd_steps.h"

const char lap_filter_sse_box_flags[] = LAP_RUNG_FLAGS;

static void run(const plane *p, const lap_params *params)
{
    run_step(false, p, params);
}

lap_code lap_filter_sse_box(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)exec;
    return simd_filter_by(run, in, out, params, false);
}
