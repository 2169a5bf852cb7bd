/* lap_stream: a caller's CUDA stream, memory for work on it, and copies to and from the device. */
#include "device/device_stream.h"

#include <stdlib.h>

#include "base/status.h"
#include "cuda/device/device.h"

static lap_code make_stagings(lap_lane *lane, int device, lap_error *err)
{
    lap_code code = LAP_OK;
    if (!lane->pinned)
        code = lap_device_staging_create(device, LAP_HOST_PINNED, LAP_STREAM_PINNED, &lane->pinned, err);
    if (code == LAP_OK && !lane->paged)
        code = lap_device_staging_create(device, LAP_HOST_PAGED, 0, &lane->paged, err);
    return code;
}

static void free_lane(lap_lane *lane)
{
    lap_device_slot_destroy(lane->slot);
    lap_device_staging_destroy(lane->pinned);
    lap_device_staging_destroy(lane->paged);
    *lane = (lap_lane){0};
}

lap_code lap_stream_create(
    lap_context *context, int device, void *cuda_stream, lap_stream **stream, lap_error *err)
{
    const char *reason = NULL;
    const int count = lap_cuda_count(&reason);
    *stream = NULL;
    if (device < 0 || device >= count)
        return lap_fail(err, LAP_E_BACKEND, reason ? "CUDA device %d: %s" : "CUDA device %d does not exist",
            device, reason);
    lap_stream *s = calloc(1, sizeof *s);
    if (!s)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    *s = (lap_stream){.context = context, .device = device, .stream = cuda_stream};
    lap_code code = lap_device_slot_create_on(device, cuda_stream, &s->own.slot, err);
    if (code == LAP_OK)
        code = make_stagings(&s->own, device, err);
    if (code == LAP_OK) {
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->given, NULL);
        lap_cuda_kept_begin();
        *stream = s;
        return LAP_OK;
    }
    free_lane(&s->own);
    free(s);
    return code;
}

void lap_stream_destroy(lap_stream *s)
{
    if (!s)
        return;
    (void)lap_cuda_sync(s->device, s->stream, NULL);
    for (int i = 0; i < LAP_STREAM_WINDOWS * LAP_DEVICE_CHAIN; i++)
        lap_device_staging_destroy(s->small[i / LAP_DEVICE_CHAIN][i % LAP_DEVICE_CHAIN]);
    free_lane(&s->own);
    lap_stream_lanes_free(s);
    lap_views_space_free(&s->space);
    lap_cuda_kept_end();
    pthread_cond_destroy(&s->given);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

lap_code lap_stream_wait(lap_stream *s, lap_error *err)
{
    return lap_cuda_sync(s->device, s->stream, err);
}

/* ---- lanes ------------------------------------------------------------------------------------- */

static bool make_lane(lap_lane *lane, int device)
{
    return (lane->slot || lap_device_slot_create(device, &lane->slot, NULL) == LAP_OK) &&
           make_stagings(lane, device, NULL) == LAP_OK;
}

static lap_lane *idle_lane(lap_stream *s)
{
    for (int i = 0; i < LAP_STREAM_LANES && !s->is_short; i++)
        if (!s->lanes[i].is_taken)
            return &s->lanes[i];
    return NULL;
}

lap_lane *lap_stream_lane_take(lap_stream *s)
{
    pthread_mutex_lock(&s->lock);
    lap_lane *lane = idle_lane(s);
    while (!lane && !s->is_short) {
        pthread_cond_wait(&s->given, &s->lock);
        lane = idle_lane(s);
    }
    if (lane)
        lane->is_taken = true;
    pthread_mutex_unlock(&s->lock);
    if (!lane || make_lane(lane, s->device))
        return lane;
    lap_stream_lane_give(s, lane);
    return NULL;
}

void lap_stream_lane_give(lap_stream *s, lap_lane *lane)
{
    pthread_mutex_lock(&s->lock);
    lane->is_taken = false;
    pthread_cond_broadcast(&s->given);
    pthread_mutex_unlock(&s->lock);
}

void lap_stream_lanes_free(lap_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->is_short = true;
    pthread_cond_broadcast(&s->given); /* wakes all threads that wait for a lane */
    for (int i = 0; i < LAP_STREAM_LANES; i++) {
        while (s->lanes[i].is_taken)
            pthread_cond_wait(&s->given, &s->lock);
        free_lane(&s->lanes[i]);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- views ------------------------------------------------------------------------------------- */

static lap_code check_shape(int width, int height, int channels, int apron, lap_error *err)
{
    if (width >= 1 && width <= LAP_MAX_SIDE && height >= 1 && height <= LAP_MAX_SIDE && channels >= 1 &&
        channels <= 4 && (apron == 0 || apron == LAP_APRON))
        return LAP_OK;
    return lap_fail(err, LAP_E_USAGE, "a view cannot have %dx%d pixels, %d channels and apron %d", width,
        height, channels, apron);
}

lap_code lap_stream_check(const lap_stream *s, const lap_view *view, const char *which, lap_error *err)
{
    lap_code code = check_shape(view->width, view->height, view->channels, view->apron, err);
    if (code != LAP_OK)
        return code;
    if (!view->base || view->stride < (ptrdiff_t)view->width * view->channels)
        return lap_fail(err, LAP_E_USAGE, "%s has no pixels, or a stride of %td bytes for rows of %td", which,
            view->stride, (ptrdiff_t)view->width * view->channels);
    if (view->place == LAP_ON_HOST)
        return lap_fail(
            err, LAP_E_USAGE, "%s lies in host memory, the stream on device %d", which, s->device);
    if (view->place != s->device)
        return lap_fail(
            err, LAP_E_USAGE, "%s lies on device %d, the stream on device %d", which, view->place, s->device);
    return lap_views_check(view, which, err);
}

lap_code lap_stream_view_create(
    lap_stream *s, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    *view = (lap_view){0};
    lap_code code = check_shape(width, height, channels, apron, err);
    if (code != LAP_OK)
        return code;
    code = lap_cuda_view_take(s->device, width, height, channels, apron, s->stream, view, err);
    if (code == LAP_E_MEMORY) { /* idle lanes hold much memory: free them */
        lap_stream_lanes_free(s);
        code = lap_cuda_view_take(s->device, width, height, channels, apron, s->stream, view, err);
    }
    return code;
}

void lap_stream_view_destroy(lap_stream *s, lap_view *view)
{
    (void)s; /* queued work may still use the memory: see lap_cuda_kept_free */
    lap_cuda_view_give(view);
}

/* ---- copies and borders ------------------------------------------------------------------------ */

static lap_code copy(lap_stream *s, const lap_view *from, const lap_view *to, lap_error *err)
{
    if (from->place == LAP_ON_HOST)
        return lap_cuda_upload(from, to, s->stream, err);
    if (to->place == LAP_ON_HOST)
        return lap_cuda_download(from, to, s->stream, err);
    return lap_cuda_view_copy(from, to, s->stream, err);
}

lap_code lap_stream_copy(lap_stream *s, const lap_view *from, const lap_view *to, lap_error *err)
{
    const bool is_up = from->place == LAP_ON_HOST, is_down = to->place == LAP_ON_HOST;
    if (from->width != to->width || from->height != to->height || from->channels != to->channels)
        return lap_fail(err, LAP_E_USAGE, "cannot copy %dx%dx%d to %dx%dx%d", from->width, from->height,
            from->channels, to->width, to->height, to->channels);
    if (!from->base || !to->base || (is_up && is_down))
        return lap_fail(
            err, LAP_E_USAGE, "a copy needs two views with pixels, at least one of them on the device");
    lap_code code = is_up ? LAP_OK : lap_stream_check(s, from, "input", err);
    if (code == LAP_OK && !is_down)
        code = lap_stream_check(s, to, "output", err);
    if (code != LAP_OK)
        return code;
    code = copy(s, from, to, err);
    if (!is_up && !is_down)
        return code;
    /* Waits, so that the caller may use the host's pixels when this returns. */
    const lap_code waited = lap_cuda_sync(s->device, s->stream, code == LAP_OK ? err : NULL);
    return code == LAP_OK ? waited : code;
}

lap_code lap_stream_border(lap_stream *s, const lap_view *view, lap_border border, lap_error *err)
{
    lap_code code = lap_stream_check(s, view, "view", err);
    if (code == LAP_OK && view->apron != LAP_APRON)
        code = lap_fail(err, LAP_E_USAGE, "the view has no apron to fill");
    if (code == LAP_OK && !lap_border_name(border))
        code = lap_fail(err, LAP_E_USAGE, "unknown border %d", (int)border);
    return code == LAP_OK ? lap_cuda_border(view, border, s->stream, err) : code;
}
