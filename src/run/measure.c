/* lap_measure_file: computes statistics and profiles of a picture and its edges, without writing the
 * edges. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "run/photo.h"
#include "run/run.h"
#include "run/settings.h"

void lap_measurement_free(lap_measurement *measurement)
{
    free(measurement->rows);
    free(measurement->columns);
    free(measurement->note);
    measurement->rows = measurement->columns = NULL;
    measurement->note = NULL;
}

/* Runs the photo with an encoder that writes nothing. A device, if chosen, decodes and counts. */
static lap_code measure_bands(
    const lap_run_order *order, int threshold, lap_measurement *m, lap_report *report, lap_error *err)
{
    lap_photo p = lap_photo_of(order, lap_now_ms());
    p.counts = calloc(1, sizeof *p.counts);
    lap_code code = p.counts ? lap_source_open(order->in, &p.source, err)
                             : lap_fail(err, LAP_E_MEMORY, "out of memory for statistics");
    if (code == LAP_OK)
        code = lap_photo_run(&p, report, err);
    if (code == LAP_OK)
        code = lap_photo_stats(p.counts, p.channels, threshold, &m->stats, err);
    code = lap_source_result(p.source, NULL, code, err);
    m->width = report->width;
    m->height = report->height;
    m->channels = report->channels;
    m->resolved = report->resolved;
    m->note = report->note[0] ? strdup(report->note) : NULL;
    free(p.counts);
    lap_source_close(p.source);
    return code;
}

typedef struct picture { /* a file's pixels, and their edges */
    lap_pixels *pixels;
    lap_image edges;
} picture;

/* Decodes a file and filters all of it with the backend of the settings. */
static lap_code open_picture(
    const lap_run_order *order, const lap_settings *settings, picture *p, lap_error *err)
{
    lap_code code = lap_pixels_read(order->context, order->in, settings, &p->pixels, err);
    if (code != LAP_OK)
        return code;
    const lap_view *in = lap_pixels_view(p->pixels);
    code = lap_image_create(&p->edges, in->width, in->height, in->channels, 0, err);
    if (code == LAP_OK)
        code = lap_filter(
            order->context, in, &p->edges.view, settings->backend, &settings->params, settings->border, err);
    return code;
}

static void close_picture(picture *p)
{
    lap_image_destroy(&p->edges);
    lap_pixels_free(p->pixels);
}

/* Cuts `mask` pixels off each side of the view; false if nothing is left. */
static bool inside(const lap_view *view, int mask, lap_view *inner)
{
    if (mask > (view->width - 1) / 2 || mask > (view->height - 1) / 2)
        return false;
    *inner = lap_view_inset(view, mask);
    return true;
}

static lap_code measure_whole(const lap_run_order *order, const lap_measure_options *options,
    const lap_rung *rung, lap_measurement *m, lap_report *report, lap_error *err)
{
    lap_context *context = order->context;
    const int device = order->settings->device, threshold = options->threshold;
    const char *counter = lap_rung_companion(LAP_OP_HISTOGRAM, rung);
    picture p = {0};
    lap_code code = open_picture(order, order->settings, &p, err);
    if (code == LAP_OK)
        lap_pixels_warn(p.pixels, false, report);
    if (code == LAP_OK)
        code = lap_stats_of_view(
            context, lap_pixels_view(p.pixels), counter, device, threshold, &m->stats.input, err);
    const lap_view *edges = &p.edges.view;
    lap_view inner;
    if (code == LAP_OK && inside(edges, options->mask_border, &inner))
        code = lap_stats_of_view(context, &inner, counter, device, threshold, &m->stats.edges, err);
    m->width = edges->width;
    m->height = edges->height;
    m->channels = edges->channels;
    m->resolved = rung->name;
    m->note = code == LAP_OK && lap_pixels_note(p.pixels)[0] ? strdup(lap_pixels_note(p.pixels)) : NULL;
    close_picture(&p);
    return code;
}

/* Decides by the number of weights whether they are for rows, for columns or for both. LAP_E_USAGE if the
 * number is not the height, the width or their sum. */
static lap_code split_weights(const char *in, const lap_measure_options *options, const lap_view *plane,
    const float **row, const float **column, lap_error *err)
{
    const size_t width = (size_t)plane->width, height = (size_t)plane->height, n = options->weight_count;
    *row = *column = NULL;
    if (!options->weights)
        return LAP_OK;
    if (n == width + height) {
        *row = options->weights;
        *column = options->weights + width;
        return LAP_OK;
    }
    if (n != width && n != height)
        return lap_fail_at(err, LAP_E_USAGE, in,
            "%zu weights: expected %zu (for rows), %zu (for columns) or %zu (both)", n, width, height,
            width + height);
    if (n == width)
        *row = options->weights;
    if (n == height)
        *column = options->weights;
    return LAP_OK;
}

static lap_code profiles_of(
    const lap_run_order *order, const lap_measure_options *options, lap_measurement *m, lap_error *err)
{
    lap_settings luma = *order->settings;
    picture p = {0};
    const lap_view *edges = &p.edges.view;
    const float *row_weights, *column_weights;
    luma.gray = true;
    if (!strcmp(order->in, "-"))
        return lap_fail(
            err, LAP_E_USAGE, "profiles are made in a second pass: name a file, not standard input");
    lap_code code = open_picture(order, &luma, &p, err);
    if (code == LAP_OK)
        code = split_weights(order->in, options, edges, &row_weights, &column_weights, err);
    if (code == LAP_OK) {
        m->rows = calloc((size_t)edges->height, sizeof *m->rows);
        m->columns = calloc((size_t)edges->width, sizeof *m->columns);
        code = m->rows && m->columns ? lap_profiles(order->context, edges, row_weights, column_weights,
                                           m->rows, m->columns, err)
                                     : lap_fail(err, LAP_E_MEMORY, "out of memory for profiles");
    }
    close_picture(&p);
    return code;
}

static lap_code measure(const lap_run_order *order, const lap_measure_options *options, lap_measurement *m,
    lap_report *report, lap_error *err)
{
    const lap_rung *rung = NULL;
    *m = (lap_measurement){0};
    lap_code code = lap_settings_check(order->settings, err);
    if (code == LAP_OK)
        code = lap_rung_find(LAP_OP_FILTER, order->settings->backend, &rung, err);
    if (code == LAP_OK && options->mask_border < 0)
        code = lap_fail(err, LAP_E_USAGE, "a border of %d pixels cannot be left out", options->mask_border);
    if (code == LAP_OK)
        code = options->mask_border == 0 ? measure_bands(order, options->threshold, m, report, err)
                                         : measure_whole(order, options, rung, m, report, err);
    m->mask_border = options->mask_border;
    if (code == LAP_OK && options->profiles)
        code = profiles_of(order, options, m, err);
    if (code != LAP_OK)
        lap_measurement_free(m);
    return code;
}

/* subject: the input's name in errors; or NULL. */
static lap_code measure_about(const lap_run_order *order, const char *subject,
    const lap_measure_options *options, lap_measurement *m, lap_report *report, lap_error *err)
{
    const double start = lap_now_ms();
    lap_error why = {0};
    *report = (lap_report){0};
    const lap_code code = measure(order, options, m, report, &why);
    report->width = m->width;
    report->height = m->height;
    report->channels = m->channels;
    report->resolved = m->resolved;
    return lap_report_conclude(code, &why, subject, start, report, err);
}

lap_code lap_measure_to(const lap_run_order *order, const lap_measure_options *options, lap_measurement *m,
    lap_report *report, lap_error *err)
{
    return measure_about(order, order->in, options, m, report, err);
}

lap_code lap_measure_report(lap_context *context, const char *in, const lap_settings *given,
    const lap_measure_options *options, lap_measurement *m, lap_report *report, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    const lap_run_order order = {.context = context, .in = in, .settings = settings};
    return measure_about(&order, NULL, options, m, report, err);
}

lap_code lap_measure_file(lap_context *context, const char *in, const lap_settings *given,
    const lap_measure_options *options, lap_measurement *m, lap_error *err)
{
    lap_report report;
    return lap_measure_report(context, in, given, options, m, &report, err);
}
