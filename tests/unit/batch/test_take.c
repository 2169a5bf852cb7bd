/* Which files of a folder a run takes: by extension, by pattern, by content; and how the others are counted.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "batch/take.h"
#include "tests/support/temporary.h"

#define LEFT_OUT LAP_TAKE_LEFT_OUT
#define NO LAP_TAKE_NO
#define YES LAP_TAKE_YES
#define DOUBT LAP_TAKE_DOUBT

/* Judges a file by its path below the folder `in`. */
static lap_taking judge(
    const lap_batch_take *take, const char *relative, bool is_folder, lap_batch_others *others)
{
    char path[2 * PATH_MAX];
    const char *slash = strrchr(relative, '/');
    snprintf(path, sizeof path, "./in/%s", relative);
    const lap_candidate candidate = {
        .name = slash ? slash + 1 : relative, .relative = relative, .path = path, .is_folder = is_folder};
    return lap_take_judge(take, &candidate, others);
}

/* ---- by extension ------------------------------------------------------------------------------ */

static void extensions(void **state)
{
    static const char *const every[] = {"*"};
    const lap_batch_take png = {.extensions = "png"}, two = {.extensions = ".PNG,,.jpg,"},
                         all = {.include = every, .include_count = 1}, nothing = {.extensions = NULL};
    /* What each judges: without options, with empty ones, --extensions=png, two of them, --include=*. */
    const struct {
        const char *name;
        lap_taking as[5];
    } files[] = {
        {"a.jpg", {YES, YES, NO, YES, YES}},
        {"a.JPG", {YES, YES, NO, YES, YES}},
        {"a.jpeg", {YES, YES, NO, NO, YES}},
        {"a.jpe", {YES, YES, NO, NO, YES}},
        {"a.JfIf", {YES, YES, NO, NO, YES}},
        {"a.jp", {NO, NO, NO, NO, NO}},
        {"a.jpgg", {NO, NO, NO, NO, NO}},
        {"a.pg", {NO, NO, NO, NO, NO}},
        {"a.png", {NO, NO, YES, YES, YES}},
        {"a.ppm", {NO, NO, NO, NO, YES}},
        {"a.pgm", {NO, NO, NO, NO, YES}},
        {"a.pnm", {NO, NO, NO, NO, YES}},
        {"a.gif", {NO, NO, NO, NO, NO}},
        {"a.b.jpg", {YES, YES, NO, YES, YES}},
        {"deep.png/a.jpg", {YES, YES, NO, YES, YES}},
        {"a", {DOUBT, DOUBT, NO, NO, DOUBT}},
        {"a.", {DOUBT, DOUBT, NO, NO, DOUBT}},
        {".jpg", {DOUBT, DOUBT, NO, NO, DOUBT}},
        {"._a.jpg", {DOUBT, DOUBT, DOUBT, DOUBT, DOUBT}},
        {"deep/._a.jpg", {DOUBT, DOUBT, DOUBT, DOUBT, DOUBT}},
        {"._a.gif", {DOUBT, DOUBT, DOUBT, DOUBT, NO}},
        {"._a", {DOUBT, DOUBT, NO, NO, DOUBT}},
        {".a.jpg", {YES, YES, NO, YES, YES}},
        {"_.a.jpg", {YES, YES, NO, YES, YES}},
    };
    const lap_batch_take *const takes[] = {NULL, &nothing, &png, &two, &all};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t j = 0; j < 5; j++) {
            const lap_taking as = judge(takes[j], files[i].name, false, NULL);
            if (as != files[i].as[j])
                fail_msg("%s, options %zu: %d, not %d", files[i].name, j, (int)as, (int)files[i].as[j]);
        }
    for (size_t j = 0; j < 5; j++)
        assert_int_equal(judge(takes[j], "a.gif", true, NULL), YES);
}

/* ---- by pattern -------------------------------------------------------------------------------- */

static void patterns(void **state)
{
    /* Whether a pattern matches a file, and a folder of the same path. */
    const struct {
        const char *pattern, *relative;
        bool file, folder;
    } pairs[] = {
        {"*.jpg", "a.jpg", true, true},
        {"*.jpg", "deep/a.jpg", true, true},
        {"A.*", "deep/a.jpg", true, true},
        {"a.jpg", "deep/b.jpg", false, false},
        {"./a.jpg", "deep/a.jpg", true, true},
        {".//a.jpg", "a.jpg", true, true},
        {"././a.jpg", "a.jpg", true, true},
        {"..a.jpg", "a.jpg", false, false},
        {".a.jpg", "a.jpg", false, false},
        {"deep/a.jpg", "deep/a.jpg", true, true},
        {"DEEP/*", "deep/a.jpg", true, true},
        {"deep/a.jpg", "er/deep/a.jpg", false, false},
        {"in/deep/a.jpg", "deep/a.jpg", true, true},
        {"./in/deep/a.jpg", "deep/a.jpg", true, true},
        {"IN/*.jpg", "deep/a.jpg", true, true},
        {"*/a.jpg", "a.jpg", true, true}, /* in/a.jpg */
        {"deep", "deep/a.jpg", false, false},
        {"deep/", "deep/a.jpg", true, false},
        {"deep//", "deep/a.jpg", true, false},
        {"DEEP/", "deep/a.jpg", true, false},
        {"deep/", "deep", false, true},
        {"deep/", "a/deep/er/b.jpg", true, false},
        {"deep/", "a/deep/b.jpg", true, false},
        {"a/", "a/deep/b.jpg", true, false},
        {"er/", "a/deep/b.jpg", false, false},
        {"a/deep/", "a/deep/b.jpg", true, false},
        {"a/deep/", "a/deep/er/b.jpg", true, false},
        {"a/deep/", "b/a/deep/b.jpg", false, false},
        {"a/deep/", "a/deep", false, true},
        {"*/deep/", "a/b/deep/c.jpg", true, false},
        {"b.jpg/", "a/b.jpg", false, true},
        {"/", "a.jpg", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int is_folder = 0; is_folder < 2; is_folder++) {
            const char *const globs[] = {pairs[i].pattern};
            const lap_batch_take without = {.exclude = globs, .exclude_count = 1},
                                 only = {.include = globs, .include_count = 1};
            const bool fits = is_folder ? pairs[i].folder : pairs[i].file;
            lap_taking as = judge(&without, pairs[i].relative, is_folder, NULL);
            const bool left_out = as == LEFT_OUT;
            if (left_out != fits)
                fail_msg("%s %s: %d, not %d", pairs[i].pattern, pairs[i].relative, left_out, fits);
            as = judge(&only, pairs[i].relative, is_folder, NULL);
            if (is_folder)
                assert_int_equal(as, YES);
            else if (strstr(pairs[i].relative, ".jpg"))
                assert_int_equal(as, fits ? YES : NO);
        }
}

/* diff looks at two folders at once: patterns may name the paths below both. */
static void patterns_of_two_folders(void **state)
{
    static const char *const globs[] = {"other/a.jpg"};
    const lap_batch_take take = {.exclude = globs, .exclude_count = 1};
    lap_candidate candidate = {
        .name = "a.jpg", .relative = "a.jpg", .path = "in/a.jpg", .twin = "./other/a.jpg"};
    (void)state;
    assert_int_equal(lap_take_judge(&take, &candidate, NULL), LEFT_OUT);
    candidate.twin = NULL;
    assert_int_equal(lap_take_judge(&take, &candidate, NULL), YES);
}

/* The longest pattern and path that count have PATH_MAX - 1 bytes. */
static void long_patterns(void **state)
{
    static char glob[PATH_MAX + 2], path[PATH_MAX + 8];
    const char *const globs[] = {glob};
    const lap_batch_take take = {.exclude = globs, .exclude_count = 1};
    (void)state;
    for (int excess = 0; excess < 2; excess++) {
        memset(glob, '*', sizeof glob);
        glob[PATH_MAX - 1 + excess] = 0;
        assert_int_equal(judge(&take, "a.jpg", false, NULL), excess ? YES : LEFT_OUT);
        strcpy(glob, "deep/");
        memset(path, 'x', sizeof path);
        memcpy(path, "deep/", 5);
        path[PATH_MAX - 1 + excess] = 0;
        const lap_candidate candidate = {.name = "a.jpg", .relative = path, .path = path};
        assert_int_equal(lap_take_judge(&take, &candidate, NULL), excess ? YES : LEFT_OUT);
    }
}

/* Which patterns were of use is known of the first 64 of each kind, and all of them count. */
static void used_patterns(void **state)
{
    enum { COUNT = 66 };
    char names[COUNT][24];
    const char *globs[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "f%d.jpg", i);
        globs[i] = names[i];
    }
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < COUNT; i++) {
            lap_batch_others others = {0};
            const lap_batch_take take = {.include = kind ? NULL : globs,
                .include_count = kind ? 0 : COUNT,
                .exclude = kind ? globs : NULL,
                .exclude_count = kind ? COUNT : 0};
            assert_int_equal(judge(&take, names[i], false, NULL), kind ? LEFT_OUT : YES);
            assert_int_equal(judge(&take, names[i], false, &others), kind ? LEFT_OUT : YES);
            const uint64_t bit = i < 64 ? (uint64_t)1 << i : 0;
            assert_true(others.include_used == (kind ? 0 : bit));
            assert_true(others.exclude_used == (kind ? bit : 0));
        }
    /* Each of several that match; those that are known already stay. A folder uses no --include. */
    const char *const some[] = {"*.jpg", "x", "a.*", "a.jpg"};
    const lap_batch_take take = {
        .include = some, .include_count = 4, .exclude = some + 1, .exclude_count = 1};
    lap_batch_others others = {.include_used = 4};
    assert_int_equal(judge(&take, "a.jpg", true, &others), YES);
    assert_true(others.include_used == 4 && others.exclude_used == 0);
    assert_int_equal(judge(&take, "a.jpg", false, &others), YES);
    assert_true(others.include_used == 13 && others.exclude_used == 0);
    assert_int_equal(judge(&take, "x", false, &others), LEFT_OUT);
    assert_true(others.include_used == 15 && others.exclude_used == 1);
}

/* ---- what cannot be read ----------------------------------------------------------------------- */

static void unreadable(void **state)
{
    const struct {
        const char *pattern, *extensions, *shown; /* NULL: accepted */
    } asked[] = {
        {"*.jpg", NULL, NULL},
        {"*.PNM", NULL, NULL},
        {"*", NULL, NULL},
        {"a", NULL, NULL},
        {"*.gif", NULL, "gif"},
        {"deep.gif/*", NULL, NULL},
        {"deep.jpg/*.NEF", NULL, "NEF"},
        {"deep/.gif", NULL, NULL},
        {"deep.gif/a", NULL, NULL},
        {"*.gif*", NULL, NULL},
        {"*.gi?", NULL, NULL},
        {"*.[g]if", NULL, NULL},
        {"*.{gif}", NULL, NULL},
        {"*.gi\\f", NULL, NULL},
        {NULL, "", NULL},
        {NULL, "jpg", NULL},
        {NULL, ".jpg,.PNG,", NULL},
        {NULL, "jpg,,png", ""},
        {NULL, ",jpg", ""},
        {NULL, "gif", "gif"},
        {NULL, "jpg,.tif,gif", "tif"},
        {NULL, "..jpg", ".jpg"},
        {NULL, "a23456789b12345", "a23456789b12345"},
        {NULL, "a23456789b123456", "a23456789b12345"},
        {NULL, "a23456789b1234567", "a23456789b12345"},
    };
    (void)state;
    assert_int_equal(lap_take_check(NULL, NULL), LAP_OK);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *const globs[] = {"*.jpg", asked[i].pattern};
        const lap_batch_take take = {
            .include = globs, .include_count = asked[i].pattern ? 2 : 1, .extensions = asked[i].extensions};
        lap_error err = {0};
        char message[200] = "";
        if (asked[i].shown)
            snprintf(message, sizeof message,
                "files with the extension \"%s\" cannot be read, only those with "
                "jpg,jpeg,jpe,jfif,png,ppm,pgm,pnm",
                asked[i].shown);
        if (lap_take_check(&take, &err) != (asked[i].shown ? LAP_E_USAGE : LAP_OK))
            fail_msg("case %zu: %s", i, err.message);
        assert_string_equal(err.message, message);
    }
}

/* ---- by content, and the others ---------------------------------------------------------------- */

static char home[TEMPORARY_PATH];
static int folder;

static void save(const char *name, const void *bytes, size_t size)
{
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(close(fd), 0);
}

static int enter_home(void **state)
{
    (void)state;
    if (!mkdtemp(temporary(home, "take")))
        return -1;
    folder = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0;
}

static int leave_home(void **state)
{
    static const char *const names[] = {
        "photo", "short", "other", "link", "pipe", "._a.jpg", "._b.jpg", "c._a"};
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlinkat(folder, names[i], 0);
    failed |= close(folder);
    return failed | rmdir(home);
}

static void contents(void **state)
{
    (void)state;
    save("photo", "\xFF\xD8\xFF\xE0", 4);
    save("short", "\xFF\xD8", 2);
    save("other", "\xFF\xD8\xFE\xE0", 4);
    assert_int_equal(symlinkat("photo", folder, "link"), 0);
    assert_int_equal(mkfifoat(folder, "pipe", 0666), 0);
    for (int follow = 0; follow < 2; follow++) {
        assert_true(lap_take_begins_like_jpeg(folder, "photo", follow));
        assert_int_equal(lap_take_begins_like_jpeg(folder, "link", follow), follow);
        assert_false(lap_take_begins_like_jpeg(folder, "short", follow));
        assert_false(lap_take_begins_like_jpeg(folder, "other", follow));
        assert_false(lap_take_begins_like_jpeg(folder, "pipe", follow)); /* and nobody waits for a writer */
        assert_false(lap_take_begins_like_jpeg(folder, "missing", follow));
        assert_false(lap_take_begins_like_jpeg(folder, ".", follow));
    }
    save("._a.jpg", "\x00\x05\x16\x07\x00", 5);
    save("._b.jpg", "\x00\x05\x16\x08\x00", 5);
    save("c._a", "\x00\x05\x16\x07\x00", 5);
    assert_true(lap_take_is_apple_double(folder, "._a.jpg"));
    assert_false(lap_take_is_apple_double(folder, "._b.jpg"));
    assert_false(lap_take_is_apple_double(folder, "c._a"));
    assert_false(lap_take_is_apple_double(folder, "._missing"));
    char path[TEMPORARY_PATH + 16];
    snprintf(path, sizeof path, "%s/._a.jpg", home);
    assert_true(lap_take_is_apple_double(AT_FDCWD, path));
    /* No descriptor stays open. */
    const int next = dup(folder);
    assert_int_equal(close(next), 0);
    assert_false(lap_take_begins_like_jpeg(folder, "short", false));
    const int again = dup(folder);
    assert_int_equal(again, next);
    assert_int_equal(close(again), 0);
}

static void others(void **state)
{
    const size_t room = sizeof((lap_batch_others *)NULL)->kinds->extension;
    lap_batch_others counts = {0};
    char name[80] = "x.", wanted[80];
    (void)state;
    save("._a.jpg", "\x00\x05\x16\x07\x00", 5);
    lap_take_note(NULL, folder, "a.gif");
    lap_take_note(&counts, folder, "._a.jpg");
    lap_take_note(&counts, folder, ".hidden");
    lap_take_note(&counts, folder, ".hidden.gif");
    lap_take_note(&counts, folder, "._other.gif");
    assert_int_equal(counts.apple_doubles, 1);
    assert_int_equal(counts.files, 0);
    assert_int_equal(counts.kind_count, 0);
    lap_take_note(&counts, folder, "a.GIF");
    lap_take_note(&counts, folder, "b.nef");
    lap_take_note(&counts, folder, "b.gif");
    lap_take_note(&counts, folder, "README");
    lap_take_note(&counts, folder, "end.");
    memset(name + 2, 'E', 70);
    lap_take_note(&counts, folder, name);
    memset(wanted, 'e', sizeof wanted);
    wanted[room - 1] = 0;
    assert_int_equal(counts.apple_doubles, 1);
    assert_int_equal(counts.files, 6);
    assert_int_equal(counts.kind_count, 4);
    static const char *const kinds[] = {"gif", "nef", ""};
    static const int files[] = {2, 1, 2};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(counts.kinds[i].extension, kinds[i]);
        assert_int_equal(counts.kinds[i].files, files[i]);
    }
    assert_string_equal(counts.kinds[3].extension, wanted);
    assert_int_equal(counts.kinds[3].files, 1);
    /* Kinds beyond the table are files like others; those in it are counted on. */
    for (int i = 4; i < LAP_OTHER_KINDS + 3; i++) {
        snprintf(name, sizeof name, "a.k%d", i);
        lap_take_note(&counts, folder, name);
        assert_int_equal(counts.kind_count, i < LAP_OTHER_KINDS ? i + 1 : LAP_OTHER_KINDS);
    }
    lap_take_note(&counts, folder, "b.k5");
    assert_int_equal(counts.files, 6 + LAP_OTHER_KINDS - 4 + 3 + 1);
    assert_string_equal(counts.kinds[LAP_OTHER_KINDS - 1].extension, name[0] ? "k31" : "");
    assert_int_equal(counts.kinds[LAP_OTHER_KINDS - 1].files, 1);
    assert_int_equal(counts.kinds[5].files, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(extensions), cmocka_unit_test(patterns),
        cmocka_unit_test(patterns_of_two_folders), cmocka_unit_test(long_patterns),
        cmocka_unit_test(used_patterns), cmocka_unit_test(unreadable), cmocka_unit_test(contents),
        cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, enter_home, leave_home);
}
