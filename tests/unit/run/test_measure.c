/* lap_measure_file: masks, weights and what it refuses, with figures worked out here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "lapedge_program.h"
#include "tests/support/temporary.h"

static char path[TEMPORARY_PATH];
static lap_context *context;

static uint8_t sample(int x, int y)
{
    return (uint8_t)(x * 31 + y * 57 + x * y);
}

static void write_pgm(int width, int height)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P5 %d %d 255\n", width, height);
    for (int i = 0; i < width * height; i++)
        fputc(sample(i % width, i / width), file);
    assert_int_equal(fclose(file), 0);
}

static lap_settings identity(void)
{
    lap_settings s = lap_settings_default();
    s.backend = "c";
    assert_int_equal(lap_kernel_parse("identity", &s.params.kernel, NULL), LAP_OK);
    return s;
}

/* The mean of the pixels that a mask leaves; -1 if it leaves none. */
static double mean_inside(int width, int height, int mask)
{
    double sum = 0;
    int count = 0;
    for (int y = mask; y < height - mask; y++)
        for (int x = mask; x < width - mask; x++, count++)
            sum += sample(x, y);
    return count ? sum / count : -1;
}

static void a_mask_leaves_what_is_inside(void **state)
{
    (void)state;
    static const int sizes[][2] = {{9, 9}, {8, 9}, {9, 8}, {20, 7}, {7, 20}, {1, 5}};
    const lap_settings s = identity();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int mask = 0; mask <= 6; mask++) {
            const int width = sizes[i][0], height = sizes[i][1];
            const lap_measure_options options = {.threshold = -1, .mask_border = mask};
            lap_measurement m;
            lap_report report;
            write_pgm(width, height);
            assert_int_equal(lap_measure_report(context, path, &s, &options, &m, &report, NULL), LAP_OK);
            const double inside = mean_inside(width, height, mask);
            assert_int_equal(m.stats.edges.channels, inside < 0 ? 0 : 1);
            if (inside >= 0)
                assert_true(m.stats.edges.channel[0].mean == inside);
            assert_true(m.stats.input.channel[0].mean == mean_inside(width, height, 0));
            assert_true(m.width == width && m.height == height && m.channels == 1 && m.mask_border == mask);
            assert_string_equal(m.resolved, "c");
            assert_true(!m.rows && !m.columns);
            assert_true(report.width == width && report.height == height && report.channels == 1);
            assert_string_equal(report.resolved, "c");
            assert_int_equal(report.status, LAP_DONE);
            lap_measurement_free(&m);
        }
}

static void thresholds_are_counted_with_and_without_a_mask(void **state)
{
    (void)state;
    const lap_settings s = identity();
    write_pgm(9, 7);
    for (int mask = 0; mask <= 1; mask++) {
        const lap_measure_options options = {.threshold = 100, .mask_border = mask};
        lap_measurement m;
        int above = 0, count = 0;
        for (int y = mask; y < 7 - mask; y++)
            for (int x = mask; x < 9 - mask; x++, count++)
                above += sample(x, y) >= 100;
        assert_int_equal(lap_measure_file(context, path, &s, &options, &m, NULL), LAP_OK);
        assert_true(m.stats.edges.channel[0].above == (double)above / count);
        lap_measurement_free(&m);
    }
}

/* Weights for rows, for columns, for both, and none: means. */
static void weights_are_for_rows_columns_or_both(void **state)
{
    (void)state;
    enum { WIDTH = 5, HEIGHT = 3 };
    static const float weights[] = {1, 2, 4, 8, 16, 32, 64, 128};
    const lap_settings s = identity();
    write_pgm(WIDTH, HEIGHT);
    for (int kind = 0; kind < 4; kind++) {
        static const size_t counts[] = {0, WIDTH, HEIGHT, WIDTH + HEIGHT};
        const lap_measure_options options = {.threshold = -1,
            .profiles = true,
            .weights = kind ? weights : NULL,
            .weight_count = counts[kind]};
        lap_measurement m;
        assert_int_equal(lap_measure_file(context, path, &s, &options, &m, NULL), LAP_OK);
        for (int y = 0; y < HEIGHT; y++) {
            float sum = 0;
            for (int x = 0; x < WIDTH; x++)
                sum += sample(x, y) * (kind & 1 ? weights[x] : 1);
            assert_true(abs((int)(m.rows[y] * 1000 - (kind & 1 ? sum : sum / WIDTH) * 1000)) <= 1);
        }
        for (int x = 0; x < WIDTH; x++) {
            float sum = 0;
            for (int y = 0; y < HEIGHT; y++)
                sum += sample(x, y) * (kind & 2 ? weights[y + (kind == 3 ? WIDTH : 0)] : 1);
            assert_true(abs((int)(m.columns[x] * 1000 - (kind & 2 ? sum : sum / HEIGHT) * 1000)) <= 1);
        }
        lap_measurement_free(&m);
    }
}

/* A square's weights are for both sides, the same ones. */
static void a_square_takes_one_list_for_both(void **state)
{
    (void)state;
    static const float weights[] = {1, 0, 0};
    const lap_settings s = identity();
    const lap_measure_options options = {.profiles = true, .weights = weights, .weight_count = 3};
    lap_measurement m;
    write_pgm(3, 3);
    assert_int_equal(lap_measure_file(context, path, &s, &options, &m, NULL), LAP_OK);
    for (int i = 0; i < 3; i++)
        assert_true(m.rows[i] == sample(0, i) && m.columns[i] == sample(i, 0));
    lap_measurement_free(&m);
}

/* Profiles are of the luma, statistics of each channel. */
static void profiles_of_colour_are_those_of_its_luma(void **state)
{
    (void)state;
    enum { WIDTH = 6, HEIGHT = 4 };
    const lap_settings s = identity();
    const lap_measure_options options = {.threshold = -1, .profiles = true};
    lap_measurement m;
    int luma[HEIGHT][WIDTH];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const unsigned r = sample(x, y), g = sample(y, x), b = sample(x + 3, y + 2);
            fputc((int)r, file);
            fputc((int)g, file);
            fputc((int)b, file);
            luma[y][x] = (int)((19595U * r + 38470U * g + 7471U * b + 32768) >> 16);
        }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(lap_measure_file(context, path, &s, &options, &m, NULL), LAP_OK);
    assert_int_equal(m.channels, 3);
    assert_int_equal(m.stats.edges.channels, 3);
    for (int y = 0; y < HEIGHT; y++) {
        int sum = 0;
        for (int x = 0; x < WIDTH; x++)
            sum += luma[y][x];
        assert_true(abs((int)(m.rows[y] * 1000) - sum * 1000 / WIDTH) <= 1);
    }
    for (int x = 0; x < WIDTH; x++) {
        int sum = 0;
        for (int y = 0; y < HEIGHT; y++)
            sum += luma[y][x];
        assert_true(abs((int)(m.columns[x] * 1000) - sum * 1000 / HEIGHT) <= 1);
    }
    lap_measurement_free(&m);
}

/* By whom the picture was decoded, if the settings name somebody, and what was wrong with it. */
static void what_is_said_of_a_picture(void **state)
{
    (void)state;
    static const uint8_t gray[40 * 40] = {7};
    const lap_view view = {(uint8_t *)gray, 40, 40, 40, 1, 0, LAP_ON_HOST};
    lap_settings s = identity();
    void *bytes;
    size_t size;
    assert_int_equal(lap_encode(&view, &s, &bytes, &size, NULL), LAP_OK);
    for (int n = 0; n < 8; n++) {
        const bool is_jpeg = n % 2, is_cut = n / 2 % 2;
        const lap_measure_options options = {.threshold = -1, .mask_border = n / 4};
        lap_measurement m;
        lap_report report;
        if (!is_jpeg)
            write_pgm(9, 9);
        FILE *file = fopen(path, is_jpeg ? "wb" : "r+b");
        assert_non_null(file);
        if (is_jpeg)
            assert_int_equal(fwrite(bytes, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
        if (is_cut)
            assert_int_equal(truncate(path, is_jpeg ? (off_t)size - 20 : 60), 0);
        s.codec = LAP_CODEC_TURBO;
        s.fail_on = LAP_FAIL_NONE;
        assert_int_equal(lap_measure_report(context, path, &s, &options, &m, &report, NULL), LAP_OK);
        if (is_jpeg)
            assert_string_equal(m.note, "decoded by turbo");
        else
            assert_null(m.note);
        assert_int_equal(report.status, is_cut ? LAP_WARNED : LAP_DONE);
        assert_int_equal(report.warnings > 0, is_cut);
        assert_int_equal(report.warning[0] != 0, is_cut);
        lap_measurement_free(&m);
    }
    free(bytes);
}

static void what_cannot_be_measured_is_refused(void **state)
{
    (void)state;
    static const float weights[9] = {1};
    static const struct {
        const char *in, *backend;
        lap_measure_options options;
        const char *message;
    } cases[] = {
        {path, "c", {.mask_border = -1}, "a border of -1 pixels cannot be left out"},
        {path, "c", {.profiles = true, .weights = weights, .weight_count = 7},
            "7 weights: expected 5 (for rows), 3 (for columns) or 8 (both)"},
        {path, "c", {.profiles = true, .weights = weights},
            "0 weights: expected 5 (for rows), 3 (for columns) or 8 (both)"},
        {path, "smid", {.mask_border = 0}, "unknown backend 'smid'; the nearest is 'simd'"},
    };
    write_pgm(5, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = identity();
        lap_measurement m = {.rows = (float *)1, .note = (char *)1};
        lap_report report;
        lap_error err = {0};
        s.backend = cases[i].backend;
        assert_int_equal(
            lap_measure_report(context, cases[i].in, &s, &cases[i].options, &m, &report, &err), LAP_E_USAGE);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", err.message);
        assert_int_equal(report.status, LAP_FAILED);
        assert_true(!m.rows && !m.columns && !m.note);
    }
    lap_measurement m;
    lap_error err = {0};
    const lap_settings s = identity();
    const lap_measure_options options = {.threshold = -1};
    for (int mask = 0; mask <= 1; mask++) {
        const lap_measure_options masked = {.mask_border = mask};
        assert_int_equal(lap_measure_file(context, "/no/such", &s, &masked, &m, &err), LAP_E_MISSING);
        assert_string_equal(err.subject, "/no/such");
    }
    assert_int_equal(lap_measure_file(context, path, &s, &options, &m, &err), LAP_OK);
    lap_measurement_free(&m);
}

static int start(void **state)
{
    (void)state;
    const int fd = mkstemp(temporary(path, "measure"));
    context = lap_context_create(2, NULL);
    return fd >= 0 && close(fd) == 0 && context ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    lap_context_destroy(context);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_leaves_what_is_inside),
        cmocka_unit_test(thresholds_are_counted_with_and_without_a_mask),
        cmocka_unit_test(weights_are_for_rows_columns_or_both),
        cmocka_unit_test(a_square_takes_one_list_for_both),
        cmocka_unit_test(profiles_of_colour_are_those_of_its_luma),
        cmocka_unit_test(what_is_said_of_a_picture),
        cmocka_unit_test(what_cannot_be_measured_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
