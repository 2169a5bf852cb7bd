#include "run/bands.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/border.h"
#include "base/pages.h"
#include "base/status.h"
#include "base/times.h"
#include "ops/ops.h"
#include "rungs/run_rung.h"

typedef struct cell {
    lap_image pixels;
    lap_chunk chunk;
    lap_photo_counts *counts;
    bool is_ready; /* filtered, and encoded if bands may be encoded in any order; can be appended */
} cell;

typedef struct team {
    const lap_bands_job *job;
    const lap_plan *plan;
    const lap_rung *counter; /* the histogram rung; NULL: count nothing */
    cell *cells;
    /* Each of the next two is one image, so that large pages hold the rows of several threads. */
    lap_image results; /* stacked: the rows of one result per thread, or per cell */
    lap_image strips;  /* by parts: one source strip per thread, each with its own rows of apron */
    int result_rows, strip_pitch;
    uint8_t *chunks; /* by parts: memory in which the chunks begin; may be NULL */

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    int members;                    /* number of threads that joined */
    int decoded, started, appended; /* number of bands so far */
    bool decoding, appending;       /* a thread is decoding or appending now */
    bool in_order;                  /* by parts: one thread makes all bands, from one decoder */
    lap_code code;                  /* the first failure */
    lap_error err;
} team;

typedef struct worker { /* state of one thread; no lock needed */
    team *t;
    int member;
    lap_decoder *decoder; /* decodes this thread's rows */
    int end;              /* by parts: number of the band after this thread's part */
    lap_band strip;       /* by parts: the previous strip */
    int filled;           /* by parts: the first image row that is not decoded yet */
    lap_times ms;
    lap_error err;
} worker;

/* ---- memory ------------------------------------------------------------------------------------ */

static lap_code reserve_cell(team *t, cell *c, bool decodes, lap_error *err)
{
    const lap_plan *plan = t->plan;
    if (t->counter) {
        c->counts = malloc(sizeof *c->counts);
        if (!c->counts)
            return lap_fail(err, LAP_E_MEMORY, "out of memory for statistics");
    }
    return decodes ? lap_image_create(
                         &c->pixels, plan->width, lap_plan_rows(plan, 0), plan->channels, LAP_APRON, err)
                   : LAP_OK;
}

/* Allocates the rows for results, per thread or per cell, and the source strips of the threads. */
static lap_code reserve_results(team *t, lap_error *err)
{
    const lap_plan *plan = t->plan;
    const int rows = lap_plan_rows(plan, 0), strip = rows < plan->strip_rows ? rows : plan->strip_rows;
    t->result_rows = plan->encodes_strips ? strip : rows;
    t->strip_pitch = strip + 2 * LAP_APRON;
    if (plan->results == 0)
        return LAP_OK;
    const lap_code code =
        lap_image_create(&t->results, plan->width, plan->results * t->result_rows, plan->channels, 0, err);
    if (code != LAP_OK || !plan->by_parts || !plan->rung)
        return code;
    return lap_image_create(
        &t->strips, plan->width, plan->results * t->strip_pitch, plan->channels, LAP_APRON, err);
}

/* By parts, encoded bands of all threads wait at the same time. Their chunks begin in adjacent memory of
 * large pages, which causes fewer page faults. Encoded edges have about three times the bytes of the photo;
 * the plan reserves half of a waiting band's pixels. */
static void lend_chunks(team *t)
{
    enum { GROWTH = 4 };
    const lap_plan *plan = t->plan;
    const size_t pixels = (size_t)plan->width * (size_t)lap_plan_rows(plan, 0) * (size_t)plan->channels;
    const size_t edges = t->job->decoder->size / (size_t)plan->bands * GROWTH;
    const size_t size = edges < pixels / 2 ? edges : pixels / 2;
    size_t all;
    if (!plan->by_parts || plan->format == LAP_FORMAT_NOTHING || size == 0 ||
        !lap_mul(size, (size_t)plan->cells, &all))
        return;
    t->chunks = lap_pages_alloc(all);
    for (int i = 0; t->chunks && i < plan->cells; i++)
        lap_chunk_lend(&t->cells[i].chunk, t->chunks + (size_t)i * size, size);
}

static lap_code reserve(team *t, lap_error *err)
{
    const lap_plan *plan = t->plan;
    const bool decodes = !plan->by_parts && !t->job->whole && !t->job->result;
    t->cells = calloc((size_t)plan->cells, sizeof *t->cells);
    if (!t->cells)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d bands", plan->cells);
    lend_chunks(t);
    lap_code code = reserve_results(t, err);
    for (int i = 0; i < plan->cells && code == LAP_OK; i++)
        code = reserve_cell(t, &t->cells[i], decodes, err);
    return code;
}

static void release(team *t)
{
    for (int i = 0; t->cells && i < t->plan->cells; i++) {
        lap_image_destroy(&t->cells[i].pixels);
        lap_chunk_free(&t->cells[i].chunk);
        free(t->cells[i].counts);
    }
    lap_image_destroy(&t->results);
    lap_image_destroy(&t->strips);
    free(t->chunks);
    free(t->cells);
}

static cell *cell_of(const team *t, int band)
{
    return &t->cells[band % t->plan->cells];
}

/* ---- decode ------------------------------------------------------------------------------------ */

static lap_code bring_rows(void *user, const lap_view *rows, int y, lap_error *err)
{
    worker *w = user;
    (void)y; /* the decoder is already at row y */
    const lap_code code = lap_decoder_rows(w->decoder, rows, err);
    if (code == LAP_OK && w->t->plan->turn == LAP_TURN_H)
        lap_orient_mirror(rows);
    return code;
}

/* Without a filter: decodes rows without their neighbours. */
static lap_code decode_rows(worker *w, const lap_view *rows, int y)
{
    const double start = lap_now_ms();
    const lap_code code = bring_rows(w, rows, y, &w->err);
    w->ms.decode += lap_now_ms() - start;
    return code;
}

/* Decodes a band's rows with two above and two below, or fills in the border. Image rows before `have` are
 * decoded already. */
static lap_code fill(worker *w, const lap_band *band, const lap_band *before, int have)
{
    const double start = lap_now_ms();
    const lap_code code = lap_border_band(band, before, have, bring_rows, w, &w->err);
    w->ms.decode += lap_now_ms() - start;
    return code;
}

/* Returns the source rows of a band in its cell. */
static lap_band band_at(const team *t, int band)
{
    const lap_plan *plan = t->plan;
    lap_band b = {.view = cell_of(t, band)->pixels.view,
        .y = band * plan->band_rows,
        .image_height = plan->height,
        .border = plan->border};
    b.view.height = lap_plan_rows(plan, band);
    return b;
}

/* The previous band has already decoded four rows that this band needs: its last two rows are this band's
 * upper halo, and the two rows of its lower halo are this band's first rows. They are still in the ring,
 * since only decoding overwrites a cell. */
static lap_code decode_band(worker *w, int band)
{
    const team *t = w->t;
    const lap_plan *plan = t->plan;
    const lap_band at = band_at(t, band), before = band_at(t, band ? band - 1 : 0);
    const int below = at.y + LAP_APRON < plan->height ? at.y + LAP_APRON : plan->height;
    w->decoder = t->job->decoder;
    lap_code code =
        plan->rung ? fill(w, &at, band ? &before : NULL, band ? below : 0) : decode_rows(w, &at.view, at.y);
    if (code != LAP_OK || band < plan->bands - 1)
        return code;
    const double start = lap_now_ms();
    code = lap_decoder_finish(w->decoder, t->job->damage, &w->err);
    w->ms.decode += lap_now_ms() - start;
    return code;
}

/* ---- filter, count, encode --------------------------------------------------------------------- */

static lap_code filter(worker *w, const lap_view *pixels, const lap_view *result)
{
    const lap_plan *plan = w->t->plan;
    /* The team already works on several bands at once; only a single band is split among threads. */
    const lap_resources use = {
        .exec = {.threads = plan->bands == 1 && !plan->by_parts ? plan->threads : 1, .err = &w->err}};
    const double start = lap_now_ms();
    const lap_code code = lap_rung_filter(plan->rung, &use, pixels, result, &plan->params, plan->border);
    w->ms.filter += lap_now_ms() - start;
    return code;
}

static lap_code count(worker *w, int band, const lap_view *pixels, const lap_view *result)
{
    lap_photo_counts *counts = cell_of(w->t, band)->counts;
    const lap_rung *counter = w->t->counter;
    const lap_resources use = {.exec.err = &w->err};
    if (!counter)
        return LAP_OK;
    const lap_code code = lap_rung_histogram(counter, &use, pixels, counts->source);
    return code == LAP_OK ? lap_rung_histogram(counter, &use, result, counts->result) : code;
}

static lap_code encode(worker *w, int band, const lap_view *result)
{
    lap_chunk *chunk = &cell_of(w->t, band)->chunk;
    const double start = lap_now_ms();
    chunk->size = 0;
    const lap_code code = lap_encoder_band(w->t->job->encoder, band, result, chunk, &w->err);
    w->ms.encode += lap_now_ms() - start;
    return code;
}

static lap_code encode_strip(worker *w, lap_band_work *work, const lap_view *result)
{
    const double start = lap_now_ms();
    const lap_code code = lap_encoder_rows(w->t->job->encoder, work, result, &w->err);
    w->ms.encode += lap_now_ms() - start;
    return code;
}

/* Returns where the band's result is written. If each strip is encoded at once, this has room for only one
 * strip. */
static lap_view result_of(const team *t, int member, int band)
{
    const lap_plan *plan = t->plan;
    const lap_bands_job *job = t->job;
    const int rows = lap_plan_rows(plan, band);
    if (job->result)
        return lap_view_rows(job->result, band * plan->band_rows, rows);
    if (!plan->results)
        return job->whole ? lap_view_rows(job->whole, band * plan->band_rows, rows) : band_at(t, band).view;
    const int place = plan->in_any_order ? member : band % plan->cells;
    return lap_view_rows(&t->results.view, place * t->result_rows, rows);
}

/* Source rows of a band, from row y of the band on, that are already in memory. */
static lap_view decoded_rows(const team *t, int band, int y, int rows)
{
    const lap_bands_job *job = t->job;
    const int top = band * t->plan->band_rows + y;
    if (job->whole)
        return lap_view_rows(job->whole, top, rows);
    const lap_view pixels = band_at(t, band).view;
    return lap_view_rows(&pixels, y, rows);
}

/* By parts: decodes the source rows of one strip, with the neighbouring rows that the filter needs. */
static lap_code bring_strip(worker *w, int y, const lap_view *result, lap_view *pixels)
{
    const lap_plan *plan = w->t->plan;
    const int below = y + result->height + LAP_APRON;
    *pixels = *result;
    if (!plan->rung)
        return decode_rows(w, result, y);
    const lap_band strip = {
        .view = lap_view_rows(&w->t->strips.view, w->member * w->t->strip_pitch, result->height),
        .y = y,
        .image_height = plan->height,
        .border = plan->border};
    const lap_code code = fill(w, &strip, w->strip.view.base ? &w->strip : NULL, w->filled);
    *pixels = strip.view;
    w->strip = strip;
    w->filled = below < plan->height ? below : plan->height;
    return code;
}

/* Decodes, filters and counts one strip, from row y of the band on, while it is in the cache. */
static lap_code make_strip(worker *w, int band, int y, const lap_view *result)
{
    const team *t = w->t;
    const lap_plan *plan = t->plan;
    lap_code code = LAP_OK;
    lap_view pixels = *result; /* the device had the source, and counted it there */
    if (plan->by_parts)
        code = bring_strip(w, band * plan->band_rows + y, result, &pixels);
    else if (!t->job->result)
        pixels = decoded_rows(t, band, y, result->height);
    if (code == LAP_OK && plan->rung && !t->job->result)
        code = filter(w, &pixels, result);
    return code == LAP_OK ? count(w, band, &pixels, result) : code;
}

static lap_code make_band(worker *w, int band)
{
    const lap_plan *plan = w->t->plan;
    lap_band_work work = {.index = band, .chunk = &cell_of(w->t, band)->chunk};
    const lap_view whole = result_of(w->t, w->member, band);
    const bool is_reused = plan->encodes_strips && plan->results > 0;
    const int rows = lap_plan_rows(plan, band);
    lap_code code = LAP_OK;
    work.chunk->size = 0;
    for (int y = 0; y < rows && code == LAP_OK; y += plan->strip_rows) {
        const int height = rows - y < plan->strip_rows ? rows - y : plan->strip_rows;
        lap_view result = lap_view_rows(&whole, is_reused ? 0 : y, height);
        code = make_strip(w, band, y, &result);
        if (code == LAP_OK && plan->encodes_strips)
            code = encode_strip(w, &work, &result);
    }
    if (code != LAP_OK || plan->encodes_strips || !plan->in_any_order)
        return code;
    return encode(w, band, &whole);
}

/* ---- append ------------------------------------------------------------------------------------ */

/* Appends a band to the output: only now is the band final. One thread at a time. */
static lap_code append(worker *w, int band)
{
    const team *t = w->t;
    const lap_plan *plan = t->plan;
    cell *c = cell_of(t, band);
    lap_code code = LAP_OK;
    if (!plan->in_any_order && !plan->encodes_strips) {
        const lap_view result = result_of(t, w->member, band);
        code = encode(w, band, &result);
    }
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_encoder_append(t->job->encoder, band, &c->chunk, &w->err);
    w->ms.encode += lap_now_ms() - start;
    if (code == LAP_OK && t->counter)
        lap_photo_counts_add(t->job->counts, c->counts);
    if (code == LAP_OK && plan->progress)
        plan->progress(plan->progress_user, band * plan->band_rows + lap_plan_rows(plan, band), plan->height);
    return code;
}

/* ---- the team ---------------------------------------------------------------------------------- */

typedef lap_code step_fn(worker *w, int band);

/* Calls fn without the lock; adds its times, and keeps the first failure. */
static lap_code take_step(worker *w, int band, step_fn *fn)
{
    team *t = w->t;
    pthread_mutex_unlock(&t->lock);
    lap_code code = lap_control_check(t->job->control, &w->err);
    if (code == LAP_OK)
        code = fn(w, band);
    pthread_mutex_lock(&t->lock);
    lap_times_add(t->job->ms, &w->ms);
    w->ms = (lap_times){0};
    if (code != LAP_OK && t->code == LAP_OK) {
        t->code = code;
        t->err = w->err;
        t->err.code = code;
    }
    pthread_cond_broadcast(&t->changed);
    return code;
}

static lap_code start_band(worker *w, int band)
{
    cell *c = cell_of(w->t, band);
    if (c->counts)
        *c->counts = (lap_photo_counts){0};
    return make_band(w, band);
}

/* Appends the next band if it is ready and no other thread is appending. True if it tried. */
static bool append_next(worker *w)
{
    team *t = w->t;
    const int band = t->appended;
    if (t->appending || band == t->plan->bands || !cell_of(t, band)->is_ready)
        return false;
    t->appending = true;
    const lap_code code = take_step(w, band, append);
    t->appending = false;
    cell_of(t, band)->is_ready = false;
    t->appended += code == LAP_OK;
    return true;
}

/* Each thread decodes if it can, since all other work depends on decoding; else it appends, since appending
 * frees a cell; else it filters and encodes. */
static void work_in_order(team *t, worker *w)
{
    const lap_plan *plan = t->plan;
    while (t->code == LAP_OK && t->appended < plan->bands) {
        if (!t->decoding && t->decoded < plan->bands && t->decoded - t->appended < plan->ahead) {
            t->decoding = true;
            take_step(w, t->decoded, decode_band);
            t->decoding = false;
            t->decoded++;
        } else if (append_next(w)) {
            continue;
        } else if (t->started < t->decoded && t->started - t->appended < plan->cells) {
            const int band = t->started++;
            take_step(w, band, start_band);
            cell_of(t, band)->is_ready = true;
        } else {
            pthread_cond_wait(&t->changed, &t->lock);
        }
    }
}

static lap_code open_part(worker *w, int band)
{
    const lap_plan *plan = w->t->plan;
    const int halo = plan->rung ? LAP_APRON : 0;
    const int y0 = band == 0 ? 0 : band * plan->band_rows - halo;
    const int y1 = w->end == plan->bands ? plan->height : w->end * plan->band_rows + halo;
    const double start = lap_now_ms();
    w->filled = y0;
    w->strip = (lap_band){0};
    const lap_code code = lap_decoder_open_at(
        w->t->job->decoder, y0, y1 < plan->height ? y1 : plan->height, &w->decoder, &w->err);
    w->ms.decode += lap_now_ms() - start;
    return code;
}

static void append_ready(worker *w)
{
    while (w->t->code == LAP_OK && append_next(w))
        continue;
}

/* Makes the next unstarted bands as one part. Unless rows come in order, no band of a part is ready until all
 * its bands are made: only after the last row is it certain that a decoder opened at a row decoded
 * correctly. */
static void take_part(worker *w, int bands)
{
    team *t = w->t;
    const int first = t->started;
    w->end = t->plan->bands - first < bands ? t->plan->bands : first + bands;
    t->started = w->end;
    lap_code code = take_step(w, first, open_part);
    for (int band = first, ready = first; band < w->end && code == LAP_OK; band++) {
        code = take_step(w, band, start_band);
        for (; code == LAP_OK && (t->in_order || band == w->end - 1) && ready <= band; ready++)
            cell_of(t, ready)->is_ready = true;
        append_ready(w);
        code = t->code;
    }
    pthread_mutex_unlock(&t->lock);
    lap_decoder_close(w->decoder);
    w->decoder = NULL;
    pthread_mutex_lock(&t->lock);
}

static void work_by_parts(team *t, worker *w)
{
    const lap_plan *plan = t->plan;
    while (t->code == LAP_OK && t->appended < plan->bands) {
        const int left = plan->bands - t->started;
        const int next = t->in_order || left == 0 ? left : lap_plan_part(plan, left);
        if (append_next(w))
            continue;
        if (left > 0 && (t->in_order || t->started + next - t->appended <= plan->cells))
            take_part(w, next);
        else if (left == 0)
            break; /* the threads that make the last bands append them */
        else
            pthread_cond_wait(&t->changed, &t->lock);
    }
}

static void work(void *argument)
{
    team *t = argument;
    pthread_mutex_lock(&t->lock);
    worker w = {.t = t, .member = t->members++};
    if (t->plan->by_parts)
        work_by_parts(t, &w);
    else
        work_in_order(t, &w);
    pthread_mutex_unlock(&t->lock);
}

/* Makes all bands that are not appended yet. */
static lap_code make_bands(void *user, bool in_order, lap_error *err)
{
    team *t = user;
    t->members = 0;
    t->in_order = in_order;
    t->started = t->appended;
    t->code = LAP_OK;
    for (int i = 0; i < t->plan->cells; i++)
        t->cells[i].is_ready = false;
    lap_pool_team(t->job->pool, in_order ? 1 : t->plan->threads, work, t);
    if (t->code != LAP_OK && err)
        *err = t->err;
    return t->code;
}

static lap_code run_team(team *t, lap_error *err)
{
    const lap_bands_job *job = t->job;
    if (!t->plan->by_parts)
        return make_bands(t, false, err);
    lap_code code = lap_decoder_run(job->decoder, make_bands, t, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_decoder_finish(job->decoder, job->damage, err);
    job->ms->decode += lap_now_ms() - start;
    return code;
}

lap_code lap_bands_run(const lap_bands_job *job, lap_error *err)
{
    team t = {.job = job,
        .plan = job->plan,
        .decoded = job->whole || job->result ? job->plan->bands : 0,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER};
    lap_code code = job->counts ? lap_rung_find(LAP_OP_HISTOGRAM, "auto", &t.counter, err) : LAP_OK;
    if (code == LAP_OK)
        code = reserve(&t, err);
    if (code == LAP_OK)
        code = run_team(&t, err);
    release(&t);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.lock);
    return code;
}
