/* What a lap_stream does to pixels on its device: filter, count, decode, encode. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"
#include "device/device_stream.h"
#include "ops/filter.h"
#include "ops/stats.h"
#include "run/encode.h"
#include "run/formats.h"
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
    if (code == LAP_OK)
        code = lap_views_filter(rung, &s->space, in, out, params, border, s->stream, err);
    return code;
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

/* ---- what decoding and encoding share ----------------------------------------------------------- */

/* Whether the device is to code; LAP_E_BACKEND where it is asked for and cannot. */
static lap_code choose(const lap_settings *settings, bool *on_device, lap_error *err)
{
    const char *reason = lap_codec_may_be_device(settings->codec) ? lap_device_codec_unavailable() : "";
    *on_device = !reason;
    if (settings->codec == LAP_CODEC_CUDA && reason)
        return lap_fail(err, LAP_E_BACKEND, "codec 'cuda' cannot run here: %s", reason);
    return LAP_OK;
}

static void conclude(
    lap_report *report, lap_code code, const lap_error *why, double start, const lap_view *view)
{
    report->ms.total = lap_now_ms() - start;
    report->status = code != LAP_OK ? LAP_FAILED : report->warnings > 0 ? LAP_WARNED : LAP_DONE;
    report->error = code != LAP_OK ? *why : (lap_error){0};
    report->width = code == LAP_OK ? view->width : 0;
    report->height = code == LAP_OK ? view->height : 0;
    report->channels = code == LAP_OK ? view->channels : 0;
}

/* ---- decoding ----------------------------------------------------------------------------------- */

static lap_code decode_there(lap_stream *s, const void *file, size_t size, const lap_settings *settings,
    const lap_view *view, bool *mine, lap_report *report, lap_error *err)
{
    lap_view pixels = *view;
    lap_code code = LAP_OK;
    if (!lap_view_is_aligned(view))
        code = lap_views_result(&s->space, view, s->stream, &pixels, err);
    lap_device_photo_use(s->photo, &pixels, NULL);
    if (code == LAP_OK)
        code = lap_device_photo_decode(
            s->photo, file, size, settings->gray, LAP_TURN_NONE, mine, &report->ms, err);
    if (code == LAP_OK && *mine && pixels.base != view->base) {
        code = lap_stream_copy(s, &pixels, view, err);
        if (code == LAP_OK)
            code = lap_stream_wait(s, err);
    }
    return code;
}

static lap_code decode_here(lap_stream *s, lap_decoder *decoder, const lap_view *view, lap_damage *damage,
    lap_report *report, lap_error *err)
{
    lap_image image = {0};
    lap_code code = lap_image_create(&image, view->width, view->height, view->channels, 0, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_decoder_image(decoder, &image.view, damage, err);
    const double decoded = lap_now_ms();
    if (code == LAP_OK)
        code = lap_stream_copy(s, &image.view, view, err);
    report->ms.decode += decoded - start;
    report->ms.upload += lap_now_ms() - decoded;
    lap_image_destroy(&image);
    return code;
}

/* The caller's view, or a new one. */
static lap_code fit_view(lap_stream *s, const lap_header *h, lap_view *view, bool *is_new, lap_error *err)
{
    *is_new = !view->base;
    if (*is_new)
        return lap_stream_view_create(s, h->width, h->height, h->channels, 0, view, err);
    if (view->width != h->width || view->height != h->height || view->channels != h->channels)
        return lap_fail(err, LAP_E_DIFFERENT, "the picture is %dx%dx%d, its view %dx%dx%d", h->width,
            h->height, h->channels, view->width, view->height, view->channels);
    return lap_stream_check(s, view, "output", err);
}

static lap_code decode(lap_stream *s, const void *file, size_t size, const lap_settings *settings,
    lap_view *view, lap_report *report, lap_error *err)
{
    const lap_control control = lap_context_control(s->context, settings->timeout_s, lap_now_ms());
    lap_read_options options = lap_read_options_of(settings, &control);
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_damage damage = {0};
    bool on_device = false, mine = false, is_new = false;
    lap_code code = choose(settings, &on_device, err);
    options.pool = s->context->pool;
    options.threads = lap_pool_threads(s->context->pool);
    if (on_device) /* which has no use for a search for parts */
        options.decode = LAP_DECODE_SERIAL;
    if (code == LAP_OK)
        code = lap_source_memory(file, size, "input", &source, err);
    if (code == LAP_OK)
        code = lap_decoder_open(source, &options, &decoder, err);
    if (code == LAP_OK)
        code = fit_view(s, lap_decoder_header(decoder), view, &is_new, err);
    if (code == LAP_OK && on_device)
        code = decode_there(s, file, size, settings, view, &mine, report, err);
    if (code == LAP_OK && mine)
        damage = decoder->damage; /* what the header had to say is all there is */
    else if (code == LAP_OK)
        code = decode_here(s, decoder, view, &damage, report, err);
    if (code != LAP_OK && is_new)
        lap_stream_view_destroy(s, view);
    report->warnings = damage.warnings;
    snprintf(report->warning, sizeof report->warning, "%s", damage.first);
    snprintf(report->note, sizeof report->note, "decoded on %s", mine ? "the device" : "the CPU");
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

lap_code lap_stream_decode(lap_stream *s, const void *file, size_t size, const lap_settings *settings,
    lap_view *view, lap_report *report, lap_error *err)
{
    const double start = lap_now_ms();
    lap_report unread;
    lap_error why = {0};
    report = report ? report : &unread;
    *report = (lap_report){.bytes_in = size};
    lap_code code = lap_settings_check(settings, &why);
    if (code == LAP_OK && (settings->auto_orient || settings->turn != LAP_TURN_NONE))
        code = lap_fail(&why, LAP_E_USAGE, "pixels are decoded as they are stored: no turn");
    if (code == LAP_OK)
        code = decode(s, file, size, settings, view, report, &why);
    conclude(report, code, &why, start, view);
    if (code != LAP_OK && err)
        *err = why;
    return code;
}

/* ---- encoding ----------------------------------------------------------------------------------- */

static lap_code encode_there(lap_stream *s, const lap_view *view, const lap_write_options *write,
    lap_sink *sink, bool *mine, lap_report *report, lap_error *err)
{
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    lap_jpeg_parts parts;
    lap_chunk scan = {0};
    lap_code code = lap_jpeg_parts_make(write, &parts, err);
    if (code != LAP_OK)
        return code;
    lap_device_photo_use(s->photo, NULL, view);
    code = lap_device_photo_encode(s->photo, &parts, &scan, mine, &report->ms, err);
    if (code == LAP_OK && *mine)
        code = lap_sink_write(sink, parts.header.data, parts.header.size, err);
    if (code == LAP_OK && *mine)
        code = lap_sink_write(sink, scan.data, scan.size, err);
    if (code == LAP_OK && *mine)
        code = lap_sink_write(sink, end_of_image, sizeof end_of_image, err);
    lap_chunk_free(&parts.header);
    lap_chunk_free(&scan);
    return code;
}

static lap_code encode_here(lap_stream *s, const lap_view *view, const char *format,
    const lap_write_options *write, lap_sink *sink, lap_report *report, lap_error *err)
{
    lap_image image = {0};
    lap_encoder *encoder = NULL;
    const double start = lap_now_ms();
    lap_code code = lap_image_create(&image, view->width, view->height, view->channels, 0, err);
    if (code == LAP_OK)
        code = lap_stream_copy(s, view, &image.view, err);
    const double downloaded = lap_now_ms();
    if (code == LAP_OK)
        code = lap_encoder_open(sink, format, write, &encoder, err);
    if (code == LAP_OK)
        code = lap_encode_bands(&image.view, encoder, err);
    report->ms.download += downloaded - start;
    report->ms.encode += lap_now_ms() - downloaded;
    lap_encoder_close(encoder);
    lap_image_destroy(&image);
    return code;
}

static lap_code encode(lap_stream *s, const lap_view *view, const lap_settings *settings, lap_sink *sink,
    lap_report *report, lap_error *err)
{
    const lap_control control = lap_context_control(s->context, settings->timeout_s, lap_now_ms());
    const char *format = settings->format ? settings->format : "jpg", *name = lap_format_find(format);
    const lap_write_options write = lap_write_options_of(settings, view, &control);
    bool on_device = false, mine = false;
    lap_code code = choose(settings, &on_device, err);
    if (code == LAP_OK && view->channels == 2)
        code = lap_fail(err, LAP_E_USAGE, "pixels of 2 channels are not encoded");
    if (code == LAP_OK && on_device && name && strcmp(name, "jpg") == 0 && !write.progressive &&
        !write.optimize)
        code = encode_there(s, view, &write, sink, &mine, report, err);
    if (code == LAP_OK && !mine)
        code = encode_here(s, view, format, &write, sink, report, err);
    snprintf(report->note, sizeof report->note, "encoded on %s", mine ? "the device" : "the CPU");
    return code == LAP_OK ? lap_sink_finish(sink, false, NULL, err) : code;
}

lap_code lap_stream_encode(lap_stream *s, const lap_view *view, const lap_settings *settings, void **out,
    size_t *out_size, lap_report *report, lap_error *err)
{
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
    conclude(report, code, &why, start, view);
    if (code != LAP_OK && err)
        *err = why;
    return code;
}
