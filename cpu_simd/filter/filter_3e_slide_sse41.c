/* sse-slide: sliding sums; laplace5 only; other kernels are computed as in sse-taps.
 * Since sse-box: a row is added to the sum of five rows and one is subtracted, instead of adding five rows.
 * Memory: the sums of five rows, and the box, which is read and written for each row.
 * Measured: of the 78 instructions for 16 samples, 21 are vector arithmetic, and 15 access vectors in
 * memory (docs/ladder-cpu.md). */
#include "simd_steps.h"

const char lap_filter_sse_slide_flags[] = LAP_RUNG_FLAGS;

static void run(const plane *p, const lap_params *params)
{
    run_step(true, p, params);
}

lap_code lap_filter_sse_slide(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)exec;
    return simd_filter_by(run, in, out, params, false);
}
