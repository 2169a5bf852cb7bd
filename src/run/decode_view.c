/* lap_decode_view: decodes a file in memory to pixels in the caller's memory. */
#include <stdlib.h>

#include "base/context.h"
#include "base/image.h"
#include "base/luma.h"
#include "base/pages.h"
#include "base/status.h"
#include "base/turn.h"
#include "run/pixels.h"
#include "run/settings.h"

/* Converts RGB to gray or gray to RGB, row by row. */
static void convert_channels(const lap_view *from, const lap_view *to)
{
    for (int y = 0; y < to->height; y++) {
        const uint8_t *in = from->base + y * from->stride;
        uint8_t *out = to->base + y * to->stride;
        if (to->channels == 1) {
            lap_luma_row(in, out, (size_t)to->width);
            continue;
        }
        for (int x = 0; x < to->width; x++, out += 3)
            out[0] = out[1] = out[2] = in[x];
    }
}

/* Gives a view without pixels the size of the upright picture, and rows without padding. */
static lap_code size_view(const lap_header *h, lap_turn turn, lap_view *view, size_t *bytes, lap_error *err)
{
    const bool swap = lap_turn_transposes(turn);
    view->width = swap ? h->height : h->width;
    view->height = swap ? h->width : h->height;
    if (view->channels == 0)
        view->channels = h->channels;
    view->stride = (ptrdiff_t)view->width * view->channels;
    if (!lap_mul((size_t)view->stride, (size_t)view->height, bytes) || *bytes > PTRDIFF_MAX)
        return lap_fail(
            err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", view->width, view->height);
    return LAP_OK;
}

/* Checks the caller's view against the size of the upright picture; allocates pixels if the view has none. */
static lap_code fit_view(const lap_header *h, lap_turn turn, lap_view *view, lap_error *err)
{
    lap_view fresh = {.place = view->place, .channels = view->channels};
    size_t bytes;
    const lap_code code = size_view(h, turn, &fresh, &bytes, err);
    if (code != LAP_OK)
        return code;
    if (!view->base) {
        fresh.base = lap_pages_resize(NULL, 0, bytes);
        *view = fresh;
        return view->base ? LAP_OK : lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes wanted", bytes);
    }
    view->channels = fresh.channels;
    if (view->width != fresh.width || view->height != fresh.height)
        return lap_fail(err, LAP_E_DIFFERENT, "the picture has %dx%d pixels, the view %dx%d", fresh.width,
            fresh.height, view->width, view->height);
    if (view->stride < fresh.stride)
        return lap_fail(err, LAP_E_USAGE, "rows %td bytes apart overlap", view->stride);
    return LAP_OK;
}

/* Decodes all rows, rotates or mirrors them if necessary, and converts them to the view's channels. */
static lap_code collect_view(
    lap_decoder *decoder, lap_turn turn, const lap_view *view, lap_report *report, lap_error *err)
{
    const lap_header *h = lap_decoder_header(decoder);
    const bool is_converted = view->channels != h->channels;
    lap_image image = {.view = *view};
    lap_damage damage = {0};
    lap_code code = LAP_OK;
    if (is_converted)
        code = lap_image_create(&image, view->width, view->height, h->channels, 0, err);
    const lap_collect collect = {.decoder = decoder, .turn = turn, .to = &image.view, .ms = &report->ms};
    if (code == LAP_OK)
        code = lap_collect_image(&collect, &damage, err);
    if (code == LAP_OK && is_converted)
        convert_channels(&image.view, view);
    lap_image_destroy(&image);
    lap_report_damage(report, &damage);
    return code;
}

static lap_code decode_view(
    const lap_whole *whole, const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err)
{
    const lap_header *h = lap_decoder_header(whole->decoder);
    const lap_turn turn = lap_whole_turn(whole, settings);
    lap_view pixels = *view;
    lap_code code = fit_view(h, turn, &pixels, err);
    if (code == LAP_OK && pixels.channels != h->channels)
        code = lap_whole_fit(whole, 2, err);
    if (code == LAP_OK)
        code = collect_view(whole->decoder, turn, &pixels, report, err);
    if (code == LAP_OK)
        *view = pixels;
    else if (!view->base)
        free(pixels.base);
    return code;
}

static lap_code check_view(const lap_settings *settings, const lap_view *view, lap_error *err)
{
    if (view->place != LAP_ON_HOST)
        return lap_fail(err, LAP_E_USAGE,
            "the view lies on device %d; see lap_stream_decode; for host memory, set place to LAP_ON_HOST",
            view->place);
    if (view->apron != 0)
        return lap_fail(
            err, LAP_E_USAGE, "the view has an apron, which decoding does not fill; set apron to 0");
    if (view->channels != 0 && view->channels != 1 && view->channels != 3)
        return lap_fail(err, LAP_E_USAGE, "no picture has %d channels", view->channels);
    if (settings->turn != LAP_TURN_NONE)
        return lap_fail(err, LAP_E_USAGE,
            "pixels are decoded as stored, or upright (auto_orient), but not rotated or mirrored otherwise");
    if (settings->codec == LAP_CODEC_CUDA)
        return lap_fail(err, LAP_E_USAGE, "codec 'cuda' cannot decode to host memory");
    return lap_settings_check(settings, err);
}

static lap_code open_file(lap_whole *whole, lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_error *err)
{
    const lap_code code = lap_source_memory(file, size, "memory", &whole->source, err);
    return code == LAP_OK ? lap_whole_open(whole, context, settings, 1, err) : code;
}

lap_code lap_decode_view(lap_context *context, const void *file, size_t size, const lap_settings *given,
    lap_view *view, lap_report *report, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    const double start = lap_now_ms();
    lap_whole whole = {0};
    lap_error why = {0};
    lap_report unread;
    report = report ? report : &unread;
    *report = (lap_report){.bytes_in = size};
    lap_code code = check_view(settings, view, &why);
    if (code == LAP_OK)
        code = open_file(&whole, context, file, size, settings, &why);
    if (code == LAP_OK)
        code = decode_view(&whole, settings, view, report, &why);
    lap_whole_note(&whole, report->note, sizeof report->note);
    lap_whole_close(&whole);
    return lap_view_conclude(code, &why, start, view, report, err);
}

lap_code lap_decode_size(lap_context *context, const void *file, size_t size, const lap_settings *given,
    lap_view *view, lap_error *err)
{
    lap_settings settings = lap_settings_complete(given);
    lap_whole whole = {0};
    lap_view sized = *view;
    size_t bytes;
    lap_code code = check_view(&settings, view, err);
    if (code == LAP_OK && view->base)
        code = lap_fail(err, LAP_E_USAGE, "base must be NULL: this call only fills in the size");
    if (settings.decode == LAP_DECODE_AUTO) /* a size needs no search for parts of the scan */
        settings.decode = LAP_DECODE_SERIAL;
    if (code == LAP_OK)
        code = open_file(&whole, context, file, size, &settings, err);
    if (code == LAP_OK)
        code = size_view(
            lap_decoder_header(whole.decoder), lap_whole_turn(&whole, &settings), &sized, &bytes, err);
    lap_whole_close(&whole);
    if (code == LAP_OK)
        *view = sized;
    return code;
}
