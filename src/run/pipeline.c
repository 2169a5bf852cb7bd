#include "run/pipeline.h"

#include <string.h>

#include "base/kernel5x5.h"
#include "base/status.h"
#include "ops/orient.h"
#include "run/flow.h"
#include "run/formats.h"
#include "run/settings.h"

enum {
    /* Below this many pixels threads cost more than they bring. */
    SMALL_PIXELS = 300000
};

/* ---- what is worth knowing ------------------------------------------------------------------- */

/* Rungs that compute in integers where the kernel allows it. */
static bool prefers_integers(const lap_rung *rung)
{
    return strcmp(rung->family, "simd") == 0 || strcmp(rung->name, "cuda-shared2") == 0 ||
           strcmp(rung->name, "cuda-fast") == 0;
}

static void note(const lap_flow *flow, lap_report *report)
{
    const lap_settings *s = flow->settings;
    if (!flow->rung)
        return;
    size_t used = 0, room = sizeof report->note;
    report->note[0] = 0;
#define NOTE(...)                                                        \
    do {                                                                 \
        int n = snprintf(report->note + used, room - used, __VA_ARGS__); \
        used += n > 0 && (size_t)n < room - used ? (size_t)n : 0;        \
    } while (0)
    if (strcmp(s->backend, "auto") == 0 && strcmp(flow->rung->family, "simd") != 0)
        NOTE("auto fell back to %s; ", flow->rung->name);
    if (prefers_integers(flow->rung) && !lap_kernel_is_exact(&s->params.kernel))
        NOTE("%s ran its float form, the kernel being none of small integers; ", flow->rung->name);
    int tolerance = lap_params_tolerance(&s->params);
    if (tolerance == 1)
        NOTE("backends may differ by one level with this kernel; ");
    else if (tolerance < 0)
        NOTE("nothing is promised about how far backends agree with this kernel and scale; ");
    if (flow->bands > 1 &&
        (strcmp(flow->rung->family, "openmp") == 0 || strcmp(flow->rung->family, "sse") == 0))
        NOTE("threads are spread over bands, one inside %s; ", flow->rung->name);
#undef NOTE
    if (used >= 2)
        report->note[used - 2] = 0;
}

static void fill_report(
    const lap_flow *flow, const lap_source *source, const lap_sink *sink, lap_report *report)
{
    report->width = flow->width;
    report->height = flow->height;
    report->channels = flow->channels;
    report->resolved = flow->rung ? flow->rung->name : NULL;
    report->ms = flow->ms;
    report->ms.read = lap_source_ms(source);
    report->ms.write = lap_sink_ms(sink);
    report->ms.decode = flow->ms.decode > report->ms.read ? flow->ms.decode - report->ms.read : 0;
    report->ms.encode = flow->ms.encode > report->ms.write ? flow->ms.encode - report->ms.write : 0;
    report->bytes_in = lap_source_bytes(source);
    report->bytes_out = lap_sink_bytes(sink);
    report->warnings = flow->damage.warnings;
    snprintf(report->warning, sizeof report->warning, "%s", flow->damage.first);
    note(flow, report);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static lap_code open_decoder(lap_flow *flow, lap_source *source, lap_error *err)
{
    const lap_settings *s = flow->settings;
    lap_read_options options = {.gray = s->gray,
        .max_pixels = s->max_pixels,
        .max_memory = s->max_memory,
        .max_scans = s->max_scans,
        .fail_on = s->fail_on,
        .control = flow->control};
    double start = lap_now_ms();
    lap_code code = lap_decoder_open(source, &options, &flow->decoder, err);
    flow->ms.decode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;

    const lap_header *header = lap_decoder_header(flow->decoder);
    lap_turn upright = s->auto_orient ? (lap_turn)header->orientation : LAP_TURN_NONE;
    flow->turn = lap_turn_compose(upright, s->turn);
    bool swap = lap_turn_transposes(flow->turn);
    flow->width = swap ? header->height : header->width;
    flow->height = swap ? header->width : header->height;
    flow->channels = header->channels;
    return LAP_OK;
}

static lap_code open_encoder(lap_flow *flow, lap_sink *sink, lap_error *err)
{
    const lap_settings *s = flow->settings;
    const lap_header *header = lap_decoder_header(flow->decoder);
    flow->from = *header;
    if (lap_turn_transposes(flow->turn)) { /* what was sampled across is sampled down now */
        memcpy(flow->from.sample_h, header->sample_v, sizeof header->sample_v);
        memcpy(flow->from.sample_v, header->sample_h, sizeof header->sample_h);
    }
    lap_write_options options = {.width = flow->width,
        .height = flow->height,
        .channels = flow->channels,
        .quality = s->quality,
        .subsampling = s->subsampling,
        .restart = s->restart,
        .strip = s->strip,
        .from = &flow->from,
        .oriented = s->auto_orient,
        .control = flow->control};
    double start = lap_now_ms();
    lap_code code = lap_encoder_open(sink, s->format ? s->format : "jpg", &options, &flow->encoder, err);
    flow->ms.encode += lap_now_ms() - start;
    if (code != LAP_OK)
        return code;
    flow->band_rows = lap_encoder_band_rows(flow->encoder);
    flow->bands = (flow->height + flow->band_rows - 1) / flow->band_rows;
    flow->parallel = lap_encoder_is_parallel(flow->encoder);
    return LAP_OK;
}

static int team_size(const lap_flow *flow)
{
    int threads = lap_pool_threads(flow->pool);
    if (flow->settings->threads > 0 && flow->settings->threads < threads)
        threads = flow->settings->threads;
    return (uint64_t)flow->width * (uint64_t)flow->height < SMALL_PIXELS ? 1 : threads;
}

/* What may still be allocated under max_memory once `taken` bytes are; 0 and false if it is over. */
static bool memory_left(const lap_flow *flow, size_t images, size_t *left)
{
    uint64_t limit = flow->settings->max_memory;
    size_t taken, image;
    if (limit == 0) {
        *left = SIZE_MAX;
        return true;
    }
    if (!lap_mul((size_t)flow->width * (size_t)flow->channels, (size_t)flow->height, &image) ||
        !lap_mul(image, images, &image) ||
        !lap_add(image, lap_decoder_header(flow->decoder)->memory_estimate, &taken) || taken > limit)
        return false;
    *left = (size_t)(limit - taken);
    return true;
}

static lap_code carry_out(lap_flow *flow, lap_error *err)
{
    bool device = flow->rung && flow->rung->device;
    bool whole = device || lap_turn_reorders(flow->turn);
    size_t left;
    if (!memory_left(flow, (size_t)whole + device, &left))
        return lap_fail(err, LAP_E_LIMIT,
            "%dx%d pixels have to be held whole, which needs more memory than "
            "is allowed",
            flow->width, flow->height);
    lap_code code = whole ? lap_flow_collect(flow, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    flow->threads = team_size(flow);
    code = lap_flow_reserve(flow, left, err);
    if (code != LAP_OK)
        return code;
    code = lap_flow_run(flow, err);
    if (code != LAP_OK)
        return code;
    double start = lap_now_ms();
    code = lap_encoder_finish(flow->encoder, err);
    flow->ms.encode += lap_now_ms() - start;
    return code;
}

lap_code lap_pipeline_run(lap_source *source, lap_sink *sink, const lap_settings *settings, lap_pool *pool,
    const lap_control *control, const lap_pipeline_hooks *hooks, lap_report *report, lap_error *err)
{
    lap_flow flow = {.settings = settings, .control = control, .hooks = hooks, .pool = pool};
    pthread_mutex_init(&flow.lock, NULL);
    pthread_cond_init(&flow.changed, NULL);
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK && settings->filter)
        code = lap_rung_find(LAP_OP_FILTER, settings->backend, &flow.rung, err);
    if (code == LAP_OK)
        code = open_decoder(&flow, source, err);
    if (code == LAP_OK)
        code = open_encoder(&flow, sink, err);
    if (code == LAP_OK)
        code = carry_out(&flow, err);
    if (report)
        fill_report(&flow, source, sink, report);
    lap_flow_release(&flow);
    lap_encoder_close(flow.encoder);
    lap_decoder_close(flow.decoder);
    pthread_cond_destroy(&flow.changed);
    pthread_mutex_destroy(&flow.lock);
    return code;
}
