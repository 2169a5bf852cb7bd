#include "jpeg/jpeg_own.h"

#include <stdlib.h>

#include "base/status.h"

static lap_code make_plan(lap_own_decoder *own, lap_error *err)
{
    own->plan = malloc(sizeof *own->plan);
    if (!own->plan)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
    if (!lap_decode_plan_make(own->frame, own->rung->stages->index, own->plan))
        return lap_fail(err, LAP_E_INTERNAL, "unsupported sampling, although it was checked before");
    return LAP_OK;
}

lap_code lap_own_source(const lap_decoder *d, lap_row_source *source, lap_error *err)
{
    lap_own_decoder *own = d->first;
    lap_code code = LAP_OK;
    pthread_mutex_lock(&own->lock);
    if (!own->plan)
        code = make_plan(own, err);
    pthread_mutex_unlock(&own->lock);
    *source = (lap_row_source){.plan = own->plan,
        .bytes = d->bytes,
        .size = d->size,
        .scan_begin = (size_t)own->frame->scan_begin,
        .stages = own->rung->stages,
        .gray = d->options.gray,
        .held = own->held};
    return code;
}

lap_code lap_own_take_rows(const lap_decoder *d, lap_row_decoder **rows, lap_error *err)
{
    lap_own_decoder *own = d->first;
    lap_row_source source;
    pthread_mutex_lock(&own->lock);
    *rows = lap_row_decoder_pop(&own->idle);
    pthread_mutex_unlock(&own->lock);
    if (*rows)
        return LAP_OK;
    const lap_code code = lap_own_source(d, &source, err);
    return code == LAP_OK ? lap_row_decoder_open(&source, rows, err) : code;
}

void lap_own_give_rows(const lap_decoder *d, lap_row_decoder *rows)
{
    lap_own_decoder *own = d->first;
    if (!rows)
        return;
    pthread_mutex_lock(&own->lock);
    lap_row_decoder_push(&own->idle, rows);
    pthread_mutex_unlock(&own->lock);
}

lap_code lap_own_coefficients(const lap_decoder *d, bool *is_fine, lap_error *err)
{
    lap_own_decoder *own = d->first;
    const lap_held_source source = {
        &own->header.script, d->bytes, d->size, own->rung->stages, d->options.control};
    lap_code code = LAP_OK;
    pthread_mutex_lock(&own->lock);
    if (!own->held)
        code = lap_held_open(&source, &own->held, err);
    pthread_mutex_unlock(&own->lock);
    return code == LAP_OK ? lap_held_work(own->held, is_fine, err) : code;
}
