#include "rungs/run_rung.h"

#include <pthread.h>

#include "base/image.h"
#include "base/status.h"
#include "rungs/run_device.h"

/* What work is cut by. Columns: two strips of the vector rungs, and enough of a photo for its result to
 * go past the caches. Values: a multiple of the block that a reduction rung sums before it widens. */
enum { TRANSPOSE_COLUMNS = 128, REDUCE_VALUES = 1 << 16, MATVEC_ROWS = 64, HISTOGRAM_BYTES = 4 << 20 };
/* Filter: pieces large enough that the halo of four rows, which each piece reads again, weighs little, and
 * several for each thread, since cores are seldom equally fast. */
enum { FILTER_ROWS = 48, PIECES_PER_THREAD = 4 };
/* A result of more bytes than this has left the caches before anybody reads it. */
enum { CACHE_BYTES = 16 << 20 };
/* Parts whose sums are added in order of arrival would not be repeatable, so each part has its own place. */
enum { MAX_SUMS = 256 };

typedef struct work { /* shared by those who work on pieces of it */
    const lap_rung *rung;
    lap_exec exec; /* of one thread */
    const lap_view *in, *out;
    const lap_params *params;
    const lap_array *array;
    const lap_gemv *gemv;
    double sums[MAX_SUMS];
    size_t sum_values;    /* values in each of sums */
    pthread_mutex_t lock; /* of counts */
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
    return lap_pool_for(use->pool, use->exec.threads, size, piece, fn, w, use->exec.err);
}

static lap_exec exec_of(const work *w, lap_error *err)
{
    lap_exec exec = w->exec;
    exec.err = err;
    return exec;
}

/* A rung on the host only returns a code. */
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
    if (rung->device)
        return explained(rung, lap_device_filter(rung, use, in, out, params, border), use->exec.err);
    lap_resources how = *use;
    how.exec.past_caches |= (size_t)out->height * (size_t)out->stride > CACHE_BYTES;
    const int threads = use->exec.threads > 1 ? use->exec.threads : 1;
    int rows = out->height / (threads * PIECES_PER_THREAD) + 1;
    rows = rows < FILTER_ROWS ? FILTER_ROWS : rows;
    work w = {.rung = rung, .in = in, .out = out, .params = params};
    lap_code code = is_split(rung, use) && rows < out->height
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
    lap_code code = rung->device ? lap_device_transpose(rung, use, in, out)
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
    lap_array part = *w->array;
    part.base = (const char *)part.base + piece->first * size;
    part.n = piece->n;
    return w->rung->run.reduce(&part, &w->sums[piece->first / w->sum_values], &exec);
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
    lap_code code = rung->device          ? lap_device_reduce(rung, use, in, sum)
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
    lap_code code = rung->device          ? lap_device_histogram(rung, use, in, counts)
                    : is_split(rung, use) ? in_pieces(&w, use, (size_t)in->height, rows, count_rows)
                                          : rung->run.histogram(in, counts, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- matrix-vector ------------------------------------------------------------------------------ */

static lap_code multiply_rows(void *argument, const lap_piece *piece, lap_error *err)
{
    const work *w = argument;
    const lap_exec exec = exec_of(w, err);
    lap_gemv part = *w->gemv;
    part.a += piece->first * part.lda;
    part.y += piece->first;
    part.rows = piece->n;
    return w->rung->run.matvec(&part, &exec);
}

lap_code lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g)
{
    work w = {.rung = rung, .gemv = g};
    lap_code code = rung->device          ? lap_device_matvec(rung, use, g)
                    : is_split(rung, use) ? in_pieces(&w, use, g->rows, MATVEC_ROWS, multiply_rows)
                                          : rung->run.matvec(g, &use->exec);
    return explained(rung, code, use->exec.err);
}

/* ---- the device --------------------------------------------------------------------------------- */

void lap_rung_start_device(lap_op op, const char *list, int device)
{
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (row->device && row->run.filter && lap_rung_is_listed(row, list) && !row->available()) {
            lap_device_start(device);
            return;
        }
    }
}
