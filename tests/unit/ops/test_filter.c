#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/border.h"
#include "base/image.h"
#include "ops/ops.h"
#include "rungs/backend.h"

enum { PAD = 7, GUARD = 32 };

static lap_context *context;
static uint8_t *source, *result;

static lap_view view(uint8_t *base, int width, int height, int channels)
{
    return (lap_view){.base = base,
        .stride = (ptrdiff_t)width * channels + PAD,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

static void check(int width, int height, int channels, lap_border border, const char *backend)
{
    lap_view in = view(source, width, height, channels), out = view(result + GUARD, width, height, channels);
    lap_params params = lap_params_default();
    lap_image whole, reference;
    const lap_rung *c;
    memset(result, 0xA5, (size_t)(out.stride * height) + 2 * GUARD);
    assert_int_equal(lap_filter(context, &in, &out, backend, &params, border, NULL), LAP_OK);

    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "c", &c, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&whole, width, height, channels, LAP_APRON, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&reference, width, height, channels, 0, NULL), LAP_OK);
    lap_view_copy(&in, &whole.view);
    lap_border_fill(&whole.view, border);
    lap_exec exec = {.threads = 1};
    assert_int_equal(c->run.filter(&whole.view, &reference.view, &params, &exec), LAP_OK);
    for (int y = 0; y < height; y++) {
        assert_memory_equal(out.base + y * out.stride, reference.view.base + y * reference.view.stride,
            (size_t)(width * channels));
        for (int i = 0; i < PAD && y < height - 1; i++)
            assert_int_equal(out.base[y * out.stride + width * channels + i], 0xA5);
    }
    for (int i = 0; i < GUARD; i++)
        assert_true(result[i] == 0xA5 && out.base[(height - 1) * out.stride + width * channels + i] == 0xA5);

    /* The apron of the caller is taken as it stands: here it makes another border. */
    memset(result, 0xA5, (size_t)(out.stride * height) + 2 * GUARD);
    lap_border other = border == LAP_ZERO ? LAP_REPLICATE : LAP_ZERO;
    assert_int_equal(lap_filter(context, &whole.view, &out, backend, &params, other, NULL), LAP_OK);
    for (int y = 0; y < height; y++)
        assert_memory_equal(out.base + y * out.stride, reference.view.base + y * reference.view.stride,
            (size_t)(width * channels));
    lap_image_destroy(&whole);
    lap_image_destroy(&reference);
}

static void callers_pixels(void **state)
{
    (void)state;
    const int widths[] = {1, 2, 5, 100, 2000}, heights[] = {1, 2, 3, 8, 9, 65, 130, 200};
    const int channels[] = {1, 3, 4};
    for (int w = 0; w < 5; w++)
        for (int h = 0; h < 8; h++)
            for (int c = 0; c < 3; c++)
                check(widths[w], heights[h], channels[c],
                    (w + h + c) % 6 == 5 ? (lap_border)(LAP_CONSTANT + 77) : (lap_border)((w + h + c) % 6),
                    c == 1 ? "simd" : "c");
}

/* All-zero parameters mean the defaults. Only h defines a kernel, whatever its other fields contain. */
static void parameters_are_completed(void **state)
{
    (void)state;
    static const char *const backends[] = {
        "c", "auto", "openmp", "sse", "sse-box", "simd-sse41", "simd-avx2", "simd-avx512"};
    const lap_params none = {0}, laplace = lap_params_default();
    lap_params edited = laplace, custom = laplace;
    lap_view in = view(source, 40, 9, 3), out = view(result, 40, 9, 3), other = out;
    other.base += 9 * out.stride;
    edited.kernel.h[0] = 3, edited.kernel.h[12] = 20;
    assert_int_equal(
        lap_kernel_parse("3 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 20 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
            &custom.kernel, NULL),
        LAP_OK);
    const lap_params *pairs[][2] = {{&none, &laplace}, {&edited, &custom}};
    for (size_t i = 0; i < 2 * (sizeof backends / sizeof *backends); i++) {
        const lap_params *const *p = pairs[i % 2];
        memset(result, 0xA5, (size_t)out.stride * 18);
        const lap_code code = lap_filter(context, &in, &out, backends[i / 2], p[0], LAP_REFLECT, NULL);
        assert_int_equal(code, lap_filter(context, &in, &other, backends[i / 2], p[1], LAP_REFLECT, NULL));
        assert_true(code == LAP_OK || (code == LAP_E_BACKEND && i > 3)); /* no OpenMP, or no such vectors */
        for (int y = 0; y < 9 && code == LAP_OK; y++)
            assert_memory_equal(out.base + y * out.stride, other.base + y * out.stride, 120);
    }
}

static void refused(const lap_view *in, const lap_view *out, const char *backend, const char *word)
{
    lap_params params = lap_params_default();
    lap_error err = {0};
    assert_int_equal(lap_filter(context, in, out, backend, &params, LAP_ZERO, &err), LAP_E_USAGE);
    assert_non_null(strstr(err.message, word));
}

static void bad_views_are_refused(void **state)
{
    (void)state;
    lap_view in = view(source, 20, 20, 3), out = view(result, 20, 20, 3), bad;
    bad = out, bad.width = 19;
    refused(&in, &bad, "c", "19x20");
    bad = in, bad.base = NULL;
    refused(&bad, &out, "c", "has no pixels: its address is NULL");
    bad = out, bad.channels = 4, bad.stride = 100;
    refused(&in, &bad, "c", "20x20x4");
    bad = in, bad.channels = 2;
    refused(&bad, &out, "c", "channels");
    bad = in, bad.base = NULL;
    refused(&bad, &out, "c", "input");
    bad = in, bad.height = 0;
    refused(&bad, &out, "c", "input");
    bad = out, bad.place = 0;
    refused(&in, &bad, "c", "host");
    bad = in, bad.apron = 1;
    refused(&bad, &out, "c", "apron");
    bad = in, bad.stride = 59;
    refused(&bad, &out, "c", "stride");
    bad = in, bad.base += 30;
    refused(&in, &bad, "c", "overlap");
    refused(&in, &in, "c", "overlap");
    refused(&in, &out, "sims", "simd");
    /* The rows and columns around the input are read too. */
    lap_view inner = {source + 20 * 60, 60, 10, 10, 3, LAP_APRON, LAP_ON_HOST}, beside = inner;
    beside.apron = 0;
    beside.base = inner.base + 12 * 3 - 1;
    refused(&inner, &beside, "c", "overlap");
    beside.base = inner.base + 11 * inner.stride;
    refused(&inner, &beside, "c", "overlap");
    beside.base = inner.base - 11 * inner.stride;
    refused(&inner, &beside, "c", "overlap");
}

static void sides_have_a_limit(void **state)
{
    (void)state;
    lap_params params = lap_params_default();
    const int sides[][2] = {{1, 2147483647}, {2147483647, 1}, {1, LAP_MAX_SIDE + 1}};
    for (int i = 0; i < 3; i++)
        for (int apron = 0; apron <= LAP_APRON; apron += LAP_APRON) {
            lap_view in = {.base = source,
                .stride = sides[i][0],
                .width = sides[i][0],
                .height = sides[i][1],
                .channels = 1,
                .apron = apron,
                .place = LAP_ON_HOST};
            lap_error err;
            assert_int_equal(lap_filter(context, &in, &in, "c", &params, LAP_ZERO, &err), LAP_E_LIMIT);
            assert_non_null(strstr(err.message, "268435456"));
        }
}

/* A view of made-up memory: lap_filter_check reads no pixels. */
static lap_view made_up(uintptr_t at, int width, int height, int channels, ptrdiff_t stride)
{
    return (lap_view){.base = (uint8_t *)at, /* NOLINT(performance-no-int-to-ptr) */
        .stride = stride,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

enum { SIDE = LAP_MAX_SIDE };

/* Each case has one fault, in the input or in the output; its message is compared. */
static void what_is_said(void **state)
{
    (void)state;
    static const struct {
        lap_view bad; /* fields that are 0 are as in a valid view */
        lap_code code;
        const char *said; /* after "input" or "output" */
    } cases[] = {
        {{.width = 20}, LAP_OK, ""},
        {{.width = -1}, LAP_E_USAGE, " has -1x20 pixels; a side must be at least 1"},
        {{.height = -1}, LAP_E_USAGE, " has 20x-1 pixels; a side must be at least 1"},
        {{.channels = 2}, LAP_E_USAGE, " has 2 channels; only 1, 3 or 4 channels can be filtered"},
        {{.channels = 5}, LAP_E_USAGE, " has 5 channels; only 1, 3 or 4 channels can be filtered"},
        {{.channels = -1}, LAP_E_USAGE, " has -1 channels; only 1, 3 or 4 channels can be filtered"},
        {{.apron = 1}, LAP_E_USAGE, " has an apron of 1 pixels; it must be 0 or 2"},
        {{.apron = 3}, LAP_E_USAGE, " has an apron of 3 pixels; it must be 0 or 2"},
        {{.stride = 59}, LAP_E_USAGE, " has a stride of 59 bytes, but rows of 60"},
        {{.stride = 60}, LAP_OK, ""},
        {{.width = SIDE + 1, .stride = 3l * SIDE + 3}, LAP_E_LIMIT,
            " has 268435457x20 pixels; a side may have at most 268435456"},
        {{.height = SIDE + 1}, LAP_E_LIMIT, " has 20x268435457 pixels; a side may have at most 268435456"},
    };
    const lap_params params = lap_params_default();
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const lap_view *bad = &cases[i / 2].bad;
        lap_view views[2] = {made_up(1ul << 40, 20, 20, 3, 64), made_up(1ul << 41, 20, 20, 3, 64)};
        lap_view *v = &views[i % 2];
        v->width = bad->width ? bad->width : v->width;
        v->height = bad->height ? bad->height : v->height;
        v->channels = bad->channels ? bad->channels : v->channels;
        v->apron = bad->apron ? bad->apron : v->apron;
        v->stride = bad->stride ? bad->stride : v->stride;
        lap_error err = {0};
        char wanted[160];
        snprintf(wanted, sizeof wanted, "%s%s", i % 2 ? "output" : "input", cases[i / 2].said);
        assert_int_equal(lap_filter_check(&views[0], &views[1], &params, LAP_ZERO, &err), cases[i / 2].code);
        assert_string_equal(err.message, cases[i / 2].code == LAP_OK ? "" : wanted);
    }
}

/* Views that do not match each other, and the largest sides that are allowed. */
static void what_goes_together(void **state)
{
    (void)state;
    const lap_params params = lap_params_default();
    static const struct {
        int width, height, channels, place[2];
        const char *said;
    } cases[] = {
        {20, 20, 3, {LAP_ON_HOST, LAP_ON_HOST}, ""},
        {19, 20, 3, {LAP_ON_HOST, LAP_ON_HOST}, "input is 20x20x3, output 19x20x3"},
        {20, 21, 3, {LAP_ON_HOST, LAP_ON_HOST}, "input is 20x20x3, output 20x21x3"},
        {20, 20, 1, {LAP_ON_HOST, LAP_ON_HOST}, "input is 20x20x3, output 20x20x1"},
        {20, 20, 3, {LAP_ON_HOST, 0}, "input lies in host memory, output on device 0"},
        {20, 20, 3, {1, LAP_ON_HOST}, "input lies on device 1, output in host memory"},
        {20, 20, 3, {1, 2}, "input lies on device 1, output on device 2"},
        {20, 20, 3, {2, 2}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_view in = made_up(1ul << 40, 20, 20, 3, 64),
                 out = made_up(1ul << 41, cases[i].width, cases[i].height, cases[i].channels, 64);
        lap_error err = {0};
        in.place = cases[i].place[0];
        out.place = cases[i].place[1];
        const lap_code code = lap_filter_check(&in, &out, &params, LAP_ZERO, &err);
        assert_int_equal(code, cases[i].said[0] ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, cases[i].said);
    }
    for (int i = 0; i < 2; i++) {
        const int width = i == 0 ? SIDE : 1, height = i == 0 ? 1 : SIDE;
        const lap_view in = made_up(1ul << 40, width, height, 1, width),
                       out = made_up(1ul << 41, width, height, 1, width);
        assert_int_equal(lap_filter_check(&in, &out, &params, LAP_ZERO, NULL), LAP_OK);
    }
    lap_params wrong = params;
    const lap_view in = made_up(1ul << 40, 20, 20, 3, 64), out = made_up(1ul << 41, 20, 20, 3, 64);
    assert_int_equal(
        lap_filter_check(&in, &out, &wrong, (lap_border)(LAP_CONSTANT + 256), NULL), LAP_E_USAGE);
}

/* Whether two views overlap, at each distance. If their strides are equal, they overlap if they share a
 * byte; otherwise, if their ranges of addresses overlap. */
static void each_distance(void **state)
{
    (void)state;
    enum { BASE = 4000, BYTES = 8000 };
    static const struct {
        int width, height, channels, apron, in_stride, out_stride;
    } cases[] = {{3, 2, 1, 0, 7, 7}, {3, 3, 1, 0, 3, 3}, {2, 2, 3, LAP_APRON, 40, 40}, {1, 1, 1, 0, 5, 5},
        {2, 3, 1, LAP_APRON, 6, 6}, {3, 2, 1, 0, 7, 8}, {3, 2, 1, LAP_APRON, 9, 8}};
    const lap_params params = lap_params_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int w = cases[i].width, h = cases[i].height, ch = cases[i].channels, apron = cases[i].apron;
        const int reach =
            8 * (cases[i].in_stride > cases[i].out_stride ? cases[i].in_stride : cases[i].out_stride);
        static uint8_t used[BYTES];
        memset(used, 0, sizeof used);
        int first = BYTES, last = 0;
        for (int y = -apron; y < h + apron; y++)
            for (int x = -apron * ch; x < (w + apron) * ch; x++) {
                const int at = BASE + y * cases[i].in_stride + x;
                used[at] = 1;
                first = at < first ? at : first;
                last = at > last ? at : last;
            }
        for (int off = -reach; off <= reach; off++) {
            bool shares = false;
            const int begin = BASE + off, end = begin + (h - 1) * cases[i].out_stride + w * ch;
            for (int at = begin; at < end; at++)
                shares |= used[at] && (at - begin) % cases[i].out_stride < w * ch;
            if (cases[i].in_stride != cases[i].out_stride)
                shares = begin <= last && end > first;
            lap_view in = made_up(1ul << 40, w, h, ch, cases[i].in_stride),
                     out = made_up((1ul << 40) + (uintptr_t)(intptr_t)off, w, h, ch, cases[i].out_stride);
            in.apron = apron;
            lap_error err = {0};
            const lap_code code = lap_filter_check(&in, &out, &params, LAP_ZERO, &err);
            if (code != (shares ? LAP_E_USAGE : LAP_OK))
                fail_msg("case %zu, %d bytes apart: %d", i, off, code);
            assert_string_equal(err.message, shares ? "input and output overlap" : "");
        }
    }
}

/* Left and right half of one picture share no pixel. */
static void side_by_side_is_no_overlap(void **state)
{
    (void)state;
    lap_view left = view(result, 40, 20, 3);
    left.width = 20;
    lap_view right = left;
    right.base += 60;
    lap_params params = lap_params_default();
    memset(result, 3, (size_t)left.stride * 20);
    assert_int_equal(lap_filter(context, &left, &right, NULL, &params, LAP_REPLICATE, NULL), LAP_OK);
    for (int y = 0; y < 20; y++) {
        assert_int_equal(left.base[y * left.stride], 3);
        assert_int_equal(right.base[y * right.stride], 0);
    }
}

static void a_cancelled_context_stops(void **state)
{
    (void)state;
    lap_context *stopped = lap_context_create(2, NULL);
    assert_non_null(stopped);
    lap_context_cancel(stopped);
    lap_view in = view(source, 20, 20, 3), out = view(result, 20, 20, 3);
    lap_params params = lap_params_default();
    lap_error err = {0};
    assert_int_equal(lap_filter(stopped, &in, &out, "c", &params, LAP_ZERO, &err), LAP_E_CANCELLED);
    assert_int_equal(err.code, LAP_E_CANCELLED);
    lap_context_destroy(stopped);
}

static int begin(void **state)
{
    (void)state;
    const size_t room = (size_t)(2000 * 4 + PAD) * 200 + 2 * GUARD;
    context = lap_context_create(3, NULL);
    source = malloc(room);
    result = malloc(room);
    if (!context || !source || !result)
        return -1;
    uint32_t random = 99;
    for (size_t i = 0; i < room; i++)
        source[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lap_context_destroy(context);
    free(source);
    free(result);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_pixels),
        cmocka_unit_test(parameters_are_completed),
        cmocka_unit_test(bad_views_are_refused),
        cmocka_unit_test(sides_have_a_limit),
        cmocka_unit_test(what_is_said),
        cmocka_unit_test(what_goes_together),
        cmocka_unit_test(each_distance),
        cmocka_unit_test(side_by_side_is_no_overlap),
        cmocka_unit_test(a_cancelled_context_stops),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
