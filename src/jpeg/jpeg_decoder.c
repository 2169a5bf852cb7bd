/* JPEG in: who decodes a file is decided when it is opened. libjpeg-turbo reads the header of every file and
 * judges it. A decoder of ours gives rows as long as nothing is odd: a row comes only when all rows of MCUs
 * that it depends on were in order. Then libjpeg-turbo, which has not read a byte behind the header, decodes
 * from the beginning; the rows that were given already are dropped, and it alone judges what is odd. */
#include <stdlib.h>

#include "base/image.h"
#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg/decode_ladder.h"
#include "jpeg/jpeg_own.h"
#include "libjpeg/jpeg_scan.h"
#include "libjpeg/libjpeg.h"

enum { ROWS_A_TIME = 32 }; /* between looks at the control */

/* ---- open ---------------------------------------------------------------------------------------- */

static bool is_same_picture(const lap_header *header, const lap_jpeg_frame *frame)
{
    bool is_same = header->width == frame->width && header->height == frame->height &&
                   header->components == frame->components &&
                   (frame->components == 1 || (frame->components == 3 && header->is_ycc));
    for (int c = 0; c < frame->components && is_same; c++)
        is_same = header->sample_h[c] == frame->sample_h[c] && header->sample_v[c] == frame->sample_v[c];
    return is_same;
}

/* NULL: it may be ours; else why not. */
static const char *reason_against(const lap_decoder *d, lap_jpeg_frame *frame)
{
    const lap_header *header = &d->header;
    const uint64_t limit = d->options.max_memory;
    if (header->whole || header->progressive || header->arithmetic)
        return "it is progressive, coded arithmetically, or has several scans";
    if (!d->bytes)
        return "the file is too large to be held in memory";
    if (limit > 0 && header->memory_estimate + d->size > limit)
        return "memory is short";
    if (!lap_jpeg_frame_read(d->bytes, d->size, frame) || !is_same_picture(header, frame))
        return "something in its header is odd";
    return lap_decode_takes(frame) ? NULL : "its sampling is none of those that it decodes";
}

static lap_code open_own(lap_decoder *d, const lap_decode_rung *rung, lap_error *err)
{
    lap_own_decoder *own = calloc(1, sizeof *own);
    if (!own)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
    own->rung = rung;
    d->why_not = reason_against(d, &own->frame);
    if (d->why_not) {
        free(own);
        return LAP_OK;
    }
    d->first = own;
    d->coder = rung->name;
    d->coder_asked = NULL;
    d->header.memory_estimate += d->size;
    return LAP_OK;
}

static lap_code jpeg_open(lap_decoder *d, lap_error *err)
{
    const lap_decode_rung *rung;
    lap_code code = lap_decode_choose(d->options.codec, &rung, err);
    if (code != LAP_OK)
        return code;
    d->options.holds = rung->stages != NULL;
    d->coder = lap_decode_row_at(0)->name;
    code = lap_libjpeg_decoder.open(d, err);
    if (code == LAP_OK && rung->stages) {
        d->coder_asked = rung->name;
        code = open_own(d, rung, err);
    }
    return code == LAP_OK ? lap_own_scan(d, err) : code;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static void close_own(lap_decoder *d)
{
    lap_own_decoder *own = d->first;
    if (!own)
        return;
    lap_row_decoder_close(own->rows);
    lap_scan_index_free(&own->index);
    free(own->plan);
    free(own);
    d->first = NULL;
}

lap_code lap_own_source(const lap_decoder *whole, lap_row_source *source, lap_error *err)
{
    lap_own_decoder *own = whole->first;
    if (!own->plan) {
        own->plan = malloc(sizeof *own->plan);
        if (!own->plan)
            return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
        if (!lap_decode_plan_make(&own->frame, own->rung->stages->place, own->plan))
            return lap_fail(err, LAP_E_INTERNAL, "a sampling that was looked at before");
    }
    *source = (lap_row_source){.plan = own->plan,
        .bytes = whole->bytes,
        .size = whole->size,
        .scan_begin = (size_t)own->frame.scan_begin,
        .stages = own->rung->stages,
        .gray = whole->options.gray};
    return LAP_OK;
}

/* As many as are in order: *got. */
static lap_code own_rows(lap_decoder *d, const lap_view *rows, int *got, lap_error *err)
{
    lap_own_decoder *own = d->first;
    lap_code code = LAP_OK;
    *got = 0;
    if (!own->rows) {
        lap_row_source source;
        code = lap_own_source(d, &source, err);
        if (code == LAP_OK)
            code = lap_row_decoder_open(&source, &own->rows, err);
    }
    for (bool goes_on = own->rows != NULL; code == LAP_OK && goes_on && *got < rows->height;) {
        const int left = rows->height - *got, count = left < ROWS_A_TIME ? left : ROWS_A_TIME;
        const lap_view some = lap_view_rows(rows, *got, count);
        code = lap_control_check(d->options.control, err);
        const int done = code == LAP_OK ? lap_row_decoder_rows(own->rows, &some) : 0;
        *got += done;
        goes_on = done == count;
    }
    return code;
}

/* Rows that were given already, once more by libjpeg-turbo. */
static lap_code drop_rows(lap_decoder *d, int count, lap_error *err)
{
    lap_image waste = {0};
    lap_code code = count > 0
                        ? lap_image_create(&waste, d->header.width, ROWS_A_TIME, d->header.channels, 0, err)
                        : LAP_OK;
    while (code == LAP_OK && count > 0) {
        const int some = count < ROWS_A_TIME ? count : ROWS_A_TIME;
        const lap_view view = lap_view_rows(&waste.view, 0, some);
        code = lap_libjpeg_decoder.rows(d, &view, err);
        count -= some;
    }
    lap_image_destroy(&waste);
    return code;
}

static lap_code jpeg_rows(lap_decoder *d, const lap_view *rows, lap_error *err)
{
    int got = 0;
    lap_code code = d->first ? own_rows(d, rows, &got, err) : LAP_OK;
    if (code != LAP_OK || got == rows->height)
        return code;
    if (d->first) {
        close_own(d);
        d->coder_asked = d->coder;
        d->coder = lap_decode_row_at(0)->name;
        d->why_not = "something in its data is odd";
        code = drop_rows(d, d->next_row + got, err);
    }
    const lap_view rest = lap_view_rows(rows, got, rows->height - got);
    return code == LAP_OK ? lap_libjpeg_decoder.rows(d, &rest, err) : code;
}

/* The last row came only with the end marker behind it; the scan looked at the end before any row. */
static lap_code jpeg_finish(lap_decoder *d, lap_error *err)
{
    const bool has_ended = d->next_row == d->header.height || (d->next_row == 0 && lap_decoder_opens_at(d));
    if (!d->first || !has_ended)
        return lap_libjpeg_decoder.finish(d, err);
    lap_source_held_is_read(d->source);
    return LAP_OK;
}

static void jpeg_close(lap_decoder *d)
{
    close_own(d);
    lap_libjpeg_decoder.close(d);
}

const lap_decoder_ops lap_jpeg_decoder = {
    .name = "jpeg",
    .probe = lap_jpeg_probe,
    .open = jpeg_open,
    .rows = jpeg_rows,
    .finish = jpeg_finish,
    .close = jpeg_close,
    .at = &lap_own_part_decoder,
};
