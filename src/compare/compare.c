/* Comparing ladders whose results are pictures, and the walk over any ladder. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/context.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"

static bool ends_everything(lap_code code)
{
    return code == LAP_E_MEMORY || code == LAP_E_CANCELLED || code == LAP_E_TIMEOUT ||
           code == LAP_E_DIFFERENT;
}

lap_resources lap_compare_resources(const lap_comparison *comparison, lap_error *err)
{
    lap_resources use = comparison->use;
    use.exec.err = err;
    return use;
}

typedef struct walk {
    const lap_comparison *comparison;
    lap_compare_run_fn *run;
    void *state;
} walk;

static lap_code compare_rung(void *user, const lap_rung *row, const lap_rung *rung, const char *reason,
    const lap_error *unavailable, lap_error *err)
{
    const walk *w = user;
    lap_error why = *unavailable;
    lap_code code = why.code;
    lap_compare_row result = {.op = row->op,
        .backend = row->name,
        .resolved = rung ? rung->name : NULL,
        .cause = reason,
        .relative_error = NAN,
        .ms = NAN,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .min_ms = NAN,
        .max_ms = NAN,
        .stddev_ms = NAN};
    if (rung) {
        code = w->run(w->state, rung, &result, &why);
        if (code != LAP_OK && why.code != code)
            lap_fail(&why, code, "%s: %s", rung->name, lap_code_name(code));
    }
    if (ends_everything(code))
        return lap_error_set(err, &why);
    if (code != LAP_OK)
        result.reason = why.message;
    w->comparison->each(w->comparison->user, &result);
    return LAP_OK;
}

lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err)
{
    walk w = {comparison, run, state};
    return lap_rung_walk(op, comparison->backends, comparison->control, compare_rung, &w, err);
}

/* ---- times -------------------------------------------------------------------------------------- */

enum { FEW_RUNS = 5, MOST_RUNS = 10000 };
static const double enough_ms = 250; /* for one rung, if the caller names no number of runs */

static void set_times(lap_compare_row *row, const lap_run_times *times)
{
    const lap_summary total = lap_summarize(times->total, times->runs);
    row->runs = times->runs;
    row->ms = total.median;
    row->min_ms = total.min;
    row->max_ms = total.max;
    row->stddev_ms = total.stddev;
    row->upload_ms = lap_summarize(times->upload, times->runs).median;
    row->kernel_ms = lap_summarize(times->filter, times->runs).median;
    row->download_ms = lap_summarize(times->download, times->runs).median;
}

lap_code lap_compare_repeat(const lap_comparison *comparison, lap_timed_fn *once, void *argument,
    lap_compare_row *row, lap_error *err)
{
    const int most = comparison->runs > 0 ? comparison->runs : FEW_RUNS;
    /* The first of several runs finds caches cold and a device unprepared. */
    const lap_timing timing = {.control = comparison->control,
        .runs = most,
        .is_cold = most == 1,
        .enough_ms = comparison->runs > 0 ? 0 : enough_ms};
    double *memory = malloc(4 * (size_t)most * sizeof *memory);
    if (!memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d times", most);
    lap_run_times times = {memory, memory + most, memory + 2 * most, memory + 3 * most, 0};
    const lap_code code = lap_time_runs(&timing, once, argument, &times, err);
    if (code == LAP_OK)
        set_times(row, &times);
    free(memory);
    return code;
}

/* ---- pictures ----------------------------------------------------------------------------------- */

typedef struct pictures pictures;
typedef lap_code picture_fn(
    const pictures *p, const lap_rung *rung, const lap_resources *use, const lap_view *out);

struct pictures {
    const lap_comparison *comparison;
    picture_fn *run;
    lap_image reference, other; /* by c, and by the rung at hand */
};

typedef struct picture_run {
    const pictures *p;
    const lap_rung *rung;
} picture_run;

static lap_code run_once(void *argument, lap_times *times, lap_error *err)
{
    const picture_run *run = argument;
    lap_resources use = lap_compare_resources(run->p->comparison, err);
    use.times = times;
    return run->p->run(run->p, run->rung, &use, &run->p->other.view);
}

static lap_code run_picture(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    pictures *p = state;
    picture_run run = {p, rung};
    /* A rung that writes nothing must not inherit the pixels of the one before. */
    memset(p->other.memory, 0xA5, p->other.bytes);
    lap_code code = lap_compare_repeat(p->comparison, run_once, &run, row, err);
    row->a = &p->reference.view;
    row->b = &p->other.view;
    if (code == LAP_OK)
        code = lap_compare_views(row->a, row->b, p->comparison->mask_border, false, &row->difference, err);
    return code;
}

static lap_code compare_pictures(pictures *p, lap_op op, int width, int height, lap_error *err)
{
    const int channels = p->comparison->pixels->channels;
    const lap_resources use = lap_compare_resources(p->comparison, err);
    lap_code code = lap_image_create(&p->reference, width, height, channels, 0, err);
    if (code == LAP_OK)
        code = lap_image_create(&p->other, width, height, channels, 0, err);
    if (code == LAP_OK)
        code = p->run(p, lap_rung_reference(op), &use, &p->reference.view);
    if (code == LAP_OK)
        code = lap_compare_ladder(p->comparison, op, run_picture, p, err);
    lap_image_destroy(&p->reference);
    lap_image_destroy(&p->other);
    return code;
}

static lap_code filter(const pictures *p, const lap_rung *rung, const lap_resources *use, const lap_view *out)
{
    const lap_comparison *c = p->comparison;
    return lap_rung_filter(rung, use, c->pixels, out, c->params, c->border);
}

static lap_code transpose(
    const pictures *p, const lap_rung *rung, const lap_resources *use, const lap_view *out)
{
    return lap_rung_transpose(rung, use, p->comparison->pixels, out);
}

lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err)
{
    pictures p = {.comparison = comparison, .run = filter};
    lap_border_fill(comparison->pixels, comparison->border);
    return compare_pictures(&p, LAP_OP_FILTER, comparison->pixels->width, comparison->pixels->height, err);
}

lap_code lap_compare_transpose(const lap_comparison *comparison, lap_error *err)
{
    pictures p = {.comparison = comparison, .run = transpose};
    return compare_pictures(&p, LAP_OP_TRANSPOSE, comparison->pixels->height, comparison->pixels->width, err);
}

/* ---- any ladder --------------------------------------------------------------------------------- */

lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_compare_fn *each, void *user, lap_error *err)
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
        .pixels = lap_pixels_view(pixels),
        .backends = options->backends,
        .params = &params,
        .border = settings->border,
        .each = each,
        .user = user};
    if ((int)op < 0 || op >= LAP_OP_COUNT)
        return lap_fail(err, LAP_E_USAGE, "no such ladder: %d", (int)op);
    if (options->runs < 0 || options->runs > MOST_RUNS)
        return lap_fail(err, LAP_E_USAGE, "compare: %d runs; 1 to %d are possible", options->runs, MOST_RUNS);
    lap_rung_start_device(op, options->backends, settings->device);
    return ladders[op](&comparison, err);
}
