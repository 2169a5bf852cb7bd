/* The filter rungs, mirroring, and borders. */
#include "cuda/device/device_rungs.h"
#include "launches.h"
#include "rungs/run_rung.h"

/* What a block computes: columns of pixels, or bytes of a row; rows of pixels. */
typedef struct tile {
    const char *rung;
    unsigned across, down, threads_x, threads_y;
    enum {
        PIXELS,
        WALKS,
        STRIPS
    } kind; /* of bytes: a walk has more rows in a tall picture; strips are numbered */
} tile;

static const tile tiles[] = {
    {"cuda-global", 16, 16, 16, 16, PIXELS},
    {"cuda-global-int", 16, 16, 16, 16, PIXELS},
    {"cuda-shared2", 16, 16, 16, 16, PIXELS},
    {"cuda-shared3", 16, 16, 16, 16, PIXELS},
    {"cuda-shared4-conflict", 16, 16, 16, 16, PIXELS},
    {"cuda-shared4-pad", 16, 16, 16, 16, PIXELS},
    {"cuda-shared4-wide", 32, 8, 32, 8, PIXELS},
    {"cuda-pixels", 32, 32, 32, 8, PIXELS},
    {"cuda-words", 512, 64, 128, 1, WALKS},
    {"cuda-box-sum", 512, 64, 128, 1, WALKS},
    {"cuda-slide", 512, 64, 128, 1, WALKS},
    {"cuda-pairs", 512, 64, 128, 1, WALKS},
    {"cuda-shuffle", 480, 64, 128, 1, STRIPS},
    {"cuda-fast", 480, 32, 128, 1, STRIPS},
};
enum { MOST_ROWS = 65535 }; /* of blocks in a grid */

static const lap_rung *rung_named(const char *name)
{
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(LAP_OP_FILTER, i)); i++)
        if (strcmp(row->name, name) == 0)
            return row;
    need(false, name);
    return NULL;
}

/* A view of device 0 that has no memory. */
static lap_view nowhere(int width, int height, int channels, int apron)
{
    return (lap_view){(uint8_t *)((uintptr_t)1 << 40), ((ptrdiff_t)width * channels + 4 * 128) / 128 * 128,
        width, height, channels, apron, 0};
}

static void expect(const tile *t, unsigned width, unsigned height, unsigned channels, char *text)
{
    const unsigned bytes = width * channels;
    text[0] = 0;
    if (t->kind == STRIPS)
        add_launch(text, parts(bytes, t->across) * parts(height, t->down), 1, t->threads_x, 1, 0);
    else if (t->kind == WALKS) {
        const unsigned rows = parts(height, MOST_ROWS) > t->down ? parts(height, MOST_ROWS) : t->down;
        add_launch(text, parts(bytes, t->across), parts(height, rows), t->threads_x, 1, 0);
    } else
        for (unsigned left = height, most = MOST_ROWS * t->down; left > 0; left -= left < most ? left : most)
            add_launch(text, parts(width, t->across), parts(left < most ? left : most, t->down), t->threads_x,
                t->threads_y, 0);
}

static bool filters(
    const tile *t, const tile *as, unsigned width, unsigned height, int channels, const char *kernel)
{
    char text[TEXT], what[200];
    lap_params params = lap_params_default();
    const lap_view in = nowhere((int)width, (int)height, channels, LAP_APRON),
                   out = nowhere((int)width, (int)height, channels, 0);
    const lap_exec exec = {.threads = 1, .err = &err};
    need(lap_kernel_parse(kernel, &params.kernel, &err) == LAP_OK, kernel);
    begin("");
    snprintf(what, sizeof what, "%s, %s, %ux%ux%d", t->rung, kernel, width, height, channels);
    expect(as, width, height, (unsigned)channels, text);
    return rung_named(t->rung)->run.filter(&in, &out, &params, &exec) == LAP_OK && launched(text, what);
}

static void check_tiles(void)
{
    static const int channels[] = {1, 3, 4};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const tile *t = &tiles[i];
        bool good = true;
        for (int k = 0; k < 3; k++) {
            const unsigned c = (unsigned)channels[k], unit = t->kind == PIXELS ? t->across : t->across / c;
            const unsigned widths[] = {1, unit, unit + 1, 7 * unit, 7 * unit + 2},
                           heights[] = {1, t->down, t->down + 1, 5 * t->down, MOST_ROWS * t->down,
                               MOST_ROWS * t->down + 1, 2 * MOST_ROWS * t->down + 3};
            for (unsigned w = 0; w < 5; w++)
                good = filters(t, t, widths[w], heights[w], channels[k], "laplace5") && good;
            for (unsigned h = 0; h < 7; h++)
                good = filters(t, t, widths[h % 5], heights[h], channels[k], "laplace5") && good;
        }
        /* What only laplace5 has a quick form for is computed by cuda-words. */
        const bool is_walk = t->kind != PIXELS;
        good = filters(t, is_walk ? &tiles[8] : t, 1000, 777, 3, "npp5") && good;
        check(good, t->rung);
    }
}

static void check_blocks_on_request(void)
{
    static const int blocks[][2] = {{1, 1}, {32, 32}, {1024, 1}, {1, 1024}, {17, 60}};
    bool good = true;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const unsigned x = (unsigned)blocks[i][0], y = (unsigned)blocks[i][1];
        const lap_exec exec = {.threads = 1, .block_x = blocks[i][0], .block_y = blocks[i][1], .err = &err};
        const lap_view in = nowhere(1025, 2049, 3, LAP_APRON), out = nowhere(1025, 2049, 3, 0);
        const lap_params params = lap_params_default();
        char text[TEXT] = "";
        begin("");
        add_launch(text, parts(1025, x), parts(2049, y), x, y, 0);
        good = lap_filter_cuda_global(&in, &out, &params, &exec) == LAP_OK &&
               launched(text, "a block on request") && good;
    }
    check(good, "cuda-global has the block that was requested");
}

static bool refused(lap_filter_fn *filter, lap_view in, lap_view out, const char *words)
{
    const lap_params params = lap_params_default();
    const lap_exec exec = {.threads = 1, .err = &err};
    begin("");
    const bool good = filter(&in, &out, &params, &exec) == LAP_E_DEVICE && strcmp(err.message, words) == 0 &&
                      lap_cudacpu_count("launches") == 0;
    if (!good)
        printf("# \"%s\", expected \"%s\"\n", err.message, words);
    return good;
}

static void check_refusals(void)
{
    const lap_view in = nowhere(100, 9, 1, LAP_APRON), out = nowhere(100, 9, 1, 0);
    lap_view wide = in, flat = in, odd = in, two = in;
    bool good = true;
    wide.width = 2147483647 / 4 - 4096;
    begin("");
    const lap_params params = lap_params_default();
    good = lap_filter_cuda_words(&wide, &out, &params, &(lap_exec){.err = &err}) == LAP_OK;
    wide.width++;
    flat.apron = 1;
    two.channels = 2;
    good =
        refused(lap_filter_cuda_words, wide, out, "rows of 536866816 pixels are too long for cuda-words") &&
        good;
    good = refused(lap_filter_cuda_pairs, flat, out,
               "cuda-pairs reads an apron of 2 pixels, and this view has 1") &&
           good;
    odd.base += 2;
    good = refused(
               lap_filter_cuda_slide, odd, out, "cuda-slide needs rows that start on multiples of 4 bytes") &&
           good;
    odd = out;
    odd.stride += 6;
    good = refused(lap_filter_cuda_box_sum, in, odd,
               "cuda-box-sum needs rows that start on multiples of 4 bytes") &&
           good;
    odd.stride = out.stride + 8;
    good = refused(lap_filter_cuda_shuffle, in, odd,
               "cuda-shuffle needs rows that start on multiples of 16 bytes") &&
           good;
    good =
        refused(lap_filter_cuda_fast, in, odd, "cuda-fast needs rows that start on multiples of 16 bytes") &&
        good;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        good = refused(rung_named(tiles[i].rung)->run.filter, two, out,
                   "2 channels: the filter takes 1, 3 or 4") &&
               good;
    check(good, "views that a rung cannot filter are refused, with the reason, and nothing is launched");
}

/* ---- a batch ------------------------------------------------------------------------------------- */

enum { PICTURES = 4 };

typedef struct batch {
    lap_view_pair *rows;
    lap_view_pairs pairs;
} batch;

static batch batch_new(void)
{
    static const int sizes[PICTURES][3] = {{700, 65, 3}, {481, 33, 1}, {160, 97, 3}, {8, 8, 4}};
    batch b = {0};
    void *rows = NULL;
    need(lap_cuda_pinned_alloc(0, PICTURES * sizeof *b.rows, &rows, &err) == LAP_OK &&
             lap_cuda_alloc(0, PICTURES * sizeof *b.rows, &b.pairs.there, &err) == LAP_OK,
        "memory");
    b.rows = b.pairs.rows = rows;
    b.pairs.count = PICTURES;
    for (int i = 0; i < PICTURES; i++) {
        b.rows[i].in = nowhere(sizes[i][0], sizes[i][1], sizes[i][2], LAP_APRON);
        b.rows[i].out = nowhere(sizes[i][0], sizes[i][1], sizes[i][2], 0);
    }
    return b;
}

static void batch_free(batch *b)
{
    go_on();
    lap_cuda_free(0, b->pairs.there);
    lap_cuda_pinned_free(b->rows);
}

static lap_code filter_many(const batch *b, const char *kernel)
{
    lap_params params = lap_params_default();
    const lap_exec exec = {.err = &err};
    need(lap_kernel_parse(kernel, &params.kernel, &err) == LAP_OK, kernel);
    return lap_filter_cuda_fast_many(&b->pairs, LAP_REFLECT, &params, &exec);
}

static unsigned samples_of_apron(const lap_view *v)
{
    return (unsigned)(4 * (v->width + 4) + 4 * v->height) * (unsigned)v->channels;
}

static void check_many(void)
{
    char text[TEXT] = "";
    begin("");
    batch b = batch_new();
    const unsigned borders = parts(samples_of_apron(&b.rows[0].in), 256);
    bool good = filter_many(&b, "laplace5") == LAP_OK;
    add_launch(text, borders, PICTURES, 256, 1, 0);
    add_launch(text, 2 * 2, PICTURES, 128, 1, 0); /* gray: 481 bytes, 33 rows */
    add_launch(text, 5 * 3, PICTURES, 128, 1, 0); /* 2100 bytes, 65 rows */
    add_launch(text, 1, PICTURES, 128, 1, 0);
    check(launched(text, "a batch") && good, "a batch: the borders, then once for each number of channels");
    batch_free(&b);

    begin("");
    b = batch_new();
    text[0] = 0;
    add_launch(text, borders, PICTURES, 256, 1, 0);
    for (int i = 0; i < PICTURES; i++)
        add_launch(text, parts((uint64_t)(b.rows[i].in.width * b.rows[i].in.channels), 512),
            parts((uint64_t)b.rows[i].in.height, 64), 128, 1, 0);
    good = filter_many(&b, "npp5") == LAP_OK;
    check(launched(text, "a batch with another kernel") && good,
        "a batch with another kernel: the borders, then each picture");
    batch_free(&b);

    begin("");
    b = batch_new();
    b.pairs.count = 2;
    text[0] = 0;
    add_launch(text, borders, 2, 256, 1, 0);
    add_launch(text, 2 * 2, 2, 128, 1, 0);
    add_launch(text, 5 * 3, 2, 128, 1, 0);
    good = filter_many(&b, "laplace5") == LAP_OK;
    check(launched(text, "a batch without four channels") && good,
        "no launch for a number of channels that no picture has");
    batch_free(&b);

    static const char *const words[] = {
        "this view has no apron to fill", "cuda-fast needs rows that start on multiples of 16 bytes"};
    for (int k = 0; k < 2; k++) {
        begin("");
        b = batch_new();
        lap_view *view = k == 0 ? &b.rows[2].in : &b.rows[1].out;
        view->apron = 0;
        view->stride += k == 1 ? 4 : 0;
        good = filter_many(&b, "laplace5") == (k == 0 ? LAP_E_INTERNAL : LAP_E_DEVICE) &&
               strcmp(err.message, words[k]) == 0 && lap_cudacpu_count("launches") == (unsigned)k;
        check(good, k == 0 ? "a batch with a view without apron is refused"
                           : "a batch with an odd stride is refused");
        batch_free(&b);
    }
    begin("fail=cudaMemcpyAsync:1:700,");
    b = batch_new();
    check(filter_many(&b, "laplace5") == LAP_E_DEVICE && lap_cudacpu_count("launches") == 0,
        "a batch whose rows cannot be copied launches nothing");
    batch_free(&b);
    for (int n = 1; n <= 4; n++) {
        char setting[60];
        snprintf(setting, sizeof setting, "fail=cudaLaunchKernel:%d:700,", n);
        begin(setting);
        b = batch_new();
        good = filter_many(&b, "laplace5") == LAP_E_DEVICE &&
               lap_cudacpu_count("launches") == (unsigned)n - 1 &&
               lap_cudacpu_count("cudaLaunchKernel") == (unsigned)n;
        check(good, "a launch of a batch that fails is the last one");
        batch_free(&b);
    }
}

static void check_mirror_and_border(void)
{
    static const unsigned sizes[][2] = {
        {1, 1}, {256, 4}, {257, 5}, {512, 4 * 65534}, {513, 4 * 65535}, {3, 4 * 65535 + 1}};
    bool good = true;
    char text[TEXT];
    for (int channels = 1; channels <= 3; channels += 2)
        for (int i = 0; i < 6; i++) {
            const unsigned w = sizes[i][0], h = sizes[i][1], down = parts(h, 4);
            const lap_view in = nowhere((int)w, (int)h, channels, 0);
            begin("");
            text[0] = 0;
            add_launch(text, parts(w, 256), down < MOST_ROWS ? down : MOST_ROWS, 64, 4, 0);
            good = lap_cuda_mirror(&in, &in, i % 2, NULL, &err) == LAP_OK && launched(text, "mirror") && good;
        }
    const lap_view two = nowhere(5, 5, 2, 0);
    begin("");
    good = lap_cuda_mirror(&two, &two, true, NULL, &err) == LAP_E_INTERNAL &&
           strcmp(err.message, "cannot mirror pixels of 2 channels") == 0 && good;
    check(good, "mirror");
    good = true;
    for (int width = 1; width < 300; width++) {
        const lap_view view = nowhere(width, 5, 1 + width % 4, LAP_APRON);
        begin("");
        text[0] = 0;
        add_launch(text, parts(samples_of_apron(&view), 256), 1, 256, 1, 0);
        good = lap_cuda_border(&view, LAP_ZERO, NULL, &err) == LAP_OK && launched(text, "border") && good;
    }
    check(good, "border: a thread for each sample of the apron");
}

void check_filters(void)
{
    check_tiles();
    check_blocks_on_request();
    check_refusals();
    check_many();
    check_mirror_and_border();
}
