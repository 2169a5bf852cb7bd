#include "jpeg/encode_bands.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/status.h"

enum { RST_SIZE = 2, FIRST_RST = 0xD0, RST_COUNT = 8 };

typedef struct member {
    lap_band_encoder encoder;
    struct member *next;  /* in the list of idle encoders */
    struct member *after; /* in the list of all encoders */
} member;

struct lap_band_encoders {
    lap_encode_plan plan;
    const lap_coder *coder;
    const lap_control *control;
    pthread_mutex_t lock;
    member *all, *resting;
};

lap_code lap_band_encoders_open(const lap_coder *coder, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err)
{
    *made = NULL;
    *why_not = NULL;
    lap_band_encoders *e = aligned_alloc(_Alignof(lap_band_encoders), sizeof *e);
    if (!e)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    if (!lap_encode_plan_make(target, &e->plan)) {
        *why_not = "its sampling is not 4:4:4, 4:2:2, 4:2:0, 4:4:0 or 4:1:1";
        free(e);
        return LAP_OK;
    }
    e->coder = coder;
    e->control = control;
    e->all = e->resting = NULL;
    e->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    *made = e;
    return LAP_OK;
}

void lap_band_encoders_close(lap_band_encoders *e)
{
    while (e && e->all) {
        member *m = e->all;
        e->all = m->after;
        free(m);
    }
    if (e)
        pthread_mutex_destroy(&e->lock);
    free(e);
}

static lap_code create(lap_band_encoders *e, member **made, lap_error *err)
{
    member *m = calloc(1, sizeof *m);
    *made = NULL;
    if (!m)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    m->encoder = (lap_band_encoder){
        .plan = &e->plan, .run = e->coder->run, .join = e->coder->join, .control = e->control};
    pthread_mutex_lock(&e->lock);
    m->after = e->all;
    e->all = m;
    pthread_mutex_unlock(&e->lock);
    *made = m;
    return LAP_OK;
}

lap_code lap_band_encoders_take(lap_band_encoders *e, lap_band_kind kind, lap_band_work *work, lap_error *err)
{
    lap_chunk *chunk = work->chunk;
    lap_code code = lap_chunk_reserve(chunk, RST_SIZE, err);
    pthread_mutex_lock(&e->lock);
    member *m = e->resting;
    if (m)
        e->resting = m->next;
    pthread_mutex_unlock(&e->lock);
    if (code == LAP_OK && !m)
        code = create(e, &m, err);
    if (code != LAP_OK)
        return code;
    if (kind == LAP_BAND_INTERVAL && work->index > 0) {
        chunk->data[chunk->size++] = 0xFF;
        chunk->data[chunk->size++] = (uint8_t)(FIRST_RST + (work->index - 1) % RST_COUNT);
    }
    if (kind != LAP_BAND_GOES_ON)
        lap_band_encoder_restart(&m->encoder);
    work->state = &m->encoder;
    return LAP_OK;
}

void lap_band_encoders_give_back(lap_band_encoders *e, lap_band_work *work)
{
    member *m = work->state; /* the encoder is its first member */
    work->state = NULL;
    pthread_mutex_lock(&e->lock);
    m->next = e->resting;
    e->resting = m;
    pthread_mutex_unlock(&e->lock);
}
