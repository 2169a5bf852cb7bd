#include "base/params.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "base/kernel5x5.h"
#include "base/status.h"

static char constants[256][24]; /* "constant:0" and so on */
static pthread_once_t constants_named = PTHREAD_ONCE_INIT;

static void name_constants(void)
{
    for (int i = 0; i < 256; i++)
        snprintf(constants[i], sizeof constants[i], "constant:%d", i);
}

const char *lap_border_name(lap_border border)
{
    static const char *const names[] = {"zero", "replicate", "reflect", "reflect101", "wrap"};
    if ((unsigned)border < sizeof names / sizeof *names)
        return names[border];
    if (border < LAP_CONSTANT || border > LAP_CONSTANT_LAST)
        return NULL;
    pthread_once(&constants_named, name_constants);
    return constants[border - LAP_CONSTANT];
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

lap_params lap_params_complete(const lap_params *p)
{
    bool is_set = p->kernel.name[0] || p->range != LAP_CLAMP || p->scale != 0 || p->offset != 0 ||
                  p->invert || p->threshold != 0;
    for (int i = 0; i < 25; i++)
        is_set = is_set || p->kernel.h[i] != 0;
    if (!is_set)
        return lap_params_default();
    lap_params params = *p;
    lap_kernel_derive(&params.kernel);
    if (!params.kernel.name[0] && params.kernel.abs_sum != 0)
        snprintf(params.kernel.name, sizeof params.kernel.name, "custom");
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
        return lap_fail(err, LAP_E_USAGE, "unknown border %d", (int)border);
    if (!lap_range_name(p->range))
        return lap_fail(err, LAP_E_USAGE, "range %d is neither clamp nor abs", (int)p->range);
    if (!isfinite(p->scale) || !isfinite(p->offset))
        return lap_fail(err, LAP_E_USAGE, "scale and offset must be finite numbers");
    if (p->threshold < -1 || p->threshold > 255)
        return lap_fail(err, LAP_E_USAGE, "threshold %d is not in 0..255", p->threshold);
    if (!p->kernel.name[0])
        return lap_fail(err, LAP_E_USAGE, "the kernel is not set; start from lap_params_default()");
    return lap_kernel_check(&p->kernel, err);
}
