#include "base/params.h"

#include <math.h>

#include "base/kernel5x5.h"
#include "base/status.h"

const char *lap_border_name(lap_border border)
{
    static const char *const names[] = {"zero", "replicate", "reflect", "reflect101"};
    return (unsigned)border < 4 ? names[border] : NULL;
}

const char *lap_range_name(lap_range range)
{
    static const char *const names[] = {"clamp", "abs"};
    return (unsigned)range < 2 ? names[range] : NULL;
}

lap_params lap_params_default(void)
{
    lap_params params = {.range = LAP_CLAMP, .scale = 1, .threshold = -1};
    (void)lap_kernel_parse("laplace5", &params.kernel, NULL);
    return params;
}

int lap_params_tolerance(const lap_params *params)
{
    if (lap_kernel_is_exact(&params->kernel))
        return 0;
    return fabs((double)params->scale) * params->kernel.abs_sum <= 1200 ? 1 : -1;
}

lap_code lap_params_check(const lap_params *p, lap_border border, lap_error *err)
{
    if (!lap_border_name(border))
        return lap_fail(err, LAP_E_USAGE, "border %d is not one of the four", (int)border);
    if (!lap_range_name(p->range))
        return lap_fail(err, LAP_E_USAGE, "range %d is neither clamp nor abs", (int)p->range);
    if (!isfinite(p->scale) || !isfinite(p->offset))
        return lap_fail(err, LAP_E_USAGE, "scale and offset must be finite numbers");
    if (p->threshold < -1 || p->threshold > 255)
        return lap_fail(err, LAP_E_USAGE, "threshold %d is not in 0..255", p->threshold);
    return LAP_OK;
}
