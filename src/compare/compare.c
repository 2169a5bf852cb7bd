/* Comparing ladders whose results are pictures, and the walk over any ladder. */
#include "compare/compare.h"

#include <math.h>
#include <string.h>

#include "base/border.h"
#include "base/context.h"
#include "base/image.h"
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

lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err)
{
    const lap_rung *row, *rung;
    lap_rung_info info;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        lap_error why = {0};
        lap_compare_row result = {.op = op,
            .backend = row->name,
            .relative_error = NAN,
            .ms = NAN,
            .upload_ms = NAN,
            .kernel_ms = NAN,
            .download_ms = NAN};
        if (!lap_rung_is_listed(row, comparison->backends))
            continue;
        lap_code code = lap_control_check(comparison->control, &why);
        if (code == LAP_OK)
            code = lap_rung_find(op, row->name, &rung, &why);
        if (code == LAP_E_BACKEND && lap_rung_at(op, i, true, &info))
            result.cause = info.reason;
        if (code == LAP_OK) {
            result.resolved = rung->name;
            code = run(state, rung, &result, &why);
            if (code != LAP_OK && why.code != code)
                lap_fail(&why, code, "%s: %s", rung->name, lap_code_name(code));
        }
        if (ends_everything(code)) {
            if (err)
                *err = why;
            return code;
        }
        if (code != LAP_OK)
            result.reason = why.message;
        comparison->each(comparison->user, &result);
    }
    return LAP_OK;
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

static lap_code run_picture(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    pictures *p = state;
    lap_times times = {.upload = NAN, .filter = NAN, .download = NAN}; /* a host rung leaves them alone */
    lap_resources use = lap_compare_resources(p->comparison, err);
    use.times = &times;
    /* A rung that writes nothing must not inherit the pixels of the one before. */
    memset(p->other.memory, 0xA5, p->other.bytes);
    double began = lap_now_ms();
    lap_code code = p->run(p, rung, &use, &p->other.view);
    row->ms = lap_now_ms() - began;
    row->upload_ms = times.upload;
    row->kernel_ms = times.filter;
    row->download_ms = times.download;
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
        .pixels = lap_pixels_view(pixels),
        .backends = options->backends,
        .params = &settings->params,
        .border = settings->border,
        .each = each,
        .user = user};
    if ((int)op < 0 || op >= LAP_OP_COUNT)
        return lap_fail(err, LAP_E_USAGE, "no such ladder: %d", (int)op);
    lap_rung_start_device(op, options->backends, settings->device);
    return ladders[op](&comparison, err);
}
