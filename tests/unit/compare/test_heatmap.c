/* The colours of heat maps, their scale, and where the pixels of a map are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compare/heatmap.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

typedef struct lab {
    double l, a, b;
} lab;

static double linear(uint8_t v)
{
    const double x = v / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

/* The way back from sRGB, by Ottosson's other pair of matrices. */
static lab oklab(const uint8_t rgb[3])
{
    const double r = linear(rgb[0]), g = linear(rgb[1]), b = linear(rgb[2]);
    const double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return (lab){0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

static double apart(lab p, lab q)
{
    return sqrt((p.l - q.l) * (p.l - q.l) + (p.a - q.a) * (p.a - q.a) + (p.b - q.b) * (p.b - q.b));
}

static void test_lightness_only_grows(void **state)
{
    (void)state;
    lap_ramp ramp;
    lap_ramp_make(ramp);
    /* Eight bits a channel round each step; over four steps the rise is larger than that. */
    for (int i = 4; i < LAP_RAMP_STEPS; i++)
        assert_true(oklab(ramp[i]).l > oklab(ramp[i - 4]).l);
    assert_true(oklab(ramp[0]).l < 0.45);
    assert_true(oklab(ramp[LAP_RAMP_STEPS - 1]).l > 0.9);
}

static void test_steps_are_even(void **state)
{
    (void)state;
    enum { STRIDE = 15 };
    lap_ramp ramp;
    double least = 1, most = 0;
    lap_ramp_make(ramp);
    for (int i = STRIDE; i < LAP_RAMP_STEPS; i += STRIDE) {
        const double step = apart(oklab(ramp[i]), oklab(ramp[i - STRIDE]));
        least = fmin(least, step);
        most = fmax(most, step);
    }
    assert_true(most < 1.1 * least);
}

static void test_zero_is_apart(void **state)
{
    (void)state;
    lap_ramp ramp;
    lap_ramp_make(ramp);
    const lab zero = oklab(lap_heat_zero);
    assert_true(hypot(zero.a, zero.b) < 1e-3); /* gray */
    for (int i = 0; i < LAP_RAMP_STEPS; i++) {
        const lab color = oklab(ramp[i]);
        assert_true(hypot(color.a, color.b) > 0.12); /* never gray */
        assert_true(apart(color, zero) > 0.2);
        assert_true(color.l > zero.l);
    }
}

static void test_color_of_level(void **state)
{
    (void)state;
    lap_ramp ramp;
    lap_ramp_make(ramp);
    for (int top = 1; top < 256; top++) {
        assert_ptr_equal(lap_heat_color(ramp, 0, top), lap_heat_zero);
        assert_ptr_equal(lap_heat_color(ramp, top, top), ramp[LAP_RAMP_STEPS - 1]);
        assert_ptr_equal(lap_heat_color(ramp, 255, top), ramp[LAP_RAMP_STEPS - 1]);
        for (int level = 1; level < top; level++)
            assert_true(lap_heat_color(ramp, level, top) < lap_heat_color(ramp, level + 1, top));
    }
    assert_ptr_equal(lap_heat_color(ramp, 1, 2), ramp[0]);
}

static int count_of(const lap_view *v, const uint8_t color[3])
{
    int n = 0;
    for (int y = 0; y < v->height; y++)
        for (int x = 0; x < v->width; x++)
            n += !memcmp(v->base + y * v->stride + x * 3, color, 3);
    return n;
}

static void test_scale(void **state)
{
    (void)state;
    static const uint8_t ink[3] = {232, 232, 232};
    lap_ramp ramp;
    int before = 0;
    lap_ramp_make(ramp);
    static const int tops[] = {0, 1, 2, 255};
    for (int i = 0; i < 4; i++) {
        lap_image scale;
        assert_int_equal(lap_heat_scale(ramp, tops[i], 1, &scale, NULL), LAP_OK);
        const int written = count_of(&scale.view, ink);
        assert_true(written > before); /* one more number each time */
        before = written;
        assert_int_equal(count_of(&scale.view, lap_heat_zero), 100);
        assert_int_equal(count_of(&scale.view, ramp[LAP_RAMP_STEPS - 1]) > 0, tops[i] > 0);
        int others =
            scale.view.width * scale.view.height - written - 100; /* ground, and the levels' colours */
        others -= count_of(&scale.view, lap_heat_ground);
        for (int level = 1; level <= tops[i]; level++)
            if (level == 1 ||
                lap_heat_color(ramp, level, tops[i]) != lap_heat_color(ramp, level - 1, tops[i]))
                others -= count_of(&scale.view, lap_heat_color(ramp, level, tops[i]));
        assert_int_equal(others, 0);
        lap_image_destroy(&scale);
    }
    for (int top = 0; top < 256; top++) { /* nothing is written beside the image */
        lap_image scale;
        assert_int_equal(lap_heat_scale(ramp, top, 1 + top % 3, &scale, NULL), LAP_OK);
        lap_image_destroy(&scale);
    }
}

/* Whether the dot at x, y of a scale of unit 1 is ink. */
static bool is_ink(const lap_view *v, int x, int y)
{
    static const uint8_t ink[3] = {232, 232, 232};
    return !memcmp(v->base + y * v->stride + x * 3, ink, 3);
}

/* Numbers stand under the middle of their levels, and look like themselves. */
static void test_numbers(void **state)
{
    (void)state;
    enum { LEFT = 9 + 10 + 9, BAR = 120, TICKS = 12, DIGITS = 16 };
    static const char *const digits[10][7] = {
        {".###.", "#...#", "#..##", "#.#.#", "##..#", "#...#", ".###."},
        {"..#..", ".##..", "..#..", "..#..", "..#..", "..#..", ".###."},
        {".###.", "#...#", "....#", "...#.", "..#..", ".#...", "#####"},
        {"#####", "...#.", "..#..", "...#.", "....#", "#...#", ".###."},
        {"...#.", "..##.", ".#.#.", "#..#.", "#####", "...#.", "...#."},
        {"#####", "#....", "####.", "....#", "....#", "#...#", ".###."},
        {"..##.", ".#...", "#....", "####.", "#...#", "#...#", ".###."},
        {"#####", "....#", "...#.", "..#..", ".#...", ".#...", ".#..."},
        {".###.", "#...#", "#...#", ".###.", "#...#", "#...#", ".###."},
        {".###.", "#...#", "#...#", ".####", "....#", "...#.", ".##.."},
    };
    lap_ramp ramp;
    lap_ramp_make(ramp);
    for (int top = 1; top <= 9; top++) {
        lap_image scale;
        assert_int_equal(lap_heat_scale(ramp, top, 1, &scale, NULL), LAP_OK);
        int ticks = 0;
        for (int level = 1; level <= top; level++) {
            const int center = LEFT + (2 * level - 1) * BAR / (2 * top);
            if (!is_ink(&scale.view, center, TICKS)) /* not every level has a number */
                continue;
            ticks++;
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 5; x++)
                    assert_int_equal(
                        is_ink(&scale.view, center - 2 + x, DIGITS + y), digits[level][y][x] == '#');
        }
        assert_true(ticks > 0 && (top > 5 || ticks == top));
        lap_image_destroy(&scale);
    }
}

#if LAP_HAVE_STB && LAP_HAVE_PNG
static void test_pixels_keep_their_places(void **state)
{
    (void)state;
    enum { W = 301, H = 150, CH = 3 };
    static uint8_t a[W * H * CH], b[W * H * CH];
    char path[TEMPORARY_PATH];
    lap_error err = {0};
    const lap_view va = {a, W * CH, W, H, CH, 0, LAP_ON_HOST}, vb = {b, W * CH, W, H, CH, 0, LAP_ON_HOST};
    const lap_settings settings = lap_settings_default();
    lap_context *context = lap_context_create(1, &err);
    lap_pixels *map = NULL;
    lap_ramp ramp;
    lap_ramp_make(ramp);
    b[(H - 1) * W * CH + 17 * CH + 2] = 1;
    b[5 * W * CH + 300 * CH + 1] = 40;
    b[5 * W * CH + 300 * CH] = 3;
    assert_non_null(context);
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(lap_heatmap_write(path, &va, &vb, 0, 0, &err), LAP_OK);
    assert_int_equal(lap_pixels_read(context, path, &settings, &map, &err), LAP_OK);
    const lap_view *v = lap_pixels_view(map);
    /* Dots of two pixels, the least: a gap of two and a strip of six, below it the scale of 25. */
    assert_int_equal(v->width, W + 8 * 2);
    assert_int_equal(v->height, H + (8 + 25) * 2);
    assert_int_equal(v->channels, 3);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const uint8_t *wanted = x == 17 && y == H - 1 ? ramp[0]
                                    : x == 300 && y == 5  ? ramp[LAP_RAMP_STEPS - 1]
                                                          : lap_heat_zero;
            assert_memory_equal(v->base + y * v->stride + x * 3, wanted, 3);
        }
    /* The strips point at both. */
    assert_memory_equal(v->base + 5 * v->stride + (W + 6) * 3, ramp[LAP_RAMP_STEPS - 1], 3);
    assert_memory_equal(v->base + (H - 1) * v->stride + (W + 6) * 3, ramp[0], 3);
    assert_memory_equal(v->base + (H + 6) * v->stride + 17 * 3, ramp[0], 3);
    assert_memory_equal(v->base + (H + 6) * v->stride + 18 * 3, lap_heat_zero, 3);
    lap_pixels_free(map);

    /* Masked pixels do not count, and look so. */
    assert_int_equal(lap_heatmap_write(path, &va, &vb, 1, 0, &err), LAP_OK);
    assert_int_equal(lap_pixels_read(context, path, &settings, &map, &err), LAP_OK);
    v = lap_pixels_view(map);
    assert_memory_equal(v->base + (H - 1) * v->stride + 17 * 3, lap_heat_ground, 3);
    assert_memory_equal(v->base + 5 * v->stride + 20 * 3, lap_heat_zero, 3);
    lap_pixels_free(map);
    lap_context_destroy(context);
    unlink(path);
}
#endif

#if LAP_HAVE_STB && LAP_HAVE_PNG
/* Every level of a scale has its colour; of the 255 of the longest one, two have that of the level before. */
static void test_levels_in_a_file(void **state)
{
    (void)state;
    enum { W = 256, H = 64 };
    static uint8_t a[W * H], b[W * H];
    char path[TEMPORARY_PATH];
    lap_error err = {0};
    const lap_view va = {a, W, W, H, 1, 0, LAP_ON_HOST}, vb = {b, W, W, H, 1, 0, LAP_ON_HOST};
    const lap_settings settings = lap_settings_default();
    lap_context *context = lap_context_create(1, &err);
    lap_ramp ramp;
    lap_ramp_make(ramp);
    assert_non_null(context);
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    static const int tops[] = {1, 40, 253, 254, 255};
    for (int i = 0; i < 5; i++) {
        const int top = tops[i];
        lap_pixels *map = NULL;
        for (int k = 0; k < W * H; k++)
            b[k] = (uint8_t)(k % W <= top ? k % W : 0);
        assert_int_equal(lap_heatmap_write(path, &va, &vb, 0, 0, &err), LAP_OK);
        assert_int_equal(lap_pixels_read(context, path, &settings, &map, &err), LAP_OK);
        const lap_view *v = lap_pixels_view(map);
        for (int x = 0; x < W; x++) {
            const int level = x > top ? 0 : top > 253 && (x == 86 || x == 171) ? x - 1 : x;
            assert_memory_equal(v->base + 9 * v->stride + x * 3, lap_heat_color(ramp, level, top), 3);
        }
        lap_pixels_free(map);
    }
    lap_context_destroy(context);
    unlink(path);
}

/* A byte a pixel at most, and a palette: noise of 40 levels has no more than 6 bits a pixel. */
static void test_noise_is_small(void **state)
{
    (void)state;
    enum { W = 1000, H = 800 };
    static uint8_t a[W * H * 3], b[W * H * 3];
    char path[TEMPORARY_PATH];
    lap_error err = {0};
    const lap_view va = {a, W * 3, W, H, 3, 0, LAP_ON_HOST}, vb = {b, W * 3, W, H, 3, 0, LAP_ON_HOST};
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof b; i++) {
        seed = seed * 1664525 + 1013904223;
        b[i] = (uint8_t)(seed >> 24) % 40;
    }
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(lap_heatmap_write(path, &va, &vb, 0, 0, &err), LAP_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_in_range(ftell(file), W * H / 8, W * H * 6 / 8);
    fclose(file);
    unlink(path);
}
#endif

static void test_refusals(void **state)
{
    (void)state;
    uint8_t pixels[12] = {0};
    lap_error err = {0};
    const lap_view a = {pixels, 4, 4, 3, 1, 0, LAP_ON_HOST}, b = {pixels, 3, 3, 4, 1, 0, LAP_ON_HOST};
    assert_int_equal(lap_heatmap_write("/tmp/never.png", &a, &b, 0, 0, &err), LAP_E_DIFFERENT);
    assert_int_equal(lap_heatmap_write("/tmp/never.png", &a, &a, 0, 256, &err), LAP_E_USAGE);
    assert_int_not_equal(lap_heatmap_write("/nonexistent/map.png", &a, &a, 0, 0, &err), LAP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lightness_only_grows),
        cmocka_unit_test(test_steps_are_even),
        cmocka_unit_test(test_zero_is_apart),
        cmocka_unit_test(test_color_of_level),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_numbers),
#if LAP_HAVE_STB && LAP_HAVE_PNG
        cmocka_unit_test(test_pixels_keep_their_places),
        cmocka_unit_test(test_levels_in_a_file),
        cmocka_unit_test(test_noise_is_small),
#endif
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("heatmap", tests, NULL, NULL);
}
