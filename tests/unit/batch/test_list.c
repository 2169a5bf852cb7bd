/* The names of a list: held, or read piece by piece; the same either way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/list.h"
#include "tests/support/scratch.h"

enum { LARGE = 17 << 20 }; /* is read piece by piece */

/* Names of 1 to 300 bytes with empty ones between them, then what comes behind. */
static void write_list(const char *path, size_t size, const char *tail)
{
    FILE *file = fopen(path, "w");
    char name[301];
    assert_non_null(file);
    memset(name, 'n', sizeof name);
    for (size_t written = 0, i = 0; written < size; i++) {
        const int length = snprintf(name, sizeof name, "%zu", i);
        name[length] = 'n';
        written +=
            (size_t)fprintf(file, "%.*s\n%s", (int)(1 + (size_t)length + i % 290), name, i % 7 ? "" : "\n\n");
    }
    fputs(tail, file);
    assert_int_equal(fclose(file), 0);
}

static lap_list *opened(const char *path, uint64_t limit)
{
    const lap_batch_options options = {.files_from = path};
    lap_list *list;
    lap_error err;
    if (lap_list_open(&options, limit, NULL, &list, &err) != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
    return list;
}

/* All names, as getline has them. */
static void reads_all(lap_list *list, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    const char *name;
    size_t room = 0;
    lap_error err;
    assert_non_null(file);
    assert_int_equal(lap_list_begin(list, &err), LAP_OK);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[0])
            continue;
        assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
        assert_string_equal(name, line);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
        assert_null(name);
    }
    free(line);
    fclose(file);
}

static void large_and_small_lists_are_read_alike(void **unused)
{
    static const char *const tails[] = {"", "last", "\n\n"};
    static const size_t sizes[] = {0, 1000, LARGE};
    struct stat st;
    (void)unused;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            write_list(at("list"), sizes[i], tails[j]);
            lap_list *list = opened(at("list"), 0);
            reads_all(list, at("list"));
            reads_all(list, at("list")); /* as often as it is asked for */
            assert_int_equal(stat(at("list"), &st), 0);
            assert_true(lap_list_leaves(list, 0) == 0);
            assert_true(
                lap_list_leaves(list, 1 << 30) == (1 << 30) - (sizes[i] == LARGE ? 0 : (uint64_t)st.st_size));
            lap_list_close(list);
        }
    assert_true(lap_list_leaves(NULL, 5) == 5);
}

/* Half of the limit is held, and no more. */
static void the_limit_holds(void **unused)
{
    int ends[2];
    char path[32];
    lap_list *list;
    lap_error err;
    (void)unused;
    write_list(at("list"), 5000, "");
    list = opened(at("list"), 4000); /* a file: in pieces */
    reads_all(list, at("list"));
    assert_true(lap_list_leaves(list, 4000) == 4000);
    lap_list_close(list);
    for (int fits = 0; fits < 2; fits++) {
        assert_int_equal(pipe(ends), 0);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(write(ends[1], "abc\n", 4), 4);
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        const lap_batch_options options = {.files_from = path};
        assert_int_equal(
            lap_list_open(&options, 7998 + 2 * fits, NULL, &list, &err), fits ? LAP_OK : LAP_E_LIMIT);
        close(ends[0]);
        if (fits)
            assert_true(lap_list_leaves(list, 8000) == 4000);
        else
            assert_null(list);
        lap_list_close(list);
    }
}

/* A name without an end: its first bytes are one, and the rest takes no memory. */
static void an_endless_name_is_cut(void **unused)
{
    const char *name;
    lap_list *list;
    lap_error err;
    (void)unused;
    write_list(at("list"), 0, "first\n");
    FILE *file = fopen(at("list"), "a");
    assert_non_null(file);
    for (size_t i = 0; i < LARGE; i++)
        putc('x', file);
    fputs("\nlast", file);
    assert_int_equal(fclose(file), 0);
    list = opened(at("list"), 0);
    assert_int_equal(lap_list_begin(list, &err), LAP_OK);
    assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
    assert_string_equal(name, "first");
    assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
    assert_int_equal(strlen(name), PATH_MAX);
    assert_int_equal(strspn(name, "x"), PATH_MAX);
    assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
    assert_string_equal(name, "last");
    lap_list_close(list);
}

/* What is read again has to be what was read first. */
static void a_list_that_changes_ends_the_run(void **unused)
{
    const char *name = "";
    lap_code code = LAP_OK;
    lap_error err;
    (void)unused;
    write_list(at("list"), LARGE, "");
    lap_list *list = opened(at("list"), 0);
    assert_int_equal(lap_list_begin(list, &err), LAP_OK);
    assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
    FILE *file = fopen(at("list"), "a");
    assert_non_null(file);
    fputs("more\n", file);
    assert_int_equal(fclose(file), 0);
    while (code == LAP_OK && name)
        code = lap_list_next(list, &name, &err);
    assert_int_equal(code, LAP_E_CHANGED);
    assert_int_equal(lap_list_begin(list, &err), LAP_E_CHANGED);
    lap_list_close(list);
}

static void lists_that_are_none(void **unused)
{
    const lap_batch_options none = {.files_from = NULL};
    lap_list *list;
    lap_error err;
    (void)unused;
    assert_int_equal(lap_list_open(&none, 0, NULL, &list, &err), LAP_OK);
    assert_null(list);
    const lap_batch_options missing = {.files_from = at("missing")};
    assert_int_equal(lap_list_open(&missing, 0, NULL, &list, &err), LAP_E_MISSING);
    const lap_batch_options folder = {.files_from = "/"};
    assert_int_equal(lap_list_open(&folder, 0, NULL, &list, &err), LAP_E_UNREADABLE);
    lap_list_close(NULL);
}

/* A pipe that stays open, and a FIFO that nobody opens for writing, are not waited for after a cancel. */
static void a_cancel_ends_the_wait(void **unused)
{
    const atomic_int cancel = 1;
    const lap_control control = {.cancel = &cancel};
    int ends[2];
    char path[32];
    lap_list *list;
    lap_error err;
    (void)unused;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a\n", 2), 2);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const lap_batch_options open = {.files_from = path};
    assert_int_equal(lap_list_open(&open, 0, &control, &list, &err), LAP_E_CANCELLED);
    assert_null(list);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    const lap_batch_options alone = {.files_from = at("fifo")};
    assert_int_equal(lap_list_open(&alone, 0, &control, &list, &err), LAP_E_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_and_small_lists_are_read_alike),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(an_endless_name_is_cut),
        cmocka_unit_test(a_list_that_changes_ends_the_run),
        cmocka_unit_test(lists_that_are_none),
        cmocka_unit_test(a_cancel_ends_the_wait),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
