#include "run/stream_photos.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/params.h"
#include "base/pool.h"
#include "base/status.h"
#include "base/times.h"
#include "device/devices.h"

enum { WINDOW = LAP_DEVICE_CHAIN }; /* photos */

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
    /* After a failure the photo is processed alone, too, because that needs less memory. */
    if (lap_device_staging_plan(staging, wish, &handled, NULL) != LAP_OK || !handled ||
        (wish->head && !staging->is_encoded))
        return;
    const size_t needs = lap_device_slot_needs(staging);
    if (needs == 0 || needs > LAP_DEVICE_SMALL_BYTES)
        return;
    p->is_planned = !file || lap_device_staging_copy(staging, file, size, NULL) == LAP_OK;
}

/* ---- windows of photos -------------------------------------------------------------------------- */

typedef struct window {
    lap_stream_work *work;
    lap_stream_photo *photos;
    lap_device_staging **stagings;
    int count;
} window;

static void open_window(window *w, size_t first, lap_report *reports)
{
    const size_t left = w->work->count > first ? w->work->count - first : 0;
    w->count = left < WINDOW ? (int)left : WINDOW;
    for (int i = 0; i < w->count; i++) {
        lap_stream_photo *p = &w->photos[i];
        const size_t number = first + (size_t)i;
        *p = (lap_stream_photo){.work = w->work, .number = number};
        p->report = reports ? &reports[number] : &p->unread;
        *p->report = (lap_report){0};
    }
}

/* Returns the photo's staging. NULL: the photo is processed alone, for example because memory is lacking. */
static lap_device_staging *staging_of(const window *w, int i)
{
    lap_stream *s = w->work->stream;
    if (w->work->count == 1 || !w->work->on_device)
        return NULL;
    if (!w->stagings[i])
        (void)lap_device_staging_create(
            s->device, LAP_HOST_PINNED, LAP_DEVICE_SMALL_STAGING / LAP_STREAM_WINDOWS, &w->stagings[i], NULL);
    return w->stagings[i];
}

static void begin(const window *w, int i)
{
    lap_stream_work *work = w->work;
    const lap_control control = lap_context_control(work->stream->context, 0, 0);
    lap_stream_photo *p = &w->photos[i];
    p->staging = staging_of(w, i);
    p->start = lap_now_ms();
    p->code = lap_control_check(&control, &p->why);
    if (p->code == LAP_OK)
        p->code = work->begin(p, &p->why);
    p->begun = lap_now_ms();
}

static void run_chain(const window *w, lap_stream_photo *const photos[], int count)
{
    const lap_device_staging *stagings[LAP_DEVICE_CHAIN];
    lap_stream_work *work = w->work;
    lap_times ms = {0};
    for (int i = 0; i < count; i++)
        stagings[i] = photos[i]->staging;
    if (count == 0)
        return;
    pthread_mutex_lock(&work->lock);
    const lap_code code =
        lap_device_slot_run_chain(work->stream->own.slot, stagings, count, &work->filter, &ms, NULL);
    pthread_mutex_unlock(&work->lock);
    for (int i = 0; i < count && code == LAP_OK; i++) {
        photos[i]->is_chained = true;
        photos[i]->is_done = work->is_right(stagings[i]);
        lap_times_add(&photos[i]->report->ms, &ms);
    }
}

static void run_chains(const window *w)
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

static void finish(const window *w, int i)
{
    lap_stream_photo *p = &w->photos[i];
    p->code = w->work->finish(p, &p->why);
}

static lap_code conclude(const window *w, lap_code code, lap_error *err)
{
    const lap_stream_work *work = w->work;
    for (int i = 0; i < w->count; i++) {
        lap_stream_photo *p = &w->photos[i];
        const lap_view *view = work->pixels ? &work->pixels[p->number] : &work->views[p->number];
        const lap_code its =
            lap_view_conclude(p->code, &p->why, p->start, view, p->report, code == LAP_OK ? err : NULL);
        code = code == LAP_OK ? its : code;
    }
    return code;
}

/* ---- three windows in turn ---------------------------------------------------------------------- */

/* While the device runs the photos of one window, the host begins those of the next window and finishes those
 * of the previous one. */
typedef struct turn {
    const window *begins, *runs, *finishes;
    pthread_t caller;
    atomic_int next; /* index of the next photo: first those to finish, then those to begin */
} turn;

/* The caller's thread uses the device: its CUDA stream may be cudaStreamPerThread. */
static void take_part(void *argument)
{
    turn *t = argument;
    if (pthread_equal(pthread_self(), t->caller))
        run_chains(t->runs);
    for (;;) {
        const int i = atomic_fetch_add(&t->next, 1), place = i - t->finishes->count;
        if (place >= t->begins->count)
            return;
        if (place < 0)
            finish(t->finishes, i);
        else
            begin(t->begins, place);
    }
}

/* Runs on the context's threads; a single photo runs on this one, which may share its work with the
 * others. */
static void take_turn(const lap_stream_work *work, turn *t)
{
    lap_pool *pool = work->stream->context->pool;
    const int most = lap_pool_threads(pool), wanted = work->settings->threads;
    const int threads = wanted > 0 && wanted < most ? wanted : most;
    t->caller = pthread_self();
    lap_pool_team(pool, work->count > 1 ? threads : 1, take_part, t);
}

static lap_code take_turns(
    lap_stream_work *work, window windows[LAP_STREAM_WINDOWS], lap_report *reports, lap_error *err)
{
    const size_t count = (work->count + WINDOW - 1) / WINDOW;
    lap_code code = LAP_OK;
    for (size_t k = 0; work->count > 0 && k < count + 2; k++) {
        window *begins = &windows[k % LAP_STREAM_WINDOWS];
        turn t = {.begins = begins,
            .runs = &windows[(k + 2) % LAP_STREAM_WINDOWS],
            .finishes = &windows[(k + 1) % LAP_STREAM_WINDOWS]};
        open_window(begins, k * WINDOW, reports);
        take_turn(work, &t);
        code = conclude(t.finishes, code, err);
    }
    return code;
}

lap_code lap_stream_photos(
    lap_stream_work *work, lap_code code, lap_error *why, lap_report *reports, lap_error *err)
{
    const size_t most = work->count < WINDOW ? work->count : WINDOW;
    lap_stream_photo *photos = calloc(most ? LAP_STREAM_WINDOWS * most : 1, sizeof *photos);
    const double start = lap_now_ms();
    if (code == LAP_OK && !photos)
        code = lap_fail(why, LAP_E_MEMORY, "out of memory");
    if (code != LAP_OK) {
        for (size_t i = 0; i < work->count && reports; i++) {
            reports[i] = (lap_report){0};
            (void)lap_report_conclude(code, why, NULL, start, &reports[i], NULL);
        }
        free(photos);
        return lap_report_conclude(code, why, NULL, start, NULL, err);
    }
    window windows[LAP_STREAM_WINDOWS];
    for (int i = 0; i < LAP_STREAM_WINDOWS; i++)
        windows[i] = (window){.work = work, .photos = photos + i * most, .stagings = work->stream->small[i]};
    /* Photos of a batch also use other CUDA streams, and this stream from other threads. Those do not wait
     * for work that the caller has queued, so this call does. */
    if (work->count > 1 && work->on_device)
        (void)lap_stream_wait(work->stream, NULL);
    work->stream->is_short = false;
    pthread_mutex_init(&work->lock, NULL);
    code = take_turns(work, windows, reports, err);
    pthread_mutex_destroy(&work->lock);
    free(photos);
    return code;
}
