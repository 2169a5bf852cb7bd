/* A table of filters with one rung that is wrong at one place, and one that is slightly wrong everywhere.
 * It is linked before the library and replaces the real table, like a bad rung in a real build. */
#include "cpu_simd/host_rungs.h"

static lap_code off_by_one(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = lap_filter_c(in, out, params, exec);
    if (out->height > 37 && out->width > 101) {
        uint8_t *sample = out->base + 37 * out->stride + 101 * (ptrdiff_t)out->channels + 1 % out->channels;
        *sample = (uint8_t)(*sample < 255 ? *sample + 1 : 254);
    }
    return code;
}

/* Forgets the border: the two pixels at the edges are those of the picture. */
static lap_code no_border(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = lap_filter_c(in, out, params, exec);
    for (int y = 0; y < out->height; y++)
        for (int i = 0; i < 2 * out->channels; i++)
            out->base[y * out->stride + i] = in->base[y * in->stride + i];
    return code;
}

static lap_code fails(const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)in, (void)out, (void)params, (void)exec;
    return LAP_E_DEVICE;
}

const lap_rung lap_filter_table[] = {
    {.op = LAP_OP_FILTER, .name = "c", .family = "c", .run.filter = lap_filter_c},
    {.op = LAP_OP_FILTER, .name = "off-by-one", .family = "c", .run.filter = off_by_one},
    {.op = LAP_OP_FILTER, .name = "no-border", .family = "c", .run.filter = no_border},
    {.op = LAP_OP_FILTER, .name = "fails", .family = "c", .run.filter = fails},
    {.op = LAP_OP_FILTER, .name = "auto", .family = "auto", .resolves = "c"},
    {0},
};
