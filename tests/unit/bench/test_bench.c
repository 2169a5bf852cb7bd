/* What the benches share: how often work is timed, what decoding by teams gives, synthetic pixels,
 * statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/bench_codec.h"
#include "bench/bench_image.h"

#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"

/* ---- timing ------------------------------------------------------------------------------------------ */

typedef struct work {
    int calls, fails_at;
} work;

/* The first call takes longer than all warming up: each further one is a timed run. */
static lap_code do_work(void *argument, lap_times *stages, lap_error *err)
{
    (void)stages;
    static const struct timespec long_enough = {.tv_nsec = 70 * 1000 * 1000};
    work *w = argument;
    if (++w->calls == 1)
        nanosleep(&long_enough, NULL);
    if (w->calls != w->fails_at)
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_DEVICE, .message = "broken"};
    return LAP_E_DEVICE;
}

static void test_each_run_is_done_once(void **state)
{
    (void)state;
    enum { RUNS = 7 };
    const lap_bench_options options = {.runs = RUNS};
    lap_bench_run bench = {.options = &options, .threads = 1};
    double times[RUNS];
    lap_error err = {0};
    for (int fails_at = 0; fails_at <= RUNS + 1; fails_at++) {
        work w = {.fails_at = fails_at};
        const lap_bench_work timed = {do_work, &w, 1, 1, times};
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.name = "work"});
        const lap_code code = lap_bench_time(&bench, &timed, &row, &err);
        assert_int_equal(code, fails_at ? LAP_E_DEVICE : LAP_OK);
        assert_int_equal(w.calls, fails_at ? fails_at : 1 + RUNS);
        assert_int_equal(row.runs, fails_at ? 0 : RUNS);
    }
}

static void test_nothing_is_done_after_a_cancel(void **state)
{
    (void)state;
    const lap_bench_options options = {.runs = 3};
    const atomic_int cancel = 1;
    lap_bench_run bench = {.options = &options, .control = {.cancel = &cancel}};
    double times[3];
    work w = {0};
    const lap_bench_work timed = {do_work, &w, 1, 1, times};
    lap_error err = {0};
    lap_bench_row row = lap_bench_row_of(&(lap_rung){.name = "work"});
    assert_int_equal(lap_bench_time(&bench, &timed, &row, &err), LAP_E_CANCELLED);
    assert_int_equal(w.calls, 0);
}

/* ---- decoding by teams --------------------------------------------------------------------------------- */

static void test_teams_have_up_to_16_threads(void **state)
{
    (void)state;
    lap_bench_teams teams;
    lap_error err = {0};
    static const int threads[] = {1, 2, 3, 15, 16, 100}, counts[] = {1, 2, 2, 4, 5, 5};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(lap_bench_teams_create(&teams, threads[i], &err), LAP_OK);
        assert_int_equal(teams.count, counts[i]);
        lap_bench_teams_destroy(&teams);
    }
}

/* The pixels are those of a run; only a picture that has parts has a scan that is timed. */
static void check_decoding(lap_context *context, const jpeg_kind *kind)
{
    enum { W = 160, H = 96 };
    const jpeg_bytes jpeg = jpeg_make(kind, W, H);
    lap_settings settings = lap_settings_default();
    lap_bench_teams teams;
    lap_image image;
    lap_error err = {0};
    void *ppm = NULL;
    size_t size = 0;
    settings.filter = false;
    settings.format = "ppm";
    assert_int_equal(
        lap_run_memory(context, jpeg.data, jpeg.size, &ppm, &size, &settings, NULL, &err), LAP_OK);
    assert_true(size > (size_t)W * H * 3);
    const uint8_t *want = (uint8_t *)ppm + size - (size_t)W * H * 3;
    assert_int_equal(lap_image_create(&image, W, H, 3, 0, &err), LAP_OK);
    for (int threads = 1; threads <= 2; threads++) {
        memset(image.memory, 0xA5, image.bytes);
        assert_int_equal(lap_bench_teams_create(&teams, threads, &err), LAP_OK);
        assert_int_equal(lap_bench_teams_decode(&teams, jpeg.data, jpeg.size, &image.view, &err), LAP_OK);
        for (int y = 0; y < H; y++)
            assert_memory_equal(image.view.base + y * image.view.stride, want + (size_t)y * W * 3, W * 3);
        assert_true(
            kind->progressive ? !(teams.scan_ms > 0) : teams.scan_ms > 0 && teams.scan_ms <= teams.ms[0]);
        for (int i = 0; i < LAP_BENCH_TEAMS; i++)
            assert_int_equal(teams.ms[i] > 0, i < threads);
        lap_bench_teams_destroy(&teams);
    }
    assert_int_equal(lap_bench_teams_create(&teams, 2, &err), LAP_OK);
    assert_int_not_equal(lap_bench_teams_decode(&teams, "no photo", 8, &image.view, &err), LAP_OK);
    assert_true(!(teams.scan_ms > 0) && !(teams.ms[1] > 0)); /* one failure is enough */
    lap_bench_teams_destroy(&teams);
    lap_image_destroy(&image);
    free(ppm);
    free(jpeg.data);
}

static void test_decoding_by_teams(void **state)
{
    (void)state;
    static const jpeg_kind kinds[] = {
        {.name = "baseline", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
        {.name = "progressive",
            .components = 3,
            .space = JCS_YCbCr,
            .sampling = "22 11 11",
            .progressive = true}};
    lap_error err = {0};
    lap_context *context = lap_context_create(2, &err);
    assert_non_null(context);
    for (int i = 0; i < 2; i++)
        check_decoding(context, &kinds[i]);
    lap_context_destroy(context);
}

/* ---- pixels and statistics ----------------------------------------------------------------------------- */

/* Marsaglia's xorshift32 (2003) with the shifts 13, 17, 5, over a gradient: the same on every machine. */
static void test_synthetic_pixels(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        const lap_bench_options options = {.width = 75, .height = 70, .channels = channels};
        lap_image image;
        lap_error err = {0};
        uint32_t x = 2463534242;
        if (channels == 2)
            continue;
        assert_int_equal(lap_bench_image(&options, &image, &err), LAP_OK);
        for (int row = 0; row < 70; row++)
            for (int i = 0; i < 75 * channels; i++) {
                x = x ^ x << 13;
                x = x ^ x >> 17;
                x = x ^ x << 5;
                const int want = (row + i / channels) / 32 % 224 + (int)(x / (1u << 27));
                assert_int_equal(image.view.base[row * image.view.stride + i], want);
            }
        lap_image_destroy(&image);
    }
}

static void test_median(void **state)
{
    (void)state;
    static const double values[] = {4, 1, 9, 9, 1, 9, 16};
    static const int doubled[] = {8, 5, 8, 13, 8, 13, 18}; /* of the first, the first two, ... */
    for (int n = 1; n <= 7; n++)
        assert_int_equal((int)(2 * lap_summarize(values, n).median), doubled[n - 1]);
}

/* Work takes processor time, which only grows. */
static void test_processor_time(void **state)
{
    (void)state;
    const double start = lap_bench_cpu_ms();
    double now = start;
    volatile unsigned sum = 0;
    for (int i = 0; i < 1000000 && now < start + 2; i++) {
        for (unsigned k = 0; k < 10000; k++)
            sum += k;
        const double before = now;
        now = lap_bench_cpu_ms();
        assert_true(now >= before);
    }
    (void)sum;
    assert_true(start >= 0 && now >= start + 2);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void count_row(void *user, const lap_bench_row *row)
{
    (void)row;
    ++*(int *)user;
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        lap_op op;
        lap_bench_options options;
        const char *words;
    } cases[] = {
        {LAP_OP_FILTER, {.width = 8, .height = 8, .runs = -1}, "-1 runs"},
        {LAP_OP_FILTER, {.width = 8, .height = 8, .runs = 100000000}, "100000000 runs"},
        {LAP_OP_FILTER, {.width = 8, .height = 8, .runs = 1, .channels = 2}, "2 channels"},
        {LAP_OP_FILTER, {.width = 8, .runs = 1}, "a size of 8x0"},
        {LAP_OP_FILTER, {.width = -1, .height = 8, .runs = 1}, "a size of -1x8"},
        {LAP_OP_FILTER, {.width = 8, .height = -8, .runs = 1}, "a size of 8x-8"},
        {(lap_op)(LAP_OP_CODEC + 1), {.width = 8, .height = 8, .runs = 1}, "unknown operation"},
        {(lap_op)-1, {.width = 8, .height = 8, .runs = 1}, "unknown operation"},
        {LAP_OP_FILTER, {.width = 8, .height = 8, .runs = 1, .omp_loop = "z"}, "loop \"z\""},
        {LAP_OP_FILTER, {.width = 8, .height = 8, .runs = 1, .type = "f32"}, "type \"f32\""},
        {LAP_OP_HISTOGRAM, {.width = 8, .height = 8, .runs = 1, .type = "f32"}, "type \"f32\""},
        {LAP_OP_TRANSPOSE, {.width = 8, .height = 8, .runs = 1, .type = "i32"}, "type \"i32\""},
        {LAP_OP_MATVEC, {.n = 8, .runs = 1, .type = "f64"}, "type \"f64\""},
        {LAP_OP_MATVEC, {.n = (size_t)1 << 40, .runs = 1}, "1099511627776 rows"},
        {LAP_OP_REDUCE, {.n = 8, .runs = 1, .type = "u8"}, "type \"u8\""},
        {LAP_OP_REDUCE, {.n = (size_t)1 << 31, .runs = 1}, "2147483648 values"},
    };
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_bench_options options = cases[i].options;
        lap_error err = {0};
        int rows = 0;
        options.params = lap_params_default();
        options.channels = options.channels ? options.channels : 1;
        assert_int_equal(lap_bench(context, cases[i].op, &options, count_row, &rows, &err), LAP_E_USAGE);
        if (!strstr(err.message, cases[i].words) || rows != 0)
            fail_msg("%zu: %s, %d rows", i, err.message, rows);
    }
    lap_context_destroy(context);
}

/* Sums of one type alone, on as many threads as there are, and of a value that nobody named. */
static void note_types(void *user, const lap_bench_row *row)
{
    if (row->reason || !row->resolved || strcmp(row->backend, "c") != 0)
        return;
    ((int *)user)[strcmp(row->type, "f64") == 0]++;
    assert_true(row->relative_error < 1e-4 && row->value > 0);
}

static void test_types_of_sums(void **state)
{
    (void)state;
    static const char *const types[] = {NULL, "f32", "f64"};
    static const double values[] = {0, 2, 0.25};
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (int i = 0; i < 3; i++) {
        int rows[2] = {0};
        lap_error err;
        const lap_bench_options options = {.n = 1000,
            .runs = 1,
            .type = types[i],
            .threads = 9,
            .value = values[i],
            .channels = 1,
            .backends = "c",
            .params = lap_params_default()};
        assert_int_equal(lap_bench(context, LAP_OP_REDUCE, &options, note_types, rows, &err), LAP_OK);
        assert_int_equal(rows[0], i != 2);
        assert_int_equal(rows[1], i != 1);
    }
    lap_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_run_is_done_once),
        cmocka_unit_test(test_nothing_is_done_after_a_cancel),
        cmocka_unit_test(test_teams_have_up_to_16_threads),
        cmocka_unit_test(test_decoding_by_teams),
        cmocka_unit_test(test_synthetic_pixels),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_processor_time),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_types_of_sums),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
