/* Encodes binary PNM with maxval 255: .ppm is P6 (gray becomes three equal samples), .pgm is P5. Lossless:
 * the file holds the filter's exact result. */
#include <string.h>

#include "base/status.h"
#include "codec/codec.h"

enum { BAND_ROWS = 128 };

static lap_code pnm_open(lap_encoder *encoder, lap_error *err)
{
    if (encoder->format == LAP_FORMAT_PGM && encoder->options.channels != 1)
        return lap_error_remedy(err, lap_fail(err, LAP_E_USAGE, "a .pgm holds one channel"), LAP_REMEDY_GRAY);
    encoder->band_rows = BAND_ROWS;
    encoder->parallel = true;
    return LAP_OK;
}

/* Converts a row to three samples per pixel: triples gray, drops alpha. */
static void to_rgb(const uint8_t *from, uint8_t *to, int width, int channels)
{
    for (int x = 0; x < width; x++, from += channels, to += 3)
        for (int c = 0; c < 3; c++)
            to[c] = from[channels == 1 ? 0 : c];
}

static lap_code pnm_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    (void)index;
    int channels = encoder->format == LAP_FORMAT_PGM ? 1 : 3;
    size_t line = 0, size = 0;
    if (!lap_mul((size_t)rows->width, (size_t)channels, &line) || !lap_mul(line, (size_t)rows->height, &size))
        return lap_fail(err, LAP_E_LIMIT, "a band with %d pixels per row is too large", rows->width);
    lap_code code = lap_control_check(encoder->options.control, err);
    if (code == LAP_OK)
        code = lap_chunk_reserve(chunk, size, err);
    if (code != LAP_OK)
        return code;
    for (int y = 0; y < rows->height; y++) {
        const uint8_t *from = rows->base + y * rows->stride;
        uint8_t *to = chunk->data + (size_t)y * line;
        if (rows->channels == channels)
            memcpy(to, from, line);
        else
            to_rgb(from, to, rows->width, rows->channels);
    }
    chunk->size = size;
    return LAP_OK;
}

static lap_code pnm_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    if (index == 0) {
        char head[64];
        int size = snprintf(head, sizeof head, "P%c\n%d %d\n255\n",
            encoder->format == LAP_FORMAT_PGM ? '5' : '6', o->width, o->height);
        lap_code code = lap_sink_write(encoder->sink, head, (size_t)size, err);
        if (code != LAP_OK)
            return code;
    }
    return lap_sink_write(encoder->sink, chunk->data, chunk->size, err);
}

static lap_code pnm_finish(lap_encoder *encoder, lap_error *err)
{
    (void)encoder;
    (void)err;
    return LAP_OK;
}

static void pnm_close(lap_encoder *encoder)
{
    (void)encoder;
}

const lap_encoder_ops lap_pnm_encoder = {
    .formats = 1 << LAP_FORMAT_PPM | 1 << LAP_FORMAT_PGM,
    .open = pnm_open,
    .band = pnm_band,
    .append = pnm_append,
    .finish = pnm_finish,
    .close = pnm_close,
};
