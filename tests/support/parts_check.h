/* Compares an image that is decoded by parts with the same image decoded by rows: verdict, message,
 * damage and pixels. */
#ifndef PARTS_CHECK_H
#define PARTS_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "run/formats.h"
#include "run/pixels.h"

typedef struct parts_outcome {
    lap_code code;
    lap_error err;
    lap_damage damage;
    lap_image image;
    bool had_parts;
} parts_outcome;

typedef struct parts_work {
    lap_decoder *decoder;
    const lap_view *image;
    int count; /* parts of about the same height */
} parts_work;

/* Each part is read in two pieces. */
static inline lap_code parts_all(void *user, bool in_order, lap_error *err)
{
    const parts_work *w = user;
    const lap_view *image = w->image;
    int step = (image->height - 1) / w->count + 1;
    lap_code code = LAP_OK;
    if (in_order)
        return lap_decoder_rows(w->decoder, image, err);
    for (int y0 = 0; y0 < image->height && code == LAP_OK; y0 += step) {
        int y1 = image->height - y0 < step ? image->height : y0 + step, half = (y1 - y0) / 2;
        lap_decoder *part = NULL;
        lap_view upper = lap_view_rows(image, y0, half),
                 lower = lap_view_rows(image, y0 + half, y1 - y0 - half);
        code = lap_decoder_open_at(w->decoder, y0, y1, &part, err);
        if (code == LAP_OK && half)
            code = lap_decoder_rows(part, &upper, err);
        if (code == LAP_OK)
            code = lap_decoder_rows(part, &lower, err);
        lap_decoder_close(part);
    }
    return code;
}

/* count: parts; 0: lap_collect_image. */
static inline lap_code parts_read(lap_decoder *decoder, int count, parts_outcome *o)
{
    const lap_view *image = &o->image.view;
    const lap_collect collect = {.decoder = decoder, .turn = LAP_TURN_NONE, .to = image};
    if (!lap_decoder_opens_at(decoder) || count == 0)
        return lap_collect_image(&collect, &o->damage, &o->err);
    parts_work w = {decoder, image, count};
    const lap_code code = lap_decoder_run(decoder, parts_all, &w, &o->err);
    return code == LAP_OK ? lap_decoder_finish(decoder, &o->damage, &o->err) : code;
}

/* The bytes are in memory of exactly their size. */
static inline parts_outcome parts_decode(
    const uint8_t *bytes, size_t size, const lap_read_options *options, int count)
{
    parts_outcome o = {.code = LAP_OK};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    o.code = lap_source_memory(copy, size, "parts.jpg", &source, &o.err);
    if (o.code == LAP_OK)
        o.code = lap_decoder_open(source, options, &decoder, &o.err);
    if (o.code == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        o.had_parts = lap_decoder_opens_at(decoder);
        o.code = lap_image_create(&o.image, h->width, h->height, h->channels, 0, &o.err);
        for (int y = 0; y < h->height && o.code == LAP_OK; y++)
            memset(o.image.view.base + y * o.image.view.stride, 0x5A, (size_t)h->width * (size_t)h->channels);
    }
    if (o.code == LAP_OK)
        o.code = parts_read(decoder, count, &o);
    lap_decoder_close(decoder);
    lap_source_close(source);
    free(copy);
    return o;
}

static inline bool parts_equal(const parts_outcome *a, const parts_outcome *b)
{
    const lap_view *v = &a->image.view, *w = &b->image.view;
    if (a->code != b->code)
        return false;
    if (a->code != LAP_OK)
        return strcmp(a->err.message, b->err.message) == 0;
    if (a->damage.warnings != b->damage.warnings || a->damage.truncated != b->damage.truncated ||
        a->damage.damaged != b->damage.damaged || strcmp(a->damage.first, b->damage.first) != 0 ||
        v->width != w->width || v->height != w->height || v->channels != w->channels)
        return false;
    for (int y = 0; y < v->height; y++)
        if (memcmp(v->base + y * v->stride, w->base + y * w->stride, (size_t)v->width * (size_t)v->channels))
            return false;
    return true;
}

#endif
