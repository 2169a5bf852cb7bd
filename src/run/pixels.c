/* Whole images: for rotating and mirroring, for devices, and for callers that have or want pixels rather than
 * a file (comparison, statistics, benches). */
#include "run/pixels.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/status.h"
#include "base/times.h"
#include "ops/ops.h"
#include "run/formats.h"
#include "run/settings.h"

/* ---- from a decoder ---------------------------------------------------------------------------- */

/* Strips are rotated or mirrored while they are in the cache. */
enum { MCU_ROWS = 16, STRIP_ROWS = 2 * MCU_ROWS, MIN_ROWS = 2 * STRIP_ROWS };

typedef struct share { /* rows that one thread is going to decode */
    int next, end;
} share;

typedef struct task {
    const lap_collect *collect;
    pthread_mutex_t lock; /* guards collect->ms and the members below */
    share *shares;        /* one per thread */
    int count, members;   /* shares; threads that joined */
    lap_code code;        /* the first failure */
    lap_error err;
} task;

/* Decodes rows y .. y + strip->height - 1, and writes them, rotated or mirrored, to their place in the
 * output. */
static lap_code bring_rows(
    const lap_collect *c, lap_decoder *decoder, const lap_view *strip, int y, lap_times *ms, lap_error *err)
{
    const bool is_turned = lap_turn_reorders(c->turn);
    const lap_view rows = is_turned ? *strip : lap_view_rows(c->to, y, strip->height);
    const double start = lap_now_ms();
    lap_code code = lap_control_check(decoder->options.control, err);
    if (code == LAP_OK)
        code = lap_decoder_rows(decoder, &rows, err);
    const double decoded = lap_now_ms();
    if (code == LAP_OK && c->turn == LAP_TURN_H)
        lap_orient_mirror(&rows);
    if (code == LAP_OK && is_turned) {
        const int height = lap_decoder_header(decoder)->height;
        const lap_view target = lap_orient_rows(c->to, c->turn, height, y, y + rows.height);
        code = lap_orient(&rows, &target, c->turn, NULL, err);
    }
    ms->decode += decoded - start;
    ms->filter += lap_now_ms() - decoded;
    return code;
}

/* The state of one thread that decodes rows. */
typedef struct bringer {
    const lap_collect *collect;
    lap_image strip; /* if the turn reorders rows: one strip in stored order, never the whole image */
    lap_times ms;
} bringer;

static lap_code begin_bringing(bringer *b, const lap_collect *c, lap_error *err)
{
    const lap_header *header = lap_decoder_header(c->decoder);
    *b = (bringer){.collect = c, .strip.view.width = header->width};
    return lap_turn_reorders(c->turn)
               ? lap_image_create(&b->strip, header->width, STRIP_ROWS, header->channels, 0, err)
               : LAP_OK;
}

static void end_bringing(task *t, bringer *b)
{
    lap_image_destroy(&b->strip);
    pthread_mutex_lock(&t->lock);
    if (b->collect->ms)
        lap_times_add(b->collect->ms, &b->ms);
    pthread_mutex_unlock(&t->lock);
}

static lap_code bring_strip(bringer *b, lap_decoder *decoder, const share *rows, lap_error *err)
{
    lap_view strip = b->strip.view;
    strip.height = rows->end - rows->next;
    return bring_rows(b->collect, decoder, &strip, rows->next, &b->ms, err);
}

/* Removes the first strip of a share, and returns it. */
static share strip_of(share *from)
{
    share strip = *from;
    if (strip.end - strip.next > STRIP_ROWS)
        strip.end = strip.next + STRIP_ROWS;
    from->next = strip.end;
    return strip;
}

static lap_code collect_in_order(task *t, lap_error *err)
{
    const lap_collect *c = t->collect;
    share all = {.end = lap_decoder_header(c->decoder)->height};
    bringer b;
    lap_code code = begin_bringing(&b, c, err);
    while (code == LAP_OK && all.next < all.end) {
        const share strip = strip_of(&all);
        code = bring_strip(&b, c->decoder, &strip, err);
    }
    end_bringing(t, &b);
    return code;
}

/* Rounds to the second row of an MCU, where the fewest rows are decoded twice: if chroma has half of the
 * height, the first row of an MCU needs the MCU above it. */
static int seam(int y)
{
    return y / MCU_ROWS * MCU_ROWS + 1;
}

/* Call with the lock held. Gives an idle thread the lower half of what the largest share has left, or
 * everything if little is left: a share may belong to a thread that never started. */
static void split_largest(task *t, share *mine)
{
    share *most = t->shares;
    for (int i = 1; i < t->count; i++)
        if (t->shares[i].end - t->shares[i].next > most->end - most->next)
            most = &t->shares[i];
    const int left = most->end - most->next;
    *mine = (share){left < MIN_ROWS ? most->next : seam(most->next + left / 2), most->end};
    most->end = mine->next;
}

/* Takes the thread's next strip; false: nothing is left. *goes_on: the strip lies directly below the thread's
 * previous one. */
static bool take_strip(task *t, share *mine, share *strip, bool *goes_on)
{
    pthread_mutex_lock(&t->lock);
    *goes_on = mine->next < mine->end;
    if (!*goes_on)
        split_largest(t, mine);
    const bool has_rows = t->code == LAP_OK && mine->next < mine->end;
    if (has_rows)
        *strip = strip_of(mine);
    pthread_mutex_unlock(&t->lock);
    return has_rows;
}

/* Each thread decodes from its own first row downwards, so rows at the seam of two threads are decoded
 * twice. */
static lap_code collect_share(task *t, share *mine, bringer *b, lap_error *err)
{
    lap_decoder *whole = t->collect->decoder, *decoder = NULL;
    const int height = lap_decoder_header(whole)->height;
    lap_code code = LAP_OK;
    share strip;
    for (bool goes_on; code == LAP_OK && take_strip(t, mine, &strip, &goes_on);) {
        if (!decoder || !goes_on) {
            lap_decoder_close(decoder);
            decoder = NULL;
            code = lap_decoder_open_at(whole, strip.next, height, &decoder, err);
        }
        if (code == LAP_OK)
            code = bring_strip(b, decoder, &strip, err);
    }
    lap_decoder_close(decoder);
    return code;
}

static void collect_shares(void *argument)
{
    task *t = argument;
    bringer b;
    lap_error err = {0};
    pthread_mutex_lock(&t->lock);
    share *mine = &t->shares[t->members++];
    pthread_mutex_unlock(&t->lock);
    lap_code code = begin_bringing(&b, t->collect, &err);
    if (code == LAP_OK)
        code = collect_share(t, mine, &b, &err);
    end_bringing(t, &b);
    pthread_mutex_lock(&t->lock);
    if (code != LAP_OK && t->code == LAP_OK) {
        t->code = code;
        t->err = err;
        t->err.code = code;
    }
    pthread_mutex_unlock(&t->lock);
}

static lap_code collect_at_once(task *t, int height, lap_error *err)
{
    const lap_read_options *options = &t->collect->decoder->options;
    const int most = (height - 1) / MIN_ROWS + 1, threads = options->threads > 1 ? options->threads : 1;
    t->count = threads < most ? threads : most;
    t->shares = calloc((size_t)t->count, sizeof *t->shares);
    if (!t->shares)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the threads that decode");
    for (int i = 0; i < t->count; i++) {
        t->shares[i].next = i ? t->shares[i - 1].end : 0;
        t->shares[i].end = i < t->count - 1 ? seam((int)((int64_t)height * (i + 1) / t->count)) : height;
    }
    lap_pool_team(options->pool, t->count, collect_shares, t);
    free(t->shares);
    if (t->code != LAP_OK && err)
        *err = t->err;
    return t->code;
}

static lap_code collect_all(void *user, bool in_order, lap_error *err)
{
    task *t = user;
    lap_decoder *decoder = t->collect->decoder;
    const int height = lap_decoder_header(decoder)->height;
    return in_order ? collect_in_order(t, err) : collect_at_once(t, height, err);
}

lap_code lap_collect_image(const lap_collect *c, lap_damage *damage, lap_error *err)
{
    task t = {.collect = c, .lock = PTHREAD_MUTEX_INITIALIZER};
    lap_code code = lap_decoder_run(c->decoder, collect_all, &t, err);
    const double start = lap_now_ms();
    if (code == LAP_OK)
        code = lap_decoder_finish(c->decoder, damage, err);
    if (c->ms)
        c->ms->decode += lap_now_ms() - start;
    return code;
}

/* ---- from a file ------------------------------------------------------------------------------- */

struct lap_pixels {
    lap_image image; /* with an apron, which decoding does not fill */
    lap_view view;   /* the image without its apron */
    char note[LAP_PIXELS_NOTE];
    lap_damage damage;
    bool is_16_bit; /* in the file */
};

const char *lap_pixels_note(const lap_pixels *pixels)
{
    return pixels->note;
}

void lap_pixels_warn(const lap_pixels *p, bool exact, lap_report *report)
{
    const bool is_reduced = exact && p->is_16_bit, has_both = is_reduced && p->damage.warnings > 0;
    if (report->warnings == 0)
        snprintf(report->warning, sizeof report->warning, "%.180s%s%s", p->damage.first, has_both ? "; " : "",
            is_reduced ? "reduced from 16 to 8 bits per sample" : "");
    report->warnings += p->damage.warnings + is_reduced;
}

const lap_view *lap_pixels_view(const lap_pixels *pixels)
{
    return &pixels->view;
}

const lap_view *lap_pixels_with_apron(const lap_pixels *pixels)
{
    return &pixels->image.view;
}

void lap_pixels_free(lap_pixels *pixels)
{
    if (!pixels)
        return;
    lap_image_destroy(&pixels->image);
    free(pixels);
}

static lap_code check_memory(const lap_whole *whole, int images, lap_error *err)
{
    const lap_header *h = lap_decoder_header(whole->decoder);
    const uint64_t limit = whole->options.max_memory;
    size_t bytes;
    bool fits = lap_mul((size_t)h->width * (size_t)h->channels, (size_t)h->height, &bytes) &&
                lap_mul(bytes, (size_t)images, &bytes) && lap_add(bytes, h->memory_estimate, &bytes);
    if (fits && (limit == 0 || bytes <= limit))
        return LAP_OK;
    if (!fits)
        return lap_fail(err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", h->width, h->height);
    return lap_fail_over_limit(err, "takes up to", bytes, limit, LAP_REMEDY_MAX_MEMORY);
}

lap_code lap_whole_fit(const lap_whole *whole, int images, lap_error *err)
{
    lap_code code = check_memory(whole, images, err);
    if (code == LAP_E_LIMIT && lap_decoder_spare(whole->decoder, "memory is short"))
        code = check_memory(whole, images, err);
    return code;
}

lap_code lap_whole_open(
    lap_whole *whole, lap_context *context, const lap_settings *settings, int images, lap_error *err)
{
    const int threads = lap_pool_threads(context->pool);
    whole->control = lap_context_control(context, settings->timeout_s, lap_now_ms());
    whole->options = lap_read_options_of(settings, &whole->control);
    whole->options.pool = context->pool;
    whole->options.threads =
        settings->threads > 0 && settings->threads < threads ? settings->threads : threads;
    whole->options.images = images;
    whole->options.plans = true;
    const lap_code code = lap_decoder_open(whole->source, &whole->options, &whole->decoder, err);
    return code == LAP_OK ? lap_whole_fit(whole, images, err) : code;
}

lap_turn lap_whole_turn(const lap_whole *whole, const lap_settings *settings)
{
    return settings->auto_orient ? (lap_turn)lap_decoder_header(whole->decoder)->orientation : LAP_TURN_NONE;
}

void lap_whole_note(const lap_whole *whole, char *note, size_t size)
{
    const lap_decoder *d = whole->decoder;
    if (!d || !d->coder)
        return;
    if (d->opens == LAP_AT_ANY_ROW)
        snprintf(note, size, "decoded in parallel by %s", d->coder);
    else if (d->how)
        snprintf(note, size, "decoded serially by %s: %s", d->coder, d->how);
    else
        snprintf(note, size, "decoded by %s", d->coder);
}

void lap_whole_close(lap_whole *whole)
{
    lap_decoder_close(whole->decoder);
    lap_source_close(whole->source);
    *whole = (lap_whole){0};
}

void lap_report_damage(lap_report *report, const lap_damage *damage)
{
    report->warnings = damage->warnings;
    snprintf(report->warning, sizeof report->warning, "%s", damage->first);
}

lap_code lap_view_conclude(
    lap_code code, lap_error *why, double start, const lap_view *view, lap_report *report, lap_error *err)
{
    report->width = code == LAP_OK ? view->width : 0;
    report->height = code == LAP_OK ? view->height : 0;
    report->channels = code == LAP_OK ? view->channels : 0;
    return lap_report_conclude(code, why, NULL, start, report, err);
}

/* Decodes all pixels into p->image, rotated or mirrored. Does not fill its apron. */
static lap_code decode(const lap_whole *whole, lap_turn turn, lap_pixels *p, lap_error *err)
{
    const lap_header *h = lap_decoder_header(whole->decoder);
    const bool swap = lap_turn_transposes(turn);
    const lap_collect collect = {.decoder = whole->decoder, .turn = turn, .to = &p->image.view};
    p->is_16_bit = h->is_16_bit;
    lap_code code = lap_image_create(
        &p->image, swap ? h->height : h->width, swap ? h->width : h->height, h->channels, LAP_APRON, err);
    if (code == LAP_OK)
        code = lap_collect_image(&collect, &p->damage, err);
    if (code != LAP_OK)
        return code;
    lap_whole_note(whole, p->note, sizeof p->note);
    p->view = lap_view_inset(&p->image.view, 0);
    return LAP_OK;
}

/* Closes the source. */
static lap_code read_pixels(lap_context *context, lap_source *source, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err)
{
    lap_whole whole = {.source = source};
    lap_pixels *p = calloc(1, sizeof *p);
    lap_code code =
        p ? lap_whole_open(&whole, context, settings, 1, err) : lap_fail(err, LAP_E_MEMORY, "out of memory");
    if (code == LAP_OK)
        code = decode(&whole, lap_whole_turn(&whole, settings), p, err);
    code = lap_source_result(source, NULL, code, err);
    lap_whole_close(&whole);
    if (code == LAP_OK)
        *pixels = p;
    else
        lap_pixels_free(p);
    return code;
}

lap_code lap_pixels_read(
    lap_context *context, const char *path, const lap_settings *settings, lap_pixels **pixels, lap_error *err)
{
    lap_source *source = NULL;
    *pixels = NULL;
    const lap_code code = lap_source_open(path, &source, err);
    return code == LAP_OK ? read_pixels(context, source, settings, pixels, err) : code;
}

lap_code lap_pixels_decode(lap_context *context, const void *file, size_t size, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err)
{
    lap_source *source = NULL;
    *pixels = NULL;
    const lap_code code = lap_source_memory(file, size, "memory", &source, err);
    return code == LAP_OK ? read_pixels(context, source, settings, pixels, err) : code;
}

/* ---- to an encoder ------------------------------------------------------------------------------ */

static lap_code encode_bands(
    const lap_view *view, const lap_control *control, lap_encoder *encoder, lap_error *err)
{
    const int rows = lap_encoder_band_rows(encoder);
    lap_chunk chunk = {0};
    lap_code code = LAP_OK;
    for (int i = 0, y = 0; y < view->height && code == LAP_OK; i++, y += rows) {
        const lap_view band = lap_view_rows(view, y, view->height - y < rows ? view->height - y : rows);
        code = lap_control_check(control, err);
        if (code == LAP_OK)
            code = lap_encoder_band(encoder, i, &band, &chunk, err);
        if (code == LAP_OK)
            code = lap_encoder_append(encoder, i, &chunk, err);
    }
    lap_chunk_free(&chunk);
    return code == LAP_OK ? lap_encoder_finish(encoder, err) : code;
}

lap_code lap_image_write(const lap_view *view, const lap_settings *settings, const lap_control *control,
    lap_sink *sink, lap_error *err)
{
    const lap_format format = settings->format ? lap_format_find(settings->format) : LAP_FORMAT_JPG;
    lap_write_options options =
        lap_write_options_of(settings, view->width, view->height, view->channels, control);
    lap_encoder *encoder = NULL;
    options.in_order = true;
    lap_code code = lap_encoder_open(sink, format, &options, &encoder, err);
    if (code == LAP_OK)
        code = encode_bands(view, control, encoder, err);
    lap_encoder_close(encoder);
    return code == LAP_OK ? lap_sink_finish(sink, false, NULL, err) : code;
}

static lap_code check_pixels(const lap_view *pixels, const lap_settings *settings, lap_error *err)
{
    const lap_code code = lap_settings_check(settings, err);
    if (code != LAP_OK)
        return code;
    if (!pixels->base || pixels->width < 1 || pixels->height < 1 || pixels->channels == 2 ||
        pixels->channels < 1 || pixels->channels > 4)
        return lap_fail(err, LAP_E_USAGE, "%d x %d pixels with %d channels cannot be encoded", pixels->width,
            pixels->height, pixels->channels);
    if (pixels->place != LAP_ON_HOST)
        return lap_fail(err, LAP_E_USAGE,
            "the pixels lie on device %d; see lap_stream_encode; for host memory, set place to LAP_ON_HOST",
            pixels->place);
    if (settings->codec == LAP_CODEC_CUDA)
        return lap_fail(err, LAP_E_USAGE, "codec 'cuda' cannot encode pixels in host memory");
    return LAP_OK;
}

static lap_code encode_memory(const lap_view *pixels, const lap_settings *settings,
    const lap_control *control, void **out, size_t *out_size, lap_error *err)
{
    lap_sink *sink = NULL;
    *out = NULL;
    *out_size = 0;
    lap_code code = check_pixels(pixels, settings, err);
    if (code == LAP_OK)
        code = lap_sink_memory(&sink, err);
    if (code == LAP_OK)
        code = lap_image_write(pixels, settings, control, sink, err);
    if (code == LAP_OK)
        lap_sink_take(sink, out, out_size);
    lap_sink_close(sink);
    return code;
}

lap_code lap_encode(
    const lap_view *pixels, const lap_settings *given, void **out, size_t *out_size, lap_error *err)
{
    const lap_settings settings = lap_settings_complete(given);
    return encode_memory(pixels, &settings, NULL, out, out_size, err);
}

lap_code lap_encode_view(lap_context *context, const lap_view *pixels, const lap_settings *given, void **out,
    size_t *out_size, lap_error *err)
{
    const lap_settings settings = lap_settings_complete(given);
    const lap_control control = lap_context_control(context, settings.timeout_s, lap_now_ms());
    return encode_memory(pixels, &settings, &control, out, out_size, err);
}
