/* Filters, counts, decodes and encodes pixels on the device of a lap_stream. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"
#include "device/device_stream.h"
#include "device/devices.h"
#include "ops/ops.h"
#include "run/formats.h"
#include "run/photo_device.h"
#include "run/pixels.h"
#include "run/settings.h"

lap_code lap_stream_filter(lap_stream *s, const lap_view *in, const lap_view *out, const char *backend,
    const lap_params *params, lap_border border, lap_error *err)
{
    const lap_rung *rung;
    lap_code code = lap_filter_check(in, out, params, border, err);
    if (code == LAP_OK)
        code = lap_stream_check(s, in, "input", err);
    if (code == LAP_OK)
        code = lap_stream_check(s, out, "output", err);
    if (code == LAP_OK)
        code = lap_rung_find_on_device(LAP_OP_FILTER, backend, s->device, &rung, err);
    if (code != LAP_OK)
        return code;
    const lap_views_filter filter = {rung, params, border};
    return lap_views_run_filter(&filter, &s->space, in, out, s->stream, err);
}

lap_code lap_stream_stats(
    lap_stream *s, const lap_view *view, const char *backend, int threshold, lap_stats *stats, lap_error *err)
{
    uint64_t counts[4][256] = {0};
    lap_code code = lap_stream_check(s, view, "pixels", err);
    if (code == LAP_OK)
        code = lap_count_on_device(view, backend, &s->space, s->stream, counts, err);
    return code == LAP_OK ? lap_stats_of_counts(counts, view->channels, threshold, stats, err) : code;
}

/* ---- common to decoding and encoding ------------------------------------------------------------ */

/* Sets *on_device if the device is to code. LAP_E_BACKEND: the device was requested but cannot run. */
static lap_code choose(const lap_settings *settings, unsigned direction, bool *on_device, lap_error *err)
{
    const char *reason = "";
    const lap_code code = lap_codec_may_be_device(settings->codec)
                              ? lap_device_codec_choose(settings->codec, direction, &reason, err)
                              : LAP_OK;
    *on_device = !reason;
    return code;
}

/* ---- decoding ----------------------------------------------------------------------------------- */

typedef struct decoding { /* the decoding of one file */
    lap_stream *stream;
    const lap_settings *settings;
    const void *file;
    size_t size;
    lap_whole whole;
    lap_view *view;
    bool is_new, is_done; /* the view's memory was allocated here; the device has decoded */
    lap_report *report;
} decoding;

static lap_code decode_there(decoding *d, lap_error *err)
{
    lap_stream *s = d->stream;
    const lap_view *view = d->view;
    lap_view pixels = *view;
    const lap_device_wish wish = {.source = &pixels,
        .gray = d->settings->gray,
        .turn = LAP_TURN_NONE,
        .width = view->width,
        .height = view->height,
        .channels = view->channels};
    lap_code code = LAP_OK;
    lap_device_staging_lend(s->staging, d->file, d->size);
    if (!lap_view_is_aligned(view))
        code = lap_views_result(&s->space, view, s->stream, &pixels, err);
    if (code == LAP_OK)
        code = lap_device_staging_plan(s->staging, &wish, &d->is_done, err);
    if (code != LAP_OK || !d->is_done)
        return code;
    code = lap_device_slot_run(s->slot, s->staging, NULL, &d->report->ms, err);
    d->is_done = code == LAP_OK && lap_device_staging_has_source(s->staging);
    if (d->is_done && pixels.base != view->base) {
        code = lap_stream_copy(s, &pixels, view, err);
        if (code == LAP_OK)
            code = lap_stream_wait(s, err);
    }
    return code;
}

static lap_code decode_here(decoding *d, lap_damage *damage, lap_error *err)
{
    const lap_view *view = d->view;
    lap_image image = {0};
    lap_code code = lap_whole_fit(&d->whole, 1, err);
    if (code == LAP_OK)
        code = lap_image_create(&image, view->width, view->height, view->channels, 0, err);
    const lap_collect collect = {.decoder = d->whole.decoder, .turn = LAP_TURN_NONE, .to = &image.view};
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_collect_image(&collect, damage, err);
    const double decoded = lap_now_ms();
    if (code == LAP_OK)
        code = lap_stream_copy(d->stream, &image.view, view, err);
    d->report->ms.decode += decoded - start;
    d->report->ms.upload += lap_now_ms() - decoded;
    lap_image_destroy(&image);
    return code;
}

/* Checks the caller's view; allocates one if it has no memory. */
static lap_code fit_view(decoding *d, lap_error *err)
{
    const lap_header *h = lap_decoder_header(d->whole.decoder);
    lap_view *view = d->view;
    d->is_new = !view->base;
    if (d->is_new)
        return lap_stream_view_create(d->stream, h->width, h->height, h->channels, 0, view, err);
    if (view->width != h->width || view->height != h->height || view->channels != h->channels)
        return lap_fail(err, LAP_E_DIFFERENT, "the picture has the shape %dx%dx%d, the view %dx%dx%d",
            h->width, h->height, h->channels, view->width, view->height, view->channels);
    return lap_stream_check(d->stream, view, "output", err);
}

/* Decodes the pixels of an open file; reports warnings. */
static lap_code decode_pixels(decoding *d, bool on_device, lap_error *err)
{
    lap_damage damage = {0};
    lap_code code = fit_view(d, err);
    if (code == LAP_OK && on_device)
        code = decode_there(d, err);
    if (code == LAP_OK && d->is_done)
        damage = d->whole.decoder->damage; /* only the header can have a warning */
    else if (code == LAP_OK)
        code = decode_here(d, &damage, err);
    if (code != LAP_OK && d->is_new)
        lap_stream_view_destroy(d->stream, d->view);
    lap_report_damage(d->report, &damage);
    return code;
}

static lap_code decode(decoding *d, lap_error *err)
{
    lap_settings settings = *d->settings;
    bool on_device = false;
    lap_code code = choose(&settings, LAP_DEVICE_DECODES, &on_device, err);
    if (on_device) /* the device does not need the CPU's search for parts */
        settings.decode = LAP_DECODE_SERIAL;
    if (code == LAP_OK)
        code = lap_source_memory(d->file, d->size, "input", &d->whole.source, err);
    if (code == LAP_OK)
        code = lap_whole_open(&d->whole, d->stream->context, &settings, on_device ? 0 : 1, err);
    if (code == LAP_OK)
        code = decode_pixels(d, on_device, err);
    snprintf(d->report->note, sizeof d->report->note, "decoded on %s", d->is_done ? "the device" : "the CPU");
    lap_whole_close(&d->whole);
    return code;
}

lap_code lap_stream_decode(lap_stream *s, const void *file, size_t size, const lap_settings *given,
    lap_view *view, lap_report *report, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    const double start = lap_now_ms();
    lap_report unread;
    lap_error why = {0};
    report = report ? report : &unread;
    *report = (lap_report){.bytes_in = size};
    lap_code code = lap_settings_check(settings, &why);
    if (code == LAP_OK && (settings->auto_orient || settings->turn != LAP_TURN_NONE))
        code = lap_fail(&why, LAP_E_USAGE, "a stream decodes pixels as they are stored: it cannot turn them");
    if (code == LAP_OK)
        code = decode(&(decoding){.stream = s,
                          .settings = settings,
                          .file = file,
                          .size = size,
                          .view = view,
                          .report = report},
            &why);
    return lap_view_conclude(code, &why, start, view, report, err);
}

/* ---- encoding ----------------------------------------------------------------------------------- */

/* Encodes the pixels on the device, downloads the scan and writes the file. Writes nothing without a scan. */
static lap_code encode_there(lap_stream *s, const lap_view *view, const lap_write_options *write,
    lap_sink *sink, lap_times *times, lap_error *err)
{
    lap_jpeg_head head;
    bool handled = false;
    lap_code code = lap_jpeg_head_make(write, &head, err);
    if (code != LAP_OK)
        return code;
    const lap_device_wish wish = {.result = view,
        .width = view->width,
        .height = view->height,
        .channels = view->channels,
        .head = &head};
    code = lap_device_staging_plan(s->staging, &wish, &handled, err);
    if (code == LAP_OK && s->staging->is_encoded)
        code = lap_device_slot_run(s->slot, s->staging, NULL, times, err);
    if (code == LAP_OK && lap_device_staging_has_scan(s->staging))
        code = lap_photo_bring_jpeg(s->slot, s->staging, &head.header, sink, times, err);
    lap_chunk_free(&head.header);
    return code;
}

/* Copies the view's pixels to the host. */
static lap_code bring(lap_stream *s, const lap_view *view, lap_image *image, lap_times *times, lap_error *err)
{
    const double start = lap_now_ms();
    lap_code code = lap_image_create(image, view->width, view->height, view->channels, 0, err);
    if (code == LAP_OK)
        code = lap_stream_copy(s, view, &image->view, err);
    times->download += lap_now_ms() - start;
    return code;
}

static lap_code encode(lap_stream *s, const lap_view *view, const lap_settings *settings, lap_sink *sink,
    lap_report *report, lap_error *err)
{
    const lap_control control = lap_context_control(s->context, settings->timeout_s, lap_now_ms());
    const lap_format format = settings->format ? lap_format_find(settings->format) : LAP_FORMAT_JPG;
    const lap_write_options write =
        lap_write_options_of(settings, view->width, view->height, view->channels, &control);
    bool on_device = false;
    lap_code code = choose(settings, LAP_DEVICE_ENCODES, &on_device, err);
    if (code == LAP_OK && view->channels == 2)
        code = lap_fail(err, LAP_E_USAGE, "pixels of 2 channels are not encoded");
    if (code == LAP_OK && on_device && format == LAP_FORMAT_JPG && !write.progressive && !write.optimize)
        code = encode_there(s, view, &write, sink, &report->ms, err);
    const bool is_done = lap_sink_bytes(sink) > 0;
    lap_image image = {0};
    if (code == LAP_OK && !is_done)
        code = bring(s, view, &image, &report->ms, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = is_done ? lap_sink_finish(sink, false, NULL, err)
                       : lap_image_write(&image.view, settings, &control, sink, err);
    report->ms.encode += lap_now_ms() - start;
    lap_image_destroy(&image);
    snprintf(report->note, sizeof report->note, "encoded on %s", is_done ? "the device" : "the CPU");
    return code;
}

lap_code lap_stream_encode(lap_stream *s, const lap_view *view, const lap_settings *given, void **out,
    size_t *out_size, lap_report *report, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    const double start = lap_now_ms();
    lap_report unread;
    lap_error why = {0};
    lap_sink *sink = NULL;
    report = report ? report : &unread;
    *report = (lap_report){0};
    *out = NULL;
    *out_size = 0;
    lap_code code = lap_settings_check(settings, &why);
    if (code == LAP_OK)
        code = lap_stream_check(s, view, "pixels", &why);
    if (code == LAP_OK)
        code = lap_sink_memory(&sink, &why);
    if (code == LAP_OK)
        code = encode(s, view, settings, sink, report, &why);
    if (code == LAP_OK) {
        report->bytes_out = lap_sink_bytes(sink);
        lap_sink_take(sink, out, out_size);
    }
    lap_sink_close(sink);
    return lap_view_conclude(code, &why, start, view, report, err);
}
