/* Decodes files to the device of a lap_stream, and filters them there. */
#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "device/devices.h"
#include "run/settings.h"
#include "run/stream_photos.h"
#include "rungs/backend.h"

static bool is_filtered(const lap_stream_photo *p)
{
    return p->work->filter.rung != NULL;
}

static lap_view *view_of(const lap_stream_photo *p)
{
    return &p->work->views[p->number];
}

static lap_device_wish wish_of(const lap_stream_photo *p, const lap_view *pixels)
{
    const lap_view *view = view_of(p);
    return (lap_device_wish){.pixels = pixels,
        .source = is_filtered(p) ? NULL : view,
        .result = is_filtered(p) ? view : NULL,
        .gray = p->work->settings->gray,
        .turn = LAP_TURN_NONE,
        .width = view->width,
        .height = view->height,
        .channels = view->channels,
        .filters = is_filtered(p)};
}

static bool pin_file(const lap_stream_photo *p, lap_device_staging *staging)
{
    const size_t number = p->number;
    return lap_device_staging_copy(staging, p->work->files[number], p->work->sizes[number], NULL) == LAP_OK;
}

static lap_code plan(const lap_stream_photo *p, lap_device_staging *staging, const lap_view *pixels,
    bool *handled, lap_error *err)
{
    const lap_device_wish wish = wish_of(p, pixels);
    lap_device_staging_lend(staging, p->work->files[p->number], p->work->sizes[p->number]);
    return lap_device_staging_plan(staging, &wish, handled, err);
}

static lap_code run(lap_stream_photo *p, lap_device_slot *slot, const lap_device_staging *staging,
    bool *handled, lap_error *err)
{
    const lap_stream_work *work = p->work;
    const bool is_timed = p->report != &p->unread;
    const lap_code code =
        lap_device_slot_run(slot, staging, &work->filter, is_timed ? &p->report->ms : NULL, err);
    *handled = code == LAP_OK && lap_device_staging_has_source(staging);
    return code;
}

/* Runs the photo alone on the stream, from its file or from pixels. *handled false: the device cannot decode
 * it. */
static lap_code run_alone(lap_stream_photo *p, const lap_view *pixels, bool *handled, lap_error *err)
{
    lap_stream *s = p->work->stream;
    if (!pixels && s->own.photos++ > 0 && plan(p, s->own.pinned, NULL, handled, NULL) == LAP_OK &&
        (!*handled || pin_file(p, s->own.pinned)))
        return *handled ? run(p, s->own.slot, s->own.pinned, handled, err) : LAP_OK;
    const lap_code code = plan(p, s->own.paged, pixels, handled, err);
    return code == LAP_OK && *handled ? run(p, s->own.slot, s->own.paged, handled, err) : code;
}

/* Runs a photo of a batch in parallel with others. False: there is no lane for it, or not enough memory. */
static bool run_in_lane(lap_stream_photo *p, bool *handled, lap_code *code, lap_error *err)
{
    lap_stream *s = p->work->stream;
    lap_lane *lane = lap_stream_lane_take(s);
    if (!lane)
        return false;
    bool fits = plan(p, lane->pinned, NULL, handled, NULL) == LAP_OK;
    if (fits && *handled) {
        fits = lap_device_slot_needs(lane->pinned) <= LAP_STREAM_LANE;
        if (fits && lane->photos++ > 0)
            fits = pin_file(p, lane->pinned);
        *code = fits ? run(p, lane->slot, lane->pinned, handled, err) : LAP_E_MEMORY;
    } else {
        *code = LAP_OK;
    }
    lap_stream_lane_give(s, lane);
    return fits && *code != LAP_E_MEMORY;
}

/* Decodes on the stream if it is idle, otherwise in a lane. Without a lane, waits for the stream. */
static lap_code decode_there(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    lap_code code;
    if (pthread_mutex_trylock(&p->work->lock) != 0) {
        if (run_in_lane(p, &p->is_done, &code, err))
            return code;
        pthread_mutex_lock(&p->work->lock);
    }
    code = run_alone(p, NULL, &p->is_done, err);
    if (code == LAP_E_MEMORY) {
        lap_stream_lanes_free(work->stream);
        code = run_alone(p, NULL, &p->is_done, err);
    }
    pthread_mutex_unlock(&p->work->lock);
    return code;
}

/* Copies pixels that the CPU has decoded to the view, or filters them into it. */
static lap_code bring(lap_stream_photo *p, const lap_view *pixels, lap_error *err)
{
    bool handled;
    const double start = lap_now_ms();
    pthread_mutex_lock(&p->work->lock);
    const lap_code code = is_filtered(p) ? run_alone(p, pixels, &handled, err)
                                         : lap_stream_copy(p->work->stream, pixels, view_of(p), err);
    pthread_mutex_unlock(&p->work->lock);
    p->report->ms.upload += is_filtered(p) ? 0 : lap_now_ms() - start;
    return code;
}

static lap_code decode_here(lap_stream_photo *p, lap_damage *damage, lap_error *err)
{
    const lap_view *view = view_of(p);
    lap_image image = {0};
    lap_code code = lap_whole_fit(&p->whole, 1, err);
    if (code == LAP_OK)
        code = lap_image_create(&image, view->width, view->height, view->channels, 0, err);
    const lap_collect collect = {.decoder = p->whole.decoder, .turn = LAP_TURN_NONE, .to = &image.view};
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_collect_image(&collect, damage, err);
    p->report->ms.decode += lap_now_ms() - start;
    if (code == LAP_OK)
        code = bring(p, &image.view, err);
    lap_image_destroy(&image);
    return code;
}

/* Checks the caller's view; allocates one if it has no memory. */
static lap_code fit_view(lap_stream_photo *p, lap_error *err)
{
    const lap_header *h = lap_decoder_header(p->whole.decoder);
    lap_stream *s = p->work->stream;
    lap_view *view = view_of(p);
    if (!view->base) {
        const lap_code code = lap_stream_view_create(s, h->width, h->height, h->channels, 0, view, err);
        p->is_new = code == LAP_OK;
        return code;
    }
    if (view->width != h->width || view->height != h->height || view->channels != h->channels)
        return lap_fail(err, LAP_E_DIFFERENT, "the picture has the shape %dx%dx%d, the view %dx%dx%d",
            h->width, h->height, h->channels, view->width, view->height, view->channels);
    return lap_stream_check(s, view, "output", err);
}

static lap_code begin(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    const void *file = work->files[p->number];
    const size_t size = work->sizes[p->number];
    lap_settings settings = *work->settings;
    p->report->bytes_in = size;
    if (work->on_device) /* the device does not need the CPU's search for parts */
        settings.decode = LAP_DECODE_SERIAL;
    lap_code code = lap_source_memory(file, size, "input", &p->whole.source, err);
    if (code == LAP_OK)
        code = lap_whole_open(&p->whole, work->stream->context, &settings, work->on_device ? 0 : 1, err);
    if (code == LAP_OK)
        code = fit_view(p, err);
    if (code == LAP_OK && p->staging) {
        const lap_device_wish wish = wish_of(p, NULL);
        lap_stream_plan(p, &wish, file, size);
    }
    return code;
}

static lap_code finish(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    lap_damage damage = {0};
    lap_code code = p->code;
    if (p->whole.control.deadline_ms > 0) /* waiting for the other photos does not count */
        p->whole.control.deadline_ms += lap_now_ms() - p->begun;
    if (code == LAP_OK && work->on_device && !p->is_chained)
        code = decode_there(p, err);
    if (code == LAP_OK && p->is_done)
        damage = p->whole.decoder->damage; /* only the header can have a warning */
    else if (code == LAP_OK)
        code = decode_here(p, &damage, err);
    if (code != LAP_OK && p->is_new)
        lap_stream_view_destroy(work->stream, view_of(p));
    lap_report_damage(p->report, &damage);
    p->report->resolved = code == LAP_OK && is_filtered(p) ? work->filter.rung->name : NULL;
    snprintf(p->report->note, sizeof p->report->note, "decoded on %s", p->is_done ? "the device" : "the CPU");
    lap_whole_close(&p->whole);
    return code;
}

static lap_code decode(const lap_stream_work *photos, const lap_settings *given, bool filters,
    lap_report *reports, lap_error *err)
{
    lap_settings settings = lap_settings_complete(given);
    lap_stream_work work = *photos;
    lap_error why = {0};
    work.settings = &settings;
    work.begin = begin;
    work.finish = finish;
    work.is_right = lap_device_staging_has_source;
    settings.filter |= filters;
    lap_code code = lap_settings_check(&settings, &why);
    if (code == LAP_OK && (settings.auto_orient || settings.turn != LAP_TURN_NONE))
        code =
            lap_fail(&why, LAP_E_USAGE, "a stream decodes pixels as stored: it cannot rotate or mirror them");
    if (code == LAP_OK && filters)
        code = lap_rung_find_on_device(
            LAP_OP_FILTER, settings.backend, work.stream->device, &work.filter.rung, &why);
    work.filter.params = &settings.params;
    work.filter.border = settings.border;
    if (code == LAP_OK)
        code = lap_stream_choose(&work, LAP_DEVICE_DECODES, &why);
    return lap_stream_photos(&work, code, &why, reports, err);
}

lap_code lap_stream_decode(lap_stream *s, const void *file, size_t size, const lap_settings *settings,
    lap_view *view, lap_report *report, lap_error *err)
{
    return lap_stream_decode_batch(s, &file, &size, 1, settings, view, report, err);
}

lap_code lap_stream_decode_batch(lap_stream *s, const void *const files[], const size_t sizes[], size_t count,
    const lap_settings *settings, lap_view views[], lap_report reports[], lap_error *err)
{
    const lap_stream_work photos = {
        .stream = s, .count = count, .files = files, .sizes = sizes, .views = views};
    return decode(&photos, settings, false, reports, err);
}

lap_code lap_stream_edges_batch(lap_stream *s, const void *const files[], const size_t sizes[], size_t count,
    const lap_settings *settings, lap_view views[], lap_report reports[], lap_error *err)
{
    const lap_stream_work photos = {
        .stream = s, .count = count, .files = files, .sizes = sizes, .views = views};
    return decode(&photos, settings, true, reports, err);
}
