#include "compare/compare.h"

#include "base/context.h"
#include "base/params.h"
#include "base/status.h"

enum { MOST_RUNS = 10000 };

lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_error *err)
{
    const lap_params params = lap_params_complete(&settings->params);
    static lap_code (*const ladders[LAP_OP_COUNT])(const lap_comparison *, lap_error *) = {
        [LAP_OP_FILTER] = lap_compare_filter,
        [LAP_OP_TRANSPOSE] = lap_compare_transpose,
        [LAP_OP_REDUCE] = lap_compare_reduce,
        [LAP_OP_HISTOGRAM] = lap_compare_histogram,
        [LAP_OP_MATVEC] = lap_compare_matvec,
    };
    const lap_control control = lap_context_control(context, settings->timeout_s, lap_now_ms());
    const int threads =
        settings->threads > 0 && settings->threads < context->threads ? settings->threads : context->threads;
    const lap_comparison comparison = {
        .use = {.exec.threads = threads, .pool = context->pool, .device = settings->device},
        .control = &control,
        .mask_border = options->mask_border,
        .runs = options->runs,
        .pixels = lap_pixels_with_apron(pixels),
        .backends = options->backends,
        .params = &params,
        .border = settings->border,
        .each = options->each,
        .user = options->user};
    if ((int)op < 0 || op >= LAP_OP_COUNT)
        return lap_fail(err, LAP_E_USAGE, "no such ladder: %d", (int)op);
    if (options->runs < 0 || options->runs > MOST_RUNS)
        return lap_fail(err, LAP_E_USAGE, "compare: %d runs; 1 to %d are possible", options->runs, MOST_RUNS);
    lap_rung_start_device(op, options->backends, settings->device);
    return ladders[op](&comparison, err);
}
