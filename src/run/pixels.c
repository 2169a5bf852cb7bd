/* Whole images for those who want pixels rather than a file: comparison, statistics, benches. */
#include <stdlib.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "ops/orient.h"
#include "run/formats.h"
#include "run/pixels.h"

struct lap_pixels {
    lap_image image;
    char note[LAP_PIXELS_NOTE];
};

const char *lap_pixels_note(const lap_pixels *pixels)
{
    return pixels->note;
}

const lap_view *lap_pixels_view(const lap_pixels *pixels)
{
    return &pixels->image.view;
}

void lap_pixels_free(lap_pixels *pixels)
{
    if (!pixels)
        return;
    lap_image_destroy(&pixels->image);
    free(pixels);
}

static lap_code turn_upright(lap_context *context, lap_turn turn, lap_image *image, lap_error *err)
{
    const lap_view *v = &image->view;
    bool swap = lap_turn_transposes(turn);
    lap_image turned = {0};
    lap_code code = lap_image_create(
        &turned, swap ? v->height : v->width, swap ? v->width : v->height, v->channels, LAP_APRON, err);
    if (code == LAP_OK)
        code = lap_orient(v, &turned.view, turn, context->pool, err);
    if (code != LAP_OK) {
        lap_image_destroy(&turned);
        return code;
    }
    lap_image_destroy(image);
    *image = turned;
    return LAP_OK;
}

lap_read_options lap_read_options_of(const lap_settings *settings, const lap_control *control)
{
    return (lap_read_options){.gray = settings->gray,
        .max_pixels = settings->max_pixels,
        .max_memory = settings->max_memory,
        .max_scans = settings->max_scans,
        .fail_on = settings->fail_on,
        .control = control,
        .decode = settings->decode};
}

/* The decoder and a whole image beside it against the limit. */
static lap_code check_memory(const lap_decoder *decoder, const lap_read_options *options, lap_error *err)
{
    const lap_header *h = lap_decoder_header(decoder);
    size_t bytes;
    bool fits = lap_mul((size_t)h->width * (size_t)h->channels, (size_t)h->height, &bytes) &&
                lap_add(bytes, h->memory_estimate, &bytes);
    if (fits && (options->max_memory == 0 || bytes <= options->max_memory))
        return LAP_OK;
    if (!fits)
        return lap_fail(err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", h->width, h->height);
    return lap_fail_over_limit(err, "takes up to", bytes, options->max_memory, " (--max-memory)");
}

lap_code lap_image_read(const char *path, const lap_read_options *options, int apron, lap_image *image,
    lap_turn *orientation, char note[LAP_PIXELS_NOTE], lap_error *err)
{
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_damage damage;
    lap_code code = lap_source_open(path, &source, err);
    if (code == LAP_OK)
        code = lap_decoder_open(source, options, &decoder, err);
    if (code == LAP_OK)
        code = check_memory(decoder, options, err);
    if (code == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        *orientation = (lap_turn)h->orientation;
        code = lap_image_create(image, h->width, h->height, h->channels, apron, err);
    }
    if (code == LAP_OK)
        code = lap_decoder_image(decoder, &image->view, &damage, err);
    if (code == LAP_OK && note && lap_decoder_has_parts(decoder))
        snprintf(note, LAP_PIXELS_NOTE, "decoded in parallel");
    else if (code == LAP_OK && note)
        snprintf(note, LAP_PIXELS_NOTE, "%s%s", decoder->how ? "decoded serially: " : "",
            decoder->how ? decoder->how : "");
    if (code == LAP_OK)
        code = lap_source_verify(source, NULL, err);
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

lap_code lap_pixels_read(
    lap_context *context, const char *path, const lap_settings *settings, lap_pixels **pixels, lap_error *err)
{
    const lap_control control = lap_context_control(context, settings->timeout_s, lap_now_ms());
    lap_read_options options = lap_read_options_of(settings, &control);
    options.pool = context->pool;
    options.threads = lap_pool_threads(context->pool);
    if (settings->threads > 0 && settings->threads < options.threads)
        options.threads = settings->threads;
    lap_turn orientation = LAP_TURN_NONE;
    lap_pixels *p = calloc(1, sizeof *p);
    *pixels = NULL;
    if (!p)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    lap_code code = lap_image_read(path, &options, LAP_APRON, &p->image, &orientation, p->note, err);
    if (code == LAP_OK && settings->auto_orient && orientation != LAP_TURN_NONE)
        code = turn_upright(context, orientation, &p->image, err);
    if (code == LAP_OK)
        *pixels = p;
    else
        lap_pixels_free(p);
    return code;
}
