#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_codec.h"
#include "jpeg/ladders.h"
#include "libjpeg/jpeg_head.h"
#include "run/formats.h"

enum { ROWS_A_CALL = 128 };

typedef struct photo { /* a photo to code: pixels to encode, bytes to decode */
    const lap_view *pixels;
    int quality;
    const void *bytes;
    size_t size;
} photo;

lap_code lap_coders_bench_begin(lap_coders_bench *b, lap_bench_run *bench, lap_op op, lap_error *err)
{
    lap_rung_info coder;
    *b = (lap_coders_bench){.bench = bench, .op = op};
    for (; b->count < LAP_CODER_ROWS && lap_coder_at(op, b->count, &coder); b->count++) {
        lap_coder_times *row = &b->rows[b->count];
        row->name = coder.name;
        snprintf(row->reason, sizeof row->reason, "%.190s", coder.reason ? coder.reason : "");
        row->times = calloc((size_t)bench->options->runs, sizeof *row->times);
        if (!row->times)
            return lap_fail(err, LAP_E_MEMORY, "bench: no memory for the timings");
    }
    return LAP_OK;
}

/* ---- encoding ----------------------------------------------------------------------------------- */

/* Encodes the scan of a file with row i, in one interval, 4:2:0. */
static lap_code encode(lap_coders_bench *b, const photo *p, int i, lap_error *err)
{
    const lap_view *pixels = p->pixels;
    lap_chunk *file = &b->files[i > 0];
    const lap_write_options options = {.width = pixels->width,
        .height = pixels->height,
        .channels = pixels->channels,
        .quality = p->quality,
        .subsampling = LAP_SUB_420,
        .restart = LAP_RESTART_OFF,
        .in_order = true,
        .codec = lap_coders_row(&lap_encoders, i)->codec};
    lap_encoder *encoder = NULL;
    lap_chunk band = {0};
    lap_code code = lap_encoder_start(&lap_jpeg_encoder, LAP_FORMAT_JPG, NULL, &options, &encoder, err);
    file->size = 0;
    for (int y = 0, n = 0; code == LAP_OK && y < pixels->height; n++) {
        const int rows = lap_encoder_band_rows(encoder), left = pixels->height - y;
        const lap_view view = lap_view_rows(pixels, y, left < rows ? left : rows);
        code = lap_encoder_band(encoder, n, &view, &band, err);
        if (code == LAP_OK)
            code = lap_chunk_reserve(file, band.size, err);
        if (code == LAP_OK) {
            memcpy(file->data + file->size, band.data, band.size);
            file->size += band.size;
        }
        y += rows;
    }
    lap_chunk_free(&band);
    lap_encoder_close(encoder);
    return code;
}

/* libjpeg-turbo's bytes include the file's header and EOI; ours are only the scan. */
static bool are_same_bytes(const lap_chunk *reference, const lap_chunk *scan)
{
    const size_t end = reference->size - sizeof lap_jpeg_end;
    return reference->size > scan->size + sizeof lap_jpeg_end &&
           memcmp(reference->data + end, lap_jpeg_end, sizeof lap_jpeg_end) == 0 &&
           memcmp(reference->data + end - scan->size, scan->data, scan->size) == 0;
}

/* ---- decoding ----------------------------------------------------------------------------------- */

/* Reallocates *to unless it already has the size of the photo. */
static lap_code make_room(lap_image *to, const lap_header *h, lap_error *err)
{
    const lap_view *v = &to->view;
    if (to->memory && v->width == h->width && v->height == h->height && v->channels == h->channels)
        return LAP_OK;
    lap_image_destroy(to);
    return lap_image_create(to, h->width, h->height, h->channels, 0, err);
}

static lap_code decode(lap_coders_bench *b, const photo *p, int i, lap_error *err)
{
    const lap_read_options options = {.max_scans = 100,
        .fail_on = LAP_FAIL_TRUNCATED,
        .decode = LAP_DECODE_SERIAL,
        .codec = lap_coders_row(&lap_decoders, i)->codec};
    lap_image *to = &b->images[i > 0];
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_damage damage;
    lap_code code = lap_source_memory(p->bytes, p->size, "photo", &source, err);
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
        b->coder = decoder->coder;
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

static bool are_same_pixels(const lap_view *a, const lap_view *b)
{
    const size_t row = (size_t)a->width * (size_t)a->channels;
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->base + y * a->stride, b->base + y * b->stride, row) != 0)
            return false;
    return true;
}

/* ---- both --------------------------------------------------------------------------------------- */

/* Before timing: notes the reason if row i's coder did not produce the result itself, or if the result is not
 * equal to libjpeg-turbo's. */
static void judge(const lap_coders_bench *b, int i, lap_coder_times *row)
{
    const bool decodes = b->op == LAP_OP_DECODE;
    if (decodes && (!b->coder || strcmp(b->coder, row->name) != 0)) {
        snprintf(row->reason, sizeof row->reason, "it does not decode this photo; libjpeg-turbo does");
        return;
    }
    row->differs = i > 0 && !(decodes ? are_same_pixels(&b->images[0].view, &b->images[1].view)
                                      : are_same_bytes(&b->files[0], &b->files[1]));
    if (row->differs)
        snprintf(row->reason, sizeof row->reason, "its %s differ from libjpeg-turbo's",
            decodes ? "pixels" : "bytes");
}

/* Codes the photo with each row, and adds to its time of this run. */
static lap_code time_rows(lap_coders_bench *b, const photo *p, int run, lap_error *err)
{
    lap_code (*const code_photo)(lap_coders_bench *, const photo *, int, lap_error *) =
        b->op == LAP_OP_DECODE ? decode : encode;
    for (int i = 0; i < b->count; i++) {
        lap_coder_times *row = &b->rows[i];
        lap_code code = LAP_OK;
        if (run == 0 && !row->reason[0]) {
            code = code_photo(b, p, i, err);
            if (code == LAP_OK)
                judge(b, i, row);
        }
        if (row->reason[0])
            continue;
        const double start = lap_bench_cpu_ms();
        if (code == LAP_OK)
            code = code_photo(b, p, i, err);
        row->times[run] += lap_bench_cpu_ms() - start;
        if (code != LAP_OK)
            return code;
    }
    return LAP_OK;
}

lap_code lap_coders_bench_encode(
    lap_coders_bench *b, const lap_view *pixels, int quality, int run, lap_error *err)
{
    const lap_code code = time_rows(b, &(photo){.pixels = pixels, .quality = quality}, run, err);
    if (code == LAP_OK && run == 0) {
        b->pixel_count += (double)pixels->width * pixels->height;
        b->bytes += b->files[0].size;
    }
    return code;
}

lap_code lap_coders_bench_decode(lap_coders_bench *b, const void *bytes, size_t size, int run, lap_error *err)
{
    const lap_code code = time_rows(b, &(photo){.bytes = bytes, .size = size}, run, err);
    if (code == LAP_OK && run == 0) {
        b->pixel_count += (double)b->images[0].view.width * b->images[0].view.height;
        b->bytes += size;
    }
    return code;
}

void lap_coders_bench_report(const lap_coders_bench *b, const lap_bench_row *shape)
{
    const int runs = b->bench->options->runs;
    for (int i = 0; i < b->count; i++) {
        const lap_coder_times *coder = &b->rows[i];
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = b->op, .name = coder->name});
        row.threads = 1;
        row.width = shape->width;
        row.height = shape->height;
        row.channels = shape->channels;
        row.resolved = !coder->reason[0] || coder->differs ? coder->name : NULL;
        if (coder->reason[0]) {
            row.reason = coder->reason;
        } else {
            row.times_ms = coder->times;
            row.runs = runs;
            lap_bench_fill_row(b->bench, LAP_ON_HOST, b->bytes, b->pixel_count, &row);
            row.roof_share = lap_summarize(b->rows[0].times, runs).median / row.median_ms;
        }
        b->bench->each(b->bench->user, &row);
    }
}

void lap_coders_bench_end(lap_coders_bench *b)
{
    for (int i = 0; i < LAP_CODER_ROWS; i++)
        free(b->rows[i].times);
    for (int i = 0; i < 2; i++) {
        lap_chunk_free(&b->files[i]);
        lap_image_destroy(&b->images[i]);
    }
}
