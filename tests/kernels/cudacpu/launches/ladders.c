/* The rungs of the transpose, reduction, histogram and matrix-vector ladders. */
#include "cuda/device/device_rungs.h"
#include "launches.h"

enum { MULTIPROCESSORS = 2 }; /* the runtime's default */

static void *nowhere(size_t shift)
{
    return (void *)(((uintptr_t)1 << 40) + shift);
}

/* ---- transpose ----------------------------------------------------------------------------------- */

typedef struct turning {
    const char *name;
    lap_transpose_fn *run;
    unsigned tiles[4]; /* for elements of 1, 3, 4 and 8 bytes */
    unsigned threads_x, threads_y;
    bool copies;
} turning;

static const turning turnings[] = {
    {"copy-kernel", lap_cuda_copy_kernel, {16, 16, 16, 16}, 16, 16, true},
    {"copy-shared", lap_cuda_copy_shared, {16, 16, 16, 16}, 16, 16, true},
    {"cuda-naive", lap_transpose_cuda_naive, {16, 16, 16, 16}, 16, 16, false},
    {"cuda-naive-write", lap_transpose_cuda_naive_write, {16, 16, 16, 16}, 16, 16, false},
    {"cuda-shared", lap_transpose_cuda_shared, {16, 16, 16, 16}, 16, 16, false},
    {"cuda-padded16", lap_transpose_cuda_padded16, {16, 16, 16, 16}, 16, 16, false},
    {"cuda-shared32", lap_transpose_cuda_shared32, {32, 32, 32, 32}, 32, 32, false},
    {"cuda-padded", lap_transpose_cuda_padded, {32, 32, 32, 32}, 32, 32, false},
    {"cuda-padded-rows", lap_transpose_cuda_padded_rows, {32, 32, 32, 32}, 32, 8, false},
    {"cuda-fast", lap_transpose_cuda_fast, {128, 64, 64, 32}, 256, 1, false},
};

static bool turns(const turning *t, int element, unsigned width, unsigned height)
{
    static const int sizes[] = {1, 3, 4, 8};
    const unsigned tile = t->tiles[element],
                   most = 65408 * tile; /* rows of a launch, whole lines of the result */
    const ptrdiff_t stride = (ptrdiff_t)(width * 8 + 127) / 128 * 128,
                    turned = (ptrdiff_t)(height * 8ul + 127) / 128 * 128;
    const lap_view in = {nowhere(0), stride, (int)width, (int)height, sizes[element], 0, 0},
                   out = {nowhere(0), t->copies ? stride : turned, (int)height, (int)width, sizes[element], 0,
                       0};
    const lap_exec exec = {.err = &err};
    char text[TEXT] = "", what[120];
    for (unsigned left = height; left > 0; left -= left < most ? left : most)
        add_launch(
            text, parts(width, tile), parts(left < most ? left : most, tile), t->threads_x, t->threads_y, 0);
    snprintf(what, sizeof what, "%s, %ux%u, element %d", t->name, width, height, element);
    begin("");
    return t->run(&in, &out, &exec) == LAP_OK && launched(text, what);
}

static void check_transposes(void)
{
    for (size_t i = 0; i < sizeof turnings / sizeof *turnings; i++) {
        bool good = true;
        for (int element = 0; element < 4; element++) {
            const unsigned tile = turnings[i].tiles[element];
            const unsigned widths[] = {1, tile - 1, tile, tile + 1, 9 * tile + 1},
                           heights[] = {
                               1, tile, tile + 1, 65408 * tile, 65408 * tile + 1, 2 * 65408 * tile + 5};
            for (int k = 0; k < 6; k++)
                good = turns(&turnings[i], element, widths[k % 5], heights[k]) &&
                       turns(&turnings[i], element, widths[(k + 2) % 5], heights[k]) && good;
        }
        check(good, turnings[i].name);
    }
    /* The first of several launches that fails is the last one. */
    const lap_view in = {nowhere(0), 128, 16, 3 * 65408 * 16, 1, 0, 0},
                   out = {nowhere(0), 128, 16, 16, 1, 0, 0};
    bool good = true;
    for (int n = 1; n <= 3; n++) {
        char setting[60];
        snprintf(setting, sizeof setting, "fail=cudaLaunchKernel:%d:700,", n);
        for (int k = 0; k < 3; k++) {
            begin(setting);
            good = good && turnings[k].run(&in, &out, &(lap_exec){.err = &err}) == LAP_E_DEVICE &&
                   lap_cudacpu_count("cudaLaunchKernel") == (unsigned)n &&
                   strstr(err.message, turnings[k].name) != NULL;
        }
    }
    check(good, "a transpose stops at the launch that fails, and names the rung");
}

/* ---- reduction ----------------------------------------------------------------------------------- */

typedef struct reduction {
    const char *name;
    lap_reduce_fn *run;
    unsigned piece, per_sm; /* values of a block; blocks for each multiprocessor, or 0 */
    unsigned shared;        /* values in dynamic shared memory */
} reduction;

static const reduction reductions[] = {
    {"cuda-global", lap_reduce_cuda_global, 128, 0, 0},
    {"cuda-divergent", lap_reduce_cuda_divergent, 128, 0, 0},
    {"cuda-interleaved", lap_reduce_cuda_interleaved, 128, 0, 0},
    {"cuda-shared", lap_reduce_cuda_shared, 128, 0, 0},
    {"cuda-dynamic", lap_reduce_cuda_dynamic, 128, 0, 128},
    {"cuda-first-add", lap_reduce_cuda_first_add, 256, 0, 0},
    {"cuda-shuffle", lap_reduce_cuda_shuffle, 256, 0, 0},
    {"cuda-grid", lap_reduce_cuda_grid, 128, 16, 0},
    {"cuda-wide", lap_reduce_cuda_wide, 512, 16, 0},
    {"cuda-unrolled", lap_reduce_cuda_unrolled, 2048, 16, 0},
};

static bool reduces(const reduction *r, size_t n, bool is_double)
{
    const size_t size = is_double ? 8 : 4;
    const lap_array array = {nowhere(0), n, is_double, 0};
    const lap_exec exec = {.err = &err, .scratch = nowhere(1 << 20)};
    char text[TEXT] = "", what[120];
    double sum = 1;
    snprintf(what, sizeof what, "%s, %zu values of %zu bytes", r->name, n, size);
    for (size_t left = n ? n : 1; left != 0;) {
        unsigned blocks = parts(left, r->piece);
        if (r->per_sm && left != (n ? n : 1))
            blocks = 1; /* adds up the sums of as many blocks as fit */
        else if (r->per_sm && blocks > MULTIPROCESSORS * r->per_sm)
            blocks = MULTIPROCESSORS * r->per_sm;
        add_launch(text, blocks, 1, 128, 1, r->shared * size);
        left = blocks > 1 ? blocks : 0;
    }
    begin("");
    return r->run(&array, &sum, &exec) == LAP_OK && launched(text, what);
}

static bool is_fast(size_t shift, size_t n, bool is_double, const char *settings, unsigned blocks)
{
    const lap_array array = {nowhere(shift), n, is_double, 0};
    const lap_exec exec = {.err = &err, .scratch = nowhere(1 << 20)};
    char text[TEXT] = "", what[120];
    double sum;
    snprintf(what, sizeof what, "cuda-fast, %zu values from %zu, %s", n, shift, settings);
    add_launch(text, blocks, 1, 256, 1, 0);
    begin(settings);
    return lap_reduce_cuda_fast(&array, &sum, &exec) == LAP_OK && launched(text, what);
}

static void check_reductions(void)
{
    static const size_t lengths[] = {0, 1, 127, 128, 129, 256, 257, 512, 513, 2048, 2049, 32 * 128,
        32 * 128 + 1, 128 * 128, 128 * 128 + 1, 256 * 256, 256 * 256 + 1, 32 * 2048, 32 * 2048 + 1,
        128 * 128 * 128 + 1, 100000007};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        bool good = true;
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            good = reduces(&reductions[i], lengths[k], k % 2) &&
                   reduces(&reductions[i], lengths[k], !(k % 2)) && good;
        check(good, reductions[i].name);
    }
    /* A thread adds four vectors of 16 bytes in a step. */
    bool good =
        is_fast(0, 0, false, "", 1) && is_fast(0, 4096, false, "", 1) && is_fast(0, 4100, false, "", 2);
    good = is_fast(0, 4099, false, "", 1) && is_fast(0, 2048, true, "", 1) && is_fast(0, 2050, true, "", 2) &&
           good;
    good = is_fast(4, 4099, false, "", 1) && is_fast(4, 4102, false, "", 1) &&
           is_fast(4, 4103, false, "", 2) && good;
    good = is_fast(8, 2049, true, "", 1) && is_fast(8, 2051, true, "", 2) && good;
    good = is_fast(0, 1 << 24, false, "", 16) && is_fast(0, 4096 * 15, false, "", 15) && good;
    good =
        is_fast(0, 1 << 24, false, "sms=247,", 1976) && is_fast(0, 1 << 24, false, "sms=248,", 1984) && good;
    good = is_fast(0, 1 << 24, false, "sms=249,", 1984) && good; /* the head of the scratch memory is full */
    good = is_fast(0, 1 << 24, false, "fail=cudaDeviceGetAttribute:1:700,", 1) && good;
    check(good, "cuda-fast");
    /* n = 0: one block; then one block for 128 values, a sum of each, one of 128 sums, and half of the
     * values. */
    static const size_t bytes[][3] = {{0, 4, 16384 + 256 + 256 + 256}, {1, 8, 16384 + 256 + 256 + 512},
        {128, 4, 16384 + 256 + 256 + 256}, {129, 4, 16384 + 256 + 256 + 512},
        {64 * 128, 4, 16384 + 256 + 256 + 64 * 256}, {64 * 128 + 1, 4, 16384 + 512 + 256 + 65 * 256},
        {64 * 128 * 128 - 128, 4, 16384 + 8191 * 4 + 4 + 256 + 8191 * 256},
        {64 * 128 * 128, 4, 16384 + 8192 * 4 + 512 + 8192 * 256}, {32 * 128, 8, 16384 + 256 + 256 + 32 * 512},
        {32 * 128 + 1, 8, 16384 + 512 + 256 + 33 * 512}};
    good = true;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        if (lap_cuda_scratch_bytes(bytes[i][0], bytes[i][1]) != bytes[i][2]) {
            good = false;
            printf("# %zu values of %zu bytes: %zu, expected %zu\n", bytes[i][0], bytes[i][1],
                lap_cuda_scratch_bytes(bytes[i][0], bytes[i][1]), bytes[i][2]);
        }
    check(good, "the scratch memory of a reduction");
}

/* ---- histogram ----------------------------------------------------------------------------------- */

static bool counts(lap_histogram_fn *run, int width, int height, int channels, const char *settings,
    unsigned blocks, unsigned threads, size_t shared)
{
    const lap_view view = {
        nowhere(0), ((ptrdiff_t)width * channels + 127) / 128 * 128, width, height, channels, 0, 0};
    const lap_exec exec = {.err = &err, .scratch = nowhere(1 << 20)};
    char text[TEXT] = "", what[120];
    snprintf(what, sizeof what, "histogram of %dx%dx%d, %s", width, height, channels, settings);
    add_launch(text, blocks, 1, threads, 1, shared);
    begin(settings);
    /* More than 48 KB must be asked for. */
    return run(&view, NULL, &exec) == LAP_OK && launched(text, what) &&
           lap_cudacpu_count("cudaFuncSetAttribute") == (shared > 48 * 1024);
}

static void check_histograms(void)
{
    /* About 16 KB for a block, whole rows. */
    bool good = counts(lap_histogram_cuda_shared, 1, 16384, 1, "", 1, 256, 0) &&
                counts(lap_histogram_cuda_shared, 1, 16385, 1, "", 2, 256, 0);
    good = counts(lap_histogram_cuda_shared, 4096, 4, 4, "", 4, 256, 0) && good;
    good = counts(lap_histogram_cuda_shared, 4095, 5, 4, "", 3, 256, 0) && good;
    good = counts(lap_histogram_cuda_shared, 1000, 60, 3, "", 10, 256, 0) && good;
    good = counts(lap_histogram_cuda_shared, 1000, 61, 3, "", 11, 256, 0) && good;
    check(good, "cuda-shared histogram");
    good = true;
    for (int c = 1; c <= 4; c++) {
        /* A row of 48 bytes is three pieces; 768 rows of it are a whole block's three pieces a thread. */
        const int width = 48 / c;
        const size_t shared = (size_t)c * 256 * 32 * 4;
        char exact[40], less[40];
        snprintf(exact, sizeof exact, "shared=%zu,", shared);
        snprintf(less, sizeof less, "shared=%zu,", shared - 1);
        good = counts(lap_histogram_cuda_fast, width, 768, c, "", 1, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, width, 769, c, "", 2, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, width + 1, 384, c, "", 1, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, width + 1, 385, c, "", 2, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, 5000, 5000, c, "", 2 * MULTIPROCESSORS, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, 5000, 5000, c, "sms=7,", 14, 768, shared) && good;
        good =
            counts(lap_histogram_cuda_fast, 5000, 5000, c, exact, 2 * MULTIPROCESSORS, 768, shared) && good;
        good = counts(lap_histogram_cuda_fast, 5000, 5000, c, less, 2 * MULTIPROCESSORS, 768, shared / 2) &&
               good;
        good = counts(lap_histogram_cuda_fast, 5000, 5000, c, "fail=cudaDeviceGetAttribute:2:700,", 1, 768,
                   shared) &&
               good;
    }
    check(good, "cuda-fast histogram");
}

/* ---- matrix times vector -------------------------------------------------------------------------- */

static void check_products(void)
{
    static const struct {
        const char *name;
        lap_matvec_fn *run;
        unsigned rows, threads;
    } products[] = {{"cuda-simple", lap_matvec_cuda_simple, 32, 32},
        {"cuda-strided", lap_matvec_cuda_strided, 32, 32}, {"cuda-tile-x", lap_matvec_cuda_tile_x, 32, 32},
        {"cuda-tile-ax", lap_matvec_cuda_tile_ax, 32, 32},
        {"cuda-tile-pad", lap_matvec_cuda_tile_pad, 32, 32},
        {"cuda-unrolled", lap_matvec_cuda_unrolled, 32, 32}, {"cuda-fast", lap_matvec_cuda_fast, 4, 128}};
    static const unsigned rows[] = {1, 3, 4, 5, 31, 32, 33, 64, 65, 1000000};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        bool good = true;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            char text[TEXT] = "";
            const lap_gemv g = {nowhere(0), 100, rows[k], 100, nowhere(4096), nowhere(1 << 20), 0};
            add_launch(text, parts(rows[k], products[i].rows), 1, products[i].threads, 1, 0);
            begin("");
            good = products[i].run(&g, &(lap_exec){.err = &err}) == LAP_OK &&
                   launched(text, products[i].name) && good;
        }
        check(good, products[i].name);
    }
}

/* ---- memory of a rung's own ------------------------------------------------------------------------ */

/* Without scratch memory a rung allocates it, waits, and gives it back, whatever fails. */
static void check_own_memory(void)
{
    const uint64_t before = lap_cudacpu_alive();
    void *memory;
    float values[1000];
    double sum;
    uint64_t counters[4][256];
    for (int i = 0; i < 1000; i++)
        values[i] = 1;
    go_on();
    need(lap_cuda_alloc(0, sizeof values, &memory, &err) == LAP_OK &&
             lap_cuda_copy(0, memory, values, sizeof values, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "memory");
    const lap_array array = {memory, 1000, false, 0};
    const lap_view view = {memory, 128, 120, 7, 1, 0, 0};
    const lap_exec exec = {.err = &err};
    lap_reduce_fn *const reduce[] = {lap_reduce_cuda_shared, lap_reduce_cuda_fast};
    lap_histogram_fn *const histogram[] = {lap_histogram_cuda_shared, lap_histogram_cuda_fast};
    bool good = true;
    for (int k = 0; k < 4; k++)
        for (int n = 1;; n++) {
            char setting[60];
            snprintf(setting, sizeof setting, "devices=2,fail=%d:700", n);
            need(lap_cudacpu_configure(setting) == 0, setting);
            memset(counters, 0, sizeof counters);
            const lap_code code =
                k < 2 ? reduce[k](&array, &sum, &exec) : histogram[k - 2](&view, counters, &exec);
            const bool right = k < 2 ? sum == 1000 : counters[0][0x80] > 100;
            const bool is_over = lap_cudacpu_count("calls") < (unsigned)n;
            if (lap_cudacpu_alive() != before + 1 || (code == LAP_OK && !right) ||
                (is_over && code != LAP_OK)) {
                printf("# rung %d, call %d: code %d, %d too many\n", k, n, code,
                    (int)(lap_cudacpu_alive() - before - 1));
                good = false;
            }
            if (is_over) {
                good = good && n > 7 && lap_cudacpu_count("allocations") == 1 &&
                       lap_cudacpu_count("stream syncs") == 1;
                break;
            }
        }
    check(good, "a rung that allocates its scratch memory frees it, and reports each call that fails");
    go_on();
    lap_cuda_free(0, memory);
}

void check_ladders(void)
{
    check_transposes();
    check_reductions();
    check_histograms();
    check_products();
    check_own_memory();
}
