#include "ops/ops.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "rungs/run_rung.h"
#include "rungs/run_views.h"

/* ---- from counts ------------------------------------------------------------------------------- */

/* The sum of squares is below 2^48 * 2^16; multiplied by count, it needs 128 bits. */
static const uint64_t max_samples = (uint64_t)1 << 48;
typedef unsigned __int128 wide;

static int percentile(const lap_channel_stats *s, unsigned percent)
{
    uint64_t reached = 0;
    for (int v = s->min; v < s->max; v++) {
        reached += s->histogram[v];
        if ((wide)reached * 100 >= (wide)s->count * percent)
            return v;
    }
    return s->max;
}

/* Computes the figures of s from its histogram. They must still be 0. */
static void describe(lap_channel_stats *s, int threshold)
{
    uint64_t squares = 0, above = 0;
    s->min = 255;
    for (int v = 0; v < 256; v++) {
        const uint64_t n = s->histogram[v];
        if (n == 0)
            continue;
        s->min = v < s->min ? v : s->min;
        s->max = v;
        s->count += n;
        s->sum += n * (uint64_t)v;
        squares += n * (uint64_t)(v * v);
        if (v >= threshold)
            above += n;
    }
    const double count = (double)s->count;
    s->mean = (double)s->sum / count;
    /* count^2 times the variance is an integer and is computed exactly, so no digits cancel. */
    s->stddev = sqrt((double)((wide)s->count * squares - (wide)s->sum * s->sum)) / count;
    for (int v = s->min; v <= s->max; v++) {
        const double share = (double)s->histogram[v] / count;
        if (share > 0)
            s->entropy -= share * log2(share);
    }
    s->p1 = percentile(s, 1);
    s->p50 = percentile(s, 50);
    s->p99 = percentile(s, 99);
    s->above = threshold >= 0 ? (double)above / count : NAN;
}

lap_code lap_stats_of_counts(
    uint64_t counts[4][256], int channels, int threshold, lap_stats *stats, lap_error *err)
{
    static const char *const names[] = {"red", "green", "blue", "alpha"};
    if (channels < 1 || channels > 4 || threshold < -1 || threshold > 255)
        return lap_fail(err, LAP_E_USAGE, "cannot compute statistics of %d channels with threshold %d",
            channels, threshold);
    *stats = (lap_stats){.channels = channels, .threshold = threshold};
    for (int c = 0; c < channels; c++) {
        uint64_t samples = 0;
        for (int v = 0; v < 256; v++)
            samples = counts[c][v] < max_samples ? samples + counts[c][v] : max_samples;
        if (samples == 0 || samples >= max_samples)
            return lap_fail(
                err, LAP_E_USAGE, "cannot compute statistics of %s samples", samples ? "too many" : "no");
        lap_channel_stats *s = &stats->channel[c];
        s->name = channels >= 3 ? names[c] : c == 0 ? "gray" : "alpha";
        memcpy(s->histogram, counts[c], sizeof s->histogram);
        describe(s, threshold);
    }
    return LAP_OK;
}

/* ---- counting ---------------------------------------------------------------------------------- */

lap_code lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space, void *stream,
    uint64_t counts[4][256], lap_error *err)
{
    const lap_rung *rung;
    lap_code code = lap_rung_find_on_device(LAP_OP_HISTOGRAM, backend, view->place, &rung, err);
    if (code == LAP_OK)
        code = lap_views_check(view, "pixels", err);
    return code == LAP_OK ? lap_views_histogram(rung, space, view, counts, stream, err) : code;
}

static lap_code count_there(
    const lap_view *view, const char *backend, int device, uint64_t counts[4][256], lap_error *err)
{
    lap_views_space space = {0};
    if (device != view->place)
        return lap_fail(err, LAP_E_USAGE, "the pixels lie on device %d, and cannot be counted on device %d",
            view->place, device);
    lap_code code = lap_count_on_device(view, backend, &space, NULL, counts, err);
    lap_views_space_free(&space);
    return code;
}

static lap_code count_here(lap_context *context, const lap_view *view, const char *backend, int device,
    uint64_t counts[4][256], lap_error *err)
{
    const lap_rung *rung;
    lap_code code = lap_rung_find(LAP_OP_HISTOGRAM, backend, &rung, err);
    const lap_resources use = {
        .exec = {.threads = context->threads, .err = err}, .pool = context->pool, .device = device};
    return code == LAP_OK ? lap_rung_histogram(rung, &use, view, counts) : code;
}

lap_code lap_stats_of_view(lap_context *context, const lap_view *view, const char *backend, int device,
    int threshold, lap_stats *stats, lap_error *err)
{
    uint64_t counts[4][256] = {0};
    if (!view->base || view->place < LAP_ON_HOST || view->width < 1 || view->height < 1 ||
        view->channels < 1 || view->channels > 4)
        return lap_fail(err, LAP_E_USAGE,
            "cannot compute statistics of a view of %dx%d pixels with %d channels", view->width, view->height,
            view->channels);
    lap_code code = view->place == LAP_ON_HOST ? count_here(context, view, backend, device, counts, err)
                                               : count_there(view, backend, device, counts, err);
    return code == LAP_OK ? lap_stats_of_counts(counts, view->channels, threshold, stats, err) : code;
}
