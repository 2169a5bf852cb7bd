#include "bench/bench.h"

#include "base/context.h"
#include "base/status.h"

enum { DEFAULT_RUNS = 20, CODEC_RUNS = 5 /* each is a whole photo, or a folder */, MAX_RUNS = 10000 };

typedef lap_code bench_fn(lap_bench_run *bench, lap_error *err);
static bench_fn *const benches[LAP_OP_COUNT] = {
    [LAP_OP_FILTER] = lap_bench_filter,
    [LAP_OP_TRANSPOSE] = lap_bench_transpose,
    [LAP_OP_REDUCE] = lap_bench_reduce,
    [LAP_OP_HISTOGRAM] = lap_bench_histogram,
    [LAP_OP_MATVEC] = lap_bench_matvec,
};

static lap_code check_options(lap_bench_options *options, lap_error *err)
{
    if (options->runs == 0)
        options->runs = DEFAULT_RUNS;
    if (options->runs < 1 || options->runs > MAX_RUNS)
        return lap_fail(err, LAP_E_USAGE, "bench: %d runs; 1 to %d are possible", options->runs, MAX_RUNS);
    if (options->channels == 0)
        options->channels = 3;
    if (options->channels != 1 && options->channels != 3 && options->channels != 4)
        return lap_fail(err, LAP_E_USAGE, "bench: %d channels; 1, 3 and 4 are possible", options->channels);
    if (options->width < 0 || options->height < 0 || (options->width == 0) != (options->height == 0))
        return lap_fail(err, LAP_E_USAGE, "bench: a size of %dx%d", options->width, options->height);
    return LAP_OK;
}

lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options, lap_bench_fn *each,
    void *user, lap_error *err)
{
    if ((int)op < 0 || op > LAP_OP_CODEC)
        return lap_fail(err, LAP_E_USAGE, "bench: unknown operation %d", (int)op);
    lap_bench_options checked = *options;
    if (op == LAP_OP_CODEC && checked.runs == 0)
        checked.runs = CODEC_RUNS;
    lap_code code = check_options(&checked, err);
    if (code != LAP_OK)
        return code;

    int threads = checked.threads;
    if (threads <= 0 || threads > context->threads)
        threads = context->threads;
    lap_bench_run bench = {.options = &checked,
        .pool = context->pool,
        .threads = threads,
        .each = each,
        .user = user,
        .control = lap_context_control(context, 0, 0)};
    return op == LAP_OP_CODEC ? lap_bench_codec(&bench, context, err) : benches[op](&bench, err);
}
