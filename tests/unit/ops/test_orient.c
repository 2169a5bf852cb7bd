#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/orient.h"

enum { SIDE = 150, BYTES = SIDE * SIDE * 4, GUARD = 64 };

static uint8_t source[BYTES], result[BYTES + 2 * GUARD], again[BYTES];

static lap_view view(uint8_t *base, int width, int height, int channels, int pad)
{
    return (lap_view){.base = base,
        .stride = (ptrdiff_t)width * channels + pad,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

/* The definition, from the EXIF standard's pictures: which stored pixel is seen at (y, x). */
static const uint8_t *seen(const lap_view *in, lap_turn turn, int y, int x)
{
    int h = in->height, w = in->width, sy = 0, sx = 0;
    switch (turn) {
    case LAP_TURN_NONE:
        sy = y, sx = x;
        break;
    case LAP_TURN_H:
        sy = y, sx = w - 1 - x;
        break;
    case LAP_TURN_180:
        sy = h - 1 - y, sx = w - 1 - x;
        break;
    case LAP_TURN_V:
        sy = h - 1 - y, sx = x;
        break;
    case LAP_TURN_TRANSPOSE:
        sy = x, sx = y;
        break;
    case LAP_TURN_90:
        sy = h - 1 - x, sx = y;
        break;
    case LAP_TURN_TRANSVERSE:
        sy = h - 1 - x, sx = w - 1 - y;
        break;
    case LAP_TURN_270:
        sy = x, sx = w - 1 - y;
        break;
    }
    return in->base + sy * in->stride + sx * in->channels;
}

static void check(lap_turn turn, int width, int height, int channels, lap_pool *pool)
{
    lap_view in = view(source, width, height, channels, 0);
    bool swap = lap_turn_transposes(turn);
    int pad = 5, ow = swap ? height : width, oh = swap ? width : height;
    memset(result, 0xA5, sizeof result);
    lap_view out = view(result + GUARD, ow, oh, channels, pad);
    if ((size_t)(out.stride * oh) > BYTES)
        out = view(result + GUARD, ow, oh, channels, pad = 0);
    assert_int_equal(lap_orient(&in, &out, turn, pool, NULL), LAP_OK);
    for (int y = 0; y < oh; y++) {
        for (int x = 0; x < ow; x++)
            assert_memory_equal(
                out.base + y * out.stride + x * channels, seen(&in, turn, y, x), (size_t)channels);
        for (int i = 0; i < pad; i++)
            assert_int_equal(out.base[y * out.stride + ow * channels + i], 0xA5);
    }
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(result[i], 0xA5);
}

static void every_turn_is_as_defined(void **state)
{
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    const int sizes[] = {1, 2, 3, 17, 63, 64, 65, 128, 150};
    const int channels[] = {1, 3, 4};
    for (int turn = 1; turn <= 8; turn++)
        for (size_t w = 0; w < sizeof sizes / sizeof *sizes; w++)
            for (size_t h = 0; h < sizeof sizes / sizeof *sizes; h++)
                for (int c = 0; c < 3; c++)
                    check((lap_turn)turn, sizes[w], sizes[h], channels[c], c == 1 ? pool : NULL);
    lap_pool_destroy(pool);
}

static void composing_is_doing_one_after_the_other(void **state)
{
    (void)state;
    int w = 7, h = 5;
    lap_view in = view(source, w, h, 3, 0);
    for (int a = 1; a <= 8; a++) {
        for (int b = 1; b <= 8; b++) {
            bool swap_a = lap_turn_transposes((lap_turn)a);
            lap_view middle = view(result, swap_a ? h : w, swap_a ? w : h, 3, 0);
            assert_int_equal(lap_orient(&in, &middle, (lap_turn)a, NULL, NULL), LAP_OK);
            lap_turn both = lap_turn_compose((lap_turn)a, (lap_turn)b);
            bool swap = lap_turn_transposes(both);
            lap_view out = view(again, swap ? h : w, swap ? w : h, 3, 0);
            assert_int_equal(lap_orient(&middle, &out, (lap_turn)b, NULL, NULL), LAP_OK);
            for (int y = 0; y < out.height; y++)
                for (int x = 0; x < out.width; x++)
                    assert_memory_equal(out.base + y * out.stride + x * 3, seen(&in, both, y, x), 3);
        }
    }
}

static void strips_find_their_place(void **state)
{
    (void)state;
    int w = 31, h = 47;
    lap_view in = view(source, w, h, 3, 0);
    for (int turn = 1; turn <= 8; turn++) {
        bool swap = lap_turn_transposes((lap_turn)turn);
        lap_view out = view(result, swap ? h : w, swap ? w : h, 3, 0);
        memset(result, 0, sizeof result);
        for (int y0 = 0; y0 < h; y0 += 10) {
            int y1 = y0 + 10 < h ? y0 + 10 : h;
            lap_view rows = in;
            rows.base += y0 * in.stride;
            rows.height = y1 - y0;
            lap_view to = lap_orient_rows(&out, (lap_turn)turn, h, y0, y1);
            assert_int_equal(lap_orient(&rows, &to, (lap_turn)turn, NULL, NULL), LAP_OK);
        }
        for (int y = 0; y < out.height; y++)
            for (int x = 0; x < out.width; x++)
                assert_memory_equal(out.base + y * out.stride + x * 3, seen(&in, (lap_turn)turn, y, x), 3);
    }
}

static void mirroring_in_place(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        for (int w = 1; w < 20; w++) {
            lap_view in = view(source, w, 3, channels, 0), out = view(again, w, 3, channels, 0);
            memcpy(again, source, BYTES);
            lap_orient_mirror(&out);
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < w; x++)
                    assert_memory_equal(out.base + y * out.stride + x * channels, seen(&in, LAP_TURN_H, y, x),
                        (size_t)channels);
        }
    }
}

static int fill(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_is_as_defined),
        cmocka_unit_test(composing_is_doing_one_after_the_other),
        cmocka_unit_test(strips_find_their_place),
        cmocka_unit_test(mirroring_in_place),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
