/* Reads JPEG. When a file is opened, its decoder is chosen. libjpeg-turbo reads and checks the header of
 * every file. Our own decoder then outputs rows, each only after it has decoded all MCU rows that the row
 * depends on without an error. At anything invalid or unsupported, libjpeg-turbo takes over. It has read
 * nothing after the header, so it decodes from the beginning; rows that were output already are discarded.
 * Only libjpeg-turbo decides what is an error. */
#include <stdlib.h>

#include "base/image.h"
#include "base/status.h"
#include "codec/meta.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg/jpeg_own.h"
#include "jpeg/ladders.h"
#include "libjpeg/jpeg_scan.h"
#include "libjpeg/libjpeg.h"

enum { ROWS_A_TIME = 32 }; /* rows between two checks for cancellation */

/* ---- open ---------------------------------------------------------------------------------------- */

static bool is_same_picture(const lap_header *header, const lap_jpeg_frame *frame)
{
    bool is_same = header->width == frame->width && header->height == frame->height &&
                   header->components == frame->components && header->is_ycc == frame->is_ycc;
    for (int c = 0; c < frame->components && is_same; c++)
        is_same = header->sample_h[c] == frame->sample_h[c] && header->sample_v[c] == frame->sample_v[c];
    return is_same;
}

/* Estimates the memory for a progressive picture: the larger of what our decoder and libjpeg-turbo need. */
static size_t progressive_memory(const lap_decoder *d, const lap_jpeg_script *script)
{
    enum { FIXED = 256 << 10 }; /* what libjpeg needs to read a header */
    const lap_header *header = &d->header;
    size_t own = lap_held_memory(script);
    bool fits = lap_add(own, sizeof(lap_own_decoder) + FIXED, &own) &&
                lap_add(own, lap_row_decoder_memory(header->width), &own) &&
                lap_add(own, lap_meta_memory(header), &own);
    return !fits || own > header->memory_estimate ? (fits ? own : SIZE_MAX) : header->memory_estimate;
}

static bool fits_memory(const lap_decoder *d, size_t estimate)
{
    size_t all;
    const uint64_t limit = d->options.max_memory;
    return lap_add(estimate, d->size, &all) && (limit == 0 || all <= limit);
}

static const char *reason_of_header(const lap_header *header, const lap_jpeg_frame *frame)
{
    if (!is_same_picture(header, frame))
        return "its header is unusual";
    return lap_decode_takes(frame) ? NULL : "lapedge's decoder does not support its sampling";
}

static const char *reason_against_progressive(lap_decoder *d, lap_own_decoder *own)
{
    lap_jpeg_script *script = &own->header.script;
    own->is_progressive = true;
    own->frame = &script->frame;
    if (!lap_jpeg_script_read(d->bytes, d->size, script))
        return "its scans are incomplete, repeated or out of order";
    if (d->options.max_scans > 0 && script->count > d->options.max_scans)
        return "it has too many scans";
    const char *reason = reason_of_header(&d->header, own->frame);
    const size_t estimate = reason ? 0 : progressive_memory(d, script);
    if (!reason && !fits_memory(d, estimate))
        reason = "memory is short";
    if (!reason)
        d->header.memory_estimate = estimate;
    return reason;
}

static const char *reason_against_sequential(const lap_decoder *d, lap_own_decoder *own)
{
    own->frame = &own->header.sequential;
    if (!fits_memory(d, d->header.memory_estimate))
        return "memory is short";
    if (!lap_jpeg_frame_read(d->bytes, d->size, &own->header.sequential))
        return "its header is unusual";
    return reason_of_header(&d->header, own->frame);
}

/* Returns NULL if our decoder may decode the picture, else the reason why not. */
static const char *reason_against(lap_decoder *d, lap_own_decoder *own)
{
    const lap_header *header = &d->header;
    if (header->arithmetic)
        return "it is coded arithmetically";
    if (header->whole && !header->progressive)
        return "it is sequential, and has several scans";
    if (!d->bytes)
        return "the file is too large to be held in memory";
    return header->progressive ? reason_against_progressive(d, own) : reason_against_sequential(d, own);
}

/* Once all coefficients are decoded, rows of a progressive picture can be computed in any order. */
static void open_progressive(lap_decoder *d, const lap_own_decoder *own)
{
    enum { MIN_THREADS = 2 };
    const lap_jpeg_script *script = &own->header.script;
    const int longest = lap_script_longest(script);
    d->scans = script->count;
    d->longest = longest + 1;
    d->percent = lap_script_percent(script, longest, d->size);
    d->at_memory = lap_row_decoder_memory(d->header.width);
    if (d->options.decode == LAP_DECODE_SERIAL ||
        (d->options.decode == LAP_DECODE_AUTO && lap_own_threads(d) < MIN_THREADS))
        return;
    d->opens = LAP_AT_ANY_ROW;
    d->options.worth_threads = MIN_THREADS;
    d->how = NULL;
}

static lap_code open_own(lap_decoder *d, const lap_coder *rung, lap_error *err)
{
    lap_own_decoder *own = calloc(1, sizeof *own);
    if (!own)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG decoder");
    own->rung = rung;
    own->memory_without = d->header.memory_estimate;
    d->why_not = reason_against(d, own);
    if (d->why_not) {
        free(own);
        return LAP_OK;
    }
    own->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (own->is_progressive)
        open_progressive(d, own);
    d->first = own;
    d->coder = rung->name;
    d->coder_asked = NULL;
    d->header.memory_estimate += d->size;
    return LAP_OK;
}

static lap_code jpeg_open(lap_decoder *d, lap_error *err)
{
    const lap_coder *rung;
    lap_code code = lap_coders_choose(&lap_decoders, d->options.codec, &rung, err);
    if (code != LAP_OK)
        return code;
    d->options.holds = rung->stages != NULL;
    d->coder = lap_coders_row(&lap_decoders, 0)->name;
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
    for (lap_row_decoder *idle; (idle = lap_row_decoder_pop(&own->idle)) != NULL;)
        lap_row_decoder_close(idle);
    lap_held_close(own->held);
    lap_scan_index_free(&own->index);
    free(own->plan);
    pthread_mutex_destroy(&own->lock);
    free(own);
    d->first = NULL;
}

typedef struct helper { /* shared by the threads that decode all coefficients */
    const lap_decoder *decoder;
    pthread_mutex_t lock; /* guards the members below */
    lap_code code;
    lap_error why;
    bool is_fine;
} helper;

static void help(void *argument)
{
    helper *h = argument;
    lap_error why = {0};
    bool is_fine = true;
    const lap_code code = lap_own_coefficients(h->decoder, &is_fine, &why);
    pthread_mutex_lock(&h->lock);
    h->is_fine &= is_fine;
    if (h->code == LAP_OK) {
        h->code = code;
        h->why = why;
    }
    pthread_mutex_unlock(&h->lock);
}

/* Decodes all coefficients before the first row is output; idle threads of the pool help. */
static lap_code all_coefficients(const lap_decoder *d, bool *is_fine, lap_error *err)
{
    helper h = {.decoder = d, .lock = PTHREAD_MUTEX_INITIALIZER, .is_fine = true};
    lap_pool_team(d->options.pool, lap_own_threads(d), help, &h);
    *is_fine = h.is_fine;
    if (h.code != LAP_OK && err)
        *err = h.why;
    return h.code;
}

/* Lets libjpeg-turbo decode instead; `why` is the reason to report. */
static void hand_over(lap_decoder *d, const char *why)
{
    close_own(d);
    d->coder_asked = d->coder;
    d->coder = lap_coders_row(&lap_decoders, 0)->name;
    d->why_not = why;
    d->scans = 0;
}

static void jpeg_spare(lap_decoder *d, const char *why)
{
    const lap_own_decoder *own = d->first;
    d->header.memory_estimate = own->memory_without;
    d->held = 0;
    if (lap_decoder_opens_at(d)) {
        d->opens = LAP_AT_FIRST_ROW;
        d->how = why;
    }
    hand_over(d, why);
}

/* Decodes rows with our decoder; *got is how many were valid. */
static lap_code own_rows(lap_decoder *d, const lap_view *rows, int *got, lap_error *err)
{
    lap_own_decoder *own = d->first;
    lap_code code = LAP_OK;
    *got = 0;
    if (!own->rows) {
        bool is_fine = true;
        lap_row_source source;
        code = own->is_progressive ? all_coefficients(d, &is_fine, err) : LAP_OK;
        if (code != LAP_OK || !is_fine)
            return code;
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

/* Has libjpeg-turbo decode the rows that were output already, and discards them. */
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
        hand_over(d, "its data is unusual");
        code = drop_rows(d, d->next_row + got, err);
    }
    const lap_view rest = lap_view_rows(rows, got, rows->height - got);
    return code == LAP_OK ? lap_libjpeg_decoder.rows(d, &rest, err) : code;
}

/* Our decoder outputs the last row only if the end marker follows, and indexing checks the end of the scan
 * before any row is decoded. So if all rows were decoded here or by parts, nothing is left to check. */
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
    .spare = jpeg_spare,
    .at = &lap_own_part_decoder,
};
