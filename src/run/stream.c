/* Filters and counts pixels on the device of a lap_stream. */
#include "base/params.h"
#include "device/device_stream.h"
#include "ops/ops.h"
#include "rungs/backend.h"

lap_code lap_stream_filter(lap_stream *s, const lap_view *in, const lap_view *out, const char *backend,
    const lap_params *params, lap_border border, lap_error *err)
{
    const lap_rung *rung;
    const lap_params complete = lap_params_complete(params);
    lap_code code = lap_filter_check(in, out, &complete, border, err);
    if (code == LAP_OK)
        code = lap_stream_check(s, in, "input", err);
    if (code == LAP_OK)
        code = lap_stream_check(s, out, "output", err);
    if (code == LAP_OK)
        code = lap_rung_find_on_device(LAP_OP_FILTER, backend, s->device, &rung, err);
    if (code != LAP_OK)
        return code;
    const lap_views_filter filter = {rung, &complete, border};
    return lap_views_run_filter(&filter, &s->space, in, out, s->stream, err);
}

lap_code lap_stream_stats(
    lap_stream *s, const lap_view *view, const char *backend, int threshold, lap_stats *stats, lap_error *err)
{
    uint64_t counts[4][256] = {0};
    lap_code code = lap_stream_check(s, view, "pixels", err);
    if (code == LAP_OK)
        code = lap_count_on_device(view, backend, &s->space, s->stream, counts, err);
    return code == LAP_OK ? lap_stats_of_counts(counts, view->channels, threshold, stats, err) : code;
}
