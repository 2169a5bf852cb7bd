#include "rungs/run_device.h"

#include "base/status.h"
#include "cuda/device/device.h"

/* ---- rungs that take pixels --------------------------------------------------------------------- */

typedef struct launch {
    const lap_rung *rung;
    lap_exec exec;
    const lap_params *params;
    uint64_t (*counts)[256];
} launch;

static lap_exec exec_on(const launch *l, void *stream, lap_error *err)
{
    lap_exec exec = l->exec;
    exec.threads = 1;
    exec.stream = stream;
    exec.err = err;
    return exec;
}

static lap_code launch_filter(
    void *argument, const lap_view *in, const lap_view *out, void *stream, lap_error *err)
{
    const launch *l = argument;
    const lap_exec exec = exec_on(l, stream, err);
    return l->rung->run.filter(in, out, l->params, &exec);
}

static lap_code launch_transpose(
    void *argument, const lap_view *in, const lap_view *out, void *stream, lap_error *err)
{
    const launch *l = argument;
    const lap_exec exec = exec_on(l, stream, err);
    return l->rung->run.transpose(in, out, &exec);
}

static lap_code launch_histogram(
    void *argument, const lap_view *in, const lap_view *out, void *stream, lap_error *err)
{
    (void)out;
    const launch *l = argument;
    const lap_exec exec = exec_on(l, stream, err);
    return l->rung->run.histogram(in, l->counts, &exec);
}

lap_code lap_device_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border)
{
    launch l = {.rung = rung, .exec = use->exec, .params = params};
    return lap_cuda_run_views(use->device, in, out, &border, launch_filter, &l, use->times, use->exec.err);
}

lap_code lap_device_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out)
{
    launch l = {.rung = rung, .exec = use->exec};
    return lap_cuda_run_views(use->device, in, out, NULL, launch_transpose, &l, use->times, use->exec.err);
}

lap_code lap_device_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256])
{
    launch l = {.rung = rung, .exec = use->exec, .counts = counts};
    return lap_cuda_run_views(use->device, in, NULL, NULL, launch_histogram, &l, use->times, use->exec.err);
}

/* ---- rungs that take numbers -------------------------------------------------------------------- */

static lap_code upload(const lap_resources *use, const void *from, size_t bytes, void **memory)
{
    lap_code code = lap_cuda_alloc(use->device, bytes, memory, use->exec.err);
    if (code == LAP_OK)
        code = lap_cuda_copy(use->device, *memory, from, bytes, NULL, use->exec.err);
    return code == LAP_OK ? lap_cuda_sync(use->device, NULL, use->exec.err) : code;
}

lap_code lap_device_reduce(const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum)
{
    const lap_exec exec = exec_on(&(launch){.exec = use->exec}, NULL, use->exec.err);
    const size_t size = in->is_double ? sizeof(double) : sizeof(float);
    void *memory = NULL;
    lap_code code = upload(use, in->base, in->n * size, &memory);
    const lap_array array = {memory, in->n, in->is_double, use->device};
    if (code == LAP_OK)
        code = rung->run.reduce(&array, sum, &exec);
    lap_cuda_free(use->device, memory);
    return code;
}

lap_code lap_device_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g)
{
    const lap_exec exec = exec_on(&(launch){.exec = use->exec}, NULL, use->exec.err);
    void *a = NULL, *x = NULL, *y = NULL;
    const size_t matrix_floats = g->rows ? (g->rows - 1) * g->lda + g->cols : 0;
    const size_t y_bytes = g->rows * sizeof *g->y;
    lap_code code = upload(use, g->a, matrix_floats * sizeof *g->a, &a);
    if (code == LAP_OK)
        code = upload(use, g->x, g->cols * sizeof *g->x, &x);
    if (code == LAP_OK)
        code = upload(use, g->y, y_bytes, &y);
    const lap_gemv on_device = {a, g->lda, g->rows, g->cols, x, y, use->device};
    if (code == LAP_OK)
        code = rung->run.matvec(&on_device, &exec);
    if (code == LAP_OK)
        code = lap_cuda_copy(use->device, g->y, y, y_bytes, NULL, use->exec.err);
    if (code == LAP_OK)
        code = lap_cuda_sync(use->device, NULL, use->exec.err);
    lap_cuda_free(use->device, a);
    lap_cuda_free(use->device, x);
    lap_cuda_free(use->device, y);
    return code;
}

/* ---- the device itself -------------------------------------------------------------------------- */

void lap_device_start(int device)
{
    void *memory = NULL; /* the first allocation creates the context */
    if (lap_cuda_alloc(device, 1, &memory, NULL) == LAP_OK)
        lap_cuda_free(device, memory);
}
