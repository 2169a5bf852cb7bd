/* Memory: arrays that grow, pages, images and views of them. */
#include <limits.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/image.h"
#include "base/pages.h"

enum { LARGE = 2 << 20 };

static void arrays_double_or_take_what_is_wanted(void **state)
{
    (void)state;
    static const size_t steps[][2] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {17, 17}, {18, 34}};
    size_t capacity = 0;
    int *array = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int *grown = lap_grow(array, &capacity, steps[i][0], sizeof *array);
        assert_non_null(grown);
        array = grown;
        assert_int_equal(capacity, steps[i][1]);
        assert_true(malloc_usable_size(array) >= capacity * sizeof *array);
        array[capacity - 1] = (int)capacity;
        for (size_t k = 0; k < i; k++)
            assert_int_equal(array[steps[k][1] - 1], steps[k][1]);
    }
    assert_null(lap_grow(array, &capacity, SIZE_MAX / 2, sizeof *array)); /* bytes overflow */
    assert_int_equal(capacity, 34);
    size_t huge = SIZE_MAX / 2 + 1, none = 0;
    assert_null(lap_grow(array, &huge, SIZE_MAX, 2)); /* twice the room overflows */
    free(array);
    void *empty = lap_grow(NULL, &none, 0, sizeof(int)); /* an array, though of no element */
    assert_non_null(empty);
    free(empty);
}

/* All bytes can be written, and what is large begins at a large page. */
static void pages_are_aligned(void **state)
{
    (void)state;
    static const struct {
        size_t bytes, alignment;
    } cases[] = {{1, 64}, {1000, 64}, {LARGE / 9 * 8, 64}, {LARGE / 9 * 8 + 8, LARGE}, {LARGE - 1, LARGE},
        {LARGE, LARGE}, {LARGE + 1, LARGE}, {3 * LARGE - 1, LARGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *memory = lap_pages_alloc(cases[i].bytes);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % cases[i].alignment, 0);
        memset(memory, 7, cases[i].bytes);
        free(memory);
    }
    for (size_t less = 0; less < 130; less++)
        assert_null(lap_pages_alloc(SIZE_MAX - less));
}

static void zeroed_pages_are_zero_and_can_be_released(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4096, LARGE - 1, LARGE, LARGE + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int turn = 0; turn < 2; turn++) { /* the second time in memory that was used */
            uint8_t *memory = lap_pages_zeroed(sizes[i]);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % (sizes[i] < LARGE ? 64 : 4096), 0);
            for (size_t k = 0; k < sizes[i]; k += k < 4096 || k + 4096 > sizes[i] ? 1 : 511)
                assert_int_equal(memory[k], 0);
            memset(memory, 255, sizes[i]);
            lap_pages_release(memory, sizes[i]);
        }
        lap_pages_release(NULL, sizes[i]);
    }
}

static void resized_blocks_keep_what_is_used(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 5000, LARGE - 1, LARGE, 2 * LARGE, 20};
    uint8_t *memory = NULL;
    size_t used = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        used = used < sizes[i] ? used : sizes[i];
        uint8_t *resized = lap_pages_resize(memory, used, sizes[i]);
        assert_non_null(resized);
        memory = resized;
        assert_true(sizes[i] < LARGE || (uintptr_t)memory % LARGE == 0);
        for (size_t k = 0; k < used; k += k < 64 ? 1 : 4095)
            assert_int_equal(memory[k], (uint8_t)(k * 7));
        for (used = 0; used < sizes[i]; used++)
            memory[used] = (uint8_t)(used * 7);
    }
    assert_null(lap_pages_resize(memory, 20, SIZE_MAX));
    assert_int_equal(memory[19], 19 * 7);
    free(memory);
}

static size_t up(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* Rows begin at cache lines, two rows never a multiple of 4096 bytes apart, and all is inside the block. */
static void images_have_the_promised_layout(void **state)
{
    (void)state;
    static const int widths[] = {1, 20, 21, 62, 64, 1344, 1365, 1366, 4030, 4032, 4094, 4096, 8192};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int channels = 1; channels <= 8; channels += channels == 4 ? 4 : 1)
            for (int apron = 0; apron <= LAP_APRON; apron += LAP_APRON) {
                lap_image image;
                assert_int_equal(lap_image_create(&image, widths[i], 3, channels, apron, NULL), LAP_OK);
                const lap_view v = image.view;
                const uint8_t *memory = image.memory;
                size_t row = up((size_t)(widths[i] + apron) * (size_t)channels + (apron ? 64 : 0));
                row += row % 4096 == 0 ? 64 : 0;
                assert_int_equal(v.stride, row);
                assert_int_equal(image.bytes, row * (size_t)(3 + 2 * apron));
                assert_int_equal(v.base - memory, apron ? 2 * row + 64 : 0);
                assert_int_equal((uintptr_t)v.base % 64, 0);
                assert_true(v.width == widths[i] && v.height == 3 && v.channels == channels);
                assert_true(v.apron == apron && v.place == LAP_ON_HOST);
                lap_image_destroy(&image);
                assert_true(!image.memory && !image.bytes && !image.view.base && !image.view.width);
            }
}

static void impossible_images_are_refused(void **state)
{
    (void)state;
    static const struct {
        int width, height, channels, apron;
        lap_code code;
        const char *message;
    } cases[] = {
        {0, 1, 1, 0, LAP_E_INTERNAL, "an image cannot have 0x1 pixels, 1 channels, apron 0"},
        {1, 0, 1, 0, LAP_E_INTERNAL, "an image cannot have 1x0 pixels, 1 channels, apron 0"},
        {1, 1, 0, 0, LAP_E_INTERNAL, "an image cannot have 1x1 pixels, 0 channels, apron 0"},
        {1, 1, 9, 0, LAP_E_INTERNAL, "an image cannot have 1x1 pixels, 9 channels, apron 0"},
        {1, 1, 1, 1, LAP_E_INTERNAL, "an image cannot have 1x1 pixels, 1 channels, apron 1"},
        {INT_MAX, INT_MAX, 3, 2, LAP_E_LIMIT,
            "an image of 2147483647x2147483647 pixels is too large to address"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_image image = {.bytes = 7};
        lap_error err = {0};
        assert_int_equal(lap_image_create(&image, cases[i].width, cases[i].height, cases[i].channels,
                             cases[i].apron, &err),
            cases[i].code);
        assert_string_equal(err.message, cases[i].message);
        assert_true(!image.memory && image.bytes == 0);
    }
}

static void views_show_the_pixels_they_name(void **state)
{
    (void)state;
    lap_image image, copy;
    assert_int_equal(lap_image_create(&image, 9, 7, 3, LAP_APRON, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&copy, 9, 7, 3, 0, NULL), LAP_OK);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 27; x++)
            image.view.base[y * image.view.stride + x] = (uint8_t)(27 * y + x);
    const lap_view rows = lap_view_rows(&image.view, 2, 3);
    assert_ptr_equal(rows.base, image.view.base + 2 * image.view.stride);
    assert_true(rows.height == 3 && rows.width == 9 && rows.apron == LAP_APRON);
    for (int by = -2; by <= 3; by++) {
        const lap_view inner = lap_view_inset(&image.view, by);
        assert_ptr_equal(inner.base, image.view.base + by * image.view.stride + 3 * by);
        assert_true(inner.width == 9 - 2 * by && inner.height == 7 - 2 * by && inner.apron == 0);
    }
    memset(copy.memory, 99, copy.bytes);
    const lap_view there = {.base = copy.view.base, .stride = copy.view.stride};
    lap_view_copy(&rows, &there);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 28; x++)
            assert_int_equal(
                copy.view.base[y * copy.view.stride + x], y < 3 && x < 27 ? 27 * (y + 2) + x : 99);
    lap_image_destroy(&image);
    lap_image_destroy(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_double_or_take_what_is_wanted),
        cmocka_unit_test(pages_are_aligned),
        cmocka_unit_test(zeroed_pages_are_zero_and_can_be_released),
        cmocka_unit_test(resized_blocks_keep_what_is_used),
        cmocka_unit_test(images_have_the_promised_layout),
        cmocka_unit_test(impossible_images_are_refused),
        cmocka_unit_test(views_show_the_pixels_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
