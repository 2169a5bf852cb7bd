#include "run/encode.h"

#include "base/image.h"
#include "base/status.h"
#include "run/formats.h"
#include "run/settings.h"

lap_code lap_encode_bands(const lap_view *view, lap_encoder *encoder, lap_error *err)
{
    const int rows = lap_encoder_band_rows(encoder);
    lap_chunk chunk = {0};
    lap_code code = LAP_OK;
    for (int i = 0, y = 0; y < view->height && code == LAP_OK; i++, y += rows) {
        const lap_view band = lap_view_rows(view, y, view->height - y < rows ? view->height - y : rows);
        code = lap_encoder_band(encoder, i, &band, &chunk, err);
        if (code == LAP_OK)
            code = lap_encoder_append(encoder, i, &chunk, err);
    }
    lap_chunk_free(&chunk);
    return code == LAP_OK ? lap_encoder_finish(encoder, err) : code;
}

static lap_code encode(const lap_view *view, const lap_settings *settings, lap_sink *sink, lap_error *err)
{
    const lap_format format = settings->format ? lap_format_find(settings->format) : LAP_FORMAT_JPG;
    lap_write_options options = lap_write_options_of(settings, NULL);
    lap_encoder *encoder = NULL;
    options.width = view->width;
    options.height = view->height;
    options.channels = view->channels;
    lap_code code = lap_encoder_open(sink, format, &options, &encoder, err);
    if (code == LAP_OK)
        code = lap_encode_bands(view, encoder, err);
    lap_encoder_close(encoder);
    return code == LAP_OK ? lap_sink_finish(sink, false, NULL, err) : code;
}

lap_code lap_encode(
    const lap_view *pixels, const lap_settings *given, void **out, size_t *out_size, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    lap_sink *sink = NULL;
    *out = NULL;
    *out_size = 0;
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK && (!pixels->base || pixels->width < 1 || pixels->height < 1 ||
                              pixels->channels == 2 || pixels->channels < 1 || pixels->channels > 4))
        code = lap_fail(err, LAP_E_USAGE, "%d x %d pixels of %d channels are not encoded", pixels->width,
            pixels->height, pixels->channels);
    if (code == LAP_OK && pixels->place != LAP_ON_HOST)
        code = lap_fail(err, LAP_E_USAGE, "the pixels lie on a device; see lap_stream_encode");
    if (code == LAP_OK && settings->codec == LAP_CODEC_CUDA)
        code = lap_fail(err, LAP_E_USAGE, "pixels in host memory are encoded on the CPU");
    if (code == LAP_OK)
        code = lap_sink_memory(&sink, err);
    if (code == LAP_OK)
        code = encode(pixels, settings, sink, err);
    if (code == LAP_OK)
        lap_sink_take(sink, out, out_size);
    lap_sink_close(sink);
    return code;
}
