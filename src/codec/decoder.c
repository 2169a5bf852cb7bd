#include "codec/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"

/* Adds the source's name to an error, because decoders do not. */
static lap_code named(const lap_decoder *decoder, lap_code code, lap_error *err)
{
    return lap_error_about(err, code, lap_source_name(decoder->source));
}

lap_code lap_decoder_start(const lap_decoder_ops *ops, lap_source *source, const lap_read_options *options,
    lap_decoder **decoder, lap_error *err)
{
    *decoder = NULL;
    lap_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return lap_fail_at(err, LAP_E_MEMORY, lap_source_name(source), "out of memory");
    d->ops = ops;
    d->source = source;
    d->options = *options;
    d->header.format = ops->name;
    d->header.orientation = 1;
    lap_code code = named(d, ops->open(d, err), err);
    d->end_row = d->header.height;
    if (code != LAP_OK) {
        lap_decoder_close(d);
        return code;
    }
    *decoder = d;
    return LAP_OK;
}

const lap_header *lap_decoder_header(const lap_decoder *decoder)
{
    return &decoder->header;
}

lap_code lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    const lap_header *header = &decoder->header;
    if (rows->width != header->width || rows->channels != header->channels || rows->place != LAP_ON_HOST ||
        rows->height < 0 || rows->height > decoder->end_row - decoder->next_row)
        return lap_fail_at(err, LAP_E_INTERNAL, lap_source_name(decoder->source),
            "rows requested that the image does not have");
    lap_code code = named(decoder, decoder->ops->rows(decoder, rows, err), err);
    if (code == LAP_OK)
        decoder->next_row += rows->height;
    return code;
}

lap_code lap_decoder_finish(lap_decoder *decoder, lap_damage *damage, lap_error *err)
{
    lap_code code = named(decoder, decoder->ops->finish(decoder, err), err);
    if (damage)
        *damage = decoder->damage;
    return code;
}

bool lap_decoder_spare(lap_decoder *decoder, const char *why)
{
    if (!decoder->ops->spare || !decoder->first)
        return false;
    decoder->ops->spare(decoder, why);
    return true;
}

void lap_decoder_close(lap_decoder *decoder)
{
    if (!decoder)
        return;
    decoder->ops->close(decoder);
    free(decoder);
}

/* Formats a number without trailing zeros. */
static const char *exact_millions(uint64_t n, char text[LAP_MILLIONS])
{
    lap_millions(n, 6, text);
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        *--end = '\0';
    return text;
}

static lap_code fail_over_pixels(const lap_header *header, uint64_t limit, lap_error *err)
{
    enum { LEAST_MILLIONS = 100000 }; /* below 0.1 million, the message says the number of pixels */
    const uint64_t pixels = (uint64_t)header->width * (uint64_t)header->height;
    char has[LAP_MILLIONS], may[LAP_MILLIONS];
    if (limit < LEAST_MILLIONS)
        return lap_fail(err, LAP_E_LIMIT, "%dx%d is %llu pixels, more than the limit of %llu", header->width,
            header->height, (unsigned long long)pixels, (unsigned long long)limit);
    return lap_fail(err, LAP_E_LIMIT, "%dx%d is %s million pixels, more than the limit of %s million",
        header->width, header->height, exact_millions(pixels, has), exact_millions(limit, may));
}

lap_code lap_decoder_limits(const lap_decoder *decoder, lap_error *err)
{
    const lap_header *header = &decoder->header;
    const lap_read_options *options = &decoder->options;
    uint64_t pixels = (uint64_t)header->width * (uint64_t)header->height;
    if (header->width > LAP_MAX_SIDE || header->height > LAP_MAX_SIDE)
        return lap_fail(err, LAP_E_LIMIT, "%dx%d pixels, and a side may have at most %d", header->width,
            header->height, LAP_MAX_SIDE);
    if (options->max_pixels && pixels > options->max_pixels) {
        return lap_error_remedy(
            err, fail_over_pixels(header, options->max_pixels, err), LAP_REMEDY_MAX_PIXELS);
    }
    if (options->max_memory && header->memory_estimate > options->max_memory && !options->plans)
        return lap_fail_over_limit(
            err, "decoding takes up to", header->memory_estimate, options->max_memory, LAP_REMEDY_MAX_MEMORY);
    return LAP_OK;
}

/* ---- in several places ------------------------------------------------------------------------- */

/* Opens the whole decoder and drops the rows above the first one. */
static lap_code open_in_order(lap_decoder *decoder, lap_error *err)
{
    lap_decoder *whole = decoder->whole;
    lap_image row = {0};
    lap_code code = lap_image_create(&row, whole->header.width, 1, whole->header.channels, 0, err);
    while (code == LAP_OK && whole->next_row < decoder->next_row)
        code = lap_decoder_rows(whole, &row.view, err);
    lap_image_destroy(&row);
    return code;
}

static lap_code rows_in_order(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    return lap_decoder_rows(decoder->whole, rows, err);
}

static void close_in_order(lap_decoder *decoder)
{
    (void)decoder;
}

static const lap_decoder_ops in_order = {
    .open = open_in_order, .rows = rows_in_order, .close = close_in_order};

bool lap_decoder_opens_at(const lap_decoder *decoder)
{
    return decoder->opens != LAP_AT_FIRST_ROW;
}

lap_code lap_decoder_open_at(lap_decoder *whole, int y0, int y1, lap_decoder **decoder, lap_error *err)
{
    *decoder = NULL;
    if (!lap_decoder_opens_at(whole) || y0 < 0 || y1 <= y0 || y1 > whole->header.height)
        return named(
            whole, lap_fail(err, LAP_E_INTERNAL, "rows requested that the image does not have"), err);
    lap_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return named(whole, lap_fail(err, LAP_E_MEMORY, "out of memory"), err);
    d->ops = whole->opens == LAP_AT_ANY_ROW ? whole->ops->at : &in_order;
    d->source = whole->source;
    d->options = whole->options;
    d->header = whole->header;
    d->next_row = y0;
    d->end_row = y1;
    d->whole = whole;
    lap_code code = named(whole, d->ops->open(d, err), err);
    if (code == LAP_OK)
        *decoder = d;
    else
        lap_decoder_close(d);
    return code;
}

lap_code lap_decoder_run(lap_decoder *whole, lap_decoder_work *work, void *user, lap_error *err)
{
    const lap_code code = work(user, !lap_decoder_opens_at(whole), err);
    if (code != LAP_E_INTERNAL || !atomic_exchange(&whole->in_doubt, false))
        return code;
    whole->opens = LAP_AT_ROWS_IN_ORDER;
    whole->how = "its rows disagree with the scan";
    if (err) /* the decoder can still go on: not an error */
        *err = (lap_error){0};
    return work(user, true, err);
}
