/* The encoder half of codec.h: the checks that all formats share. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "codec/codec.h"

/* ---- chunks ----------------------------------------------------------------------------------- */

void lap_chunk_lend(lap_chunk *chunk, uint8_t *memory, size_t capacity)
{
    *chunk = (lap_chunk){.data = memory, .capacity = capacity, .is_lent = true};
}

/* A chunk that outgrows lent memory moves to the heap. */
static uint8_t *grow(lap_chunk *chunk, size_t need)
{
    if (!chunk->is_lent || need <= chunk->capacity)
        return lap_grow(chunk->data, &chunk->capacity, need, 1);
    uint8_t *grown = lap_grow(NULL, &chunk->capacity, need, 1);
    if (grown)
        memcpy(grown, chunk->data, chunk->size);
    chunk->is_lent = !grown;
    return grown;
}

lap_code lap_chunk_reserve(lap_chunk *chunk, size_t more, lap_error *err)
{
    size_t need;
    if (!lap_add(chunk->size, more, &need))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for encoded data");
    uint8_t *grown = grow(chunk, need);
    if (!grown)
        return lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes for encoded data", need);
    chunk->data = grown;
    return LAP_OK;
}

void lap_chunk_free(lap_chunk *chunk)
{
    if (!chunk->is_lent)
        free(chunk->data);
    *chunk = (lap_chunk){0};
}

/* ---- formats ---------------------------------------------------------------------------------- */

const char *lap_format_name(lap_format format)
{
    static const char *const names[] = {"unknown", "jpg", "png", "bmp", "tga", "ppm", "pgm", "tsv", "none"};
    return (unsigned)format < sizeof names / sizeof *names ? names[format] : names[0];
}

/* ---- encoders --------------------------------------------------------------------------------- */

lap_code lap_encoder_start(const lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err)
{
    *encoder = NULL;
    if (options->width < 1 || options->height < 1 ||
        (options->channels != 1 && options->channels != 3 && options->channels != 4))
        return lap_fail(err, LAP_E_INTERNAL, "cannot write %d x %d pixels of %d channels", options->width,
            options->height, options->channels);
    lap_encoder *made = calloc(1, sizeof *made);
    if (!made)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the encoder");
    *made = (lap_encoder){.ops = ops, .sink = sink, .format = format, .options = *options};
    lap_code code = ops->open(made, err);
    if (code != LAP_OK) {
        lap_encoder_close(made);
        return code;
    }
    made->bands = (options->height - 1) / made->band_rows + 1;
    *encoder = made;
    return LAP_OK;
}

int lap_encoder_band_rows(const lap_encoder *encoder)
{
    return encoder->band_rows;
}

bool lap_encoder_is_parallel(const lap_encoder *encoder)
{
    return encoder->parallel;
}

/* Returns the number of rows in this band; 0 if the band does not exist. */
static int rows_of(const lap_encoder *encoder, int index)
{
    const int rest =
        index >= 0 && index < encoder->bands ? encoder->options.height - index * encoder->band_rows : 0;
    return rest < encoder->band_rows ? rest : encoder->band_rows;
}

static lap_code check_rows(
    const lap_encoder *encoder, int index, bool fits, const lap_view *rows, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    if (fits && rows->height > 0 && rows->width == o->width && rows->channels == o->channels &&
        rows->place == LAP_ON_HOST)
        return LAP_OK;
    return lap_fail(err, LAP_E_INTERNAL, "band %d of %d x %d x %d does not belong to this image", index,
        rows->width, rows->height, rows->channels);
}

lap_code lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    lap_band_work work = {.index = index, .chunk = chunk};
    const lap_code code = check_rows(encoder, index, rows->height == rows_of(encoder, index), rows, err);
    if (code != LAP_OK)
        return code;
    chunk->size = 0;
    return encoder->ops->rows ? encoder->ops->rows(encoder, &work, rows, true, err)
                              : encoder->ops->band(encoder, index, rows, chunk, err);
}

int lap_encoder_row_step(const lap_encoder *encoder)
{
    return encoder->row_step;
}

lap_code lap_encoder_rows(lap_encoder *encoder, lap_band_work *work, const lap_view *rows, lap_error *err)
{
    const int left = rows_of(encoder, work->index) - work->next_row;
    const bool is_last = rows->height == left;
    const bool fits =
        encoder->row_step > 0 && rows->height <= left && (is_last || rows->height % encoder->row_step == 0);
    lap_code code = check_rows(encoder, work->index, fits, rows, err);
    if (code == LAP_OK)
        code = encoder->ops->rows(encoder, work, rows, is_last, err);
    if (code == LAP_OK)
        work->next_row += rows->height;
    return code;
}

lap_code lap_encoder_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    if (index != encoder->appended)
        return lap_fail(
            err, LAP_E_INTERNAL, "band %d was appended, but band %d is next", index, encoder->appended);
    lap_code code = encoder->ops->append(encoder, index, chunk, err);
    if (code == LAP_OK)
        encoder->appended++;
    return code;
}

lap_code lap_encoder_finish(lap_encoder *encoder, lap_error *err)
{
    if (encoder->appended != encoder->bands)
        return lap_fail(
            err, LAP_E_INTERNAL, "only %d of %d bands were appended", encoder->appended, encoder->bands);
    return encoder->ops->finish(encoder, err);
}

void lap_encoder_close(lap_encoder *encoder)
{
    if (!encoder)
        return;
    encoder->ops->close(encoder);
    free(encoder);
}
