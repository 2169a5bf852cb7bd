#include "bench/bench_decoders.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "jpeg/decode_ladder.h"
#include "run/formats.h"

enum { ROWS_A_CALL = 128 };

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

lap_code lap_decoders_bench_begin(lap_decoders_bench *b, lap_bench_run *bench, lap_error *err)
{
    *b = (lap_decoders_bench){.bench = bench};
    for (int i = 0; i < LAP_DECODE_ROWS && lap_decode_row_at(i); i++) {
        const char *reason = lap_decode_missing(lap_decode_row_at(i));
        snprintf(b->reason[i], sizeof b->reason[i], "%.190s", reason ? reason : "");
        b->times[i] = calloc((size_t)bench->options->runs, sizeof **b->times);
        if (!b->times[i])
            return lap_fail(err, LAP_E_MEMORY, "bench: no memory for the times");
    }
    return LAP_OK;
}

/* TO is made as large as the photo. */
static lap_code make_room(lap_image *to, const lap_header *h, lap_error *err)
{
    const lap_view *v = &to->view;
    if (to->memory && v->width == h->width && v->height == h->height && v->channels == h->channels)
        return LAP_OK;
    lap_image_destroy(to);
    return lap_image_create(to, h->width, h->height, h->channels, 0, err);
}

/* By row i of the ladder. *coder: who decoded it after all. */
static lap_code decode(
    const void *bytes, size_t size, int i, lap_image *to, const char **coder, lap_error *err)
{
    const lap_read_options options = {.max_scans = 100,
        .fail_on = LAP_FAIL_TRUNCATED,
        .decode = LAP_DECODE_SERIAL,
        .codec = lap_decode_row_at(i)->codec};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_damage damage;
    lap_code code = lap_source_memory(bytes, size, "photo", &source, err);
    if (code == LAP_OK)
        code = lap_decoder_open(source, &options, &decoder, err);
    if (code == LAP_OK)
        code = make_room(to, lap_decoder_header(decoder), err);
    for (int y = 0; code == LAP_OK && y < to->view.height; y += ROWS_A_CALL) {
        const int left = to->view.height - y;
        const lap_view rows = lap_view_rows(&to->view, y, left < ROWS_A_CALL ? left : ROWS_A_CALL);
        code = lap_decoder_rows(decoder, &rows, err);
    }
    if (code == LAP_OK)
        code = lap_decoder_finish(decoder, &damage, err);
    if (code == LAP_OK)
        *coder = decoder->coder;
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

static bool is_same(const lap_view *a, const lap_view *b)
{
    const size_t row = (size_t)a->width * (size_t)a->channels;
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->base + y * a->stride, b->base + y * b->stride, row) != 0)
            return false;
    return true;
}

/* Once before it is timed: whether it decodes the photo at all, and to the same pixels. */
static void compare(lap_decoders_bench *b, int i, const lap_view *pixels, const char *coder)
{
    const char *name = lap_decode_row_at(i)->name;
    if (!coder || strcmp(coder, name) != 0) {
        snprintf(b->reason[i], sizeof b->reason[i], "it does not decode this photo; libjpeg-turbo does");
    } else if (!is_same(&b->reference.view, pixels)) {
        snprintf(b->reason[i], sizeof b->reason[i], "its pixels differ from libjpeg-turbo's");
        b->differs[i] = true;
    }
}

lap_code lap_decoders_bench_photo(
    lap_decoders_bench *b, const void *bytes, size_t size, int run, lap_error *err)
{
    for (int i = 0; i < LAP_DECODE_ROWS && lap_decode_row_at(i); i++) {
        lap_image *to = i ? &b->pixels : &b->reference;
        const char *coder = NULL;
        lap_code code = LAP_OK;
        if (run == 0 && !b->reason[i][0]) {
            code = decode(bytes, size, i, to, &coder, err);
            if (code == LAP_OK)
                compare(b, i, &to->view, coder);
        }
        if (b->reason[i][0])
            continue;
        const double start = cpu_ms();
        if (code == LAP_OK)
            code = decode(bytes, size, i, to, &coder, err);
        b->times[i][run] += cpu_ms() - start;
        if (code != LAP_OK)
            return code;
    }
    if (run == 0) {
        b->pixel_count += (double)b->reference.view.width * b->reference.view.height;
        b->bytes += size;
    }
    return LAP_OK;
}

void lap_decoders_bench_report(lap_decoders_bench *b, const lap_bench_row *shape)
{
    const int runs = b->bench->options->runs;
    for (int i = 0; i < LAP_DECODE_ROWS && lap_decode_row_at(i); i++) {
        const char *name = lap_decode_row_at(i)->name;
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = LAP_OP_DECODE, .name = name});
        row.threads = 1;
        row.width = shape->width;
        row.height = shape->height;
        row.channels = shape->channels;
        row.resolved = !b->reason[i][0] || b->differs[i] ? name : NULL;
        if (b->reason[i][0]) {
            row.reason = b->reason[i];
        } else {
            row.times_ms = b->times[i];
            row.runs = runs;
            lap_bench_fill_row(b->bench, LAP_ON_HOST, b->bytes, b->pixel_count, &row);
            row.roof_share = lap_summarize(b->times[0], runs).median / row.median_ms;
        }
        b->bench->each(b->bench->user, &row);
    }
}

void lap_decoders_bench_end(lap_decoders_bench *b)
{
    lap_image_destroy(&b->reference);
    lap_image_destroy(&b->pixels);
    for (int i = 0; i < LAP_DECODE_ROWS; i++)
        free(b->times[i]);
}
