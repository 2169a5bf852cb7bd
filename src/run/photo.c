#include "run/photo.h"

#include "base/border.h"
#include "base/status.h"
#include "run/bands.h"
#include "run/formats.h"
#include "run/lossless.h"
#include "run/photo_device.h"

/* ---- load -------------------------------------------------------------------------------------- */

static lap_code load(lap_photo *p, lap_error *err)
{
    lap_code code = lap_plan_settings(&p->plan, &p->settings, NULL, lap_pool_threads(p->context->pool), err);
    if (p->left_by_device)
        p->plan.decodes_there = false;
    lap_source_watch(p->source, &p->control); /* from here on, because reading the whole file may wait for a
                                                 pipe */
    if (code == LAP_OK && p->plan.decodes_there)
        code = lap_photo_hold_file(p, err);
    if (code == LAP_OK)
        code = lap_lossless_plan(p, err);
    return code == LAP_OK ? lap_photo_open(p, err) : code;
}

/* ---- work -------------------------------------------------------------------------------------- */

static lap_code open_encoder(lap_photo *p, lap_error *err)
{
    const double start = lap_now_ms();
    const lap_code code =
        lap_error_about(err, lap_encoder_open(p->sink, p->plan.format, &p->plan.write, &p->encoder, err),
            lap_source_name(p->source));
    p->ms.encode += lap_now_ms() - start;
    return code;
}

/* Decodes all pixels, rotated or mirrored as planned, for a filter on the CPU. */
static lap_code hold_whole(lap_photo *p, lap_error *err)
{
    const lap_code code = lap_photo_collect(p, err);
    if (code == LAP_OK && p->plan.rung)
        lap_border_fill(&p->whole.view, p->plan.border);
    return code;
}

static lap_code run_bands(lap_photo *p, lap_error *err)
{
    const lap_bands_job job = {.plan = &p->plan,
        .pool = p->context->pool,
        .control = &p->control,
        .decoder = p->decoder,
        .encoder = p->encoder,
        .whole = p->whole.memory ? &p->whole.view : NULL,
        .result = p->filtered.memory ? &p->filtered.view : NULL,
        .counts = p->plan.filters_whole ? NULL : p->counts, /* a device has already counted */
        .ms = &p->ms,
        .damage = &p->damage};
    lap_code code = lap_bands_run(&job, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_encoder_finish(p->encoder, err);
    p->ms.encode += lap_now_ms() - start;
    return code;
}

/* Reserves all memory of the photo in the budget at once, before any of it is used, so that no photo holds
 * memory while it waits for more. *has: the bytes to give back. */
static lap_code take_memory(lap_photo *p, uint64_t *has, lap_error *err)
{
    const uint64_t limit = p->plan.max_memory;
    const int threads = p->plan.threads;
    lap_code code = lap_plan_memory(&p->plan, p->decoder, p->encoder, err);
    if (code == LAP_E_LIMIT && lap_decoder_spare(p->decoder, "memory is short")) {
        p->plan.threads = threads;
        p->plan.how = p->decoder->how;
        code = lap_plan_memory(&p->plan, p->decoder, p->encoder, err);
    }
    if (code != LAP_OK || limit == 0)
        return code;
    code = lap_budget_take(&p->context->budget, p->plan.memory, limit, &p->control, err);
    *has = code == LAP_OK ? p->plan.memory : 0;
    return code;
}

/* Decodes, filters and encodes pixels, to the end of the output. */
static lap_code by_pixels(lap_photo *p, lap_error *err)
{
    uint64_t has = 0;
    bool is_done = false;
    lap_code code = open_encoder(p, err);
    if (code == LAP_OK)
        code = take_memory(p, &has, err);
    if (code == LAP_OK && p->plan.filters_whole)
        code = lap_photo_on_device(p, &is_done, err);
    else if (code == LAP_OK && p->plan.holds_whole)
        code = hold_whole(p, err);
    if (code == LAP_OK && !is_done)
        code = run_bands(p, err);
    if (code == LAP_OK)
        code = lap_photo_refuse_losses(p, err);
    lap_image_destroy(&p->whole);
    lap_image_destroy(&p->filtered);
    lap_budget_give(&p->context->budget, has);
    return code;
}

/* ---- the whole photo --------------------------------------------------------------------------- */

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
