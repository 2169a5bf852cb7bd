#include "run/plan.h"

#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "base/turn.h"
#include "device/devices.h"
#include "run/formats.h"
#include "run/settings.h"

/* ---- settings ---------------------------------------------------------------------------------- */

/* Finds the rung that filters. For backend "auto", codec "cuda" chooses a rung of the device. */
static lap_code find_rung(const lap_settings *s, const lap_rung **rung, lap_error *err)
{
    lap_error why = {0};
    const bool codec_chooses = s->codec == LAP_CODEC_CUDA && strcmp(s->backend, "auto") == 0;
    const char *name = codec_chooses ? lap_rung_fastest_on_device(LAP_OP_FILTER) : s->backend;
    const lap_code code = lap_rung_find(LAP_OP_FILTER, name, rung, &why);
    if (code == LAP_E_BACKEND && codec_chooses)
        return lap_fail(err, code, "codec 'cuda' needs a CUDA backend: %s", why.message);
    return code == LAP_OK ? code : lap_error_set(err, &why);
}

static lap_code plan_device(lap_plan *plan, const lap_settings *s, lap_error *err)
{
    const bool filters_there = plan->rung && !lap_rung_takes_bands(plan->rung);
    if (s->codec == LAP_CODEC_CUDA && !filters_there)
        return lap_fail(err, LAP_E_USAGE, "codec 'cuda' needs a CUDA backend, but %s runs on the CPU",
            plan->rung ? plan->rung->name : "a transform");
    if (!lap_codec_may_be_device(s->codec) || !filters_there)
        return LAP_OK;
    const lap_code code = lap_device_codec_choose(s->codec, LAP_DEVICE_CODES, &plan->no_device, err);
    plan->decodes_there = !lap_device_codec_unavailable(LAP_DEVICE_DECODES);
    plan->encodes_there = !lap_device_codec_unavailable(LAP_DEVICE_ENCODES);
    plan->on_device = plan->decodes_there || plan->encodes_there;
    return code;
}

/* Whether the first rows of the output need the last rows of the input. */
static bool wraps(const lap_plan *plan)
{
    return plan->rung && plan->border == LAP_WRAP;
}

lap_code lap_plan_settings(
    lap_plan *plan, const lap_settings *s, const lap_rung *rung, int threads, lap_error *err)
{
    *plan = (lap_plan){.rung = rung,
        .params = s->params,
        .border = s->border,
        .format = s->format ? lap_format_find(s->format) : LAP_FORMAT_JPG,
        .backend = s->backend,
        .decode = s->decode,
        .threads = s->threads > 0 && s->threads < threads ? s->threads : threads,
        .device = s->device,
        .gray = s->gray,
        .max_memory = s->max_memory,
        .progress = s->progress,
        .progress_user = s->progress_user,
        .stats = s->stats,
        .sync = s->sync,
        .preserves = s->preserve};
    lap_code code = s->filter && !rung ? find_rung(s, &plan->rung, err) : LAP_OK;
    if (code == LAP_OK)
        code = plan_device(plan, s, err);
    if (code != LAP_OK)
        return code;
    const bool is_jpg = plan->format == LAP_FORMAT_JPG, is_held = s->progressive || s->optimize;
    plan->filters_whole = plan->rung && !lap_rung_takes_bands(plan->rung);
    /* Only the CPU makes progressive files and optimised tables. */
    plan->encodes_there = plan->encodes_there && is_jpg && !is_held;
    /* libjpeg-turbo encodes bands independently only with restart markers; our encoders can also join bands
     * without markers. */
    const bool has_bands =
        is_jpg && !is_held && (s->restart != LAP_RESTART_OFF || s->codec != LAP_CODEC_TURBO);
    plan->takes_rows = !has_bands && plan->format != LAP_FORMAT_NOTHING && !lap_turn_reorders(s->turn) &&
                       !wraps(plan) && !plan->filters_whole;
    return LAP_OK;
}

/* Returns the smallest number of threads for which decoding by parts is faster. Serial decoding is less work,
 * and keeps one thread busy while others filter and encode. Measured: docs/parallel-decoding.md. */
static int worth_threads(const lap_plan *plan)
{
    if (plan->format == LAP_FORMAT_NOTHING)
        return 4;
    return plan->rung ? 3 : 2;
}

/* Returns how many whole images a run with these settings may hold at most. */
static int most_images(const lap_plan *plan, const lap_settings *s)
{
    enum { COEFFICIENTS = 2 }; /* the encoder's: two bytes for each sample */
    const bool may_hold = plan->filters_whole || wraps(plan) || s->auto_orient || lap_turn_reorders(s->turn);
    return may_hold + plan->filters_whole + (s->progressive || s->optimize ? COEFFICIENTS : 0);
}

lap_read_options lap_plan_read(
    const lap_plan *plan, const lap_settings *settings, const lap_control *control, lap_pool *pool)
{
    lap_read_options options = lap_read_options_of(settings, control);
    options.pool = pool;
    options.threads = plan->threads;
    options.worth_threads = worth_threads(plan);
    options.images = most_images(plan, settings);
    options.plans = true;
    options.in_order = plan->takes_rows && options.decode != LAP_DECODE_SERIAL;
    if (plan->takes_rows || plan->decodes_there)
        options.decode = LAP_DECODE_SERIAL;
    return options;
}

/* ---- header ------------------------------------------------------------------------------------ */

/* Sets the encoder's options, and the input's header from which it keeps metadata and sampling. */
static void plan_write(lap_plan *plan, const lap_settings *s, const lap_decoder *decoder)
{
    const lap_header *header = lap_decoder_header(decoder);
    plan->from = *header;
    if (lap_turn_transposes(plan->turn)) { /* horizontal and vertical sampling are swapped */
        memcpy(plan->from.sample_h, header->sample_v, sizeof header->sample_v);
        memcpy(plan->from.sample_v, header->sample_h, sizeof header->sample_h);
        plan->from.density_x = header->density_y;
        plan->from.density_y = header->density_x;
    }
    plan->write =
        lap_write_options_of(s, plan->width, plan->height, plan->channels, decoder->options.control);
    plan->write.from = &plan->from;
    plan->write.in_order = plan->threads == 1;
}

void lap_plan_header(lap_plan *plan, const lap_settings *s, const lap_decoder *decoder)
{
    /* Below this many pixels threads cost more than they save. */
    enum { SMALL_PIXELS = 300000 };
    const lap_header *header = lap_decoder_header(decoder);
    plan->turn = lap_turn_compose(s->auto_orient ? (lap_turn)header->orientation : LAP_TURN_NONE, s->turn);
    const bool swap = lap_turn_transposes(plan->turn);
    plan->width = swap ? header->height : header->width;
    plan->height = swap ? header->width : header->height;
    plan->channels = header->channels;
    plan->holds_whole = plan->filters_whole || lap_turn_reorders(plan->turn) || wraps(plan);
    if ((uint64_t)plan->width * (uint64_t)plan->height < SMALL_PIXELS)
        plan->threads = 1;
    plan->how = !plan->takes_rows                  ? decoder->how
                : s->decode == LAP_DECODE_PARALLEL ? "this output needs rows in order"
                                                   : NULL;
    plan_write(plan, s, decoder);
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Upper limit of the memory for bands, unless that leaves only a few threads. One thread at a time decodes,
 * so more bands would mostly wait. A photo of 19 million pixels stays below 64 MB altogether. */
enum { RING_BYTES = 48 << 20, FEW_THREADS = 4 };
/* The same limit if the photo is decoded by parts. A waiting band counts as half of its pixels, since it
 * rarely takes more once it is encoded. */
enum { PARTS_BYTES = 100 << 20 };
/* The same limit, including the compressed file. It applies, for example, to a picture of 20000 x 20000
 * pixels. */
enum { ALL_BYTES = 170 << 20 };

/* Source and result of a strip fit in the L2 cache. With each strip, the filter reads a few more rows. */
enum { STRIP_ROWS = 64, STRIP_BYTES = 256 << 10 };

/* A single thread may encode strips with any encoder, because its bands come in order. */
static void plan_strips(lap_plan *plan, const lap_encoder *encoder, size_t row)
{
    const int step = lap_encoder_row_step(encoder);
    plan->encodes_strips = step > 0 && (plan->in_any_order || plan->threads == 1);
    plan->strip_rows = plan->by_parts ? STRIP_ROWS : plan->band_rows;
    if (!plan->encodes_strips)
        return;
    const size_t fit = STRIP_BYTES / row, most = fit < STRIP_ROWS ? fit : STRIP_ROWS;
    plan->strip_rows = most < (size_t)step ? step : (int)(most / (size_t)step) * step;
}

int lap_plan_part(const lap_plan *plan, int left)
{
    const int fair = (left - 1) / (2 * plan->threads) + 1;
    return fair < plan->part_bands ? fair : plan->part_bands;
}

static void count_parts(lap_plan *plan, int threads)
{
    plan->threads = threads;
    plan->part_bands = plan->bands; /* no limit */
    plan->part_bands = lap_plan_part(plan, plan->bands);
    const int ahead = threads * plan->part_bands + 2 * plan->part_bands;
    plan->cells = ahead < plan->bands ? ahead : plan->bands;
    plan->results = threads;
}

typedef struct parts_bytes {
    size_t thread; /* held by each thread: a strip, a band, its decoder */
    size_t band;   /* an encoded band that waits for those before it */
    size_t fixed;  /* independent of the number of threads */
    size_t most;   /* the most for threads and bands together; an explicit request may exceed it */
} parts_bytes;

/* Sets plan->memory; true if the plan's threads and cells keep to both limits. */
static bool parts_fit(lap_plan *plan, const parts_bytes *bytes, bool may_exceed)
{
    const uint64_t limit = plan->max_memory ? plan->max_memory : UINT64_MAX;
    size_t threads, bands, all;
    if (!lap_mul(bytes->thread, (size_t)plan->threads, &threads) ||
        !lap_mul(bytes->band, (size_t)plan->cells, &bands) || !lap_add(threads, bands, &all) ||
        !lap_add(all, bytes->fixed, &all))
        return false;
    plan->memory = all;
    return all <= limit && (threads + bands / 2 <= bytes->most || may_exceed);
}

/* Plans by parts: cells hold only chunks, results belong to threads. False if even the least number of
 * threads, with `fixed`, exceeds the limit. */
static bool plan_parts(lap_plan *plan, const lap_decoder *decoder, size_t row, size_t fixed)
{
    /* Only an explicit request allows fewer threads than worth_threads, or more memory than `most`. */
    const bool is_asked = decoder->options.decode == LAP_DECODE_PARALLEL;
    const int least = is_asked ? 1 : decoder->options.worth_threads;
    const size_t held = decoder->held, room = held < ALL_BYTES ? ALL_BYTES - held : 0;
    parts_bytes bytes = {.fixed = fixed, .most = room < PARTS_BYTES ? room : PARTS_BYTES};
    if (!lap_mul(row, STRIP_ROWS + 2 * LAP_APRON, &bytes.thread) ||
        !lap_mul(row, (size_t)plan->band_rows, &bytes.band) ||
        !lap_add(bytes.thread, bytes.band, &bytes.thread) ||
        !lap_add(bytes.thread, decoder->at_memory, &bytes.thread))
        return false;
    for (int threads = plan->threads; threads >= least && threads > 0; threads--) {
        count_parts(plan, threads);
        for (; plan->part_bands > 0; plan->part_bands--, plan->cells = threads * plan->part_bands) {
            if (plan->cells > plan->bands)
                plan->cells = plan->bands;
            if (parts_fit(plan, &bytes, is_asked && threads == 1))
                return true;
        }
    }
    return false;
}

/* With two more cells than threads, all threads are busy while one band is decoded and one written. A single
 * thread needs a second cell only for the rows that a band passes to the next. */
static void count_cells(lap_plan *plan, int threads)
{
    const int wanted = threads == 1 ? 2 : threads + 2;
    plan->threads = threads;
    plan->cells = wanted < plan->bands ? wanted : plan->bands;
    plan->ahead = threads == 1 ? 1 : plan->cells;
    plan->results = !plan->rung || plan->filters_whole ? 0 : plan->in_any_order ? threads : plan->cells;
}

static lap_code plan_ring(lap_plan *plan, size_t row, size_t fixed, lap_error *err)
{
    const uint64_t limit = plan->max_memory ? plan->max_memory : UINT64_MAX;
    size_t cell = 0, result = 0, cells, results, ring = 0, all;
    bool fits = lap_mul(row, (size_t)plan->band_rows + 2 * LAP_APRON, &result) &&
                lap_mul(result, plan->holds_whole ? 1 : 2, &cell); /* a chunk may grow as large as the band's
                                                                      pixels */
    for (int threads = plan->threads; fits && threads > 0; threads--) {
        count_cells(plan, threads);
        fits = lap_mul(cell, (size_t)plan->cells, &cells) &&
               lap_mul(result, (size_t)plan->results, &results) && lap_add(cells, results, &ring) &&
               lap_add(ring, fixed, &all);
        plan->memory = fits ? all : 0;
        if (fits && all <= limit && (ring <= RING_BYTES || threads <= FEW_THREADS))
            return LAP_OK;
    }
    if (!fits)
        return lap_fail(
            err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", plan->width, plan->height);
    return lap_fail_over_limit(err, "takes up to", plan->memory, limit, LAP_REMEDY_MAX_MEMORY);
}

/* Computes the bytes that do not depend on the number of threads; false if the sum overflows. */
static bool fixed_bytes(
    const lap_plan *plan, size_t row, const lap_decoder *decoder, const lap_encoder *encoder, size_t *bytes)
{
    const size_t images = (size_t)plan->holds_whole + plan->filters_whole;
    size_t image;
    return lap_mul(row, (size_t)plan->height + 2 * LAP_APRON, &image) && lap_mul(image, images, bytes) &&
           lap_add(*bytes, encoder->memory, bytes) &&
           lap_add(*bytes, lap_decoder_header(decoder)->memory_estimate, bytes);
}

lap_code lap_plan_memory(
    lap_plan *plan, const lap_decoder *decoder, const lap_encoder *encoder, lap_error *err)
{
    const int threads = plan->threads;
    const bool opens_at = lap_decoder_opens_at(decoder);
    size_t row = 0, fixed = 0;
    plan->band_rows = lap_encoder_band_rows(encoder);
    plan->bands = (plan->height - 1) / plan->band_rows + 1;
    plan->in_any_order = lap_encoder_is_parallel(encoder);
    if (!lap_mul((size_t)plan->width + 2 * LAP_APRON + 64, (size_t)plan->channels, &row) ||
        !fixed_bytes(plan, row, decoder, encoder, &fixed))
        return lap_fail(
            err, LAP_E_LIMIT, "%dx%d pixels are too many to be addressed", plan->width, plan->height);
    plan->by_parts =
        plan->in_any_order && !plan->holds_whole && opens_at && plan_parts(plan, decoder, row, fixed);
    if (plan->by_parts) {
        plan_strips(plan, encoder, row);
        return LAP_OK;
    }
    plan->threads = threads;
    if (opens_at && !plan->holds_whole) {
        plan->how = plan->in_any_order ? "its parts take too much memory" : "the output is one piece";
        fixed -= decoder->held;
    }
    const lap_code code = plan_ring(plan, row, fixed, err);
    if (code == LAP_OK)
        plan_strips(plan, encoder, row);
    return code;
}
