#include "jpeg/jpeg_own.h"

lap_row_source lap_own_source(const lap_decoder *d)
{
    const lap_own_decoder *own = d->first;
    return (lap_row_source){.frame = own->frame,
        .bytes = d->bytes,
        .size = d->size,
        .stages = own->rung->stages,
        .gray = d->options.gray,
        .held = own->held};
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
