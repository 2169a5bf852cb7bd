/* The border rule against lines written out by hand, and against its formula in lapedge.h. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/border.h"
#include "base/image.h"

/* abcd with the apron of two, as the border's names are usually drawn. '.' is zero. */
static const struct line {
    const char *samples, *zero, *replicate, *reflect, *reflect101;
} lines[] = {
    {"abcd", "..abcd..", "aaabcddd", "baabcddc", "cbabcdcb"},
    {"abc", "..abc..", "aaabccc", "baabccb", "cbabcba"},
    {"ab", "..ab..", "aaabbb", "baabba", "ababab"},
    {"a", "..a..", "aaaaa", "aaaaa", "aaaaa"},
};

static const char *expected(const struct line *line, lap_border border)
{
    const char *const all[] = {line->zero, line->replicate, line->reflect, line->reflect101};
    return all[border];
}

static void test_index_of_drawn_lines(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        const int n = (int)strlen(lines[l].samples);
        for (int border = LAP_ZERO; border <= LAP_REFLECT101; border++) {
            const char *drawn = expected(&lines[l], (lap_border)border);
            for (int i = -2; i < n + 2; i++) {
                int j = lap_border_index(i, n, (lap_border)border);
                assert_int_equal(drawn[i + 2], j < 0 ? '.' : lines[l].samples[j]);
            }
        }
    }
}

/* Reflection one step at a time at whichever end is passed, which is what folding means. */
static int folded(int i, int n, int repeats)
{
    while (i < 0 || i >= n)
        i = i < 0 ? -i - repeats : 2 * n - 2 - i + repeats;
    return i;
}

static void test_index_far_outside(void **state)
{
    (void)state;
    for (int n = 1; n <= 7; n++) {
        for (int i = -40; i <= 40; i++) {
            assert_int_equal(lap_border_index(i, n, LAP_REFLECT), folded(i, n, 1));
            assert_int_equal(lap_border_index(i, n, LAP_REFLECT101), n == 1 ? 0 : folded(i, n, 0));
            assert_int_equal(lap_border_index(i, n, LAP_REPLICATE), i < 0 ? 0 : i < n ? i : n - 1);
            assert_int_equal(lap_border_index(i, n, LAP_ZERO), i < 0 || i >= n ? -1 : i);
            assert_int_equal(lap_border_index(i, n, LAP_CONSTANT), i < 0 || i >= n ? -1 : i);
            assert_int_equal(
                lap_border_index(i, n, (lap_border)(LAP_CONSTANT + 9)), i < 0 || i >= n ? -1 : i);
            assert_int_equal(lap_border_index(i, n, LAP_WRAP), ((i % n) + n) % n);
        }
    }
}

static void test_index_of_long_lines(void **state)
{
    (void)state;
    static const int lengths[] = {(1 << 30) - 1, 1 << 30, (1 << 30) + 1, INT_MAX - 2};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int n = lengths[l];
        for (int k = 1; k <= 2; k++) {
            assert_int_equal(lap_border_index(-k, n, LAP_REFLECT), k - 1);
            assert_int_equal(lap_border_index(n - 1 + k, n, LAP_REFLECT), n - k);
            assert_int_equal(lap_border_index(-k, n, LAP_REFLECT101), k);
            assert_int_equal(lap_border_index(-k, n, LAP_WRAP), n - k);
            assert_int_equal(lap_border_index(n - 1 + k, n, LAP_WRAP), k - 1);
            assert_int_equal(lap_border_index(n - 1 + k, n, LAP_REFLECT101), n - 1 - k);
        }
    }
}

static uint8_t value(int y, int x, int c)
{
    return (uint8_t)(1 + 50 * y + 7 * x + c);
}

static void test_fill_of_whole_images(void **state)
{
    (void)state;
    static const int channels[] = {1, 3, 4};
    static const lap_border borders[] = {LAP_ZERO, LAP_REPLICATE, LAP_REFLECT, LAP_REFLECT101, LAP_WRAP,
        LAP_CONSTANT, (lap_border)(LAP_CONSTANT + 200), LAP_CONSTANT_LAST};
    for (int i = 0; i < 4 * 4 * 3 * 8; i++) {
        const int w = 1 + i % 4, h = 1 + i / 4 % 4, ch = channels[i / 16 % 3];
        const lap_border border = borders[i / 48];
        const uint8_t beyond = border >= LAP_CONSTANT ? (uint8_t)(border - LAP_CONSTANT) : 0;
        lap_image image;
        assert_int_equal(lap_image_create(&image, w, h, ch, LAP_APRON, NULL), LAP_OK);
        memset(image.memory, 0xEE, image.bytes);
        for (int k = 0; k < w * h * ch; k++) {
            int y = k / (w * ch), x = k / ch % w;
            image.view.base[y * image.view.stride + x * ch + k % ch] = value(y, x, k % ch);
        }
        lap_border_fill(&image.view, border);
        for (int y = -2; y < h + 2; y++) {
            for (int x = -2; x < w + 2; x++) {
                int sy = lap_border_index(y, h, border), sx = lap_border_index(x, w, border);
                for (int c = 0; c < ch; c++) {
                    uint8_t want = sy < 0 || sx < 0 ? beyond : value(sy, sx, c);
                    assert_int_equal(image.view.base[y * image.view.stride + x * ch + c], want);
                }
            }
        }
        lap_image_destroy(&image);
    }
}

typedef struct picture { /* that bands are brought from */
    lap_image whole;     /* filled as one */
    int brought;         /* rows */
} picture;

static lap_code bring(void *user, const lap_view *rows, int y, lap_error *err)
{
    picture *p = user;
    (void)err;
    const lap_view from = lap_view_rows(&p->whole.view, y, rows->height);
    lap_view_copy(&from, rows);
    p->brought += rows->height;
    return LAP_OK;
}

static void expect_band(const picture *p, const lap_band *band)
{
    const lap_view *v = &band->view, *w = &p->whole.view;
    const size_t side = (size_t)(LAP_APRON * v->channels),
                 bytes = (size_t)(v->width * v->channels) + 2 * side;
    for (int y = -LAP_APRON; y < v->height + LAP_APRON; y++)
        assert_memory_equal(
            v->base + y * v->stride - side, w->base + (band->y + y) * w->stride - side, bytes);
}

/* A picture in bands has the pixels around each that the whole has: each band by itself, and one after the
 * other, in two places or in one, with each row brought once. */
static void test_bands(void **state)
{
    (void)state;
    enum { WIDTH = 5, CHANNELS = 3 };
    for (int i = 0; i < 7 * 11 * 5; i++) {
        static const lap_border borders[] = {LAP_ZERO, LAP_REPLICATE, LAP_REFLECT, LAP_REFLECT101,
            LAP_CONSTANT + 7, LAP_CONSTANT_LAST, LAP_WRAP};
        const int height = 1 + i % 11, rows = 2 + i / 11 % 5;
        const lap_border border = borders[i / 55];
        lap_image places[2];
        picture p = {.brought = 0};
        assert_int_equal(lap_image_create(&p.whole, WIDTH, height, CHANNELS, LAP_APRON, NULL), LAP_OK);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < WIDTH * CHANNELS; x++)
                p.whole.view.base[y * p.whole.view.stride + x] = (uint8_t)(17 * y + x + 1);
        lap_border_fill(&p.whole.view, border);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(lap_image_create(&places[k], WIDTH, rows, CHANNELS, LAP_APRON, NULL), LAP_OK);
            memset(places[k].memory, 0xEE, places[k].bytes);
        }
        for (int way = 0; way < (border == LAP_WRAP ? 1 : 3); way++) {
            lap_band before = {.y = 0};
            p.brought = 0;
            for (int y = 0, have = 0; y < height; y += rows) {
                lap_band band = {.view = places[way == 1 ? y / rows % 2 : 0].view, .y = y};
                band.view.height = height - y < rows ? height - y : rows;
                band.image_height = height;
                band.border = border;
                const bool goes_on = way > 0 && y > 0;
                assert_int_equal(
                    lap_border_band(&band, goes_on ? &before : NULL, goes_on ? have : 0, bring, &p, NULL),
                    LAP_OK);
                expect_band(&p, &band);
                before = band;
                have = y + band.view.height + LAP_APRON < height ? y + band.view.height + LAP_APRON : height;
            }
            assert_true(way == 0 || p.brought == height);
        }
        lap_image_destroy(&places[0]);
        lap_image_destroy(&places[1]);
        lap_image_destroy(&p.whole);
    }
}

static void test_images(void **state)
{
    (void)state;
    lap_image image, copy;
    lap_error err;
    for (int w = 1; w < 1500; w += 113) {
        assert_int_equal(lap_image_create(&image, w, 3, 3, LAP_APRON, NULL), LAP_OK);
        assert_int_equal((uintptr_t)image.view.base % 64, 0);
        assert_int_equal(image.view.stride % 64, 0);
        assert_true(image.view.stride >= (w + 4) * 3 && image.view.stride % 4096 != 0);
        lap_image_destroy(&image);
        assert_null(image.memory);
    }
    lap_image_destroy(&image);
    assert_int_equal(lap_image_create(&image, INT32_MAX, INT32_MAX, 8, 2, &err), LAP_E_LIMIT);
    assert_null(image.memory);
    assert_int_equal(lap_image_create(&image, 5, 4, 3, 0, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&copy, 5, 4, 3, LAP_APRON, NULL), LAP_OK);
    for (int i = 0; i < 60; i++)
        image.view.base[i / 15 * image.view.stride + i % 15] = (uint8_t)i;
    lap_view_copy(&image.view, &copy.view);
    lap_view rows = lap_view_rows(&copy.view, 2, 2);
    assert_int_equal(rows.height, 2);
    assert_int_equal(rows.apron, LAP_APRON);
    for (int i = 0; i < 30; i++)
        assert_int_equal(rows.base[i / 15 * rows.stride + i % 15], 30 + i);
    lap_image_destroy(&image);
    lap_image_destroy(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_of_drawn_lines),
        cmocka_unit_test(test_index_far_outside),
        cmocka_unit_test(test_index_of_long_lines),
        cmocka_unit_test(test_fill_of_whole_images),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
