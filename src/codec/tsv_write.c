/* Writes pixel values as text without a header: one image row per line, decimal samples separated by tabs,
 * pixel by pixel (R G B R G B ... for colour). For people, spreadsheets and numpy.loadtxt. */
#include "base/status.h"
#include "codec/codec.h"

enum { BAND_ROWS = 128, MAX_SAMPLE = 4 /* three digits and a separator */ };

static lap_code tsv_open(lap_encoder *encoder, lap_error *err)
{
    (void)err;
    encoder->band_rows = BAND_ROWS;
    encoder->parallel = true;
    return LAP_OK;
}

static uint8_t *put(uint8_t *to, unsigned value)
{
    if (value >= 100)
        *to++ = (uint8_t)('0' + value / 100);
    if (value >= 10)
        *to++ = (uint8_t)('0' + value / 10 % 10);
    *to++ = (uint8_t)('0' + value % 10);
    return to;
}

static lap_code tsv_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    (void)index;
    size_t samples = (size_t)rows->width * (size_t)rows->channels, line;
    if (!lap_mul(samples, MAX_SAMPLE, &line))
        return lap_fail(err, LAP_E_LIMIT, "a row of %d pixels is too long", rows->width);
    for (int y = 0; y < rows->height; y++) {
        lap_code code = lap_control_check(encoder->options.control, err);
        if (code == LAP_OK)
            code = lap_chunk_reserve(chunk, line, err);
        if (code != LAP_OK)
            return code;
        const uint8_t *from = rows->base + y * rows->stride;
        uint8_t *to = chunk->data + chunk->size;
        for (size_t i = 0; i < samples; i++) {
            to = put(to, from[i]);
            *to++ = '\t';
        }
        to[-1] = '\n';
        chunk->size = (size_t)(to - chunk->data);
    }
    return LAP_OK;
}

static lap_code tsv_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    (void)index;
    return lap_sink_write(encoder->sink, chunk->data, chunk->size, err);
}

static lap_code tsv_finish(lap_encoder *encoder, lap_error *err)
{
    (void)encoder;
    (void)err;
    return LAP_OK;
}

static void tsv_close(lap_encoder *encoder)
{
    (void)encoder;
}

const lap_encoder_ops lap_tsv_encoder = {
    .formats = 1 << LAP_FORMAT_TSV,
    .open = tsv_open,
    .band = tsv_band,
    .append = tsv_append,
    .finish = tsv_finish,
    .close = tsv_close,
};
