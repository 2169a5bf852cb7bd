#include "run/photo.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/border.h"
#include "base/kernel5x5.h"
#include "base/params.h"
#include "base/status.h"
#include "codec/meta.h"
#include "run/formats.h"
#include "run/lossless.h"
#include "run/photo_device.h"
#include "run/pixels.h"
#include "rungs/run_rung.h"

/* ---- what is worth knowing --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void add_note(lap_report *report, const char *format, ...)
{
    size_t used = strlen(report->note), room = sizeof report->note;
    va_list arguments;
    if (used > 0 && used + 2 < room)
        used += (size_t)snprintf(report->note + used, room - used, "; ");
    va_start(arguments, format);
    vsnprintf(report->note + used, room - used, format, arguments);
    va_end(arguments);
}

static void note_device(const lap_photo *p, lap_report *report)
{
    const char *encoded = p->device.encoded ? ", encoded on the device" : ", encoded on the CPU";
    add_note(report, "decoded%s on %s%s", p->plan.turn == LAP_TURN_NONE ? "" : " and turned",
        p->device.decoded ? "the device" : "the CPU", p->plan.format == LAP_FORMAT_NOTHING ? "" : encoded);
}

static void note_decoder(const lap_photo *p, lap_report *report)
{
    const lap_plan *plan = &p->plan;
    if (p->lossless.done) {
        add_note(report, "turned without loss%s%s", p->lossless.trims ? ", partial MCUs left out" : "",
            plan->decode != LAP_DECODE_AUTO ? ", no pixels are decoded" : "");
        return;
    }
    if (p->lossless.reason)
        add_note(report, "decoded and coded anew: %s", p->lossless.reason);
    else if (!plan->rung && p->encoder && plan->format == LAP_FORMAT_JPG)
        add_note(report, "decoded and coded anew, with a quality of %d", plan->write.quality);
    if (plan->no_device)
        add_note(report, "decoded and encoded on the CPU: %s", plan->no_device);
    const bool in_parallel = plan->by_parts || (plan->holds_whole && lap_decoder_opens_at(p->decoder));
    const char *why = in_parallel ? p->decoder->how : plan->how;
    if (in_parallel && p->decoder->opens == LAP_AT_ANY_ROW)
        add_note(report, "decoded in parallel");
    else if (why)
        add_note(report, "decoded serially: %s", why);
}

static void note_rung(const lap_plan *plan, lap_report *report)
{
    if (lap_rung_fell_back(LAP_OP_FILTER, plan->backend, plan->rung))
        add_note(report, "%s fell back to %s", plan->backend, plan->rung->name);
    if (plan->rung->integers && !lap_kernel_is_exact(&plan->params.kernel))
        add_note(report, "%s ran its float form, the kernel being none of small integers", plan->rung->name);
    int tolerance = lap_params_tolerance(&plan->params);
    if (tolerance == 1)
        add_note(report, "backends may differ by one level with this kernel");
    else if (tolerance < 0)
        add_note(report, "nothing is promised about how far backends agree with this kernel and scale");
    if (plan->bands > 1 && plan->rung->threading == LAP_THREADS_OWN)
        add_note(report, "threads are spread over bands, one inside %s", plan->rung->name);
}

/* What of the input's metadata the output does not show although nobody asked for that. */
static void note_metadata(const lap_photo *p, lap_report *report)
{
    const lap_write_options *o = &p->plan.write;
    const lap_format format = p->plan.format;
    const bool holds = format == LAP_FORMAT_JPG || format == LAP_FORMAT_PNG;
    if (holds && lap_meta_drops_profile(o))
        add_note(
            report, "the colour profile is dropped: it is not one of %s", o->channels == 1 ? "gray" : "RGB");
    if (holds || format == LAP_FORMAT_NOTHING || o->oriented ||
        lap_decoder_header(p->decoder)->orientation == 1)
        return;
    if (report->warnings++ == 0)
        snprintf(report->warning, sizeof report->warning,
            ".%s has no place for the orientation tag, so this is shown as stored; --auto-orient turns the "
            "pixels",
            lap_format_name(format));
}

void lap_photo_report(const lap_photo *p, lap_report *report)
{
    report->width = p->width;
    report->height = p->height;
    report->channels = p->channels;
    report->resolved = p->plan.rung ? p->plan.rung->name : NULL;
    report->ms = p->ms;
    report->ms.read = lap_source_ms(p->source);
    report->ms.write = p->sink ? lap_sink_ms(p->sink) : 0;
    report->ms.decode = fmax(p->ms.decode - report->ms.read, 0);
    report->ms.encode = fmax(p->ms.encode - report->ms.write, 0);
    report->bytes_in = lap_source_bytes(p->source);
    report->bytes_out = p->sink ? lap_sink_bytes(p->sink) : 0;
    report->warnings = p->damage.warnings;
    snprintf(report->warning, sizeof report->warning, "%s", p->damage.first);
    report->note[0] = 0;
    if (p->plan.on_device)
        note_device(p, report);
    else if (p->decoder)
        note_decoder(p, report);
    if (p->plan.rung)
        note_rung(&p->plan, report);
    if (p->encoder)
        note_metadata(p, report);
}

/* ---- load -------------------------------------------------------------------------------------- */

lap_code lap_photo_open(lap_photo *p, lap_error *err)
{
    lap_plan *plan = &p->plan;
    lap_read_options options = lap_plan_read(plan, p->settings, p->control, p->context->pool);
    if (p->lossless.is_taken)
        options.decode = LAP_DECODE_SERIAL;
    const double start = lap_now_ms();
    const lap_code code = lap_decoder_open(p->source, &options, &p->decoder, err);
    p->ms.decode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;
    lap_plan_header(plan, p->settings, p->decoder);
    p->width = plan->width;
    p->height = plan->height;
    p->channels = plan->channels;
    return LAP_OK;
}

static lap_code load(lap_photo *p, lap_error *err)
{
    lap_code code = lap_plan_settings(&p->plan, p->settings, lap_pool_threads(p->context->pool), err);
    if (code == LAP_OK && p->plan.on_device)
        code = lap_photo_hold_file(p, err);
    if (code == LAP_OK)
        code = lap_lossless_plan(p, err);
    return code == LAP_OK ? lap_photo_open(p, err) : code;
}

/* ---- work -------------------------------------------------------------------------------------- */

static lap_code open_encoder(lap_photo *p, lap_error *err)
{
    const double start = lap_now_ms();
    const lap_code code = lap_encoder_open(p->sink, p->plan.format, &p->plan.write, &p->encoder, err);
    p->ms.encode += lap_now_ms() - start;
    return code;
}

lap_code lap_photo_collect(lap_photo *p, lap_error *err)
{
    const lap_plan *plan = &p->plan;
    const lap_code code =
        lap_image_create(&p->whole, plan->width, plan->height, plan->channels, LAP_APRON, err);
    const lap_collect collect = {
        .decoder = p->decoder, .turn = plan->turn, .to = &p->whole.view, .ms = &p->ms};
    return code == LAP_OK ? lap_collect_image(&collect, &p->damage, err) : code;
}

static lap_code filter_whole(lap_photo *p, lap_error *err)
{
    const lap_plan *plan = &p->plan;
    lap_times times = {0};
    const lap_resources use = {.exec.err = err, .device = plan->device, .times = &times};
    lap_code code = lap_image_create(&p->filtered, plan->width, plan->height, plan->channels, 0, err);
    if (code == LAP_OK)
        code =
            lap_rung_filter(plan->rung, &use, &p->whole.view, &p->filtered.view, &plan->params, plan->border);
    p->ms.upload += times.upload;
    p->ms.filter += times.filter;
    p->ms.download += times.download;
    return code;
}

/* Everything decoded, turned and, for a rung that takes no bands, filtered. */
static lap_code hold_whole(lap_photo *p, lap_error *err)
{
    const lap_code code = lap_photo_collect(p, err);
    if (code != LAP_OK || !p->plan.rung)
        return code;
    if (p->plan.filters_whole)
        return filter_whole(p, err);
    lap_border_fill(&p->whole.view, p->plan.border);
    return LAP_OK;
}

static lap_code run_bands(lap_photo *p, lap_error *err)
{
    const lap_bands_job job = {.plan = &p->plan,
        .pool = p->context->pool,
        .control = p->control,
        .decoder = p->decoder,
        .encoder = p->encoder,
        .whole = p->whole.memory ? &p->whole.view : NULL,
        .result = p->filtered.memory ? &p->filtered.view : NULL,
        .counts = p->plan.on_device ? NULL : p->counts, /* else counted there */
        .ms = &p->ms,
        .damage = &p->damage};
    lap_code code = lap_bands_run(&job, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_encoder_finish(p->encoder, err);
    p->ms.encode += lap_now_ms() - start;
    return code;
}

/* What the photo will take at most is known before it takes any of it, and asked for in one piece: who waits
 * for memory has none. *has is to be given back. */
static lap_code take_memory(lap_photo *p, uint64_t *has, lap_error *err)
{
    const uint64_t limit = p->plan.max_memory;
    lap_code code = lap_plan_memory(&p->plan, p->decoder, p->encoder, err);
    if (code != LAP_OK || limit == 0)
        return code;
    code = lap_budget_take(&p->context->budget, p->plan.memory, limit, p->control, err);
    *has = code == LAP_OK ? p->plan.memory : 0;
    return code;
}

/* Decoded pixels to the end of the output. */
static lap_code by_pixels(lap_photo *p, lap_error *err)
{
    uint64_t has = 0;
    bool is_done = false;
    lap_code code = open_encoder(p, err);
    if (code == LAP_OK)
        code = take_memory(p, &has, err);
    if (code == LAP_OK && p->plan.on_device)
        code = lap_photo_on_device(p, &is_done, err);
    else if (code == LAP_OK && p->plan.holds_whole)
        code = hold_whole(p, err);
    if (code == LAP_OK && !is_done)
        code = run_bands(p, err);
    lap_image_destroy(&p->whole);
    lap_image_destroy(&p->filtered);
    lap_budget_give(&p->context->budget, has);
    return code;
}

/* ---- store ------------------------------------------------------------------------------------- */

lap_code lap_photo_stats(
    lap_photo_counts *counts, int channels, int threshold, lap_run_stats *stats, lap_error *err)
{
    const lap_code code = lap_stats_of_counts(counts->source, channels, threshold, &stats->input, err);
    return code == LAP_OK ? lap_stats_of_counts(counts->result, channels, threshold, &stats->edges, err)
                          : code;
}

lap_code lap_photo_write_jpeg(
    lap_sink *sink, const lap_chunk *header, const uint8_t *scan, size_t size, lap_error *err)
{
    static const uint8_t end_of_image[] = {0xFF, 0xD9};
    lap_code code = lap_sink_write(sink, header->data, header->size, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, scan, size, err);
    return code == LAP_OK ? lap_sink_write(sink, end_of_image, sizeof end_of_image, err) : code;
}

/* ---- the whole --------------------------------------------------------------------------------- */

lap_code lap_photo_run(lap_photo *p, lap_report *report, lap_error *err)
{
    lap_code code = load(p, err);
    if (code == LAP_OK && p->lossless.is_taken)
        code = lap_lossless_run(p, err);
    if (code == LAP_OK && !p->lossless.done)
        code = by_pixels(p, err);
    lap_photo_report(p, report);
    lap_photo_wait_for_device(p);
    lap_encoder_close(p->encoder);
    lap_decoder_close(p->decoder);
    p->encoder = NULL;
    p->decoder = NULL;
    return code;
}
