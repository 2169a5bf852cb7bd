#include "run/pipeline_device.h"

#include <string.h>

#include "base/control.h"
#include "base/params.h"
#include "base/status.h"
#include "device/device_photo.h"
#include "jpeg/jpeg_scan.h"
#include "run/formats.h"

/* A larger file is decoded on the CPU as it is read. */
static const size_t MAX_FILE = (size_t)1 << 30;

/* The backend by name. "auto" takes a device where that is to code. */
static const char *backend_of(const lap_settings *s)
{
    return s->codec == LAP_CODEC_CUDA && strcmp(s->backend, "auto") == 0
               ? lap_rung_fastest_on_device(LAP_OP_FILTER)
               : s->backend;
}

lap_code lap_pipeline_plan_device(lap_pipeline *pipe, lap_error *err)
{
    const lap_settings *s = pipe->settings;
    lap_code code = LAP_OK;
    if (s->filter)
        code = lap_rung_find(LAP_OP_FILTER, backend_of(s), &pipe->rung, err);
    if (code != LAP_OK)
        return code;
    const bool is_device_rung = pipe->rung && !lap_rung_takes_bands(pipe->rung);
    if (s->codec == LAP_CODEC_CUDA && !is_device_rung)
        return lap_fail(err, LAP_E_USAGE, "--codec=cuda goes with a CUDA backend; %s runs on the CPU",
            pipe->rung ? pipe->rung->name : "a transform");
    if (!lap_codec_may_be_device(s->codec) || !is_device_rung)
        return LAP_OK;
    const char *reason = lap_device_codec_unavailable();
    if (s->codec == LAP_CODEC_CUDA && reason)
        return lap_fail(err, LAP_E_BACKEND, "codec 'cuda' cannot run here: %s", reason);
    pipe->device.reason = reason;
    pipe->device.is_taken = !reason && (!pipe->hooks || pipe->hooks->counts);
    return LAP_OK;
}

static void *start_device(void *argument)
{
    const lap_pipeline *pipe = argument;
    lap_rung_start_device(LAP_OP_FILTER, pipe->rung->name, pipe->settings->device);
    return NULL;
}

lap_code lap_pipeline_hold_file(lap_pipeline *pipe, lap_source *source, lap_error *err)
{
    enum { PROBE_BYTES = 16 };
    const uint64_t max_memory = pipe->settings->max_memory;
    const size_t limit = max_memory > 0 && max_memory < MAX_FILE ? (size_t)max_memory : MAX_FILE;
    const uint8_t *bytes;
    size_t size;
    bool whole = false;
    pipe->device.is_starting = pthread_create(&pipe->device.starter, NULL, start_device, pipe) == 0;
    lap_code code = lap_source_peek(source, PROBE_BYTES, &bytes, &size, err);
    if (code == LAP_OK && lap_jpeg_probe(bytes, size)) /* other kinds are not worth the memory */
        code = lap_source_hold(source, limit, &bytes, &size, &whole, err);
    if (code == LAP_OK && whole) {
        pipe->device.file = bytes;
        pipe->device.file_size = size;
    }
    return code;
}

void lap_pipeline_wait_for_device(lap_pipeline *pipe)
{
    if (pipe->device.is_starting)
        pthread_join(pipe->device.starter, NULL);
    pipe->device.is_starting = false;
}

/* The source on the device: decoded there, or here and uploaded. */
static lap_code bring_source(lap_pipeline *pipe, lap_device_photo *photo, lap_error *err)
{
    bool mine = false;
    lap_code code = LAP_OK;
    if (pipe->device.file)
        code = lap_device_photo_decode(photo, pipe->device.file, pipe->device.file_size, pipe->settings->gray,
            pipe->turn, &mine, &pipe->ms, err);
    if (code == LAP_OK && mine) { /* what the header had to say is all there is */
        pipe->damage = pipe->decoder->damage;
        pipe->device.decoded = true;
        lap_source_held_is_read(pipe->decoder->source);
        return LAP_OK;
    }
    if (code == LAP_OK)
        code = lap_pipeline_collect_source(pipe, err);
    return code == LAP_OK ? lap_device_photo_upload(photo, &pipe->whole.view, &pipe->ms, err) : code;
}

/* Statistics, where the pixels are; whoever encodes them has no bands to count any more. */
static lap_code count(lap_pipeline *pipe, lap_device_photo *photo, lap_error *err)
{
    uint64_t source[4][256] = {0}, result[4][256] = {0};
    const lap_pipeline_hooks *hooks = pipe->hooks;
    const lap_rung *rung;
    if (!hooks)
        return LAP_OK;
    lap_code code =
        lap_rung_find(LAP_OP_HISTOGRAM, lap_rung_companion(LAP_OP_HISTOGRAM, pipe->rung), &rung, err);
    if (code == LAP_OK)
        code = lap_device_photo_count(photo, rung, source, result, &pipe->ms, err);
    if (code == LAP_OK)
        hooks->counts(hooks->user, source, result, pipe->channels);
    pipe->hooks = NULL;
    return code;
}

/* Header, scan and end of the file, if the device makes the scan. */
static lap_code write_file(
    lap_pipeline *pipe, lap_device_photo *photo, lap_sink *sink, bool *done, lap_error *err)
{
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    lap_jpeg_parts parts;
    lap_chunk scan = {0};
    lap_code code = lap_jpeg_parts_make(&pipe->write, &parts, err);
    if (code != LAP_OK)
        return code;
    code = lap_device_photo_encode(photo, &parts, &scan, done, &pipe->ms, err);
    const double start = lap_now_ms();
    if (code == LAP_OK && *done)
        code = lap_sink_write(sink, parts.header.data, parts.header.size, err);
    if (code == LAP_OK && *done)
        code = lap_sink_write(sink, scan.data, scan.size, err);
    if (code == LAP_OK && *done)
        code = lap_sink_write(sink, end_of_image, sizeof end_of_image, err);
    pipe->ms.encode += lap_now_ms() - start; /* the sink's share is parted off at the end */
    pipe->device.encoded = code == LAP_OK && *done;
    lap_chunk_free(&parts.header);
    lap_chunk_free(&scan);
    return code;
}

lap_code lap_pipeline_device(lap_pipeline *pipe, lap_sink *sink, bool *done, lap_error *err)
{
    const lap_settings *s = pipe->settings;
    lap_device_photo *photo = NULL;
    *done = false;
    lap_pipeline_wait_for_device(pipe);
    lap_code code =
        lap_device_photo_create(s->device, pipe->width, pipe->height, pipe->channels, &photo, err);
    if (code == LAP_OK)
        code = bring_source(pipe, photo, err);
    if (code == LAP_OK)
        code = lap_control_check(pipe->control, err);
    if (code == LAP_OK)
        code = lap_device_photo_filter(photo, pipe->rung, &s->params, s->border, &pipe->ms, err);
    if (code == LAP_OK)
        code = count(pipe, photo, err);
    const char *format = s->format ? s->format : "jpg";
    if (code == LAP_OK && strcmp(format, LAP_FORMAT_NONE) == 0)
        *done = true;
    /* Several scans, and tables of the picture's own, are made on the CPU. */
    else if (code == LAP_OK && !s->progressive && !s->optimize && strcmp(lap_format_find(format), "jpg") == 0)
        code = write_file(pipe, photo, sink, done, err);
    if (code == LAP_OK && !*done) {
        code = lap_image_create(&pipe->filtered, pipe->width, pipe->height, pipe->channels, 0, err);
        if (code == LAP_OK)
            code = lap_device_photo_download(photo, &pipe->filtered.view, &pipe->ms, err);
        if (code == LAP_OK && !pipe->whole.memory) /* there is nothing to decode any more; never touched */
            code = lap_image_create(&pipe->whole, pipe->width, pipe->height, pipe->channels, LAP_APRON, err);
    }
    lap_device_photo_destroy(photo);
    return code;
}
