/* Compares ladders whose results are pictures. */
#include <string.h>

#include "base/border.h"
#include "base/image.h"
#include "compare/compare.h"

typedef struct pictures pictures;
typedef lap_code picture_fn(
    const pictures *p, const lap_rung *rung, const lap_resources *use, const lap_view *out);

struct pictures {
    const lap_comparison *comparison;
    picture_fn *run;
    lap_image reference, other; /* results of c and of the current rung */
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
    /* Overwrite the previous rung's pixels. Otherwise a rung that writes nothing would seem right. */
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
