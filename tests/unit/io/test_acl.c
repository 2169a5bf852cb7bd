/* Access control lists, on a file system that the test simulates: what is read, what is set, and that
 * nobody gains rights if a list cannot be kept. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/acl.h"

/* ---- the file system ------------------------------------------------------------------------------ */

enum { LIST = 4 + 8 * 8, FD = 77, FOLDER = 5 };
enum { OWNER = 1, USER = 2, OWNING_GROUP = 4, GROUP = 8, MASK = 16, OTHERS = 32 };

static struct {
    uint8_t list[LIST]; /* of the file */
    size_t size;
    int why[2];     /* errno of asking for the size, and of reading; 0: they succeed */
    size_t shrinks; /* by how much the list is shorter when it is read */
    int path_why;   /* errno of both calls by path */
    char path[5000];
    int asked_by_path, asked_by_fd;
    int open_why, flags, opened;
    bool opens_zero; /* standard input is closed */
    char opened_name[5000];
    int opened_in;
    int set_why[2]; /* errno of the first and the second setting */
    uint8_t set[2][LIST];
    size_t set_size[2];
    int sets, chmods, chmod_why;
    mode_t mode;
    bool no_memory;
    void *lent; /* by malloc, not yet freed */
} sys;

static void reset(void)
{
    memset(&sys, 0, sizeof sys);
    sys.opened = -1;
}

static ssize_t answer(const char *name, void *value, size_t size)
{
    assert_string_equal(name, "system.posix_acl_access");
    const int why = sys.why[value != NULL];
    const size_t has = value ? sys.size - sys.shrinks : sys.size;
    if (why) {
        errno = why;
        return -1;
    }
    if (value) {
        assert_int_equal(size, sys.size);
        memcpy(value, sys.list, has);
    }
    return (ssize_t)has;
}

ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t size);
ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t size)
{
    assert_int_equal(fd, sys.opened >= 0 ? sys.opened : FD);
    sys.asked_by_fd++;
    return answer(name, value, size);
}

ssize_t __wrap_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t __wrap_lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    sys.asked_by_path++;
    snprintf(sys.path, sizeof sys.path, "%s", path);
    errno = sys.path_why;
    return sys.path_why ? -1 : answer(name, value, size);
}

int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    assert_int_equal(fd, FD);
    assert_string_equal(name, "system.posix_acl_access");
    assert_int_equal(flags, 0);
    assert_in_range(size, 1, LIST);
    assert_in_range(sys.sets, 0, 1);
    memcpy(sys.set[sys.sets], value, size);
    sys.set_size[sys.sets] = size;
    errno = sys.set_why[sys.sets++];
    return errno ? -1 : 0;
}

int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode)
{
    assert_int_equal(fd, FD);
    sys.chmods++;
    sys.mode = mode;
    errno = sys.chmod_why;
    return errno ? -1 : 0;
}

int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...)
{
    sys.flags = flags;
    sys.opened_in = folder;
    snprintf(sys.opened_name, sizeof sys.opened_name, "%s", name);
    errno = sys.open_why;
    if (sys.opens_zero)
        close(STDIN_FILENO);
    return sys.open_why ? -1 : (sys.opened = open("/dev/null", O_RDONLY | O_CLOEXEC));
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    if (sys.no_memory) {
        errno = ENOMEM;
        return NULL;
    }
    return sys.lent = __real_malloc(size);
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    if (memory == sys.lent)
        sys.lent = NULL;
    __real_free(memory);
}

/* ---- lists ---------------------------------------------------------------------------------------- */

typedef struct entry {
    unsigned tag, rights;
} entry;

static size_t put_list(uint8_t *list, const entry *entries, size_t count)
{
    memcpy(list, (uint8_t[]){2, 0, 0, 0}, 4);
    for (size_t i = 0; i < count; i++) {
        const bool is_named = entries[i].tag == USER || entries[i].tag == GROUP;
        const uint8_t id = is_named ? (uint8_t)(0x34 + i) : 0xff;
        uint8_t *to = list + 4 + 8 * i;
        memcpy(to, (uint8_t[]){(uint8_t)entries[i].tag, 0, (uint8_t)entries[i].rights, 0, id, id, id, id}, 8);
    }
    return 4 + 8 * count;
}

/* Returns a list. After its end lies an entry that would take all rights away. */
static lap_acl list_of(const uint8_t *list, size_t size)
{
    lap_acl acl = {__real_malloc(LIST), size, false};
    assert_non_null(acl.bytes);
    memset(acl.bytes, 0, LIST);
    memcpy(acl.bytes, list, size);
    acl.bytes[size] = OTHERS;
    return acl;
}

static const entry plain[] = {{OWNER, 7}, {USER, 6}, {OWNING_GROUP, 5}, {MASK, 7}, {OTHERS, 4}};
enum { PLAIN = sizeof plain / sizeof *plain };

/* ---- reading -------------------------------------------------------------------------------------- */

static void assert_none(const lap_acl *acl, bool is_hidden)
{
    assert_null(acl->bytes);
    assert_int_equal(acl->size, 0);
    assert_int_equal(acl->is_hidden, is_hidden);
    assert_null(sys.lent);
}

static void a_list_is_read_whole(void **unused)
{
    (void)unused;
    for (size_t shrinks = 0; shrinks <= 8; shrinks += 8) {
        reset();
        sys.size = put_list(sys.list, plain, PLAIN);
        sys.shrinks = shrinks;
        lap_acl acl = lap_acl_of(FD);
        assert_false(acl.is_hidden);
        assert_int_equal(acl.size, sys.size - shrinks);
        assert_memory_equal(acl.bytes, sys.list, acl.size);
        lap_acl_free(&acl);
        assert_none(&acl, false);
        assert_int_equal(sys.asked_by_fd, 2);
    }
}

/* A list is missing only if the file system says so; after any other failure, it counts as hidden. */
static void a_list_is_missing_or_hidden(void **unused)
{
    (void)unused;
    static const struct {
        int why[2];
        size_t size;
        bool no_memory, is_hidden;
    } cases[] = {
        {{0}, 0, false, false},
        {{ENODATA}, 44, false, false},
        {{ENOTSUP}, 44, false, false},
        {{ENOSYS}, 44, false, false},
        {{EPERM}, 44, false, true},
        {{EACCES}, 44, false, true},
        {{EIO}, 44, false, true},
        {{0, EIO}, 44, false, true},
        {{0, ENODATA}, 44, false, true}, /* the first call found it */
        {{0, ERANGE}, 44, false, true},
        {{0}, 44, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reset();
        memcpy(sys.why, cases[i].why, sizeof sys.why);
        sys.size = cases[i].size;
        sys.no_memory = cases[i].no_memory;
        const lap_acl acl = lap_acl_of(FD);
        sys.no_memory = false;
        assert_none(&acl, cases[i].is_hidden);
        assert_int_equal(sys.asked_by_fd, cases[i].why[1] ? 2 : 1);
    }
    reset();
    sys.size = sys.shrinks = 44; /* emptied between the two calls */
    const lap_acl acl = lap_acl_of(FD);
    assert_none(&acl, false);
}

static void a_name_is_read_by_its_path(void **unused)
{
    (void)unused;
    reset();
    sys.size = put_list(sys.list, plain, PLAIN);
    lap_acl acl = lap_acl_at(FOLDER, "a name.jpg");
    assert_string_equal(sys.path, "/proc/self/fd/5/a name.jpg");
    assert_int_equal(acl.size, sys.size);
    assert_memory_equal(acl.bytes, sys.list, acl.size);
    assert_false(acl.is_hidden);
    assert_true(sys.asked_by_fd == 0 && sys.flags == 0);
    lap_acl_free(&acl);

    reset();
    sys.why[0] = ENODATA;
    acl = lap_acl_at(FOLDER, "a");
    assert_none(&acl, false);
    assert_true(sys.asked_by_fd == 0 && sys.flags == 0);
}

/* If there is no /proc, or if the path in it is too long, the file is opened, read by its descriptor and
 * closed. */
static void a_name_is_read_by_a_descriptor_otherwise(void **unused)
{
    (void)unused;
    static char name[4200];
    enum { BEFORE = sizeof "/proc/self/fd/5/" - 1 };
    for (int length = 4095; length <= 4097; length++) { /* of the path; 4095 bytes and the final 0 fit */
        reset();
        memset(name, 'n', sizeof name);
        name[length - BEFORE] = 0;
        sys.size = put_list(sys.list, plain, PLAIN);
        lap_acl acl = lap_acl_at(FOLDER, name);
        const bool fits = length == 4095;
        assert_int_equal(sys.asked_by_path, fits ? 2 : 0);
        assert_int_equal(sys.asked_by_fd, fits ? 0 : 2);
        assert_int_equal(acl.size, sys.size);
        lap_acl_free(&acl);
    }
    const int input = dup(STDIN_FILENO);
    static const struct {
        int path_why, open_why, why;
        bool is_hidden, has_list;
    } cases[] = {
        {ENOENT, 0, 0, false, true}, /* opened as descriptor 0 */
        {ENOENT, 0, 0, false, true},
        {EACCES, 0, 0, false, true},
        {EPERM, 0, ENODATA, false, false},
        {EPERM, 0, EIO, true, false},
        {EPERM, ENOENT, 0, false, false}, /* there is no file */
        {EPERM, EACCES, 0, true, false},
        {EPERM, ELOOP, 0, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reset();
        sys.size = put_list(sys.list, plain, PLAIN);
        sys.path_why = cases[i].path_why;
        sys.open_why = cases[i].open_why;
        sys.why[0] = cases[i].why;
        sys.opens_zero = i == 0;
        lap_acl acl = lap_acl_at(FOLDER, "a");
        assert_int_equal(sys.opened_in, FOLDER);
        assert_string_equal(sys.opened_name, "a");
        assert_int_equal(sys.flags, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        assert_int_equal(acl.size, cases[i].has_list ? sys.size : 0);
        assert_int_equal(acl.is_hidden, cases[i].is_hidden);
        if (sys.opened >= 0)
            assert_int_equal(fcntl(sys.opened, F_GETFD), -1);
        if (sys.opens_zero) {
            assert_int_equal(sys.opened, STDIN_FILENO);
            assert_int_equal(dup2(input, STDIN_FILENO), input < 0 ? -1 : STDIN_FILENO);
        }
        lap_acl_free(&acl);
        assert_null(sys.lent);
    }
    close(input);
}

/* ---- setting -------------------------------------------------------------------------------------- */

static int give(lap_acl *acl, mode_t mode, bool keeps_group, bool *is_lost)
{
    *is_lost = !acl->is_hidden;
    const int why = lap_acl_give(FD, acl, mode, keeps_group, is_lost);
    assert_null(sys.lent);
    return why;
}

/* Setting the list sets the mode, too. */
static void a_list_is_set_as_it_was(void **unused)
{
    (void)unused;
    reset();
    uint8_t list[LIST] = {0};
    lap_acl acl = list_of(list, put_list(list, plain, PLAIN));
    bool is_lost;
    assert_int_equal(give(&acl, 0640, true, &is_lost), 0);
    assert_false(is_lost);
    assert_true(sys.sets == 1 && sys.chmods == 0);
    assert_int_equal(sys.set_size[0], acl.size);
    assert_memory_equal(sys.set[0], list, acl.size);
    lap_acl_free(&acl);
}

/* If the file gets another group, the owning group and others get only the rights that both had. */
static void another_group_gets_what_others_had_too(void **unused)
{
    (void)unused;
    for (unsigned n = 0; n < 8 * 8 * 9; n++) {
        const unsigned group = n % 8, others = n / 8 % 8, mask = n / 64; /* 8: no mask */
        const unsigned both = group & others & (mask < 8 ? mask : 7);
        const entry entries[] = {{OTHERS, others}, {USER, 1}, {OWNING_GROUP, group}, {OWNER, 2}, {GROUP, 6},
            {mask < 8 ? MASK : GROUP, mask < 8 ? mask : 3}};
        const entry wanted[] = {{OTHERS, both}, {USER, 1}, {OWNING_GROUP, both}, {OWNER, 2}, {GROUP, 6},
            {mask < 8 ? MASK : GROUP, mask < 8 ? mask : 3}};
        uint8_t list[LIST] = {0}, limited[LIST] = {0};
        bool is_lost;
        reset();
        lap_acl acl = list_of(list, put_list(list, entries, 6));
        const size_t size = put_list(limited, wanted, 6);
        assert_int_equal(give(&acl, 0777, false, &is_lost), 0);
        assert_false(is_lost);
        assert_int_equal(sys.set_size[0], size);
        assert_memory_equal(sys.set[0], limited, size);
        lap_acl_free(&acl);
    }
}

static unsigned limited(unsigned mode)
{
    const unsigned both = (mode >> 3 & 7) & (mode & 7);
    return (mode & 0700) + both * 9;
}

/* If the list cannot be set, the file gets a mode. A named user then counts as group or others, so these
 * get no right that a named entry lacks. */
static void a_mode_gives_no_more_than_the_list(void **unused)
{
    (void)unused;
    for (unsigned n = 0; n < 8 * 8 * 9 * 9; n++) {
        const unsigned group = n % 8, others = n / 8 % 8, named = n / 64 % 9, mask = n / 576 % 9;
        const unsigned owner = n * 5 % 8, most = mask < 8 ? mask : 7;
        const bool has_mask = mask < 8, has_named = named < 8;
        entry entries[6] = {{OTHERS, others | 8}, {OWNER, owner | 8}, {OWNING_GROUP, group | 0xf0}};
        size_t count = 3;
        if (has_named)
            entries[count++] = (entry){n % 2 ? USER : GROUP, named};
        if (has_mask)
            entries[count++] = (entry){MASK, mask};
        if (has_named && n % 3 == 0)
            entries[count++] = (entry){n % 2 ? GROUP : USER, 7};
        const unsigned every = most & (has_named ? named : 7);
        const unsigned mode = owner * 64 + (group & every) * 8 + (others & every);
        for (int keeps_group = 0; keeps_group < 2; keeps_group++) {
            uint8_t list[LIST] = {0};
            bool is_lost;
            reset();
            sys.why[0] = ENODATA;
            sys.set_why[0] = ENOTSUP;
            lap_acl acl = list_of(list, put_list(list, entries, count));
            assert_int_equal(give(&acl, 0777, keeps_group, &is_lost), 0);
            assert_true(is_lost);
            assert_true(sys.sets == 1 && sys.chmods == 1);
            if (keeps_group)
                assert_int_equal(sys.mode, mode);
            else /* the list was limited first */
                assert_int_equal(sys.mode, owner * 64 + (group & others & every) * 9);
            lap_acl_free(&acl);
        }
    }
}

static void an_unknown_list_gives_no_rights(void **unused)
{
    (void)unused;
    static const struct {
        size_t size;
        int at; /* the byte that differs */
        uint8_t byte;
        mode_t mode;
    } cases[] = {
        {44, 0, 2, 0754}, {44, 0, 1, 0}, {44, 0, 3, 0}, {44, 1, 1, 0}, {44, 2, 1, 0}, {44, 3, 1, 0},
        {43, 0, 2, 0}, {40, 0, 2, 0}, {45, 0, 2, 0}, {4, 0, 2, 0}, {3, 0, 2, 0},
        {12, 0, 2, 0700}, /* only the owner */
        {44, 5, 1, 0054}, /* a tag of two bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t list[LIST] = {0};
        bool is_lost;
        reset();
        sys.why[0] = ENODATA;
        sys.set_why[0] = EINVAL;
        put_list(list, (entry[]){{OWNER, 7}, {USER, 7}, {OWNING_GROUP, 5}, {MASK, 7}, {OTHERS, 4}}, 5);
        list[cases[i].at] = cases[i].byte;
        lap_acl acl = list_of(list, cases[i].size);
        assert_int_equal(give(&acl, 0777, true, &is_lost), 0);
        assert_true(is_lost);
        assert_int_equal(sys.mode, cases[i].mode);
        lap_acl_free(&acl);
        if (cases[i].mode)
            continue;
        acl = list_of(list, cases[i].size); /* a list of unknown form is not limited, either */
        reset();
        assert_int_equal(give(&acl, 0777, false, &is_lost), 0);
        assert_int_equal(sys.set_size[0], cases[i].size);
        assert_memory_equal(sys.set[0], list, cases[i].size);
        lap_acl_free(&acl);
    }
}

/* Without a list, the file gets the mode. If it also gets another group, group and others get only the
 * rights that both had. */
static void a_mode_is_set(void **unused)
{
    (void)unused;
    for (unsigned mode = 0; mode < 01000; mode++)
        for (int n = 0; n < 4; n++) {
            const bool is_hidden = n / 2, keeps_group = n % 2;
            const unsigned given = is_hidden ? mode & 0700 : mode;
            lap_acl acl = {.is_hidden = is_hidden};
            bool is_lost;
            reset();
            sys.why[0] = ENODATA;
            assert_int_equal(give(&acl, mode, keeps_group, &is_lost), 0);
            assert_int_equal(is_lost, is_hidden);
            assert_true(sys.sets == 0 && sys.chmods == 1);
            assert_int_equal(sys.mode, keeps_group ? given : limited(given));
        }
    reset();
    lap_acl acl = {0};
    bool is_lost;
    sys.why[0] = ENODATA;
    sys.chmod_why = EROFS;
    assert_int_equal(give(&acl, 0640, true, &is_lost), EROFS);
    assert_false(is_lost);
}

/* The mode replaces a list that the file has inherited from its folder. If that fails, the list must
 * grant nothing. */
static void an_inherited_list_is_removed(void **unused)
{
    (void)unused;
    for (unsigned mode = 0; mode < 01000; mode++)
        for (int n = 0; n < 4; n++) {
            const bool is_unknown = n / 2, fails = n % 2;
            const entry entries[] = {{OWNER, mode >> 6}, {OWNING_GROUP, mode >> 3 & 7}, {OTHERS, mode & 7}};
            uint8_t wanted[LIST];
            lap_acl acl = {0};
            bool is_lost;
            reset();
            sys.size = put_list(sys.list, plain, PLAIN);
            sys.why[0] = is_unknown ? EIO : 0;
            sys.set_why[0] = fails ? EPERM : 0;
            assert_int_equal(give(&acl, mode, true, &is_lost), 0);
            assert_int_equal(is_lost, fails);
            assert_true(sys.sets == 1 && sys.chmods == 1);
            assert_int_equal(sys.set_size[0], put_list(wanted, entries, 3));
            assert_memory_equal(sys.set[0], wanted, sys.set_size[0]);
            assert_int_equal(sys.mode, fails ? mode & 0707 : mode);
        }
}

/* The old file's list cannot be set, and the new file has inherited a list from its folder. */
static void a_lost_list_and_an_inherited_one(void **unused)
{
    (void)unused;
    for (int fails = 0; fails < 2; fails++) {
        uint8_t list[LIST] = {0}, wanted[LIST];
        bool is_lost;
        reset();
        sys.size = put_list(sys.list, plain, PLAIN);
        sys.set_why[0] = ENOSPC;
        sys.set_why[1] = fails ? ENOSPC : 0;
        lap_acl acl = list_of(list, put_list(list, plain, PLAIN));
        assert_int_equal(give(&acl, 0777, true, &is_lost), 0);
        assert_true(is_lost);
        assert_int_equal(sys.sets, 2);
        const size_t size = put_list(wanted, (entry[]){{OWNER, 7}, {OWNING_GROUP, 4}, {OTHERS, 4}}, 3);
        assert_int_equal(sys.set_size[1], size);
        assert_memory_equal(sys.set[1], wanted, size);
        assert_int_equal(sys.mode, fails ? 0704 : 0744);
        lap_acl_free(&acl);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_read_whole),
        cmocka_unit_test(a_list_is_missing_or_hidden),
        cmocka_unit_test(a_name_is_read_by_its_path),
        cmocka_unit_test(a_name_is_read_by_a_descriptor_otherwise),
        cmocka_unit_test(a_list_is_set_as_it_was),
        cmocka_unit_test(another_group_gets_what_others_had_too),
        cmocka_unit_test(a_mode_gives_no_more_than_the_list),
        cmocka_unit_test(an_unknown_list_gives_no_rights),
        cmocka_unit_test(a_mode_is_set),
        cmocka_unit_test(an_inherited_list_is_removed),
        cmocka_unit_test(a_lost_list_and_an_inherited_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
