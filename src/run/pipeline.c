#include "run/pipeline.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/kernel5x5.h"
#include "base/status.h"
#include "codec/meta.h"
#include "ops/orient.h"
#include "run/formats.h"
#include "run/lossless.h"
#include "run/pipeline_device.h"
#include "run/pipeline_ends.h"
#include "run/pipeline_parts.h"
#include "run/pixels.h"

enum {
    /* Below this many pixels threads cost more than they bring. */
    SMALL_PIXELS = 300000,
    /* Samples of a picture whose output may wait in memory; it takes a quarter of a byte each, about. */
    LARGEST_HELD = 256000000
};

/* ---- what is worth knowing ------------------------------------------------------------------- */

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

static void note_device(const lap_pipeline *pipe, lap_report *report)
{
    const bool is_written = !pipe->settings->format || strcmp(pipe->settings->format, LAP_FORMAT_NONE) != 0;
    const char *encoded = pipe->device.encoded ? ", encoded on the device" : ", encoded on the CPU";
    add_note(report, "decoded%s on %s%s", pipe->turn == LAP_TURN_NONE ? "" : " and turned",
        pipe->device.decoded ? "the device" : "the CPU", is_written ? encoded : "");
}

static void note_decoder(const lap_pipeline *pipe, lap_report *report)
{
    if (pipe->lossless.done) {
        add_note(report, "turned without loss%s%s", pipe->lossless.trims ? ", partial MCUs left out" : "",
            pipe->settings->decode != LAP_DECODE_AUTO ? ", no pixels are decoded" : "");
        return;
    }
    if (pipe->lossless.reason)
        add_note(report, "decoded and coded anew: %s", pipe->lossless.reason);
    else if (!pipe->settings->filter && pipe->encoder && strcmp(pipe->encoder->format, "jpg") == 0)
        add_note(report, "decoded and coded anew, with a quality of %d", pipe->settings->quality);
    if (pipe->device.reason)
        add_note(report, "decoded and encoded on the CPU: %s", pipe->device.reason);
    if (pipe->by_parts || (pipe->holds_whole && lap_decoder_has_parts(pipe->decoder)))
        add_note(report, "decoded in parallel");
    else if (pipe->decoder->how)
        add_note(report, "decoded serially: %s", pipe->decoder->how);
}

static void note_rung(const lap_pipeline *pipe, lap_report *report)
{
    const lap_settings *s = pipe->settings;
    if (lap_rung_fell_back(LAP_OP_FILTER, s->backend, pipe->rung))
        add_note(report, "%s fell back to %s", s->backend, pipe->rung->name);
    if (pipe->rung->integers && !lap_kernel_is_exact(&s->params.kernel))
        add_note(report, "%s ran its float form, the kernel being none of small integers", pipe->rung->name);
    int tolerance = lap_params_tolerance(&s->params);
    if (tolerance == 1)
        add_note(report, "backends may differ by one level with this kernel");
    else if (tolerance < 0)
        add_note(report, "nothing is promised about how far backends agree with this kernel and scale");
    if (pipe->bands > 1 && pipe->rung->threading == LAP_THREADS_OWN)
        add_note(report, "threads are spread over bands, one inside %s", pipe->rung->name);
}

static void note_encoder(const lap_pipeline *pipe, lap_report *report)
{
    const lap_encoder *e = pipe->encoder;
    const lap_codec_place asked = pipe->settings->codec;
    if (!e->coder || pipe->device.encoded)
        return;
    if (e->why_not)
        add_note(report, "encoded by %s, not by %s: %s", e->coder, e->coder_asked, e->why_not);
    else if (asked > LAP_CODEC_CUDA)
        add_note(report, "encoded by %s", e->coder);
}

/* What of the input's metadata the output does not show although nobody asked for that. */
static void note_metadata(const lap_pipeline *pipe, lap_report *report)
{
    const lap_write_options *o = &pipe->write;
    const bool holds = strcmp(pipe->encoder->format, "jpg") == 0 || strcmp(pipe->encoder->format, "png") == 0;
    if (holds && lap_meta_drops_profile(o))
        add_note(
            report, "the colour profile is dropped: it is not one of %s", o->channels == 1 ? "gray" : "RGB");
    if (holds || strcmp(pipe->encoder->format, LAP_FORMAT_NONE) == 0 || o->oriented ||
        lap_decoder_header(pipe->decoder)->orientation == 1)
        return;
    if (report->warnings++ == 0)
        snprintf(report->warning, sizeof report->warning,
            ".%s has no place for the orientation tag, so this is shown as stored; --auto-orient turns the "
            "pixels",
            pipe->encoder->format);
}

void lap_pipeline_report(
    const lap_pipeline *pipe, const lap_source *source, const lap_sink *sink, lap_report *report)
{
    report->width = pipe->width;
    report->height = pipe->height;
    report->channels = pipe->channels;
    report->resolved = pipe->rung ? pipe->rung->name : NULL;
    report->ms = pipe->ms;
    report->ms.read = lap_source_ms(source);
    report->ms.write = sink ? lap_sink_ms(sink) : 0;
    report->ms.decode = fmax(pipe->ms.decode - report->ms.read, 0);
    report->ms.encode = fmax(pipe->ms.encode - report->ms.write, 0);
    report->bytes_in = lap_source_bytes(source);
    report->bytes_out = sink ? lap_sink_bytes(sink) : 0;
    report->warnings = pipe->damage.warnings;
    snprintf(report->warning, sizeof report->warning, "%s", pipe->damage.first);
    report->note[0] = 0;
    if (pipe->device.is_taken)
        note_device(pipe, report);
    else if (pipe->decoder)
        note_decoder(pipe, report);
    if (pipe->rung)
        note_rung(pipe, report);
    if (pipe->encoder) {
        note_encoder(pipe, report);
        note_metadata(pipe, report);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

static int threads_allowed(const lap_pipeline *pipe)
{
    int threads = lap_pool_threads(pipe->pool), asked = pipe->settings->threads;
    return asked > 0 && asked < threads ? asked : threads;
}

/* From how many threads on decoding by parts pays: it is more work than decoding serially, which is
 * one thread's work and goes on beside filtering and encoding. Measured: docs/parallel-decoding.md. */
static int worth_threads(const lap_settings *s)
{
    if (s->format && strcmp(s->format, LAP_FORMAT_NONE) == 0)
        return 2;
    return s->filter ? 4 : 3;
}

/* The first rows need the last ones. */
static bool wraps(const lap_pipeline *pipe)
{
    return pipe->rung && pipe->settings->border == LAP_WRAP;
}

/* Whether bands may be encoded in any order, or pixels are held whole before; known from the settings. */
static bool takes_parts(const lap_pipeline *pipe)
{
    const lap_settings *s = pipe->settings;
    const char *format = s->format ? s->format : "jpg";
    return (strcmp(lap_format_find(format), "jpg") == 0 && s->restart != LAP_RESTART_OFF && !s->progressive &&
               !s->optimize) ||
           strcmp(format, LAP_FORMAT_NONE) == 0 || lap_turn_reorders(s->turn) || wraps(pipe) ||
           (pipe->rung && !lap_rung_takes_bands(pipe->rung));
}

lap_code lap_pipeline_open_decoder(lap_pipeline *pipe, lap_source *source, lap_error *err)
{
    const lap_settings *s = pipe->settings;
    lap_read_options options = lap_read_options_of(s, pipe->control);
    options.pool = pipe->pool;
    options.threads = threads_allowed(pipe);
    options.worth_threads = worth_threads(s);
    if (!takes_parts(pipe) || pipe->device.is_taken || pipe->lossless.is_taken)
        options.decode = LAP_DECODE_SERIAL;
    double start = lap_now_ms();
    lap_code code = lap_decoder_open(source, &options, &pipe->decoder, err);
    pipe->ms.decode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;
    pipe->ms.decode += pipe->decoder->helped_ms;
    if (!takes_parts(pipe))
        pipe->decoder->how = s->decode == LAP_DECODE_PARALLEL ? "this output takes rows in order" : NULL;

    const lap_header *header = lap_decoder_header(pipe->decoder);
    lap_turn upright = s->auto_orient ? (lap_turn)header->orientation : LAP_TURN_NONE;
    pipe->turn = lap_turn_compose(upright, s->turn);
    bool swap = lap_turn_transposes(pipe->turn);
    pipe->width = swap ? header->height : header->width;
    pipe->height = swap ? header->width : header->height;
    pipe->channels = header->channels;
    return LAP_OK;
}

void lap_pipeline_plan_output(lap_pipeline *pipe)
{
    const lap_settings *s = pipe->settings;
    const lap_header *header = lap_decoder_header(pipe->decoder);
    pipe->from = *header;
    if (lap_turn_transposes(pipe->turn)) { /* what was sampled across is sampled down now */
        memcpy(pipe->from.sample_h, header->sample_v, sizeof header->sample_v);
        memcpy(pipe->from.sample_v, header->sample_h, sizeof header->sample_h);
        pipe->from.density_x = header->density_y;
        pipe->from.density_y = header->density_x;
    }
    pipe->write = (lap_write_options){.width = pipe->width,
        .height = pipe->height,
        .channels = pipe->channels,
        .quality = s->quality,
        .subsampling = s->subsampling,
        .restart = s->restart,
        .strip = s->strip,
        .keep = s->keep,
        .progressive = s->progressive,
        .optimize = s->optimize,
        .codec = s->codec,
        .from = &pipe->from,
        .oriented = s->auto_orient,
        .control = pipe->control};
}

static lap_code open_encoder(lap_pipeline *pipe, lap_sink *sink, lap_error *err)
{
    const lap_settings *s = pipe->settings;
    lap_pipeline_plan_output(pipe);
    double start = lap_now_ms();
    lap_code code = lap_encoder_open(sink, s->format ? s->format : "jpg", &pipe->write, &pipe->encoder, err);
    pipe->ms.encode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;
    pipe->band_rows = lap_encoder_band_rows(pipe->encoder);
    pipe->bands = (pipe->height + pipe->band_rows - 1) / pipe->band_rows;
    pipe->parallel = lap_encoder_is_parallel(pipe->encoder);
    return LAP_OK;
}

static int team_size(const lap_pipeline *pipe)
{
    return (uint64_t)pipe->width * (uint64_t)pipe->height < SMALL_PIXELS ? 1 : threads_allowed(pipe);
}

/* What goes out before all is done must be possible to take back: see redo. */
static void hold_output(lap_pipeline *pipe, lap_sink *sink)
{
    uint64_t samples = (uint64_t)pipe->width * (uint64_t)pipe->height * (uint64_t)pipe->channels;
    if (!lap_decoder_has_parts(pipe->decoder) || !lap_sink_is_direct(sink))
        return;
    if (samples > LARGEST_HELD) {
        lap_decoder_without_parts(pipe->decoder);
        pipe->decoder->how = "what is written directly would have to wait in memory";
    } else {
        lap_sink_hold(sink);
    }
}

static lap_code carry_out(lap_pipeline *pipe, lap_sink *sink, lap_error *err)
{
    bool done = false;
    lap_code code = pipe->device.is_taken ? lap_pipeline_device(pipe, sink, &done, err)
                    : pipe->holds_whole   ? lap_pipeline_collect(pipe, err)
                                          : LAP_OK;
    if (code != LAP_OK || done)
        return code;
    code = lap_pipeline_reserve(pipe, err);
    if (code == LAP_OK)
        code = lap_pipeline_bands(pipe, err);
    if (code != LAP_OK)
        return code;
    double start = lap_now_ms();
    code = lap_encoder_finish(pipe->encoder, err);
    pipe->ms.encode += lap_now_ms() - start;
    return code;
}

/* The parts of the image did not do, which only shows while they are decoded: everything again, serially. */
static lap_code redo(lap_pipeline *pipe, lap_sink *sink, lap_error *err)
{
    uint64_t need;
    lap_pipeline_release(pipe);
    lap_encoder_close(pipe->encoder);
    pipe->encoder = NULL;
    lap_decoder_without_parts(pipe->decoder);
    pipe->decoder->how = "its rows disagree with the scan";
    pipe->code = LAP_OK;
    pipe->members = pipe->decoded = pipe->started = pipe->appended = 0;
    lap_code code = lap_sink_rewind(sink, err);
    if (code == LAP_OK && pipe->hooks && pipe->hooks->again)
        pipe->hooks->again(pipe->hooks->user);
    if (code == LAP_OK)
        code = open_encoder(pipe, sink, err);
    if (code == LAP_OK)
        code = lap_pipeline_plan(pipe, UINT64_MAX, &need, err);
    return code == LAP_OK ? carry_out(pipe, sink, err) : code;
}

/* What the file will take at most is known before it takes any of it, and asked for in one piece: who waits
 * for memory has none. *has is to be given back. */
static lap_code take_memory(
    lap_pipeline *pipe, lap_budget *budget, lap_control *control, uint64_t *has, lap_error *err)
{
    uint64_t limit = pipe->settings->max_memory, need;
    pipe->filters_whole = pipe->rung && !lap_rung_takes_bands(pipe->rung);
    pipe->holds_whole = pipe->filters_whole || lap_turn_reorders(pipe->turn) || wraps(pipe);
    pipe->threads = team_size(pipe);
    lap_code code = lap_pipeline_plan(pipe, limit ? limit : UINT64_MAX, &need, err);
    if (code != LAP_OK || limit == 0 || !budget)
        return code;
    code = lap_budget_take(budget, need, limit, control, err);
    *has = code == LAP_OK ? need : 0;
    return code;
}

/* Decoded pixels to the end of the output. *has as in take_memory. */
static lap_code by_pixels(lap_pipeline *pipe, lap_sink *sink, lap_budget *budget, lap_control *control,
    uint64_t *has, lap_error *err)
{
    hold_output(pipe, sink);
    lap_code code = open_encoder(pipe, sink, err);
    if (code == LAP_OK)
        code = take_memory(pipe, budget, control, has, err);
    if (code == LAP_OK)
        code = carry_out(pipe, sink, err);
    if (code != LAP_OK && lap_decoder_disagrees(pipe->decoder))
        code = redo(pipe, sink, err);
    return code;
}

lap_code lap_pipeline_run(lap_source *source, lap_sink *sink, const lap_settings *settings, lap_pool *pool,
    lap_budget *budget, lap_control *control, const lap_pipeline_hooks *hooks, lap_report *report,
    lap_error *err)
{
    lap_pipeline pipe = {.settings = settings, .control = control, .hooks = hooks, .pool = pool};
    pthread_mutex_init(&pipe.lock, NULL);
    pthread_cond_init(&pipe.changed, NULL);
    uint64_t has = 0;
    lap_code code = lap_pipeline_plan_device(&pipe, err);
    if (code == LAP_OK && pipe.device.is_taken)
        code = lap_pipeline_hold_file(&pipe, source, err);
    if (code == LAP_OK)
        code = lap_lossless_plan(&pipe, source, err);
    if (code == LAP_OK)
        code = lap_pipeline_open_decoder(&pipe, source, err);
    if (code == LAP_OK && pipe.lossless.is_taken)
        code = lap_lossless_run(&pipe, source, sink, budget, control, err);
    if (code == LAP_OK && !pipe.lossless.done)
        code = by_pixels(&pipe, sink, budget, control, &has, err);
    if (report)
        lap_pipeline_report(&pipe, source, sink, report);
    lap_pipeline_wait_for_device(&pipe);
    lap_pipeline_release(&pipe);
    lap_encoder_close(pipe.encoder);
    lap_decoder_close(pipe.decoder);
    if (budget)
        lap_budget_give(budget, has);
    pthread_cond_destroy(&pipe.changed);
    pthread_mutex_destroy(&pipe.lock);
    return code;
}
