#include "run/lossless.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "libjpeg/jpeg_turn.h"
#include "run/formats.h"

/* ---- the decision ------------------------------------------------------------------------------ */

static bool is_demanded(const lap_settings *s)
{
    return s->lossless == LAP_LOSSLESS_TRIM || s->lossless == LAP_LOSSLESS_PERFECT;
}

static bool is_to_jpeg(const lap_settings *s)
{
    return !s->format || lap_format_find(s->format) == LAP_FORMAT_JPG;
}

/* Names the setting that rules out a lossless transform of any file; NULL if no setting does. */
static const char *recoding(const lap_settings *s)
{
    return s->gray                        ? "one channel is requested"
           : s->restart == LAP_RESTART_ON ? "restart markers are requested"
           : !is_to_jpeg(s)               ? "the output is not a JPEG"
                                          : NULL;
}

/* Whether the file has the requested subsampling after its blocks are moved: 4:2:2 becomes 4:4:0 if the
 * transform transposes. Gray files have no subsampling, so any request is met. */
static bool has_subsampling(const lap_jpeg_scan *scan, lap_turn turn, lap_subsampling asked)
{
    const int wide = asked == LAP_SUB_444 ? 1 : 2, high = asked == LAP_SUB_420 ? 2 : 1;
    const bool swap = lap_turn_transposes(turn);
    bool has = true;
    for (int c = 1; c < scan->components && c < 4; c++)
        has = has && scan->sample_h[0] == scan->sample_h[c] * (swap ? high : wide) &&
              scan->sample_v[0] == scan->sample_v[c] * (swap ? wide : high);
    return has || asked == LAP_SUB_SAME;
}

lap_code lap_lossless_check(const lap_settings *s, lap_error *err)
{
    if (!is_demanded(s))
        return LAP_OK;
    const char *const why = recoding(s);
    return why ? lap_fail(err, LAP_E_USAGE, "the transform must be lossless, but %s", why) : LAP_OK;
}

/* Falls back to decoding and re-encoding, or fails if the settings demand a lossless transform. Copies `why`.
 * loses: the JPEG rules out the lossless transform, not a setting, so the user does not expect a loss. */
static lap_code decline(lap_photo *p, const char *why, bool loses, lap_error *err)
{
    lap_lossless_way *way = &p->lossless;
    way->is_taken = false;
    way->loses = loses;
    if (way->is_demanded)
        return lap_fail(err, LAP_E_UNSUPPORTED, "cannot be turned without loss: %s", why);
    snprintf(way->room, sizeof way->room, "%.150s", why);
    way->reason = way->room;
    return LAP_OK;
}

static lap_turn turn_of(const lap_settings *s, const lap_jpeg_scan *scan, const uint8_t *bytes)
{
    int orientation = 1;
    for (size_t i = scan->span_count; s->auto_orient && i-- > 0;) {
        const lap_jpeg_span *p = &scan->spans[i];
        if (p->marker == 0xE1 && lap_exif_is(bytes + p->offset, p->size)) /* the first EXIF segment counts */
            orientation = lap_exif_orientation(bytes + p->offset, p->size);
    }
    return lap_turn_compose((lap_turn)orientation, s->turn);
}

static lap_code plan_turn(lap_photo *p, const lap_jpeg_scan *scan, const uint8_t *bytes, lap_error *err)
{
    lap_lossless_way *way = &p->lossless;
    const lap_settings *s = &p->settings;
    const lap_turn turn = turn_of(s, scan, bytes);
    if (!has_subsampling(scan, turn, s->subsampling))
        return decline(p, "another subsampling is requested", false, err);
    const char *why = lap_jpeg_turn_obstacle(scan);
    char partial[160];
    bool whole;
    const bool fits = lap_jpeg_turn_trim(scan, turn, &way->width, &way->height, &whole);
    if (!why && !fits)
        why = "it is smaller than one MCU";
    if (!why && !whole && s->lossless != LAP_LOSSLESS_TRIM) {
        snprintf(partial, sizeof partial, "%d x %d has partial MCUs; trimmed to %d x %d it would not",
            scan->width, scan->height, way->width, way->height);
        why = partial;
    }
    way->trims = !whole;
    way->is_taken = !why;
    if (!why)
        return LAP_OK;
    const lap_code code = decline(p, why, true, err);
    return why == partial && code != LAP_OK ? lap_error_remedy(err, code, LAP_REMEDY_TRIM) : code;
}

lap_code lap_lossless_plan(lap_photo *p, lap_error *err)
{
    const lap_settings *s = &p->settings;
    const uint8_t *bytes = NULL;
    lap_input kind;
    lap_jpeg_scan scan = {0};
    if (s->lossless == LAP_LOSSLESS_NO)
        return LAP_OK;
    p->lossless.is_demanded = is_demanded(s);
    const char *why = recoding(s);
    if (lap_lossless_check(s, err) != LAP_OK)
        return lap_error_about(err, LAP_E_USAGE, lap_source_name(p->source));
    if (why)
        return decline(p, why, false, err);
    lap_code code = lap_input_look(p->source, &kind, err);
    if (code != LAP_OK || kind == LAP_INPUT_EMPTY) /* the decoder will report an empty input */
        return code;
    if (kind == LAP_INPUT_OTHER)
        return decline(p, "the input is not a JPEG", false, err);
    code = lap_jpeg_scan_source(p->source, &scan, &bytes, err);
    if (code == LAP_OK)
        code = plan_turn(p, &scan, bytes, err);
    free(scan.spans);
    return code;
}

/* ---- the turn ---------------------------------------------------------------------------------- */

/* Sets the output's size and metadata, after any trimming. */
static void plan_output(lap_photo *p)
{
    const lap_lossless_way *way = &p->lossless;
    const bool swap = lap_turn_transposes(p->plan.turn);
    p->width = swap ? way->height : way->width;
    p->height = swap ? way->width : way->height;
    p->channels = lap_decoder_header(p->decoder)->components;
    p->plan.write.width = p->width;
    p->plan.write.height = p->height;
    p->plan.write.channels = p->channels;
    p->plan.write.as_stored = true;
}

static lap_code read_and_move(lap_photo *p, lap_jpeg_turned **turned, lap_error *err)
{
    const lap_lossless_way *way = &p->lossless;
    const lap_jpeg_turning turning = {.turn = p->plan.turn,
        .width = way->width,
        .height = way->height,
        .progressive = p->plan.write.progressive,
        .control = &p->control};
    lap_error why;
    const double start = lap_now_ms();
    lap_code code = lap_jpeg_turn_read(p->decoder, err);
    if (code == LAP_OK)
        code = lap_decoder_finish(p->decoder, &p->damage, err);
    const double read = lap_now_ms();
    p->ms.decode += read - start;
    if (code != LAP_OK)
        return code;
    code = lap_jpeg_turn_move(p->decoder, &turning, turned, &why);
    p->ms.encode += lap_now_ms() - read;
    if (code == LAP_E_UNSUPPORTED)
        return decline(p, why.message, true, err);
    if (code != LAP_OK)
        *err = why;
    return code;
}

static lap_code turn_and_write(lap_photo *p, lap_error *err)
{
    lap_lossless_way *way = &p->lossless;
    lap_jpeg_turned *turned = NULL;
    lap_code code = read_and_move(p, &turned, err);
    if (code != LAP_OK || !turned)
        return code;
    plan_output(p);
    const double start = lap_now_ms();
    code = lap_jpeg_turn_write(turned, &p->plan.write, p->sink, err);
    p->ms.encode += lap_now_ms() - start;
    lap_jpeg_turned_free(turned);
    way->done = code == LAP_OK;
    return code;
}

lap_code lap_lossless_run(lap_photo *p, lap_error *err)
{
    lap_budget *const budget = &p->context->budget;
    const uint64_t limit = p->plan.max_memory;
    /* libjpeg reads all coefficients. If the lossless transform fails, the pixels are computed from them. */
    (void)lap_decoder_spare(p->decoder, "its coefficients were read for a turn without loss");
    const uint64_t need = lap_jpeg_turn_memory(lap_decoder_header(p->decoder));
    if (limit && need > limit)
        return lap_fail_over_limit(
            err, "turning without loss takes up to", need, limit, LAP_REMEDY_MAX_MEMORY);
    lap_code code = limit ? lap_budget_take(budget, need, limit, &p->control, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    code = turn_and_write(p, err);
    if (limit) /* if nothing was written, by_pixels reserves all that it needs, including the coefficients */
        lap_budget_give(budget, need);
    return code;
}
