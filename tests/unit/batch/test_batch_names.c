/* The names of outputs, to the last byte: what each option makes of an input's name, and whether it fits.
 * Which operands are refused, and where outputs may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "batch/batch.h"
#include "tests/support/temporary.h"

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

/* ---- places ------------------------------------------------------------------------------------ */

static char home[TEMPORARY_PATH], before[4096];

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* In the current folder: the folders in, in/out and out, the files a.jpg and in/c.jpg, b.jpg, which is also
 * out/b.jpg, a link to nothing, a link to itself, and an output folder whose records cannot be kept. */
static int enter_home(void **state)
{
    (void)state;
    if (!getcwd(before, sizeof before) || !mkdtemp(temporary(home, "names")) || chdir(home))
        return -1;
    const bool made =
        !mkdir("in", 0777) && !mkdir("in/out", 0777) && !mkdir("out", 0777) && !mkdir("kept", 0777);
    touch("a.jpg");
    touch("b.jpg");
    touch("in/c.jpg");
    touch("kept/.lapedge");
    return made && !link("b.jpg", "out/b.jpg") && !symlink("nowhere", "gone") && !symlink("loop", "loop")
               ? 0
               : -1;
}

static int leave_home(void **state)
{
    char command[TEMPORARY_PATH + 8];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return chdir(before) || system(command);
}

static void check_error(const lap_error *err, lap_code code, const char *subject, const char *message)
{
    assert_int_equal(err->code, code);
    assert_string_equal(err->subject, subject);
    assert_string_equal(err->message, message);
}

static void operands(void **state)
{
    static const char same[] = "is the input and the output folder; name another one";
    static const char own[] = "would be its own output";
    static const struct {
        const char *inputs[2], *out_dir, *suffix, *format;
        lap_code code;
        const char *subject, *message;
    } cases[] = {
        {{"a.jpg"}, "out", NULL, NULL, LAP_OK, NULL, NULL},
        {{"a.jpg"}, "new", NULL, NULL, LAP_OK, NULL, NULL},
        {{"in"}, "in/out", NULL, NULL, LAP_OK, NULL, NULL},
        {{"a.jpg"}, NULL, NULL, NULL, LAP_E_USAGE, "", "the output folder is missing"},
        {{"none.jpg"}, "out", NULL, NULL, LAP_E_MISSING, "none.jpg", "no such file"},
        {{"none/"}, "out", NULL, NULL, LAP_E_MISSING, "none/", "no such folder"},
        {{"gone"}, "out", NULL, NULL, LAP_E_MISSING, "gone", "a broken symbolic link"},
        {{"a.jpg/b"}, "out", NULL, NULL, LAP_E_MISSING, "a.jpg/b", "no such file"},
        {{"loop"}, "out", NULL, NULL, LAP_E_UNREADABLE, "loop",
            "cannot be examined: Too many levels of symbolic links"},
        {{"none.jpg", "a.jpg"}, "out", NULL, NULL, LAP_OK, NULL, NULL},
        {{"loop", "none.jpg"}, "out", NULL, NULL, LAP_OK, NULL, NULL},
        {{"in"}, "in", NULL, NULL, LAP_E_USAGE, "in", same},
        {{"a.jpg", "in/"}, "./in", NULL, NULL, LAP_E_USAGE, "in/", same},
        {{"none.jpg", "in"}, "in/../in", NULL, NULL, LAP_E_USAGE, "in", same},
        {{"b.jpg"}, "out", NULL, NULL, LAP_E_USAGE, "b.jpg", own},
        {{"b.jpg"}, "out", "-edge", NULL, LAP_OK, NULL, NULL},
        {{"b.jpg"}, "out", NULL, "png", LAP_OK, NULL, NULL},
        {{"b.jpg"}, "in", NULL, NULL, LAP_OK, NULL, NULL},
        {{"b.jpg", "a.jpg"}, "out", NULL, NULL, LAP_OK, NULL, NULL},
        {{"a.jpg"}, ".", NULL, NULL, LAP_E_USAGE, "a.jpg", own},
        {{"in/c.jpg"}, "in", NULL, NULL, LAP_E_USAGE, "in/c.jpg", own},
        {{"in/c.jpg"}, ".", NULL, NULL, LAP_OK, NULL, NULL},
        {{"in"}, ".", NULL, NULL, LAP_OK, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        const lap_batch_options options = {.inputs = cases[i].inputs,
            .input_count = cases[i].inputs[1] ? 2 : 1,
            .out_dir = cases[i].out_dir,
            .suffix = cases[i].suffix};
        const lap_settings settings = {.format = cases[i].format};
        assert_int_equal(lap_batch_check_operands(&options, &settings, &err), cases[i].code);
        if (cases[i].code == LAP_OK)
            continue;
        check_error(&err, cases[i].code, cases[i].subject, cases[i].message);
        assert_int_equal(err.remedy, cases[i].message == own ? LAP_REMEDY_OTHER_FOLDER : LAP_REMEDY_NONE);
    }
}

/* A dry run finds the same faults, and makes nothing. */
static void output_folders(void **state)
{
    char longest[5000], component[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memset(component, 'x', sizeof component - 1);
    component[sizeof component - 1] = '\0';
    const struct {
        const char *path, *subject, *message;
    } cases[] = {
        {"out", NULL, NULL},
        {"out/", NULL, NULL},
        {"new", NULL, NULL},
        {"newer/deep/er", NULL, NULL},
        {"in/new/deep//", NULL, NULL},
        {"a.jpg", "a.jpg", "is not a folder"},
        {"a.jpg/new", "a.jpg", "is not a folder"},
        {"in/c.jpg/new", "in/c.jpg", "is not a folder"},
        {"gone", "gone", "a broken symbolic link: No such file or directory"},
        {"gone/new", "gone", "a broken symbolic link: No such file or directory"},
        {"loop", "loop", "Too many levels of symbolic links"},
        {"loop/new", "loop", "Too many levels of symbolic links"},
        {component, component, "cannot create this folder: File name too long"},
        {longest, longest, "this path is too long"},
        {"kept", "kept/.lapedge", "is not a folder, and lapedge keeps its records there"},
    };
    (void)state;
    for (int dry_run = 1; dry_run >= 0; dry_run--) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            lap_error unwritable = {.code = LAP_E_MEMORY}, err = {0};
            struct stat st;
            const bool was_there = stat(cases[i].path, &st) == 0;
            const lap_code code = lap_batch_make_out_dir(cases[i].path, dry_run, &unwritable, &err);
            assert_int_equal(code, cases[i].message ? LAP_E_WRITE : LAP_OK);
            assert_int_equal(unwritable.code, LAP_OK);
            if (cases[i].message) {
                if (strlen(cases[i].subject) < sizeof err.subject)
                    assert_string_equal(err.subject, cases[i].subject);
                assert_string_equal(err.message, cases[i].message);
            } else {
                assert_int_equal(stat(cases[i].path, &st) == 0, was_there || !dry_run);
            }
        }
    }
}

/* The folder around the outputs, if it is one of the inputs: the first one. */
static void folders_around(void **state)
{
    static const struct {
        const char *inputs[2], *out_dir, *around;
    } cases[] = {{{"in", "out"}, "in/out", "in"}, {{"out", "in"}, "in/out", "in"},
        {{".", "in"}, "in/out", "."}, {{"in", "."}, "in/new", "in"}, {{"in", "out"}, "kept", NULL},
        {{"in/c.jpg", "none"}, "in/out", NULL}, {{"out", "a.jpg"}, "in/out", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err;
        const char *around = "?";
        const lap_batch_options options = {
            .inputs = cases[i].inputs, .input_count = 2, .out_dir = cases[i].out_dir};
        assert_int_equal(lap_batch_around(&options, &around, &err), LAP_OK);
        if (cases[i].around)
            assert_string_equal(around, cases[i].around);
        else
            assert_null(around);
    }
}

/* Each name belongs to one shard, and without shards to all. */
static void shards(void **state)
{
    static const char *const files[] = {"a.jpg", "b.jpg", "c.jpg", "deep/a.jpg", "deep/b.jpg", "d", "e", "f"};
    size_t ours[3] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int owners = 0;
        for (int shard = 0; shard < 3; shard++) {
            const lap_batch_options options = {.shard = shard};
            const batch some = {.options = &options, .shards = 3}, all = {.options = &options, .shards = 1};
            const bool is_ours = lap_batch_is_ours(&some, files[i]);
            ours[shard] += is_ours;
            owners += is_ours;
            assert_true(lap_batch_is_ours(&all, files[i]));
        }
        assert_int_equal(owners, 1);
    }
    assert_true(ours[0] > 0 && ours[1] > 0 && ours[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_outputs),
        cmocka_unit_test(paths_of_outputs),
        cmocka_unit_test(formats_of_outputs),
        cmocka_unit_test_setup_teardown(operands, enter_home, leave_home),
        cmocka_unit_test_setup_teardown(output_folders, enter_home, leave_home),
        cmocka_unit_test_setup_teardown(folders_around, enter_home, leave_home),
        cmocka_unit_test(shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
