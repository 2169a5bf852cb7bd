/* Text: characters, words, numbers, and the names and limits of the filter's parameters. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "base/kernel5x5.h"
#include "base/params.h"
#include "lapedge_program.h"

/* Writes a code point in `size` bytes, whether it needs so many or not. */
static void encode(unsigned code, size_t size, char text[8])
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    memset(text, 0, 8);
    for (size_t i = size; i-- > 0; code >>= 6)
        text[i] = (char)(i == 0 ? leads[size] | code : 0x80 | (code & 0x3f));
}

static void characters_are_read_at_the_edges_of_each_length(void **state)
{
    (void)state;
    static const struct {
        unsigned code;
        size_t size, read;
    } cases[] = {{1, 1, 1}, {0x7f, 1, 1}, {0x7f, 2, 0}, {0x80, 2, 2}, {0x7ff, 2, 2}, {0x7ff, 3, 0},
        {0x800, 3, 3}, {0xd7ff, 3, 3}, {0xd800, 3, 0}, {0xdfff, 3, 0}, {0xe000, 3, 3}, {0xffff, 3, 3},
        {0xffff, 4, 0}, {0x10000, 4, 4}, {0x10ffff, 4, 4}, {0x110000, 4, 0}, {0x1fffff, 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8];
        unsigned code = 0;
        encode(cases[i].code, cases[i].size, text);
        assert_int_equal(lap_utf8_decode(text, &code), cases[i].read);
        if (cases[i].read)
            assert_int_equal(code, cases[i].code);
        for (size_t cut = 1; cut < cases[i].size; cut++) { /* also before a byte that continues nothing */
            char broken[8];
            memcpy(broken, text, 8);
            broken[cut] = 'a';
            assert_int_equal(lap_utf8_decode(broken, &code), 0);
            broken[cut] = '\0';
            assert_int_equal(lap_utf8_decode(broken, &code), 0);
        }
    }
    unsigned code;
    assert_int_equal(lap_utf8_decode("\x80", &code), 0);
    assert_int_equal(lap_utf8_decode("\xbf\xbf", &code), 0);
    assert_int_equal(lap_utf8_decode("\xf8\x88\x80\x80\x80", &code), 0);
    assert_int_equal(lap_utf8_decode("\xff", &code), 0);
}

static void what_is_hidden_ends_where_it_says(void **state)
{
    (void)state;
    static const unsigned hidden[][2] = {
        {0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    size_t at = 0;
    for (unsigned code = 0; code < 0x3000; code++) {
        const bool is_hidden = at < sizeof hidden / sizeof *hidden && code >= hidden[at][0];
        assert_int_equal(lap_utf8_is_shown(code), !is_hidden);
        at += is_hidden && code == hidden[at][1];
    }
}

/* Letters of names in several scripts; the blocks end where they say. */
static void characters_have_columns(void **state)
{
    (void)state;
    static const struct {
        unsigned code;
        int columns;
    } cases[] = {{' ', 1}, {'~', 1}, {0xe9, 1}, {0x2ff, 1}, {0x300, 0}, {0x36f, 0}, {0x370, 1}, {0x434, 1},
        {0x10ff, 1}, {0x1100, 2}, {0x115f, 2}, {0x1160, 0}, {0x11ff, 0}, {0x1200, 1}, {0x200a, 1},
        {0x200b, 0}, {0x200d, 0}, {0x2010, 1}, {0x20ac, 1}, {0x20d0, 0}, {0x20ff, 0}, {0x2100, 1},
        {0x2e7f, 1}, {0x2e80, 2}, {0x303e, 2}, {0x303f, 1}, {0x3041, 2}, {0x3098, 2}, {0x3099, 0},
        {0x309a, 0}, {0x309b, 2}, {0x4dbf, 2}, {0x4dc0, 1}, {0x4e00, 2}, {0xa4cf, 2}, {0xa4d0, 1},
        {0xabff, 1}, {0xac00, 2}, {0xd7a3, 2}, {0xd7a4, 1}, {0xf8ff, 1}, {0xf900, 2}, {0xfaff, 2},
        {0xfb00, 1}, {0xfdff, 1}, {0xfe00, 0}, {0xfe0f, 0}, {0xfe10, 1}, {0xfe1f, 1}, {0xfe20, 0},
        {0xfe2f, 0}, {0xfe30, 2}, {0xfe6f, 2}, {0xfe70, 1}, {0xff00, 1}, {0xff01, 2}, {0xff60, 2},
        {0xff61, 1}, {0xffdf, 1}, {0xffe0, 2}, {0xffe6, 2}, {0xffe7, 1}, {0x1f2ff, 1}, {0x1f300, 2},
        {0x1f64f, 2}, {0x1f650, 1}, {0x1f67f, 1}, {0x1f680, 2}, {0x1f6ff, 2}, {0x1f700, 1}, {0x1f8ff, 1},
        {0x1f900, 2}, {0x1f9ff, 2}, {0x1fa00, 1}, {0x1ffff, 1}, {0x20000, 2}, {0x3fffd, 2}, {0x3fffe, 1},
        {0x10ffff, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(lap_utf8_columns(cases[i].code), cases[i].columns);
}

static void words_differ_by_edits(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {{"", "", 0}, {"", "abc", 3}, {"abc", "ABC", 0}, {"abc", "abcd", 1}, {"abcd", "abxd", 1},
        {"abcd", "acbd", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3}, {"kitten", "sitting", 3},
        {"thresh", "threshold", 3}, {"ab", "BA", 1}, {"abcdef", "fedcba", 5}, {"xabc", "abcx", 2}};
    char longest[66];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(lap_word_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(lap_word_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    memset(longest, 'a', sizeof longest);
    longest[63] = '\0';
    assert_int_equal(lap_word_distance(longest, longest), 0);
    assert_int_equal(lap_word_distance(longest, "a"), 62);
    longest[63] = 'a', longest[64] = '\0';
    assert_int_equal(lap_word_distance(longest, longest), 63);
    assert_int_equal(lap_word_distance(longest, "a"), 63);
    assert_int_equal(lap_word_distance("a", longest), 63);
}

static void numbers_are_decimal(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        int length; /* 0: refused */
    } cases[] = {{"1", 1, 1}, {"-1.5e3x", -1500, 6}, {"+.5", 0.5, 3}, {"1e308", 1e308, 5}, {"1e309", 0, 0},
        {"-1e309", 0, 0}, {"1e-310", 1e-310, 6}, {"1e-400", 0, 0}, {"0", 0, 1}, {"0e-400", 0, 6},
        {"0x10", 0, 0}, {"inf", 0, 0}, {"nan", 0, 0}, {" 1", 0, 0}, {"", 0, 0}, {"e5", 0, 0}, {"-", 0, 0},
        {"1,5", 1, 1}, {"2e", 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 7;
        const char *end = lap_decimal(cases[i].text, &value);
        assert_int_equal(end ? end - cases[i].text : 0, cases[i].length);
        assert_true(!end || value == cases[i].value);
        assert_true(!end || lap_decimal_float(cases[i].text, NULL) == (float)cases[i].value);
    }
}

static void numbers_are_printed_in_the_locale_of_numbers_only_in_between(void **state)
{
    (void)state;
    const locale_t before = lap_decimal_begin();
    assert_true(before == LC_GLOBAL_LOCALE && uselocale((locale_t)0) != before);
    lap_decimal_end(before);
    assert_true(uselocale((locale_t)0) == before);
}

static void borders_and_ranges_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"zero", "replicate", "reflect", "reflect101", "wrap"};
    for (int i = -2; i < 1100; i++) {
        const char *name = lap_border_name((lap_border)i);
        if (i >= 0 && i < 5) {
            assert_string_equal(name, names[i]);
        } else if (i >= LAP_CONSTANT && i <= LAP_CONSTANT + 255) {
            assert_int_equal(strncmp(name, "constant:", 9), 0);
            assert_int_equal(atoi(name + 9), i - LAP_CONSTANT);
        } else {
            assert_null(name);
        }
    }
    assert_int_equal(LAP_CONSTANT_LAST, LAP_CONSTANT + 255);
    assert_string_equal(lap_range_name(LAP_CLAMP), "clamp");
    assert_string_equal(lap_range_name(LAP_ABS), "abs");
    assert_null(lap_range_name((lap_range)2));
    assert_null(lap_range_name((lap_range)-1));
}

/* Each parameter alone is a choice; no choice at all means the defaults. */
static void only_zeros_mean_the_defaults(void **state)
{
    (void)state;
    const lap_params defaults = lap_params_default(), none = {0};
    lap_params chosen[33] = {{.range = LAP_ABS}, {.scale = 0.5f}, {.offset = 1}, {.invert = true},
        {.threshold = 1}, {.threshold = -1}, {.kernel.name = "a"}};
    for (int i = 0; i < 25; i++)
        chosen[7 + i].kernel.h[i] = 1;
    lap_params made = lap_params_complete(&none);
    assert_memory_equal(&made, &defaults, sizeof made);
    assert_true(defaults.scale == 1 && defaults.offset == 0 && defaults.kernel.is_laplace5);
    assert_true(defaults.threshold == -1 && defaults.range == LAP_CLAMP && !defaults.invert);
    for (int i = 0; i < 32; i++) {
        made = lap_params_complete(&chosen[i]);
        lap_kernel_derive(&chosen[i].kernel);
        if (i >= 7)
            strcpy(chosen[i].kernel.name, "custom");
        assert_memory_equal(&made, &chosen[i], sizeof made);
    }
}

/* Callers set h; the library computes all other fields of a kernel from it. */
static void a_kernel_is_its_coefficients(void **state)
{
    (void)state;
    lap_params edited = lap_params_default(), made;
    lap_error err = {0};
    edited.kernel.h[12] = 25;
    made = lap_params_complete(&edited);
    assert_true(made.kernel.hi[12] == 25 && made.kernel.abs_sum == 49 && !made.kernel.is_laplace5);
    assert_true(made.kernel.is_integer && made.kernel.is_symmetric);
    edited.kernel.h[12] = 24.5f, edited.kernel.h[0] = -2;
    made = lap_params_complete(&edited);
    assert_true(made.kernel.hi[0] == 0 && !made.kernel.is_integer && !made.kernel.is_symmetric);
    static const struct {
        float h;
        const char *message;
    } cases[] = {{4194280, ""},
        {4194281, "kernel: the coefficients' absolute values add up to 4194305, more than 2^22"},
        {NAN, "kernel: a coefficient is not a finite number"},
        {-INFINITY, "kernel: a coefficient is not a finite number"},
        {3e38f, "kernel: the coefficients' absolute values add up to 3.00000001e+38, more than 2^22"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        edited = lap_params_default();
        edited.kernel.h[12] = cases[i].h;
        made = lap_params_complete(&edited);
        assert_int_equal(lap_params_check(&made, LAP_ZERO, &err), cases[i].message[0] ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(cases[i].message[0] ? err.message : "", cases[i].message);
    }
    const lap_params scaled = {.scale = 2};
    made = lap_params_complete(&scaled);
    assert_int_equal(lap_params_check(&made, LAP_ZERO, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "the kernel is not set; start from lap_params_default()");
}

static void parameters_are_checked_at_their_limits(void **state)
{
    (void)state;
    static const struct {
        lap_border border;
        lap_range range;
        float scale, offset;
        int threshold;
        const char *message; /* NULL: fine */
    } cases[] = {{LAP_ZERO, LAP_CLAMP, 1, 0, -1, NULL}, {LAP_WRAP, LAP_ABS, -1e30f, 1e30f, 255, NULL},
        {LAP_CONSTANT_LAST, LAP_CLAMP, 0, 0, 0, NULL},
        {(lap_border)5, LAP_CLAMP, 1, 0, 0, "unknown border 5"},
        {LAP_ZERO, (lap_range)2, 1, 0, 0, "range 2 is neither clamp nor abs"},
        {LAP_ZERO, LAP_CLAMP, INFINITY, 0, 0, "scale and offset must be finite numbers"},
        {LAP_ZERO, LAP_CLAMP, 1, NAN, 0, "scale and offset must be finite numbers"},
        {LAP_ZERO, LAP_CLAMP, 1, 0, -2, "threshold -2 is not in 0..255"},
        {LAP_ZERO, LAP_CLAMP, 1, 0, 256, "threshold 256 is not in 0..255"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_params p = lap_params_default();
        lap_error err = {0};
        p.range = cases[i].range;
        p.scale = cases[i].scale;
        p.offset = cases[i].offset;
        p.threshold = cases[i].threshold;
        assert_int_equal(
            lap_params_check(&p, cases[i].border, &err), cases[i].message ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_read_at_the_edges_of_each_length),
        cmocka_unit_test(what_is_hidden_ends_where_it_says),
        cmocka_unit_test(characters_have_columns),
        cmocka_unit_test(words_differ_by_edits),
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(numbers_are_printed_in_the_locale_of_numbers_only_in_between),
        cmocka_unit_test(borders_and_ranges_have_names),
        cmocka_unit_test(only_zeros_mean_the_defaults),
        cmocka_unit_test(a_kernel_is_its_coefficients),
        cmocka_unit_test(parameters_are_checked_at_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
