#include "device/known_codec.h"

#include <pthread.h>

#include <xxhash.h>

#include "base/image.h"
#include "cuda/device/device.h"
#include "libjpeg/jpeg_floor.h"

/* Odd sides, so that padding and the edges of upsampling take part; every band of frequencies. */
enum { WIDTH = 61, HEIGHT = 45, QUALITY = 88 };

/* XXH3 of the file, and of the pixels that come of it: libjpeg-turbo 2.1.5, SIMD and C alike. */
#define KNOWN_FILE 0x6047cb4a556f45c2ULL
#define KNOWN_PIXELS 0x8113f99b5c06995fULL

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *reason;

static void draw(const lap_view *view)
{
    uint32_t random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < 3 * WIDTH; i++) {
            random = random * 1664525u + 1013904223u;
            const unsigned noise = random >> 24, ramp = (unsigned)(4 * y + i + 70 * (i % 3));
            view->base[y * view->stride + i] = (uint8_t)(y < HEIGHT / 2 ? ramp : noise);
        }
}

static uint64_t hash_of(const lap_view *view)
{
    uint64_t hash = 0;
    for (int y = 0; y < view->height; y++)
        hash = XXH3_64bits_withSeed(
            view->base + y * view->stride, (size_t)view->width * (size_t)view->channels, hash);
    return hash;
}

static void find_out(void)
{
    lap_jpeg_floor *codec = NULL;
    lap_image image = {0};
    const unsigned char *bytes;
    size_t size;
    int shape[3];
    uint64_t file = 0, pixels = 0;
    if (lap_jpeg_floor_create(&codec, NULL) == LAP_OK &&
        lap_image_create(&image, WIDTH, HEIGHT, 3, 0, NULL) == LAP_OK) {
        draw(&image.view);
        if (lap_jpeg_floor_encode(codec, &image.view, QUALITY, &bytes, &size, NULL) == LAP_OK) {
            file = XXH3_64bits(bytes, size);
            if (lap_jpeg_floor_open(codec, bytes, size, shape, NULL) == LAP_OK &&
                lap_jpeg_floor_decode(codec, &image.view, NULL) == LAP_OK)
                pixels = hash_of(&image.view);
        }
    }
    lap_image_destroy(&image);
    lap_jpeg_floor_destroy(codec);
    if (file != KNOWN_FILE || pixels != KNOWN_PIXELS)
        reason = "the JPEG library here rounds otherwise than the device";
}

const char *lap_device_codec_unavailable(void)
{
    const char *why = lap_cuda_unavailable();
    if (why)
        return why;
    pthread_once(&once, find_out);
    return reason;
}
