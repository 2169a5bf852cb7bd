/* The colours of heat maps, their scale, and where the pixels of a map are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/status.h"
#include "codec/png_palette.h"
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

/* Compares the colours at the ends of the curve, which were chosen, and some colours between them. */
static void test_colors(void **state)
{
    (void)state;
    static const uint8_t some[][3] = {
        {45, 61, 190}, {124, 70, 154}, {187, 85, 124}, {232, 126, 100}, {253, 180, 80}, {252, 237, 63}};
    lap_ramp ramp;
    lap_ramp_make(ramp);
    assert_int_equal(LAP_RAMP_STEPS, 256);
    for (int i = 0; i < 6; i++)
        assert_memory_equal(ramp[51 * i], some[i], 3);
    const lab first = oklab(ramp[0]), last = oklab(ramp[255]);
    assert_true(fabs(first.l - 0.44) < 3e-3 && fabs(hypot(first.a, first.b) - 0.2) < 3e-3);
    assert_true(fabs(last.l - 0.93) < 3e-3 && fabs(hypot(last.a, last.b) - 0.18) < 3e-3);
    assert_true(fabs(atan2(first.b, first.a) * 180 / M_PI + 90) < 0.8);
    assert_true(fabs(atan2(last.b, last.a) * 180 / M_PI - 104) < 0.8);
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

static const char *const shapes[10][7] = {{".###.", "#...#", "#..##", "#.#.#", "##..#", "#...#", ".###."},
    {"..#..", ".##..", "..#..", "..#..", "..#..", "..#..", ".###."},
    {".###.", "#...#", "....#", "...#.", "..#..", ".#...", "#####"},
    {"#####", "...#.", "..#..", "...#.", "....#", "#...#", ".###."},
    {"...#.", "..##.", ".#.#.", "#..#.", "#####", "...#.", "...#."},
    {"#####", "#....", "####.", "....#", "....#", "#...#", ".###."},
    {"..##.", ".#...", "#....", "####.", "#...#", "#...#", ".###."},
    {"#####", "....#", "...#.", "..#..", ".#...", ".#...", ".#..."},
    {".###.", "#...#", "#...#", ".###.", "#...#", "#...#", ".###."},
    {".###.", "#...#", "#...#", ".####", "....#", "...#.", ".##.."}};

enum { LEFT = 9 + 10 + 9, BAR = 120, WIDE = 9 + 10 + 9 + 120 + 9, HIGH = 25 };

/* Numbers stand under the middle of their levels, and look like themselves. */
static void test_numbers(void **state)
{
    (void)state;
    enum { TICKS = 12, DIGITS = 16 };
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
                        is_ink(&scale.view, center - 2 + x, DIGITS + y), shapes[level][y][x] == '#');
        }
        assert_true(ticks > 0 && (top > 5 || ticks == top));
        lap_image_destroy(&scale);
    }
}

/* Draws a number under the middle of a level, into the dots of a scale. */
static void draw(bool dots[HIGH][WIDE], int center, int value)
{
    const int length = value < 10 ? 1 : value < 100 ? 2 : 3;
    int x = center - (6 * length - 1) / 2;
    dots[12][center] = dots[13][center] = true;
    for (int place = length == 3 ? 100 : length == 2 ? 10 : 1; place > 0; place /= 10, x += 6)
        for (int i = 0; i < 35; i++)
            if (shapes[value / place % 10][i / 5][i % 5] == '#')
                dots[16 + i / 5][x + i % 5] = true;
}

/* Checks every dot of every scale: the numbers (at most five, which do not touch), the square and the
 * bar. */
static void test_every_scale(void **state)
{
    (void)state;
    static const int steps[][2] = {{5, 1}, {11, 2}, {29, 5}, {59, 10}, {119, 20}, {255, 50}};
    lap_ramp ramp;
    lap_ramp_make(ramp);
    for (int top = 0; top < 256; top++) {
        bool dots[HIGH][WIDE] = {{false}};
        const int unit = 1 + top % 3;
        int step = 0;
        for (int i = 5; i >= 0; i--)
            step = top <= steps[i][0] ? steps[i][1] : step;
        draw(dots, 9 + 5, 0);
        const int first = top ? LEFT + BAR / (2 * top) : 0,
                  last = top ? LEFT + (2 * top - 1) * BAR / (2 * top) : 0;
        for (int level = 1; level <= top; level++) {
            const int center = LEFT + (2 * level - 1) * BAR / (2 * top);
            const bool is_end = level == 1 || level == top;
            if (is_end || (level % step == 0 && center - first >= 20 && last - center >= 20))
                draw(dots, center, level);
        }
        lap_image scale;
        assert_int_equal(lap_heat_scale(ramp, top, unit, &scale, NULL), LAP_OK);
        assert_int_equal(scale.view.width, WIDE * unit);
        assert_int_equal(scale.view.height, HIGH * unit);
        assert_int_equal(scale.view.channels, 3);
        for (int y = 0; y < HIGH * unit; y++)
            for (int x = 0; x < WIDE * unit; x++) {
                static const uint8_t ink[3] = {232, 232, 232}, zero[3] = {43, 43, 43},
                                     ground[3] = {14, 14, 14};
                const int row = y / unit, column = x / unit, at = column - LEFT;
                const bool in_rows = row >= 2 && row < 12, in_bar = top && at >= 0 && at < BAR;
                int level = 0; /* at this part of the bar, or the nearest one that is drawn */
                while (in_bar && (top <= BAR ? level * BAR <= at * top : (level - 1) * 119 <= at * (top - 1)))
                    level++;
                const uint8_t *wanted = dots[row][column]                       ? ink
                                        : in_rows && column >= 9 && column < 19 ? zero
                                        : in_rows && in_bar ? lap_heat_color(ramp, level - (top > BAR), top)
                                                            : ground;
                if (memcmp(scale.view.base + y * scale.view.stride + x * 3, wanted, 3) != 0)
                    fail_msg("top %d: dot %d, %d", top, column, row);
            }
        lap_image_destroy(&scale);
    }
}

/* ---- a map that is checked in memory instead of written -------------------------------------------- */

static struct shown {
    bool looks;
    int width, height, count;
    uint8_t *pixels;
    uint8_t colors[256][3];
    lap_code fails;
} shown;

lap_code __real_lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err);
lap_code __wrap_lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err);
lap_code __wrap_lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err)
{
    if (!shown.looks)
        return __real_lap_png_palette_write(sink, picture, err);
    if (shown.fails != LAP_OK)
        return lap_fail(err, shown.fails, "not written");
    shown.width = picture->width;
    shown.height = picture->height;
    shown.count = picture->count;
    assert_in_range(picture->count, 1, 256);
    assert_string_equal(picture->software, "lapedge heat map");
    memcpy(shown.colors, picture->colors, (size_t)picture->count * 3);
    shown.pixels = malloc((size_t)picture->width * (size_t)picture->height);
    assert_non_null(shown.pixels);
    for (int y = 0; y < picture->height; y++)
        picture->row(picture->user, y, shown.pixels + (size_t)y * (size_t)picture->width);
    return LAP_OK;
}

static const uint8_t *color_of(int x, int y)
{
    const uint8_t index = shown.pixels[y * shown.width + x];
    assert_true(index < shown.count);
    return shown.colors[index];
}

typedef struct map_case {
    int width, height, channels, mask, top;
    int unit; /* pixels per dot */
} map_case;

static int level_of(const lap_view *a, const lap_view *b, const map_case *of, int x, int y)
{
    int largest = 0;
    if (x < of->mask || y < of->mask || x >= of->width - of->mask || y >= of->height - of->mask)
        return -1;
    for (int c = 0; c < of->channels; c++) {
        const int d = abs(
            a->base[y * a->stride + x * of->channels + c] - b->base[y * b->stride + x * of->channels + c]);
        largest = d > largest ? d : largest;
    }
    return largest;
}

/* Returns the colour that a map has in place of a colour of the scale: if the scale has more than 253
 * levels, two of them get the colour of the level below. */
static const uint8_t *shown_for(const lap_ramp ramp, const uint8_t *color, int top)
{
    static const int shared[] = {86, 171};
    for (int i = 0; i < 2 && top > 253; i++)
        if (memcmp(color, lap_heat_color(ramp, shared[i], top), 3) == 0)
            return lap_heat_color(ramp, shared[i] - 1, top);
    return color;
}

/* Checks every pixel of a map, of its strips and of its scale. */
static void check_map(const map_case *of, const char *path)
{
    const int w = of->width, h = of->height, gap = 2 * of->unit, strip = 6 * of->unit;
    const int reach = (w > h ? w : h) / 400, line = w * of->channels;
    uint8_t *a = calloc((size_t)(h * line), 1), *b = calloc((size_t)(h * line), 1);
    int *rows = calloc((size_t)h, sizeof *rows), *columns = calloc((size_t)w, sizeof *columns);
    assert_true(a && b && rows && columns);
    unsigned seed = (unsigned)(w + 7 * h + 3 * of->mask);
    for (int i = 0; i < 40; i++) { /* a few pixels, also in two corners */
        seed = seed * 1664525 + 1013904223;
        const int x = i == 0 ? 0 : i == 1 ? w - 1 : (int)(seed >> 8) % w;
        const int y = i == 0 ? 0 : i == 1 ? h - 1 : (int)(seed >> 20) % h;
        (i % 2 ? a : b)[y * line + x * of->channels + i % of->channels] = (uint8_t)(3 * i + 1);
    }
    const lap_view va = {a, line, w, h, of->channels, 0, LAP_ON_HOST},
                   vb = {b, line, w, h, of->channels, 0, LAP_ON_HOST};
    int top = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int level = level_of(&va, &vb, of, x, y);
            top = level > top ? level : top;
            for (int k = -reach; level > 0 && k <= reach; k++) {
                if (y + k >= 0 && y + k < h && rows[y + k] < level)
                    rows[y + k] = level;
                if (x + k >= 0 && x + k < w && columns[x + k] < level)
                    columns[x + k] = level;
            }
        }
    top = of->top ? of->top : top;
    lap_ramp ramp;
    lap_image scale;
    lap_error err = {0};
    lap_ramp_make(ramp);
    assert_int_equal(lap_heat_scale(ramp, top, of->unit, &scale, NULL), LAP_OK);
    shown = (struct shown){.looks = true};
    assert_int_equal(lap_heatmap_write(path, &va, &vb, of->mask, of->top, &err), LAP_OK);
    const int least = w + gap + strip, wide = WIDE * of->unit;
    assert_int_equal(shown.width, least > wide ? least : wide);
    assert_int_equal(shown.height, h + gap + strip + HIGH * of->unit);
    for (int y = 0; y < shown.height; y++)
        for (int x = 0; x < shown.width; x++) {
            const uint8_t *wanted = lap_heat_ground;
            const int below = y - h - gap - strip;
            if (y < h && x < w && level_of(&va, &vb, of, x, y) >= 0)
                wanted = lap_heat_color(ramp, level_of(&va, &vb, of, x, y), top);
            else if (y < h && x >= w + gap && x < least)
                wanted = lap_heat_color(ramp, rows[y], top);
            else if (y >= h + gap && below < 0 && x < w)
                wanted = lap_heat_color(ramp, columns[x], top);
            else if (below >= 0 && x < wide)
                wanted = scale.view.base + below * scale.view.stride + x * 3;
            if (memcmp(color_of(x, y), shown_for(ramp, wanted, top), 3) != 0)
                fail_msg("%dx%d, mask %d: pixel %d, %d", w, h, of->mask, x, y);
        }
    lap_image_destroy(&scale);
    free(shown.pixels);
    shown = (struct shown){.looks = false};
    free(a);
    free(b);
    free(rows);
    free(columns);
}

static void test_maps(void **state)
{
    (void)state;
    static const map_case cases[] = {{5, 4, 1, 0, 0, 2}, {5, 4, 3, 1, 0, 2}, {300, 20, 3, 0, 0, 2},
        {298, 7, 4, 2, 0, 2}, {20, 300, 1, 0, 200, 2}, {399, 9, 1, 0, 60, 2}, {400, 9, 1, 3, 0, 2},
        {9, 1199, 1, 0, 0, 2}, {1199, 9, 3, 0, 0, 2}, {1200, 9, 1, 0, 0, 3}, {9, 1200, 1, 1, 1, 3},
        {1600, 9, 1, 4, 255, 4}};
    char path[TEMPORARY_PATH];
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_map(&cases[i], path);
    unlink(path);
}

/* A dot has at most 40 pixels. */
static void test_largest_dots(void **state)
{
    (void)state;
    static uint8_t pixels[17000];
    static const int sizes[][2] = {{15999, 39}, {16000, 40}, {16400, 40}, {17000, 40}};
    char path[TEMPORARY_PATH];
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < 4; i++) {
        const lap_view v = {pixels, sizes[i][0], sizes[i][0], 1, 1, 0, LAP_ON_HOST};
        lap_error err = {0};
        shown = (struct shown){.looks = true};
        assert_int_equal(lap_heatmap_write(path, &v, &v, 0, 0, &err), LAP_OK);
        assert_int_equal(shown.width, sizes[i][0] + 8 * sizes[i][1]);
        assert_int_equal(shown.height, 1 + (8 + 25) * sizes[i][1]);
        free(shown.pixels);
        shown = (struct shown){.looks = false};
    }
    unlink(path);
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
    /* Each wrong case has one fault, and nothing is written. */
    char path[TEMPORARY_PATH];
    const int fd = mkstemp(temporary(path, "heatmap"));
    assert_true(fd >= 0);
    close(fd);
    static const struct {
        int width, height, channels, mask, top;
        lap_code code, fails;
        const char *said;
    } cases[] = {{4, 3, 1, 0, 0, LAP_OK, LAP_OK, ""}, {4, 3, 1, 2, 255, LAP_OK, LAP_OK, ""},
        {4, 3, 1, 9, 0, LAP_OK, LAP_OK, ""},
        {3, 3, 1, 0, 0, LAP_E_DIFFERENT, LAP_OK,
            "the pictures of a heat map must have equal sizes and channels"},
        {4, 2, 1, 0, 0, LAP_E_DIFFERENT, LAP_OK,
            "the pictures of a heat map must have equal sizes and channels"},
        {4, 3, 3, 0, 0, LAP_E_DIFFERENT, LAP_OK,
            "the pictures of a heat map must have equal sizes and channels"},
        {4, 3, 1, -1, 0, LAP_E_USAGE, LAP_OK,
            "mask_border -1, top 0: mask_border must be at least 0, top 0 to 255"},
        {4, 3, 1, 0, -1, LAP_E_USAGE, LAP_OK,
            "mask_border 0, top -1: mask_border must be at least 0, top 0 to 255"},
        {4, 3, 1, 0, 256, LAP_E_USAGE, LAP_OK,
            "mask_border 0, top 256: mask_border must be at least 0, top 0 to 255"},
        {4, 3, 1, 0, 0, LAP_E_WRITE, LAP_E_WRITE, "not written"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t wide[40] = {0};
        struct stat before, after;
        const lap_view one = {wide, 4, 4, 3, 1, 0, LAP_ON_HOST},
                       two = {wide, 4, cases[i].width, cases[i].height, cases[i].channels, 0, LAP_ON_HOST};
        err = (lap_error){0};
        shown = (struct shown){.looks = true, .fails = cases[i].fails};
        assert_int_equal(stat(path, &before), 0);
        assert_int_equal(
            lap_heatmap_write(path, &one, &two, cases[i].mask, cases[i].top, &err), cases[i].code);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(before.st_ino == after.st_ino, cases[i].code != LAP_OK);
        free(shown.pixels);
        shown = (struct shown){.looks = false};
    }
    unlink(path);
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
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_every_scale),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_largest_dots),
#if LAP_HAVE_STB && LAP_HAVE_PNG
        cmocka_unit_test(test_pixels_keep_their_places),
        cmocka_unit_test(test_levels_in_a_file),
        cmocka_unit_test(test_noise_is_small),
#endif
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("heatmap", tests, NULL, NULL);
}
