/* Pixel values as text. */
#include "tests/support/encode_help.h"

#include <stdio.h>

static void exact_text(void **unused)
{
    (void)unused;
    uint8_t bytes[] = {0, 7, 10, 99, 100, 255, 1, 2, 3, 4, 5, 6};
    static const struct {
        int width, height, channels;
        const char *text;
    } cases[] = {
        {2, 2, 3, "0\t7\t10\t99\t100\t255\n1\t2\t3\t4\t5\t6\n"},
        {6, 2, 1, "0\t7\t10\t99\t100\t255\n1\t2\t3\t4\t5\t6\n"},
        {1, 1, 4, "0\t7\t10\t99\n"},
        {1, 2, 1, "0\n7\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int samples = cases[i].width * cases[i].channels;
        lap_view view = {bytes, samples, cases[i].width, cases[i].height, cases[i].channels, 0, LAP_ON_HOST};
        lap_write_options o = help_options(&view);
        uint8_t *text;
        size_t size;
        lap_error err;
        assert_int_equal(help_encode(&view, "tsv", &o, &text, &size, &err), LAP_OK);
        assert_int_equal(size, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, size);
        free(text);
    }
}

static void every_value_in_every_band(void **unused)
{
    (void)unused;
    help_image image = help_make(300, 400, 3, 11);
    lap_write_options o = help_options(&image.view);
    uint8_t *text;
    size_t size;
    lap_error err;
    assert_int_equal(help_encode(&image.view, "TSV", &o, &text, &size, &err), LAP_OK);
    const char *at = (const char *)text;
    for (int y = 0; y < 400; y++)
        for (int i = 0; i < 900; i++) {
            char *end;
            assert_int_equal(strtol(at, &end, 10), image.view.base[y * image.view.stride + i]);
            assert_int_equal(*end, i < 899 ? '\t' : '\n');
            at = end + 1;
        }
    assert_ptr_equal(at, (const char *)text + size);
    free(text);
    free(image.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_text),
        cmocka_unit_test(every_value_in_every_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
