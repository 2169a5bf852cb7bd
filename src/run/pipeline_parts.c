/* Bands by parts of the image: a thread takes some bands that lie below each other, decodes their rows
 * itself, and filters and encodes each band at once. Only encoded bands wait for those before them. */
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/control.h"
#include "base/status.h"
#include "ops/orient.h"
#include "run/pipeline_parts.h"

/* Rows that are filtered at once: with their channels they stay in the L2 cache. */
enum { STRIP_ROWS = 64 };
/* Bands take this much memory at most, unless that leaves only a few threads; a waiting band counts as half
 * of its pixels, of which it rarely is more. */
enum { PARTS_BYTES = 100 << 20 };
/* The same with the compressed file, which is held too: what a picture of 20000 x 20000 may take. */
enum { ALL_BYTES = 170 << 20 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each part decodes up to two rows of MCUs that are not its own. Where bands are few that is less than what
 * the slowest thread would keep the others waiting: a band a part then (16 threads, 30 bands: 39.6 ms instead
 * of 42.9, 16 Xeon cores, 2026-11-22). Where they are many, two parts a thread. */
static void count_parts(lap_pipeline *pipe, int threads)
{
    int parts = pipe->bands < 8 * threads ? pipe->bands : 2 * threads;
    pipe->threads = threads;
    pipe->part_bands = (pipe->bands - 1) / parts + 1;
    int ahead = threads * pipe->part_bands + 2 * pipe->part_bands;
    pipe->slot_count = ahead < pipe->bands ? ahead : pipe->bands;
    pipe->result_count = threads;
}

bool lap_pipeline_plan_parts(lap_pipeline *pipe, size_t fixed, uint64_t limit, uint64_t *need)
{
    /* With fewer threads than it is worth, or more memory than is polite: only where it was asked for. */
    const bool is_asked = pipe->settings->decode == LAP_DECODE_PARALLEL;
    const int least = is_asked ? 1 : pipe->decoder->options.worth_threads;
    const size_t held = pipe->decoder->held, room = held < ALL_BYTES ? ALL_BYTES - held : 0;
    const size_t most = room < PARTS_BYTES ? room : PARTS_BYTES;
    size_t row, strip, band, part, own, bands, all = 0;
    bool fits = lap_mul((size_t)pipe->width + 2 * LAP_APRON + 64, (size_t)pipe->channels, &row) &&
                lap_mul(row, STRIP_ROWS + 2 * LAP_APRON, &strip) &&
                lap_mul(row, (size_t)pipe->band_rows, &band) && lap_add(strip, band, &part) &&
                lap_add(part, pipe->decoder->part_memory, &part);
    for (int threads = pipe->threads; fits && threads >= least && threads > 0; threads--) {
        count_parts(pipe, threads);
        for (; fits; pipe->part_bands--, pipe->slot_count = threads * pipe->part_bands) {
            if (pipe->part_bands == 0)
                break;
            if (pipe->slot_count > pipe->bands)
                pipe->slot_count = pipe->bands;
            fits = lap_mul(part, (size_t)threads, &own) && lap_mul(band, (size_t)pipe->slot_count, &bands) &&
                   lap_add(own, bands, &all) && lap_add(all, fixed, &all);
            *need = all;
            if (fits && all <= limit && (own + bands / 2 <= most || (is_asked && threads == 1)))
                return true;
        }
    }
    return false;
}

lap_code lap_pipeline_reserve_parts(lap_pipeline *pipe, lap_error *err)
{
    lap_code code = LAP_OK;
    pipe->slots = calloc((size_t)pipe->slot_count, sizeof *pipe->slots);
    pipe->results = calloc((size_t)pipe->result_count, sizeof *pipe->results);
    pipe->strips = calloc((size_t)pipe->result_count, sizeof *pipe->strips);
    if (!pipe->slots || !pipe->results || !pipe->strips)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d bands", pipe->slot_count);
    int rows = lap_pipeline_band_rows(pipe, 0), strip = rows < STRIP_ROWS ? rows : STRIP_ROWS;
    for (int i = 0; i < pipe->result_count && code == LAP_OK; i++) {
        code = lap_image_create(&pipe->results[i], pipe->width, rows, pipe->channels, 0, err);
        if (code == LAP_OK && pipe->rung)
            code = lap_image_create(&pipe->strips[i], pipe->width, strip, pipe->channels, LAP_APRON, err);
    }
    return code;
}

/* ---- one band -------------------------------------------------------------------------------- */

typedef struct worker {
    lap_pipeline *pipe;
    int member;
    lap_part *part;
    int filled; /* rows of the image before this one were decoded */
    int strip;  /* the row that the strip began with last */
    lap_times ms;
    lap_error err;
} worker;

static lap_code decode(worker *w, lap_view *rows)
{
    double start = lap_now_ms();
    rows->apron = 0;
    lap_code code = lap_part_rows(w->part, rows, &w->err);
    if (code == LAP_OK && w->pipe->turn == LAP_TURN_H)
        lap_orient_mirror(rows);
    w->filled += rows->height;
    w->ms.decode += lap_now_ms() - start;
    return code;
}

/* Rows y .. y + height - 1 with two above and below, or the border. */
static lap_code fill_strip(worker *w, int y, const lap_view *view)
{
    lap_pipeline *pipe = w->pipe;
    const lap_border border = pipe->settings->border;
    int end = y + view->height + LAP_APRON < pipe->height ? y + view->height + LAP_APRON : pipe->height;
    int begin = w->filled;
    if (begin > 0 && w->strip >= 0) { /* the last rows of the strip before are the first of this one */
        ptrdiff_t side = (ptrdiff_t)LAP_APRON * view->channels;
        size_t bytes = (size_t)(view->width * view->channels + 2 * side);
        for (int row = y - LAP_APRON; row < begin; row++)
            memmove(view->base + (row - y) * view->stride - side,
                view->base + (row - w->strip) * view->stride - side, bytes);
    }
    w->strip = y;
    lap_code code = LAP_OK;
    if (end > begin) {
        lap_view rows = *view;
        rows.base += (begin - y) * view->stride;
        rows.height = end - begin;
        code = decode(w, &rows);
        lap_border_sides(view, begin - y, end - y, border);
    }
    if (y == 0)
        lap_border_top(view, 0, pipe->height, border);
    if (y + view->height + LAP_APRON > pipe->height)
        lap_border_bottom(view, y, pipe->height, border);
    return code;
}

/* Rows y .. y + height - 1 of the image into rows of the result. */
static lap_code make_rows(worker *w, int y, lap_view *result)
{
    lap_pipeline *pipe = w->pipe;
    const lap_pipeline_hooks *hooks = pipe->hooks;
    lap_view pixels = *result;
    lap_code code;
    if (pipe->rung) {
        pixels = pipe->strips[w->member].view;
        pixels.height = result->height;
        code = fill_strip(w, y, &pixels);
        double start = lap_now_ms();
        const lap_resources use = {.exec = {.threads = 1, .err = &w->err}};
        if (code == LAP_OK)
            code = lap_rung_filter(
                pipe->rung, &use, &pixels, result, &pipe->settings->params, pipe->settings->border);
        w->ms.filter += lap_now_ms() - start;
    } else {
        code = decode(w, &pixels);
    }
    return code == LAP_OK && hooks && hooks->band ? hooks->band(hooks->user, &pixels, result) : code;
}

static lap_code make_band(worker *w, int band)
{
    lap_pipeline *pipe = w->pipe;
    int rows = lap_pipeline_band_rows(pipe, band);
    lap_view result = pipe->results[w->member].view;
    result.height = rows;
    lap_code code = lap_control_check(pipe->control, &w->err);
    for (int y = 0; y < rows && code == LAP_OK; y += STRIP_ROWS) {
        lap_view some = lap_view_rows(&result, y, rows - y < STRIP_ROWS ? rows - y : STRIP_ROWS);
        code = make_rows(w, band * pipe->band_rows + y, &some);
    }
    if (code != LAP_OK)
        return code;
    double start = lap_now_ms();
    lap_chunk *chunk = &pipe->slots[band % pipe->slot_count].chunk;
    chunk->size = 0;
    code = lap_encoder_band(pipe->encoder, band, &result, chunk, &w->err);
    w->ms.encode += lap_now_ms() - start;
    return code;
}

/* ---- the team -------------------------------------------------------------------------------- */

/* Under the lock. */
static void keep(lap_pipeline *pipe, worker *w, lap_code code)
{
    pipe->ms.decode += w->ms.decode;
    pipe->ms.filter += w->ms.filter;
    pipe->ms.encode += w->ms.encode;
    w->ms = (lap_times){0};
    if (code != LAP_OK && pipe->code == LAP_OK) {
        pipe->code = code;
        pipe->err = w->err;
        pipe->err.code = code;
    }
    pthread_cond_broadcast(&pipe->changed);
}

/* Under the lock: appends what is next, as long as there is something and nobody else does. */
static void append_ready(lap_pipeline *pipe, worker *w)
{
    while (!pipe->appending && pipe->code == LAP_OK && pipe->appended < pipe->bands &&
           pipe->slots[pipe->appended % pipe->slot_count].ready) {
        int band = pipe->appended;
        lap_slot *slot = &pipe->slots[band % pipe->slot_count];
        pipe->appending = true;
        pthread_mutex_unlock(&pipe->lock);
        double start = lap_now_ms();
        lap_code code = lap_encoder_append(pipe->encoder, band, &slot->chunk, &w->err);
        w->ms.encode += lap_now_ms() - start;
        if (code == LAP_OK && pipe->settings->progress)
            pipe->settings->progress(pipe->settings->progress_user,
                band * pipe->band_rows + lap_pipeline_band_rows(pipe, band), pipe->height);
        pthread_mutex_lock(&pipe->lock);
        pipe->appending = false;
        slot->ready = false;
        pipe->appended++;
        keep(pipe, w, code);
    }
}

/* Under the lock, which it leaves in between. */
static void take_part(lap_pipeline *pipe, worker *w)
{
    int band = pipe->started;
    int end = pipe->bands - band < pipe->part_bands ? pipe->bands : band + pipe->part_bands;
    int halo = pipe->rung ? LAP_APRON : 0;
    int y0 = band == 0 ? 0 : band * pipe->band_rows - halo;
    int y1 = end == pipe->bands ? pipe->height : end * pipe->band_rows + halo;
    pipe->started = end;
    pthread_mutex_unlock(&pipe->lock);
    w->filled = y0;
    w->strip = -1;
    double start = lap_now_ms();
    lap_code code =
        lap_part_open(pipe->decoder, y0, y1 < pipe->height ? y1 : pipe->height, &w->part, &w->err);
    w->ms.decode += lap_now_ms() - start;
    for (bool goes_on = true; band < end && goes_on; band++) {
        if (code == LAP_OK)
            code = make_band(w, band);
        pthread_mutex_lock(&pipe->lock);
        pipe->slots[band % pipe->slot_count].ready = code == LAP_OK;
        keep(pipe, w, code);
        append_ready(pipe, w);
        goes_on = pipe->code == LAP_OK;
        pthread_mutex_unlock(&pipe->lock);
    }
    lap_part_close(w->part);
    w->part = NULL;
    pthread_mutex_lock(&pipe->lock);
}

static bool may_start(const lap_pipeline *pipe)
{
    int left = pipe->bands - pipe->started;
    int next = left < pipe->part_bands ? left : pipe->part_bands;
    return left > 0 && pipe->started + next - pipe->appended <= pipe->slot_count;
}

static void work(void *argument)
{
    lap_pipeline *pipe = argument;
    pthread_mutex_lock(&pipe->lock);
    worker w = {.pipe = pipe, .member = pipe->members++};
    while (pipe->code == LAP_OK && pipe->appended < pipe->bands) {
        append_ready(pipe, &w);
        if (pipe->code != LAP_OK || pipe->appended == pipe->bands)
            break;
        if (may_start(pipe))
            take_part(pipe, &w);
        else if (pipe->started == pipe->bands)
            break; /* whoever is at the last bands appends them */
        else
            pthread_cond_wait(&pipe->changed, &pipe->lock);
    }
    pthread_mutex_unlock(&pipe->lock);
}

lap_code lap_pipeline_bands_by_parts(lap_pipeline *pipe, lap_error *err)
{
    lap_pool_team(pipe->pool, pipe->threads, work, pipe);
    if (pipe->code == LAP_OK)
        return lap_pipeline_finish_decoding(pipe, err);
    if (err)
        *err = pipe->err;
    return pipe->code;
}
