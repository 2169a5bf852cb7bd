#include "bench/bench_decoders.h"

#include <stdio.h>
#include <string.h>

#include "jpeg/ladders.h"
#include "run/formats.h"

enum { ROWS_A_CALL = 128 };

/* Reallocates *to unless it already has the size of the photo. */
static lap_code make_room(lap_image *to, const lap_header *h, lap_error *err)
{
    const lap_view *v = &to->view;
    if (to->memory && v->width == h->width && v->height == h->height && v->channels == h->channels)
        return LAP_OK;
    lap_image_destroy(to);
    return lap_image_create(to, h->width, h->height, h->channels, 0, err);
}

/* Decodes with row i of the ladder. *coder: the coder that really decoded. */
static lap_code decode(
    const void *bytes, size_t size, int i, lap_image *to, const char **coder, lap_error *err)
{
    const lap_read_options options = {.max_scans = 100,
        .fail_on = LAP_FAIL_TRUNCATED,
        .decode = LAP_DECODE_SERIAL,
        .codec = lap_coders_row(&lap_decoders, i)->codec};
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

/* Before timing: checks that the rung itself decodes the photo, and to the same pixels. */
static void compare(
    lap_coder_times *row, const lap_view *reference, const lap_view *pixels, const char *coder)
{
    if (!coder || strcmp(coder, row->name) != 0) {
        snprintf(row->reason, sizeof row->reason, "it does not decode this photo; libjpeg-turbo does");
    } else if (!is_same(reference, pixels)) {
        snprintf(row->reason, sizeof row->reason, "its pixels differ from libjpeg-turbo's");
        row->differs = true;
    }
}

lap_code lap_decoders_bench_photo(
    lap_decoders_bench *b, const void *bytes, size_t size, int run, lap_error *err)
{
    for (int i = 0; i < b->coders.count; i++) {
        lap_coder_times *row = &b->coders.rows[i];
        lap_image *to = i ? &b->pixels : &b->reference;
        const char *coder = NULL;
        lap_code code = LAP_OK;
        if (run == 0 && !row->reason[0]) {
            code = decode(bytes, size, i, to, &coder, err);
            if (code == LAP_OK)
                compare(row, &b->reference.view, &to->view, coder);
        }
        if (row->reason[0])
            continue;
        const double start = lap_bench_cpu_ms();
        if (code == LAP_OK)
            code = decode(bytes, size, i, to, &coder, err);
        row->times[run] += lap_bench_cpu_ms() - start;
        if (code != LAP_OK)
            return code;
    }
    if (run == 0) {
        b->coders.pixel_count += (double)b->reference.view.width * b->reference.view.height;
        b->coders.bytes += size;
    }
    return LAP_OK;
}

void lap_decoders_bench_end(lap_decoders_bench *b)
{
    lap_image_destroy(&b->reference);
    lap_image_destroy(&b->pixels);
    lap_coders_bench_end(&b->coders);
}
