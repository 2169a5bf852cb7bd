#include "run/async_run.h"

#include <string.h>

#include "base/status.h"
#include "jpeg/jpeg_scan.h"
#include "run/formats.h"
#include "run/pipeline_ends.h"
#include "run/run.h"

/* A larger file is decoded on the CPU as it is read. */
static const off_t most_bytes = (off_t)1 << 30;

void lap_async_run_close(lap_async_run *f)
{
    lap_decoder_close(f->pipe.decoder);
    f->pipe.decoder = NULL;
    lap_chunk_free(&f->header);
    lap_source_close(f->source);
    f->source = NULL;
}

/* Whether the CPU would take more memory than it may: then it is to say so. */
static bool is_large(const lap_async_run *f)
{
    enum { IMAGES = 3 };
    size_t bytes;
    const uint64_t limit = f->settings.max_memory;
    return !lap_mul((size_t)f->pipe.width * (size_t)f->pipe.channels, (size_t)f->pipe.height, &bytes) ||
           !lap_mul(bytes, IMAGES, &bytes) || !lap_add(bytes, f->staging->file_bytes, &bytes) ||
           (limit && bytes > limit);
}

/* The file's bytes, in the staging. Trouble with the file is not for the device. */
static lap_code read_file(lap_async_run *f, bool *mine, lap_error *err)
{
    lap_error unread;
    bool whole = false;
    if (lap_source_open(f->in, &f->source, &unread) != LAP_OK)
        return LAP_OK;
    const struct stat *st = lap_source_stat(f->source);
    if (!st || !S_ISREG(st->st_mode) || st->st_size < 4 || st->st_size > most_bytes)
        return LAP_OK;
    const size_t room = (size_t)st->st_size + 1; /* one more byte: the end shows */
    lap_code code = lap_device_staging_file(f->staging, room, err);
    if (code != LAP_OK)
        return code;
    if (lap_source_hold_in(
            f->source, f->staging->file.bytes, room, &f->staging->file_bytes, &whole, &unread) == LAP_OK)
        *mine = whole && lap_jpeg_probe(f->staging->file.bytes, f->staging->file_bytes);
    return LAP_OK;
}

/* The header, as the CPU reads it; whatever it has to say against it, the CPU says. */
static bool read_header(lap_async_run *f)
{
    lap_error unread;
    lap_pipeline *pipe = &f->pipe;
    if (lap_pipeline_open_decoder(pipe, f->source, &unread) != LAP_OK)
        return false;
    return pipe->decoder->damage.warnings == 0 && !is_large(f);
}

static lap_code plan(lap_async_run *f, bool *mine, lap_error *err)
{
    lap_jpeg_parts parts;
    lap_error unread;
    lap_pipeline *pipe = &f->pipe;
    const lap_device_wish wish = {.gray = f->settings.gray,
        .turn = pipe->turn,
        .parts = f->is_written ? &parts : NULL,
        .counts = !f->is_written || f->settings.stats};
    *mine = false;
    lap_pipeline_plan_output(pipe);
    if (f->is_written && lap_jpeg_parts_make(&pipe->write, &parts, &unread) != LAP_OK)
        return LAP_OK;
    if (f->is_written)
        f->header = parts.header;
    lap_code code = lap_device_staging_plan(f->staging, &wish, mine, err);
    *mine = *mine && code == LAP_OK && f->staging->width == pipe->width &&
            f->staging->height == pipe->height && f->staging->channels == pipe->channels;
    return code;
}

/* Whether a device gives what the settings ask for. */
static bool plan_settings(lap_async_run *f, const char *out, const lap_settings *settings)
{
    lap_error unread;
    f->is_written = out != NULL;
    f->settings = *settings;
    f->settings.format = LAP_FORMAT_NONE;
    if (!f->is_written)
        return true;
    return lap_run_with_format(settings, out, &f->settings, &unread) == LAP_OK &&
           strcmp(lap_format_find(f->settings.format), "jpg") == 0 && !settings->progressive &&
           !settings->optimize;
}

lap_code lap_async_run_load(lap_async_run *f, lap_context *context, const char *in, const char *out,
    const lap_settings *settings, const lap_rung *rung, lap_device_staging *staging, bool *mine,
    lap_error *err)
{
    *mine = false;
    *f = (lap_async_run){.in = in, .staging = staging, .began_ms = lap_now_ms()};
    if (!plan_settings(f, out, settings))
        return LAP_OK;
    f->control = lap_context_control(context, settings->timeout_s, f->began_ms);
    f->pipe = (lap_pipeline){.settings = &f->settings,
        .control = &f->control,
        .pool = context->pool,
        .rung = rung,
        .device = {.is_taken = true, .decoded = true, .encoded = true}};
    lap_code code = read_file(f, mine, err);
    if (code == LAP_OK && *mine) {
        *mine = read_header(f);
        if (*mine)
            code = plan(f, mine, err);
    }
    if (code == LAP_E_LIMIT) { /* more pinned memory than the staging may take */
        *mine = false;
        code = LAP_OK;
    }
    lap_decoder_close(f->pipe.decoder);
    f->pipe.decoder = NULL;
    if (code == LAP_OK && *mine) {
        lap_source_held_is_read(f->source);
        f->pipe.ms.decode += lap_source_ms(f->source); /* parted off again in the report */
    } else {
        lap_async_run_close(f);
    }
    return code;
}

void lap_async_run_restart(lap_async_run *f)
{
    const double now = lap_now_ms();
    if (f->control.deadline_ms > 0)
        f->control.deadline_ms += now - f->began_ms;
    f->began_ms = now;
}

bool lap_async_run_is_done(const lap_async_run *f)
{
    return lap_device_staging_is_done(f->staging);
}

static lap_code stats_of(const lap_async_run *f, int threshold, lap_run_stats *stats, lap_error *err)
{
    const lap_device_staging *s = f->staging;
    lap_code code = lap_stats_of_counts(s->counts[0], s->channels, threshold, &stats->input, err);
    return code == LAP_OK ? lap_stats_of_counts(s->counts[1], s->channels, threshold, &stats->edges, err)
                          : code;
}

static lap_code write_file(lap_async_run *f, lap_sink *sink, lap_report *report, lap_error *err)
{
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    double start = lap_now_ms();
    lap_code code = lap_sink_write(sink, f->header.data, f->header.size, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, f->staging->scan.bytes, f->staging->encoded->bytes, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, end_of_image, sizeof end_of_image, err);
    f->pipe.ms.encode += lap_now_ms() - start; /* likewise */
    lap_pipeline_report(&f->pipe, f->source, sink, report);
    if (code != LAP_OK)
        return code;
    start = lap_now_ms();
    code = lap_sink_finish(
        sink, f->settings.sync, f->settings.preserve ? lap_source_stat(f->source) : NULL, err);
    report->ms.write += lap_now_ms() - start;
    report->bytes_out = lap_sink_bytes(sink);
    return code;
}

lap_code lap_async_run_store(lap_async_run *f, const lap_tree *tree, const char *out, struct stat *read,
    lap_sink **sink, lap_report *report, lap_error *err)
{
    lap_error why = {0};
    *report = (lap_report){0};
    *sink = NULL;
    lap_code code = lap_control_check(&f->control, &why);
    if (code == LAP_OK)
        code = lap_sink_open_below(tree, out, sink, &why);
    if (code == LAP_OK)
        code = write_file(f, *sink, report, &why);
    if (code == LAP_OK && f->settings.stats)
        code = stats_of(f, f->settings.params.threshold, f->settings.stats, &why);
    if (code == LAP_OK)
        code = lap_source_verify(f->source, NULL, &why);
    if (code == LAP_OK && read)
        *read = *lap_source_stat(f->source);
    if (code != LAP_OK) {
        lap_sink_close(*sink);
        *sink = NULL;
    }
    return lap_run_conclude(code, &why, f->in, f->began_ms, report, err);
}

lap_code lap_async_run_measure(lap_async_run *f, const lap_measure_options *options, lap_measurement *m,
    lap_report *report, lap_error *err)
{
    lap_error why = {0};
    *report = (lap_report){0};
    *m = (lap_measurement){.width = f->pipe.width,
        .height = f->pipe.height,
        .channels = f->pipe.channels,
        .resolved = f->pipe.rung->name};
    lap_code code = lap_control_check(&f->control, &why);
    if (code == LAP_OK)
        code = stats_of(f, options->threshold, &m->stats, &why);
    if (code == LAP_OK)
        code = lap_source_verify(f->source, NULL, &why);
    lap_pipeline_report(&f->pipe, f->source, NULL, report);
    return lap_run_conclude(code, &why, f->in, f->began_ms, report, err);
}
