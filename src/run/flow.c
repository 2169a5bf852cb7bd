#include "run/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/control.h"
#include "base/status.h"
#include "ops/orient.h"

#if LAP_HAVE_CUDA
#include "cuda/device/device.h"
#endif

/* Rows decoded at once where the whole image is collected: some MCU rows, and the strip is turned
 * while it is in the cache. */
enum { STRIP_ROWS = 128 };

/* Bands take this much memory at most, unless that leaves only a few threads: one at a time decodes, so
 * that many more would often wait, and a photo of 19 million pixels stays below 64 MB altogether. */
enum { RING_BYTES = 48 << 20, FEW_THREADS = 4 };

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes of a slot (pixels, and a chunk that may grow as large as they are) and of a result. */
static bool band_bytes(const lap_flow *flow, size_t *slot, size_t *result)
{
    size_t row, rows = (size_t)flow->band_rows + 2 * LAP_APRON;
    return lap_mul((size_t)flow->width + 2 * LAP_APRON + 64, (size_t)flow->channels, &row) &&
           lap_mul(row, rows, result) && lap_mul(*result, flow->whole.memory ? 1 : 2, slot);
}

static void free_band_memory(lap_flow *flow)
{
    for (int i = 0; flow->slots && i < flow->slot_count; i++) {
        lap_image_destroy(&flow->slots[i].pixels);
        lap_chunk_free(&flow->slots[i].chunk);
    }
    for (int i = 0; flow->results && i < flow->result_count; i++)
        lap_image_destroy(&flow->results[i]);
    free(flow->slots);
    free(flow->results);
    flow->slots = NULL;
    flow->results = NULL;
}

void lap_flow_release(lap_flow *flow)
{
    free_band_memory(flow);
    lap_image_destroy(&flow->whole);
    lap_image_destroy(&flow->filtered);
}

/* How many slots and results a team of `threads` wants. Two more slots than threads keep everybody
 * busy while one band is being decoded and one written. One thread alone takes band after band, and
 * needs a second slot only for the rows that a band hands on to the next. */
static void count_slots(lap_flow *flow, int threads)
{
    int wanted = threads == 1 ? 2 : threads + 2;
    flow->threads = threads;
    flow->slot_count = wanted < flow->bands ? wanted : flow->bands;
    flow->ahead = threads == 1 ? 1 : flow->slot_count;
    flow->result_count = flow->parallel ? threads : flow->slot_count;
    if (!flow->rung || flow->filtered.memory)
        flow->result_count = 0;
}

/* As many threads, of those asked for, as the memory of their bands allows. */
static lap_code choose_threads(lap_flow *flow, size_t limit, lap_error *err)
{
    size_t slot, result, slots, results, all;
    if (!band_bytes(flow, &slot, &result))
        return lap_fail(err, LAP_E_LIMIT, "%d pixels a row are too many", flow->width);
    for (int threads = flow->threads; threads > 0; threads--) {
        count_slots(flow, threads);
        if (lap_mul(slot, (size_t)flow->slot_count, &slots) &&
            lap_mul(result, (size_t)flow->result_count, &results) && lap_add(slots, results, &all) &&
            all <= limit && (all <= RING_BYTES || threads <= FEW_THREADS))
            return LAP_OK;
    }
    return lap_fail(err, LAP_E_LIMIT,
        "the bands of an image %d pixels wide need more memory than is allowed (%zu bytes are left)",
        flow->width, limit);
}

lap_code lap_flow_reserve(lap_flow *flow, size_t limit, lap_error *err)
{
    lap_code code = choose_threads(flow, limit, err);
    if (code != LAP_OK)
        return code;
    flow->slots = calloc((size_t)flow->slot_count, sizeof *flow->slots);
    flow->results = calloc((size_t)flow->result_count + 1, sizeof *flow->results);
    if (!flow->slots || !flow->results)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for %d bands", flow->slot_count);
    int rows = lap_flow_rows(flow, 0);
    for (int i = 0; i < flow->slot_count && !flow->whole.memory && code == LAP_OK; i++)
        code = lap_image_create(&flow->slots[i].pixels, flow->width, rows, flow->channels, LAP_APRON, err);
    for (int i = 0; i < flow->result_count && code == LAP_OK; i++)
        code = lap_image_create(&flow->results[i], flow->width, rows, flow->channels, 0, err);
    return code;
}

/* ---- whole images ---------------------------------------------------------------------------- */

lap_code lap_flow_finish_decoding(lap_flow *flow, lap_error *err)
{
    return lap_decoder_finish(flow->decoder, &flow->damage, err);
}

/* Rows y0..y1-1 of the input to their place: by way of a strip where they change their order. */
static lap_code decode_strip(lap_flow *flow, const lap_image *strip, int y0, int y1, lap_error *err)
{
    bool direct = !lap_turn_reorders(flow->turn);
    lap_view rows =
        direct ? lap_view_rows(&flow->whole.view, y0, y1 - y0) : lap_view_rows(&strip->view, 0, y1 - y0);
    double start = lap_now_ms();
    lap_code code = lap_control_check(flow->control, err);
    if (code == LAP_OK)
        code = lap_decoder_rows(flow->decoder, &rows, err);
    double decoded = lap_now_ms();
    flow->ms.decode += decoded - start;
    if (code != LAP_OK)
        return code;
    if (direct && flow->turn == LAP_TURN_H)
        lap_orient_mirror(&rows);
    if (!direct) {
        int height = lap_decoder_header(flow->decoder)->height;
        lap_view place = lap_orient_place(&flow->whole.view, flow->turn, height, y0, y1);
        code = lap_orient(&rows, &place, flow->turn, NULL);
    }
    flow->ms.filter += lap_now_ms() - decoded;
    return code;
}

/* The image in stored order is never held beside the turned one. */
static lap_code decode_turned(lap_flow *flow, lap_error *err)
{
    const lap_header *header = lap_decoder_header(flow->decoder);
    lap_image strip = {0};
    lap_code code = LAP_OK;
    if (lap_turn_reorders(flow->turn))
        code = lap_image_create(&strip, header->width, STRIP_ROWS, flow->channels, 0, err);
    for (int y0 = 0; y0 < header->height && code == LAP_OK; y0 += STRIP_ROWS) {
        int y1 = header->height - y0 < STRIP_ROWS ? header->height : y0 + STRIP_ROWS;
        code = decode_strip(flow, &strip, y0, y1, err);
    }
    lap_image_destroy(&strip);
    return code;
}

static lap_code filter_on_device(lap_flow *flow, lap_error *err)
{
#if LAP_HAVE_CUDA
    lap_code code = lap_image_create(&flow->filtered, flow->width, flow->height, flow->channels, 0, err);
    if (code != LAP_OK)
        return code;
    return lap_cuda_filter_host(flow->rung, flow->settings->device, &flow->whole.view, &flow->filtered.view,
        &flow->settings->params, flow->settings->border, &flow->ms, err);
#else
    return lap_fail(err, LAP_E_BACKEND, "%s: built without CUDA", flow->rung->name);
#endif
}

lap_code lap_flow_collect(lap_flow *flow, lap_error *err)
{
    lap_code code = lap_image_create(&flow->whole, flow->width, flow->height, flow->channels, LAP_APRON, err);
    if (code == LAP_OK)
        code = decode_turned(flow, err);
    double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_flow_finish_decoding(flow, err);
    flow->ms.decode += lap_now_ms() - start;
    if (code != LAP_OK || !flow->rung)
        return code;
    if (flow->rung->device)
        return filter_on_device(flow, err);
    lap_border_fill(&flow->whole.view, flow->settings->border);
    return LAP_OK;
}
