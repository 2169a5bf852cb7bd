/* Places below a tree: no link on the way, and nothing overwritten that should not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/sink.h"
#include "tests/support/scratch.h"

/* In front of libc's: folders cannot be made, for this reason. */
static int no_folders;

int mkdirat(int folder, const char *path, mode_t mode)
{
    if (!no_folders)
        return (int)syscall(SYS_mkdirat, folder, path, mode);
    errno = no_folders;
    return -1;
}

static lap_sink *finished_below(const lap_tree *tree, const char *relative, const char *text)
{
    lap_sink *sink;
    lap_error err;
    assert_int_equal(lap_sink_open_below(tree, relative, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, text, strlen(text), &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    return sink;
}

static void what_appears_meanwhile_is_kept(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    struct stat seen;
    assert_int_equal(mkdir(at("tree"), 0700), 0);
    assert_int_equal(lap_tree_open(at("tree"), &tree, &err), LAP_OK);

    lap_sink *sink = finished_below(&tree, "new", "ours"); /* nothing stands there, and nothing appears */
    lap_sink_expect(sink, NULL);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    lap_sink_close(sink);
    assert_holds(at("tree/new"), "ours");

    sink = finished_below(&tree, "a", "ours"); /* somebody's file appears */
    lap_sink_expect(sink, NULL);
    put(at("tree/a"), "theirs");
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_EXISTS);
    assert_holds(at("tree/a"), "theirs");
    assert_int_equal(stat(at("tree/a"), &seen), 0); /* that one is meant now */
    lap_sink_expect(sink, &seen);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    lap_sink_close(sink);
    assert_holds(at("tree/a"), "ours");

    assert_int_equal(stat(at("tree/a"), &seen), 0); /* the one that was seen is changed */
    sink = finished_below(&tree, "a", "again");
    lap_sink_expect(sink, &seen);
    put(at("tree/a"), "retouched");
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_EXISTS);
    assert_int_equal(unlink(at("tree/a")), 0); /* or removed */
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    lap_sink_close(sink);
    assert_holds(at("tree/a"), "again");

    sink = finished_below(&tree, "b", "ours"); /* without an expectation files are replaced, links are not */
    assert_int_equal(symlink("a", at("tree/b")), 0);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_EXISTS);
    lap_sink_close(sink);
    assert_holds(at("tree/a"), "again");
    assert_int_equal(count_temps(at("tree")), 0);
    lap_tree_close(&tree);
}

static void links_below_a_tree_are_not_followed(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    lap_sink *sink;
    int folder;
    assert_int_equal(mkdir(at("out"), 0700), 0);
    assert_int_equal(mkdir(at("else"), 0700), 0);
    assert_int_equal(symlink("out", at("way")), 0); /* the tree itself may be named by one */
    assert_int_equal(lap_tree_open(at("way"), &tree, &err), LAP_OK);
    assert_int_equal(lap_tree_enter(&tree, "one/two/x", false, &folder, &err), LAP_E_MISSING);
    assert_int_equal(lap_tree_enter(&tree, "one/two/x", true, &folder, &err), LAP_OK);
    lap_tree_leave(&tree, folder);
    sink = finished_below(&tree, "one/two/x", "text");

    /* a link is swapped in while the output waits */
    assert_int_equal(rename(at("out/one"), at("else/one")), 0);
    assert_int_equal(symlink("../else/one", at("out/one")), 0);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_EXISTS);
    assert_non_null(strstr(err.subject, "way/one"));
    assert_int_equal(access(at("else/one/two/x"), F_OK), -1);
    assert_int_equal(unlink(at("out/one")), 0);
    assert_int_equal(rename(at("else/one"), at("out/one")), 0);
    lap_sink_close(sink);
    assert_int_equal(count_temps(at("out/one/two")), 0);

    assert_int_equal(symlink("../else", at("out/link")), 0);
    put(at("out/file"), "x");
    assert_int_equal(lap_sink_open_below(&tree, "link/x", &sink, &err), LAP_E_EXISTS);
    assert_int_equal(lap_sink_open_below(&tree, "link/x/y", &sink, &err), LAP_E_EXISTS);
    assert_int_equal(lap_sink_open_below(&tree, "file/x", &sink, &err), LAP_E_WRITE);
    assert_int_equal(lap_sink_open_below(&tree, "none/x", &sink, &err), LAP_E_MISSING);
    assert_int_equal(lap_sink_open_below(&tree, "one/../../x", &sink, &err), LAP_E_INTERNAL);
    assert_int_equal(lap_tree_enter(&tree, "link/sub/x", true, &folder, &err), LAP_E_EXISTS);
    lap_tree_close(&tree);
    assert_int_equal(lap_tree_open(at("no such folder"), &tree, &err), LAP_OK);
    assert_int_equal(lap_tree_enter(&tree, "x", false, &folder, &err), LAP_E_MISSING);
    lap_tree_close(&tree);
    put(at("plain"), "x");
    assert_int_equal(lap_tree_open(at("plain"), &tree, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "is not a folder");
    assert_int_equal(symlink("circle", at("circle")), 0);
    assert_int_equal(lap_tree_open(at("circle"), &tree, &err), LAP_E_WRITE);
    assert_string_equal(err.message, strerror(ELOOP));
}

/* A way that does not lead to a folder: nothing to close, and the reason stands in errno. */
static void targets_without_a_folder(void **unused)
{
    (void)unused;
    lap_target target;
    put(at("no folder"), "x");
    errno = 0;
    assert_false(lap_target_at(at("no folder/x"), &target));
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(target.folder, -1);
    assert_null(target.path);
    errno = 0;
    assert_false(lap_target_at(at("missing/x"), &target));
    assert_int_equal(errno, ENOENT);
    assert_null(target.path);
}

static void folders_that_cannot_be_made(void **unused)
{
    (void)unused;
    static const struct {
        int why;
        lap_code code;
    } cases[] = {{ENOSPC, LAP_E_DISK_FULL}, {EDQUOT, LAP_E_DISK_FULL}, {EACCES, LAP_E_WRITE}};
    lap_error err;
    lap_tree tree;
    assert_int_equal(mkdir(at("full"), 0700), 0);
    assert_int_equal(lap_tree_open(at("full"), &tree, &err), LAP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int folder = 0;
        no_folders = cases[i].why;
        assert_int_equal(lap_tree_enter(&tree, "new/x", true, &folder, &err), cases[i].code);
        no_folders = 0;
        assert_non_null(strstr(err.message, "cannot open or create this folder: "));
        assert_non_null(strstr(err.message, strerror(cases[i].why)));
        assert_int_equal(folder, -1);
    }
    lap_tree_close(&tree);
}

/* Times of files go by ticks of some milliseconds. */
static void wait_for_the_clock(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* A file that is written to gets its old time back: what was seen is not what stands there. */
static void a_time_that_was_set_back_hides_nothing(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    struct stat seen, now;
    assert_int_equal(mkdir(at("back"), 0700), 0);
    assert_int_equal(lap_tree_open(at("back"), &tree, &err), LAP_OK);
    put(at("back/x"), "ours");
    assert_int_equal(stat(at("back/x"), &seen), 0);
    lap_sink *sink = finished_below(&tree, "x", "anew");
    lap_sink_expect(sink, &seen);
    wait_for_the_clock();
    put(at("back/x"), "mine");
    const struct timespec times[2] = {seen.st_atim, seen.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, at("back/x"), times, 0), 0);
    assert_int_equal(stat(at("back/x"), &now), 0);
    assert_true(lap_same_state(&now, &seen));
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_EXISTS);
    lap_sink_close(sink);
    assert_holds(at("back/x"), "mine");
    lap_tree_close(&tree);
}

/* The number of the content is that of the bytes, however they came. */
static void the_content_has_a_number(void **unused)
{
    (void)unused;
    static char bytes[200000];
    lap_error err;
    lap_tree tree;
    lap_sink *sink;
    struct stat st;
    uint64_t content, again;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 2654435761u >> 24);
    assert_int_equal(mkdir(at("hash"), 0700), 0);
    assert_int_equal(lap_tree_open(at("hash"), &tree, &err), LAP_OK);
    assert_int_equal(lap_sink_open_below(&tree, "x", &sink, &err), LAP_OK);
    for (size_t i = 0, size = 1; i < sizeof bytes; i += size, size = size * 3 % 100001) {
        size_t most = sizeof bytes - i;
        size = size < most ? size : most;
        assert_int_equal(lap_sink_write(sink, bytes + i, size, &err), LAP_OK);
    }
    assert_int_equal(lap_sink_finish(sink, true, NULL, &err), LAP_OK);
    const struct stat made = *lap_sink_made(sink, &content);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    lap_sink_close(sink);
    assert_int_equal(stat(at("hash/x"), &st), 0);
    assert_true(lap_same_state(&st, &made)); /* the rename changes none of it */
    assert_int_equal(lap_content_hash(tree.fd, "x", &st, &again, &err), LAP_OK);
    assert_true(content == again);
    put(at("hash/y"), "other");
    assert_int_equal(lap_content_hash(tree.fd, "y", &st, &again, &err), LAP_E_CHANGED); /* that was x */
    assert_string_equal(err.subject, ""); /* the caller adds the path */
    assert_int_equal(stat(at("hash/y"), &st), 0);
    assert_int_equal(lap_content_hash(tree.fd, "y", &st, &again, &err), LAP_OK);
    assert_true(content != again);
    assert_int_equal(symlink("y", at("hash/link")), 0);
    assert_int_equal(lap_content_hash(tree.fd, "link", &st, &again, &err), LAP_E_CHANGED);
    assert_int_equal(stat(at("hash"), &st), 0);
    assert_int_equal(lap_content_hash(tree.fd, ".", &st, &again, &err), LAP_E_CHANGED);
    lap_tree_close(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_appears_meanwhile_is_kept),
        cmocka_unit_test(a_time_that_was_set_back_hides_nothing),
        cmocka_unit_test(links_below_a_tree_are_not_followed),
        cmocka_unit_test(targets_without_a_folder),
        cmocka_unit_test(folders_that_cannot_be_made),
        cmocka_unit_test(the_content_has_a_number),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
