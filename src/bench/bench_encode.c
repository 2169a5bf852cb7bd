#include "bench/bench_encode.h"

#include <stdio.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "jpeg/ladders.h"

/* Encodes the scan of a file with one interval, 4:2:0. */
static lap_code encode(const lap_view *pixels, int quality, int i, lap_chunk *file, lap_error *err)
{
    const lap_write_options options = {.width = pixels->width,
        .height = pixels->height,
        .channels = pixels->channels,
        .quality = quality,
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
        b->coders.pixel_count += (double)pixels->width * pixels->height;
    for (int i = 0; i < b->coders.count; i++) {
        lap_coder_times *row = &b->coders.rows[i];
        if (row->reason[0])
            continue;
        lap_chunk *file = i ? &b->file : &b->reference;
        lap_code code = run == 0 ? encode(pixels, quality, i, file, err) : LAP_OK;
        if (code == LAP_OK && run == 0 && i > 0 && !is_same(&b->reference, file)) {
            snprintf(row->reason, sizeof row->reason, "its bytes differ from libjpeg-turbo's");
            row->differs = true;
            continue;
        }
        const double start = lap_bench_cpu_ms();
        if (code == LAP_OK)
            code = encode(pixels, quality, i, file, err);
        row->times[run] += lap_bench_cpu_ms() - start;
        if (code != LAP_OK)
            return code;
        if (i == 0 && run == 0)
            b->coders.bytes += file->size;
    }
    return LAP_OK;
}

void lap_encode_bench_end(lap_encode_bench *b)
{
    lap_chunk_free(&b->file);
    lap_chunk_free(&b->reference);
    lap_coders_bench_end(&b->coders);
}
