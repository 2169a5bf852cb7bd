#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/control.h"
#include "base/status.h"
#include "io/map64.h"
#include "run/lossless.h"
#include "run/photo.h"
#include "run/settings.h"

const char *lap_status_name(lap_status status)
{
    static const char *const names[] = {"ok", "warned", "skipped", "failed"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

/* Runs the photo from source to finished sink; the caller closes both. */
static lap_code source_to_sink(lap_photo *p, lap_report *report, lap_error *err)
{
    const bool counts = p->settings.stats != NULL;
    p->counts = counts ? calloc(1, sizeof *p->counts) : NULL;
    lap_code code = counts && !p->counts ? lap_fail(err, LAP_E_MEMORY, "out of memory") : LAP_OK;
    if (code == LAP_OK)
        code = lap_photo_run(p, report, err);
    if (code == LAP_OK)
        code = lap_photo_store(p, report, err);
    free(p->counts);
    return code;
}

/* Opens source and sink, and fills in the format. */
static lap_code open_ends(lap_photo *p, const lap_run_order *order, lap_error *err)
{
    lap_code code = lap_settings_check(order->settings, err);
    if (code == LAP_OK)
        code = lap_source_open(order->in, &p->source, err); /* first, so that a missing input is reported
                                                               first */
    if (code == LAP_OK)
        code = lap_error_about(err, lap_settings_with_format(order->settings, order->out, &p->settings, err),
            order->settings->in_place ? order->in : order->out);
    if (code == LAP_OK)
        code = order->tree ? lap_sink_open_below(order->tree, order->out, &p->sink, err)
                           : lap_sink_open(order->out, &p->control, &p->sink, err);
    return code;
}

/* *sink: NULL on failure. */
static lap_code file_to_sink(const lap_run_order *order, double start, struct stat *read, lap_sink **sink,
    lap_report *report, lap_error *err)
{
    lap_photo p = lap_photo_of(order, start);
    lap_code code = open_ends(&p, order, err);
    if (code == LAP_OK)
        code = source_to_sink(&p, report, err);
    /* The last check of the source before publishing; a sync, which may take long, is already done. */
    code = lap_source_result(p.source, p.settings.in_place ? order->in : NULL, code, err);
    if (code == LAP_OK && read && lap_source_stat(p.source))
        *read = *lap_source_stat(p.source);
    lap_source_close(p.source);
    if (code != LAP_OK)
        lap_sink_close(p.sink);
    *sink = code == LAP_OK ? p.sink : NULL;
    return code;
}

lap_code lap_run_to_sink(
    const lap_run_order *order, struct stat *read, lap_sink **sink, lap_report *report, lap_error *err)
{
    const double start = lap_now_ms();
    lap_error why = {0};
    *report = (lap_report){0};
    const lap_code code = file_to_sink(order, start, read, sink, report, &why);
    return lap_report_conclude(code, &why, order->in, start, report, err);
}

/* Removes temporary files that a killed run left in this output's folder. Looks through each folder once, not
 * once per file. */
static void sweep(lap_context *context, const char *out)
{
    char *folder = lap_sink_folder(out);
    if (!folder)
        return;
    uint64_t key = lap_map64_name_key(folder);
    if (atomic_exchange(&context->swept, key) != key)
        lap_sink_sweep(folder);
    free(folder);
}

static bool keeps_what_is_there(const char *out, const lap_settings *settings)
{
    return settings->no_clobber && strcmp(out, "-") != 0;
}

/* LAP_OK if the output may be written at this path. */
static lap_code check_out(const char *in, const char *out, const lap_settings *settings, lap_error *err)
{
    struct stat there;
    const lap_code code = settings->in_place ? LAP_OK : lap_sink_differs(in, out, err);
    if (code != LAP_OK || !keeps_what_is_there(out, settings) || lstat(out, &there) != 0)
        return code;
    return lap_sink_exists(out, err);
}

lap_code lap_run_file(lap_context *context, const char *in, const char *out, const lap_settings *given,
    lap_report *report, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    double start = lap_now_ms();
    lap_error why = {0};
    lap_report unread;
    lap_sink *sink = NULL;
    if (!report)
        report = &unread;
    *report = (lap_report){0};
    const lap_run_order order = {.context = context, .in = in, .out = out, .settings = settings};
    lap_code code = check_out(in, out, settings, &why);
    if (code == LAP_OK)
        sweep(context, out);
    if (code == LAP_OK)
        code = file_to_sink(&order, start, NULL, &sink, report, &why);
    if (code == LAP_OK) {
        double before = lap_now_ms();
        if (keeps_what_is_there(out, settings))
            lap_sink_expect(sink, NULL);
        code = lap_sink_publish(sink, &why);
        report->ms.write += lap_now_ms() - before;
    }
    lap_sink_close(sink);
    return lap_report_conclude(code, &why, in, start, report, err);
}

lap_code lap_run_check_backend(const lap_settings *settings, lap_error *err)
{
    lap_plan plan;
    lap_code code = lap_libraries_check(err);
    if (code == LAP_OK)
        code = lap_lossless_check(settings, err);
    return code == LAP_OK ? lap_plan_settings(&plan, settings, NULL, 1, err) : code;
}

lap_code lap_run_check(const char *in, const char *out, const lap_settings *given, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    lap_source *source = NULL;
    lap_settings full;
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK)
        code = check_out(in, out, settings, err);
    if (code == LAP_OK)
        code = lap_source_open(in, &source, err);
    if (code == LAP_OK)
        code = lap_error_about(err, lap_settings_with_format(settings, out, &full, err), out);
    if (code == LAP_OK)
        code = lap_run_check_backend(settings, err);
    if (code == LAP_OK)
        code = lap_sink_check(out, err);
    lap_source_close(source);
    return code;
}

lap_code lap_run_memory(lap_context *context, const void *in, size_t in_size, void **out, size_t *out_size,
    const lap_settings *given, lap_report *report, lap_error *err)
{
    lap_settings settings = lap_settings_complete(given);
    double start = lap_now_ms();
    lap_error why = {0};
    lap_report unread;
    if (!settings.format)
        settings.format = "jpg";
    lap_photo p = lap_photo_of(&(lap_run_order){.context = context, .out = "", .settings = &settings}, start);
    if (!report)
        report = &unread;
    *report = (lap_report){0};
    *out = NULL;
    *out_size = 0;
    lap_code code = lap_settings_check(&settings, &why);
    if (code == LAP_OK)
        code = lap_source_memory(in, in_size, "input", &p.source, &why);
    if (code == LAP_OK)
        code = lap_sink_memory(&p.sink, &why);
    if (code == LAP_OK)
        code = source_to_sink(&p, report, &why);
    if (code == LAP_OK)
        lap_sink_take(p.sink, out, out_size);
    lap_sink_close(p.sink);
    lap_source_close(p.source);
    return lap_report_conclude(code, &why, "input", start, report, err);
}
