/* What the playground's page calls: one photo, the filter's settings, the backends that a browser can run.
 * The mathematics is the library's own: kernel texts, borders and backends are the files of src/base and
 * cpu_simd, compiled to WebAssembly. One photo and one set of settings at a time, from one thread. */
#include "playground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/image.h"
#include "base/params.h"
#include "base/status.h"
#include "cpu_simd/host_rungs.h"
#include "lapedge_program.h"
#include "rungs/backend.h"

enum { CHANNELS = 3, RGBA = 4 };

/* Backends whose source runs here; a name that the ladder's table does not have is left out. */
static const struct backend {
    const char *name;
    lap_filter_fn *filter;
} backends[] = {
    {"c", lap_filter_c},
    {"sse", lap_filter_sse},
    {"sse-samples", lap_filter_sse_samples},
    {"sse-taps", lap_filter_sse_taps},
    {"sse-box", lap_filter_sse_box},
    {"sse-slide", lap_filter_sse_slide},
    {"simd-sse41", lap_filter_simd_sse41},
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static struct {
    lap_image in, out; /* in has its apron filled */
    uint8_t *rgba;     /* as a canvas has it: the photo, then its edges */
    lap_params params;
    lap_border border;
    lap_error error;
} play;

static const lap_rung *row_of(int i)
{
    const lap_rung *row = lap_filter_table;
    while (row->name && strcmp(row->name, backends[i].name) != 0)
        row++;
    return row;
}

const char *lap_play_backend(int i)
{
    return i >= 0 && i < BACKENDS ? row_of(i)->name : NULL;
}

const char *lap_play_what(int i)
{
    return i >= 0 && i < BACKENDS ? row_of(i)->what : NULL;
}

const char *lap_play_error(void)
{
    static char text[800];
    return lap_error_text(&play.error, text, sizeof text);
}

uint8_t *lap_play_photo(int width, int height)
{
    lap_image_destroy(&play.in);
    lap_image_destroy(&play.out);
    free(play.rgba);
    play.rgba = NULL;
    size_t bytes;
    if (width < 1 || height < 1 || !lap_mul((size_t)width, (size_t)height, &bytes) ||
        !lap_mul(bytes, RGBA, &bytes) ||
        lap_image_create(&play.in, width, height, CHANNELS, LAP_APRON, &play.error) != LAP_OK ||
        lap_image_create(&play.out, width, height, CHANNELS, 0, &play.error) != LAP_OK)
        return NULL;
    play.rgba = malloc(bytes);
    return play.rgba;
}

void lap_play_take(void)
{
    const lap_view *in = &play.in.view;
    const uint8_t *from = play.rgba;
    for (int y = 0; y < in->height; y++) {
        uint8_t *to = in->base + y * in->stride;
        for (int x = 0; x < in->width; x++, from += RGBA, to += CHANNELS)
            memcpy(to, from, CHANNELS);
    }
}

int lap_play_set(const char *kernel, int border, int range)
{
    lap_params params = lap_params_default();
    params.range = (lap_range)range;
    lap_code code = lap_kernel_parse(kernel, &params.kernel, &play.error);
    if (code == LAP_OK)
        code = lap_params_check(&params, (lap_border)border, &play.error);
    if (code != LAP_OK)
        return code;
    play.params = params;
    play.border = (lap_border)border;
    if (play.in.memory)
        lap_border_fill(&play.in.view, play.border);
    return LAP_OK;
}

int lap_play_tolerance(void)
{
    return lap_params_tolerance(&play.params);
}

int lap_play_run(int i)
{
    const lap_exec exec = {.err = &play.error};
    if (i < 0 || i >= BACKENDS || !play.in.memory)
        return LAP_E_USAGE;
    return backends[i].filter(&play.in.view, &play.out.view, &play.params, &exec);
}

void lap_play_give(void)
{
    const lap_view *out = &play.out.view;
    uint8_t *to = play.rgba;
    for (int y = 0; y < out->height; y++) {
        const uint8_t *from = out->base + y * out->stride;
        for (int x = 0; x < out->width; x++, from += CHANNELS, to += RGBA) {
            memcpy(to, from, CHANNELS);
            to[CHANNELS] = 255;
        }
    }
}

const lap_play_window *lap_play_look(int x, int y, int channel)
{
    static lap_play_window window;
    const lap_view *in = &play.in.view, *out = &play.out.view;
    if (!play.in.memory || x < 0 || x >= in->width || y < 0 || y >= in->height || channel < 0 ||
        channel >= CHANNELS)
        return NULL;
    window.sum = 0;
    for (int i = 0; i < 25; i++) {
        const int fy = y + i / 5 - LAP_APRON, fx = x + i % 5 - LAP_APRON;
        window.pixel[i] = in->base[fy * in->stride + fx * CHANNELS + channel];
        window.weight[i] = play.params.kernel.h[i];
        window.product[i] = window.weight[i] * window.pixel[i];
        window.sum += window.product[i];
    }
    window.result = out->base[y * out->stride + x * CHANNELS + channel];
    return &window;
}
