/* Each figure of a bench's rows, by clocks that go by steps, one a look: which rows there are, what
 * they say of sizes, bytes and threads, and what a ladder does with a rung that fails. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "bench/bench.h"
#include "bench/bench_buffers.h"
#include "bench/bench_codec.h"
#include "bench/bench_image.h"
#include "bench/bench_ladder.h"
#include "cpu_simd/cpu.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

/* More than the time to warm up: one run is not timed. */
enum { STEP = 64 };
static atomic_int looks, cpu_looks;

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return STEP * ++looks;
}

double __wrap_lap_bench_cpu_ms(void);
double __wrap_lap_bench_cpu_ms(void)
{
    return STEP * ++cpu_looks;
}

/* ---- memory that runs out, and coders that give something else ---------------------------------------- */

static int allocations = -1; /* how many there are; -1: enough */
static pthread_t owner;

static bool is_missing(void)
{
    if (allocations < 0 || !pthread_equal(owner, pthread_self()))
        return false;
    return allocations-- == 0;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return is_missing() ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return is_missing() ? NULL : __real_malloc(size);
}

static bool spoils;         /* what other coders than libjpeg-turbo give */
static int spoiled_encoder; /* the coder of the present encoder is another one */

lap_code __real_lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err);
lap_code __wrap_lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err);
lap_code __wrap_lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    const lap_code code = __real_lap_decoder_rows(decoder, rows, err);
    if (spoils && decoder->coder && decoder->options.codec != LAP_CODEC_TURBO)
        rows->base[(rows->height - 1) * rows->stride + rows->width * rows->channels - 1] ^= 1;
    return code;
}

lap_code __real_lap_encoder_start(const struct lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err);
lap_code __wrap_lap_encoder_start(const struct lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err);
lap_code __wrap_lap_encoder_start(const struct lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err)
{
    spoiled_encoder = options->codec != LAP_CODEC_TURBO;
    return __real_lap_encoder_start(ops, format, sink, options, encoder, err);
}

lap_code __real_lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err);
lap_code __wrap_lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err);
lap_code __wrap_lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    const lap_code code = __real_lap_encoder_band(encoder, index, rows, chunk, err);
    if (spoils && spoiled_encoder && code == LAP_OK && chunk->size > 0)
        chunk->data[chunk->size / 2] ^= 1;
    return code;
}

enum { MOST = 60, RUNS = 3 };

typedef struct rows {
    lap_bench_row row[MOST];
    char reason[MOST][160]; /* copies: a row's strings are valid until its callback returns */
    int count;
} rows;

static void keep(void *user, const lap_bench_row *row)
{
    rows *all = user;
    assert_true(all->count < MOST);
    for (int i = 0; i < row->runs && row->op < LAP_OP_COUNT; i++)
        assert_true(row->times_ms[i] > 0 && row->times_ms[i] == row->median_ms);
    lap_bench_row *kept = &all->row[all->count];
    *kept = *row;
    kept->times_ms = NULL;
    if (row->reason) {
        snprintf(all->reason[all->count], sizeof *all->reason, "%s", row->reason);
        kept->reason = all->reason[all->count];
    }
    all->count++;
}

static bool is_about(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

/* ---- whole rows -------------------------------------------------------------------------------------- */

typedef struct ladder_case {
    lap_op op;
    const char *type, *said_type;
    int width, height, channels;
    double bytes, copied, pixels, flops;
} ladder_case;

enum { W = 75, H = 40, N = 64, VALUES = 1000 };

static const ladder_case ladder_cases[] = {
    {LAP_OP_FILTER, NULL, NULL, W, H, 3, 2 * W *H * 3, 2 * W *H * 3, W *H, 24.5},
    {LAP_OP_FILTER, "u8", NULL, W, H, 4, 2 * W *H * 4, 2 * W *H * 4, W *H, 24.5},
    {LAP_OP_TRANSPOSE, NULL, NULL, W, H, 3, 2 * W *H * 3, 2 * W *H * 3, W *H, NAN},
    {LAP_OP_TRANSPOSE, "u8", NULL, W, H, 1, 2 * W *H, 2 * W *H, W *H, NAN},
    {LAP_OP_TRANSPOSE, "f32", "f32", W, H, 1, 2 * W *H * 4, 2 * W *H * 4, W *H, NAN},
    {LAP_OP_TRANSPOSE, "f64", "f64", W, H, 1, 2 * W *H * 8, 2 * W *H * 8, W *H, NAN},
    {LAP_OP_HISTOGRAM, "u8", NULL, W, H, 3, W *H * 3, 2 * W *H * 3, W *H, NAN},
    {LAP_OP_REDUCE, "f32", "f32", VALUES, 1, 1, 4 * VALUES, 8 * VALUES, VALUES, 0.25},
    {LAP_OP_REDUCE, "f64", "f64", VALUES, 1, 1, 8 * VALUES, 16 * VALUES, VALUES, 0.125},
    {LAP_OP_MATVEC, "f32", "f32", N, N, 1, 4 * (N * N + 2 * N), 8 * (N * N + 2 * N), N *N, 0.5},
};

/* What holds for each row that was timed: the figures of times that are all the same. */
static void check_figures(const lap_bench_row *row, double bytes, double pixels, const ladder_case *of)
{
    assert_int_equal(row->op, of->op);
    assert_int_equal(row->runs, RUNS);
    assert_null(row->reason);
    assert_null(row->form);
    assert_int_equal(row->width, of->width);
    assert_int_equal(row->height, of->height);
    assert_int_equal(row->channels, of->channels);
    const double ms = row->median_ms;
    assert_true(ms == STEP || (of->op == LAP_OP_FILTER && row->convert_ms > 0 && row->convert_ms < ms));
    assert_true(row->mean_ms == ms && row->min_ms == ms && row->max_ms == ms && row->stddev_ms == 0);
    assert_true(ms > STEP || isnan(row->convert_ms));
    assert_true(is_about(row->mpix_per_s, pixels / ms / 1e3));
    assert_true(is_about(row->gb_per_s, bytes / ms / 1e6));
    assert_true(isnan(row->upload_ms) && isnan(row->kernel_ms) && isnan(row->download_ms));
    assert_true(isnan(row->end_to_end_ms));
}

static void check_copy(const lap_bench_row *row, const ladder_case *of)
{
    check_figures(row, of->copied, of->pixels, of);
    assert_string_equal(row->backend, "memcpy");
    assert_string_equal(row->resolved, "memcpy");
    assert_int_equal(row->threads, 1);
    assert_true(row->roof_share == 1);
    assert_true(isnan(row->speedup) && isnan(row->flops_per_byte) && isnan(row->gflop_per_s));
    assert_true(isnan(row->first_ms) && isnan(row->value) && isnan(row->relative_error));
}

/* The peak is that of the widest vectors: 12 chains of 2^18 rounds, two operations a lane. */
static void check_peak(const lap_bench_row *row, const ladder_case *of, int threads)
{
    static const struct {
        const char *name;
        int lanes;
    } widths[] = {{"simd-avx512", 16}, {"simd-avx2", 8}, {"simd-sse41", 4}, {"c", 1}};
    int lanes = 0;
    for (int i = 0; i < 4; i++)
        lanes += strcmp(row->resolved, widths[i].name) == 0 ? widths[i].lanes : 0;
    check_figures(row, NAN, NAN, of);
    assert_string_equal(row->backend, "multiply-add");
    assert_string_equal(row->type, "f32");
    assert_int_equal(row->threads, threads);
    assert_true(isnan(row->roof_share) && isnan(row->speedup) && isnan(row->flops_per_byte));
    assert_true(is_about(row->gflop_per_s, 2.0 * 12 * lanes * 262144 * threads / STEP / 1e6));
}

static void check_rung(
    const lap_bench_row *row, const ladder_case *of, const char *name, int threads, double c_ms)
{
    const lap_rung *rung;
    assert_int_equal(lap_rung_find(of->op, name, &rung, NULL), LAP_OK);
    check_figures(row, of->bytes, of->pixels, of);
    assert_string_equal(row->backend, name);
    assert_string_equal(row->resolved, rung->name);
    assert_ptr_equal(row->flags, rung->flags);
    assert_true(of->said_type ? row->type && strcmp(row->type, of->said_type) == 0 : !row->type);
    assert_int_equal(row->threads, threads);
    assert_true(is_about(row->roof_share, of->bytes / of->copied * STEP / row->median_ms));
    assert_true(is_about(row->speedup, c_ms / row->median_ms));
    assert_true(is_about(row->flops_per_byte, of->flops));
    assert_true(is_about(row->gflop_per_s, of->bytes / 1e6 / row->median_ms * of->flops));
    assert_true(of->op == LAP_OP_FILTER ? row->first_ms == row->median_ms : isnan(row->first_ms));
    if (of->op == LAP_OP_REDUCE) {
        const bool is_double = strcmp(of->type, "f64") == 0;
        assert_true(fabs(row->value - 1230) < (is_double ? 1e-9 : 1));
        assert_true(fabs(row->relative_error) < (is_double ? 1e-13 : 1e-4));
        const double stored = is_double ? 1.23 : (double)1.23f;
        assert_true(is_about(row->relative_error, (row->value - VALUES * stored) / (VALUES * stored)));
    } else {
        assert_true(isnan(row->value) && isnan(row->relative_error));
    }
}

static void test_whole_rows(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (size_t i = 0; i < sizeof ladder_cases / sizeof *ladder_cases; i++) {
        const ladder_case *of = &ladder_cases[i];
        lap_error err = {0};
        rows all = {0};
        const lap_bench_options options = {.width = W,
            .height = H,
            .n = of->op == LAP_OP_REDUCE ? VALUES : N,
            .channels = of->channels,
            .runs = RUNS,
            .type = of->type,
            .backends = "auto,c",
            .params = lap_params_default()};
        assert_int_equal(lap_bench(context, of->op, &options, keep, &all, &err), LAP_OK);
        const int peaks = isnan(of->flops) ? 0 : 2;
        assert_int_equal(all.count, 4 + peaks);
        check_copy(&all.row[0], of);
        for (int threads = 1; threads <= peaks; threads++)
            check_peak(&all.row[threads], of, threads);
        const double c_ms = all.row[1 + peaks].median_ms;
        check_rung(&all.row[1 + peaks], of, "c", 1, c_ms);
        check_rung(&all.row[2 + peaks], of, "auto", 1, c_ms);
        check_rung(&all.row[3 + peaks], of, "auto", 2, c_ms);
    }
    lap_context_destroy(context);
}

/* The name of the rung whose peak is measured is that of the widest vectors that are not hidden. */
static void test_peak_of_hidden_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *mask, *name;
    } cases[] = {{"avx512", "simd-avx2"}, {"avx512,avx2", "simd-sse41"}, {"avx512,avx2,sse41", "c"}};
    unsetenv("LAP_CPU_MASK");
    if (lap_cpu_no_avx2() || lap_cpu_no_fma())
        skip();
    const lap_bench_options options = {.runs = RUNS};
    for (int i = 0; i < 3; i++) {
        rows all = {0};
        lap_error err = {0};
        lap_bench_run bench = {.options = &options, .threads = 1, .each = keep, .user = &all};
        const lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = LAP_OP_MATVEC});
        setenv("LAP_CPU_MASK", cases[i].mask, 1);
        assert_int_equal(lap_bench_peak(&bench, &row, &err), LAP_OK);
        unsetenv("LAP_CPU_MASK");
        assert_int_equal(all.count, 1);
        assert_string_equal(all.row[0].resolved, cases[i].name);
        check_peak(&all.row[0], &(ladder_case){.op = LAP_OP_MATVEC}, 1);
    }
}

/* ---- times -------------------------------------------------------------------------------------------- */

typedef struct timed {
    int took, calls; /* steps of the clock that a call takes besides its own */
    bool on_device;
} timed;

static lap_code do_timed(void *argument, lap_times *stages, lap_error *err)
{
    (void)err;
    timed *t = argument;
    assert_true(isnan(stages->upload) && isnan(stages->filter) && isnan(stages->download));
    looks += t->took - 1;
    t->calls++;
    if (t->on_device)
        *stages = (lap_times){.upload = t->calls, .filter = t->calls + 10, .download = t->calls + 20};
    return LAP_OK;
}

/* Which runs warm up, which count, and when it is enough; a run takes a whole number of steps. */
static void test_runs_that_count(void **state)
{
    (void)state;
    static const struct {
        lap_timing timing;
        timed work;
        int calls, runs;
    } cases[] = {
        {{.runs = 3}, {.took = 1}, 4, 3}, {{.runs = 3, .is_cold = true}, {.took = 1}, 3, 3},
        {{.runs = 3, .warm_up_ms = 6 * STEP}, {.took = 2}, 5, 3}, /* 1 + 2 and 2 + 3 + 1 steps later */
        {{.runs = 3, .warm_up_ms = 6 * STEP + 1}, {.took = 2}, 6, 3},
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 2}, 5, 4}, /* the first one is spent, too */
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 5}, 2, 1}, /* as much as is still fine */
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 6}, 1, 1}, /* so slow that it counts itself */
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 2, .on_device = true}, 6,
            5}, /* a device's is not spent */
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 3, .on_device = true}, 4, 3},
        {{.runs = 5, .enough_ms = 10 * STEP}, {.took = 20, .on_device = true}, 2, 1}, /* and never counts */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ms[4][5];
        lap_error err = {0};
        timed work = cases[i].work;
        lap_run_times times = {ms[0], ms[1], ms[2], ms[3], 9};
        assert_int_equal(lap_time_runs(&cases[i].timing, do_timed, &work, &times, &err), LAP_OK);
        if (work.calls != cases[i].calls || times.runs != cases[i].runs)
            fail_msg("%zu: %d calls, %d runs", i, work.calls, times.runs);
        for (int k = 0; k < times.runs; k++) {
            const int call = k + 1 + work.calls - times.runs;
            assert_true(ms[0][k] == work.took * STEP);
            assert_true(work.on_device ? ms[1][k] == call && ms[2][k] == call + 10 && ms[3][k] == call + 20
                                       : isnan(ms[1][k]) && isnan(ms[2][k]) && isnan(ms[3][k]));
        }
    }
}

static void test_summary(void **state)
{
    (void)state;
    static const double values[] = {4, 1, 9, 2, 4};
    const lap_summary one = lap_summarize(values, 1), two = lap_summarize(values + 1, 2),
                      all = lap_summarize(values, 5);
    assert_true(one.median == 4 && one.mean == 4 && one.stddev == 0 && one.min == 4 && one.max == 4);
    assert_true(two.median == 5 && two.mean == 5 && is_about(two.stddev, sqrt(32)));
    assert_true(all.median == 4 && all.mean == 4 && is_about(all.stddev, sqrt(38 / 4.0)));
    assert_true(all.min == 1 && all.max == 9);
    assert_true(isnan(lap_summarize((double[]){1, NAN, 3}, 3).median));
}

/* ---- options ----------------------------------------------------------------------------------------- */

/* Nothing is run: the size is refused after the number of runs and the channels. */
static void test_limits_of_options(void **state)
{
    (void)state;
    static const struct {
        int runs, channels;
        const char *said;
    } cases[] = {{1, 3, "a size of 5x0"}, {10000, 0, "a size of 5x0"}, {0, 4, "a size of 5x0"},
        {10001, 3, "bench: 10001 runs; 1 to 10000 are possible"},
        {-1, 3, "bench: -1 runs; 1 to 10000 are possible"},
        {1, 5, "bench: 5 channels; 1, 3 and 4 are possible"},
        {1, 2, "bench: 2 channels; 1, 3 and 4 are possible"}};
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_bench_options options = {.width = 5, .runs = cases[i].runs, .channels = cases[i].channels};
        lap_error err = {0};
        assert_int_equal(lap_bench(context, LAP_OP_FILTER, &options, keep, NULL, &err), LAP_E_USAGE);
        assert_non_null(strstr(err.message, cases[i].said));
    }
    lap_context_destroy(context);
}

/* Without numbers: 20 runs of a ladder, 5 of the codec; three channels; all threads of the context. */
static void test_defaults(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (int threads = 0; threads <= 3; threads++) {
        for (int i = 0; i < 2; i++) {
            const lap_bench_options options = {.width = 16,
                .height = 8,
                .threads = threads,
                .backends = "auto",
                .params = lap_params_default()};
            rows all = {0};
            lap_error err = {0};
            const lap_op op = i == 0 ? LAP_OP_TRANSPOSE : LAP_OP_CODEC;
            assert_int_equal(lap_bench(context, op, &options, keep, &all, &err), LAP_OK);
            int most = 0;
            for (int k = 0; k < all.count; k++) {
                const lap_bench_row *row = &all.row[k];
                most = row->threads > most ? row->threads : most;
                assert_int_equal(row->channels, 3);
                assert_true(row->reason || row->runs == (i == 0 ? 20 : 5));
            }
            assert_int_equal(most, threads == 1 ? 1 : 2);
        }
    }
    lap_context_destroy(context);
}

/* ---- buffers ----------------------------------------------------------------------------------------- */

static void test_number_of_buffers(void **state)
{
    (void)state;
    enum { MB = 1 << 20 };
    static const struct {
        bool warm;
        size_t bytes, pairs;
    } cases[] = {{false, 0, 1}, {false, 1, 64}, {false, 2 * MB, 64}, {false, 2 * MB + 65537, 63},
        {false, 4 * MB, 32}, {false, 64 * MB, 2}, {false, 64 * MB + 1, 2}, {false, 127 * MB, 2},
        {false, 128 * MB, 1}, {false, 255 * MB, 1}, {false, 256 * MB, 1}, {false, 1024 * (size_t)MB, 1},
        {true, 1, 1}, {true, 4 * MB, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_bench_options options = {.warm = cases[i].warm};
        const lap_bench_run bench = {.options = &options};
        assert_int_equal(lap_bench_pairs(&bench, cases[i].bytes), cases[i].pairs);
    }
}

/* All inputs are alike, and all results are overwritten before the first run. */
static void test_buffers_are_alike(void **state)
{
    (void)state;
    const lap_bench_options options = {.width = 9, .height = 7, .channels = 3};
    const lap_bench_run bench = {.options = &options};
    lap_error err = {0};
    lap_bench_buffers *b = calloc(1, sizeof *b);
    assert_non_null(b);
    assert_int_equal(lap_bench_image(&options, &b->in[0], &err), LAP_OK);
    assert_int_equal(lap_bench_bytes(&b->in[0].view), 9 * 7 * 3);
    const void *const memory = b->in[0].memory;
    const uint8_t corner = b->in[0].view.base[0];
    assert_int_equal(lap_bench_buffers_create(&bench, b, 7, 9, &err), LAP_OK);
    assert_int_equal(b->pairs, LAP_BENCH_PAIRS);
    assert_true(b->in[0].memory == memory && b->in[0].view.base[0] == corner);
    for (int i = 0; i < b->pairs; i++) {
        const lap_view *in = &b->in[i].view, *out = &b->out[i].view, *first = &b->in[0].view;
        assert_true(in->width == 9 && in->height == 7 && in->channels == 3 && in->apron == first->apron);
        assert_true(out->width == 7 && out->height == 9 && out->channels == 3 && out->apron == 0);
        for (int y = 0; y < 7; y++)
            assert_memory_equal(in->base + y * in->stride, first->base + y * first->stride, 27);
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 21; x++)
                assert_int_equal(out->base[y * out->stride + x], 0xA5);
    }
    lap_bench_buffers_destroy(b);
    free(b);
}

/* ---- pixels of a photo --------------------------------------------------------------------------------- */

/* A photo is cut and tiled; a gray one gives equal channels, and a fourth channel is opaque. */
static void check_tiles(int depth, const char *path)
{
    enum { PW = 5, PH = 3 };
    uint8_t pixels[PW * PH * 3];
    static const int sizes[][2] = {{0, 0}, {3, 2}, {5, 3}, {12, 8}};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < PW * PH * depth; i++)
        pixels[i] = (uint8_t)(i * 5 + 1);
    fprintf(file, "P%d\n%d %d\n255\n", depth == 1 ? 5 : 6, PW, PH);
    fwrite(pixels, 1, (size_t)PW * PH * (size_t)depth, file);
    assert_int_equal(fclose(file), 0);
    for (int channels = 3; channels <= 4; channels++)
        for (int s = 0; s < 4; s++) {
            const lap_bench_options options = {
                .image = path, .width = sizes[s][0], .height = sizes[s][1], .channels = channels};
            lap_image image;
            lap_error err = {0};
            assert_int_equal(lap_bench_image(&options, &image, &err), LAP_OK);
            const lap_view *v = &image.view;
            assert_int_equal(v->width, s ? sizes[s][0] : PW);
            assert_int_equal(v->height, s ? sizes[s][1] : PH);
            assert_int_equal(v->channels, channels);
            for (int y = 0; y < v->height; y++)
                for (int i = 0; i < v->width * channels; i++) {
                    const int c = i % channels, at = (y % PH * PW + i / channels % PW) * depth;
                    const int want = c == 3 ? 255 : pixels[at + (depth == 1 ? 0 : c)];
                    assert_int_equal(v->base[y * v->stride + i], want);
                }
            lap_image_destroy(&image);
        }
}

static void test_pixels_of_a_photo(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH], name[TEMPORARY_PATH + 8];
    assert_non_null(mkdtemp(temporary(path, "rows")));
    for (int depth = 1; depth <= 3; depth += 2) {
        snprintf(name, sizeof name, "%s/p.%s", path, depth == 1 ? "pgm" : "ppm");
        check_tiles(depth, name);
        assert_int_equal(remove(name), 0);
    }
    lap_image image = {0};
    lap_error err = {0};
    const lap_bench_options gone = {.image = name, .width = 4, .height = 4, .channels = 3};
    assert_int_equal(lap_bench_image(&gone, &image, &err), LAP_E_MISSING);
    assert_string_equal(err.subject, name);
    assert_null(image.memory);
    assert_int_equal(remove(path), 0);
}

/* The size without a photo is that of the lab sheet's. */
static void test_size_of_the_lab_sheet(void **state)
{
    (void)state;
    lap_image image;
    lap_error err = {0};
    const lap_bench_options options = {.channels = 1};
    assert_int_equal(lap_bench_image(&options, &image, &err), LAP_OK);
    assert_int_equal(image.view.width, 4992);
    assert_int_equal(image.view.height, 3744);
    lap_image_destroy(&image);
}

/* ---- a ladder ---------------------------------------------------------------------------------------- */

typedef struct fake {
    const char *differs; /* this rung's result */
    const char *fails;   /* this rung, while it is timed, or after that */
    bool fails_late;
    char calls[400];
} fake;

static void note(const lap_ladder *ladder, char what)
{
    fake *f = ladder->state;
    const size_t at = strlen(f->calls);
    snprintf(f->calls + at, sizeof f->calls - at, " %s%d%s%c", ladder->rung->name, ladder->exec.threads,
        ladder->pool ? "p" : "", what);
}

static lap_code broken(lap_error *err)
{
    *err = (lap_error){.code = LAP_E_DEVICE, .message = "broken"};
    return LAP_E_DEVICE;
}

static lap_code fake_host(lap_ladder *ladder, int turn, lap_error *err)
{
    const fake *f = ladder->state;
    assert_int_equal(turn + 1, ladder->turn);
    assert_false(ladder->is_on_device);
    assert_true(ladder->exec.block_x == 5);
    if (turn == 0)
        note(ladder, 't');
    if (f->fails && !f->fails_late && strcmp(f->fails, ladder->rung->name) == 0)
        return broken(err);
    return LAP_OK;
}

static const char *fake_differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    const fake *f = ladder->state;
    note(ladder, 'd');
    row->value = 7;
    return f->differs && strcmp(f->differs, ladder->rung->name) == 0
               ? lap_bench_refusal(message, "refused: %d", 5)
               : NULL;
}

static lap_code fake_finish(lap_ladder *ladder, lap_bench_row *row, lap_error *err)
{
    const fake *f = ladder->state;
    note(ladder, 'f');
    row->relative_error = row->median_ms;
    if (f->fails && f->fails_late && strcmp(f->fails, ladder->rung->name) == 0)
        return broken(err);
    return LAP_OK;
}

static void test_steps_of_a_ladder(void **state)
{
    (void)state;
    static const struct {
        const char *backends, *differs, *fails;
        bool fails_late, lists_families;
        int threads;
        const char *calls, *rows;
    } cases[] = {
        /* A result is compared before it is timed, on one thread and on all; c has one thread. */
        {"c,simd-sse41", NULL, NULL, false, false, 2,
            " c1d c1t c1f simd-sse411d simd-sse411t simd-sse411f simd-sse412pd simd-sse412pt simd-sse412pf",
            " c:1 simd-sse41:1 simd-sse41:2"},
        {"c,pairwise", NULL, NULL, false, false, 2, " c1d c1t c1f pairwise1d pairwise1t pairwise1f",
            " c:1 pairwise:1"},
        {"c,simd-sse41", NULL, NULL, false, false, 1, " c1d c1t c1f simd-sse411d simd-sse411t simd-sse411f",
            " c:1 simd-sse41:1"},
        /* What differs is not timed. */
        {"c,simd-sse41", "simd-sse41", NULL, false, false, 2, " c1d c1t c1f simd-sse411d simd-sse412pd",
            " c:1 simd-sse41:1(refused: 5) simd-sse41:2(refused: 5)"},
        /* What fails ends all. */
        {"c,pairwise", NULL, "c", false, false, 1, " c1d c1t", ""},
        {"c,pairwise", NULL, "c", true, false, 1, " c1d c1t c1f", ""},
    };
    lap_pool *pool = lap_pool_create(2, NULL);
    assert_non_null(pool);
    unsetenv("LAP_CPU_MASK");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool has_sse41 = !lap_cpu_no_sse41();
        if (!has_sse41 && strstr(cases[i].backends, "sse41"))
            continue;
        rows all = {0};
        lap_error err = {0};
        fake f = {.differs = cases[i].differs, .fails = cases[i].fails, .fails_late = cases[i].fails_late};
        const lap_bench_options options = {.runs = RUNS, .backends = cases[i].backends};
        lap_bench_run bench = {
            .options = &options, .pool = pool, .threads = cases[i].threads, .each = keep, .user = &all};
        lap_ladder ladder = {.bench = &bench,
            .op = LAP_OP_REDUCE,
            .form = {.block_x = 5},
            .state = &f,
            .host = fake_host,
            .differs = fake_differs,
            .finish_host = fake_finish};
        assert_int_equal(lap_bench_ladder(&ladder, &err), cases[i].fails ? LAP_E_DEVICE : LAP_OK);
        assert_string_equal(err.message, cases[i].fails ? "broken" : "");
        assert_string_equal(f.calls, cases[i].calls);
        char said[400] = "";
        for (int k = 0; k < all.count; k++) {
            const lap_bench_row *row = &all.row[k];
            const size_t at = strlen(said);
            snprintf(said + at, sizeof said - at, row->reason ? " %s:%d(%s)" : " %s:%d", row->backend,
                row->threads, row->reason);
            assert_true(row->value == 7);
            assert_true(row->reason ? isnan(row->relative_error) : row->relative_error == STEP);
            assert_true(row->reason ? isnan(row->median_ms) : row->median_ms == STEP);
            assert_int_equal(row->runs, row->reason ? 0 : RUNS);
        }
        assert_string_equal(said, cases[i].rows);
        assert_int_equal(ladder.done_count, 0);
    }
    lap_pool_destroy(pool);
}

/* A rung that several names resolve to is timed once; the other names get rows with the same figures. */
static void test_names_of_one_rung(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        rows all = {0};
        lap_error err = {0};
        fake f = {0};
        const lap_bench_options options = {.runs = RUNS, .backends = named ? "c,simd,auto" : NULL};
        lap_bench_run bench = {.options = &options, .threads = 1, .each = keep, .user = &all};
        lap_ladder ladder = {.bench = &bench,
            .op = LAP_OP_REDUCE,
            .form = {.block_x = 5},
            .state = &f,
            .host = fake_host,
            .differs = fake_differs};
        const lap_rung *simd;
        assert_int_equal(lap_rung_find(LAP_OP_REDUCE, "auto", &simd, &err), LAP_OK);
        bench.options = &options;
        if (!named && !lap_cpu_no_neon())
            continue;
        assert_int_equal(lap_bench_ladder(&ladder, &err), LAP_OK);
        int seen = 0;
        for (int k = 0; k < all.count; k++) {
            const lap_bench_row *row = &all.row[k];
            if (!row->resolved || strcmp(row->resolved, simd->name) != 0)
                continue;
            const char *name = !named ? simd->name : seen == 0 ? "simd" : "auto";
            assert_string_equal(row->backend, name);
            assert_true(row->median_ms == STEP && row->runs == RUNS && row->value == 7);
            seen++;
        }
        assert_int_equal(seen, named ? 2 : 1);
        if (named)
            assert_int_equal(all.count, 3);
    }
}

/* ---- the codec ----------------------------------------------------------------------------------------- */

static const char *const codec_names[] = {
    "decode", "filter", "encode", "floor", "run", "scan", "parallel-1", "parallel-2"};

static lap_code bench_codec(const char *image, int threads, int runs, rows *all, lap_error *err)
{
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    const lap_bench_options options = {.width = 75,
        .height = 40,
        .channels = 3,
        .runs = runs,
        .threads = threads,
        .image = image,
        .params = lap_params_default()};
    *all = (rows){.count = 0};
    *err = (lap_error){0};
    const lap_code code = lap_bench(context, LAP_OP_CODEC, &options, keep, all, err);
    lap_context_destroy(context);
    return code;
}

/* Of how many photos, and their pixels together. */
static void check_codec(const rows *all, int threads, int photos, int width, int height, double pixels)
{
    const lap_bench_row *row = all->row;
    const int count = 6 + threads;
    const double bytes = row[0].gb_per_s * row[0].median_ms;
    static const int spent[] = {2, 1, 1};
    assert_true(bytes > 0);
    for (int i = 0; i < count; i++) {
        const bool is_whole = i == 3 || i == 4; /* the floor, and the run */
        assert_string_equal(row[i].backend, codec_names[i]);
        assert_int_equal(row[i].op, LAP_OP_CODEC);
        assert_int_equal(row[i].threads, is_whole ? threads : i == 7 ? 2 : 1);
        assert_int_equal(row[i].width, width);
        assert_int_equal(row[i].height, height);
        assert_int_equal(row[i].channels, 3);
        assert_int_equal(row[i].runs, RUNS);
        if (i < 3)
            assert_true(row[i].median_ms == spent[i] * STEP * photos);
        assert_true(row[i].median_ms > 0 && is_about(row[i].mpix_per_s, pixels / row[i].median_ms / 1e3));
        assert_true(fabs(row[i].gb_per_s * row[i].median_ms - bytes) < 1e-6 * bytes);
        assert_true(is_whole ? is_about(row[i].roof_share, row[3].median_ms / row[i].median_ms)
                             : isnan(row[i].roof_share));
        assert_true(isnan(row[i].speedup) && isnan(row[i].flops_per_byte));
        if (i != 1)
            assert_string_equal(row[i].resolved, codec_names[i]);
    }
    assert_true(row[3].median_ms == 4.0 * STEP * photos / threads);
    const lap_rung *filter;
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "auto", &filter, NULL), LAP_OK);
    assert_string_equal(row[1].resolved, filter->name);
    /* The coders of both ladders: libjpeg-turbo's first. */
    int i = count;
    for (int op = 0; op < 2; op++) {
        lap_rung_info coder;
        double size = 0;
        for (int k = 0; lap_coder_at(op ? LAP_OP_DECODE : LAP_OP_ENCODE, k, &coder); k++, i++) {
            assert_true(i < all->count);
            assert_int_equal(row[i].op, op ? LAP_OP_DECODE : LAP_OP_ENCODE);
            assert_string_equal(row[i].backend, coder.name);
            assert_true(row[i].width == width && row[i].height == height && row[i].channels == 3);
            assert_true(row[i].threads == 1 && (k > 0 || !coder.reason));
            assert_int_equal(row[i].reason != NULL, coder.reason != NULL);
            if (coder.reason) {
                assert_true(!row[i].resolved && isnan(row[i].median_ms) && row[i].runs == 0);
                continue;
            }
            assert_string_equal(row[i].resolved, coder.name);
            assert_true(row[i].median_ms == STEP * photos && row[i].runs == RUNS && row[i].roof_share == 1);
            assert_true(is_about(row[i].mpix_per_s, pixels / (STEP * photos) / 1e3));
            size = k == 0 ? row[i].gb_per_s : size;
            assert_true(size > 0 && row[i].gb_per_s == size);
        }
    }
    assert_int_equal(i, all->count);
}

static void write_photo(const char *folder, const char *name, const jpeg_kind *kind, int width, int height)
{
    char path[TEMPORARY_PATH + 40];
    const jpeg_bytes jpeg = jpeg_make(kind, width, height);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(jpeg.data, 1, jpeg.size, file), jpeg.size);
    assert_int_equal(fclose(file), 0);
    free(jpeg.data);
}

static void test_codec_rows(void **state)
{
    (void)state;
    static const jpeg_kind kind = {
        .name = "baseline", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
    static const char *const names[] = {"1.jpg", "2.jpg", "3.jpg", "link.jpg"};
    char folder[TEMPORARY_PATH], path[TEMPORARY_PATH + 40];
    rows all;
    lap_error err;
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(bench_codec(NULL, threads, RUNS, &all, &err), LAP_OK);
        check_codec(&all, threads, 1, 75, 40, 75 * 40);
    }
    assert_non_null(mkdtemp(temporary(folder, "codec")));
    assert_int_equal(bench_codec(folder, 1, RUNS, &all, &err), LAP_E_MISSING);
    assert_string_equal(err.subject, folder);
    assert_string_equal(err.message, "no photo found");
    write_photo(folder, "1.jpg", &kind, 64, 48);
    snprintf(path, sizeof path, "%s/1.jpg", folder);
    assert_int_equal(bench_codec(path, 2, RUNS, &all, &err), LAP_OK);
    check_codec(&all, 2, 1, 64, 48, 64 * 48);
    /* A folder of three photos, and a link: of two sizes, the first of which comes again. */
    write_photo(folder, "2.jpg", &kind, 80, 40);
    write_photo(folder, "3.jpg", &kind, 80, 40);
    snprintf(path, sizeof path, "%s/link.jpg", folder);
    assert_int_equal(symlink("1.jpg", path), 0);
    assert_int_equal(bench_codec(folder, 2, RUNS, &all, &err), LAP_OK);
    const double pixels = 64 * 48 + 2 * 80 * 40;
    check_codec(&all, 2, 3, (int)(pixels / 3), 3, pixels);
    /* A file that is no photo ends all, and is named. */
    snprintf(path, sizeof path, "%s/2.jpg", folder);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs("no photo", file) >= 0 && fclose(file) == 0);
    assert_int_equal(bench_codec(folder, 2, RUNS, &all, &err), LAP_E_NOT_IMAGE);
    assert_string_equal(err.subject, path);
    assert_int_equal(all.count, 0);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Results of other coders are compared with libjpeg-turbo's before they are timed. */
static void test_coders_that_differ(void **state)
{
    (void)state;
    static const jpeg_kind kinds[] = {
        {.name = "baseline", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
        {.name = "in scans", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .separate = true}};
    const lap_bench_options options = {.runs = 2};
    lap_error err = {0};
    lap_image image;
    assert_int_equal(lap_image_create(&image, 70, 300, 3, 0, &err), LAP_OK);
    for (int y = 0; y < 300; y++)
        for (int x = 0; x < 210; x++)
            image.view.base[y * image.view.stride + x] = jpeg_sample(x / 3, y, x % 3);
    for (int i = 0; i < 6; i++) {
        const bool decodes = i > 1, in_scans = i > 3;
        const jpeg_bytes jpeg = jpeg_make(&kinds[in_scans], 70, 300);
        rows all = {.count = 0};
        lap_bench_run bench = {.options = &options, .each = keep, .user = &all};
        const lap_bench_row shape = {.width = 7, .height = 8, .channels = 9};
        lap_coders_bench b;
        spoils = i & 1;
        assert_int_equal(
            lap_coders_bench_begin(&b, &bench, decodes ? LAP_OP_DECODE : LAP_OP_ENCODE, &err), LAP_OK);
        for (int run = 0; run < 2; run++)
            assert_int_equal(decodes ? lap_coders_bench_decode(&b, jpeg.data, jpeg.size, run, &err)
                                     : lap_coders_bench_encode(&b, &image.view, 80, run, &err),
                LAP_OK);
        spoils = false;
        assert_true(b.pixel_count == 70 * 300);
        assert_true(decodes ? b.bytes == jpeg.size : b.bytes == b.files[0].size);
        lap_coders_bench_report(&b, &shape);
        const char *why = in_scans   ? "it does not decode this photo; libjpeg-turbo does"
                          : !(i & 1) ? NULL
                          : decodes  ? "its pixels differ from libjpeg-turbo's"
                                     : "its bytes differ from libjpeg-turbo's";
        int others = 0;
        for (int k = 0; k < all.count; k++) {
            lap_rung_info coder;
            assert_true(lap_coder_at(decodes ? LAP_OP_DECODE : LAP_OP_ENCODE, k, &coder));
            assert_true(all.row[k].width == 7 && all.row[k].height == 8 && all.row[k].channels == 9);
            if (coder.reason || k == 0 || !why) {
                assert_true(coder.reason || all.row[k].median_ms == STEP);
                continue;
            }
            others++;
            assert_non_null(all.row[k].reason);
            assert_string_equal(all.row[k].reason, why);
            assert_true(isnan(all.row[k].median_ms));
            assert_int_equal(all.row[k].resolved != NULL, !in_scans);
        }
        assert_true(others > 0 || !why);
        lap_coders_bench_end(&b);
        free(jpeg.data);
    }
    lap_image_destroy(&image);
}

/* Each allocation of a bench fails in turn; what is there is freed. */
static void test_codec_without_memory(void **state)
{
    (void)state;
    int failed = 0;
    owner = pthread_self();
    for (int left = 0; left < 2000; left++) {
        rows all = {.count = 0};
        lap_error err = {0};
        lap_context *context = lap_context_create(1, NULL);
        assert_non_null(context);
        const lap_bench_options options = {
            .width = 16, .height = 16, .channels = 3, .runs = 1, .params = lap_params_default()};
        allocations = left;
        const lap_code code = lap_bench(context, LAP_OP_CODEC, &options, keep, &all, &err);
        const bool is_through = allocations >= 0;
        allocations = -1;
        lap_context_destroy(context);
        assert_true(code == LAP_OK || (code == LAP_E_MEMORY && err.message[0] && all.count == 0));
        failed += code != LAP_OK;
        if (is_through)
            break;
    }
    assert_true(failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_rows),
        cmocka_unit_test(test_peak_of_hidden_vectors),
        cmocka_unit_test(test_runs_that_count),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_limits_of_options),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_number_of_buffers),
        cmocka_unit_test(test_buffers_are_alike),
        cmocka_unit_test(test_pixels_of_a_photo),
        cmocka_unit_test(test_size_of_the_lab_sheet),
        cmocka_unit_test(test_steps_of_a_ladder),
        cmocka_unit_test(test_names_of_one_rung),
        cmocka_unit_test(test_codec_rows),
        cmocka_unit_test(test_coders_that_differ),
        cmocka_unit_test(test_codec_without_memory),
    };
    return cmocka_run_group_tests_name("bench rows", tests, NULL, NULL);
}
