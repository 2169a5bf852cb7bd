#include "rungs/run_rung.h"

#include <pthread.h>

#include "base/image.h"
#include "base/status.h"
#include "cuda/device/queue.h"
#include "rungs/run_views.h"

/* Sizes of the pieces of work. A piece of columns has two strips of the vector rungs, and is so large that
 * its result bypasses the caches. The number of values in a piece is a multiple of the block that a reduction
 * rung sums before it widens. */
enum { TRANSPOSE_COLUMNS = 128, REDUCE_VALUES = 1 << 16, MATVEC_ROWS = 64, HISTOGRAM_BYTES = 4 << 20 };
/* Filter: pieces are so large that rereading four halo rows for each of them costs little. Higher pieces than
 * the second number are slower, also with one thread (docs/ladder-cpu.md). Each of several threads gets
 * several pieces, since cores are seldom equally fast. */
enum { FILTER_ROWS = 48, MOST_FILTER_ROWS = 480, PIECES_PER_THREAD = 4 };
/* A result of more bytes than this has left the caches before it is read. */
enum { CACHE_BYTES = 16 << 20 };
/* Each piece stores its sum separately: adding sums in order of arrival would not be repeatable. */
enum { MAX_SUMS = 256 };

/* ---- on a device: rungs that take pixels ------------------------------------------------------- */

enum { STAGES = 3 }; /* upload, work, download */

typedef struct visit { /* one run of a device rung on host pixels */
    const lap_rung *rung;
    const lap_resources *use;
    const lap_view *in, *out;       /* on the host; out NULL: the rung's result is not pixels */
    const lap_views_filter *filter; /* NULL: the op is not filter and needs no apron */
    uint64_t (*counts)[256];
    void *stream, *marks[STAGES + 1];
    lap_view from, to; /* on the device */
} visit;

static lap_exec exec_on(const lap_resources *use, void *stream)
{
    lap_exec exec = use->exec;
    exec.threads = 1;
    exec.stream = stream;
    return exec;
}

static lap_code arrive(visit *v)
{
    const int device = v->use->device, apron = v->filter ? LAP_APRON : 0;
    lap_error *err = v->use->exec.err;
    lap_code code = lap_cuda_stream_create(device, &v->stream, err);
    for (int i = 0; i <= STAGES && code == LAP_OK; i++)
        code = lap_cuda_event_create(device, &v->marks[i], err);
    if (code == LAP_OK)
        code =
            lap_cuda_view_create(device, v->in->width, v->in->height, v->in->channels, apron, &v->from, err);
    if (code == LAP_OK && v->out)
        code = lap_cuda_view_create(device, v->out->width, v->out->height, v->out->channels, 0, &v->to, err);
    return code;
}

static lap_code launch(const visit *v)
{
    const lap_exec exec = exec_on(v->use, v->stream);
    switch (v->rung->op) {
    case LAP_OP_FILTER:
        return lap_views_fill_and_filter(v->filter, &v->from, &v->to, &exec);
    case LAP_OP_TRANSPOSE:
        return v->rung->run.transpose(&v->from, &v->to, &exec);
    default:
        return v->rung->run.histogram(&v->from, v->counts, &exec);
    }
}

static lap_code bring(const visit *v)
{
    return lap_cuda_upload(v->in, &v->from, v->stream, v->use->exec.err);
}

static lap_code fetch(const visit *v)
{
    return v->out ? lap_cuda_download(&v->to, v->out, v->stream, v->use->exec.err) : LAP_OK;
}

/* Enqueues all stages, with an event before and after each. */
static lap_code enqueue(const visit *v)
{
    static lap_code (*const stages[STAGES])(const visit *v) = {bring, launch, fetch};
    const int device = v->use->device;
    lap_error *err = v->use->exec.err;
    lap_code code = lap_cuda_event_record(device, v->marks[0], v->stream, err);
    for (int i = 0; i < STAGES && code == LAP_OK; i++) {
        code = stages[i](v);
        if (code == LAP_OK)
            code = lap_cuda_event_record(device, v->marks[i + 1], v->stream, err);
    }
    return code;
}

static lap_code time_stages(const visit *v)
{
    lap_times *times = v->use->times;
    double ms[STAGES];
    lap_code code = LAP_OK;
    for (int i = 0; i < STAGES && code == LAP_OK && times; i++)
        code = lap_cuda_event_ms(v->use->device, v->marks[i], v->marks[i + 1], &ms[i], v->use->exec.err);
    if (code == LAP_OK && times) {
        times->upload = ms[0];
        times->filter = ms[1];
        times->download = ms[2];
    }
    return code;
}

static void leave(visit *v)
{
    lap_cuda_view_destroy(&v->to);
    lap_cuda_view_destroy(&v->from);
    for (int i = 0; i <= STAGES; i++)
        lap_cuda_event_destroy(v->use->device, v->marks[i]);
    lap_cuda_stream_destroy(v->use->device, v->stream);
}

static lap_code visit_device(visit v)
{
    lap_code code = arrive(&v);
    if (code == LAP_OK)
        code = enqueue(&v);
    if (v.stream) { /* after a failure too: the device may still use memory that is freed next */
        const lap_code waited =
            lap_cuda_sync(v.use->device, v.stream, code == LAP_OK ? v.use->exec.err : NULL);
        code = code == LAP_OK ? waited : code;
    }
    if (code == LAP_OK)
        code = time_stages(&v);
    leave(&v);
    return code;
}

/* ---- on a device: rungs that take numbers ------------------------------------------------------ */

static lap_code upload(const lap_resources *use, const void *from, size_t bytes, void **memory)
{
    lap_code code = lap_cuda_alloc(use->device, bytes, memory, use->exec.err);
    if (code == LAP_OK)
        code = lap_cuda_copy(use->device, *memory, from, bytes, NULL, use->exec.err);
    return code == LAP_OK ? lap_cuda_sync(use->device, NULL, use->exec.err) : code;
}

static lap_code reduce_on_device(
    const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum)
{
    const lap_exec exec = exec_on(use, NULL);
    const size_t size = in->is_double ? sizeof(double) : sizeof(float);
    void *memory = NULL;
    lap_code code = upload(use, in->base, in->n * size, &memory);
    const lap_array array = {memory, in->n, in->is_double, use->device};
    if (code == LAP_OK)
        code = rung->run.reduce(&array, sum, &exec);
    lap_cuda_free(use->device, memory);
    return code;
}

static lap_code matvec_on_device(const lap_rung *rung, const lap_resources *use, const lap_gemv *g)
{
    const lap_exec exec = exec_on(use, NULL);
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

/* ---- on the host: in pieces -------------------------------------------------------------------- */

typedef struct work { /* shared by the threads that work on its pieces */
    const lap_rung *rung;
    lap_exec exec; /* for one thread */
    const lap_view *in, *out;
    const lap_params *params;
    const lap_array *array;
    const lap_gemv *gemv;
    double sums[MAX_SUMS];
    size_t sum_values;    /* values in each of sums */
    pthread_mutex_t lock; /* guards counts */
    uint64_t (*counts)[256];
} work;

static bool is_split(const lap_rung *rung, const lap_resources *use)
{
    return rung->threading == LAP_THREADS_SPLIT && use->exec.threads > 1 && use->pool;
}

static lap_code in_pieces(work *w, const lap_resources *use, size_t size, size_t piece, lap_piece_fn *fn)
{
    w->exec = use->exec;
    w->exec.threads = 1;
    return lap_pool_for(use->pool, (lap_span){use->exec.threads, size, piece}, fn, w, use->exec.err);
}

static lap_exec exec_of(const work *w, lap_error *err)
{
    lap_exec exec = w->exec;
    exec.err = err;
    return exec;
}

/* Adds a message, since host rungs return only a code. */
static lap_code explained(const lap_rung *rung, lap_code code, lap_error *err)
{
    if (code == LAP_OK || !err || (err->code == code && err->message[0]))
        return code;
    const char *why = code == LAP_E_MEMORY ? "out of memory" : lap_code_name(code);
    return lap_fail(err, code, "%s in the %s rung %s", why, lap_op_name(rung->op), rung->name);
}

/* ---- filter ------------------------------------------------------------------------------------- */

static lap_code filter_rows(void *argument, const lap_piece *piece, lap_error *err)
{
    const work *w = argument;
    const lap_exec exec = exec_of(w, err);
    const lap_view in = lap_view_rows(w->in, (int)piece->first, (int)piece->n);
    const lap_view out = lap_view_rows(w->out, (int)piece->first, (int)piece->n);
    return w->rung->run.filter(&in, &out, w->params, &exec);
}

lap_code lap_rung_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border)
{
    const lap_views_filter filter = {rung, params, border};
    if (rung->device)
        return explained(rung,
            visit_device((visit){.rung = rung, .use = use, .in = in, .out = out, .filter = &filter}),
            use->exec.err);
    lap_resources how = *use;
    how.exec.past_caches |= (size_t)out->height * (size_t)out->stride > CACHE_BYTES;
    const int threads = use->pool && use->exec.threads > 1 ? use->exec.threads : 1;
    int rows = out->height / (threads > 1 ? threads * PIECES_PER_THREAD : 1) + 1;
    rows = rows < FILTER_ROWS ? FILTER_ROWS : rows > MOST_FILTER_ROWS ? MOST_FILTER_ROWS : rows;
    work w = {.rung = rung, .in = in, .out = out, .params = params};
    lap_code code = rung->threading == LAP_THREADS_SPLIT && rows < out->height
                        ? in_pieces(&w, &how, (size_t)out->height, (size_t)rows, filter_rows)
                        : rung->run.filter(in, out, params, &how.exec);
    return explained(rung, code, use->exec.err);
}

/* ---- transpose: columns of the input are rows of the result ------------------------------------- */

static lap_code transpose_columns(void *argument, const lap_piece *piece, lap_error *err)
{
    const work *w = argument;
    const lap_exec exec = exec_of(w, err);
    lap_view in = *w->in, out = *w->out;
    in.base += piece->first * (size_t)in.channels;
    in.width = out.height = (int)piece->n;
    out.base += (ptrdiff_t)piece->first * out.stride;
    return w->rung->run.transpose(&in, &out, &exec);
}

lap_code lap_rung_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out)
{
    work w = {.rung = rung, .in = in, .out = out};
    lap_code code = rung->device ? visit_device((visit){.rung = rung, .use = use, .in = in, .out = out})
                    : is_split(rung, use)
                        ? in_pieces(&w, use, (size_t)in->width, TRANSPOSE_COLUMNS, transpose_columns)
                        : rung->run.transpose(in, out, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- reduction ---------------------------------------------------------------------------------- */

static lap_code reduce_values(void *argument, const lap_piece *piece, lap_error *err)
{
    work *w = argument;
    const lap_exec exec = exec_of(w, err);
    const size_t size = w->array->is_double ? sizeof(double) : sizeof(float);
    lap_array slice = *w->array;
    slice.base = (const char *)slice.base + piece->first * size;
    slice.n = piece->n;
    return w->rung->run.reduce(&slice, &w->sums[piece->first / w->sum_values], &exec);
}

static lap_code reduce_in_pieces(
    const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum)
{
    work w = {.rung = rung, .array = in};
    w.sum_values = (in->n / MAX_SUMS + REDUCE_VALUES) / REDUCE_VALUES * REDUCE_VALUES;
    lap_code code = in_pieces(&w, use, in->n, w.sum_values, reduce_values);
    *sum = 0;
    for (int i = 0; i < MAX_SUMS; i++) {
        *sum += w.sums[i];
    }
    return code;
}

lap_code lap_rung_reduce(const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum)
{
    lap_code code = rung->device          ? reduce_on_device(rung, use, in, sum)
                    : is_split(rung, use) ? reduce_in_pieces(rung, use, in, sum)
                                          : rung->run.reduce(in, sum, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- histogram ---------------------------------------------------------------------------------- */

static lap_code count_rows(void *argument, const lap_piece *piece, lap_error *err)
{
    work *w = argument;
    const lap_exec exec = exec_of(w, err);
    uint64_t counts[4][256] = {0};
    const lap_view rows = lap_view_rows(w->in, (int)piece->first, (int)piece->n);
    lap_code code = w->rung->run.histogram(&rows, counts, &exec);
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < 4 * 256; i++)
        w->counts[i / 256][i % 256] += counts[i / 256][i % 256];
    pthread_mutex_unlock(&w->lock);
    return code;
}

lap_code lap_rung_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256])
{
    work w = {.rung = rung, .in = in, .counts = counts, .lock = PTHREAD_MUTEX_INITIALIZER};
    const size_t rows = HISTOGRAM_BYTES / ((size_t)in->width * (size_t)in->channels) + 1;
    lap_code code = rung->device ? visit_device((visit){.rung = rung, .use = use, .in = in, .counts = counts})
                    : is_split(rung, use) ? in_pieces(&w, use, (size_t)in->height, rows, count_rows)
                                          : rung->run.histogram(in, counts, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- matrix-vector ------------------------------------------------------------------------------ */

static lap_code multiply_rows(void *argument, const lap_piece *piece, lap_error *err)
{
    const work *w = argument;
    const lap_exec exec = exec_of(w, err);
    lap_gemv slice = *w->gemv;
    slice.a += piece->first * slice.lda;
    slice.y += piece->first;
    slice.rows = piece->n;
    return w->rung->run.matvec(&slice, &exec);
}

lap_code lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g)
{
    work w = {.rung = rung, .gemv = g};
    lap_code code = rung->device          ? matvec_on_device(rung, use, g)
                    : is_split(rung, use) ? in_pieces(&w, use, g->rows, MATVEC_ROWS, multiply_rows)
                                          : rung->run.matvec(g, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- the device --------------------------------------------------------------------------------- */

static void start_device(int device)
{
    void *memory = NULL; /* the first allocation creates the context */
    if (lap_cuda_alloc(device, 1, &memory, NULL) == LAP_OK)
        lap_cuda_free(device, memory);
}

void lap_rung_start_device(lap_op op, const char *list, int device)
{
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (row->device && row->run.filter && lap_rung_is_listed(row, list) && !row->available()) {
            start_device(device);
            return;
        }
    }
}
