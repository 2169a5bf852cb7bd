#include <string.h>

#include "base/border.h"
#include "base/control.h"
#include "base/status.h"
#include "ops/orient.h"
#include "run/pipeline_parts.h"

typedef struct step { /* what one thread does outside the lock */
    int member, band;
    lap_times ms;
    lap_error err;
} step;

/* ---- decode ---------------------------------------------------------------------------------- */

static lap_slot *slot_of(lap_pipeline *pipe, int band)
{
    return &pipe->slots[band % pipe->slot_count];
}

/* The band's pixels; its apron rows are its real neighbours, or the border. */
static lap_view pixels_of(lap_pipeline *pipe, int band)
{
    int rows = lap_pipeline_band_rows(pipe, band);
    if (pipe->whole.memory)
        return lap_view_rows(&pipe->whole.view, band * pipe->band_rows, rows);
    lap_view view = slot_of(pipe, band)->pixels.view;
    view.height = rows;
    return view;
}

/* The last two rows of the band before and the two below them, which it has already, are this
 * band's upper halo and first rows. They lie in the ring still: only decoding overwrites. */
static void carry_rows(lap_pipeline *pipe, int band, const lap_view *to)
{
    const lap_view *from = &slot_of(pipe, band - 1)->pixels.view;
    ptrdiff_t side = (ptrdiff_t)LAP_APRON * to->channels;
    size_t bytes = (size_t)(to->width * to->channels + 2 * side);
    for (int y = -LAP_APRON; y < LAP_APRON; y++)
        memcpy(to->base + y * to->stride - side, from->base + (pipe->band_rows + y) * from->stride - side,
            bytes);
}

static lap_code decode_band(lap_pipeline *pipe, int band, lap_error *err)
{
    int halo = pipe->rung ? LAP_APRON : 0, y0 = band * pipe->band_rows;
    lap_view view = pixels_of(pipe, band);
    int end = y0 + view.height + halo < pipe->height ? y0 + view.height + halo : pipe->height;
    int begin = band == 0 ? 0 : y0 + halo < pipe->height ? y0 + halo : pipe->height;
    if (band > 0 && halo)
        carry_rows(pipe, band, &view);

    lap_view rows = view;
    rows.base += (begin - y0) * view.stride;
    rows.height = end - begin;
    rows.apron = 0;
    if (rows.height > 0) {
        lap_code code = lap_decoder_rows(pipe->decoder, &rows, err);
        if (code != LAP_OK)
            return code;
        if (pipe->turn == LAP_TURN_H)
            lap_orient_mirror(&rows);
    }
    if (halo) {
        lap_border border = pipe->settings->border;
        lap_border_sides(&view, begin - y0, end - y0, border);
        if (band == 0)
            lap_border_top(&view, 0, pipe->height, border);
        if (y0 + view.height + halo > pipe->height)
            lap_border_bottom(&view, y0, pipe->height, border);
    }
    return band == pipe->bands - 1 ? lap_pipeline_finish_decoding(pipe, err) : LAP_OK;
}

/* ---- filter, encode, append ------------------------------------------------------------------ */

static lap_view result_of(lap_pipeline *pipe, int member, int band)
{
    if (!pipe->rung)
        return pixels_of(pipe, band);
    int rows = lap_pipeline_band_rows(pipe, band);
    if (pipe->filtered.memory)
        return lap_view_rows(&pipe->filtered.view, band * pipe->band_rows, rows);
    lap_view view = pipe->results[pipe->parallel ? member : band % pipe->slot_count].view;
    view.height = rows;
    return view;
}

static lap_code encode_band(lap_pipeline *pipe, step *s, const lap_view *result)
{
    lap_chunk *chunk = &slot_of(pipe, s->band)->chunk;
    double start = lap_now_ms();
    chunk->size = 0;
    lap_code code = lap_encoder_band(pipe->encoder, s->band, result, chunk, &s->err);
    s->ms.encode += lap_now_ms() - start;
    return code;
}

static lap_code filter_band(lap_pipeline *pipe, step *s)
{
    lap_view pixels = pixels_of(pipe, s->band), result = result_of(pipe, s->member, s->band);
    lap_code code = LAP_OK;
    if (pipe->rung && !pipe->filtered.memory) {
        /* Bands are spread over the team already; a single band may be spread inside. */
        const lap_resources use = {.exec = {.threads = pipe->bands == 1 ? pipe->threads : 1, .err = &s->err}};
        double start = lap_now_ms();
        code = lap_rung_filter(
            pipe->rung, &use, &pixels, &result, &pipe->settings->params, pipe->settings->border);
        s->ms.filter += lap_now_ms() - start;
    }
    if (code == LAP_OK && pipe->hooks && pipe->hooks->band)
        code = pipe->hooks->band(pipe->hooks->user, &pixels, &result);
    if (code == LAP_OK && pipe->parallel)
        code = encode_band(pipe, s, &result);
    return code;
}

static lap_code append_band(lap_pipeline *pipe, step *s)
{
    lap_code code = LAP_OK;
    if (!pipe->parallel) {
        lap_view result = result_of(pipe, s->member, s->band);
        code = encode_band(pipe, s, &result);
    }
    if (code == LAP_OK) {
        double start = lap_now_ms();
        code = lap_encoder_append(pipe->encoder, s->band, &slot_of(pipe, s->band)->chunk, &s->err);
        s->ms.encode += lap_now_ms() - start;
    }
    if (code == LAP_OK && pipe->settings->progress)
        pipe->settings->progress(pipe->settings->progress_user,
            s->band * pipe->band_rows + lap_pipeline_band_rows(pipe, s->band), pipe->height);
    return code;
}

/* ---- the team -------------------------------------------------------------------------------- */

typedef lap_code step_fn(lap_pipeline *pipe, step *s);

static lap_code decode_step(lap_pipeline *pipe, step *s)
{
    double start = lap_now_ms();
    lap_code code = decode_band(pipe, s->band, &s->err);
    s->ms.decode += lap_now_ms() - start;
    return code;
}

/* fn outside the lock; times and the first failure are kept. */
static void take_step(lap_pipeline *pipe, int member, int band, step_fn *fn)
{
    pthread_mutex_unlock(&pipe->lock);
    step s = {.member = member, .band = band};
    lap_code code = lap_control_check(pipe->control, &s.err);
    if (code == LAP_OK)
        code = fn(pipe, &s);
    pthread_mutex_lock(&pipe->lock);
    pipe->ms.decode += s.ms.decode;
    pipe->ms.filter += s.ms.filter;
    pipe->ms.encode += s.ms.encode;
    if (code != LAP_OK && pipe->code == LAP_OK) {
        pipe->code = code;
        pipe->err = s.err;
        pipe->err.code = code;
    }
    pthread_cond_broadcast(&pipe->changed);
}

/* Decoding comes first, since nothing else can go on without it; appending second, since it frees a
 * slot; whoever finds neither filters and encodes. */
static void work(void *argument)
{
    lap_pipeline *pipe = argument;
    pthread_mutex_lock(&pipe->lock);
    int member = pipe->members++;
    while (pipe->code == LAP_OK && pipe->appended < pipe->bands) {
        lap_slot *oldest = slot_of(pipe, pipe->appended);
        if (!pipe->decoding && pipe->decoded < pipe->bands && pipe->decoded - pipe->appended < pipe->ahead) {
            pipe->decoding = true;
            take_step(pipe, member, pipe->decoded, decode_step);
            pipe->decoding = false;
            pipe->decoded++;
        } else if (!pipe->appending && oldest->ready) {
            pipe->appending = true;
            take_step(pipe, member, pipe->appended, append_band);
            pipe->appending = false;
            oldest->ready = false;
            pipe->appended++;
        } else if (pipe->started < pipe->decoded && pipe->started - pipe->appended < pipe->slot_count) {
            int band = pipe->started++;
            take_step(pipe, member, band, filter_band);
            slot_of(pipe, band)->ready = true;
        } else {
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        }
    }
    pthread_mutex_unlock(&pipe->lock);
}

lap_code lap_pipeline_bands(lap_pipeline *pipe, lap_error *err)
{
    if (pipe->by_parts)
        return lap_pipeline_bands_by_parts(pipe, err);
    if (pipe->whole.memory)
        pipe->decoded = pipe->bands;
    lap_pool_team(pipe->pool, pipe->threads, work, pipe);
    if (pipe->code != LAP_OK && err)
        *err = pipe->err;
    return pipe->code;
}
