/* Measures of a difference, compared with sums by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/image.h"
#include "lapedge_program.h"

enum { W = 24, H = 20 };

static lap_view view_of(uint8_t *pixels, int width, int height, int channels)
{
    return (lap_view){.base = pixels,
        .stride = (ptrdiff_t)width * channels,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

static void fill(uint8_t *pixels, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        pixels[i] = (uint8_t)(seed >> 24);
    }
}

static void test_identical(void **state)
{
    (void)state;
    uint8_t a[W * H * 3];
    lap_difference d;
    fill(a, sizeof a, 1);
    const lap_view v = view_of(a, W, H, 3);
    assert_int_equal(lap_compare_views(&v, &v, 0, true, &d, NULL), LAP_OK);
    assert_true(d.identical);
    assert_int_equal(d.samples, W * H * 3);
    assert_int_equal(d.pixels, W * H);
    assert_int_equal(d.max_abs, 0);
    assert_true(d.mean_abs == 0 && d.rmse == 0 && isnan(d.psnr));
    assert_true(d.ssim == 1);
    assert_int_equal(d.first_x, -1);
}

/* Every sample by itself, in double. */
static void test_figures(void **state)
{
    (void)state;
    uint8_t a[W * H * 3], b[W * H * 3];
    lap_difference d;
    fill(a, sizeof a, 2);
    memcpy(b, a, sizeof a);
    for (int i = 100; i < W * H * 3; i += 37)
        b[i] = (uint8_t)(a[i] ^ (i % 64 + 1));
    double sum = 0, squares = 0;
    int most = 0, pixels = 0, border = 0, first = -1;
    for (int p = 0; p < W * H; p++) {
        bool differs = false;
        for (int c = 0; c < 3; c++) {
            const int delta = abs(a[p * 3 + c] - b[p * 3 + c]);
            sum += delta;
            squares += delta * delta;
            most = delta > most ? delta : most;
            if (delta && first < 0)
                first = p * 3 + c;
            differs = differs || delta;
        }
        const int x = p % W, y = p / W;
        pixels += differs;
        border += differs && (x < 2 || y < 2 || x >= W - 2 || y >= H - 2);
    }
    const lap_view va = view_of(a, W, H, 3), vb = view_of(b, W, H, 3);
    assert_int_equal(lap_compare_views(&va, &vb, 0, false, &d, NULL), LAP_OK);
    assert_false(d.identical);
    assert_int_equal(d.max_abs, most);
    assert_true(d.mean_abs == sum / sizeof a);
    assert_true(d.rmse == sqrt(squares / sizeof a));
    assert_true(fabs(d.psnr - 10 * log10(255.0 * 255.0 / (squares / sizeof a))) < 1e-12);
    assert_true(isnan(d.ssim));
    assert_int_equal(d.differing_pixels, pixels);
    assert_int_equal(d.differing_border, border);
    assert_int_equal((d.first_y * W + d.first_x) * 3 + d.first_channel, first);
    assert_int_equal(d.first_a, a[first]);
    assert_int_equal(d.first_b, b[first]);
}

/* The index of one window at a time, in the plainest way. */
static double plain_ssim(const uint8_t *a, const uint8_t *b, int width, int height)
{
    enum { WINDOW = 11 };
    const double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255;
    double sum = 0;
    for (int y = 0; y + WINDOW <= height; y++)
        for (int x = 0; x + WINDOW <= width; x++) {
            double total = 0, ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
            for (int i = 0; i < WINDOW * WINDOW; i++) {
                const int dx = i % WINDOW, dy = i / WINDOW, at = (y + dy) * width + x + dx;
                const double g = exp(-((dx - 5) * (dx - 5) + (dy - 5) * (dy - 5)) / (2 * 1.5 * 1.5));
                total += g;
                ma += g * a[at];
                mb += g * b[at];
                aa += g * a[at] * a[at];
                bb += g * b[at] * b[at];
                ab += g * a[at] * b[at];
            }
            ma /= total;
            mb /= total;
            const double va = aa / total - ma * ma, vb = bb / total - mb * mb, cov = ab / total - ma * mb;
            sum += (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
        }
    return sum / ((width - WINDOW + 1) * (height - WINDOW + 1));
}

/* SSIM is the mean over the channels, inside the mask; none if a side has fewer than 11 pixels. */
static void test_ssim_of_colours(void **state)
{
    (void)state;
    static const int channels[] = {1, 3, 4}, small[][2] = {{10, 20}, {20, 10}, {10, 10}};
    static uint8_t a[W * H * 4], b[W * H * 4], plane[2][W * H];
    lap_difference d;
    for (int i = 0; i < 3; i++)
        for (int mask = 0; mask <= 4; mask++) {
            const int ch = channels[i], width = W - 2 * mask, height = H - 2 * mask;
            double sum = 0;
            fill(a, sizeof a, 7);
            for (int at = 0; at < W * H * ch; at++)
                b[at] = (uint8_t)(a[at] ^ (at % ch * 5 + at / ch / W % 7 * 3));
            for (int c = 0; c < ch; c++) {
                for (int at = 0; at < width * height; at++) {
                    const int from = ((mask + at / width) * W + mask + at % width) * ch + c;
                    plane[0][at] = a[from];
                    plane[1][at] = b[from];
                }
                sum += plain_ssim(plane[0], plane[1], width, height);
            }
            const lap_view va = view_of(a, W, H, ch), vb = view_of(b, W, H, ch);
            assert_int_equal(lap_compare_views(&va, &vb, mask, true, &d, NULL), LAP_OK);
            assert_true(fabs(d.ssim - sum / ch) < 1e-9);
            assert_int_equal(d.samples, width * height * ch);
            assert_int_equal(d.pixels, width * height);
        }
    for (int i = 0; i < 3; i++)
        for (int same = 0; same < 2; same++) {
            const lap_view va = view_of(a, small[i][0], small[i][1], 1),
                           vb = view_of(same ? a : b, small[i][0], small[i][1], 1);
            b[0] = (uint8_t)(a[0] + 1);
            assert_int_equal(lap_compare_views(&va, &vb, 0, true, &d, NULL), LAP_OK);
            assert_true(isnan(d.ssim) && d.identical == (same == 1));
        }
}

static void test_ssim(void **state)
{
    (void)state;
    static const int sizes[][2] = {{11, 11}, {12, 15}, {W, H}};
    uint8_t a[W * H], b[W * H];
    lap_difference d;
    fill(a, sizeof a, 3);
    for (int i = 0; i < W * H; i++) /* much above, little below: no two rows of a window count alike */
        b[i] = (uint8_t)(a[i] ^ (i / W % 7 * 11));
    for (int i = 0; i < 3; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        const lap_view va = view_of(a, width, height, 1), vb = view_of(b, width, height, 1);
        assert_int_equal(lap_compare_views(&va, &vb, 0, true, &d, NULL), LAP_OK);
        assert_true(fabs(d.ssim - plain_ssim(a, b, width, height)) < 1e-9);
    }
}

/* A single pixel, at every place: where it is, and whether it lies at the border. */
static void test_every_place(void **state)
{
    (void)state;
    enum { N = 9, M = 7 };
    uint8_t a[N * M] = {0}, b[N * M];
    const lap_view va = view_of(a, N, M, 1), vb = view_of(b, N, M, 1);
    for (int at = 0; at < N * M; at++) {
        const int x = at % N, y = at / N;
        const bool edge = x < 2 || y < 2 || x >= N - 2 || y >= M - 2;
        lap_difference d;
        memset(b, 0, sizeof b);
        b[at] = 255;
        assert_int_equal(lap_compare_views(&va, &vb, 0, false, &d, NULL), LAP_OK);
        assert_int_equal(d.first_x, x);
        assert_int_equal(d.first_y, y);
        assert_int_equal(d.first_at_border, edge);
        assert_int_equal(d.differing_border, edge);
        assert_int_equal(d.max_abs, 255);
        assert_int_equal(lap_compare_views(&va, &vb, 2, false, &d, NULL), LAP_OK);
        assert_int_equal(d.identical, edge);
        assert_int_equal(d.pixels, (N - 4) * (M - 4));
    }
}

/* What counts as equal, one pixel at a time, in pictures of one, three and four channels: what lies in a box,
 * and what differs by no more than the threshold. The row behind the picture stays as it is. */
static void test_excused(void **state)
{
    (void)state;
    enum { N = 9, M = 7, AREA = N * M };
    static const lap_diff_box boxes[] = {{3, 2, 4, 3}, {-2, -1, 4, 3}, {7, 5, 100, 100}, {4, -9, 1, 9},
        {0, 6, 9, 1}, {8, 0, 1, 7}, {2147483647, 0, 5, 5}};
    static const int channels[] = {1, 3, 4};
    for (size_t i = 0; i < 3 * sizeof boxes / sizeof *boxes; i++)
        for (int at = 0; at < AREA; at++)
            for (int mask = 0; mask < 3; mask++) {
                const int ch = channels[i % 3], x = at % N, y = at / N, more = 1 + at % 3;
                const lap_diff_box *box = &boxes[i / 3];
                const lap_diff_rules rules = {.mask_border = mask,
                    .ignore = box,
                    .ignore_count = 1,
                    .pixel_threshold = mask == 2 ? 2 : 0};
                const bool in_box = x >= box->x && x < (int64_t)box->x + box->width && y >= box->y &&
                                    y < (int64_t)box->y + box->height,
                           is_near = mask == 2 && more <= 2,
                           masked = x < mask || y < mask || x >= N - mask || y >= M - mask;
                uint8_t a[(AREA + N) * 4], b[sizeof a];
                fill(a, sizeof a, 5);
                memcpy(b, a, sizeof a);
                for (int c = 0; c < ch; c++) /* in all channels, up or down */
                    b[at * ch + c] =
                        (uint8_t)(a[at * ch + c] < 128 ? a[at * ch + c] + more : a[at * ch + c] - more);
                memset(b + AREA * ch, 77, (size_t)N * ch);
                const lap_view va = view_of(a, N, M, ch), vb = view_of(b, N, M, ch);
                assert_int_equal(lap_difference_excuse(&va, &vb, &rules), (in_box || is_near) && !masked);
                assert_int_equal(memcmp(a, b, (size_t)AREA * ch) == 0, in_box || is_near);
                for (int c = 0; c < N * ch; c++)
                    assert_int_equal(b[AREA * ch + c], 77);
            }
}

/* Whether boxes and the border together leave a pixel: of all boxes of a small picture, one alone and two. */
static void test_pixels_left(void **state)
{
    (void)state;
    enum { N = 4, M = 3 };
    const lap_view v = view_of(NULL, N, M, 1);
    for (int n = 0; n < N * M * N * M; n++)
        for (int mask = 0; mask < 2; mask++) {
            const int x = n % N, y = n / N % M, width = 1 + n / N / M % N, height = 1 + n / N / M / N;
            const lap_diff_box boxes[] = {{x, y, width, height}, {0, y, x, height}};
            for (size_t count = 1; count <= 2; count++) {
                bool is_left = false;
                for (int at = 0; at < N * M; at++) {
                    const int px = at % N, py = at / N;
                    const bool in_rows = py >= y && py < y + height,
                               covered = in_rows && px < x + width && (count == 2 || px >= x);
                    is_left |= !covered && px >= mask && py >= mask && px < N - mask && py < M - mask;
                }
                const lap_diff_rules rules = {.mask_border = mask, .ignore = boxes, .ignore_count = count};
                assert_int_equal(lap_difference_has_pixels(&v, &rules), is_left);
            }
        }
}

/* Each pixel is excused independently of its neighbours. If the sizes differ, no picture is changed. */
static void test_neighbours_of_excused(void **state)
{
    (void)state;
    enum { N = 4, M = 2 };
    static const int channels[] = {1, 3, 4};
    for (int i = 0; i < 3; i++)
        for (int odd = 0; odd < 2; odd++) {
            const int ch = channels[i];
            uint8_t a[(N * M + 1) * 4], b[sizeof a], kept[sizeof a];
            memset(a, 100, sizeof a);
            for (int at = 0; at < (N * M + 1) * ch; at++)
                b[at] = at / ch % 2 == odd ? 102 : 150;
            memcpy(kept, b, sizeof b);
            lap_view va = view_of(a, N, M, ch), vb = view_of(b, N, M, ch);
            const lap_diff_box whole = {0, 0, N, M};
            const lap_diff_rules rules = {.pixel_threshold = 2},
                                 boxed = {.ignore = &whole, .ignore_count = 1, .pixel_threshold = 99};
            for (int k = 0; k < 3; k++) {
                lap_view other = vb;
                other.width -= k == 0;
                other.height -= k == 1;
                other.channels += k == 2 ? 1 : 0;
                assert_false(lap_difference_excuse(&va, &other, &boxed));
                assert_memory_equal(b, kept, (size_t)(N * M) * (size_t)ch);
            }
            assert_true(lap_difference_excuse(&va, &vb, &rules));
            for (int at = 0; at < N * M * ch; at++)
                assert_int_equal(b[at], at / ch % 2 == odd ? 100 : 150);
            assert_false(lap_difference_excuse(&va, &vb, &rules));
        }
}

/* With several boxes, any of them can excuse a difference. */
static void test_boxes_that_excuse(void **state)
{
    (void)state;
    const lap_diff_box boxes[] = {{0, 0, 1, 1}, {2, 0, 1, 1}, {3, 0, 1, 1}};
    const lap_diff_rules rules = {.ignore = boxes, .ignore_count = 3};
    for (int at = 0; at < 4; at++) {
        uint8_t a[4] = {9, 9, 9, 9}, b[4] = {9, 9, 9, 9};
        b[at] = 8;
        const lap_view va = view_of(a, 4, 1, 1), vb = view_of(b, 4, 1, 1);
        assert_int_equal(lap_difference_excuse(&va, &vb, &rules), at != 1);
        assert_int_equal(b[at], at == 1 ? 8 : 9);
    }
}

/* How wide the masked border may be, and the message if it covers everything. */
static void test_masks(void **state)
{
    (void)state;
    static uint8_t pixels[9 * 9];
    for (int width = 1; width <= 9; width++)
        for (int height = 1; height <= 9; height++)
            for (int mask = -1; mask <= 5; mask++) {
                const lap_view v = view_of(pixels, width, height, 1);
                const bool fits = mask >= 0 && 2 * mask < width && 2 * mask < height;
                char wanted[80];
                lap_difference d;
                lap_error err = {0};
                const lap_code code = lap_compare_views(&v, &v, mask, false, &d, &err);
                assert_int_equal(code, fits ? LAP_OK : LAP_E_DIFFERENT);
                snprintf(
                    wanted, sizeof wanted, "a border of %d pixels covers all of %dx%d", mask, width, height);
                assert_string_equal(err.message, fits ? "" : wanted);
                if (fits)
                    assert_int_equal(d.pixels, (width - 2 * mask) * (height - 2 * mask));
            }
    const lap_view high = view_of(pixels, 4, 3, 1), low = view_of(pixels, 4, 2, 1);
    lap_difference d;
    lap_error err = {0};
    assert_int_equal(lap_compare_views(&high, &low, 0, false, &d, &err), LAP_E_DIFFERENT);
    assert_string_equal(err.message, "sizes differ: 4x3 and 4x2");
}

/* Compares each figure of a sum with one computed by hand; each of the two pairs is identical or not. */
static void test_figures_of_a_sum(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const bool same_a = n & 1, same_b = n & 2, turned = n & 4;
        const lap_difference one = {.identical = same_a,
            .samples = 30,
            .pixels = 10,
            .max_abs = same_a ? 0 : 7,
            .mean_abs = same_a ? 0 : 1.5,
            .rmse = same_a ? 0 : 2,
            .psnr = NAN,
            .ssim = 0.5,
            .differing_pixels = same_a ? 0 : 3,
            .differing_border = same_a ? 0 : 1,
            .first_x = same_a ? -1 : 4,
            .first_y = same_a ? -1 : 5};
        const lap_difference two = {.identical = same_b,
            .samples = 90,
            .pixels = 45,
            .max_abs = same_b ? 0 : 9,
            .mean_abs = same_b ? 0 : 3,
            .rmse = same_b ? 0 : 6,
            .psnr = NAN,
            .ssim = 0.75,
            .differing_pixels = same_b ? 0 : 20,
            .differing_border = same_b ? 0 : 15,
            .first_x = same_b ? -1 : 8,
            .first_y = same_b ? -1 : 9};
        lap_difference sum = {0};
        lap_difference_add(&sum, turned ? &two : &one);
        assert_memory_equal(&sum, turned ? &two : &one, sizeof sum);
        lap_difference_add(&sum, turned ? &one : &two);
        const double squares = (one.rmse * one.rmse * 30 + two.rmse * two.rmse * 90) / 120;
        const lap_difference *first = turned ? (same_b ? &one : &two) : (same_a ? &two : &one);
        assert_int_equal(sum.identical, same_a && same_b);
        assert_int_equal(sum.samples, 120);
        assert_int_equal(sum.pixels, 55);
        assert_int_equal(sum.max_abs, two.max_abs ? 9 : one.max_abs);
        assert_true(fabs(sum.mean_abs - (one.mean_abs * 30 + two.mean_abs * 90) / 120) < 1e-12);
        assert_true(fabs(sum.rmse - sqrt(squares)) < 1e-12);
        assert_true(
            same_a && same_b ? isnan(sum.psnr) : fabs(sum.psnr - 10 * log10(255 * 255 / squares)) < 1e-9);
        assert_true(fabs(sum.ssim - 0.6875) < 1e-12);
        assert_int_equal(sum.differing_pixels, one.differing_pixels + two.differing_pixels);
        assert_int_equal(sum.differing_border, one.differing_border + two.differing_border);
        assert_int_equal(sum.first_x, first->first_x);
        assert_int_equal(sum.first_y, first->first_y);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    uint8_t a[12] = {0};
    const lap_view v = view_of(a, 4, 3, 1), turned = view_of(a, 3, 4, 1), color = view_of(a, 4, 1, 3);
    const lap_view gray = view_of(a, 4, 1, 1);
    lap_difference d;
    lap_error err = {0};
    assert_int_equal(lap_compare_views(&v, &turned, 0, false, &d, &err), LAP_E_DIFFERENT);
    assert_string_equal(err.message, "sizes differ: 4x3 and 3x4");
    assert_int_equal(lap_compare_views(&color, &gray, 0, false, &d, &err), LAP_E_DIFFERENT);
    assert_string_equal(err.message, "channels differ: 3 and 1");
    assert_int_equal(lap_compare_views(&v, &v, 1, false, &d, &err), LAP_OK);
    assert_int_equal(lap_compare_views(&v, &v, 2, false, &d, &err), LAP_E_DIFFERENT);
    assert_int_equal(lap_compare_views(&v, &v, -1, false, &d, &err), LAP_E_DIFFERENT);
}

/* Two halves added are the whole. */
static void test_sum(void **state)
{
    (void)state;
    uint8_t a[W * H], b[W * H];
    fill(a, sizeof a, 3);
    memcpy(b, a, sizeof a);
    for (int i = W * H / 2 + 5; i < W * H; i += 11)
        b[i] = (uint8_t)(b[i] + i);
    const lap_view va = view_of(a, W, H, 1), vb = view_of(b, W, H, 1);
    lap_difference whole, part, sum = {0};
    assert_int_equal(lap_compare_views(&va, &vb, 0, false, &whole, NULL), LAP_OK);
    for (int half = 0; half < 2; half++) {
        const lap_view ha = lap_view_rows(&va, half * H / 2, H / 2);
        const lap_view hb = lap_view_rows(&vb, half * H / 2, H / 2);
        assert_int_equal(lap_compare_views(&ha, &hb, 0, false, &part, NULL), LAP_OK);
        lap_difference_add(&sum, &part);
        assert_int_equal(sum.identical, half == 0);
    }
    assert_int_equal(sum.samples, whole.samples);
    assert_int_equal(sum.max_abs, whole.max_abs);
    assert_int_equal(sum.differing_pixels, whole.differing_pixels);
    assert_true(fabs(sum.mean_abs - whole.mean_abs) < 1e-12);
    assert_true(fabs(sum.rmse - whole.rmse) < 1e-12);
    assert_true(fabs(sum.psnr - whole.psnr) < 1e-9);
    assert_int_equal(sum.first_x, whole.first_x);
    assert_int_equal(sum.first_y, whole.first_y - H / 2); /* its own file's place */
}

static void test_refused_views(void **state)
{
    (void)state;
    uint8_t a[W * H] = {0};
    const lap_view good = view_of(a, W, H, 1);
    const struct {
        lap_view view;
        const char *message;
    } cases[] = {
        {{a, W, W, H, 1, 0, 0},
            "a view lies on device 0; only views in host memory, whose place is LAP_ON_HOST, are compared"},
        {{NULL, W, W, H, 1, 0, LAP_ON_HOST}, "a view has no pixels (24x20, 1 channels, base is NULL)"},
        {{a, W, 0, H, 1, 0, LAP_ON_HOST}, "a view has no pixels (0x20, 1 channels, base is set)"},
        {{a, W, W, 0, 1, 0, LAP_ON_HOST}, "a view has no pixels (24x0, 1 channels, base is set)"},
        {{a, W, W, H, 0, 0, LAP_ON_HOST}, "a view has no pixels (24x20, 0 channels, base is set)"}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const lap_view *bad = &cases[i / 2].view;
        lap_error err = {0};
        lap_difference d;
        assert_int_equal(
            lap_compare_views(i % 2 ? bad : &good, i % 2 ? &good : bad, 0, false, &d, &err), LAP_E_USAGE);
        assert_string_equal(err.message, cases[i / 2].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_identical), cmocka_unit_test(test_figures),
        cmocka_unit_test(test_ssim), cmocka_unit_test(test_every_place), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sum), cmocka_unit_test(test_excused), cmocka_unit_test(test_pixels_left),
        cmocka_unit_test(test_refused_views), cmocka_unit_test(test_ssim_of_colours),
        cmocka_unit_test(test_neighbours_of_excused), cmocka_unit_test(test_boxes_that_excuse),
        cmocka_unit_test(test_masks), cmocka_unit_test(test_figures_of_a_sum)};
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}
