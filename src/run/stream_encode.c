/* Encodes pixels on the device of a lap_stream. */
#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "device/devices.h"
#include "run/formats.h"
#include "run/photo_device.h"
#include "run/settings.h"
#include "run/stream_photos.h"

static const lap_view *pixels_of(const lap_stream_photo *p)
{
    return &p->work->pixels[p->number];
}

static lap_device_wish wish_of(const lap_stream_photo *p)
{
    const lap_view *view = pixels_of(p);
    return (lap_device_wish){.result = view,
        .width = view->width,
        .height = view->height,
        .channels = view->channels,
        .head = &p->head};
}

static lap_code plan(const lap_stream_photo *p, lap_device_staging *staging, lap_error *err)
{
    const lap_device_wish wish = wish_of(p);
    bool handled = false;
    return lap_device_staging_plan(staging, &wish, &handled, err);
}

/* Encodes the pixels on the device, downloads the scan and writes the file. Writes nothing if the device made
 * no scan. LAP_E_MEMORY also if more than `most` bytes of device memory are needed. */
static lap_code run(lap_stream_photo *p, lap_lane *lane, size_t most, lap_sink *sink, lap_error *err)
{
    lap_device_staging *staging = lane->pinned;
    lap_code code = LAP_OK;
    if (lane->photos++ == 0 || plan(p, staging, NULL) != LAP_OK) {
        staging = lane->paged;
        code = plan(p, staging, err);
    }
    if (code != LAP_OK || !staging->is_encoded)
        return code;
    if (lap_device_slot_needs(staging) > most)
        return LAP_E_MEMORY;
    code = lap_device_slot_run(lane->slot, staging, NULL, &p->report->ms, err);
    if (code != LAP_OK || !lap_device_staging_has_scan(staging))
        return code;
    lap_device_slot *holds_scan = staging == lane->paged ? lane->slot : NULL;
    return lap_photo_bring_jpeg(holds_scan, staging, &p->head.header, sink, &p->report->ms, err);
}

/* Encodes a photo of a batch in parallel with others. False: there is no lane for it, or not enough
 * memory. */
static bool run_in_lane(lap_stream_photo *p, lap_sink *sink, lap_code *code, lap_error *err)
{
    lap_lane *lane = lap_stream_lane_take(p->work->stream);
    if (!lane)
        return false;
    *code = run(p, lane, LAP_STREAM_LANE, sink, err);
    lap_stream_lane_give(p->work->stream, lane);
    return *code != LAP_E_MEMORY || lap_sink_bytes(sink) > 0;
}

/* Encodes on the stream if it is idle, otherwise in a lane. Without a lane, waits for the stream. */
static lap_code encode_alone(lap_stream_photo *p, lap_sink *sink, lap_error *err)
{
    lap_stream *s = p->work->stream;
    lap_code code;
    if (pthread_mutex_trylock(&p->work->lock) != 0) {
        if (run_in_lane(p, sink, &code, err))
            return code;
        pthread_mutex_lock(&p->work->lock);
    }
    code = run(p, &s->own, SIZE_MAX, sink, err);
    if (code == LAP_E_MEMORY && lap_sink_bytes(sink) == 0) {
        lap_stream_lanes_free(s);
        code = run(p, &s->own, SIZE_MAX, sink, err);
    }
    pthread_mutex_unlock(&p->work->lock);
    return code;
}

static lap_code encode_there(lap_stream_photo *p, lap_sink *sink, lap_error *err)
{
    if (p->is_done)
        return lap_photo_bring_jpeg(NULL, p->staging, &p->head.header, sink, &p->report->ms, err);
    return p->is_chained || p->head.header.size == 0 ? LAP_OK : encode_alone(p, sink, err);
}

/* Copies the view's pixels to the host. */
static lap_code bring(lap_stream_photo *p, lap_image *image, lap_error *err)
{
    const lap_view *view = pixels_of(p);
    const double start = lap_now_ms();
    lap_code code = lap_image_create(image, view->width, view->height, view->channels, 0, err);
    pthread_mutex_lock(&p->work->lock);
    if (code == LAP_OK)
        code = lap_stream_copy(p->work->stream, view, &image->view, err);
    pthread_mutex_unlock(&p->work->lock);
    p->report->ms.download += lap_now_ms() - start;
    return code;
}

/* Finishes the file that the device has encoded, or encodes the pixels on the CPU. */
static lap_code encode_here(lap_stream_photo *p, lap_sink *sink, bool is_done, lap_error *err)
{
    const lap_settings *settings = p->work->settings;
    const lap_control control =
        lap_context_control(p->work->stream->context, settings->timeout_s, lap_now_ms());
    lap_image image = {0};
    lap_code code = is_done ? LAP_OK : bring(p, &image, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = is_done ? lap_sink_finish(sink, false, NULL, err)
                       : lap_image_write(&image.view, settings, &control, sink, err);
    p->report->ms.encode += lap_now_ms() - start;
    lap_image_destroy(&image);
    return code;
}

static bool may_be_there(const lap_stream_work *work)
{
    const lap_settings *s = work->settings;
    const lap_format format = s->format ? lap_format_find(s->format) : LAP_FORMAT_JPG;
    return work->on_device && format == LAP_FORMAT_JPG && !s->progressive && !s->optimize;
}

static lap_code begin(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    const lap_view *view = pixels_of(p);
    lap_code code = lap_stream_check(work->stream, view, "pixels", err);
    if (code == LAP_OK && view->channels == 2)
        code = lap_fail(err, LAP_E_USAGE, "pixels with 2 channels cannot be encoded");
    if (code != LAP_OK || !may_be_there(work))
        return code;
    const lap_write_options write =
        lap_write_options_of(work->settings, view->width, view->height, view->channels, NULL);
    code = lap_jpeg_head_make(&write, &p->head, err);
    if (code == LAP_OK && p->staging) {
        const lap_device_wish wish = wish_of(p);
        lap_stream_plan(p, &wish, NULL, 0);
    }
    return code;
}

static lap_code finish(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    lap_sink *sink = NULL;
    lap_code code = p->code;
    if (code == LAP_OK)
        code = lap_sink_memory(&sink, err);
    if (code == LAP_OK)
        code = encode_there(p, sink, err);
    const bool is_done = code == LAP_OK && lap_sink_bytes(sink) > 0;
    if (code == LAP_OK)
        code = encode_here(p, sink, is_done, err);
    snprintf(p->report->note, sizeof p->report->note, "encoded on %s", is_done ? "the device" : "the CPU");
    if (code == LAP_OK) {
        p->report->bytes_out = lap_sink_bytes(sink);
        lap_sink_take(sink, &work->out[p->number], &work->out_sizes[p->number]);
    }
    lap_sink_close(sink);
    lap_chunk_free(&p->head.header);
    return code;
}

lap_code lap_stream_encode(lap_stream *s, const lap_view *view, const lap_settings *settings, void **out,
    size_t *out_size, lap_report *report, lap_error *err)
{
    return lap_stream_encode_batch(s, view, 1, settings, out, out_size, report, err);
}

lap_code lap_stream_encode_batch(lap_stream *s, const lap_view views[], size_t count,
    const lap_settings *given, void *out[], size_t out_sizes[], lap_report reports[], lap_error *err)
{
    const lap_settings settings = lap_settings_complete(given);
    lap_error why = {0};
    lap_stream_work work = {.stream = s,
        .settings = &settings,
        .count = count,
        .pixels = views,
        .out = out,
        .out_sizes = out_sizes,
        .begin = begin,
        .finish = finish,
        .is_right = lap_device_staging_has_scan};
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
        out_sizes[i] = 0;
    }
    lap_code code = lap_settings_check(&settings, &why);
    if (code == LAP_OK)
        code = lap_stream_choose(&work, LAP_DEVICE_ENCODES, &why);
    return lap_stream_photos(&work, code, &why, reports, err);
}
