#include "rungs/spread.h"

#include <pthread.h>

/* What work is cut by. Columns: two strips of the vector rungs, and enough of a photo for its result to
 * go past the caches. Values: a multiple of the block that a reduction rung sums before it widens. */
enum { TRANSPOSE_COLUMNS = 128, REDUCE_VALUES = 1 << 16, MATVEC_ROWS = 64, HISTOGRAM_BYTES = 4 << 20 };

typedef struct spread {
    const lap_rung *rung;
    lap_exec exec; /* of one member: one thread */
    size_t size, piece;
    pthread_mutex_t lock; /* of the rest */
    size_t next;
    lap_code code; /* the first failure */
    /* what the rung works on */
    const lap_view *in, *out;
    const lap_array *array;
    const lap_gemv *gemv;
    uint64_t (*counts)[256];
} spread;

/* The next piece, or false where nothing is left or a member failed. */
static bool take(spread *s, size_t *first, size_t *n)
{
    pthread_mutex_lock(&s->lock);
    *first = s->next;
    *n = s->size - s->next < s->piece ? s->size - s->next : s->piece;
    s->next += *n;
    bool has_work = *n > 0 && s->code == LAP_OK;
    pthread_mutex_unlock(&s->lock);
    return has_work;
}

static void failed(spread *s, lap_code code)
{
    pthread_mutex_lock(&s->lock);
    if (s->code == LAP_OK)
        s->code = code;
    pthread_mutex_unlock(&s->lock);
}

static lap_code run(spread *s, int threads, lap_pool *pool, lap_job_fn *work)
{
    pthread_mutex_init(&s->lock, NULL);
    s->exec.threads = 1;
    lap_pool_team(pool, threads, work, s);
    pthread_mutex_destroy(&s->lock);
    return s->code;
}

static bool is_split(const lap_rung *rung, const lap_exec *exec, const lap_pool *pool)
{
    return rung->threading == LAP_THREADS_SPLIT && exec->threads > 1 && pool;
}

/* ---- transpose: columns of the input are rows of the result ------------------------------------ */

static void transpose_pieces(void *argument)
{
    spread *s = argument;
    size_t x, n;
    while (take(s, &x, &n)) {
        lap_view in = *s->in, out = *s->out;
        in.base += x * (size_t)in.channels;
        in.width = out.height = (int)n;
        out.base += (ptrdiff_t)x * out.stride;
        lap_code code = s->rung->run.transpose(&in, &out, &s->exec);
        if (code != LAP_OK)
            failed(s, code);
    }
}

lap_code lap_spread_transpose(
    const lap_rung *rung, const lap_view *in, const lap_view *out, const lap_exec *exec, lap_pool *pool)
{
    if (!is_split(rung, exec, pool))
        return rung->run.transpose(in, out, exec);
    spread s = {.rung = rung,
        .exec = *exec,
        .size = (size_t)in->width,
        .piece = TRANSPOSE_COLUMNS,
        .in = in,
        .out = out};
    return run(&s, exec->threads, pool, transpose_pieces);
}

/* ---- reduction: parts whose sums are added in order of arrival would not be repeatable, so each
 * member sums one fixed share ---------------------------------------------------------------------- */

enum { MOST_SHARES = 256 };

typedef struct shares {
    spread base;
    double sums[MOST_SHARES];
} shares;

static void reduce_pieces(void *argument)
{
    shares *s = argument;
    const lap_array *a = s->base.array;
    size_t first, n;
    while (take(&s->base, &first, &n)) {
        const size_t size = a->is_double ? sizeof(double) : sizeof(float);
        const lap_array part = {(const char *)a->base + first * size, n, a->is_double, a->place};
        lap_code code = s->base.rung->run.reduce(&part, &s->sums[first / s->base.piece], &s->base.exec);
        if (code != LAP_OK)
            failed(&s->base, code);
    }
}

lap_code lap_spread_reduce(
    const lap_rung *rung, const lap_array *in, double *sum, const lap_exec *exec, lap_pool *pool)
{
    if (!is_split(rung, exec, pool))
        return rung->run.reduce(in, sum, exec);
    size_t share = (in->n / MOST_SHARES + REDUCE_VALUES) / REDUCE_VALUES * REDUCE_VALUES;
    shares s = {.base = {.rung = rung, .exec = *exec, .size = in->n, .piece = share, .array = in}};
    lap_code code = run(&s.base, exec->threads, pool, reduce_pieces);
    *sum = 0;
    for (int i = 0; i < MOST_SHARES; i++) {
        *sum += s.sums[i];
    }
    return code;
}

/* ---- histogram --------------------------------------------------------------------------------- */

static void histogram_pieces(void *argument)
{
    spread *s = argument;
    uint64_t counts[4][256] = {0};
    size_t y, n;
    while (take(s, &y, &n)) {
        lap_view rows = *s->in;
        rows.base += (ptrdiff_t)y * rows.stride;
        rows.height = (int)n;
        lap_code code = s->rung->run.histogram(&rows, counts, &s->exec);
        if (code != LAP_OK)
            failed(s, code);
    }
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < 4 * 256; i++) {
        s->counts[i / 256][i % 256] += counts[i / 256][i % 256];
    }
    pthread_mutex_unlock(&s->lock);
}

lap_code lap_spread_histogram(
    const lap_rung *rung, const lap_view *in, uint64_t counts[4][256], const lap_exec *exec, lap_pool *pool)
{
    if (!is_split(rung, exec, pool))
        return rung->run.histogram(in, counts, exec);
    const size_t rows = HISTOGRAM_BYTES / ((size_t)in->width * (size_t)in->channels) + 1;
    spread s = {
        .rung = rung, .exec = *exec, .size = (size_t)in->height, .piece = rows, .in = in, .counts = counts};
    return run(&s, exec->threads, pool, histogram_pieces);
}

/* ---- matrix-vector ----------------------------------------------------------------------------- */

static void matvec_pieces(void *argument)
{
    spread *s = argument;
    size_t first, n;
    while (take(s, &first, &n)) {
        lap_gemv part = *s->gemv;
        part.a += first * part.lda;
        part.y += first;
        part.rows = n;
        lap_code code = s->rung->run.matvec(&part, &s->exec);
        if (code != LAP_OK)
            failed(s, code);
    }
}

lap_code lap_spread_matvec(const lap_rung *rung, const lap_gemv *g, const lap_exec *exec, lap_pool *pool)
{
    if (!is_split(rung, exec, pool))
        return rung->run.matvec(g, exec);
    spread s = {.rung = rung, .exec = *exec, .size = g->rows, .piece = MATVEC_ROWS, .gemv = g};
    return run(&s, exec->threads, pool, matvec_pieces);
}
