/* Writes JPEG. When a file is opened, one encoder is chosen for all of it. If our own encoder supports the
 * picture, libjpeg-turbo writes only the header and our encoder the scan; else libjpeg-turbo writes the whole
 * file. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/codec.h"
#include "jpeg/encode_bands.h"
#include "jpeg/encode_join.h"
#include "jpeg/ladders.h"
#include "libjpeg/jpeg_head.h"
#include "libjpeg/libjpeg.h"

typedef struct own_state {
    lap_jpeg_head head;
    lap_band_encoders *bands;
    lap_band_kind kind;
    lap_band_work joined; /* for bands encoded separately: state at the end of the joined scan */
    lap_chunk bytes;      /* bytes of the last piece that was joined */
} own_state;

/* ---- by an encoder of ours ----------------------------------------------------------------------- */

static lap_encode_target target_of(const lap_jpeg_head *head, const lap_write_options *options)
{
    lap_encode_target t = {.width = options->width, .channels = options->channels};
    memcpy(t.h, head->h, sizeof t.h);
    memcpy(t.v, head->v, sizeof t.v);
    memcpy(t.quant, head->quant, sizeof t.quant);
    return t;
}

static lap_code begin_band(const own_state *state, lap_band_work *work, const lap_view *rows, lap_error *err)
{
    const lap_code code = lap_band_encoders_take(state->bands, state->kind, work, err);
    return code == LAP_OK && state->kind == LAP_BAND_APART
               ? lap_band_apart_begin(work->state, rows, work->chunk, err)
               : code;
}

static lap_code end_band(
    const lap_encoder *encoder, const own_state *state, lap_band_work *work, lap_error *err)
{
    lap_code code = LAP_OK;
    if (state->kind == LAP_BAND_APART)
        lap_band_apart_end(work->state, work->chunk);
    else if (state->kind == LAP_BAND_INTERVAL || work->index == encoder->bands - 1)
        code = lap_band_encoder_finish(work->state, work->chunk, err);
    if (code == LAP_OK)
        lap_band_encoders_give_back(state->bands, work);
    return code;
}

static lap_code own_rows(
    lap_encoder *encoder, lap_band_work *work, const lap_view *rows, bool is_last, lap_error *err)
{
    const own_state *state = encoder->state;
    lap_code code = LAP_OK;
    if (work->next_row == 0)
        code = begin_band(state, work, rows, err);
    if (code == LAP_OK)
        code = lap_band_encode(work->state, rows, work->chunk, err);
    return code == LAP_OK && is_last ? end_band(encoder, state, work, err) : code;
}

/* Writes a band that was encoded separately, joined to the bands before it. */
static lap_code append_apart(lap_encoder *encoder, int index, const lap_chunk *apart, lap_error *err)
{
    own_state *state = encoder->state;
    lap_chunk *bytes = &state->bytes;
    lap_code code = LAP_OK;
    bytes->size = 0;
    if (index == 0)
        code = lap_band_encoders_take(state->bands, LAP_BAND_APART, &state->joined, err);
    for (size_t at = 0; code == LAP_OK && at < apart->size; bytes->size = 0) {
        code = lap_band_join(state->joined.state, apart, &at, bytes, err);
        if (code == LAP_OK && at == apart->size && index == encoder->bands - 1)
            code = lap_band_encoder_finish(state->joined.state, bytes, err);
        if (code == LAP_OK)
            code = lap_sink_write(encoder->sink, bytes->data, bytes->size, err);
    }
    return code;
}

static lap_code own_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    const own_state *state = encoder->state;
    const lap_chunk *header = &state->head.header;
    lap_code code = LAP_OK;
    if (index == 0)
        code = lap_sink_write(encoder->sink, header->data, header->size, err);
    if (code == LAP_OK && state->kind == LAP_BAND_APART)
        return append_apart(encoder, index, chunk, err);
    return code == LAP_OK ? lap_sink_write(encoder->sink, chunk->data, chunk->size, err) : code;
}

static lap_code own_finish(lap_encoder *encoder, lap_error *err)
{
    return lap_sink_write(encoder->sink, lap_jpeg_end, sizeof lap_jpeg_end, err);
}

static void own_close(lap_encoder *encoder)
{
    own_state *state = encoder->state;
    if (!state)
        return;
    lap_band_encoders_close(state->bands);
    lap_chunk_free(&state->head.header);
    lap_chunk_free(&state->bytes);
    free(state);
}

static const lap_encoder_ops own_ops = {
    .rows = own_rows, .append = own_append, .finish = own_finish, .close = own_close};

/* Sets encoder->why_not if our encoder does not support the picture. */
static lap_code open_own(lap_encoder *encoder, const lap_coder *coder, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    own_state *state = calloc(1, sizeof *state);
    if (!state)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    encoder->state = state;
    lap_code code = lap_jpeg_head_make(o, &state->head, err);
    if (code != LAP_OK)
        return code;
    const lap_encode_target target = target_of(&state->head, o);
    code = lap_band_encoders_open(coder, &target, o->control, &state->bands, &encoder->why_not, err);
    encoder->band_rows = state->head.band_rows;
    encoder->row_step = 8 * state->head.v[0];
    encoder->parallel = o->height > encoder->band_rows && (state->head.interval > 0 || !o->in_order);
    state->kind = !encoder->parallel         ? LAP_BAND_GOES_ON
                  : state->head.interval > 0 ? LAP_BAND_INTERVAL
                                             : LAP_BAND_APART;
    state->joined.chunk = &state->bytes;
    return code;
}

/* ---- by libjpeg-turbo ---------------------------------------------------------------------------- */

static lap_code open_libjpeg(lap_encoder *encoder, lap_error *err)
{
    encoder->ops = &lap_libjpeg_encoder;
    encoder->state = NULL;
    return encoder->ops->open(encoder, err);
}

/* ---- the format ---------------------------------------------------------------------------------- */

static lap_code jpeg_open(lap_encoder *encoder, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    const lap_coder *coder;
    encoder->ops = &own_ops;
    lap_code code = lap_coders_choose(&lap_encoders, o->codec, &coder, err);
    if (code != LAP_OK)
        return code;
    encoder->coder = coder->name;
    if (!coder->run)
        return open_libjpeg(encoder, err);
    if (o->progressive)
        encoder->why_not = "the file is progressive";
    else if (o->optimize)
        encoder->why_not = "the file has optimized Huffman tables";
    else
        code = open_own(encoder, coder, err);
    if (code != LAP_OK || !encoder->why_not)
        return code;
    own_close(encoder);
    encoder->row_step = 0;
    encoder->coder_asked = coder->name;
    encoder->coder = lap_coders_row(&lap_encoders, 0)->name;
    return open_libjpeg(encoder, err);
}

const lap_encoder_ops lap_jpeg_encoder = {.formats = 1 << LAP_FORMAT_JPG, .open = jpeg_open};
