/* Places below a tree: no link on the way, and nothing overwritten that should not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/sink.h"
#include "tests/support/scratch.h"
#include "tests/support/tick.h"

/* In front of libc's: folders cannot be made, for this reason. EEXIST: another process has made one, or this
 * file or link, in the meantime. */
static int no_folders;
static const char *made_file, *made_link;

int mkdirat(int folder, const char *path, mode_t mode)
{
    if (!no_folders)
        return (int)syscall(SYS_mkdirat, folder, path, mode);
    if (made_file)
        put(made_file, "theirs");
    else if (made_link)
        assert_int_equal(symlink(".", made_link), 0);
    else if (no_folders == EEXIST)
        assert_int_equal(syscall(SYS_mkdirat, folder, path, mode), 0);
    errno = no_folders;
    return -1;
}

/* What fails when an output gets its name, and why; 0: nothing. */
static struct name_faults {
    int renameat2, linkat, renameat, fstatat;
    bool is_reply_lost;   /* linkat makes the link and then fails */
    const char *vanishes; /* removed before fstatat looks */
    int looks;            /* calls of fstatat that succeed before */
} fails;

int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    errno = fails.renameat2;
    return errno ? -1 : __real_renameat2(from, old, to, new, flags);
}

int __real_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
    if (fails.is_reply_lost)
        assert_int_equal(__real_linkat(from, old, to, new, flags), 0);
    errno = fails.linkat;
    return errno ? -1 : __real_linkat(from, old, to, new, flags);
}

int __real_renameat(int from, const char *old, int to, const char *new);
int __wrap_renameat(int from, const char *old, int to, const char *new);
int __wrap_renameat(int from, const char *old, int to, const char *new)
{
    errno = fails.renameat;
    return errno ? -1 : __real_renameat(from, old, to, new);
}

/* The disk on which names are looked up. */
static struct {
    bool is_fake; /* fstatfs reports this type, or fails for this reason */
    unsigned type;
    int statfs;
    int listing, reading; /* why a folder cannot be opened for its list, or the list cannot be read */
} disk;

int __wrap_fstatfs(int folder, struct statfs *st);
int __real_fstatfs(int folder, struct statfs *st);
int __wrap_fstatfs(int folder, struct statfs *st)
{
    if (!disk.is_fake)
        return __real_fstatfs(folder, st);
    *st = (struct statfs){.f_type = (__typeof__(st->f_type))disk.type};
    errno = disk.statfs;
    return disk.statfs ? -1 : 0;
}

int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (strlen(name) > NAME_MAX) /* it would not fit into the caller's memory */
        fail_msg("openat: a name of %zu bytes", strlen(name));
    if (!disk.listing || strcmp(name, ".") != 0)
        return __real_openat(folder, name, flags, mode);
    errno = disk.listing;
    return -1;
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
    errno = disk.reading;
    return disk.reading ? NULL : __real_fdopendir(fd);
}

static bool folds_case; /* fstatat also finds names that differ in case */
int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    if (fails.vanishes)
        assert_int_equal(unlink(fails.vanishes), 0);
    fails.vanishes = NULL;
    if (fails.fstatat && fails.looks-- <= 0) {
        errno = fails.fstatat;
        return -1;
    }
    int failed = __real_fstatat(folder, name, st, flags);
    const int fd = failed && folds_case ? __real_openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = fd >= 0 ? __real_fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && failed && (entry = readdir(dir));)
        if (strcasecmp(entry->d_name, name) == 0)
            failed = __real_fstatat(folder, entry->d_name, st, flags);
    if (dir)
        closedir(dir);
    return failed;
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

/* On a disk that takes other names for one, a name is spelt only as the folder lists it. */
static void names_are_spelt_as_they_are_listed(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        bool is_spelt;
    } cases[] = {{"a.jpg", true}, {"Dir/b.jpg", true}, {"Dir//b.jpg", true}, {"none.jpg", true},
        {"none/a.jpg", true}, {"1", true}, {"Dir/NONE", true}, {"dot.", true}, {"gone.", false},
        {"gone ", false}, {"GONE~1.JPG", false}, {"gon\xc3\xa9.jpg", false}, {"Link/b.jpg", false},
        {"A.JPG", true}};
    lap_tree tree;
    const int files = open_files();
    assert_int_equal(mkdir(at("spelt"), 0700) || mkdir(at("spelt/Dir"), 0700), 0);
    put(at("spelt/a.jpg"), "x");
    put(at("spelt/1"), "x");
    put(at("spelt/dot."), "x");
    put(at("spelt/Dir/b.jpg"), "x");
    assert_int_equal(link(at("spelt/a.jpg"), at("spelt/A.JPG")), 0); /* a second name, but both are listed */
    assert_int_equal(symlink("Dir", at("spelt/Link")), 0);
    assert_int_equal(lap_tree_open(at("spelt"), &tree, NULL), LAP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lap_tree_is_spelt(&tree, cases[i].name) != cases[i].is_spelt)
            fail_msg("%s", cases[i].name);
    folds_case = true;
    assert_true(lap_tree_is_spelt(&tree, "Dir/b.jpg"));
    assert_false(lap_tree_is_spelt(&tree, "Dir/B.jpg"));
    assert_true(lap_tree_is_spelt(&tree, "1"));
    folds_case = false;
    lap_tree_close(&tree);
    assert_int_equal(open_files(), files);
}

/* A folder that may be entered but not listed: a name counts as spelt only if no other name can mean the same
 * file. */
static void names_that_cannot_be_listed(void **unused)
{
    (void)unused;
    static const struct {
        unsigned type;
        bool keeps;
    } disks[] = {{EXT4_SUPER_MAGIC, true}, {TMPFS_MAGIC, true}, {XFS_SUPER_MAGIC, true},
        {BTRFS_SUPER_MAGIC, true}, {OVERLAYFS_SUPER_MAGIC, true}, {MSDOS_SUPER_MAGIC, false}, {0, false}};
    static const struct {
        const char *name;
        bool keeps, other; /* whether it is spelt on a disk that keeps bytes, and on other disks */
    } names[] = {{"plain", true, true}, {"caf\xc3\xa9", true, false}, {"two", true, true},
        {"TWO", true, true}, {"linked", false, false}, {"gone.", false, false}};
    enum { LISTED, NOT_OPENED, NOT_READ, NO_TYPE, WAYS };
    lap_tree tree;
    assert_int_equal(mkdir(at("unlisted"), 0700), 0);
    for (size_t i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "unlisted/%s", names[i].name);
        put(at(path), "x");
    }
    assert_int_equal(link(at("unlisted/linked"), at("unlisted/LINKED")), 0);
    assert_int_equal(lap_tree_open(at("unlisted"), &tree, NULL), LAP_OK);
    const int standard = dup(0);
    close(0); /* the folder gets this number while it is listed */
    const int files = open_files();
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++)
        for (int way = 0; way < WAYS; way++)
            for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
                disk.is_fake = true;
                disk.type = disks[i].type;
                disk.statfs = way == NO_TYPE ? EIO : 0;
                disk.listing = way == NOT_OPENED || way == NO_TYPE ? EACCES : 0;
                disk.reading = way == NOT_READ ? ENOMEM : 0;
                const bool is_spelt = lap_tree_is_spelt(&tree, names[name].name);
                memset(&disk, 0, sizeof disk);
                const bool expected = way == LISTED                      ? name < 5
                                      : disks[i].keeps && way != NO_TYPE ? names[name].keeps
                                                                         : names[name].other;
                if (is_spelt != expected || open_files() != files)
                    fail_msg("%s on %x, %d", names[name].name, disks[i].type, way);
            }
    dup2(standard, 0);
    close(standard);
    lap_tree_close(&tree);
}

/* Each letter has two cases. */
static void letters_of_both_cases(void **unused)
{
    (void)unused;
    char way[] = "upper/A";
    lap_tree tree;
    assert_int_equal(mkdir(at("upper"), 0700) || mkdir(at("lower"), 0700), 0);
    assert_int_equal(lap_tree_open(scratch, &tree, NULL), LAP_OK);
    folds_case = true;
    for (int is_lower = 0; is_lower < 2; is_lower++) {
        memcpy(way, is_lower ? "lower" : "upper", 5);
        for (char letter = 'A'; letter <= 'Z'; letter++) {
            way[6] = (char)(is_lower ? letter | 0x20 : letter);
            put(at(way), "x");
            assert_true(lap_tree_is_spelt(&tree, way));
            way[6] ^= 0x20;
            if (lap_tree_is_spelt(&tree, way))
                fail_msg("%s", way);
        }
    }
    folds_case = false;
    lap_tree_close(&tree);
}

/* No file can have a longer name than these, so a longer name counts as spelt. */
static void names_of_the_greatest_length(void **unused)
{
    (void)unused;
    char way[PATH_MAX + 2];
    lap_tree tree;
    assert_int_equal(mkdir(at("length"), 0700) || mkdir(at("length/Dir"), 0700), 0);
    assert_int_equal(lap_tree_open(at("length"), &tree, NULL), LAP_OK);
    for (size_t more = 0; more < 2; more++) {
        memset(way, 'x', NAME_MAX + more);
        strcpy(way + NAME_MAX + more - 1, "."); /* may mean the name without it */
        assert_int_equal(lap_tree_is_spelt(&tree, way), more);
        memset(way, '/', sizeof way);
        memcpy(way, "Dir", 3);
        strcpy(way + PATH_MAX - 1 + more - 5, "gone.");
        assert_int_equal(lap_tree_is_spelt(&tree, way), more);
    }
    lap_tree_close(&tree);
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

/* Another process makes the folder, or something else of its name, between the look and mkdirat. */
static void what_is_made_meanwhile_is_entered(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    int folder;
    assert_int_equal(mkdir(at("made"), 0700), 0);
    assert_int_equal(lap_tree_open(at("made"), &tree, &err), LAP_OK);
    no_folders = EEXIST;
    assert_int_equal(lap_tree_enter(&tree, "new/x", true, &folder, &err), LAP_OK);
    lap_tree_leave(&tree, folder);
    made_file = at("made/file");
    assert_int_equal(lap_tree_enter(&tree, "file/x", true, &folder, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "is not a folder; move or remove it first");
    made_file = NULL;
    made_link = at("made/link");
    assert_int_equal(lap_tree_enter(&tree, "link/x", true, &folder, &err), LAP_E_EXISTS);
    assert_non_null(strstr(err.message, "is a symbolic link"));
    made_link = NULL;
    no_folders = 0;
    lap_tree_close(&tree);
}

/* Steps of every length; each message names the folder that was in the way, and nothing else. */
static void steps_below_a_tree(void **unused)
{
    (void)unused;
    char name[NAME_MAX + 8];
    lap_error err;
    lap_tree tree;
    struct stat st, is;
    int folder;
    assert_int_equal(mkdir(at("steps"), 0700), 0);
    assert_int_equal(mkdir(at("steps/ab"), 0700), 0);
    assert_int_equal(mkdir(at("steps/..."), 0700), 0);
    assert_int_equal(stat(at("steps/ab"), &st), 0);
    assert_int_equal(lap_tree_open(at("steps"), &tree, &err), LAP_OK);
    static const char *const ways[] = {
        "ab/x", "ab//x", "/ab/x", ".../../ab/x", "../steps/ab/x", "ab/../ab/x"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const bool climbs = i > 2;
        assert_int_equal(
            lap_tree_enter(&tree, ways[i], false, &folder, &err), climbs ? LAP_E_INTERNAL : LAP_OK);
        assert_int_equal(folder >= 0, !climbs);
        if (folder < 0)
            continue;
        assert_int_equal(fstat(folder, &is), 0);
        assert_true(is.st_ino == st.st_ino);
        lap_tree_leave(&tree, folder);
    }
    for (int length = NAME_MAX; length <= NAME_MAX + 1; length++) {
        snprintf(name, sizeof name, "%0*d/x", length, 0);
        errno = 0;
        assert_int_equal(
            lap_tree_enter(&tree, name, true, &folder, &err), length == NAME_MAX ? LAP_OK : LAP_E_WRITE);
        lap_tree_leave(&tree, folder);
    }
    assert_int_equal(errno, ENAMETOOLONG);
    assert_non_null(strstr(err.message, strerror(ENAMETOOLONG)));
    assert_int_equal(folder, -1);
    put(at("steps/file"), "x");
    assert_int_equal(symlink("ab", at("steps/link")), 0);
    assert_int_equal(lap_tree_enter(&tree, "file/x/y", false, &folder, &err), LAP_E_WRITE);
    assert_string_equal(err.subject, at("steps/file"));
    assert_string_equal(err.message, "is not a folder; move or remove it first");
    assert_int_equal(lap_tree_enter(&tree, "link/x", false, &folder, &err), LAP_E_EXISTS);
    assert_string_equal(err.subject, at("steps/link"));
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, files.rlim_max}), 0);
    const lap_code full = lap_tree_enter(&tree, "ab/x", true, &folder, &err); /* a folder it is */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(full, LAP_E_WRITE);
    assert_non_null(strstr(err.message, strerror(EMFILE)));
    fails.fstatat = EACCES; /* then the call's own reason is reported */
    assert_int_equal(lap_tree_enter(&tree, "link/x", false, &folder, &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, "cannot open or create this folder"));
    memset(&fails, 0, sizeof fails);
    lap_tree_close(&tree);
    assert_int_equal(tree.fd, -1);
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
    assert_true(await_tick(scratch));
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

/* One fact that differs is enough. */
static void each_fact_of_a_file_counts(void **unused)
{
    (void)unused;
    const struct stat file = {.st_dev = 1, .st_ino = 1, .st_size = 1};
    for (int fact = 0; fact < 7; fact++) {
        struct stat other = file;
        other.st_dev += fact == 0;
        other.st_ino += fact == 1;
        other.st_size += fact == 2;
        other.st_mtim.tv_sec += fact == 3;
        other.st_mtim.tv_nsec += fact == 4;
        other.st_ctim.tv_sec += fact == 5;
        other.st_ctim.tv_nsec += fact == 6;
        assert_int_equal(lap_same_state(&file, &other), fact > 4);
        assert_false(lap_is_untouched(&file, &other));
    }
    assert_true(lap_is_untouched(&file, &file));
    for (int64_t seconds = 96; seconds <= 104; seconds++)
        assert_int_equal(lap_is_time_kept(seconds, 100), seconds >= 98 && seconds <= 102);
}

/* ---- names on file systems of all kinds ------------------------------------------------------------ */

/* Publishes "ours" as tree/x beside what fails. */
static lap_code publish_over(const lap_tree *tree, lap_over over, lap_error *err)
{
    struct stat seen;
    const struct name_faults later = fails;
    const bool is_there = lstat(at("names/x"), &seen) == 0;
    memset(&fails, 0, sizeof fails);
    lap_sink *sink = finished_below(tree, "x", "ours");
    fails = later;
    if (over != LAP_OVER_ANY)
        lap_sink_expect(sink, over == LAP_OVER_SEEN && is_there ? &seen : NULL);
    *err = (lap_error){0};
    const lap_code code = lap_sink_publish(sink, err);
    memset(&fails, 0, sizeof fails);
    assert_int_equal(count_temps(at("names")), code != LAP_OK); /* under its new name alone */
    lap_sink_close(sink);
    assert_int_equal(count_temps(at("names")), 0);
    return code;
}

#define assert_says(error, text) assert_non_null(strstr((error).message, text))

/* Without RENAME_NOREPLACE a link gives a new name, and without links a look and a rename do. */
static void names_without_an_exclusive_rename(void **unused)
{
    (void)unused;
    static const int missing[] = {EINVAL, ENOSYS}, no_links[] = {EPERM, EOPNOTSUPP};
    char x[128]; /* longer than the last few names */
    lap_error err;
    lap_tree tree;
    snprintf(x, sizeof x, "%s/names/x", scratch);
    assert_int_equal(mkdir(at("names"), 0700), 0);
    assert_int_equal(lap_tree_open(at("names"), &tree, &err), LAP_OK);
    for (int i = 0; i < 2; i++) {
        fails.renameat2 = missing[i];
        fails.renameat = EIO; /* not needed */
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_OK);
        assert_holds(x, "ours");
        assert_int_equal(unlink(x), 0);

        fails.renameat2 = missing[i];
        fails.linkat = EEXIST; /* a network lost the reply */
        fails.is_reply_lost = true;
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_OK);
        assert_holds(x, "ours");

        put(x, "theirs");
        fails.renameat2 = missing[i];
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_EXISTS);
        assert_holds(x, "theirs");
        for (int looks = 0; looks < 2; looks++) { /* of the two that tell whether the reply was lost */
            fails.renameat2 = missing[i];
            fails.fstatat = EACCES;
            fails.looks = looks;
            assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_EXISTS);
            assert_holds(x, "theirs");
        }
        fails.renameat2 = missing[i];
        fails.vanishes = x;   /* what stood there may be followed by another file */
        fails.renameat = EIO; /* never called */
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_EXISTS);
        put(x, "theirs");

        fails.renameat2 = missing[i];
        fails.linkat = no_links[i];
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_EXISTS);
        assert_says(err, "appeared, or was changed, during the run");
        assert_holds(x, "theirs");
        fails.renameat2 = missing[i];
        fails.linkat = no_links[i];
        fails.fstatat = EACCES; /* whether the name is free is not known */
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_WRITE);
        assert_says(err, strerror(EACCES));
        assert_holds(x, "theirs");

        assert_int_equal(unlink(x), 0);
        fails.renameat2 = missing[i];
        fails.linkat = no_links[i];
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_OK);
        assert_holds(x, "ours");
        assert_int_equal(unlink(x), 0);
        fails.renameat2 = missing[i];
        fails.linkat = no_links[i];
        fails.renameat = EIO;
        assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_WRITE);
        assert_says(err, strerror(EIO));
    }
    fails.renameat2 = EIO; /* the call exists: its reason counts */
    assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_WRITE);
    assert_says(err, strerror(EIO));
    assert_int_equal(access(x, F_OK), -1);
    fails.renameat2 = ENOSPC;
    assert_int_equal(publish_over(&tree, LAP_OVER_NOTHING, &err), LAP_E_DISK_FULL);
    assert_int_equal(access(x, F_OK), -1);
    lap_tree_close(&tree);
}

/* Replacing: only what was seen, and a name that cannot be looked at is left alone. */
static void names_that_are_taken(void **unused)
{
    (void)unused;
    char x[128]; /* longer than the last few names */
    lap_error err;
    lap_tree tree;
    snprintf(x, sizeof x, "%s/names/x", scratch);
    assert_int_equal(lap_tree_open(at("names"), &tree, &err), LAP_OK);
    static const lap_over both[] = {LAP_OVER_SEEN, LAP_OVER_ANY};
    for (size_t i = 0; i < 2; i++) {
        const lap_over over = both[i];
        put(x, "theirs");
        fails.fstatat = EACCES;
        assert_int_equal(publish_over(&tree, over, &err), LAP_E_WRITE);
        assert_says(err, strerror(EACCES));
        fails.renameat = EIO;
        assert_int_equal(publish_over(&tree, over, &err), LAP_E_WRITE);
        assert_says(err, strerror(EIO));
        assert_holds(x, "theirs");
        assert_int_equal(publish_over(&tree, over, &err), LAP_OK);
        assert_holds(x, "ours");

        fails.vanishes = x; /* a new name; if nothing may be replaced unseen, then exclusively */
        *(over == LAP_OVER_SEEN ? &fails.renameat2 : &fails.renameat) = EIO;
        assert_int_equal(publish_over(&tree, over, &err), LAP_E_WRITE);
        assert_says(err, strerror(EIO));
        put(x, "theirs");
        fails.vanishes = x;
        *(over == LAP_OVER_SEEN ? &fails.renameat : &fails.renameat2) = EIO;
        assert_int_equal(publish_over(&tree, over, &err), LAP_OK);
        assert_holds(x, "ours");

        assert_int_equal(unlink(x), 0);
        assert_int_equal(mkfifo(x, 0600), 0);
        assert_int_equal(publish_over(&tree, over, &err), LAP_E_EXISTS);
        assert_string_equal(err.message, over == LAP_OVER_ANY ? "is not a regular file; remove it first"
                                                              : "appeared, or was changed, during the run");
        assert_int_equal(unlink(x), 0);
    }
    lap_tree_close(&tree);
}

/* ---- what is given back ----------------------------------------------------------------------------- */

typedef enum free_number { NO_ZERO, ZERO, ZERO_IN_TREE } free_number;

/* Each way in and out of a target, good and bad. Number 0 is a descriptor like others: the tree may get it,
 * or what is opened below it. */
static void use_targets(int times, free_number number)
{
    lap_error err;
    lap_tree tree;
    lap_target target;
    int folder;
    for (int i = 0; i < times; i++) {
        if (number == ZERO_IN_TREE)
            assert_int_equal(open("/dev/null", O_RDONLY), 0);
        assert_int_equal(lap_tree_open(at("used"), &tree, &err), LAP_OK);
        if (number == ZERO_IN_TREE)
            close(0);
        assert_int_equal(lap_tree_enter(&tree, "a/b/x", true, &folder, &err), LAP_OK);
        lap_tree_leave(&tree, folder);
        errno = ENOENT; /* of an earlier call */
        assert_int_equal(lap_tree_enter(&tree, "a/x", true, &folder, &err), LAP_OK);
        lap_tree_leave(&tree, folder);
        assert_int_equal(lap_tree_enter(&tree, "a/b/none/x", false, &folder, &err), LAP_E_MISSING);
        assert_int_equal(lap_tree_enter(&tree, "a/../x", false, &folder, &err), LAP_E_INTERNAL);
        assert_int_equal(lap_tree_enter(&tree, "x", false, &folder, &err), LAP_OK);
        lap_tree_leave(&tree, folder); /* the tree's own, which stays open */
        assert_int_not_equal(fcntl(tree.fd, F_GETFD), -1);
        assert_true(lap_target_below(&tree, "a/x", &target));
        assert_int_equal(lap_target_enter(&target, &folder, &err), LAP_OK);
        lap_target_leave(&target, folder);
        lap_target_free(&target);
        assert_null(target.path);
        lap_tree_close(&tree);
        assert_true(lap_target_at(at("used/x"), &target));
        assert_int_equal(lap_target_enter(&target, &folder, &err), LAP_OK);
        assert_int_equal(folder, target.folder);
        lap_target_leave(&target, folder); /* the target's own, too */
        assert_int_not_equal(fcntl(folder, F_GETFD), -1);
        lap_target_free(&target);
        assert_false(lap_target_at(at("no/x"), &target));
    }
}

static void targets_are_given_back(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir(at("used"), 0700), 0);
    for (free_number number = NO_ZERO; number <= ZERO_IN_TREE; number++) {
        int status;
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            if (number != NO_ZERO)
                close(0);
            const int files = open_files();
            use_targets(4, number);
            const size_t bytes = mallinfo2().uordblks;
            use_targets(300, number);
            _exit(open_files() == files && mallinfo2().uordblks < bytes + (size_t)300 * 8 ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
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
        cmocka_unit_test(names_are_spelt_as_they_are_listed),
        cmocka_unit_test(names_that_cannot_be_listed),
        cmocka_unit_test(letters_of_both_cases),
        cmocka_unit_test(names_of_the_greatest_length),
        cmocka_unit_test(targets_without_a_folder),
        cmocka_unit_test(folders_that_cannot_be_made),
        cmocka_unit_test(what_is_made_meanwhile_is_entered),
        cmocka_unit_test(steps_below_a_tree),
        cmocka_unit_test(each_fact_of_a_file_counts),
        cmocka_unit_test(names_without_an_exclusive_rename),
        cmocka_unit_test(names_that_are_taken),
        cmocka_unit_test(targets_are_given_back),
        cmocka_unit_test(the_content_has_a_number),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
