#include "run/stream_photos.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/params.h"
#include "base/pool.h"
#include "base/status.h"
#include "base/times.h"
#include "device/devices.h"

enum { WINDOW = LAP_DEVICE_CHAIN }; /* photos that are open at once */

lap_code lap_stream_choose(lap_stream_work *work, unsigned direction, lap_error *err)
{
    const lap_codec_place codec = work->settings->codec;
    const char *reason = "";
    const lap_code code =
        lap_codec_may_be_device(codec) ? lap_device_codec_choose(codec, direction, &reason, err) : LAP_OK;
    work->on_device = !reason;
    return code;
}

void lap_stream_plan(lap_stream_photo *p, const lap_device_wish *wish, const void *file, size_t size)
{
    lap_device_staging *staging = p->staging;
    bool handled = false;
    lap_device_staging_lend(staging, file, size);
    /* After a failure, too, the photo goes alone: it needs less memory there. */
    if (lap_device_staging_plan(staging, wish, &handled, NULL) != LAP_OK || !handled ||
        (wish->head && !staging->is_encoded))
        return;
    const size_t needs = lap_device_slot_needs(staging);
    if (needs == 0 || needs > LAP_DEVICE_SMALL_BYTES)
        return;
    if (file) {
        if (lap_device_staging_file(staging, size, NULL) != LAP_OK)
            return;
        memcpy(staging->file.bytes, file, size);
    }
    p->is_planned = true;
}

/* ---- a window of photos ------------------------------------------------------------------------- */

typedef struct window {
    lap_stream_work *work;
    lap_stream_photo *photos;
    int count;
} window;

static lap_code begin(void *argument, const lap_piece *piece, lap_error *unused)
{
    const window *w = argument;
    (void)unused;
    for (size_t i = piece->first; i < piece->first + piece->n; i++) {
        lap_stream_photo *p = &w->photos[i];
        const lap_control control = lap_context_control(w->work->stream->context, 0, 0);
        p->start = lap_now_ms();
        p->code = lap_control_check(&control, &p->why);
        if (p->code == LAP_OK)
            p->code = w->work->begin(p, &p->why);
        p->begun = lap_now_ms();
    }
    return LAP_OK;
}

static lap_code finish(void *argument, const lap_piece *piece, lap_error *unused)
{
    const window *w = argument;
    (void)unused;
    for (size_t i = piece->first; i < piece->first + piece->n; i++) {
        lap_stream_photo *p = &w->photos[i];
        p->code = w->work->finish(p, &p->why);
    }
    return LAP_OK;
}

/* On the context's threads; a photo alone on this one, which shares its work with the others. */
static void each(window *w, lap_piece_fn *fn)
{
    lap_pool *pool = w->work->stream->context->pool;
    const int most = lap_pool_threads(pool), wanted = w->work->settings->threads;
    const int threads = wanted > 0 && wanted < most ? wanted : most;
    const lap_span span = {w->count > 1 ? threads : 1, (size_t)w->count, 1};
    (void)lap_pool_for(pool, span, fn, w, NULL);
}

static void run_chain(window *w, lap_stream_photo *const photos[], int count)
{
    const lap_device_staging *stagings[LAP_DEVICE_CHAIN];
    const lap_stream_work *work = w->work;
    lap_times ms = {0};
    for (int i = 0; i < count; i++)
        stagings[i] = photos[i]->staging;
    if (count == 0 ||
        lap_device_slot_run_chain(work->stream->slot, stagings, count, &work->filter, &ms, NULL) != LAP_OK)
        return;
    for (int i = 0; i < count; i++) {
        photos[i]->is_chained = true;
        photos[i]->is_done = work->is_right(stagings[i]);
        lap_times_add(&photos[i]->report->ms, &ms);
    }
}

static void run_chains(window *w)
{
    lap_stream_photo *chain[LAP_DEVICE_CHAIN];
    size_t bytes = 0;
    int count = 0;
    for (int i = 0; i < w->count; i++) {
        lap_stream_photo *p = &w->photos[i];
        if (p->code != LAP_OK || !p->is_planned)
            continue;
        const size_t needs = lap_device_slot_needs(p->staging);
        if (lap_device_slot_chain_needs(bytes + needs, count + 1) > LAP_DEVICE_CHAIN_BYTES) {
            run_chain(w, chain, count);
            bytes = 0;
            count = 0;
        }
        bytes += needs;
        chain[count++] = p;
    }
    run_chain(w, chain, count);
}

/* A photo without memory for a staging goes alone. */
static lap_device_staging *staging_of(const lap_stream_work *work, int i)
{
    lap_stream *s = work->stream;
    if (work->count == 1 || !work->on_device)
        return NULL;
    if (!s->small[i])
        (void)lap_device_staging_create(
            s->device, LAP_HOST_PINNED, LAP_DEVICE_SMALL_STAGING, &s->small[i], NULL);
    return s->small[i];
}

static void run_window(window *w, size_t first, lap_report *reports)
{
    for (int i = 0; i < w->count; i++) {
        lap_stream_photo *p = &w->photos[i];
        const size_t number = first + (size_t)i;
        *p = (lap_stream_photo){.work = w->work, .number = number, .staging = staging_of(w->work, i)};
        p->report = reports ? &reports[number] : &p->unread;
        *p->report = (lap_report){0};
    }
    each(w, begin);
    run_chains(w);
    each(w, finish);
}

static lap_code conclude(lap_stream_photo *p, lap_error *err)
{
    const lap_stream_work *work = p->work;
    const lap_view *view = work->pixels ? &work->pixels[p->number] : &work->views[p->number];
    return lap_view_conclude(p->code, &p->why, p->start, view, p->report, err);
}

lap_code lap_stream_photos(
    lap_stream_work *work, lap_code code, lap_error *why, lap_report *reports, lap_error *err)
{
    const size_t most = work->count < WINDOW ? work->count : WINDOW;
    window w = {.work = work, .photos = calloc(most ? most : 1, sizeof *w.photos)};
    const double start = lap_now_ms();
    if (code == LAP_OK && !w.photos)
        code = lap_fail(why, LAP_E_MEMORY, "out of memory");
    if (code != LAP_OK) {
        for (size_t i = 0; i < work->count && reports; i++) {
            reports[i] = (lap_report){0};
            (void)lap_report_conclude(code, why, NULL, start, &reports[i], NULL);
        }
        free(w.photos);
        return lap_report_conclude(code, why, NULL, start, NULL, err);
    }
    pthread_mutex_init(&work->lock, NULL);
    for (size_t first = 0; first < work->count; first += WINDOW) {
        w.count = work->count - first < WINDOW ? (int)(work->count - first) : WINDOW;
        run_window(&w, first, reports);
        for (int i = 0; i < w.count; i++) {
            const lap_code its = conclude(&w.photos[i], code == LAP_OK ? err : NULL);
            code = code == LAP_OK ? its : code;
        }
    }
    pthread_mutex_destroy(&work->lock);
    free(w.photos);
    return code;
}
