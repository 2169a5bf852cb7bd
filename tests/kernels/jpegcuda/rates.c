/* src/bench/bench_rates.c: results of timed work are compared with the CPU's, and errors are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/border.h"
#include "base/image.h"
#include "bench/bench_rates.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"
#include "cuda/jpeg/decode.h"
#include "libjpeg/jpeg_floor.h"
#include "rungs/backend.h"
#include "tests/kernels/cudacpu/control.h"
#include "tests/kernels/jpegcuda/tap.h"

enum { WIDTH = 61, HEIGHT = 45, QUALITY = 90, STREAMS = 3, PHOTOS = 7 };

typedef struct fixture {
    lap_image pixels, edges;
    uint8_t *file, *out;
    lap_rate_photo photo;
} fixture;

static uint8_t *encode(lap_jpeg_floor *codec, const lap_view *view, size_t *size)
{
    const unsigned char *bytes = NULL;
    need(lap_jpeg_floor_encode(codec, view, QUALITY, &bytes, size, &err) == LAP_OK, "encoding");
    uint8_t *copy = malloc(*size);
    need(copy != NULL, "memory");
    memcpy(copy, bytes, *size);
    return copy;
}

static void make(fixture *f)
{
    lap_jpeg_floor *codec = NULL;
    const lap_rung *c = NULL;
    const lap_exec exec = {.threads = 1};
    int shape[3];
    uint32_t random = 1;
    f->photo.params = lap_params_default();
    need(lap_jpeg_floor_create(&codec, &err) == LAP_OK &&
             lap_image_create(&f->pixels, WIDTH, HEIGHT, 3, LAP_APRON, &err) == LAP_OK &&
             lap_image_create(&f->edges, WIDTH, HEIGHT, 3, 0, &err) == LAP_OK &&
             lap_rung_find(LAP_OP_FILTER, "c", &c, &err) == LAP_OK &&
             lap_rung_find(LAP_OP_FILTER, "cuda-fast", &f->photo.rung, &err) == LAP_OK,
        "set-up");
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < 3 * WIDTH; i++) {
            random = random * 1664525u + 1013904223u;
            f->pixels.view.base[y * f->pixels.view.stride + i] = (uint8_t)(3 * y + i + (random >> 27));
        }
    f->file = encode(codec, &f->pixels.view, &f->photo.size);
    need(lap_jpeg_floor_open(codec, f->file, f->photo.size, shape, &err) == LAP_OK &&
             lap_jpeg_floor_decode(codec, &f->pixels.view, &err) == LAP_OK,
        "decoding");
    lap_border_fill(&f->pixels.view, f->photo.border);
    need(c->run.filter(&f->pixels.view, &f->edges.view, &f->photo.params, &exec) == LAP_OK, "filter");
    f->out = encode(codec, &f->edges.view, &f->photo.out_size);
    f->photo.file = f->file;
    f->photo.out = f->out;
    f->photo.pixels = &f->pixels.view;
    f->photo.edges = &f->edges.view;
    lap_jpeg_floor_destroy(codec);
}

static bool is_same(lap_bench_rates *rates, lap_rate rate)
{
    bool same = false;
    need(lap_bench_rates_compare(rates, rate, STREAMS, &same, &err) == LAP_OK, "comparing");
    return same;
}

static void check_work(fixture *f, lap_bench_rates *rates, lap_rate rate, const char *name)
{
    char what[80];
    double ms = 0;
    need(lap_bench_rates_spoil(rates, rate, STREAMS, &err) == LAP_OK, "spoiling");
    snprintf(what, sizeof what, "%s: work that was not done is seen", name);
    check(!is_same(rates, rate), what);
    need(lap_bench_rates_time(rates, rate, STREAMS, PHOTOS, &ms, &err) == LAP_OK, "timing");
    snprintf(what, sizeof what, "%s: the results of all streams are the CPU's", name);
    check(is_same(rates, rate) && ms > 0, what);
    uint8_t *one = rate == LAP_RATE_DECODE ? f->pixels.view.base + 5 : f->out + f->photo.out_size - 9;
    *one ^= 1;
    snprintf(what, sizeof what, "%s: one bit that differs is seen", name);
    check(!is_same(rates, rate), what);
    *one ^= 1;
}

/* The number of launches for one photo that is decoded alone. */
static uint64_t launches_of_decoder(const fixture *f)
{
    lap_cuda_jpeg_plan plan;
    lap_cuda_jpeg_result result;
    lap_view view = {0};
    void *workspace = NULL;
    lap_jpeg_frame *frame = malloc(sizeof *frame);
    need(frame && lap_jpeg_frame_read(f->file, f->photo.size, frame) &&
             lap_cuda_jpeg_decode_plan(frame, false, f->photo.size - frame->scan_begin, NULL, &plan),
        "the plan of a photo");
    void *staging = malloc(plan.staging_bytes);
    need(staging && lap_cuda_alloc(0, plan.workspace_bytes, &workspace, &err) == LAP_OK &&
             lap_cuda_view_create(0, WIDTH, HEIGHT, 3, 0, &view, &err) == LAP_OK,
        "memory");
    lap_cuda_jpeg_decode_stage_tables(&plan, staging, false);
    const uint64_t before = lap_cudacpu_count("launches");
    const lap_cuda_jpeg_photo photo = {
        f->file + frame->scan_begin, staging, workspace, &result, &plan, &view};
    need(lap_cuda_jpeg_decode_enqueue(&photo, 1, NULL, NULL, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "decoding");
    const uint64_t launches = lap_cudacpu_count("launches") - before;
    lap_cuda_view_destroy(&view);
    lap_cuda_free(0, workspace);
    free(staging);
    free(frame);
    return launches;
}

/* A photo that need not be turned is not copied for turning. */
static void check_launches(const fixture *f, lap_bench_rates *rates)
{
    const uint64_t own = launches_of_decoder(f);
    uint64_t launches[2];
    double ms = 0;
    for (int i = 0; i < 2; i++) {
        const uint64_t before = lap_cudacpu_count("launches");
        need(lap_bench_rates_time(rates, LAP_RATE_DECODE, 1, PHOTOS + i, &ms, &err) == LAP_OK, "timing");
        launches[i] = lap_cudacpu_count("launches") - before;
    }
    check(own > 0 && launches[1] - launches[0] == own, "decode: the launches are the decoder's");
}

/* The encoder is never timed with the pixels that a chain has left, right or wrong. */
static void check_after_a_chain(lap_bench_rates *rates)
{
    double ms = 0;
    need(lap_bench_rates_spoil(rates, LAP_RATE_CHAIN, STREAMS, &err) == LAP_OK &&
             lap_bench_rates_spoil(rates, LAP_RATE_ENCODE, STREAMS, &err) == LAP_OK &&
             lap_bench_rates_time(rates, LAP_RATE_ENCODE, STREAMS, PHOTOS, &ms, &err) == LAP_OK,
        "encoding");
    check(is_same(rates, LAP_RATE_ENCODE), "encode: right after a chain that was spoilt");
}

/* The CPU's file of a picture that is narrower, or lower. */
static void check_other_sizes(const fixture *f)
{
    bool good = true;
    for (int i = 0; i < 2; i++) {
        lap_jpeg_floor *codec = NULL;
        lap_bench_rates *rates = NULL;
        lap_rate_photo other = f->photo;
        lap_view view = f->edges.view;
        view.width -= i == 0;
        view.height -= i == 1;
        need(lap_jpeg_floor_create(&codec, &err) == LAP_OK, "set-up");
        uint8_t *out = encode(codec, &view, &other.out_size);
        other.out = out;
        good =
            good && lap_bench_rates_create(0, &other, STREAMS, &rates, &err) == LAP_E_UNSUPPORTED && !rates;
        lap_jpeg_floor_destroy(codec);
        free(out);
    }
    check(good, "a file of the CPU of another size is refused");
}

int main(void)
{
    fixture f = {.photo.border = LAP_ZERO};
    lap_bench_rates *rates = NULL;
    double ms[2] = {0};
    make(&f);
    need(lap_bench_rates_create(0, &f.photo, STREAMS, &rates, &err) == LAP_OK, "creating");
    check_work(&f, rates, LAP_RATE_DECODE, "decode");
    check_work(&f, rates, LAP_RATE_ENCODE, "encode");
    check_work(&f, rates, LAP_RATE_CHAIN, "chain");
    check_after_a_chain(rates);
    check_launches(&f, rates);
    for (int rate = LAP_RATE_UP; rate <= LAP_RATE_COPY; rate++)
        need(lap_bench_rates_time(rates, (lap_rate)rate, 1, PHOTOS, &ms[rate == LAP_RATE_COPY], &err) ==
                 LAP_OK,
            "copying");
    check(ms[0] > 0 && ms[1] > 0, "copies are timed");
    check(lap_bench_rates_bytes(rates, LAP_RATE_COPY) == 2 * WIDTH * HEIGHT * 3 &&
              lap_bench_rates_bytes(rates, LAP_RATE_BOTH) ==
                  lap_bench_rates_bytes(rates, LAP_RATE_UP) + lap_bench_rates_bytes(rates, LAP_RATE_DOWN),
        "bytes are counted");
    lap_bench_rates_destroy(rates);

    lap_rate_photo half = f.photo;
    half.size = 20;
    check(lap_bench_rates_create(0, &half, STREAMS, &rates, &err) == LAP_E_UNSUPPORTED && !rates,
        "a photo that the device does not take is refused");
    half = f.photo;
    half.out_size = 20;
    check(lap_bench_rates_create(0, &half, STREAMS, &rates, &err) == LAP_E_UNSUPPORTED && !rates,
        "a file of the CPU that the device does not make is refused");
    lap_jpeg_frame *frame = malloc(sizeof *frame);
    need(frame && lap_jpeg_frame_read(f.out, f.photo.out_size, frame), "the header of a file");
    half.out_size = frame->scan_begin + 1; /* whole but for its scan */
    check(lap_bench_rates_create(0, &half, STREAMS, &rates, &err) == LAP_E_UNSUPPORTED && !rates,
        "a file of a header alone is refused");
    free(frame);
    check_other_sizes(&f);
    check(lap_cudacpu_alive() == 0, "nothing is left on the device");
    printf("1..%d\n", number);
    lap_image_destroy(&f.pixels);
    lap_image_destroy(&f.edges);
    free(f.file);
    free(f.out);
    return failures > 0;
}
