/* Hashing a file: the hash covers the intended file from beginning to end, or there is none. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "io/target.h"

enum { PIECE = 256 * 1024, MOST = 3 * PIECE + 7 };

static struct {
    const char *call; /* fails with errno `why` after `after` successful calls; NULL: none */
    int why, after;
    int interrupts;            /* number of reads that are interrupted first */
    size_t most;               /* bytes that one read returns; 0: all that it asks for */
    void (*changes)(void);     /* called by the first read */
    struct stat *open, *named; /* what fstat and fstatat report; NULL: the truth */
    int flags, opens, reads, closes, checks;
    size_t asked; /* of one read */
    int states;   /* not yet freed */
    void *lent;   /* by malloc, not yet freed */
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...)
{
    sys.flags = flags;
    const int fd = strikes("openat") ? -1 : __real_openat(folder, name, flags);
    sys.opens += fd >= 0;
    return fd;
}

/* What openat is called if the C library checks its arguments. */
int __wrap___openat_2(int folder, const char *name, int flags);
int __wrap___openat_2(int folder, const char *name, int flags)
{
    return __wrap_openat(folder, name, flags);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    sys.closes++;
    const int result = __real_close(fd);
    errno = EBADF;
    return result;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    sys.checks++;
    const int result = __real_fstat(fd, st);
    if (sys.open)
        *st = *sys.open;
    return strikes("fstat") ? -1 : result;
}

int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    const int result = __real_fstatat(folder, name, st, flags);
    if (sys.named)
        *st = *sys.named;
    return strikes("fstatat") ? -1 : result;
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    sys.asked = size;
    if (sys.interrupts > 0) {
        sys.interrupts--;
        errno = EINTR;
        return -1;
    }
    if (sys.reads++ == 0 && sys.changes)
        sys.changes();
    return strikes("read") ? -1 : __real_read(fd, bytes, sys.most && sys.most < size ? sys.most : size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return sys.lent = strikes("malloc") ? NULL : __real_malloc(size);
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (memory == sys.lent)
        sys.lent = NULL;
    __real_free(memory);
}

XXH3_state_t *__real_XXH3_createState(void);
XXH3_state_t *__wrap_XXH3_createState(void);
XXH3_state_t *__wrap_XXH3_createState(void)
{
    if (strikes("createState"))
        return NULL;
    sys.states++;
    return __real_XXH3_createState();
}

XXH_errorcode __real_XXH3_freeState(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_freeState(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_freeState(XXH3_state_t *state)
{
    sys.states -= state != NULL;
    const XXH_errorcode result = __real_XXH3_freeState(state);
    errno = EBADF;
    return result;
}

XXH_errorcode __real_XXH3_64bits_reset(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_64bits_reset(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_64bits_reset(XXH3_state_t *state)
{
    return strikes("reset") ? XXH_ERROR : __real_XXH3_64bits_reset(state);
}

/* ---- files ---------------------------------------------------------------------------------------- */

static uint8_t content[MOST];
static int folder;

static struct stat write_file(size_t size)
{
    struct stat st;
    const int fd = open(at("file"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, size), size);
    assert_int_equal(__real_fstat(fd, &st), 0);
    assert_int_equal(__real_close(fd), 0);
    memset(&sys, 0, sizeof sys);
    return st;
}

/* Hashes the file by its name, or by its path. */
static lap_code hash_file(
    bool by_path, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    *err = (lap_error){0};
    *hash = 0;
    const lap_code code = by_path ? lap_content_hash_path(at(name), there, hash, err)
                                  : lap_content_hash(folder, name, there, hash, err);
    const int why = errno;
    assert_int_equal(sys.closes, sys.opens);
    assert_int_equal(sys.states, 0);
    assert_null(sys.lent);
    assert_int_equal(err->code, code);
    assert_string_equal(err->subject, "");
    errno = why;
    return code;
}

static void the_whole_content_is_hashed(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, 1000, PIECE - 1, PIECE, PIECE + 1, MOST};
    enum { PLAIN = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int n = 0; n < 6; n++) {
            const struct stat there = write_file(sizes[i]);
            uint64_t hash;
            lap_error err;
            sys.most = n / 2 == 1 ? 999 : 0;
            sys.interrupts = n / 2 == 2 ? 3 : 0;
            assert_int_equal(hash_file(n % 2, "file", &there, &hash, &err), LAP_OK);
            assert_true(hash == XXH3_64bits(content, sizes[i]));
            assert_int_equal(sys.asked, PIECE);
            assert_int_equal(sys.flags, n % 2 ? PLAIN : PLAIN | O_NOFOLLOW);
            assert_int_equal(sys.checks, 2); /* before and after */
        }
}

/* If standard input is closed, the file gets descriptor 0. */
static void a_file_may_be_descriptor_0(void **unused)
{
    (void)unused;
    const struct stat there = write_file(1000);
    const int input = dup(STDIN_FILENO);
    uint64_t hash;
    lap_error err;
    __real_close(STDIN_FILENO);
    const lap_code code = hash_file(false, "file", &there, &hash, &err);
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        __real_close(input);
    }
    assert_int_equal(code, LAP_OK);
    assert_true(hash == XXH3_64bits(content, 1000));
}

static void a_link_is_followed_only_by_a_path(void **unused)
{
    (void)unused;
    const struct stat there = write_file(1000);
    uint64_t hash;
    lap_error err;
    assert_int_equal(symlink("file", at("link")), 0);
    assert_int_equal(hash_file(true, "link", &there, &hash, &err), LAP_OK);
    assert_true(hash == XXH3_64bits(content, 1000));
    assert_int_equal(hash_file(false, "link", &there, &hash, &err), LAP_E_CHANGED);
    assert_string_equal(err.message, "another file has this name now");
    assert_int_equal(unlink(at("link")), 0);
}

static const char another[] = "another file has this name now", changed[] = "changed while it was examined";

static void a_file_that_cannot_be_read_has_no_hash(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why, after;
        lap_code code;
        const char *message;
        int reads;
    } cases[] = {
        {"openat", ENOENT, 0, LAP_E_CHANGED, another, 0},
        {"openat", ELOOP, 0, LAP_E_CHANGED, another, 0},
        {"openat", EACCES, 0, LAP_E_UNREADABLE, "cannot be read: Permission denied", 0},
        {"fstat", EIO, 0, LAP_E_UNREADABLE, "cannot be read: Input/output error", 0},
        {"fstat", EIO, 1, LAP_E_UNREADABLE, "cannot be read: Input/output error", 2},
        {"fstatat", EACCES, 0, LAP_E_UNREADABLE, "cannot be read: Permission denied", 0},
        {"fstatat", EACCES, 1, LAP_E_UNREADABLE, "cannot be read: Permission denied", 2},
        {"fstatat", ENOENT, 0, LAP_E_CHANGED, changed, 0},
        {"fstatat", ENOENT, 1, LAP_E_CHANGED, changed, 2},
        {"read", EIO, 0, LAP_E_UNREADABLE, "cannot be read: Input/output error", 1},
        {"read", EAGAIN, 0, LAP_E_UNREADABLE, "cannot be read: Resource temporarily unavailable", 1},
        {"read", EIO, 1, LAP_E_UNREADABLE, "cannot be read: Input/output error", 2},
        {"malloc", ENOMEM, 0, LAP_E_MEMORY, "out of memory", 0},
        {"createState", ENOMEM, 0, LAP_E_MEMORY, "out of memory", 0},
        {"reset", ENOMEM, 0, LAP_E_MEMORY, "out of memory", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_path = 0; by_path < 2; by_path++) {
            const struct stat there = write_file(1000);
            uint64_t hash;
            lap_error err;
            sys.call = cases[i].call;
            sys.why = cases[i].why;
            sys.after = cases[i].after;
            assert_int_equal(hash_file(by_path, "file", &there, &hash, &err), cases[i].code);
            if (cases[i].code == LAP_E_UNREADABLE)
                assert_int_equal(errno, cases[i].why);
            assert_string_equal(err.message, cases[i].message);
            assert_int_equal(sys.reads, cases[i].reads);
        }
}

/* The opened file, or the file that now has the name, is not the intended one. */
static void another_file_has_no_hash(void **unused)
{
    (void)unused;
    for (int n = 0; n < 12; n++) {
        const struct stat there = write_file(1000);
        struct stat other = there;
        uint64_t hash;
        lap_error err;
        const int how = n / 2;
        other.st_ino += how == 0;
        other.st_size += how == 1;
        other.st_mtim.tv_sec += how == 2;
        other.st_ctim.tv_sec += how == 3;
        other.st_dev += how == 4;
        if (how == 5) /* only the kind differs, which is checked only for the opened file */
            other.st_mode = (other.st_mode & ~(mode_t)S_IFMT) | S_IFIFO;
        *(n % 2 ? &sys.open : &sys.named) = &other;
        const bool is_same = how == 5 && n % 2 == 0;
        assert_int_equal(hash_file(false, "file", &there, &hash, &err), is_same ? LAP_OK : LAP_E_CHANGED);
        assert_string_equal(err.message, is_same ? "" : changed);
        assert_int_equal(sys.reads > 0, is_same);
    }
}

static void append(void)
{
    FILE *file = fopen(at("file"), "a");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
}

static void replace(void)
{
    put(at("new"), "new");
    assert_int_equal(rename(at("new"), at("file")), 0);
}

static void take_away(void)
{
    assert_int_equal(unlink(at("file")), 0);
}

static void a_file_that_changes_meanwhile_has_no_hash(void **unused)
{
    (void)unused;
    static void (*const ways[])(void) = {append, replace, take_away};
    for (int n = 0; n < 6; n++) {
        const struct stat there = write_file(1000);
        uint64_t hash;
        lap_error err;
        sys.changes = ways[n / 2];
        assert_int_equal(hash_file(n % 2, "file", &there, &hash, &err), LAP_E_CHANGED);
        assert_string_equal(err.message, changed);
        assert_true(sys.reads > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_content_is_hashed),
        cmocka_unit_test(a_file_may_be_descriptor_0),
        cmocka_unit_test(a_link_is_followed_only_by_a_path),
        cmocka_unit_test(a_file_that_cannot_be_read_has_no_hash),
        cmocka_unit_test(another_file_has_no_hash),
        cmocka_unit_test(a_file_that_changes_meanwhile_has_no_hash),
    };
    for (size_t i = 0; i < MOST; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    if (!make_scratch())
        return 99;
    folder = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
