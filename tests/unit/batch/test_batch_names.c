/* The names of outputs, to the last byte: what each option makes of an input's name, and whether it fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "batch/batch.h"

static const struct {
    const char *relative, *suffix, *format;
    bool flat;
    const char *name;
} names[] = {
    {"a.jpg", NULL, NULL, false, "a.jpg"},
    {"a.jpg", NULL, "png", false, "a.png"},
    {"a.jpg", "-edge", NULL, false, "a-edge.jpg"},
    {"a.jpg", "-edge", "png", false, "a-edge.png"},
    {"a.b.jpg", "-edge", "png", false, "a.b-edge.png"},
    {"a", NULL, NULL, false, "a"},
    {"a", "-edge", NULL, false, "a-edge"},
    {"a", "-edge", "png", false, "a-edge.png"},
    {".jpg", "-edge", NULL, false, ".jpg-edge"},
    {"deep.er/a", "-edge", NULL, false, "deep.er/a-edge"},
    {"deep/er/a.jpg", "-edge", NULL, false, "deep/er/a-edge.jpg"},
    {"a.jpg", NULL, NULL, true, "a.jpg"},
    {"deep/er/a.jpg", NULL, NULL, true, "a.jpg"},
    {"deep/er/a.jpg", "-edge", "png", true, "a-edge.png"},
    {"deep.er/a", "-edge", NULL, true, "a-edge"},
    {"deep/.jpg", NULL, "png", true, ".jpg.png"},
};

static void names_of_outputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        const lap_batch_options options = {.suffix = names[i].suffix, .flat = names[i].flat};
        const lap_settings settings = {.format = names[i].format};
        assert_true(lap_batch_output_name(&options, &settings, names[i].relative, name, sizeof name));
        assert_string_equal(name, names[i].name);
        const size_t size = strlen(name) + 1;
        assert_true(lap_batch_output_name(&options, &settings, names[i].relative, name, size));
        assert_string_equal(name, names[i].name);
        assert_false(lap_batch_output_name(&options, &settings, names[i].relative, name, size - 1));
    }
}

static void paths_of_outputs(void **state)
{
    static const char *const paths[][2] = {{"out", "out/a/b.jpg"}, {"out/", "out/a/b.jpg"},
        {"out///", "out/a/b.jpg"}, {"/", "/a/b.jpg"}, {"//", "/a/b.jpg"}, {"./out/x", "./out/x/a/b.jpg"}};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[64];
        const lap_batch_options options = {.out_dir = paths[i][0]};
        const batch b = {.options = &options};
        assert_true(lap_batch_output_path(&b, "a/b.jpg", path, sizeof path));
        assert_string_equal(path, paths[i][1]);
        const size_t size = strlen(path) + 1;
        assert_true(lap_batch_output_path(&b, "a/b.jpg", path, size));
        assert_false(lap_batch_output_path(&b, "a/b.jpg", path, size - 1));
    }
}

/* An extension that names no format is refused, and shown with at most 40 bytes. */
static void formats_of_outputs(void **state)
{
    static const char *const good[] = {"a", "a.", "a.jpg", "a.b.PNG", "deep.gif/a", ".gif", "deep/.gif"};
    const struct {
        const char *output, *shown;
    } bad[] = {{"a.gif", ".gif"}, {"deep/a.jpg.gif", ".gif"},
        {"a.a123456789b123456789c123456789d12345678", ".a123456789b123456789c123456789d12345678"},
        {"a.a123456789b123456789c123456789d123456789", ".a123456789b123456789c123456789d12345678"}};
    const lap_settings none = {.format = NULL}, png = {.format = "png"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(lap_batch_check_format(&none, "in/a", good[i], NULL), LAP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lap_error err = {0};
        char message[200];
        snprintf(message, sizeof message,
            "the extension of its output, %s, names no known format (jpg jpeg png bmp tga ppm pgm tsv)",
            bad[i].shown);
        assert_int_equal(lap_batch_check_format(&none, "in/a", bad[i].output, &err), LAP_E_USAGE);
        assert_string_equal(err.message, message);
        assert_string_equal(err.subject, "in/a");
        assert_int_equal(err.remedy, LAP_REMEDY_FORMAT);
        assert_int_equal(lap_batch_check_format(&png, "in/a", bad[i].output, &err), LAP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_outputs),
        cmocka_unit_test(paths_of_outputs),
        cmocka_unit_test(formats_of_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
