/* An encoder that writes nothing. It receives bands when only their statistics are wanted. */
#include "codec/codec.h"

enum { BAND_ROWS = 128 }; /* same height as a JPEG band */

static lap_code open_null(lap_encoder *encoder, lap_error *err)
{
    (void)err;
    encoder->band_rows = BAND_ROWS;
    encoder->parallel = true;
    return LAP_OK;
}

static lap_code drop_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    (void)encoder, (void)index, (void)rows, (void)err;
    chunk->size = 0;
    return LAP_OK;
}

static lap_code drop_chunk(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    (void)encoder, (void)index, (void)chunk, (void)err;
    return LAP_OK;
}

static lap_code finish_null(lap_encoder *encoder, lap_error *err)
{
    (void)encoder, (void)err;
    return LAP_OK;
}

static void close_null(lap_encoder *encoder)
{
    (void)encoder;
}

const lap_encoder_ops lap_null_encoder = {.formats = 1 << LAP_FORMAT_NOTHING,
    .open = open_null,
    .band = drop_band,
    .append = drop_chunk,
    .finish = finish_null,
    .close = close_null};
