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

#include "base/grow.h"
#include "base/status.h"
#include "batch/list.h"
#include "io/source.h"
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

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
    errno = ENOENT; /* of an earlier call */
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
    put(at("in a folder"), "x");
    const lap_batch_options small = {.files_from = scratch}; /* even if it is larger than what may be held */
    assert_int_equal(lap_list_open(&small, 2, NULL, &list, &err), LAP_E_UNREADABLE);
    assert_null(list);
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

/* ---- calls that fail ------------------------------------------------------------------------------------
 */

static struct {
    const char *call;
    int after, why, times;
} sys;

static bool fails(const char *call)
{
    if (!strike(sys.call, call, &sys.after, sys.why))
        return false;
    if (sys.times > 0 && --sys.times == 0)
        sys.call = NULL;
    return true;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return fails("open") ? -1 : __real_open(path, flags);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return fails("fstat") ? -1 : __real_fstat(fd, st);
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return fails("read") ? -1 : __real_read(fd, bytes, size);
}

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t from)
{
    return fails("pread") ? -1 : __real_pread(fd, bytes, size, from);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return fails("malloc") ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return fails("calloc") ? NULL : __real_calloc(count, size);
}

void *__real_lap_grow(void *array, size_t *capacity, size_t need, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t need, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    return fails("grow") ? NULL : __real_lap_grow(array, capacity, need, size);
}

lap_code __real_lap_await_readable(int fd, const lap_control *control, lap_error *err);
lap_code __wrap_lap_await_readable(int fd, const lap_control *control, lap_error *err);
lap_code __wrap_lap_await_readable(int fd, const lap_control *control, lap_error *err)
{
    if (strike(sys.call, "await", &sys.after, EIO))
        return lap_fail(err, (lap_code)sys.why, "struck");
    return __real_lap_await_readable(fd, control, err);
}

static void plan(const char *call, int after, int why, int times)
{
    sys.call = call, sys.after = after, sys.why = why, sys.times = times;
}

static void assert_says(const lap_error *err, lap_code code, const char *subject, const char *message)
{
    assert_int_equal(err->code, code);
    assert_string_equal(err->subject, subject);
    assert_string_equal(err->message, message);
    assert_int_equal(err->remedy, 0);
}

/* What opening says; nothing is left open or allocated. */
static void opening_fails(void **unused)
{
    enum { HELD = 0, PIECES = 2 }; /* limits */
    static const struct {
        const char *call;
        int why;
        uint64_t limit;
        lap_code code;
        bool is_about; /* the list */
        const char *message;
    } cases[] = {
        {"calloc", 0, HELD, LAP_E_MEMORY, false, "out of memory"},
        {"open", ENOENT, HELD, LAP_E_MISSING, true, "no such file"},
        {"open", ENOTDIR, HELD, LAP_E_MISSING, true, "no such file"},
        {"open", EACCES, HELD, LAP_E_UNREADABLE, true, "this list cannot be read: Permission denied"},
        {"fstat", EIO, HELD, LAP_E_UNREADABLE, true, "this list cannot be read: Input/output error"},
        {"malloc", 0, PIECES, LAP_E_MEMORY, false, "out of memory"},
        {"grow", 0, HELD, LAP_E_MEMORY, true, "out of memory for this list"},
        {"await", LAP_E_UNREADABLE, HELD, LAP_E_UNREADABLE, true,
            "this list cannot be read: Input/output error"},
        {"await", LAP_E_TIMEOUT, HELD, LAP_E_TIMEOUT, false, "struck"},
        {"read", EIO, HELD, LAP_E_UNREADABLE, true, "this list cannot be read: Input/output error"},
    };
    char path[512];
    (void)unused;
    snprintf(path, sizeof path, "%s", at("fails"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_batch_options options = {.files_from = path};
        const int before = open_files();
        lap_list *list = (lap_list *)path;
        lap_error err = {0};
        if (cases[i].code != LAP_E_MISSING)
            put(path, "name\n");
        else
            assert_true(unlink(path) == 0 || errno == ENOENT);
        plan(cases[i].call, 0, cases[i].why, 1);
        const lap_code code = lap_list_open(&options, cases[i].limit, NULL, &list, &err);
        plan(NULL, 0, 0, 0);
        assert_int_equal(code, cases[i].code);
        assert_null(list);
        assert_says(&err, code, cases[i].is_about ? path : "", cases[i].message);
        assert_int_equal(open_files(), before);
    }
}

/* Signals, and a pipe that was readable and no longer is, end no list. */
static void interrupted_reads_are_repeated(void **unused)
{
    static const int whys[] = {EINTR, EAGAIN};
    const char *name;
    lap_error err;
    (void)unused;
    put(at("again"), "one\ntwo\n");
    for (size_t i = 0; i < 2; i++)
        for (int after = 0; after < 2; after++) {
            plan("read", after, whys[i], 3);
            lap_list *list = opened(at("again"), 0);
            assert_null(sys.call);
            reads_all(list, at("again"));
            assert_true(lap_list_leaves(list, 100) == 92);
            lap_list_close(list);
        }
    for (int after = 0; after < 2; after++) {
        lap_list *list = opened(at("again"), 2);
        plan("pread", after, EINTR, 3);
        reads_all(list, at("again"));
        assert_null(sys.call);
        plan("pread", after, EIO, 1);
        assert_int_equal(lap_list_begin(list, &err), LAP_OK);
        for (int i = 0; i < 2 * after; i++)
            assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
        name = "before";
        assert_int_equal(lap_list_next(list, &name, &err), LAP_E_UNREADABLE);
        assert_null(name);
        assert_says(&err, LAP_E_UNREADABLE, at("again"), "this list cannot be read: Input/output error");
        lap_list_close(list);
    }
}

/* A file is examined at its beginning and at its end; what is held is not. */
static void a_file_is_examined_again(void **unused)
{
    const char *name;
    lap_error err;
    (void)unused;
    put(at("looked"), "one\n");
    for (int is_held = 0; is_held < 2; is_held++) {
        lap_list *list = opened(at("looked"), is_held ? 0 : 2);
        for (int after = 0; after < 2; after++) {
            plan("fstat", after, EIO, 1);
            lap_code code = lap_list_begin(list, &err);
            assert_int_equal(code, is_held || after ? LAP_OK : LAP_E_UNREADABLE);
            for (name = ""; code == LAP_OK && name;)
                code = lap_list_next(list, &name, &err);
            assert_int_equal(code, is_held ? LAP_OK : LAP_E_UNREADABLE);
            if (!is_held)
                assert_says(
                    &err, LAP_E_UNREADABLE, at("looked"), "this list cannot be read: Input/output error");
        }
        plan(NULL, 0, 0, 0);
        FILE *file = fopen(at("looked"), "a");
        assert_non_null(file);
        fputs("two\n", file);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(lap_list_begin(list, &err), is_held ? LAP_OK : LAP_E_CHANGED);
        if (!is_held)
            assert_says(&err, LAP_E_CHANGED, at("looked"), "this list changed during the run");
        lap_list_close(list);
    }
}

/* ---- names ----------------------------------------------------------------------------------------------
 */

static const char utf16[] = "this list is UTF-16; convert it to UTF-8, for example with iconv";
static const char zeros[] = "the names of this list are separated by zero bytes, not line ends";

/* Which names a list has, ended by line ends or by zero bytes: "a|b", and then what is said at the end. */
static void names_of_lists(void **unused)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool nul;
        const char *names, *message;
    } cases[] = {
#define BYTES(text) text, sizeof text - 1
        {BYTES(""), false, "", NULL},
        {BYTES("\n"), false, "", NULL},
        {BYTES("\n\n\n"), false, "", NULL},
        {BYTES("a"), false, "a|", NULL},
        {BYTES("a\n"), false, "a|", NULL},
        {BYTES("\na\n\nb c\n"), false, "a|b c|", NULL},
        {BYTES("a\r\nb"), false, "a\r|b|", NULL},
        {BYTES("a\0"), false, "", zeros},
        {BYTES("a\0b"), false, "", zeros},
        {BYTES("\0"), false, "", zeros},
        {BYTES("\0a"), false, "", zeros},
        {BYTES("a\nb\0c\n"), false, "a|", zeros},
        {BYTES("a\nb\n\0"), false, "a|b|", zeros},
        {BYTES("\xff\xfe"), false, "\xff\xfe|", NULL},
        {BYTES("\xff\xfe\n"), false, "\xff\xfe|", NULL},
        {BYTES("\xff\xfe\na"), false, "\xff\xfe|a|", NULL},
        {BYTES("\xff\xfe\x61\0\n\0"), false, "", utf16},
        {BYTES("\xff\xfe\0"), false, "", utf16},
        {BYTES("\xfe\xff\0\x61\0\n"), false, "", utf16},
        {BYTES("\xfe\xff\x61\0"), false, "", utf16},
        {BYTES("\xfe\xff\0"), false, "", utf16},
        {BYTES("\xff\xff\0"), false, "", zeros},
        {BYTES("\xfe\xfe\0"), false, "", zeros},
        {BYTES("\xff\0"), false, "", zeros},
        {BYTES("x\xff\xfe\0"), false, "", zeros},
        {BYTES(""), true, "", NULL},
        {BYTES("\0\0"), true, "", NULL},
        {BYTES("a\0b\nc\0\0d"), true, "a|b\nc|d|", NULL},
        {BYTES("\xff\xfe\0b\0"), true, "\xff\xfe|b|", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_held = 0; is_held < 2; is_held++)
            for (int turn = 0; turn < 2; turn++) {
                const lap_batch_options options = {.files_from = at("names"), .nul_separated = cases[i].nul};
                lap_error err = {0};
                const char *name;
                char all[64] = "";
                lap_list *list;
                lap_code code;
                FILE *file = fopen(at("names"), "w");
                assert_non_null(file);
                fwrite(cases[i].bytes, 1, cases[i].size, file);
                assert_int_equal(fclose(file), 0);
                assert_int_equal(lap_list_open(&options, is_held ? 0 : 1, NULL, &list, &err), LAP_OK);
                assert_true(
                    lap_list_leaves(list, 1000) == 1000 - (is_held || cases[i].size < 2 ? cases[i].size : 0));
                assert_int_equal(lap_list_begin(list, &err), LAP_OK);
                while ((code = lap_list_next(list, &name, &err)) == LAP_OK && name)
                    strcat(strcat(all, name), "|");
                if (strcmp(all, cases[i].names) != 0)
                    fail_msg("list %zu: %s", i, all);
                assert_null(name);
                assert_int_equal(code, cases[i].message ? LAP_E_USAGE : LAP_OK);
                if (cases[i].message) {
                    assert_int_equal(err.code, LAP_E_USAGE);
                    assert_string_equal(err.subject, at("names"));
                    assert_string_equal(err.message, cases[i].message);
                    assert_int_equal(err.remedy, cases[i].message == zeros ? LAP_REMEDY_NUL_SEPARATED : 0);
                }
                lap_list_close(list);
            }
}

/* A name of any length keeps its first PATH_MAX bytes, wherever a piece of the file ends. */
static void long_names(void **unused)
{
    enum { PIECE = 64 << 10 };
    static const size_t lengths[] = {1, PATH_MAX - 1, PATH_MAX, PATH_MAX + 1, PIECE - 2, PIECE - 1, PIECE,
        PIECE + 1, PIECE + PATH_MAX, 2 * PIECE - 1, 2 * PIECE};
    char *text = malloc(2 * PIECE + 16);
    const char *name;
    lap_error err;
    (void)unused;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int is_held = 0; is_held < 2; is_held++) {
            for (size_t j = 0; j < lengths[i]; j++)
                text[j] = (char)('a' + j % 23);
            strcpy(text + lengths[i], "\nlast\n");
            put(at("long"), text);
            lap_list *list = opened(at("long"), is_held ? 0 : 2);
            assert_int_equal(lap_list_begin(list, &err), LAP_OK);
            assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
            const size_t kept = lengths[i] < PATH_MAX ? lengths[i] : PATH_MAX;
            assert_int_equal(strlen(name), kept);
            assert_memory_equal(name, text, kept);
            assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
            assert_string_equal(name, "last");
            assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
            assert_null(name);
            lap_list_close(list);
        }
    free(text);
}

/* ---- how much is held -----------------------------------------------------------------------------------
 */

/* A file is held up to half of the limit, and up to 16 MB. */
static void what_is_held(void **unused)
{
    enum { MB = 1 << 20 };
    static const struct {
        off_t size;
        uint64_t limit;
        bool is_held;
    } cases[] = {{0, 0, true}, {16 * MB, 0, true}, {16 * MB + 1, 0, false}, {16 * MB, 32 * MB, true},
        {16 * MB + 1, 64 * MB, false}, {1, 1, true}, {2, 1, false}, {1, 2, true}, {2, 2, false}, {2, 3, true},
        {3, 3, false}, {500, 1000, true}, {501, 1000, false}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(at("sparse"), "");
        assert_int_equal(truncate(at("sparse"), cases[i].size), 0);
        lap_list *list = opened(at("sparse"), cases[i].limit);
        const uint64_t held = cases[i].is_held ? (uint64_t)cases[i].size : 0;
        if (lap_list_leaves(list, 64 * MB) != 64 * MB - held)
            fail_msg("case %zu", i);
        assert_true(lap_list_leaves(list, held) == (held ? 1 : 0));
        assert_true(lap_list_leaves(list, held + 1) == 1);
        assert_true(lap_list_leaves(list, held + 2) == 2);
        assert_true(held < 2 || lap_list_leaves(list, held - 1) == 1);
        assert_true(lap_list_leaves(list, 0) == 0);
        lap_list_close(list);
    }
}

/* Standard input: a file from where it stands, read again from there, and left open; or a pipe. */
static void standard_input(void **unused)
{
    const lap_batch_options options = {.files_from = "-"}, file = {.files_from = "x"}, none = {0};
    const int kept = dup(STDIN_FILENO);
    const char *name;
    lap_list *list;
    lap_error err;
    int ends[2];
    (void)unused;
    assert_string_equal(lap_list_path(&options), "/dev/stdin");
    assert_string_equal(lap_list_path(&file), "x");
    assert_null(lap_list_path(&none));
    put(at("stdin"), "skipped\none\ntwo\n");
    for (int limit = 0; limit <= 16; limit += 2) { /* held without a limit and from 16 */
        const int fd = open(at("stdin"), O_RDONLY);
        assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
        close(fd);
        assert_int_equal(lseek(STDIN_FILENO, 8, SEEK_SET), 8);
        errno = ENOENT;
        assert_int_equal(lap_list_open(&options, (uint64_t)limit, NULL, &list, &err), LAP_OK);
        assert_true(lap_list_leaves(list, 100) == 100 - (limit == 0 || limit >= 16 ? 8 : 0));
        for (int turn = 0; turn < 2; turn++) {
            assert_int_equal(lap_list_begin(list, &err), LAP_OK);
            for (int i = 0; i < 3; i++) {
                assert_int_equal(lap_list_next(list, &name, &err), LAP_OK);
                if (i < 2)
                    assert_string_equal(name, i ? "two" : "one");
            }
            assert_null(name);
        }
        lap_list_close(list);
        assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    }
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(write(ends[1], "12345678", 8), 8);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(lap_list_open(&options, 14, NULL, &list, &err), LAP_E_LIMIT);
    assert_null(list);
    char size[LAP_SIZE_TEXT], message[300];
    snprintf(message, sizeof message,
        "a list that is not in a file is held in memory, and this one has more than %s",
        lap_size_text(7, size));
    assert_says(&err, LAP_E_LIMIT, "-", message);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
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
        cmocka_unit_test(opening_fails),
        cmocka_unit_test(interrupted_reads_are_repeated),
        cmocka_unit_test(a_file_is_examined_again),
        cmocka_unit_test(names_of_lists),
        cmocka_unit_test(long_names),
        cmocka_unit_test(what_is_held),
        cmocka_unit_test(standard_input),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
