#include "jpeg/known_decoding.h"

#include <pthread.h>
#include <string.h>

#include "base/image.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg/decode_rows.h"
#include "libjpeg/libjpeg.h"

/* Odd sides, so that the edges of upsampling take part; one band. */
enum { WIDTH = 37, HEIGHT = 27, QUALITY = 88, QUANTISERS_OF_1 = 100, COARSE = 20 };

typedef struct kind {
    int channels, h, v, quality;
} kind;

static const kind kinds[] = {{1, 1, 1, QUALITY}, {3, 1, 1, QUALITY}, {3, 2, 1, QUALITY}, {3, 2, 2, COARSE},
    {3, 1, 2, QUALITY}, {3, 2, 2, QUANTISERS_OF_1}};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *reason;

/* Ramps above and noise below: every band of frequencies. */
static void draw(const lap_view *view)
{
    uint32_t random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < view->channels * WIDTH; i++) {
            random = random * 1664525u + 1013904223u;
            const unsigned ramp = (unsigned)(5 * y + i + 60 * (i % 3));
            view->base[y * view->stride + i] = (uint8_t)(y < HEIGHT / 2 ? ramp : random >> 24);
        }
}

static lap_code encode(const kind *k, const lap_view *view, lap_chunk *file)
{
    const lap_header from = {.format = "jpeg",
        .components = 3,
        .is_ycc = true,
        .sample_h = {k->h, 1, 1},
        .sample_v = {k->v, 1, 1}};
    const lap_write_options options = {.width = WIDTH,
        .height = HEIGHT,
        .channels = k->channels,
        .quality = k->quality,
        .subsampling = LAP_SUB_SAME,
        .restart = LAP_RESTART_OFF,
        .strip = true,
        .from = &from};
    lap_encoder *encoder = NULL;
    lap_code code = lap_encoder_start(&lap_libjpeg_encoder, LAP_FORMAT_JPG, NULL, &options, &encoder, NULL);
    if (code == LAP_OK)
        code = lap_encoder_band(encoder, 0, view, file, NULL);
    lap_encoder_close(encoder);
    return code;
}

static lap_code by_library(const lap_chunk *file, const lap_view *view)
{
    const lap_read_options options = {.gray = view->channels == 1, .fail_on = LAP_FAIL_WARNING};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_code code = lap_source_memory(file->data, file->size, "known", &source, NULL);
    if (code == LAP_OK)
        code = lap_decoder_start(&lap_libjpeg_decoder, source, &options, &decoder, NULL);
    if (code == LAP_OK)
        code = lap_decoder_rows(decoder, view, NULL);
    lap_decoder_close(decoder);
    lap_source_close(source);
    return code;
}

static bool by_us(const lap_chunk *file, const lap_view *view)
{
    lap_jpeg_frame frame;
    lap_row_decoder *decoder = NULL;
    if (!lap_jpeg_frame_read(file->data, file->size, &frame))
        return false;
    const lap_row_source source = {&frame, file->data, file->size, &lap_decode_c, view->channels == 1};
    bool ok = lap_row_decoder_open(&source, &decoder, NULL) == LAP_OK && decoder;
    ok = ok && lap_row_decoder_rows(decoder, view) == HEIGHT;
    lap_row_decoder_close(decoder);
    return ok;
}

static bool is_same(const kind *k)
{
    lap_image pixels = {0}, theirs = {0}, ours = {0};
    lap_chunk file = {0};
    bool same = lap_image_create(&pixels, WIDTH, HEIGHT, k->channels, 0, NULL) == LAP_OK &&
                lap_image_create(&theirs, WIDTH, HEIGHT, k->channels, 0, NULL) == LAP_OK &&
                lap_image_create(&ours, WIDTH, HEIGHT, k->channels, 0, NULL) == LAP_OK;
    if (same)
        draw(&pixels.view);
    same = same && encode(k, &pixels.view, &file) == LAP_OK && by_library(&file, &theirs.view) == LAP_OK &&
           by_us(&file, &ours.view);
    for (int y = 0; y < HEIGHT && same; y++)
        same = memcmp(theirs.view.base + y * theirs.view.stride, ours.view.base + y * ours.view.stride,
                   (size_t)(WIDTH * k->channels)) == 0;
    lap_chunk_free(&file);
    lap_image_destroy(&ours);
    lap_image_destroy(&theirs);
    lap_image_destroy(&pixels);
    return same;
}

static void find_out(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !reason; i++)
        if (!is_same(&kinds[i]))
            reason = "the JPEG library here rounds otherwise than the decoders of lapedge";
}

const char *lap_known_decoding_differs(void)
{
    pthread_once(&once, find_out);
    return reason;
}
