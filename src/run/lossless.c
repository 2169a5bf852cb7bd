#include "run/lossless.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "jpeg/jpeg_turn.h"
#include "ops/orient.h"
#include "run/formats.h"

static const size_t most_bytes = LAP_SOURCE_MOST; /* a larger file is done by pixels, as it is read */

/* ---- whether ----------------------------------------------------------------------------------- */

static bool is_demanded(const lap_settings *s)
{
    return s->lossless == LAP_LOSSLESS_TRIM || s->lossless == LAP_LOSSLESS_PERFECT;
}

static bool is_to_jpeg(const lap_settings *s)
{
    return !s->format || lap_format_find(s->format) == LAP_FORMAT_JPG;
}

/* Which setting asks for pixels that are coded anew; NULL where none does. */
static const char *recoding(const lap_settings *s)
{
    return s->gray                          ? "one channel is asked for"
           : s->subsampling != LAP_SUB_SAME ? "another subsampling is asked for"
           : s->restart == LAP_RESTART_ON   ? "restart markers are asked for"
           : !is_to_jpeg(s)                 ? "the output is no JPEG"
                                            : NULL;
}

lap_code lap_lossless_check(const lap_settings *s, lap_error *err)
{
    if (!is_demanded(s))
        return LAP_OK;
    const char *why = recoding(s);
    if (why)
        return lap_fail(err, LAP_E_USAGE, "turning without loss is demanded, and %s", why);
    why = lap_jpeg_turn_unavailable();
    return why ? lap_fail(err, LAP_E_BACKEND, "turning without loss: %s", why) : LAP_OK;
}

static lap_code decline(lap_photo *pipe, const char *why, lap_error *err)
{
    pipe->lossless.is_taken = false;
    pipe->lossless.reason = why;
    if (is_demanded(pipe->settings))
        return lap_fail(err, LAP_E_UNSUPPORTED, "cannot be turned without loss: %s", why);
    return LAP_OK;
}

static lap_turn turn_of(const lap_settings *s, const lap_jpeg_scan *scan, const uint8_t *bytes)
{
    int orientation = 1;
    for (size_t i = scan->place_count; s->auto_orient && i-- > 0;) {
        const lap_jpeg_place *p = &scan->places[i];
        if (p->marker == 0xE1 && lap_exif_is(bytes + p->offset, p->size)) /* the first one counts */
            orientation = lap_exif_orientation(bytes + p->offset, p->size);
    }
    return lap_turn_compose((lap_turn)orientation, s->turn);
}

static lap_code plan_turn(
    lap_photo *pipe, const lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, lap_error *err)
{
    lap_lossless_way *way = &pipe->lossless;
    const lap_settings *s = pipe->settings;
    bool whole, missing;
    const bool fits = lap_jpeg_turn_trim(scan, turn_of(s, scan, bytes), &way->width, &way->height, &whole);
    if (!fits && s->lossless == LAP_LOSSLESS_TRIM)
        return decline(pipe, "it is smaller than one MCU", err);
    if (!whole && s->lossless != LAP_LOSSLESS_TRIM) {
        snprintf(way->room, sizeof way->room,
            "%d x %d is not whole MCUs (%d x %d would be; --trim cuts to that)", scan->width, scan->height,
            way->width, way->height);
        return decline(pipe, fits ? way->room : "it is smaller than one MCU", err);
    }
    way->memory = lap_jpeg_turn_memory(scan, size);
    if (s->max_memory && way->memory > s->max_memory) {
        if (is_demanded(s))
            return lap_fail(err, LAP_E_LIMIT,
                "takes up to %.1f MB of memory, more than the limit of %.1f MB (--max-memory)",
                (double)way->memory / 1e6, (double)s->max_memory / 1e6);
        return decline(pipe, "that would take more than --max-memory", err);
    }
    const int scans = lap_jpeg_turn_scans(scan, bytes, size, &missing);
    way->suspect = missing || (s->max_scans && scans > s->max_scans);
    way->trims = !whole;
    way->file = bytes;
    way->file_size = size;
    way->is_taken = true;
    return LAP_OK;
}

lap_code lap_lossless_plan(lap_photo *pipe, lap_error *err)
{
    enum { PROBE_BYTES = 16 };
    const lap_settings *s = pipe->settings;
    const uint8_t *bytes = NULL;
    size_t size = 0, need = 0;
    bool whole = false;
    lap_jpeg_scan scan = {0};
    if (s->lossless == LAP_LOSSLESS_NO)
        return LAP_OK;
    lap_code code = lap_lossless_check(s, err);
    const char *why = recoding(s);
    if (code == LAP_OK && !why)
        why = lap_jpeg_turn_unavailable();
    if (code != LAP_OK || why)
        return code == LAP_OK ? decline(pipe, why, err) : code;
    lap_source_watch(pipe->source, pipe->control);
    code = lap_source_peek(pipe->source, PROBE_BYTES, &bytes, &size, err);
    if (code != LAP_OK)
        return code;
    if (size > 0 && !lap_jpeg_probe(bytes, size))
        return decline(pipe, "the input is no JPEG", err);
    code = lap_source_hold(pipe->source, most_bytes, &bytes, &size, &whole, err);
    if (code != LAP_OK)
        return code;
    if (!whole)
        return decline(pipe, "the file is larger than 1 GB", err);
    /* What is wrong with the header, the decoder says. */
    code = lap_jpeg_scan_header(&scan, bytes, size, true, &need, err);
    if (code == LAP_OK && scan.done)
        code = plan_turn(pipe, &scan, bytes, size, err);
    else if (code != LAP_E_MEMORY)
        code = LAP_OK;
    free(scan.places);
    return code;
}

/* ---- doing it ---------------------------------------------------------------------------------- */

/* All pixels decoded and forgotten: whether this data is let through is decided as for every other run. */
static lap_code judge(lap_photo *pipe, lap_error *err)
{
    enum { ROWS = 16 };
    const lap_header *header = lap_decoder_header(pipe->decoder);
    lap_image rows = {0};
    const double start = lap_now_ms();
    lap_code code = lap_image_create(&rows, header->width, ROWS, header->channels, 0, err);
    for (int y = 0; code == LAP_OK && y < header->height; y += ROWS) {
        const lap_view band =
            lap_view_rows(&rows.view, 0, header->height - y < ROWS ? header->height - y : ROWS);
        code = lap_control_check(pipe->control, err);
        if (code == LAP_OK)
            code = lap_decoder_rows(pipe->decoder, &band, err);
    }
    if (code == LAP_OK)
        code = lap_decoder_finish(pipe->decoder, &pipe->damage, err);
    pipe->ms.decode += lap_now_ms() - start;
    lap_image_destroy(&rows);
    return code;
}

/* The output's size and metadata, of what stays of the input. */
static void plan_output(lap_photo *pipe)
{
    const lap_lossless_way *way = &pipe->lossless;
    const bool swap = lap_turn_transposes(pipe->plan.turn);
    pipe->width = swap ? way->height : way->width;
    pipe->height = swap ? way->width : way->height;
    pipe->channels = lap_decoder_header(pipe->decoder)->components;
    lap_plan_write(&pipe->plan, pipe->settings, pipe->decoder, pipe->width, pipe->height);
    pipe->plan.write.channels = pipe->channels;
    pipe->plan.write.as_stored = true;
}

static lap_code turn_and_write(lap_photo *pipe, lap_error *err)
{
    lap_lossless_way *way = &pipe->lossless;
    lap_jpeg_turned turned;
    lap_error why;
    double start = lap_now_ms();
    lap_code code = lap_jpeg_turn(
        way->file, way->file_size, pipe->plan.turn, way->trims, &pipe->plan.write, &turned, &why);
    pipe->ms.encode += lap_now_ms() - start;
    if (code == LAP_E_UNSUPPORTED) {
        snprintf(way->room, sizeof way->room, "%.150s", why.message);
        return decline(pipe, way->room, err);
    }
    if (code != LAP_OK) {
        *err = why;
        return code;
    }
    if (turned.odd && !way->suspect)
        code = judge(pipe, err);
    start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_jpeg_turned_write(&turned, &pipe->plan.write, pipe->sink, err);
    pipe->ms.encode += lap_now_ms() - start;
    lap_jpeg_turned_free(&turned);
    way->done = code == LAP_OK;
    return code;
}

lap_code lap_lossless_run(lap_photo *pipe, lap_error *err)
{
    lap_lossless_way *way = &pipe->lossless;
    const uint64_t limit = pipe->settings->max_memory;
    lap_budget *budget = &pipe->context->budget;
    lap_code code = way->suspect ? judge(pipe, err) : LAP_OK;
    if (code == LAP_OK && limit)
        code = lap_budget_take(budget, way->memory, limit, pipe->control, err);
    if (code != LAP_OK)
        return code;
    plan_output(pipe);
    code = turn_and_write(pipe, err);
    if (limit)
        lap_budget_give(budget, way->memory);
    if (way->done) {
        lap_source_held_is_read(pipe->source);
    } else { /* pixels are next */
        const lap_plan *plan = &pipe->plan;
        pipe->width = plan->width;
        pipe->height = plan->height;
        pipe->channels = plan->channels;
        lap_plan_write(&pipe->plan, pipe->settings, pipe->decoder, plan->width, plan->height);
    }
    return code;
}
