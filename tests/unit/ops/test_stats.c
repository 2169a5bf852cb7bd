/* Statistics, profiles, and host rungs spread over a pool. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/image.h"
#include "lapedge_program.h"
#include "ops/ops.h"
#include "rungs/run_rung.h"

static void test_ramp(void **state)
{
    (void)state;
    uint64_t counts[4][256];
    lap_stats s;
    for (int v = 0; v < 256; v++)
        counts[0][v] = 1;
    assert_int_equal(lap_stats_of_counts(counts, 1, 200, &s, NULL), LAP_OK);
    const lap_channel_stats *c = &s.channel[0];
    assert_string_equal(c->name, "gray");
    assert_int_equal(c->count, 256);
    assert_int_equal(c->sum, 255 * 128);
    assert_int_equal(c->min, 0);
    assert_int_equal(c->max, 255);
    assert_true(c->mean == 127.5);
    assert_true(c->stddev == sqrt((256 * 256 - 1) / 12.0));
    assert_true(c->entropy == 8);
    /* The 3rd, 128th and 254th of 256 samples. */
    assert_int_equal(c->p1, 2);
    assert_int_equal(c->p50, 127);
    assert_int_equal(c->p99, 253);
    assert_true(c->above == 56 / 256.0);
}

static void test_all_equal(void **state)
{
    (void)state;
    /* Many samples of one value: a variance by differences of doubles would not come out as zero. */
    uint64_t counts[4][256] = {[1] = {[201] = ((uint64_t)1 << 47) + 1}, [0] = {[0] = 3}, [2] = {[255] = 1}};
    lap_stats s;
    assert_int_equal(lap_stats_of_counts(counts, 3, -1, &s, NULL), LAP_OK);
    assert_string_equal(s.channel[0].name, "red");
    assert_string_equal(s.channel[1].name, "green");
    assert_true(s.channel[1].mean == 201);
    assert_true(s.channel[1].stddev == 0);
    assert_true(s.channel[1].entropy == 0 && !signbit(s.channel[1].entropy));
    assert_int_equal(s.channel[1].p1, 201);
    assert_int_equal(s.channel[1].p99, 201);
    assert_true(isnan(s.channel[1].above));
    assert_int_equal(s.channel[0].max, 0);
    assert_int_equal(s.channel[2].min, 255);
}

static void test_refusals(void **state)
{
    (void)state;
    uint64_t counts[4][256] = {{1}};
    lap_stats s;
    lap_error err = {0};
    assert_int_equal(lap_stats_of_counts(counts, 2, -1, &s, &err), LAP_E_USAGE);
    assert_non_null(strstr(err.message, "no samples"));
    assert_int_equal(lap_stats_of_counts(counts, 5, -1, &s, &err), LAP_E_USAGE);
    assert_int_equal(lap_stats_of_counts(counts, 1, 256, &s, &err), LAP_E_USAGE);
    counts[0][7] = (uint64_t)1 << 48;
    assert_int_equal(lap_stats_of_counts(counts, 1, -1, &s, &err), LAP_E_USAGE);
    counts[0][7] = UINT64_MAX;
    assert_int_equal(lap_stats_of_counts(counts, 1, -1, &s, &err), LAP_E_USAGE);
}

/* Which numbers of channels and which thresholds are valid, and the names of the channels. */
static void test_limits(void **state)
{
    (void)state;
    static const char *const names[][4] = {
        {"gray"}, {"gray", "alpha"}, {"red", "green", "blue"}, {"red", "green", "blue", "alpha"}};
    uint64_t counts[4][256] = {{1, 2}, {1, 2}, {1, 2}, {1, 2}};
    for (int channels = -1; channels <= 6; channels++)
        for (int i = 0; i < 6; i++) {
            static const int thresholds[] = {-2, -1, 0, 1, 255, 256};
            static const double above[] = {NAN, NAN, 1, 2 / 3.0, 0, NAN};
            lap_stats s;
            lap_error err = {0};
            char wanted[80];
            const bool good = channels >= 1 && channels <= 4 && i > 0 && i < 5;
            const lap_code code = lap_stats_of_counts(counts, channels, thresholds[i], &s, &err);
            snprintf(wanted, sizeof wanted, "cannot compute statistics of %d channels with threshold %d",
                channels, thresholds[i]);
            assert_int_equal(code, good ? LAP_OK : LAP_E_USAGE);
            assert_string_equal(err.message, good ? "" : wanted);
            for (int c = 0; good && c < channels; c++) {
                assert_int_equal(s.channels, channels);
                assert_int_equal(s.threshold, thresholds[i]);
                assert_string_equal(s.channel[c].name, names[channels - 1][c]);
                assert_int_equal(s.channel[c].count, 3);
                assert_true(i == 1 ? isnan(s.channel[c].above) : s.channel[c].above == above[i]);
            }
        }
}

/* Compares each figure with one computed from the samples: few, with gaps between their values. */
static void test_figures(void **state)
{
    (void)state;
    static const int values[] = {3, 3, 3, 7, 20, 20, 21, 90, 200, 200};
    for (int n = 1; n <= 10; n++)
        for (int threshold = 0; threshold < 256; threshold++) {
            uint64_t counts[4][256] = {0};
            double sum = 0, squares = 0, entropy = 0;
            int above = 0, largest = 0;
            for (int i = 0; i < n; i++) {
                counts[0][values[i]]++;
                sum += values[i];
                above += values[i] >= threshold;
                largest = values[i] > largest ? values[i] : largest;
            }
            for (int i = 0; i < n; i++) {
                squares += (values[i] - sum / n) * (values[i] - sum / n);
                entropy -= log2((double)counts[0][values[i]] / n) / n;
            }
            lap_stats s;
            assert_int_equal(lap_stats_of_counts(counts, 1, threshold, &s, NULL), LAP_OK);
            const lap_channel_stats *c = &s.channel[0];
            assert_int_equal(c->count, n);
            assert_int_equal(c->sum, (int)sum);
            assert_true(c->mean == sum / n);
            assert_true(fabs(c->stddev - sqrt(squares / n)) < 1e-9);
            assert_true(fabs(c->entropy - entropy) < 1e-12);
            assert_int_equal(c->min, 3);
            assert_int_equal(c->max, largest);
            assert_int_equal(c->p1, 3);
            assert_int_equal(c->p50, values[(n + 1) / 2 - 1]); /* the values are sorted */
            assert_int_equal(c->p99, values[n - 1]);
            assert_true(c->above == (double)above / n);
            assert_memory_equal(c->histogram, counts[0], sizeof counts[0]);
        }
}

/* Numbers of samples that need more than 48 bits, in one count or in total. */
static void test_number_of_samples(void **state)
{
    (void)state;
    static const uint64_t most = (uint64_t)1 << 48;
    static const struct {
        uint64_t counts[3];
        const char *said;
    } cases[] = {{{0, 0, 0}, "cannot compute statistics of no samples"}, {{1, 0, 0}, ""},
        {{most - 1, 0, 0}, ""}, {{most - 2, 1, 0}, ""}, {{0, 0, 1}, ""},
        {{most, 0, 0}, "cannot compute statistics of too many samples"},
        {{most - 1, 1, 0}, "cannot compute statistics of too many samples"},
        {{1, most, 0}, "cannot compute statistics of too many samples"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t counts[4][256] = {0};
        lap_stats s;
        lap_error err = {0};
        counts[0][0] = cases[i].counts[0];
        counts[0][100] = cases[i].counts[1];
        counts[0][255] = cases[i].counts[2];
        const lap_code code = lap_stats_of_counts(counts, 1, -1, &s, &err);
        assert_int_equal(code, cases[i].said[0] ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, cases[i].said);
        if (code == LAP_OK)
            assert_int_equal(
                s.channel[0].count, cases[i].counts[0] + cases[i].counts[1] + cases[i].counts[2]);
    }
}

static lap_image noise(int width, int height, int channels)
{
    lap_image image = {0};
    assert_int_equal(lap_image_create(&image, width, height, channels, 0, NULL), LAP_OK);
    uint32_t r = 1;
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < width * channels; i++) {
            r = r * 1664525 + 1013904223;
            image.view.base[y * image.view.stride + i] = (uint8_t)(r >> 27 << 2);
        }
    }
    return image;
}

/* The statistics are the same bits however the pixels were counted. */
static void test_every_way_of_counting(void **state)
{
    (void)state;
    static const char *const backends[] = {"c", "simd", "auto"};
    lap_image image = noise(1501, 1303, 3);
    lap_stats first, s;
    for (int threads = 1; threads <= 3; threads++) {
        lap_context *context = lap_context_create(threads, NULL);
        assert_non_null(context);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(lap_stats_of_view(context, &image.view, backends[i], 0, 128, &s, NULL), LAP_OK);
            if (threads == 1 && i == 0)
                first = s;
            assert_memory_equal(&s, &first, sizeof s);
        }
        lap_context_destroy(context);
    }
    lap_image_destroy(&image);
}

static void test_profiles(void **state)
{
    (void)state;
    enum { W = 331, H = 203 };
    static float rows[H], columns[W], weights[W];
    lap_image image = noise(W, H, 1);
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (int x = 0; x < W; x++)
        weights[x] = (float)(x % 5);
    assert_int_equal(lap_profiles(context, &image.view, weights, NULL, rows, columns, NULL), LAP_OK);
    for (int y = 0; y < H; y++) {
        int sum = 0; /* whole numbers below 2^24: floats hold them exactly */
        for (int x = 0; x < W; x++)
            sum += image.view.base[y * image.view.stride + x] * (x % 5);
        assert_true(rows[y] == (float)sum);
    }
    for (int x = 0; x < W; x++) {
        double sum = 0;
        for (int y = 0; y < H; y++)
            sum += image.view.base[y * image.view.stride + x];
        assert_true(fabs((double)columns[x] - sum / H) <= sum / H * (H + 2) * 0x1p-24);
    }
    lap_view three = image.view;
    three.channels = 3;
    assert_int_equal(lap_profiles(context, &three, NULL, NULL, rows, columns, NULL), LAP_E_USAGE);
    lap_context_destroy(context);
    lap_image_destroy(&image);
}

/* Views without pixels, or with an invalid place or number of channels; each has one fault. */
static void test_views(void **state)
{
    (void)state;
    static const struct {
        int place, width, height, channels;
        bool has_pixels, stats, profiles; /* whether stats and profiles are computed */
    } cases[] = {{LAP_ON_HOST, 1, 1, 1, true, true, true}, {LAP_ON_HOST, 1, 1, 4, true, true, false},
        {LAP_ON_HOST, 1, 1, 2, true, true, false}, {LAP_ON_HOST, 1, 1, 0, true, false, false},
        {LAP_ON_HOST, 1, 1, 5, true, false, false}, {LAP_ON_HOST, 0, 1, 1, true, false, false},
        {LAP_ON_HOST, 1, 0, 1, true, false, false}, {LAP_ON_HOST, -1, 1, 1, true, false, false},
        {LAP_ON_HOST, 1, -1, 1, true, false, false}, {LAP_ON_HOST, 1, 1, 1, false, false, false},
        {LAP_ON_HOST - 1, 1, 1, 1, true, false, false}};
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t pixels[8] = {5, 5, 5, 5, 5, 5, 5, 5};
        const lap_view v = {.base = cases[i].has_pixels ? pixels : NULL,
            .stride = 8,
            .width = cases[i].width,
            .height = cases[i].height,
            .channels = cases[i].channels,
            .place = cases[i].place};
        char wanted[2][100];
        for (int k = 0; k < 2; k++)
            snprintf(wanted[k], sizeof wanted[k],
                "cannot compute %s of a view of %dx%d pixels with %d channels",
                k == 0 ? "statistics" : "profiles", v.width, v.height, v.channels);
        lap_stats s;
        lap_error err = {0};
        float rows[1] = {0}, columns[1] = {0};
        const lap_code counted = lap_stats_of_view(context, &v, "auto", 0, -1, &s, &err);
        assert_int_equal(counted, cases[i].stats ? LAP_OK : LAP_E_USAGE);
        assert_string_equal(err.message, cases[i].stats ? "" : wanted[0]);
        err = (lap_error){0};
        const lap_code summed = lap_profiles(context, &v, NULL, NULL, rows, columns, &err);
        assert_int_equal(summed, cases[i].profiles ? LAP_OK : LAP_E_USAGE);
        assert_string_equal(err.message, cases[i].profiles ? "" : wanted[1]);
        assert_true(rows[0] == (cases[i].profiles ? 5 : 0) && columns[0] == (cases[i].profiles ? 5 : 0));
    }
    uint8_t pixel = 5;
    const lap_view there = {.base = &pixel, .stride = 1, .width = 1, .height = 1, .channels = 1, .place = 0};
    lap_stats s;
    lap_error err = {0};
    assert_int_equal(lap_stats_of_view(context, &there, "auto", 1, -1, &s, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "the pixels lie on device 0, and cannot be counted on device 1");
    assert_int_not_equal(lap_stats_of_view(context, &there, "auto", 0, -1, &s, &err), LAP_OK);
    assert_null(strstr(err.message, "cannot be counted"));
    lap_context_destroy(context);
}

/* Rows and columns of wide and of high pictures, as means or with the caller's weights. */
static void test_weights(void **state)
{
    (void)state;
    enum { MOST = 70 };
    static const int sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {5, 70}, {70, 5}, {33, 33}};
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    for (int i = 0; i < 24; i++) {
        const int w = sizes[i / 4][0], h = sizes[i / 4][1];
        lap_image image = noise(w, h, 1);
        float weights[MOST], rows[MOST], columns[MOST];
        for (int k = 0; k < MOST; k++)
            weights[k] = (float)(k % 4 - 1);
        const float *of_rows = i & 1 ? weights : NULL, *of_columns = i & 2 ? weights : NULL;
        assert_int_equal(
            lap_profiles(context, &image.view, of_rows, of_columns, rows, columns, NULL), LAP_OK);
        for (int y = 0; y < h; y++) {
            double sum = 0;
            for (int x = 0; x < w; x++)
                sum += image.view.base[y * image.view.stride + x] * (of_rows ? (double)weights[x] : 1.0 / w);
            assert_true(fabs((double)rows[y] - sum) < 1e-3);
        }
        for (int x = 0; x < w; x++) {
            double sum = 0;
            for (int y = 0; y < h; y++)
                sum +=
                    image.view.base[y * image.view.stride + x] * (of_columns ? (double)weights[y] : 1.0 / h);
            assert_true(fabs((double)columns[x] - sum) < 1e-3);
        }
        lap_image_destroy(&image);
    }
    lap_context_destroy(context);
}

/* ---- spreading --------------------------------------------------------------------------------- */

static void test_spread_transpose_and_product(void **state)
{
    (void)state;
    enum { W = 517, H = 401 };
    lap_image in = noise(W, H, 4), one = noise(H, W, 4), many = noise(H, W, 4);
    static float matrix[H * W], x[W], y1[H], y3[H];
    lap_context *context = lap_context_create(3, NULL);
    const lap_rung *rung;
    const lap_resources alone = {.exec.threads = 3}, all = {.exec.threads = 3, .pool = context->pool};
    assert_int_equal(lap_rung_find(LAP_OP_TRANSPOSE, "auto", &rung, NULL), LAP_OK);
    assert_int_equal(lap_rung_transpose(rung, &alone, &in.view, &one.view), LAP_OK);
    assert_int_equal(lap_rung_transpose(rung, &all, &in.view, &many.view), LAP_OK);
    for (int y = 0; y < W; y++) {
        assert_memory_equal(
            one.view.base + y * one.view.stride, many.view.base + y * many.view.stride, H * 4);
    }
    for (int i = 0; i < H * W; i++)
        matrix[i] = in.view.base[i / W * in.view.stride + i % W];
    for (int i = 0; i < W; i++)
        x[i] = 1 / (float)(i + 1);
    lap_gemv g = {matrix, W, H, W, x, y1, LAP_ON_HOST};
    assert_int_equal(lap_rung_find(LAP_OP_MATVEC, "auto", &rung, NULL), LAP_OK);
    assert_int_equal(lap_rung_matvec(rung, &alone, &g), LAP_OK);
    g.y = y3;
    assert_int_equal(lap_rung_matvec(rung, &all, &g), LAP_OK);
    assert_memory_equal(y1, y3, sizeof y1);
    lap_context_destroy(context);
    lap_image_destroy(&in);
    lap_image_destroy(&one);
    lap_image_destroy(&many);
}

static void test_spread_sum(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    float *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 7 - 2);
    const lap_array array = {x, N - 3, false, LAP_ON_HOST};
    const lap_rung *rung;
    double one, many;
    lap_context *context = lap_context_create(3, NULL);
    const lap_resources alone = {.exec.threads = 3}, all = {.exec.threads = 3, .pool = context->pool};
    assert_int_equal(lap_rung_find(LAP_OP_REDUCE, "auto", &rung, NULL), LAP_OK);
    assert_int_equal(lap_rung_reduce(rung, &alone, &array, &one), LAP_OK);
    assert_int_equal(lap_rung_reduce(rung, &all, &array, &many), LAP_OK);
    assert_true(one == many);
    lap_context_destroy(context);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_all_equal),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_number_of_samples),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_every_way_of_counting),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_spread_transpose_and_product),
        cmocka_unit_test(test_spread_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
