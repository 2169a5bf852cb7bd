/* Steps that both ways of a photo take, on the CPU (photo.c) and on a device (photo_device.c); and what is
 * told about them. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/kernel5x5.h"
#include "base/params.h"
#include "base/status.h"
#include "codec/meta.h"
#include "run/formats.h"
#include "run/photo.h"
#include "run/pixels.h"

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
    plan->write.drops = &p->drops;
    p->width = plan->width;
    p->height = plan->height;
    p->channels = plan->channels;
    return LAP_OK;
}

/* ---- work -------------------------------------------------------------------------------------- */

lap_code lap_photo_collect(lap_photo *p, lap_error *err)
{
    const lap_plan *plan = &p->plan;
    const lap_code code =
        lap_image_create(&p->whole, plan->width, plan->height, plan->channels, LAP_APRON, err);
    const lap_collect collect = {
        .decoder = p->decoder, .turn = plan->turn, .to = &p->whole.view, .ms = &p->ms};
    return code == LAP_OK ? lap_collect_image(&collect, &p->damage, err) : code;
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

static void note_encoder(const lap_photo *p, lap_report *report)
{
    const lap_encoder *e = p->encoder;
    if (!e->coder || p->device.encoded)
        return;
    if (e->why_not)
        add_note(report, "encoded by %s, not by %s: %s", e->coder, e->coder_asked, e->why_not);
    else if (p->plan.write.codec > LAP_CODEC_CUDA)
        add_note(report, "encoded by %s", e->coder);
}

static void warn(lap_report *report, const char *text, lap_remedy remedy)
{
    if (report->warnings++ > 0)
        return;
    snprintf(report->warning, sizeof report->warning, "%s", text);
    report->warning_remedy = remedy;
}

/* What of the input's metadata the output does not show although nobody asked for that. */
static void note_profile_and_orientation(const lap_photo *p, bool holds, lap_report *report)
{
    const lap_write_options *o = &p->plan.write;
    const lap_format format = p->plan.format;
    char text[160];
    if (holds && lap_meta_drops_profile(o))
        add_note(
            report, "the colour profile is dropped: it is not one of %s", o->channels == 1 ? "gray" : "RGB");
    if (holds || format == LAP_FORMAT_NOTHING || o->oriented ||
        lap_decoder_header(p->decoder)->orientation == 1)
        return;
    snprintf(text, sizeof text, ".%s has no place for the orientation tag, so this is shown as stored",
        lap_format_name(format));
    warn(report, text, LAP_REMEDY_AUTO_ORIENT);
}

/* Pieces that this output has no place for: of a PNG those behind its picture, of other formats all. */
static void note_no_place(const lap_photo *p, bool holds, lap_report *report)
{
    const lap_header *header = lap_decoder_header(p->decoder);
    const unsigned keep = p->plan.write.keep ? p->plan.write.keep : ~0u;
    if (p->plan.write.strip || p->plan.format == LAP_FORMAT_NOTHING)
        return;
    if (!holds && header->segment_count > 0)
        add_note(report, "metadata left out: .%s has no place for it", lap_format_name(p->plan.format));
    if (header->late_texts > 0 && (keep & LAP_KEEP_COMMENT))
        add_note(report, "text behind the picture is left out: %d chunk%s", header->late_texts,
            header->late_texts == 1 ? "" : "s");
    if (holds && header->late_xmp && (keep & LAP_KEEP_XMP))
        warn(report, "XMP behind the picture is left out", LAP_REMEDY_NONE);
}

static void note_metadata(const lap_photo *p, lap_report *report)
{
    char text[160];
    const bool holds = !p->encoder || p->plan.format == LAP_FORMAT_JPG || p->plan.format == LAP_FORMAT_PNG;
    if (p->encoder) {
        note_profile_and_orientation(p, holds, report);
        note_no_place(p, holds, report);
    }
    if (lap_meta_drops_text(&p->drops, text, sizeof text))
        add_note(report, "%s", text);
    if (p->drops.warnings > 0) {
        warn(report, p->drops.warning, LAP_REMEDY_NONE);
        report->warnings += p->drops.warnings - 1;
    }
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
    report->warning_remedy = LAP_REMEDY_NONE;
    snprintf(report->warning, sizeof report->warning, "%s", p->damage.first);
    report->note[0] = 0;
    if (p->plan.on_device)
        note_device(p, report);
    else if (p->decoder)
        note_decoder(p, report);
    if (p->plan.rung)
        note_rung(&p->plan, report);
    if (p->encoder)
        note_encoder(p, report);
    if (p->decoder)
        note_metadata(p, report);
}

/* The last word of every run: the outcome goes to report and err, either of which may be NULL. What names
 * no file, and is not about the settings, is about the input. */
lap_code lap_photo_conclude(
    lap_code code, lap_error *why, const char *in, double start, lap_report *report, lap_error *err)
{
    if (code != LAP_E_USAGE && code != LAP_E_BACKEND)
        lap_error_about(why, code, strcmp(in, "-") == 0 ? "standard input" : in);
    if (report) {
        report->ms.total = lap_now_ms() - start;
        report->status = code == LAP_E_EXISTS   ? LAP_SKIPPED
                         : code != LAP_OK       ? LAP_FAILED
                         : report->warnings > 0 ? LAP_WARNED
                                                : LAP_DONE;
        report->error = code != LAP_OK ? *why : (lap_error){0};
    }
    if (code != LAP_OK && err && (!report || err != &report->error))
        *err = *why;
    return code;
}
