/* Any bytes as pixels, of any size, sampling and quality: every encoder that can run here makes the bytes of
 * libjpeg-turbo, which decodes them without a warning; and so it does when it joins bands. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lapedge.h"
#include "libjpeg/jpeg_floor.h"
#include "run/formats.h"
#include "run/settings.h"

enum { HEAD = 6, MOST_SIDE = 300 };

/* The first bytes say what the picture is like; the others are its samples, over and over. */
typedef struct picture {
    int width, height, channels;
    lap_settings settings;
} picture;

static picture picture_of(const uint8_t *head)
{
    picture p = {.width = 1 + (head[0] | (head[1] & 1) << 8) % MOST_SIDE,
        .height = 1 + (head[2] | (head[1] & 2) << 7) % MOST_SIDE,
        .channels = head[3] % 3 == 0 ? 1 : 2 + head[3] % 3,
        .settings = lap_settings_default()};
    p.settings.quality = 1 + head[4] % 100;
    p.settings.subsampling = (lap_subsampling)(head[5] % 4);
    p.settings.restart = (lap_restart)(head[5] / 4 % 3);
    return p;
}

static void decodes(const void *bytes, size_t size, const picture *p)
{
    static lap_jpeg_floor *floor;
    int shape[3];
    uint8_t *pixels = malloc((size_t)p->width * (size_t)p->height * 3);
    FUZZ_REQUIRE(pixels && (floor || lap_jpeg_floor_create(&floor, NULL) == LAP_OK));
    FUZZ_REQUIRE(lap_jpeg_floor_open(floor, bytes, size, shape, NULL) == LAP_OK);
    FUZZ_REQUIRE(shape[0] == p->width && shape[1] == p->height && (shape[2] == 1) == (p->channels == 1));
    const lap_view view = {.base = pixels,
        .stride = p->width * shape[2],
        .width = p->width,
        .height = p->height,
        .channels = shape[2],
        .place = LAP_ON_HOST};
    FUZZ_REQUIRE(lap_jpeg_floor_decode(floor, &view, NULL) == LAP_OK);
    free(pixels);
}

/* Encodes all bands, the last one first if the encoder takes bands in any order, and then joins them. */
static lap_code join_bands(const lap_view *view, lap_encoder *encoder)
{
    const int rows = lap_encoder_band_rows(encoder), count = (view->height + rows - 1) / rows;
    lap_chunk *chunks = calloc((size_t)count, sizeof *chunks);
    lap_code code = LAP_OK;
    FUZZ_REQUIRE(chunks);
    for (int i = 0; i < count && code == LAP_OK; i++) {
        const int index = lap_encoder_is_parallel(encoder) ? count - 1 - i : i, y = index * rows;
        const lap_view band = lap_view_rows(view, y, view->height - y < rows ? view->height - y : rows);
        code = lap_encoder_band(encoder, index, &band, &chunks[index], NULL);
    }
    for (int i = 0; i < count; i++) {
        if (code == LAP_OK)
            code = lap_encoder_append(encoder, i, &chunks[i], NULL);
        lap_chunk_free(&chunks[i]);
    }
    free(chunks);
    return code == LAP_OK ? lap_encoder_finish(encoder, NULL) : code;
}

static lap_code encode_joined(const lap_view *view, const lap_settings *settings, void **bytes, size_t *size)
{
    const lap_write_options options =
        lap_write_options_of(settings, view->width, view->height, view->channels, NULL);
    lap_encoder *encoder = NULL;
    lap_sink *sink;
    FUZZ_REQUIRE(!options.in_order && lap_sink_memory(&sink, NULL) == LAP_OK);
    lap_code code = lap_encoder_open(sink, LAP_FORMAT_JPG, &options, &encoder, NULL);
    if (code == LAP_OK)
        code = join_bands(view, encoder);
    lap_encoder_close(encoder);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, false, NULL, NULL);
    if (code == LAP_OK)
        lap_sink_take(sink, bytes, size);
    lap_sink_close(sink);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= HEAD)
        return 0;
    picture p = picture_of(data);
    const size_t row = (size_t)p.width * (size_t)p.channels, samples = row * (size_t)p.height;
    uint8_t *pixels = malloc(samples);
    void *expected = NULL;
    size_t expected_size = 0;
    FUZZ_REQUIRE(pixels);
    for (size_t i = 0; i < samples; i++)
        pixels[i] = data[HEAD + i % (size - HEAD)];
    const lap_view view = {.base = pixels,
        .stride = (ptrdiff_t)row,
        .width = p.width,
        .height = p.height,
        .channels = p.channels,
        .place = LAP_ON_HOST};
    p.settings.codec = LAP_CODEC_TURBO;
    FUZZ_REQUIRE(lap_encode(&view, &p.settings, &expected, &expected_size, NULL) == LAP_OK);
    decodes(expected, expected_size, &p);
    for (int codec = LAP_CODEC_C; codec <= LAP_CODEC_NEON; codec++)
        for (int joined = 0; joined < 2; joined++) {
            void *made = NULL;
            size_t made_size = 0;
            p.settings.codec = (lap_codec_place)codec;
            const lap_code code = joined ? encode_joined(&view, &p.settings, &made, &made_size)
                                         : lap_encode(&view, &p.settings, &made, &made_size, NULL);
            FUZZ_REQUIRE(code == LAP_OK || (code == LAP_E_BACKEND && codec != LAP_CODEC_C));
            FUZZ_REQUIRE(
                code != LAP_OK || (made_size == expected_size && memcmp(made, expected, made_size) == 0));
            free(made);
        }
    free(expected);
    free(pixels);
    return 0;
}
