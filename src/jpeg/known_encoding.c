#include "jpeg/known_encoding.h"

#include <pthread.h>
#include <string.h>

#include "base/image.h"
#include "jpeg/encode_band.h"
#include "jpeg/jpeg_head.h"

/* Odd sides, so that padding and dummy blocks take part; one band. */
enum { WIDTH = 37, HEIGHT = 27, QUALITY = 88, QUANTISERS_OF_1 = 100 };

typedef struct kind {
    int channels, h, v, quality;
} kind;

static const kind kinds[] = {{1, 1, 1, QUALITY}, {3, 1, 1, QUALITY}, {3, 2, 1, QUALITY}, {3, 2, 2, QUALITY},
    {3, 1, 2, QUALITY}, {3, 4, 1, QUALITY}, {3, 2, 2, QUANTISERS_OF_1}};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *reason;

/* Ramps above and noise below: every band of frequencies. */
static void draw(const lap_view *view)
{
    uint32_t random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < view->channels * WIDTH; i++) {
            random = random * 1664525u + 1013904223u;
            const unsigned ramp = (unsigned)(4 * y + i + 70 * (i % 3));
            view->base[y * view->stride + i] = (uint8_t)(y < HEIGHT / 2 ? ramp : random >> 24);
        }
}

static lap_code by_library(
    const lap_write_options *options, const lap_view *view, lap_chunk *file, lap_encode_target *target)
{
    lap_encoder *encoder = NULL;
    lap_jpeg_head head = {0};
    lap_code code = lap_jpeg_head_make(options, &head, NULL);
    *target = (lap_encode_target){.width = WIDTH, .channels = view->channels};
    memcpy(target->h, head.h, sizeof target->h);
    memcpy(target->v, head.v, sizeof target->v);
    memcpy(target->quant, head.quant, sizeof target->quant);
    lap_chunk_free(&head.header);
    if (code == LAP_OK)
        code = lap_encoder_start(&lap_jpeg_encoder, LAP_FORMAT_JPG, NULL, options, &encoder, NULL);
    if (code == LAP_OK)
        code = lap_encoder_band(encoder, 0, view, file, NULL);
    lap_encoder_close(encoder);
    return code;
}

static lap_code by_us(const lap_encode_target *target, const lap_view *view, lap_chunk *scan)
{
    lap_encode_plan plan;
    lap_band_encoder encoder;
    if (!lap_encode_plan_make(target, &plan))
        return LAP_E_INTERNAL;
    lap_code code = lap_band_encoder_open(&plan, lap_encode_c, &encoder, NULL);
    if (code == LAP_OK)
        code = lap_band_encode(&encoder, view, scan, NULL);
    if (code == LAP_OK)
        code = lap_band_encoder_finish(&encoder, scan, NULL);
    lap_band_encoder_close(&encoder);
    return code;
}

/* The library's file ends with our scan and the end marker. */
static bool ends_with(const lap_chunk *file, const lap_chunk *scan)
{
    enum { EOI_SIZE = 2 };
    return scan->size > 0 && file->size > scan->size + EOI_SIZE &&
           memcmp(file->data + file->size - EOI_SIZE - scan->size, scan->data, scan->size) == 0;
}

static lap_code compare(const kind *k, bool *same)
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
        .codec = LAP_CODEC_TURBO,
        .from = &from};
    lap_image image = {0};
    lap_chunk file = {0}, scan = {0};
    lap_encode_target target;
    lap_code code = lap_image_create(&image, WIDTH, HEIGHT, k->channels, 0, NULL);
    if (code == LAP_OK) {
        draw(&image.view);
        code = by_library(&options, &image.view, &file, &target);
    }
    if (code == LAP_OK)
        code = by_us(&target, &image.view, &scan);
    *same = code == LAP_OK && ends_with(&file, &scan);
    lap_chunk_free(&file);
    lap_chunk_free(&scan);
    lap_image_destroy(&image);
    return code;
}

static void find_out(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !reason; i++) {
        bool same;
        const lap_code code = compare(&kinds[i], &same);
        if (code == LAP_E_MEMORY)
            reason = "out of memory while the JPEG library was compared with the encoders of lapedge";
        else if (!same)
            reason = "the JPEG library here rounds otherwise than the encoders of lapedge";
    }
}

const char *lap_known_encoding_differs(void)
{
    pthread_once(&once, find_out);
    return reason;
}
