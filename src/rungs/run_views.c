#include "rungs/run_views.h"

#include "base/image.h"
#include "cuda/device/device.h"

enum { ALIGNMENT = 128 }; /* required by cuda/device/device.h */

void lap_views_space_free(lap_views_space *space)
{
    lap_cuda_view_destroy(&space->result);
    lap_cuda_view_destroy(&space->source);
}

bool lap_view_is_aligned(const lap_view *view)
{
    return ((uintptr_t)view->base | (uintptr_t)view->stride) % ALIGNMENT == 0;
}

lap_code lap_views_check(const lap_view *view, const char *which, lap_error *err)
{
    return lap_cuda_check_place(view, which, err);
}

lap_code lap_views_wait(int device, void *stream, lap_error *err)
{
    return lap_cuda_sync(device, stream, err);
}

/* Sets *view to a view as large as like in the memory of `whole`, which it reallocates if it is too small. */
static lap_code fit(
    lap_view *whole, const lap_view *like, int apron, void *stream, lap_view *view, lap_error *err)
{
    const size_t row = ((size_t)like->width + 2 * (size_t)apron) * (size_t)like->channels;
    lap_code code = LAP_OK;
    if (!whole->base || whole->place != like->place || row > (size_t)whole->stride ||
        like->height > whole->height) {
        if (whole->base)
            code = lap_cuda_sync(whole->place, stream, err);
        lap_cuda_view_destroy(whole);
        if (code == LAP_OK)
            code = lap_cuda_view_create(
                like->place, like->width, like->height, like->channels, apron, whole, err);
    }
    *view = *whole;
    view->width = like->width;
    view->height = like->height;
    view->channels = like->channels;
    return code;
}

lap_code lap_views_result(
    lap_views_space *space, const lap_view *like, void *stream, lap_view *view, lap_error *err)
{
    return fit(&space->result, like, 0, stream, view, err);
}

static lap_code copy_source(const lap_view *in, const lap_view *copy, void *stream, lap_error *err)
{
    const lap_view from = lap_view_inset(in, -in->apron), to = lap_view_inset(copy, -in->apron);
    return lap_cuda_view_copy(&from, &to, stream, err);
}

lap_code lap_views_fill_and_filter(
    const lap_views_filter *f, const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_code code = lap_cuda_border(in, f->border, exec->stream, exec->err);
    return code == LAP_OK ? f->rung->run.filter(in, out, f->params, exec) : code;
}

lap_code lap_views_fill_and_filter_many(
    const lap_views_filter *f, const lap_view_pairs *pairs, const lap_exec *exec)
{
    lap_code code = LAP_OK;
    if (f->rung->filter_many)
        return f->rung->filter_many(pairs, f->border, f->params, exec);
    for (int i = 0; i < pairs->count && code == LAP_OK; i++)
        code = lap_views_fill_and_filter(f, &pairs->rows[i].in, &pairs->rows[i].out, exec);
    return code;
}

lap_code lap_views_run_filter(const lap_views_filter *f, lap_views_space *space, const lap_view *in,
    const lap_view *out, void *stream, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = stream, .err = err};
    lap_view source = *in, result = *out;
    lap_code code = LAP_OK;
    if (in->apron != LAP_APRON || !lap_view_is_aligned(in)) {
        code = fit(&space->source, in, LAP_APRON, stream, &source, err);
        if (code == LAP_OK)
            code = copy_source(in, &source, stream, err);
    }
    if (code == LAP_OK && !lap_view_is_aligned(out))
        code = lap_views_result(space, out, stream, &result, err);
    if (code == LAP_OK)
        code = in->apron == 0 ? lap_views_fill_and_filter(f, &source, &result, &exec)
                              : f->rung->run.filter(&source, &result, f->params, &exec);
    if (code == LAP_OK && result.base != out->base)
        code = lap_cuda_view_copy(&result, out, stream, err);
    return code;
}

lap_code lap_views_histogram(const lap_rung *rung, lap_views_space *space, const lap_view *view,
    uint64_t counts[4][256], void *stream, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = stream, .err = err};
    lap_view pixels = *view;
    lap_code code = LAP_OK;
    if (!lap_view_is_aligned(view)) {
        code = fit(&space->source, view, LAP_APRON, stream, &pixels, err);
        if (code == LAP_OK)
            code = lap_cuda_view_copy(view, &pixels, stream, err);
    }
    if (code == LAP_OK)
        code = rung->run.histogram(&pixels, counts, &exec);
    const lap_code waited = lap_cuda_sync(view->place, stream, code == LAP_OK ? err : NULL);
    return code == LAP_OK ? waited : code;
}

lap_code lap_views_download(const lap_view *view, const lap_view *host, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_download(view, host, stream, err);
    const lap_code waited = lap_cuda_sync(view->place, stream, code == LAP_OK ? err : NULL);
    return code == LAP_OK ? waited : code;
}
