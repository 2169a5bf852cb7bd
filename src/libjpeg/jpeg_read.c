/* Decodes JPEG with libjpeg-turbo's scanline interface from a streaming source. A baseline image needs memory
 * in proportion to its width; an image with several scans needs memory for all coefficients. */
#include <jerror.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/meta.h"
#include "libjpeg/jpeg_feed.h"
#include "libjpeg/jpeg_left.h"
#include "libjpeg/jpeg_note.h"
#include "libjpeg/jpeg_scan.h"
#include "libjpeg/libjpeg.h"

enum { PEEK_FIRST = 4096 };
/* Maximum size of a file to hold in memory, unless parallel decoding was requested. File and pixels together
 * then need less than 200 MB. */
enum { MAX_HELD = 80 << 20 };

/* ---- open ------------------------------------------------------------------------------------ */

lap_code lap_jpeg_scan_source(lap_source *source, lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err)
{
    lap_code code = LAP_OK;
    size_t want = PEEK_FIRST, got = 0;
    while (code == LAP_OK && !scan->done) {
        lap_error cause = {.message = ""};
        code = lap_source_peek(source, want, bytes, &got, err);
        if (code != LAP_OK)
            return code;
        code = lap_jpeg_scan_header(scan, *bytes, got, got < want, &want, &cause);
        const size_t ahead = got < LAP_JPEG_MAX_HEADER / 2 ? 2 * got : LAP_JPEG_MAX_HEADER;
        want = want > ahead ? want : ahead; /* doubling keeps the number of rounds small */
        if (code == LAP_E_TRUNCATED)
            lap_fail(err, code, "%s, after %zu bytes", cause.message, got);
        else if (code != LAP_OK && err)
            *err = cause;
    }
    return code;
}

/* Copies the metadata segments: they are needed until the output is written, but the first read discards the
 * peeked bytes. */
static lap_code keep_segments(
    lap_jpeg_reader *r, const lap_jpeg_scan *scan, const uint8_t *bytes, lap_error *err)
{
    lap_header *header = &r->decoder->header;
    if (scan->span_count == 0)
        return LAP_OK;
    r->segments = calloc(scan->span_count, sizeof *r->segments);
    r->segment_bytes = malloc(scan->kept_bytes + 1);
    if (!r->segments || !r->segment_bytes)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    uint8_t *to = r->segment_bytes;
    bool has_exif = false;
    for (size_t i = 0; i < scan->span_count; i++) {
        const lap_jpeg_span *span = &scan->spans[i];
        memcpy(to, bytes + span->offset, span->size);
        r->segments[i] = (lap_segment){.marker = span->marker, .data = to, .size = span->size};
        if (!has_exif && span->marker == 0xE1 && lap_exif_is(to, span->size)) {
            has_exif = true; /* the first one counts */
            header->orientation = lap_exif_orientation(to, span->size);
        }
        to += span->size;
    }
    header->segments = r->segments;
    header->segment_count = scan->span_count;
    return LAP_OK;
}

/* Returns an upper bound of what libjpeg allocates: for each component a row of blocks as samples, more for
 * context rows and conversion, and all coefficients if there are several scans. Adds our own buffers and all
 * copies of the metadata. */
static size_t estimate_memory(const lap_header *header)
{
    uint64_t max_h = 1, max_v = 1, total = ((uint64_t)1 << 18) + lap_meta_memory(header);
    if (!header->arithmetic)
        total += LAP_JPEG_WALK_MEMORY;
    for (int i = 0; i < header->components; i++) {
        max_h = (uint64_t)header->sample_h[i] > max_h ? (uint64_t)header->sample_h[i] : max_h;
        max_v = (uint64_t)header->sample_v[i] > max_v ? (uint64_t)header->sample_v[i] : max_v;
    }
    uint64_t mcus_wide = ((uint64_t)header->width + 8 * max_h - 1) / (8 * max_h);
    uint64_t mcus_high = ((uint64_t)header->height + 8 * max_v - 1) / (8 * max_v);
    for (int i = 0; i < header->components; i++) {
        uint64_t blocks = mcus_wide * (uint64_t)header->sample_h[i] * (uint64_t)header->sample_v[i];
        total += blocks * DCTSIZE2 * 3 + mcus_wide * 8 * max_h * max_v * 2;
        if (header->whole)
            total += blocks * mcus_high * DCTSIZE2 * sizeof(JCOEF);
        if (header->progressive && !header->arithmetic)
            total += blocks * mcus_high * DCTSIZE2 / 8; /* jpeg_walk.h: one bit a coefficient */
    }
    return total < SIZE_MAX ? (size_t)total : SIZE_MAX;
}

static void fill_header(lap_jpeg_reader *r)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;
    lap_header *header = &r->decoder->header;
    header->width = (int)cinfo->image_width;
    header->height = (int)cinfo->image_height;
    header->components = cinfo->num_components;
    for (int i = 0; i < cinfo->num_components; i++) {
        header->sample_h[i] = cinfo->comp_info[i].h_samp_factor;
        header->sample_v[i] = cinfo->comp_info[i].v_samp_factor;
    }
    header->is_ycc = cinfo->jpeg_color_space == JCS_YCbCr || cinfo->jpeg_color_space == JCS_YCCK;
    header->channels = r->decoder->options.gray || cinfo->jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
    header->whole = jpeg_has_multiple_scans(&r->cinfo);
    header->arithmetic = cinfo->arith_code;
    header->progressive = cinfo->progressive_mode;
    header->restart_interval = (int)cinfo->restart_interval;
    if (cinfo->saw_JFIF_marker && cinfo->density_unit <= 2 && cinfo->X_density > 0 && cinfo->Y_density > 0) {
        header->density_unit = cinfo->density_unit;
        header->density_x = cinfo->X_density;
        header->density_y = cinfo->Y_density;
    }
}

static void work_read_header(void *argument)
{
    lap_jpeg_reader *r = argument;
    j_decompress_ptr cinfo = &r->cinfo;
    r->created = true; /* from here on jpeg_destroy_decompress may be called at any time */
    jpeg_create_decompress(cinfo);
    lap_jpeg_ignore_limit((j_common_ptr)cinfo);
    lap_jpeg_feed_attach(r);
    jpeg_read_header(cinfo, TRUE);

    cinfo->dct_method = JDCT_ISLOW;
    cinfo->do_fancy_upsampling = TRUE;
    bool is_inks = cinfo->jpeg_color_space == JCS_CMYK || cinfo->jpeg_color_space == JCS_YCCK;
    if (is_inks) /* lapedge converts it */
        cinfo->out_color_space = JCS_CMYK;
    else if (r->decoder->options.gray || cinfo->num_components == 1)
        cinfo->out_color_space = JCS_GRAYSCALE;
    else
        cinfo->out_color_space = JCS_RGB;
    fill_header(r);
}

/* Runs work under lap_jpeg_guard. On failure, sets *err to a message of one line. */
static lap_code run(lap_jpeg_reader *r, void (*work)(void *argument), lap_error *err)
{
    if (r->refused != LAP_OK)
        return lap_fail(err, r->refused, "an earlier error ended the decoding");
    lap_code code = lap_jpeg_guard(&r->error, work, r);
    /* libjpeg has read the inserted end markers as data, so the file is truncated. But a second frame header
     * is an error even in a complete file; versions of libjpeg-turbo differ in how much of it they read
     * before they report it. */
    if (code == LAP_E_DAMAGED && r->ended && !r->has_verdict && r->error.base.msg_code != JERR_SOF_DUPLICATE)
        code = lap_fail(&r->error.cause, LAP_E_TRUNCATED, "data ends between scans");
    r->refused = code;
    if (code == LAP_OK)
        return code;
    if (err)
        *err = r->error.cause;
    return code;
}

/* Returns whether our own decoder may decode the file, which it does from memory. */
static bool is_worth_holding(const lap_jpeg_scan *scan)
{
    const bool is_sequential = scan->sof == 0xC0 || scan->sof == 0xC1;
    return scan->sof == 0xC2 || (is_sequential && scan->scan_components == scan->components);
}

/* Returns the largest size of a file to hold in memory. It is chosen so that no file exceeds max_memory only
 * because it is held. */
static size_t most_to_hold(const lap_read_options *options, const lap_jpeg_scan *scan)
{
    enum { ROWS = 1024, APRON = 80 }; /* more than the bands of a run need */
    const uint64_t limit = options->max_memory ? options->max_memory : UINT64_MAX;
    const uint64_t row = ((uint64_t)scan->width + APRON) * (scan->components > 1 ? 3 : 1);
    const uint64_t beside = row * ((uint64_t)options->images * (uint64_t)scan->height + ROWS);
    const uint64_t rest = limit > beside ? limit - beside : 0;
    uint64_t most = rest < limit / 4 ? rest : limit / 4;
    if (options->decode != LAP_DECODE_PARALLEL && most > MAX_HELD)
        most = MAX_HELD;
    return most < SIZE_MAX / 4 ? (size_t)most : SIZE_MAX / 4;
}

/* Reads the whole file into memory for our own decoder, if it is small enough. Call it before libjpeg reads
 * the header. Updates *bytes, since the header may have moved. */
static lap_code hold(lap_decoder *d, const lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err)
{
    size_t size;
    bool whole;
    if (!d->options.holds || !is_worth_holding(scan))
        return LAP_OK;
    static const uint8_t end_marker[] = {0xFF, JPEG_EOI}; /* cannot occur inside a scan's data */
    lap_source_hold_until(d->source, scan->position, end_marker);
    lap_code code = lap_source_hold(d->source, most_to_hold(&d->options, scan), bytes, &size, &whole, err);
    if (code != LAP_OK)
        return code;
    if (!whole)
        return lap_source_peek(d->source, scan->position, bytes, &size, err);
    d->bytes = *bytes;
    d->size = size;
    return LAP_OK;
}

static lap_code jpeg_open(lap_decoder *decoder, lap_error *err)
{
    const uint8_t *bytes = NULL;
    lap_jpeg_scan scan = {.sof = 0};
    lap_jpeg_reader *r = calloc(1, sizeof *r);
    if (!r)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    decoder->state = r;
    r->decoder = decoder;
    lap_jpeg_feed_init(r);

    lap_code code = lap_jpeg_scan_source(decoder->source, &scan, &bytes, err);
    if (code == LAP_OK)
        code = hold(decoder, &scan, &bytes, err);
    if (code == LAP_OK)
        code = keep_segments(r, &scan, bytes, err);
    if (code == LAP_OK) {
        r->advanced_at = lap_source_bytes(decoder->source);
        code = run(r, work_read_header, err);
    }
    lap_header *header = &decoder->header;
    if (code == LAP_OK && (header->width != scan.width || header->height != scan.height ||
                              header->components != scan.components))
        code = lap_fail(err, LAP_E_DAMAGED, "the header can be read in two ways");
    if (code == LAP_OK) {
        header->memory_estimate = estimate_memory(header);
        code = lap_decoder_limits(decoder, err);
    }
    if (code == LAP_OK && r->cinfo.out_color_space == JCS_CMYK) {
        r->inks = malloc((size_t)header->width * 4);
        if (!r->inks)
            code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    free(scan.spans);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Checks that every component was in a scan. If one was not, libjpeg fills it with grey without a warning. */
static void check_scans(lap_jpeg_reader *r)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;
    bool is_missing = false, is_coarse = false;
    for (int i = 0; i < cinfo->num_components; i++) {
        is_missing |= !cinfo->comp_info[i].quant_table; /* set when its first scan begins */
        for (int k = 0; cinfo->coef_bits && k < DCTSIZE2; k++)
            is_coarse |= cinfo->coef_bits[i][k] != 0;
        is_missing |= cinfo->coef_bits && cinfo->coef_bits[i][0] < 0;
    }
    if (r->ended && (is_missing || is_coarse))
        lap_jpeg_lose(r, LAP_JPEG_TRUNCATED, "data ends");
    else if (is_missing)
        lap_jpeg_lose(r, LAP_JPEG_DAMAGED, "scans are missing");
}

static void work_rows(void *argument)
{
    lap_jpeg_reader *r = argument;
    const lap_view *rows = r->rows;
    if (!r->started) { /* with several scans this reads all of them */
        r->started = true;
        jpeg_start_decompress(&r->cinfo);
        if (jpeg_has_multiple_scans(&r->cinfo))
            check_scans(r);
    }
    if (r->coefficients && !r->putting_out) {
        r->putting_out = true;
        jpeg_start_output(&r->cinfo, r->cinfo.input_scan_number);
    }
    while (r->row < rows->height)
        r->row += lap_jpeg_read_rows(r, rows, r->row);
}

static lap_code jpeg_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    lap_jpeg_reader *r = decoder->state;
    r->rows = rows;
    r->row = 0;
    return run(r, work_rows, err);
}

static void check_end(lap_jpeg_reader *r)
{
    if (r->ended)
        lap_jpeg_lose(r, LAP_JPEG_HARMLESS, "the end marker is missing");
}

static void work_finish(void *argument)
{
    lap_jpeg_reader *r = argument;
    if (r->coefficients) /* lap_jpeg_read_whole has checked the end already */
        return;
    lap_jpeg_check_left(r);
    jpeg_finish_decompress(&r->cinfo);
    check_end(r);
}

static void work_whole(void *argument)
{
    lap_jpeg_reader *r = argument;
    j_decompress_ptr cinfo = &r->cinfo;
    r->started = true;
    cinfo->buffered_image = TRUE;
    jpeg_start_decompress(cinfo);
    do
        cinfo->progress->progress_monitor((j_common_ptr)cinfo);
    while (jpeg_consume_input(cinfo) != JPEG_REACHED_EOI);
    if (jpeg_has_multiple_scans(cinfo))
        check_scans(r);
    check_end(r);
    r->coefficients = jpeg_read_coefficients(cinfo); /* returns the arrays that are in memory already */
}

lap_code lap_jpeg_read_whole(lap_jpeg_reader *r, lap_error *err)
{
    return run(r, work_whole, err);
}

static lap_code jpeg_finish(lap_decoder *decoder, lap_error *err)
{
    return run(decoder->state, work_finish, err);
}

static void jpeg_close(lap_decoder *decoder)
{
    lap_jpeg_reader *r = decoder->state;
    if (!r)
        return;
    if (r->created)
        jpeg_destroy_decompress(&r->cinfo);
    lap_jpeg_walk_destroy(r->walk);
    free(r->inks);
    free(r->segments);
    free(r->segment_bytes);
    free(r);
}

const lap_decoder_ops lap_libjpeg_decoder = {
    .open = jpeg_open,
    .rows = jpeg_rows,
    .finish = jpeg_finish,
    .close = jpeg_close,
};
