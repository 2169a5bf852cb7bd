#include "bench/bench_encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "jpeg/encode_ladder.h"

lap_code lap_encode_bench_begin(lap_encode_bench *b, lap_bench_run *bench, lap_error *err)
{
    *b = (lap_encode_bench){.bench = bench};
    for (int i = 0; i < LAP_ENCODE_ROWS && lap_encoder_row(i); i++) {
        const char *reason = lap_encoder_missing(lap_encoder_row(i));
        snprintf(b->reason[i], sizeof b->reason[i], "%.190s", reason ? reason : "");
        b->times[i] = calloc((size_t)bench->options->runs, sizeof **b->times);
        if (!b->times[i])
            return lap_fail(err, LAP_E_MEMORY, "bench: no memory for the times");
    }
    return LAP_OK;
}

/* The scan of a file of one interval, 4:2:0. */
static lap_code encode(const lap_view *pixels, int quality, int i, lap_chunk *file, lap_error *err)
{
    const lap_write_options options = {.width = pixels->width,
        .height = pixels->height,
        .channels = pixels->channels,
        .quality = quality,
        .subsampling = LAP_SUB_420,
        .restart = LAP_RESTART_OFF,
        .codec = lap_encoder_row(i)->codec};
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

/* libjpeg-turbo's bands begin with the file's header and end with its end; ours have the scan alone. */
static bool is_same(const lap_chunk *reference, const lap_chunk *scan)
{
    static const uint8_t end_of_image[2] = {0xFF, 0xD9};
    const size_t end = reference->size - sizeof end_of_image;
    return reference->size > scan->size + sizeof end_of_image &&
           memcmp(reference->data + end, end_of_image, sizeof end_of_image) == 0 &&
           memcmp(reference->data + end - scan->size, scan->data, scan->size) == 0;
}

lap_code lap_encode_bench_photo(
    lap_encode_bench *b, const lap_view *pixels, int quality, int run, lap_error *err)
{
    if (run == 0)
        b->pixel_count += (double)pixels->width * pixels->height;
    for (int i = 0; lap_encoder_row(i); i++) {
        if (b->reason[i][0])
            continue;
        lap_chunk *file = i ? &b->file : &b->reference;
        lap_code code = run == 0 ? encode(pixels, quality, i, file, err) : LAP_OK;
        if (code == LAP_OK && run == 0 && i > 0 && !is_same(&b->reference, file)) {
            snprintf(b->reason[i], sizeof b->reason[i], "its bytes differ from libjpeg-turbo's");
            b->differs[i] = true;
            continue;
        }
        const double start = lap_bench_cpu_ms();
        if (code == LAP_OK)
            code = encode(pixels, quality, i, file, err);
        b->times[i][run] += lap_bench_cpu_ms() - start;
        if (code != LAP_OK)
            return code;
        if (i == 0 && run == 0)
            b->bytes += file->size;
    }
    return LAP_OK;
}

void lap_encode_bench_report(lap_encode_bench *b, const lap_bench_row *shape)
{
    const int runs = b->bench->options->runs;
    for (int i = 0; lap_encoder_row(i); i++) {
        const char *name = lap_encoder_row(i)->name;
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = LAP_OP_ENCODE, .name = name});
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

void lap_encode_bench_end(lap_encode_bench *b)
{
    lap_chunk_free(&b->file);
    lap_chunk_free(&b->reference);
    for (int i = 0; i < LAP_ENCODE_ROWS; i++)
        free(b->times[i]);
}
