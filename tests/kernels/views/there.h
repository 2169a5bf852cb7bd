/* Pictures on a device and on the host, for the tests of device views. */
#ifndef THERE_H
#define THERE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "cuda/device/device.h"
#include "lapedge.h"

static int number, failures;
static lap_error err;

static inline void check(bool good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    if (!good && err.message[0])
        printf("# %s\n", err.message);
    failures += !good;
}

static inline void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s: %s\n", what, err.message);
    exit(1);
}

/* A picture in device memory, `off` bytes from where it would be aligned, rows `gap` bytes apart; all
 * bytes of the memory outside of pixels and apron are 0xA5. */
typedef struct there {
    uint8_t *memory;
    size_t bytes, off;
    lap_view view;
} there;

enum { AROUND = 512 }; /* before and after the picture */

static inline there there_make(
    int device, int width, int height, int channels, int apron, size_t off, size_t gap)
{
    there t = {.off = off};
    void *memory = NULL;
    const size_t row = ((size_t)width + 2 * (size_t)apron) * (size_t)channels;
    const size_t stride = off == 0 ? (row + 127) / 128 * 128 : row + gap;
    t.bytes = 2 * AROUND + stride * ((size_t)height + 2 * (size_t)apron);
    need(lap_cuda_alloc(device, t.bytes, &memory, &err) == LAP_OK, "device memory");
    t.memory = memory;
    t.view = (lap_view){t.memory + AROUND + off + (size_t)apron * stride, (ptrdiff_t)stride, width, height,
        channels, apron, device};
    return t;
}

static inline void there_free(there *t)
{
    lap_cuda_free(t->view.place, t->memory);
}

/* Returns the whole memory, with the pixels of from at the view's place, and its apron if the view has
 * one. */
static inline void there_put(const there *t, const lap_view *from, void *stream)
{
    uint8_t *all = malloc(t->bytes);
    need(all != NULL, "memory");
    memset(all, 0xA5, t->bytes);
    uint8_t *base = all + (t->view.base - t->memory);
    const int apron = t->view.apron;
    for (int y = -apron; from && y < t->view.height + apron; y++)
        memcpy(base + y * t->view.stride - apron * t->view.channels,
            from->base + y * from->stride - apron * from->channels,
            ((size_t)t->view.width + 2 * (size_t)apron) * (size_t)t->view.channels);
    need(lap_cuda_copy(t->view.place, t->memory, all, t->bytes, stream, &err) == LAP_OK &&
             lap_cuda_sync(t->view.place, stream, &err) == LAP_OK,
        "upload");
    free(all);
}

/* Returns whether the interior equals that of expected, and all other bytes are still 0xA5. */
static inline bool there_is(const there *t, const lap_view *expected, void *stream)
{
    uint8_t *all = malloc(t->bytes);
    bool same = true;
    need(all != NULL, "memory");
    need(lap_cuda_copy(t->view.place, all, t->memory, t->bytes, stream, &err) == LAP_OK &&
             lap_cuda_sync(t->view.place, stream, &err) == LAP_OK,
        "download");
    const size_t row = (size_t)t->view.width * (size_t)t->view.channels;
    uint8_t *base = all + (t->view.base - t->memory);
    for (int y = 0; y < t->view.height; y++) {
        same = same && memcmp(base + y * t->view.stride, expected->base + y * expected->stride, row) == 0;
        memset(base + y * t->view.stride, 0xA5, row);
    }
    for (size_t i = 0; i < t->bytes; i++)
        same = same && all[i] == 0xA5;
    free(all);
    return same;
}

/* Noise over a ramp, apron and all. */
static inline lap_image picture(int width, int height, int channels, int apron, uint32_t seed)
{
    lap_image image = {0};
    need(lap_image_create(&image, width, height, channels, apron, &err) == LAP_OK, "memory");
    for (int y = -apron; y < height + apron; y++)
        for (int i = -apron * channels; i < (width + apron) * channels; i++) {
            seed = seed * 1664525u + 1013904223u;
            image.view.base[y * image.view.stride + i] = (uint8_t)(2 * y + i + (int)(seed >> 27));
        }
    return image;
}

#endif
