/* Binary PNM, in and out. */
#include "tests/support/encode_help.h"
#include "lapedge_program.h"

#include <stdio.h>

static lap_code decode_text(const char *text, size_t size, const lap_read_options *options, help_image *image,
    lap_damage *damage, lap_error *err)
{
    lap_header header;
    return help_decode(text, size, options, image, &header, damage, err);
}

static void round_trip(void **unused)
{
    (void)unused;
    static const struct {
        int width, height, channels;
        const char *format, *head;
    } cases[] = {{1, 1, 3, "ppm", "P6\n1 1\n255\n"}, {1, 1, 1, "pgm", "P5\n1 1\n255\n"},
        {97, 300, 3, "ppm", "P6\n97 300\n255\n"}, {97, 300, 1, "pgm", "P5\n97 300\n255\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        help_image image = help_make(cases[i].width, cases[i].height, cases[i].channels, 1), back;
        lap_write_options o = help_options(&image.view);
        lap_header header;
        lap_damage damage;
        lap_error err;
        uint8_t *bytes;
        size_t size, head = strlen(cases[i].head);
        assert_int_equal(help_encode(&image.view, cases[i].format, &o, &bytes, &size, &err), LAP_OK);
        assert_int_equal(size, head + (size_t)(cases[i].width * cases[i].height * cases[i].channels));
        assert_memory_equal(bytes, cases[i].head, head);
        assert_int_equal(help_decode(bytes, size, NULL, &back, &header, &damage, &err), LAP_OK);
        assert_string_equal(header.format, "pnm");
        assert_int_equal(header.components, cases[i].channels);
        assert_int_equal(header.orientation, 1);
        help_assert_same(&image.view, &back.view);
        free(bytes);
        free(back.memory);
        free(image.memory);
    }
}

static void channels_that_differ(void **unused)
{
    (void)unused;
    uint8_t gray[2] = {10, 200}, rgba[8] = {1, 2, 3, 99, 4, 5, 6, 99};
    lap_view one = {gray, 2, 2, 1, 1, 0, LAP_ON_HOST}, four = {rgba, 8, 2, 1, 4, 0, LAP_ON_HOST};
    lap_write_options o = help_options(&one);
    uint8_t *bytes;
    size_t size;
    lap_error err;
    assert_int_equal(help_encode(&one, "ppm", &o, &bytes, &size, &err), LAP_OK);
    assert_memory_equal(bytes, "P6\n2 1\n255\n\x0a\x0a\x0a\xc8\xc8\xc8", size);
    free(bytes);
    o = help_options(&four);
    assert_int_equal(help_encode(&four, "ppm", &o, &bytes, &size, &err), LAP_OK);
    assert_memory_equal(bytes, "P6\n2 1\n255\n\1\2\3\4\5\6", size);
    free(bytes);
    assert_int_equal(help_encode(&four, "pgm", &o, &bytes, &size, &err), LAP_E_USAGE);
    assert_int_equal(err.remedy, LAP_REMEDY_GRAY);
}

static void headers(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        lap_code code;
    } cases[] = {
        {"P5 2 1 255\nab", LAP_OK},
        {"P5\n# made by hand\n2 # wide\n# and\n#high\n1\r255\tab", LAP_OK},
        {"P5#x\n2 1 255 ab", LAP_OK},
        {"P5 2 1 255\nab trailing data is ignored", LAP_OK},
        {"P5 2 1 255\na", LAP_E_TRUNCATED},
        {"P5 2 1 255\n", LAP_E_TRUNCATED},
        {"P5 2 1 255", LAP_E_TRUNCATED},
        {"P5 2 1", LAP_E_TRUNCATED},
        {"P5 ", LAP_E_TRUNCATED},
        {"P5 # no end", LAP_E_TRUNCATED},
        {"P5 0 1 255\nab", LAP_E_DAMAGED},
        {"P5 2 x 255\nab", LAP_E_DAMAGED},
        {"P5 -2 1 255\nab", LAP_E_DAMAGED},
        {"P5 2 1 255xab", LAP_E_DAMAGED},
        {"P5 99999999999999999999 1 255\nab", LAP_E_LIMIT},
        {"P5 999999999 999999999 255\nab", LAP_E_LIMIT},
        {"P5 2 1 254\nab", LAP_E_UNSUPPORTED},
        {"P5 2 1 65535\nabab", LAP_E_UNSUPPORTED},
        {"P1 2 1\n0 1", LAP_E_UNSUPPORTED},
        {"P2 2 1 255\n0 1", LAP_E_UNSUPPORTED},
        {"P4 2 1\nx", LAP_E_UNSUPPORTED},
        {"P7\nWIDTH 2", LAP_E_UNSUPPORTED},
        {"P8 2 1 255\nab", LAP_E_NOT_IMAGE},
        {"PS", LAP_E_NOT_IMAGE},
    };
    const lap_read_options limited = {.fail_on = LAP_FAIL_TRUNCATED, .max_pixels = 1000};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        help_image image;
        lap_damage damage;
        lap_error err;
        lap_code code = decode_text(cases[i].text, strlen(cases[i].text), &limited, &image, &damage, &err);
        if (code != cases[i].code)
            fail_msg("'%s' gave %s", cases[i].text, lap_code_name(code));
        if (code == LAP_OK)
            assert_memory_equal(image.memory, "ab", 2);
        free(image.memory);
    }
}

static void endless_header(void **unused)
{
    (void)unused;
    size_t size = 1 << 20;
    char *text = malloc(size);
    help_image image;
    lap_damage damage;
    lap_error err;
    assert_non_null(text);
    memset(text, '#', size);
    memcpy(text, "P5 ", 3);
    assert_int_equal(decode_text(text, size, NULL, &image, &damage, &err), LAP_E_DAMAGED);
    free(text);
}

static void gray_of_colour(void **unused)
{
    (void)unused;
    static const char text[] = "P6 4 1 255\n\xff\xff\xff\xff\0\0\0\xff\0\0\0\xff";
    const lap_read_options gray = {.gray = true};
    static const uint8_t expected[4] = {255, 76, 150, 29}; /* 0.299, 0.587, 0.114 of 255 */
    help_image image;
    lap_damage damage;
    lap_error err;
    assert_int_equal(decode_text(text, sizeof text - 1, &gray, &image, &damage, &err), LAP_OK);
    assert_int_equal(image.view.channels, 1);
    assert_memory_equal(image.memory, expected, 4);
    free(image.memory);

    /* It takes one line of colour, and nothing where the channels stay. */
    const lap_read_options limits[] = {
        {.gray = true, .max_memory = 12}, {.gray = true, .max_memory = 11}, {.max_memory = 1}};
    const lap_code codes[] = {LAP_OK, LAP_E_LIMIT, LAP_OK};
    for (int i = 0; i < 3; i++) {
        image.memory = NULL;
        assert_int_equal(decode_text(text, sizeof text - 1, &limits[i], &image, &damage, &err), codes[i]);
        free(image.memory);
    }
}

static void truncation_let_through(void **unused)
{
    (void)unused;
    static const char text[] = "P6 2 20 255\nabcde";
    const lap_read_options lenient = {.fail_on = LAP_FAIL_NONE};
    help_image image;
    lap_damage damage;
    lap_error err;
    assert_int_equal(decode_text(text, sizeof text - 1, &lenient, &image, &damage, &err), LAP_OK);
    assert_memory_equal(image.memory, "abcde\0\0\0\0\0\0\0", 12);
    assert_int_equal(image.memory[119], 0);
    assert_true(damage.truncated);
    assert_int_equal(damage.warnings, 1);
    free(image.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(channels_that_differ),
        cmocka_unit_test(headers),
        cmocka_unit_test(endless_header),
        cmocka_unit_test(gray_of_colour),
        cmocka_unit_test(truncation_let_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
