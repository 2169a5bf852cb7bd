#include <string.h>

#include "base/border.h"
#include "base/control.h"
#include "base/status.h"
#include "ops/orient.h"
#include "run/flow.h"

typedef struct step { /* what one thread does outside the lock */
    int member, band;
    lap_times ms;
    lap_error err;
} step;

/* ---- decode ---------------------------------------------------------------------------------- */

static lap_slot *slot_of(lap_flow *flow, int band)
{
    return &flow->slots[band % flow->slot_count];
}

/* The band's pixels; its apron rows are its real neighbours, or the border. */
static lap_view pixels_of(lap_flow *flow, int band)
{
    int rows = lap_flow_rows(flow, band);
    if (flow->whole.memory)
        return lap_view_rows(&flow->whole.view, band * flow->band_rows, rows);
    lap_view view = slot_of(flow, band)->pixels.view;
    view.height = rows;
    return view;
}

/* The last two rows of the band before and the two below them, which it has already, are this
 * band's upper halo and first rows. They lie in the ring still: only decoding overwrites. */
static void carry_rows(lap_flow *flow, int band, const lap_view *to)
{
    const lap_view *from = &slot_of(flow, band - 1)->pixels.view;
    ptrdiff_t side = (ptrdiff_t)LAP_APRON * to->channels;
    size_t bytes = (size_t)(to->width * to->channels + 2 * side);
    for (int y = -LAP_APRON; y < LAP_APRON; y++)
        memcpy(to->base + y * to->stride - side, from->base + (flow->band_rows + y) * from->stride - side,
            bytes);
}

static lap_code decode_band(lap_flow *flow, int band, lap_error *err)
{
    int halo = flow->rung ? LAP_APRON : 0, y0 = band * flow->band_rows;
    lap_view view = pixels_of(flow, band);
    int end = y0 + view.height + halo < flow->height ? y0 + view.height + halo : flow->height;
    int begin = band == 0 ? 0 : y0 + halo < flow->height ? y0 + halo : flow->height;
    if (band > 0 && halo)
        carry_rows(flow, band, &view);

    lap_view rows = view;
    rows.base += (begin - y0) * view.stride;
    rows.height = end - begin;
    rows.apron = 0;
    if (rows.height > 0) {
        lap_code code = lap_decoder_rows(flow->decoder, &rows, err);
        if (code != LAP_OK)
            return code;
        if (flow->turn == LAP_TURN_H)
            lap_orient_mirror(&rows);
    }
    if (halo) {
        lap_border border = flow->settings->border;
        lap_border_sides(&view, begin - y0, end - y0, border);
        if (band == 0)
            lap_border_top(&view, 0, flow->height, border);
        if (y0 + view.height + halo > flow->height)
            lap_border_bottom(&view, y0, flow->height, border);
    }
    return band == flow->bands - 1 ? lap_flow_finish_decoding(flow, err) : LAP_OK;
}

/* ---- filter, encode, append ------------------------------------------------------------------ */

static lap_view result_of(lap_flow *flow, int member, int band)
{
    if (!flow->rung)
        return pixels_of(flow, band);
    int rows = lap_flow_rows(flow, band);
    if (flow->filtered.memory)
        return lap_view_rows(&flow->filtered.view, band * flow->band_rows, rows);
    lap_view view = flow->results[flow->parallel ? member : band % flow->slot_count].view;
    view.height = rows;
    return view;
}

static lap_code encode_band(lap_flow *flow, step *s, const lap_view *result)
{
    lap_chunk *chunk = &slot_of(flow, s->band)->chunk;
    double start = lap_now_ms();
    chunk->size = 0;
    lap_code code = lap_encoder_band(flow->encoder, s->band, result, chunk, &s->err);
    s->ms.encode += lap_now_ms() - start;
    return code;
}

static lap_code filter_band(lap_flow *flow, step *s)
{
    lap_view pixels = pixels_of(flow, s->band), result = result_of(flow, s->member, s->band);
    lap_code code = LAP_OK;
    if (flow->rung && !flow->filtered.memory) {
        /* Bands are spread over the team already; a single band may be spread inside. */
        lap_exec exec = {.threads = flow->bands == 1 ? flow->threads : 1, .err = &s->err};
        double start = lap_now_ms();
        code = flow->rung->run.filter(&pixels, &result, &flow->settings->params, &exec);
        s->ms.filter += lap_now_ms() - start;
        if (code == LAP_E_MEMORY)
            lap_fail(&s->err, code, "out of memory in the filter %s", flow->rung->name);
    }
    if (code == LAP_OK && flow->hooks && flow->hooks->band)
        code = flow->hooks->band(flow->hooks->user, &pixels, &result);
    if (code == LAP_OK && flow->parallel)
        code = encode_band(flow, s, &result);
    return code;
}

static lap_code append_band(lap_flow *flow, step *s)
{
    lap_code code = LAP_OK;
    if (!flow->parallel) {
        lap_view result = result_of(flow, s->member, s->band);
        code = encode_band(flow, s, &result);
    }
    if (code == LAP_OK) {
        double start = lap_now_ms();
        code = lap_encoder_append(flow->encoder, s->band, &slot_of(flow, s->band)->chunk, &s->err);
        s->ms.encode += lap_now_ms() - start;
    }
    if (code == LAP_OK && flow->settings->progress)
        flow->settings->progress(flow->settings->progress_user,
            s->band * flow->band_rows + lap_flow_rows(flow, s->band), flow->height);
    return code;
}

/* ---- the team -------------------------------------------------------------------------------- */

typedef lap_code step_fn(lap_flow *flow, step *s);

static lap_code decode_step(lap_flow *flow, step *s)
{
    double start = lap_now_ms();
    lap_code code = decode_band(flow, s->band, &s->err);
    s->ms.decode += lap_now_ms() - start;
    return code;
}

/* fn outside the lock; times and the first failure are kept. */
static void take_step(lap_flow *flow, int member, int band, step_fn *fn)
{
    pthread_mutex_unlock(&flow->lock);
    step s = {.member = member, .band = band};
    lap_code code = lap_control_check(flow->control, &s.err);
    if (code == LAP_OK)
        code = fn(flow, &s);
    pthread_mutex_lock(&flow->lock);
    flow->ms.decode += s.ms.decode;
    flow->ms.filter += s.ms.filter;
    flow->ms.encode += s.ms.encode;
    if (code != LAP_OK && flow->code == LAP_OK) {
        flow->code = code;
        flow->err = s.err;
        flow->err.code = code;
    }
    pthread_cond_broadcast(&flow->changed);
}

/* Decoding comes first, since nothing else can go on without it; appending second, since it frees a
 * slot; whoever finds neither filters and encodes. */
static void work(void *argument)
{
    lap_flow *flow = argument;
    pthread_mutex_lock(&flow->lock);
    int member = flow->members++;
    while (flow->code == LAP_OK && flow->appended < flow->bands) {
        lap_slot *oldest = slot_of(flow, flow->appended);
        if (!flow->decoding && flow->decoded < flow->bands && flow->decoded - flow->appended < flow->ahead) {
            flow->decoding = true;
            take_step(flow, member, flow->decoded, decode_step);
            flow->decoding = false;
            flow->decoded++;
        } else if (!flow->appending && oldest->ready) {
            flow->appending = true;
            take_step(flow, member, flow->appended, append_band);
            flow->appending = false;
            oldest->ready = false;
            flow->appended++;
        } else if (flow->started < flow->decoded && flow->started - flow->appended < flow->slot_count) {
            int band = flow->started++;
            take_step(flow, member, band, filter_band);
            slot_of(flow, band)->ready = true;
        } else {
            pthread_cond_wait(&flow->changed, &flow->lock);
        }
    }
    pthread_mutex_unlock(&flow->lock);
}

lap_code lap_flow_run(lap_flow *flow, lap_error *err)
{
    if (flow->whole.memory)
        flow->decoded = flow->bands;
    lap_pool_team(flow->pool, flow->threads, work, flow);
    if (flow->code != LAP_OK && err)
        *err = flow->err;
    return flow->code;
}
