#include "run/pipeline_device.h"
#include "run/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/control.h"
#include "base/status.h"
#include "ops/orient.h"

/* Rows decoded at once where the whole image is collected: some MCU rows, and the strip is turned
 * while it is in the cache. */
enum { STRIP_ROWS = 128 };

/* Bands take this much memory at most, unless that leaves only a few threads: one at a time decodes, so
 * that many more would often wait, and a photo of 19 million pixels stays below 64 MB altogether. */
enum { RING_BYTES = 48 << 20, FEW_THREADS = 4 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes of a slot (pixels, and a chunk that may grow as large as they are) and of a result. */
static bool band_bytes(const lap_pipeline *pipe, size_t *slot, size_t *result)
{
    size_t row, rows = (size_t)pipe->band_rows + 2 * LAP_APRON;
    return lap_mul((size_t)pipe->width + 2 * LAP_APRON + 64, (size_t)pipe->channels, &row) &&
           lap_mul(row, rows, result) && lap_mul(*result, pipe->holds_whole ? 1 : 2, slot);
}

static void free_band_memory(lap_pipeline *pipe)
{
    for (int i = 0; pipe->slots && i < pipe->slot_count; i++) {
        lap_image_destroy(&pipe->slots[i].pixels);
        lap_chunk_free(&pipe->slots[i].chunk);
    }
    for (int i = 0; pipe->results && i < pipe->result_count; i++)
        lap_image_destroy(&pipe->results[i]);
    for (int i = 0; pipe->strips && i < pipe->result_count; i++)
        lap_image_destroy(&pipe->strips[i]);
    free(pipe->slots);
    free(pipe->results);
    free(pipe->strips);
    pipe->slots = NULL;
    pipe->results = pipe->strips = NULL;
}

void lap_pipeline_release(lap_pipeline *pipe)
{
    free_band_memory(pipe);
    lap_image_destroy(&pipe->whole);
    lap_image_destroy(&pipe->filtered);
}

/* How many slots and results a team of `threads` wants. Two more slots than threads keep everybody
 * busy while one band is being decoded and one written. One thread alone takes band after band, and
 * needs a second slot only for the rows that a band hands on to the next. */
static void count_slots(lap_pipeline *pipe, int threads)
{
    int wanted = threads == 1 ? 2 : threads + 2;
    pipe->threads = threads;
    pipe->slot_count = wanted < pipe->bands ? wanted : pipe->bands;
    pipe->ahead = threads == 1 ? 1 : pipe->slot_count;
    pipe->result_count = pipe->parallel ? threads : pipe->slot_count;
    if (!pipe->rung || pipe->filters_whole)
        pipe->result_count = 0;
}

/* What is held whatever the number of threads; false if that cannot be counted. */
static bool fixed_bytes(const lap_pipeline *pipe, size_t *bytes)
{
    size_t row, image, images = (size_t)pipe->holds_whole + pipe->filters_whole;
    return lap_mul((size_t)pipe->width + 2 * LAP_APRON + 64, (size_t)pipe->channels, &row) &&
           lap_mul(row, (size_t)pipe->height + 2 * LAP_APRON, &image) && lap_mul(image, images, bytes) &&
           lap_add(*bytes, pipe->encoder->memory, bytes) &&
           lap_add(*bytes, lap_decoder_header(pipe->decoder)->memory_estimate, bytes);
}

lap_code lap_pipeline_plan(lap_pipeline *pipe, uint64_t limit, uint64_t *need, lap_error *err)
{
    size_t fixed = 0, slot = 0, result = 0, slots, results, all = 0;
    bool fits = band_bytes(pipe, &slot, &result) && fixed_bytes(pipe, &fixed);
    const int threads_wanted = pipe->threads;
    pipe->by_parts = fits && pipe->parallel && !pipe->holds_whole && lap_decoder_has_parts(pipe->decoder) &&
                     lap_pipeline_plan_parts(pipe, fixed, limit, need);
    if (pipe->by_parts)
        return LAP_OK;
    pipe->threads = threads_wanted;
    if (lap_decoder_has_parts(pipe->decoder) && (!pipe->holds_whole || !fits)) {
        lap_decoder_without_parts(pipe->decoder);
        pipe->decoder->how = pipe->parallel ? "its parts take too much memory" : "the output is one piece";
    }
    fits = fits && fixed_bytes(pipe, &fixed);
    for (int threads = pipe->threads; fits && threads > 0; threads--) {
        count_slots(pipe, threads);
        fits = lap_mul(slot, (size_t)pipe->slot_count, &slots) &&
               lap_mul(result, (size_t)pipe->result_count, &results) && lap_add(slots, results, &all) &&
               lap_add(all, fixed, &slots);
        *need = slots;
        if (fits && *need <= limit && (all <= RING_BYTES || threads <= FEW_THREADS))
            return LAP_OK;
    }
    if (!fits)
        return lap_fail(
            err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", pipe->width, pipe->height);
    return lap_fail_over_limit(err, "takes up to", *need, limit, " (--max-memory)");
}

lap_code lap_pipeline_reserve(lap_pipeline *pipe, lap_error *err)
{
    lap_code code = LAP_OK;
    if (pipe->by_parts)
        return lap_pipeline_reserve_parts(pipe, err);
    pipe->slots = calloc((size_t)pipe->slot_count, sizeof *pipe->slots);
    pipe->results = calloc((size_t)pipe->result_count + 1, sizeof *pipe->results);
    if (!pipe->slots || !pipe->results)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d bands", pipe->slot_count);
    int rows = lap_pipeline_band_rows(pipe, 0);
    for (int i = 0; i < pipe->slot_count && !pipe->whole.memory && code == LAP_OK; i++)
        code = lap_image_create(&pipe->slots[i].pixels, pipe->width, rows, pipe->channels, LAP_APRON, err);
    for (int i = 0; i < pipe->result_count && code == LAP_OK; i++)
        code = lap_image_create(&pipe->results[i], pipe->width, rows, pipe->channels, 0, err);
    return code;
}

/* ---- whole images ---------------------------------------------------------------------------- */

lap_code lap_pipeline_finish_decoding(lap_pipeline *pipe, lap_error *err)
{
    return lap_decoder_finish(pipe->decoder, &pipe->damage, err);
}

/* Rows y0..y1-1 of the input to their place: by way of a strip where they change their order. */
static lap_code decode_strip(lap_pipeline *pipe, const lap_image *strip, int y0, int y1, lap_error *err)
{
    bool direct = !lap_turn_reorders(pipe->turn);
    lap_view rows =
        direct ? lap_view_rows(&pipe->whole.view, y0, y1 - y0) : lap_view_rows(&strip->view, 0, y1 - y0);
    double start = lap_now_ms();
    lap_code code = lap_control_check(pipe->control, err);
    if (code == LAP_OK)
        code = lap_decoder_rows(pipe->decoder, &rows, err);
    double decoded = lap_now_ms();
    pipe->ms.decode += decoded - start;
    if (code != LAP_OK)
        return code;
    if (direct && pipe->turn == LAP_TURN_H)
        lap_orient_mirror(&rows);
    if (!direct) {
        int height = lap_decoder_header(pipe->decoder)->height;
        lap_view place = lap_orient_place(&pipe->whole.view, pipe->turn, height, y0, y1);
        code = lap_orient(&rows, &place, pipe->turn, NULL, err);
    }
    pipe->ms.filter += lap_now_ms() - decoded;
    return code;
}

/* The image in stored order is never held beside the turned one. */
static lap_code decode_turned(lap_pipeline *pipe, lap_error *err)
{
    const lap_header *header = lap_decoder_header(pipe->decoder);
    lap_image strip = {0};
    lap_code code = LAP_OK;
    if (lap_turn_reorders(pipe->turn))
        code = lap_image_create(&strip, header->width, STRIP_ROWS, pipe->channels, 0, err);
    for (int y0 = 0; y0 < header->height && code == LAP_OK; y0 += STRIP_ROWS) {
        int y1 = header->height - y0 < STRIP_ROWS ? header->height : y0 + STRIP_ROWS;
        code = decode_strip(pipe, &strip, y0, y1, err);
    }
    lap_image_destroy(&strip);
    return code;
}

static lap_code filter_whole(lap_pipeline *pipe, lap_error *err)
{
    lap_times times = {0};
    const lap_resources use = {.exec.err = err, .device = pipe->settings->device, .times = &times};
    lap_code code = lap_image_create(&pipe->filtered, pipe->width, pipe->height, pipe->channels, 0, err);
    if (code == LAP_OK)
        code = lap_rung_filter(pipe->rung, &use, &pipe->whole.view, &pipe->filtered.view,
            &pipe->settings->params, pipe->settings->border);
    pipe->ms.upload += times.upload;
    pipe->ms.filter += times.filter;
    pipe->ms.download += times.download;
    return code;
}

lap_code lap_pipeline_collect_source(lap_pipeline *pipe, lap_error *err)
{
    lap_code code = lap_image_create(&pipe->whole, pipe->width, pipe->height, pipe->channels, LAP_APRON, err);
    if (code == LAP_OK)
        code = lap_decoder_has_parts(pipe->decoder) ? lap_pipeline_collect_parts(pipe, err)
                                                    : decode_turned(pipe, err);
    double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_pipeline_finish_decoding(pipe, err);
    pipe->ms.decode += lap_now_ms() - start;
    return code;
}

lap_code lap_pipeline_collect(lap_pipeline *pipe, lap_error *err)
{
    lap_code code = lap_pipeline_collect_source(pipe, err);
    if (code != LAP_OK || !pipe->rung)
        return code;
    if (pipe->filters_whole)
        return filter_whole(pipe, err);
    lap_border_fill(&pipe->whole.view, pipe->settings->border);
    return LAP_OK;
}
