#include "run/async_run.h"

#include <string.h>

#include "base/status.h"
#include "jpeg/jpeg_scan.h"
#include "run/formats.h"

void lap_async_run_close(lap_async_run *r)
{
    lap_decoder_close(r->photo.decoder);
    r->photo.decoder = NULL;
    lap_chunk_free(&r->header);
    lap_source_close(r->photo.source);
    r->photo.source = NULL;
}

/* Whether the CPU would take more memory than it may: then it is to say so. */
static bool is_large(const lap_async_run *r)
{
    enum { IMAGES = 3 };
    const lap_plan *plan = &r->photo.plan;
    size_t bytes;
    return !lap_mul((size_t)plan->width * (size_t)plan->channels, (size_t)plan->height, &bytes) ||
           !lap_mul(bytes, IMAGES, &bytes) || !lap_add(bytes, r->staging->file_bytes, &bytes) ||
           (plan->max_memory && bytes > plan->max_memory);
}

/* The file's bytes, in the staging. Trouble with the file is not for the device. */
static lap_code read_file(lap_async_run *r, bool *handled, lap_error *err)
{
    lap_error unread;
    bool whole = false;
    lap_source **source = &r->photo.source;
    if (lap_source_open(r->in, source, &unread) != LAP_OK)
        return LAP_OK;
    const struct stat *st = lap_source_stat(*source);
    if (!st || !S_ISREG(st->st_mode) || st->st_size < 4 || (uint64_t)st->st_size > LAP_SOURCE_MOST)
        return LAP_OK;
    const size_t room = (size_t)st->st_size + 1; /* one more byte: the end shows */
    lap_code code = lap_device_staging_file(r->staging, room, err);
    if (code != LAP_OK)
        return code;
    uint8_t *bytes = r->staging->file.bytes;
    if (lap_source_hold_in(*source, bytes, room, &r->staging->file_bytes, &whole, &unread) == LAP_OK)
        *handled = whole && lap_jpeg_probe(bytes, r->staging->file_bytes);
    return LAP_OK;
}

/* The header, as the CPU reads it; whatever it has to say against it, the CPU says. */
static bool read_header(lap_async_run *r)
{
    lap_error unread;
    if (lap_photo_open(&r->photo, &unread) != LAP_OK)
        return false;
    return r->photo.decoder->damage.warnings == 0 && !is_large(r);
}

static lap_code plan(lap_async_run *r, bool *handled, lap_error *err)
{
    lap_jpeg_parts parts;
    lap_error unread;
    const lap_plan *plan = &r->photo.plan;
    const lap_device_wish wish = {.gray = plan->gray,
        .turn = plan->turn,
        .parts = r->is_written ? &parts : NULL,
        .counts = !r->is_written || r->settings.stats};
    *handled = false;
    if (r->is_written && lap_jpeg_parts_make(&plan->write, &parts, &unread) != LAP_OK)
        return LAP_OK;
    if (r->is_written)
        r->header = parts.header;
    lap_code code = lap_device_staging_plan(r->staging, &wish, handled, err);
    *handled = *handled && code == LAP_OK && r->staging->width == plan->width &&
               r->staging->height == plan->height && r->staging->channels == plan->channels;
    return code;
}

/* Whether a device gives what the settings ask for. */
static bool plan_settings(lap_async_run *r, const lap_run_order *order, const lap_rung *rung)
{
    lap_error unread;
    lap_plan *plan = &r->photo.plan;
    r->settings = *order->settings;
    r->settings.format = lap_format_name(LAP_FORMAT_NOTHING);
    if (r->is_written && lap_run_with_format(order->settings, order->out, &r->settings, &unread) != LAP_OK)
        return false;
    r->settings.backend = rung->name;
    r->settings.codec = LAP_CODEC_AUTO;
    const bool is_planned = lap_plan_settings(plan, &r->settings, 1, &unread) == LAP_OK;
    plan->backend = order->settings->backend;
    return is_planned && plan->on_device && (!r->is_written || plan->encodes_there);
}

lap_code lap_async_run_load(lap_async_run *r, const lap_run_order *order, const lap_rung *rung,
    lap_device_staging *staging, bool *handled, lap_error *err)
{
    *handled = false;
    *r = (lap_async_run){
        .in = order->in, .staging = staging, .began_ms = lap_now_ms(), .is_written = order->out != NULL};
    r->control = lap_context_control(order->context, order->settings->timeout_s, r->began_ms);
    r->photo = (lap_photo){.context = order->context,
        .settings = &r->settings,
        .control = &r->control,
        .device = {.decoded = true, .encoded = true}};
    if (!plan_settings(r, order, rung))
        return LAP_OK;
    lap_code code = read_file(r, handled, err);
    if (code == LAP_OK && *handled) {
        *handled = read_header(r);
        if (*handled)
            code = plan(r, handled, err);
    }
    if (code == LAP_E_LIMIT) { /* more pinned memory than the staging may take */
        *handled = false;
        code = LAP_OK;
    }
    lap_decoder_close(r->photo.decoder);
    r->photo.decoder = NULL;
    if (code == LAP_OK && *handled) {
        lap_source_held_is_read(r->photo.source);
        r->photo.ms.decode += lap_source_ms(r->photo.source); /* parted off again in the report */
    } else {
        lap_async_run_close(r);
    }
    return code;
}

void lap_async_run_restart(lap_async_run *r)
{
    const double now = lap_now_ms();
    if (r->control.deadline_ms > 0)
        r->control.deadline_ms += now - r->began_ms;
    r->began_ms = now;
}

bool lap_async_run_is_done(const lap_async_run *r)
{
    return lap_device_staging_is_done(r->staging);
}

static lap_code stats_of(const lap_async_run *r, int threshold, lap_run_stats *stats, lap_error *err)
{
    const lap_device_staging *s = r->staging;
    lap_code code = lap_stats_of_counts(s->counts[0], s->channels, threshold, &stats->input, err);
    return code == LAP_OK ? lap_stats_of_counts(s->counts[1], s->channels, threshold, &stats->edges, err)
                          : code;
}

static lap_code write_file(lap_async_run *r, lap_report *report, lap_error *err)
{
    lap_photo *p = &r->photo;
    double start = lap_now_ms();
    lap_code code =
        lap_photo_write_jpeg(p->sink, &r->header, r->staging->scan.bytes, r->staging->encoded->bytes, err);
    p->ms.encode += lap_now_ms() - start; /* likewise */
    lap_photo_report(p, report);
    if (code != LAP_OK)
        return code;
    start = lap_now_ms();
    code = lap_sink_finish(
        p->sink, r->settings.sync, r->settings.preserve ? lap_source_stat(p->source) : NULL, err);
    report->ms.write += lap_now_ms() - start;
    report->bytes_out = lap_sink_bytes(p->sink);
    return code;
}

lap_code lap_async_run_store(lap_async_run *r, const lap_run_order *order, struct stat *read, lap_sink **sink,
    lap_report *report, lap_error *err)
{
    lap_photo *p = &r->photo;
    lap_error why = {0};
    *report = (lap_report){0};
    lap_code code = lap_control_check(&r->control, &why);
    if (code == LAP_OK)
        code = lap_sink_open_below(order->tree, order->out, &p->sink, &why);
    if (code == LAP_OK)
        code = write_file(r, report, &why);
    if (code == LAP_OK && r->settings.stats)
        code = stats_of(r, r->settings.params.threshold, r->settings.stats, &why);
    if (code == LAP_OK)
        code = lap_source_verify(p->source, NULL, &why);
    if (code == LAP_OK && read)
        *read = *lap_source_stat(p->source);
    if (code != LAP_OK)
        lap_sink_close(p->sink);
    *sink = code == LAP_OK ? p->sink : NULL;
    p->sink = NULL;
    return lap_run_conclude(code, &why, r->in, r->began_ms, report, err);
}

lap_code lap_async_run_measure(lap_async_run *r, const lap_measure_options *options, lap_measurement *m,
    lap_report *report, lap_error *err)
{
    const lap_plan *plan = &r->photo.plan;
    lap_error why = {0};
    *report = (lap_report){0};
    *m = (lap_measurement){.width = plan->width,
        .height = plan->height,
        .channels = plan->channels,
        .resolved = plan->rung->name};
    lap_code code = lap_control_check(&r->control, &why);
    if (code == LAP_OK)
        code = stats_of(r, options->threshold, &m->stats, &why);
    if (code == LAP_OK)
        code = lap_source_verify(r->photo.source, NULL, &why);
    lap_photo_report(&r->photo, report);
    return lap_run_conclude(code, &why, r->in, r->began_ms, report, err);
}
