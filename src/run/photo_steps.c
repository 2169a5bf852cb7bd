/* Steps of a photo that the CPU (photo.c) and a device (photo_device.c) share, and its report. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/kernel5x5.h"
#include "base/params.h"
#include "base/status.h"
#include "base/turn.h"
#include "codec/meta.h"
#include "run/formats.h"
#include "run/photo.h"
#include "run/pixels.h"

/* ---- load -------------------------------------------------------------------------------------- */

lap_photo lap_photo_of(const lap_run_order *order, double start_ms)
{
    lap_photo p = {.context = order->context,
        .settings = *order->settings,
        .control = lap_context_control(order->context, order->settings->timeout_s, start_ms),
        .left_by_device = order->left_by_device};
    if (!order->out)
        p.settings.format = lap_format_name(LAP_FORMAT_NOTHING);
    return p;
}

lap_code lap_photo_open(lap_photo *p, lap_error *err)
{
    lap_plan *plan = &p->plan;
    lap_read_options options = lap_plan_read(plan, &p->settings, &p->control, p->context->pool);
    if (p->lossless.is_taken)
        options.decode = LAP_DECODE_SERIAL;
    const double start = lap_now_ms();
    const lap_code code = lap_decoder_open(p->source, &options, &p->decoder, err);
    p->ms.decode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;
    lap_plan_header(plan, &p->settings, p->decoder);
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

static void add_warnings(lap_report *report, int count, const char *first, lap_remedy remedy)
{
    if (report->warnings == 0 && count > 0) {
        snprintf(report->warning, sizeof report->warning, "%s", first);
        report->warning_remedy = remedy;
    }
    report->warnings += count;
}

lap_code lap_photo_store(const lap_photo *p, lap_report *report, lap_error *err)
{
    const lap_plan *plan = &p->plan;
    lap_code code = plan->stats
                        ? lap_photo_stats(p->counts, p->channels, plan->params.threshold, plan->stats, err)
                        : LAP_OK;
    const double start = lap_now_ms();
    const lap_like like = {lap_source_fd(p->source), lap_source_stat(p->source)};
    if (code == LAP_OK)
        code = lap_sink_finish(p->sink, plan->sync, plan->preserves && like.stat ? &like : NULL, err);
    report->ms.write += lap_now_ms() - start;
    report->bytes_out = lap_sink_bytes(p->sink);
    add_warnings(report, lap_sink_lost(p->sink)[0] != '\0', lap_sink_lost(p->sink), LAP_REMEDY_NONE);
    return code;
}

/* ---- the report -------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void add_note(lap_report *report, const char *format, ...)
{
    const size_t before = strlen(report->note);
    va_list arguments;
    if (before > 0)
        snprintf(report->note + before, sizeof report->note - before, "; ");
    const size_t used = strlen(report->note);
    va_start(arguments, format);
    vsnprintf(report->note + used, sizeof report->note - used, format, arguments);
    va_end(arguments);
}

static void note_device(const lap_photo *p, lap_report *report)
{
    const char *encoded = p->device.encoded ? ", encoded on the device" : ", encoded on the CPU";
    const char *why = p->plan.no_device;
    add_note(report, "decoded%s on %s%s%s%s", p->plan.turn == LAP_TURN_NONE ? "" : " and turned",
        p->device.decoded ? "the device" : "the CPU", p->plan.format == LAP_FORMAT_NOTHING ? "" : encoded,
        why ? ": " : "", why ? why : "");
}

static void note_decoder(const lap_photo *p, lap_report *report)
{
    const lap_plan *plan = &p->plan;
    if (lap_decoder_header(p->decoder)->is_16_bit)
        add_note(report, "reduced from 16 to 8 bits per sample");
    if (p->lossless.done) {
        add_note(report, "turned without loss%s%s", p->lossless.trims ? ", partial MCUs left out" : "",
            plan->decode != LAP_DECODE_AUTO ? ", no pixels are decoded" : "");
        return;
    }
    if (p->lossless.reason)
        add_note(report, "decoded and re-encoded: %s", p->lossless.reason);
    else if (!plan->rung && p->encoder && plan->format == LAP_FORMAT_JPG)
        add_note(report, "decoded and re-encoded, with a quality of %d", plan->write.quality);
    if (plan->no_device)
        add_note(report, "decoded and encoded on the CPU: %s", plan->no_device);
    const bool in_parallel = plan->by_parts || (plan->holds_whole && lap_decoder_opens_at(p->decoder));
    const char *why = in_parallel ? p->decoder->how : plan->how;
    if (in_parallel && p->decoder->opens == LAP_AT_ANY_ROW)
        add_note(report, "decoded in parallel");
    else if (why)
        add_note(report, "decoded serially: %s", why);
    if (p->decoder->scans > 0)
        add_note(report, "several scans at once: the largest, scan %d of %d, has %d %% of the bytes",
            p->decoder->longest, p->decoder->scans, p->decoder->percent);
}

static void note_rung(const lap_plan *plan, lap_report *report)
{
    if (lap_rung_fell_back(LAP_OP_FILTER, plan->backend, plan->rung))
        add_note(report, "%s fell back to %s", plan->backend, plan->rung->name);
    if (plan->rung->integers && !lap_kernel_is_exact(&plan->params.kernel))
        add_note(
            report, "%s ran its float form: the kernel does not consist of small integers", plan->rung->name);
    int tolerance = lap_params_tolerance(&plan->params);
    if (tolerance == 1)
        add_note(report, "backends may differ by one level with this kernel");
    else if (tolerance < 0)
        add_note(report, "with this kernel and scale, backends may differ by any amount");
    if (plan->bands > 1 && plan->rung->threading == LAP_THREADS_OWN)
        add_note(report, "threads work on different bands; within a band, %s uses one", plan->rung->name);
}

/* Reports the reason only if the settings name a decoder, or if the file is too large for ours. */
static void note_coder_in(const lap_photo *p, lap_report *report)
{
    const lap_decoder *d = p->decoder;
    const bool is_too_large = d->coder_asked && d->options.holds && !d->bytes;
    if (!d->coder || p->device.decoded || p->lossless.done ||
        (d->options.codec <= LAP_CODEC_CUDA && !is_too_large))
        return;
    if (d->coder_asked && d->why_not)
        add_note(report, "decoded by %s, not by %s: %s", d->coder, d->coder_asked, d->why_not);
    else
        add_note(report, "decoded by %s", d->coder);
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

static bool is_written(const lap_photo *p)
{
    return (p->encoder || p->device.encoded || p->lossless.done) && p->plan.format != LAP_FORMAT_NOTHING;
}

/* Metadata that should be kept, but that the output format cannot store. Each loss is a warning. */
typedef struct losses {
    int count;
    char first[160];
    lap_remedy remedy; /* remedy for the first loss */
} losses;

__attribute__((format(printf, 3, 4))) static void lose(losses *l, lap_remedy remedy, const char *format, ...)
{
    va_list arguments;
    if (l->count++ > 0)
        return;
    l->remedy = remedy;
    va_start(arguments, format);
    vsnprintf(l->first, sizeof l->first, format, arguments);
    va_end(arguments);
}

static bool holds_metadata(lap_format format)
{
    return format == LAP_FORMAT_JPG || format == LAP_FORMAT_PNG;
}

/* Returns how a viewer shows the picture, compared with the upright one, if the stored pixels are rotated or
 * mirrored but the orientation tag stays: the viewer applies the tag to pixels that already changed. */
static lap_turn turn_as_seen(lap_turn turn, lap_turn tag)
{
    const lap_turn back = tag == LAP_TURN_90 ? LAP_TURN_270 : tag == LAP_TURN_270 ? LAP_TURN_90 : tag;
    return lap_turn_compose(lap_turn_compose(back, turn), tag);
}

/* Warns that viewers will not show the picture as the user expects, because the orientation tag is lost, or
 * acts differently on the rotated or mirrored pixels. */
static void lose_orientation(const lap_photo *p, unsigned keep, losses *l)
{
    static const char *const seen_as[] = {[LAP_TURN_H] = "mirrored left to right",
        [LAP_TURN_V] = "mirrored top to bottom",
        [LAP_TURN_TRANSPOSE] = "transposed",
        [LAP_TURN_TRANSVERSE] = "transposed along the other diagonal",
        [LAP_TURN_90] = "rotated by 90 degrees",
        [LAP_TURN_270] = "rotated by 270 degrees"};
    const lap_turn tag = (lap_turn)lap_decoder_header(p->decoder)->orientation;
    const lap_turn seen = turn_as_seen(p->plan.turn, tag);
    if (p->plan.write.oriented || tag == LAP_TURN_NONE)
        return;
    if (!holds_metadata(p->plan.format))
        lose(l, LAP_REMEDY_AUTO_ORIENT,
            ".%s has no place for the orientation tag, so this is shown as stored",
            lap_format_name(p->plan.format));
    else if (!(keep & LAP_KEEP_EXIF))
        lose(l, LAP_REMEDY_AUTO_ORIENT, "the orientation tag is removed, so this is shown as stored");
    else if (seen != p->plan.turn)
        lose(l, LAP_REMEDY_AUTO_ORIENT, "viewers apply the orientation tag, and see this %s", seen_as[seen]);
}

static losses losses_of(const lap_photo *p)
{
    const lap_header *header = lap_decoder_header(p->decoder);
    const lap_write_options *o = &p->plan.write;
    const unsigned keep = o->strip ? 0 : o->keep ? o->keep : ~0u;
    losses l = {0};
    if (!is_written(p))
        return l;
    lose_orientation(p, keep, &l);
    if (!holds_metadata(p->plan.format))
        return l;
    if (header->late_xmp && (keep & LAP_KEEP_XMP))
        lose(&l, LAP_REMEDY_NONE, "XMP after the picture is left out");
    if (header->late_texts > 0 && (keep & LAP_KEEP_COMMENT))
        lose(&l, LAP_REMEDY_NONE, "text after the picture is left out: %d chunk%s", header->late_texts,
            header->late_texts == 1 ? "" : "s");
    return l;
}

lap_code lap_photo_refuse_losses(const lap_photo *p, lap_error *err)
{
    const losses l = losses_of(p);
    /* If the user chose a format without metadata, or to rotate or mirror, the loss is not a fault of the
     * input. */
    if (l.count == 0 || p->plan.write.fail_on != LAP_FAIL_WARNING || l.remedy == LAP_REMEDY_AUTO_ORIENT)
        return LAP_OK;
    return lap_fail(err, LAP_E_UNSUPPORTED, "%s", l.first);
}

static void note_metadata(const lap_photo *p, lap_report *report)
{
    const lap_write_options *o = &p->plan.write;
    const losses l = losses_of(p);
    char text[160];
    if (is_written(p) && holds_metadata(p->plan.format) && lap_meta_drops_profile(o))
        add_note(report, "the colour profile is dropped: it is not for %s images",
            o->channels == 1 ? "gray" : "RGB");
    if (is_written(p) && !holds_metadata(p->plan.format) && !o->strip &&
        lap_decoder_header(p->decoder)->segment_count > 0)
        add_note(report, "metadata left out: .%s has no place for it", lap_format_name(p->plan.format));
    if (lap_meta_drops_text(&p->drops, text, sizeof text))
        add_note(report, "%s", text);
    add_warnings(report, l.count, l.first, l.remedy);
    add_warnings(report, p->drops.warnings, p->drops.warning, LAP_REMEDY_NONE);
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
    /* Encoding time includes the time for writing, but not for opening the sink. */
    const double written = p->sink ? lap_sink_ms(p->sink) - lap_sink_opening_ms(p->sink) : 0;
    report->ms.encode = fmax(p->ms.encode - written, 0);
    report->bytes_in = lap_source_bytes(p->source);
    report->bytes_out = p->sink ? lap_sink_bytes(p->sink) : 0;
    lap_report_damage(report, &p->damage);
    report->warning_remedy = LAP_REMEDY_NONE;
    report->note[0] = 0;
    report->recoded = p->lossless.loses;
    if (p->plan.on_device && p->lossless.loses)
        add_note(report, "re-encoded: %s", p->lossless.reason);
    if (p->plan.on_device && (p->device.decoded || p->decoder))
        note_device(p, report);
    else if (p->decoder)
        note_decoder(p, report);
    if (p->decoder)
        note_coder_in(p, report);
    if (p->plan.rung)
        note_rung(&p->plan, report);
    if (p->encoder)
        note_encoder(p, report);
    if (p->decoder)
        note_metadata(p, report);
}
