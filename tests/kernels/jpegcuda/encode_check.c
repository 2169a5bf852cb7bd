/* encode_check [--seed=N] [--sizes=all] [--cases=N]: compares the CUDA JPEG encoder with the CPU's, byte
 * for byte. Each case is encoded by jpeg_write.c; the device gets the parameters in that file's header
 * (sampling, quantisers, restart interval), and its scan must equal the bytes between the scan header and
 * the end marker. TAP on stdout. Runs on a GPU, and with the runtime of tests/kernels/cudacpu on a
 * CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "codec/codec.h"
#include "cuda/device/device.h"
#include "cuda/jpeg/encode.h"
#include "libjpeg/jpeg_head.h"

extern const lap_encoder_ops lap_jpeg_encoder;

static int tests, failures;
static lap_error err;

static void report(bool ok, const char *what)
{
    printf("%s %d - CUDA encoder%s: %s\n", ok ? "ok" : "not ok", ++tests,
#ifdef LAP_CUDACPU
        "",
#else
        " (cuda-jpeg on GPU)",
#endif
        what);
    failures += !ok;
}

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s: %s\n", what, err.message);
        exit(1);
    }
}

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

typedef struct test_case {
    int width, height, channels, quality, h[3], v[3], fill;
    lap_restart restart;
    uint64_t seed;
} test_case;

/* Pixels of several kinds: flat, noise, a ramp with noise, edges of 0 and 255. */
static void fill(const lap_view *view, const test_case *c)
{
    uint64_t seed = c->seed;
    for (int y = 0; y < view->height; y++)
        for (int i = 0; i < view->width * view->channels; i++) {
            const unsigned random = (unsigned)(next(&seed) >> 32);
            const int x = i / view->channels, k = i % view->channels;
            const uint8_t values[] = {(uint8_t)(90 + 50 * k), (uint8_t)random,
                (uint8_t)(3 * x + 5 * y + 60 * k + random % 16), (x / 5 + y / 3 + k) % 2 ? 255 : 0,
                (uint8_t)(random % 50 == 0 ? 255 : 0)};
            view->base[y * view->stride + i] = values[c->fill];
        }
}

static lap_write_options options_of(const test_case *c, lap_header *from)
{
    *from = (lap_header){.format = "jpeg", .components = 3, .is_ycc = true};
    for (int i = 0; i < 3; i++) {
        from->sample_h[i] = c->h[i];
        from->sample_v[i] = c->v[i];
    }
    return (lap_write_options){.width = c->width,
        .height = c->height,
        .channels = c->channels,
        .quality = c->quality,
        .subsampling = LAP_SUB_SAME,
        .restart = c->restart,
        .from = from};
}

/* The CPU's file. */
static lap_chunk cpu_file(const lap_view *pixels, const lap_write_options *options)
{
    lap_encoder *encoder;
    lap_sink *sink;
    need(lap_sink_memory(&sink, &err) == LAP_OK &&
             lap_encoder_start(&lap_jpeg_encoder, LAP_FORMAT_JPG, sink, options, &encoder, &err) == LAP_OK,
        "CPU encoder");
    lap_chunk chunk = {0};
    const int rows = lap_encoder_band_rows(encoder);
    for (int y = 0, i = 0; y < options->height; y += rows, i++) {
        const lap_view band =
            lap_view_rows(pixels, y, options->height - y < rows ? options->height - y : rows);
        need(lap_encoder_band(encoder, i, &band, &chunk, &err) == LAP_OK &&
                 lap_encoder_append(encoder, i, &chunk, &err) == LAP_OK,
            "CPU encoder");
    }
    need(lap_encoder_finish(encoder, &err) == LAP_OK, "CPU encoder");
    lap_chunk_free(&chunk);
    void *bytes;
    size_t size;
    need(lap_sink_finish(sink, false, NULL, &err) == LAP_OK && (lap_sink_take(sink, &bytes, &size), true),
        "CPU encoder");
    lap_encoder_close(encoder);
    lap_sink_close(sink);
    return (lap_chunk){.data = bytes, .size = size};
}

/* The header that precedes the device's scan, and the parameters for the device. */
static lap_chunk header_of(const lap_write_options *options, lap_cuda_jpeg_target *target)
{
    lap_jpeg_head parts;
    need(lap_jpeg_head_make(options, &parts, &err) == LAP_OK, "header");
    *target = (lap_cuda_jpeg_target){.width = options->width,
        .height = options->height,
        .channels = options->channels,
        .restart_interval = parts.interval};
    memcpy(target->sample_h, parts.h, sizeof parts.h);
    memcpy(target->sample_v, parts.v, sizeof parts.v);
    memcpy(target->quant, parts.quant, sizeof parts.quant);
    return parts.header;
}

typedef struct work { /* of a picture on the device */
    lap_cuda_jpeg_encode_plan plan;
    lap_cuda_jpeg_encoded result;
    lap_view view;
    void *workspace;
    uint8_t *scan; /* malloc'ed; overflow or a refusal: NULL */
} work;

static bool prepare(work *w, const lap_view *pixels, const lap_cuda_jpeg_target *target, size_t capacity)
{
    *w = (work){.workspace = NULL};
    if (!lap_cuda_jpeg_encode_plan_make(target, capacity, &w->plan))
        return false;
    need(
        lap_cuda_view_create(0, pixels->width, pixels->height, pixels->channels, 0, &w->view, &err) == LAP_OK,
        "memory");
    need(lap_cuda_alloc(0, w->plan.workspace_bytes, &w->workspace, &err) == LAP_OK &&
             lap_cuda_upload(pixels, &w->view, NULL, &err) == LAP_OK,
        "upload");
    return true;
}

/* Encodes the pictures together; frees their device memory. Every third scan is also brought to host
 * memory, and compared. */
static void encode(work *works, int count)
{
    lap_cuda_jpeg_picture *pictures = calloc((size_t)count, sizeof *pictures);
    lap_cuda_table table = {0};
    void *results = NULL;
    need(
        pictures &&
            lap_cuda_pinned_alloc(0, (size_t)count * LAP_CUDA_JPEG_ENCODE_ROW, &table.host, &err) == LAP_OK &&
            lap_cuda_alloc(0, (size_t)count * LAP_CUDA_JPEG_ENCODE_ROW, &table.device, &err) == LAP_OK &&
            lap_cuda_pinned_alloc(0, (size_t)count * sizeof(lap_cuda_jpeg_encoded), &results, &err) == LAP_OK,
        "memory");
    memset(results, 0xFF, (size_t)count * sizeof(lap_cuda_jpeg_encoded));
    for (int i = 0; i < count; i++) {
        pictures[i] = (lap_cuda_jpeg_picture){
            &works[i].plan, &works[i].view, works[i].workspace, NULL, (lap_cuda_jpeg_encoded *)results + i};
        if (i % 3 == 2)
            need(lap_cuda_pinned_alloc(0, works[i].plan.capacity, &pictures[i].scan, &err) == LAP_OK,
                "memory");
    }
    need(lap_cuda_jpeg_encode_enqueue(pictures, count, count > 1 ? &table : NULL, NULL, NULL, &err) ==
                 LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "encoding");
    for (int i = 0; i < count; i++) {
        work *w = &works[i];
        w->result = *pictures[i].result;
        if (!w->result.overflow) {
            w->scan = malloc(w->result.bytes + 1);
            need(w->scan &&
                     lap_cuda_copy(0, w->scan, lap_cuda_jpeg_encode_scan(&w->plan, w->workspace),
                         w->result.bytes, NULL, &err) == LAP_OK &&
                     lap_cuda_sync(0, NULL, &err) == LAP_OK,
                "download");
            need(!pictures[i].scan || memcmp(pictures[i].scan, w->scan, w->result.bytes) == 0,
                "the same bytes on both sides");
        }
        lap_cuda_pinned_free(pictures[i].scan);
        lap_cuda_free(0, w->workspace);
        lap_cuda_view_destroy(&w->view);
    }
    lap_cuda_pinned_free(table.host);
    lap_cuda_pinned_free(results);
    lap_cuda_free(0, table.device);
    free(pictures);
}

/* A picture, the CPU's result for it, and the way it gets to the device. */
typedef struct subject {
    test_case c;
    lap_image image;
    lap_chunk file, header;
    work work;
} subject;

static void make_subject(subject *s, const test_case *c)
{
    lap_header from;
    lap_cuda_jpeg_target target;
    *s = (subject){.c = *c};
    const lap_write_options options = options_of(c, &from);
    need(lap_image_create(&s->image, c->width, c->height, c->channels, 0, &err) == LAP_OK, "memory");
    fill(&s->image.view, c);
    s->file = cpu_file(&s->image.view, &options);
    s->header = header_of(&options, &target);
    /* Noise at quality 100 takes more than one byte per sample. */
    const size_t capacity = 4 * (s->file.size - s->header.size) + 4096;
    need(prepare(&s->work, &s->image.view, &target, capacity), "a plan");
}

static void free_subject(subject *s)
{
    free(s->work.scan);
    lap_chunk_free(&s->file);
    lap_chunk_free(&s->header);
    lap_image_destroy(&s->image);
}

/* Returns whether the device's scan equals the CPU's. */
static bool is_right(const subject *s, char message[200])
{
    const test_case *c = &s->c;
    const uint8_t *scan = s->work.scan;
    const size_t begin = s->header.size, expected = s->file.size - begin - 2, size = s->work.result.bytes;
    size_t at = 0;
    while (scan && at < size && at < expected && scan[at] == s->file.data[begin + at])
        at++;
    const bool ok =
        scan && size == expected && at == size && memcmp(s->header.data, s->file.data, begin) == 0;
    if (!ok)
        snprintf(message, 200,
            "%dx%dx%d quality %d, factors %dx%d %dx%d %dx%d, restart %d, fill %d, seed %llu: "
            "%zu bytes, expected %zu, the first difference at %zu",
            c->width, c->height, c->channels, c->quality, c->h[0], c->v[0], c->h[1], c->v[1], c->h[2],
            c->v[2], (int)c->restart, c->fill, (unsigned long long)c->seed, size, expected, at);
    return ok;
}

static bool agrees(const test_case *c, char message[200])
{
    subject s;
    make_subject(&s, c);
    encode(&s.work, 1);
    const bool ok = is_right(&s, message);
    free_subject(&s);
    return ok;
}

/* Sampling factors of Y, Cb, Cr that jpeg_write.c passes. */
static const struct sampling {
    const char *name;
    int h[3], v[3];
} samplings[] = {
    {"4:4:4", {1, 1, 1}, {1, 1, 1}},
    {"4:2:2", {2, 1, 1}, {1, 1, 1}},
    {"4:2:0", {2, 1, 1}, {2, 1, 1}},
    {"4:4:0", {1, 1, 1}, {2, 1, 1}},
    {"4:1:1", {4, 1, 1}, {1, 1, 1}},
    {"4:1:0", {4, 1, 1}, {2, 1, 1}},
    {"4:4:1", {1, 1, 1}, {4, 1, 1}},
    {"2x2 2x1 1x2", {2, 2, 1}, {2, 1, 2}},
    {"1x1 2x2 2x1", {1, 2, 2}, {1, 2, 1}},
    {"gray", {1, 1, 1}, {1, 1, 1}},
};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings, FILLS = 5, SIDE = 70 };

static test_case case_of(int sampling, int width, int height, uint64_t *seed)
{
    test_case c = {.width = width, .height = height, .seed = next(seed)};
    memcpy(c.h, samplings[sampling].h, sizeof c.h);
    memcpy(c.v, samplings[sampling].v, sizeof c.v);
    c.channels = sampling == SAMPLINGS - 1 ? 1 : next(seed) % 4 == 0 ? 4 : 3;
    c.quality = next(seed) % 4 == 0 ? 100 : 1 + (int)(next(seed) % 100);
    c.fill = (int)(next(seed) % FILLS);
    c.restart = (lap_restart)(next(seed) % 3);
    return c;
}

static void group(const char *name, int cases, int failed, const char *message)
{
    char what[320];
    snprintf(what, sizeof what, "%s, %d cases", name, cases);
    report(failed == 0 && cases > 0, what);
    if (failed)
        printf("# %d failed; the first: %s\n", failed, message);
}

/* This process's share of the cases of all sizes, if several processes share them. */
static unsigned part, parts = 1;

/* Every width and every height once with each sampling; with all, every width with every height. */
static void check_sizes(bool all, uint64_t seed)
{
    unsigned turn = 0;
    for (int s = 0; s < SAMPLINGS; s++) {
        int cases = 0, failed = 0;
        char first[200] = "";
        for (int width = 1; width <= SIDE; width++)
            for (int height = 1; height <= SIDE; height++) {
                char message[200];
                if (!all && height != 1 + (width * 37 + s * 11) % SIDE)
                    continue;
                const test_case c = case_of(s, width, height, &seed);
                if (turn++ % parts != part)
                    continue;
                cases++;
                if (!agrees(&c, message) && failed++ == 0)
                    memcpy(first, message, sizeof first);
            }
        group(samplings[s].name, cases, failed, first);
    }
}

/* Pictures of several bands, of many blocks, and one row or column. */
static void check_large(uint64_t seed)
{
    static const int sizes[][2] = {{200, 300}, {17, 700}, {900, 5}, {1, 400}, {333, 257}, {64, 1100}};
    int cases = 0, failed = 0;
    char first[200] = "", message[200];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int s = 0; s < SAMPLINGS; s += 1 + (int)(i % 3)) {
            const test_case c = case_of(s, sizes[i][0], sizes[i][1], &seed);
            cases++;
            if (!agrees(&c, message) && failed++ == 0)
                memcpy(first, message, sizeof first);
        }
    group("several bands", cases, failed, first);
}

/* Small, one of each sampling: for tools under which a kernel takes seconds. */
static void check_few(uint64_t seed)
{
    int cases = 0, failed = 0;
    char first[200] = "", message[200];
    for (int s = 0; s < SAMPLINGS; s++) {
        test_case c = case_of(s, 37 + 5 * s, 45 - 4 * s, &seed);
        c.fill = 1;
        cases++;
        if (!agrees(&c, message) && failed++ == 0)
            memcpy(first, message, sizeof first);
    }
    group("small pictures of every sampling", cases, failed, first);
}

/* Pictures of all sizes, samplings and qualities together, and one whose scan does not fit. */
static void check_batch(uint64_t seed)
{
    enum { MANY = 200 };
    static const int sides[] = {33, 200, 1, 16, 97, 8, 150, 61}, counts[] = {2, 5, 8, MANY};
    static subject subjects[MANY];
    static work works[MANY];
    int cases = 0, failed = 0;
    char first[200] = "", message[200];
    for (int b = 0; b < 4; b++) {
        const int count = counts[b], most = count == MANY ? 4 : 1;
        for (int i = 0; i < count; i++) {
            test_case c = case_of((cases + i) % SAMPLINGS, (sides[i % 8] + most - 1) / most,
                (sides[(i + count + i / 8) % 8] + most - 1) / most, &seed);
            make_subject(&subjects[i], &c);
            if (i == 1)
                subjects[i].work.plan.capacity = 16;
            works[i] = subjects[i].work;
        }
        encode(works, count);
        for (int i = 0; i < count; i++) {
            subjects[i].work = works[i];
            bool ok = is_right(&subjects[i], message);
            if (i == 1) {
                snprintf(message, sizeof message, "a scan of more bytes than its capacity");
                ok = !works[i].scan;
            }
            if (!ok && failed++ == 0)
                memcpy(first, message, sizeof first);
            free_subject(&subjects[i]);
        }
        cases += count;
    }
    group("pictures together, some of which do not fit", cases, failed, first);
    report(lap_cuda_jpeg_encode_enqueue(NULL, 0, NULL, NULL, NULL, NULL) == LAP_E_USAGE &&
               lap_cuda_jpeg_encode_enqueue(NULL, LAP_CUDA_JPEG_PHOTOS + 1, NULL, NULL, NULL, NULL) ==
                   LAP_E_USAGE,
        "no pictures, or more than go together, are refused");
}

/* A scan that does not fit is reported, and nothing else happens. */
static void check_overflow(uint64_t seed)
{
    test_case c = case_of(2, 130, 150, &seed);
    lap_header from;
    lap_cuda_jpeg_target target;
    c.fill = 1;
    c.channels = 3;
    subject s;
    make_subject(&s, &c);
    const lap_write_options options = options_of(&c, &from);
    lap_chunk header = header_of(&options, &target);
    const size_t scan = s.file.size - s.header.size - 2;
    bool ok = true;
    encode(&s.work, 1);
    for (size_t capacity = 16; capacity < scan; capacity += 1 + scan / 40) {
        work w;
        ok = ok && prepare(&w, &s.image.view, &target, capacity);
        encode(&w, 1);
        ok = ok && !w.scan;
        free(w.scan);
    }
    report(ok, "a scan that does not fit is refused");
    work refused;
    target.sample_h[0] = 3;
    target.sample_h[1] = 2;
    report(!prepare(&refused, &s.image.view, &target, 0), "factors that are not whole are refused");
    lap_chunk_free(&header);
    free_subject(&s);
}

int main(int argc, char **argv)
{
    uint64_t seed = 20261122;
    bool all = false;
#ifdef LAP_FEW_SIZES
    bool few = true;
#else
    bool few = false;
#endif
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = strtoull(argv[i] + 7, NULL, 0);
        else if (strcmp(argv[i], "--sizes=all") == 0)
            all = true;
        else if (strcmp(argv[i], "--few") == 0)
            few = true;
        else if (sscanf(argv[i], "--part=%u/%u", &part, &parts) != 2 || part >= parts) {
            fprintf(stderr, "usage: encode_check [--seed=N] [--few] [--sizes=all [--part=I/N]]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *reason = lap_cuda_unavailable();
    if (reason) {
        printf("ok 1 - cuda-jpeg encoder # SKIP %s\n1..1\n", reason);
        return 0;
    }
    if (few) {
        check_few(seed);
        printf("1..%d\n", tests);
        return failures > 0;
    }
    check_sizes(all, seed);
    check_large(seed);
    seed = getenv("TEST_SEED") ? strtoull(getenv("TEST_SEED"), NULL, 10) : seed + 1;
    printf("# TEST_SEED=%llu\n", (unsigned long long)seed);
    check_large(seed);
    check_batch(seed);
    check_overflow(seed);
    printf("1..%d\n", tests);
    return failures > 0;
}
