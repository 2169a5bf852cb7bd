#include "jpeg/encode_bands.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/status.h"

enum { RST_SIZE = 2, FIRST_RST = 0xD0, RST_COUNT = 8 };

typedef struct member {
    lap_band_encoder encoder;
    struct member *next; /* in the list of those at rest */
} member;

struct lap_band_encoders {
    lap_encode_plan plan;
    lap_encode_fn *run;
    const lap_control *control;
    pthread_mutex_t lock;
    member *resting;
};

lap_code lap_band_encoders_open(lap_encode_fn *run, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err)
{
    *made = NULL;
    *why_not = NULL;
    lap_band_encoders *e = aligned_alloc(_Alignof(lap_band_encoders), sizeof *e);
    if (!e)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    if (!lap_encode_plan_make(target, &e->plan)) {
        *why_not = "its sampling is another than 4:4:4, 4:2:2, 4:2:0, 4:4:0 and 4:1:1";
        free(e);
        return LAP_OK;
    }
    e->run = run;
    e->control = control;
    e->resting = NULL;
    if (pthread_mutex_init(&e->lock, NULL) != 0) {
        free(e);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    }
    *made = e;
    return LAP_OK;
}

void lap_band_encoders_close(lap_band_encoders *e)
{
    while (e && e->resting) {
        member *m = e->resting;
        e->resting = m->next;
        lap_band_encoder_close(&m->encoder);
        free(m);
    }
    if (e)
        pthread_mutex_destroy(&e->lock);
    free(e);
}

static lap_code take(lap_band_encoders *e, member **taken, lap_error *err)
{
    pthread_mutex_lock(&e->lock);
    member *m = e->resting;
    if (m)
        e->resting = m->next;
    pthread_mutex_unlock(&e->lock);
    *taken = m;
    if (m)
        return LAP_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    const lap_code code = lap_band_encoder_open(&e->plan, e->run, &m->encoder, err);
    m->encoder.control = e->control;
    if (code == LAP_OK)
        *taken = m;
    else
        free(m);
    return code;
}

static void give_back(lap_band_encoders *e, member *m)
{
    pthread_mutex_lock(&e->lock);
    m->next = e->resting;
    e->resting = m;
    pthread_mutex_unlock(&e->lock);
}

lap_code lap_encode_interval(
    lap_band_encoders *e, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    member *m;
    lap_code code = lap_chunk_reserve(chunk, RST_SIZE, err);
    if (code == LAP_OK)
        code = take(e, &m, err);
    if (code != LAP_OK)
        return code;
    if (index > 0) {
        chunk->data[chunk->size++] = 0xFF;
        chunk->data[chunk->size++] = (uint8_t)(FIRST_RST + (index - 1) % RST_COUNT);
    }
    lap_band_encoder_restart(&m->encoder);
    code = lap_band_encode(&m->encoder, rows, chunk, err);
    if (code == LAP_OK)
        code = lap_band_encoder_finish(&m->encoder, chunk, err);
    give_back(e, m);
    return code;
}

lap_code lap_encode_next(
    lap_band_encoders *e, const lap_view *rows, bool is_last, lap_chunk *chunk, lap_error *err)
{
    member *m; /* the same one each time: there is no other */
    lap_code code = take(e, &m, err);
    if (code != LAP_OK)
        return code;
    code = lap_band_encode(&m->encoder, rows, chunk, err);
    if (code == LAP_OK && is_last)
        code = lap_band_encoder_finish(&m->encoder, chunk, err);
    give_back(e, m);
    return code;
}
