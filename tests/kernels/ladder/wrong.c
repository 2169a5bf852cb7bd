#include "wrong.h"

static lap_code reference(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return lap_rung_row(LAP_OP_FILTER, 0)->run.filter(in, out, params, exec);
}

static uint8_t *last_sample(const lap_view *out)
{
    return out->base + (out->height - 1) * out->stride + out->width * out->channels - 1;
}

static lap_code off_by_one(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = reference(in, out, params, exec);
    *last_sample(out) ^= 1;
    return code;
}

static lap_code leaves_one_out(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    uint8_t before = *last_sample(out);
    lap_code code = reference(in, out, params, exec);
    *last_sample(out) = before;
    return code;
}

static lap_code writes_outside(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = reference(in, out, params, exec);
    last_sample(out)[1] ^= 1;
    return code;
}

static lap_code writes_above(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = reference(in, out, params, exec);
    out->base[-out->stride] ^= 1;
    return code;
}

static lap_code fails(const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)reference(in, out, params, exec);
    return LAP_E_DEVICE;
}

const lap_rung wrong_rungs[] = {
    {.op = LAP_OP_FILTER, .name = "off by one at one place", .run.filter = off_by_one},
    {.op = LAP_OP_FILTER, .name = "leaves one sample out", .run.filter = leaves_one_out},
    {.op = LAP_OP_FILTER, .name = "writes one byte on the right", .run.filter = writes_outside},
    {.op = LAP_OP_FILTER, .name = "writes one byte above", .run.filter = writes_above},
    {.op = LAP_OP_FILTER, .name = "reports an error", .run.filter = fails},
    {0},
};
