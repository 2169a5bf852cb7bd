#include "compare.h"

#include <math.h>
#include <string.h>

#include "border.h"
#include "context.h"
#include "image.h"
#include "status.h"
#if LAP_HAVE_CUDA
#include "../cuda/device.h"
#endif

lap_code lap_compare_ladder(
    const lap_comparison *comparison, lap_op op, lap_compare_run_fn *run, void *state, lap_error *err)
{
    const lap_rung *row, *rung;
    lap_error why;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (!lap_rung_is_listed(row, comparison->backends))
            continue;
        lap_compare_row told = {.op = op, .backend = row->name, .relative_error = NAN};
        lap_code code = lap_rung_find(op, row->name, &rung, &why);
        if (code == LAP_OK)
            code = run(state, rung, &told, &why);
        if (code == LAP_E_MEMORY) {
            if (err)
                *err = why;
            return code;
        }
        if (code == LAP_OK)
            told.resolved = rung->name;
        else
            told.reason = why.message;
        comparison->each(comparison->user, &told);
    }
    return LAP_OK;
}

/* ---- filter ------------------------------------------------------------------------------------- */

typedef struct filter_state {
    const lap_comparison *comparison;
    const lap_view *in;
    lap_image law, other; /* of c, and of the rung at hand */
} filter_state;

static lap_code filter_with(const filter_state *s, const lap_rung *rung, const lap_view *out, lap_error *err)
{
    const lap_comparison *c = s->comparison;
    lap_exec exec = {.threads = c->threads, .err = err};
#if LAP_HAVE_CUDA
    if (rung->device)
        return lap_cuda_filter_host(rung, c->device, s->in, out, c->params, c->border, NULL, err);
#endif
    lap_code code = lap_filter_rows(rung, s->in, out, c->params, &exec, c->pool);
    return code == LAP_OK ? code : lap_fail(err, code, "%s: %s", rung->name, lap_code_name(code));
}

static lap_code run_filter(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    filter_state *s = state;
    /* A rung that writes nothing must not inherit the pixels of the one before. */
    memset(s->other.memory, 0xA5, s->other.bytes);
    double began = lap_now_ms();
    lap_code code = filter_with(s, rung, &s->other.view, err);
    row->ms = lap_now_ms() - began;
    row->a = &s->law.view;
    row->b = &s->other.view;
    if (code == LAP_OK)
        code = lap_compare_views(row->a, row->b, 0, false, &row->difference, err);
    return code;
}

lap_code lap_compare_filter(const lap_comparison *comparison, lap_error *err)
{
    const lap_view *in = comparison->pixels;
    filter_state s = {.comparison = comparison, .in = in};
    const lap_rung *c;
    lap_border_fill(in, comparison->border);
    lap_code code = lap_rung_find(LAP_OP_FILTER, "c", &c, err);
    if (code == LAP_OK)
        code = lap_image_create(&s.law, in->width, in->height, in->channels, 0, err);
    if (code == LAP_OK)
        code = lap_image_create(&s.other, in->width, in->height, in->channels, 0, err);
    if (code == LAP_OK)
        code = filter_with(&s, c, &s.law.view, err);
    if (code == LAP_OK)
        code = lap_compare_ladder(comparison, LAP_OP_FILTER, run_filter, &s, err);
    lap_image_destroy(&s.law);
    lap_image_destroy(&s.other);
    return code;
}

lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const char *backends,
    const lap_settings *settings, lap_compare_fn *each, void *user, lap_error *err)
{
    static lap_code (*const ladders[LAP_OP_COUNT])(const lap_comparison *, lap_error *) = {
        [LAP_OP_FILTER] = lap_compare_filter,
        [LAP_OP_TRANSPOSE] = lap_compare_transpose,
        [LAP_OP_REDUCE] = lap_compare_reduce,
        [LAP_OP_HISTOGRAM] = lap_compare_histogram,
        [LAP_OP_MATVEC] = lap_compare_matvec,
    };
    lap_view view = *lap_pixels_view(pixels);
    lap_comparison comparison = {.pool = context->pool,
        .threads = context->threads,
        .device = settings->device,
        .pixels = &view,
        .backends = backends,
        .params = &settings->params,
        .border = settings->border,
        .each = each,
        .user = user};
    if ((int)op < 0 || op >= LAP_OP_COUNT)
        return lap_fail(err, LAP_E_USAGE, "no such ladder: %d", (int)op);
    return ladders[op](&comparison, err);
}
