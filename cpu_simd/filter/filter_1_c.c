/* Filter, plain C: float32, four components per pixel, one thread: the reference that every rung
 * is compared with. Compiled with vectorization off, so that it shows what scalar code does and what the
 * other rungs gain. */
#include "conv_row.h"

const char lap_filter_c_flags[] = LAP_RUNG_FLAGS;

static void load(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        float4_from_bytes(job, y);
}

static void filter(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        conv_row(job->out->width, job->src_width, job->params, float4_src(job, y), float4_dst(job, y));
}

static void store(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        float4_to_bytes(job, y);
}

lap_code lap_filter_c(const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return float4_run(in, out, params, exec, load, filter, store);
}
