/* Files beside the output: whether two paths mean the same file, and how one is written. */
#include "tests/support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "io/side.h"

static int syncs;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    syncs++;
    return __real_fsync(fd);
}

static bool is_named(const char *path, const char *expected)
{
    char *name = lap_real_name(path);
    const bool same = name && strcmp(name, expected) == 0;
    if (!same)
        print_message("%s: %s instead of %s\n", path, name ? name : "NULL", expected);
    free(name);
    return same;
}

/* What is there has the name that realpath gives; what is not there, that of its folder and its own. */
static void names_without_links(void **unused)
{
    (void)unused;
    char below[PATH_MAX + 64], here[PATH_MAX];
    assert_non_null(realpath(scratch, here));
    assert_int_equal(mkdir(at("real"), 0700), 0);
    put(at("real/file"), "x");
    assert_int_equal(symlink("real", at("way")), 0);
    assert_int_equal(symlink("real/file", at("link")), 0);
    assert_int_equal(symlink("real/none", at("dangling")), 0);
    assert_int_equal(symlink("circle", at("circle")), 0);
    static const char *const names[][2] = {{"real/file", "real/file"}, {"way/file", "real/file"},
        {"link", "real/file"}, {"way", "real"}, {"way/", "real"}, {"dangling", "real/none"},
        {"way/none", "real/none"}, {"way/none/", "real/none"}, {"way/none///", "real/none"},
        {"way/a/b/c", "real/a/b/c"}, {"way/../none", "none"}, {"./real/./n", "real/n"}};
    assert_int_equal(chdir(scratch), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(below, sizeof below, "%s/%s", here, names[i][1]);
        assert_true(is_named(at(names[i][0]), below));
        assert_true(is_named(names[i][0], below)); /* from here */
    }
    assert_true(is_named("/", "/"));
    assert_true(is_named("//", "/"));
    assert_true(is_named(".", here));
    assert_true(is_named("/no such file", "/no such file"));
    assert_true(is_named("/no such/file", "/no such/file"));
    errno = 0;
    assert_null(lap_real_name(at("circle")));
    assert_int_equal(errno, ELOOP);
    lap_side side;
    lap_error err;
    assert_int_equal(lap_side_look(at("circle"), &side, &err), LAP_E_WRITE);
    assert_string_equal(err.subject, at("circle"));
    const char *const others[] = {at("circle")};
    assert_int_equal(lap_side_check(at("circle"), others, 1, &err), LAP_E_WRITE);
    assert_int_equal(chdir("/"), 0);
}

/* A folder that was removed has no name: the search for one ends. */
static void no_name_in_a_removed_folder(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir(at("removed"), 0700), 0);
    assert_int_equal(chdir(at("removed")), 0);
    assert_int_equal(rmdir(at("removed")), 0);
    assert_null(lap_real_name("file"));
    assert_null(lap_real_name("a/b"));
    assert_int_equal(chdir("/"), 0);
}

static void only_files_have_a_number(void **unused)
{
    (void)unused;
    lap_side side;
    lap_error err;
    struct stat st;
    put(at("one"), "1");
    assert_int_equal(stat(at("one"), &st), 0);
    assert_int_equal(lap_side_look(at("one"), &side, &err), LAP_OK);
    assert_true(side.is_file && lap_side_is_file(&side, &st));
    st.st_ino++;
    assert_false(lap_side_is_file(&side, &st));
    st.st_ino--;
    st.st_dev++;
    assert_false(lap_side_is_file(&side, &st));
    lap_side_free(&side);
    assert_null(side.name);
    assert_false(side.is_file);
    lap_side_free(&side); /* twice */
    static const char *const others[] = {"/", "/dev/null", "/no such file"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lap_side_look(others[i], &side, &err), LAP_OK);
        assert_false(side.is_file);
        assert_int_equal(side.device, 0);
        assert_int_equal(side.inode, 0);
        lap_side_free(&side);
    }
}

static lap_code check(const char *path, const char *other)
{
    lap_error err = {0};
    const char *const others[] = {NULL, "", other, "/dev/null"};
    const lap_code code = lap_side_check(path, others, 4, &err);
    if (code == LAP_OK)
        return code;
    char message[PATH_MAX + 64];
    snprintf(message, sizeof message, "is the same file as %s", other);
    return strcmp(err.subject, path) == 0 && strcmp(err.message, message) == 0 ? code : LAP_E_INTERNAL;
}

static void the_same_file_clashes(void **unused)
{
    (void)unused;
    lap_error err;
    put(at("a"), "a");
    put(at("b"), "b");
    assert_int_equal(link(at("a"), at("hard")), 0);
    assert_int_equal(symlink("a", at("soft")), 0);
    assert_int_equal(symlink("later", at("to later")), 0);
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    static const char *const files[] = {"a", "hard", "soft", "./a"},
                             *const missing[] = {"later", "to later", "folder/../later"},
                             *const may_be_twice[] = {"b", "none", "fifo", "folder"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            assert_int_equal(check(at(files[i]), at(files[k])), LAP_E_CLASH);
            assert_int_equal(check(at(files[i]), at(may_be_twice[k])), LAP_OK);
            assert_int_equal(check(at(may_be_twice[k]), at(files[i])), LAP_OK);
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            if (k < 3)
                assert_int_equal(check(at(missing[i]), at(missing[k])), LAP_E_CLASH);
            assert_int_equal(check(at(missing[i]), at(files[k])), LAP_OK);
            assert_int_equal(check(at(files[k]), at(missing[i])), LAP_OK);
            assert_int_equal(check(at(missing[i]), at(may_be_twice[k])), LAP_OK);
        }
    assert_int_equal(check(at("fifo"), at("fifo")), LAP_OK);
    assert_int_equal(check("/dev/null", "/dev/zero"), LAP_OK);
    const char *const first[] = {
        at("a"), at("hard")}; /* the first that clashes is named, and none behind count */
    assert_int_equal(lap_side_check(at("soft"), first, 2, &err), LAP_E_CLASH);
    assert_non_null(strstr(err.message, at("a")));
    assert_int_equal(lap_side_check(at("soft"), first, 0, &err), LAP_OK);
    const char *const last[] = {at("b"), at("a")};
    assert_int_equal(lap_side_check(at("a"), last, 1, &err), LAP_OK);
    assert_int_equal(lap_side_check(at("a"), last, 2, &err), LAP_E_CLASH);
}

static void what_lies_in_a_folder(void **unused)
{
    (void)unused;
    static const struct {
        const char *path, *folder;
        bool lies_in;
    } cases[] = {{"lies/one/x", "lies/one", true}, {"lies/one/sub/x", "lies/one", true},
        {"lies/one", "lies/one", false}, {"lies/one2/x", "lies/one", false},
        {"lies/two/x", "lies/one", false}, {"lies/two/x", "lies/two/", true},
        {"lies/lane/x", "lies/one", true}, {"lies/one/x", "lies/lane", true},
        {"lies/one/x", "lies/one/sub", false}, {"lies/one/x", "lies/..", true},
        {"lies/one/x", "../../../../../../../..", true}, {"lies/x", "lies/missing", false},
        {"lies/missing", "lies/missing", false}, {"lies/x", "lies/.", true}};
    lap_error err;
    bool lies_in;
    assert_int_equal(mkdir(at("lies"), 0700), 0);
    assert_int_equal(
        mkdir(at("lies/one"), 0700) + mkdir(at("lies/one/sub"), 0700) + mkdir(at("lies/one2"), 0700), 0);
    assert_int_equal(
        mkdir(at("lies/two"), 0700) + symlink("one", at("lies/lane")) + symlink("loop", at("lies/loop")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lies_in = !cases[i].lies_in;
        assert_int_equal(lap_side_lies_in(at(cases[i].path), at(cases[i].folder), &lies_in, &err), LAP_OK);
        if (lies_in != cases[i].lies_in)
            fail_msg("%s in %s", cases[i].path, cases[i].folder);
    }
    for (int is_folder = 0; is_folder < 2; is_folder++) {
        const char *path = at(is_folder ? "lies/one" : "lies/loop"),
                   *folder = at(is_folder ? "lies/loop" : "lies/one");
        assert_int_equal(lap_side_lies_in(path, folder, &lies_in, &err), LAP_E_WRITE);
        assert_string_equal(err.subject, at("lies/loop"));
        assert_string_equal(err.message, "cannot be reached: Too many levels of symbolic links");
    }
}

static void a_stream_may_be_the_file(void **unused)
{
    (void)unused;
    put(at("in"), "x");
    put(at("out"), "x");
    put(at("neither"), "x");
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int in = open(at("in"), O_RDONLY), out = open(at("out"), O_WRONLY);
        bool good = dup2(in, 0) == 0 && dup2(out, 1) == 1 && check(at("in"), "-") == LAP_E_CLASH &&
                    check(at("out"), "-") == LAP_E_CLASH && check(at("neither"), "-") == LAP_OK;
        close(0);
        good = good && check(at("in"), "-") == LAP_OK && check(at("out"), "-") == LAP_E_CLASH;
        close(1);
        good = good && check(at("in"), "-") == LAP_OK && check(at("out"), "-") == LAP_OK;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- writing --------------------------------------------------------------------------------------------
 */

static void sides_are_written_whole(void **unused)
{
    (void)unused;
    lap_error err;
    assert_int_equal(lap_side_reach(at("side"), &err), LAP_OK);
    assert_int_equal(access(at("side"), F_OK), -1);
    syncs = 0;
    assert_int_equal(lap_side_write(at("side"), "text", 4, false, &err), LAP_OK);
    assert_holds(at("side"), "text");
    assert_int_equal(syncs, 0);
    assert_int_equal(lap_side_write(at("side"), "again", 5, true, &err), LAP_OK);
    assert_holds(at("side"), "again");
    assert_int_equal(syncs, 2); /* file and folder */
    assert_int_equal(lap_side_write(at("empty"), "", 0, false, &err), LAP_OK);
    assert_holds(at("empty"), "");
    assert_int_equal(lap_side_write("/dev/full", "x", 1, false, &err), LAP_E_DISK_FULL);
    assert_string_equal(err.subject, "/dev/full");
    assert_int_equal(lap_side_reach(at("no/side"), &err), LAP_E_WRITE);
    assert_int_equal(lap_side_write(at("no/side"), "x", 1, false, &err), LAP_E_WRITE);
    assert_string_equal(err.subject, at("no/side"));
    static char much[100000]; /* longer than is gathered: the writing fails, not the finishing */
    assert_int_equal(lap_side_write("/dev/full", much, sizeof much, false, &err), LAP_E_DISK_FULL);
    assert_int_equal(count_temps(scratch), 0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void a_fifo_without_a_reader(void **unused)
{
    (void)unused;
    lap_error err;
    put(at("no fifo"), "x");
    const int lowest = dup(0);
    close(lowest);
    assert_int_equal(lap_side_await_reader(at("no fifo"), 60, &err), LAP_OK);
    const int now_lowest = dup(0);
    close(now_lowest);
    assert_int_equal(now_lowest, lowest); /* only a FIFO is opened */
    assert_int_equal(lap_side_await_reader(at("no file"), 60, &err), LAP_OK);
    assert_holds(at("no fifo"), "x");
    assert_int_equal(mkfifo(at("alone"), 0600), 0);
    const double began = seconds();
    assert_int_equal(lap_side_await_reader(at("alone"), 0.05, &err), LAP_E_WRITE);
    assert_true(seconds() - began >= 0.05);
    assert_string_equal(err.message, "no process reads this FIFO");
    assert_string_equal(err.subject, at("alone"));
    assert_int_equal(lap_side_write(at("alone"), "x", 1, false, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "no process reads this FIFO");

    char got[8];
    const int reader = open(at("alone"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(lap_side_await_reader(at("alone"), 60, &err), LAP_OK);
    assert_int_equal(read(reader, got, sizeof got), -1); /* no end: the writer stays */
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(lap_side_write(at("alone"), "abc", 3, true, &err), LAP_OK);
    assert_int_equal(read(reader, got, sizeof got), 3);
    close(reader);
}

static void *reads_slowly(void *path)
{
    static char got[4096];
    size_t *total = calloc(1, sizeof *total);
    const int reader = open(path, O_RDONLY);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    for (ssize_t n; total && (n = read(reader, got, sizeof got)) > 0;)
        *total += (size_t)n;
    close(reader);
    return total;
}

static void a_reader_may_be_slow(void **unused)
{
    (void)unused;
    static char much[300000], path[PATH_MAX];
    lap_error err;
    pthread_t thread;
    void *total = NULL;
    snprintf(path, sizeof path, "%s", at("slow"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, reads_slowly, path), 0);
    int fd = -1;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK)) < 0) /* the reader is there */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(lap_side_write(path, much, sizeof much, false, &err), LAP_OK);
    close(fd);
    assert_int_equal(pthread_join(thread, &total), 0);
    assert_int_equal(*(size_t *)total, sizeof much);
    free(total);
}

static void look_often(int rounds)
{
    lap_error err;
    for (int i = 0; i < rounds; i++) {
        const char *const others[] = {at("b"), at("x/y/z"), at("a")};
        assert_int_equal(lap_side_check(at("a"), others, 3, &err), LAP_E_CLASH);
        assert_int_equal(lap_side_check(at("x/y/other"), others, 3, &err), LAP_OK);
        assert_int_equal(lap_side_write(at("b"), "b", 1, false, &err), LAP_OK);
        assert_int_equal(lap_side_write(at("x/y/z"), "b", 1, false, &err), LAP_E_WRITE);
    }
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    look_often(4);
    const size_t bytes = mallinfo2().uordblks;
    look_often(300);
    assert_true(mallinfo2().uordblks < bytes + (size_t)300 * 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_links),
        cmocka_unit_test(no_name_in_a_removed_folder),
        cmocka_unit_test(only_files_have_a_number),
        cmocka_unit_test(the_same_file_clashes),
        cmocka_unit_test(what_lies_in_a_folder),
        cmocka_unit_test(a_stream_may_be_the_file),
        cmocka_unit_test(sides_are_written_whole),
        cmocka_unit_test(a_fifo_without_a_reader),
        cmocka_unit_test(a_reader_may_be_slow),
        cmocka_unit_test(everything_is_given_back),
    };
    if (!make_scratch())
        return 99;
    signal(SIGPIPE, SIG_IGN);
    alarm(120); /* a wait without an end fails, too */
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
