/* Shared by the tests of the output side: synthetic pixels, encoding to memory, decoding by lapedge. */
#ifndef ENCODE_HELP_H
#define ENCODE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/formats.h"

typedef struct help_image {
    lap_view view;
    uint8_t *memory;
} help_image;

static inline uint32_t help_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A ramp with noise on it: every band, row and channel differs. The stride is wider than the row. */
static inline help_image help_make(int width, int height, int channels, uint32_t seed)
{
    ptrdiff_t stride = (ptrdiff_t)width * channels + 5;
    help_image image = {.memory = malloc((size_t)stride * (size_t)height)};
    assert_non_null(image.memory);
    image.view = (lap_view){image.memory, stride, width, height, channels, 0, LAP_ON_HOST};
    for (int y = 0; y < height; y++)
        for (int i = 0; i < width * channels; i++)
            image.memory[y * stride + i] =
                (uint8_t)((y / 3 + i / 7 + i % channels * 40 + help_random(&seed) % 64));
    return image;
}

static inline lap_view help_band(const lap_view *view, int first, int rows)
{
    lap_view band = *view;
    band.base += first * view->stride;
    band.height = view->height - first < rows ? view->height - first : rows;
    return band;
}

static inline lap_write_options help_options(const lap_view *view)
{
    return (lap_write_options){.width = view->width,
        .height = view->height,
        .channels = view->channels,
        .quality = 90,
        .subsampling = LAP_SUB_444};
}

/* Returns the interval in DRI; 0: there is none. */
static inline int help_restart_interval(const uint8_t *bytes, size_t size)
{
    for (size_t i = 2; i + 4 <= size && bytes[i] == 0xFF && bytes[i + 1] != 0xDA;
         i += 2 + (size_t)(bytes[i + 2] << 8 | bytes[i + 3]))
        if (bytes[i + 1] == 0xDD)
            return bytes[i + 4] << 8 | bytes[i + 5];
    return 0;
}

/* Encodes to memory; bands of a parallel encoder are made last to first. The first error is returned. */
static inline lap_code help_encode(const lap_view *view, const char *format, const lap_write_options *options,
    uint8_t **bytes, size_t *size, lap_error *err)
{
    lap_sink *sink = NULL;
    lap_encoder *encoder = NULL;
    void *taken = NULL;
    *bytes = NULL;
    *size = 0;
    assert_int_equal(lap_sink_memory(&sink, err), LAP_OK);
    lap_code code = lap_encoder_open(sink, lap_format_find(format), options, &encoder, err);
    if (code == LAP_OK) {
        int rows = lap_encoder_band_rows(encoder), n = (view->height - 1) / rows + 1;
        lap_chunk *chunks = calloc((size_t)n, sizeof *chunks);
        assert_non_null(chunks);
        for (int i = 0; i < n && code == LAP_OK; i++) {
            int index = lap_encoder_is_parallel(encoder) ? n - 1 - i : i;
            lap_view band = help_band(view, index * rows, rows);
            code = lap_encoder_band(encoder, index, &band, &chunks[index], err);
        }
        for (int i = 0; i < n && code == LAP_OK; i++)
            code = lap_encoder_append(encoder, i, &chunks[i], err);
        if (code == LAP_OK)
            code = lap_encoder_finish(encoder, err);
        for (int i = 0; i < n; i++)
            lap_chunk_free(&chunks[i]);
        free(chunks);
    }
    if (code == LAP_OK) {
        code = lap_sink_finish(sink, false, NULL, err);
        uint64_t counted = lap_sink_bytes(sink);
        lap_sink_take(sink, &taken, size);
        assert_int_equal(counted, *size);
        *bytes = taken;
    }
    lap_encoder_close(encoder);
    lap_sink_close(sink);
    return code;
}

/* Decodes a file with lapedge, in pieces of 7 rows, to rows without gaps. */
static inline lap_code help_decode(const void *bytes, size_t size, const lap_read_options *options,
    help_image *image, lap_header *header, lap_damage *damage, lap_error *err)
{
    static const lap_read_options plain = {.fail_on = LAP_FAIL_TRUNCATED};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    *image = (help_image){.memory = NULL};
    assert_int_equal(lap_source_memory(bytes, size, "test input", &source, err), LAP_OK);
    lap_code code = lap_decoder_open(source, options ? options : &plain, &decoder, err);
    if (code == LAP_OK) {
        *header = *lap_decoder_header(decoder);
        ptrdiff_t stride = (ptrdiff_t)header->width * header->channels;
        image->memory = malloc((size_t)stride * (size_t)header->height);
        assert_non_null(image->memory);
        image->view = (lap_view){
            image->memory, stride, header->width, header->height, header->channels, 0, LAP_ON_HOST};
        for (int y = 0; y < header->height && code == LAP_OK; y += 7) {
            lap_view band = help_band(&image->view, y, 7);
            code = lap_decoder_rows(decoder, &band, err);
        }
        if (code == LAP_OK)
            code = lap_decoder_finish(decoder, damage, err);
    }
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

static inline void help_assert_same(const lap_view *a, const lap_view *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    for (int y = 0; y < a->height; y++)
        assert_memory_equal(
            a->base + y * a->stride, b->base + y * b->stride, (size_t)a->width * (size_t)a->channels);
}

#endif
