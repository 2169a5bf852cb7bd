/* JPEG out: who encodes a file is decided when it is opened, for the whole file. An encoder of ours makes the
 * scan behind libjpeg-turbo's header; what it does not take is libjpeg-turbo's from the first byte. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/codec.h"
#include "jpeg/encode_bands.h"
#include "jpeg/encode_ladder.h"
#include "libjpeg/jpeg_head.h"
#include "libjpeg/libjpeg.h"

typedef struct own_state {
    lap_jpeg_head head;
    lap_band_encoders *bands;
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

static lap_code own_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    const own_state *state = encoder->state;
    return encoder->parallel ? lap_encode_interval(state->bands, index, rows, chunk, err)
                             : lap_encode_next(state->bands, rows, index == encoder->bands - 1, chunk, err);
}

static lap_code own_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    const own_state *state = encoder->state;
    const lap_chunk *header = &state->head.header;
    lap_code code = LAP_OK;
    if (index == 0)
        code = lap_sink_write(encoder->sink, header->data, header->size, err);
    return code == LAP_OK ? lap_sink_write(encoder->sink, chunk->data, chunk->size, err) : code;
}

static lap_code own_finish(lap_encoder *encoder, lap_error *err)
{
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    return lap_sink_write(encoder->sink, end_of_image, sizeof end_of_image, err);
}

static void own_close(lap_encoder *encoder)
{
    own_state *state = encoder->state;
    if (!state)
        return;
    lap_band_encoders_close(state->bands);
    lap_chunk_free(&state->head.header);
    free(state);
}

static const lap_encoder_ops own_ops = {
    .band = own_band, .append = own_append, .finish = own_finish, .close = own_close};

/* encoder->why_not is set where the picture is none of ours. */
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
    code = lap_band_encoders_open(coder->run, &target, o->control, &state->bands, &encoder->why_not, err);
    encoder->band_rows = state->head.band_rows;
    encoder->parallel = state->head.interval > 0 && o->height > encoder->band_rows;
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
    lap_code code = lap_encoder_choose(o->codec, &coder, err);
    if (code != LAP_OK)
        return code;
    encoder->coder = coder->name;
    if (!coder->run)
        return open_libjpeg(encoder, err);
    if (o->progressive)
        encoder->why_not = "the file is progressive";
    else if (o->optimize)
        encoder->why_not = "the file has tables made for it";
    else
        code = open_own(encoder, coder, err);
    if (code != LAP_OK || !encoder->why_not)
        return code;
    own_close(encoder);
    encoder->coder_asked = coder->name;
    encoder->coder = lap_encoder_row(0)->name;
    return open_libjpeg(encoder, err);
}

const lap_encoder_ops lap_jpeg_encoder = {.formats = 1 << LAP_FORMAT_JPG, .open = jpeg_open};
