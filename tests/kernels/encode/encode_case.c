#include "encode_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "jpeg/encode_band.h"

const case_sampling case_samplings[CASE_SAMPLINGS] = {{"gray", 1, 1, 1}, {"4:4:4", 3, 1, 1},
    {"4:2:2", 3, 2, 1}, {"4:2:0", 3, 2, 2}, {"4:4:0", 3, 1, 2}, {"4:1:1", 3, 4, 1}};

enum {
    RANDOM,
    FLAT,
    CHECKER,
    RAMP,
    BLOCKS,
    EDGES,
    SPARSE,
    DCT_SIGNS,
    IMPULSE,
    BLACK,
    STEPS,
    WAVES,
    PHOTO,
    ALL_ONES
};
const char *const case_fills[CASE_FILLS] = {"random", "flat", "checkerboard", "ramp with noise",
    "blocks of 0 and 255", "edges", "sparse", "signs of a frequency", "one pixel", "black, white chroma",
    "steps", "high frequencies alone", "like a photo", "bytes of 0xFF"};

uint64_t case_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void case_describe(const encode_case *c, char text[200])
{
    snprintf(text, 200, "%dx%dx%d %s quality %d, %s, intervals of %d rows, seed %llu", c->width, c->height,
        c->channels, case_samplings[c->sampling].name, c->quality, case_fills[c->fill], c->interval_rows,
        (unsigned long long)c->seed);
}

/* Returns whether the wave of frequencies u and v is positive at this pixel: for blocks in which one
 * coefficient is extreme. */
static bool is_positive(int x, int y, int u, int v)
{
    static const int8_t signs[8][8] = {{1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, -1, -1, -1, -1},
        {1, 1, -1, -1, -1, -1, 1, 1}, {1, -1, -1, -1, 1, 1, 1, -1}, {1, -1, -1, 1, 1, -1, -1, 1},
        {1, -1, 1, 1, -1, -1, 1, -1}, {1, -1, 1, -1, -1, 1, -1, 1}, {1, -1, 1, -1, 1, -1, 1, -1}};
    return signs[u][x % 8] * signs[v][y % 8] > 0;
}

static int sample(const encode_case *c, int x, int y, int k, uint64_t random)
{
    const int noise = (int)(random >> 56), u = (x / 8 * 5 + y / 8 * 3 + (int)(c->seed % 64)) % 64;
    switch (c->fill) {
    case RANDOM:
        return noise;
    case FLAT:
        return 90 + 50 * k;
    case CHECKER:
        return (x + y) % 2 ? 255 : 0;
    case RAMP:
        return (3 * x + 5 * y + 60 * k + noise % 16) & 255;
    case BLOCKS:
        return (x / 5 + y / 3 + k) % 2 ? 255 : 0;
    case EDGES:
        return noise < 40 ? noise * 6 : (x / 11 + y / 7) % 5 == 0 ? 200 - noise / 4 : noise / 60;
    case SPARSE:
        return (x * 7 + y * 13) % 50 == 0 ? 255 : 0;
    case DCT_SIGNS:
        return is_positive(x, y, u % 8, u / 8) ? 255 : 0;
    case IMPULSE:
        return x == c->width / 2 && y == c->height / 2 ? 255 : 128;
    case BLACK:
        return k == 1 ? 0 : (x / 16 + y / 16) % 2 ? 255 : 0;
    case STEPS:
        return (x / 8 + y / 8) % 2 ? 255 * (noise > 250) : 255;
    case WAVES:
        return is_positive(x, y, 7, 7) ? 128 + (u & 31) : 128 - (u & 31);
    case PHOTO:
        return (int)(127 + 60 * ((x / 9 + y / 14 + k) % 3 - 1) + (x * y) % 11 + noise / 40);
    default:
        return (x ^ y) & 1 ? 128 + noise / 2 : 127 - noise / 3;
    }
}

void case_fill(const encode_case *c, const lap_view *view)
{
    uint64_t state = c->seed;
    for (int y = 0; y < view->height; y++)
        for (int i = 0; i < view->width * view->channels; i++)
            view->base[y * view->stride + i] =
                (uint8_t)sample(c, i / view->channels, y, i % view->channels, case_random(&state));
}

/* ---- libjpeg ------------------------------------------------------------------------------------- */

static void set_up(const encode_case *c, struct jpeg_compress_struct *out)
{
    const case_sampling *s = &case_samplings[c->sampling];
    out->image_width = (JDIMENSION)c->width;
    out->image_height = (JDIMENSION)c->height;
    out->input_components = c->channels;
    out->in_color_space = c->channels == 1 ? JCS_GRAYSCALE : c->channels == 3 ? JCS_RGB : JCS_EXT_RGBX;
    jpeg_set_defaults(out);
    jpeg_set_quality(out, c->quality, TRUE);
    for (int i = 0; i < s->components; i++) {
        out->comp_info[i].h_samp_factor = i ? 1 : s->h;
        out->comp_info[i].v_samp_factor = i ? 1 : s->v;
    }
    out->restart_in_rows = c->interval_rows;
}

uint8_t *case_reference(const encode_case *c, const lap_view *view, size_t *size, size_t *scan)
{
    struct jpeg_compress_struct out = {0};
    struct jpeg_error_mgr error;
    unsigned char *bytes = NULL;
    unsigned long bytes_size = 0;
    out.err = jpeg_std_error(&error);
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &bytes, &bytes_size);
    set_up(c, &out);
    jpeg_start_compress(&out, TRUE);
    while (out.next_scanline < out.image_height) {
        JSAMPROW line = view->base + (ptrdiff_t)out.next_scanline * view->stride;
        jpeg_write_scanlines(&out, &line, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    *size = bytes_size;
    /* Every segment says how long it is; the scan follows SOS. */
    size_t at = 2;
    while (bytes[at + 1] != 0xDA)
        at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    *scan = at + 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    return bytes;
}

lap_encode_target case_target(const encode_case *c)
{
    const case_sampling *s = &case_samplings[c->sampling];
    lap_encode_target t = {.width = c->width, .channels = c->channels, .h = {s->h, 1, 1}, .v = {s->v, 1, 1}};
    struct jpeg_compress_struct out = {0};
    struct jpeg_error_mgr error;
    out.err = jpeg_std_error(&error);
    jpeg_create_compress(&out);
    set_up(c, &out);
    for (int i = 0; i < 128; i++)
        t.quant[i / 64][i % 64] = out.quant_tbl_ptrs[i / 64]->quantval[i % 64];
    jpeg_destroy_compress(&out);
    return t;
}

/* ---- ours ---------------------------------------------------------------------------------------- */

static bool append_marker(lap_chunk *scan, int interval)
{
    if (lap_chunk_reserve(scan, 2, NULL) != LAP_OK)
        return false;
    scan->data[scan->size++] = 0xFF;
    scan->data[scan->size++] = (uint8_t)(0xD0 + interval % 8);
    return true;
}

bool case_encode(const encode_case *c, const lap_view *view, lap_encode_fn *run, lap_chunk *scan)
{
    lap_encode_plan plan;
    lap_band_encoder encoder = {.plan = &plan, .run = run};
    const lap_encode_target target = case_target(c);
    if (!lap_encode_plan_make(&target, &plan))
        return false;
    const int high = c->interval_rows ? c->interval_rows * 8 * plan.v : c->height;
    bool ok = true;
    for (int y = 0, i = 0; y < c->height && ok; y += high, i++) {
        const lap_view band = lap_view_rows(view, y, c->height - y < high ? c->height - y : high);
        lap_band_encoder_restart(&encoder);
        ok = (i == 0 || append_marker(scan, i - 1)) &&
             lap_band_encode(&encoder, &band, scan, NULL) == LAP_OK &&
             lap_band_encoder_finish(&encoder, scan, NULL) == LAP_OK;
    }
    return ok;
}
