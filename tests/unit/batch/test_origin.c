/* The folders in which inputs were found: one entry each, by the name that was given. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/origin.h"

static struct {
    const char *call; /* that fails; NULL: none */
    int why, after;
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to)
{
    return strikes("realpath") ? NULL : __real_realpath(path, to);
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    return strikes("stat") ? -1 : __real_stat(path, st);
}

void *__real_lap_grow(void *array, size_t *capacity, size_t count, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t count, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    assert_true(count > 0); /* there is room for one more */
    return strikes("grow") ? NULL : __real_lap_grow(array, capacity, count, size);
}

/* Some C libraries change errno here. */
void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    __real_free(memory);
    errno = EDOM;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : __real_strdup(text);
}

char *__real_strndup(const char *text, size_t length);
char *__wrap_strndup(const char *text, size_t length);
char *__wrap_strndup(const char *text, size_t length)
{
    return strikes("strdup") ? NULL : __real_strndup(text, length);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return strikes("calloc") ? NULL : __real_calloc(count, size);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put") ? lap_fail(err, LAP_E_MEMORY, "no memory")
                          : __real_lap_map64_put(map, key, value, err);
}

static void assert_is(const lap_origin *origin, const char *folder)
{
    char real[PATH_MAX];
    struct stat st;
    assert_non_null(__real_realpath(folder, real));
    assert_int_equal(__real_stat(folder, &st), 0);
    assert_string_equal(origin->name, real);
    assert_true(origin->device == (int64_t)st.st_dev && origin->inode == (int64_t)st.st_ino);
}

static void looked_at(void **state)
{
    lap_origin origin;
    (void)state;
    put(at("file"), "x");
    assert_int_equal(symlink(".", at("link")), 0);
    assert_true(lap_origin_look(scratch, &origin));
    assert_is(&origin, scratch);
    free(origin.name);
    assert_true(lap_origin_look(at("link"), &origin)); /* without the link in its name */
    assert_is(&origin, scratch);
    free(origin.name);
    errno = 0;
    assert_false(lap_origin_look(at("missing"), &origin));
    assert_int_equal(errno, ENOENT);
    assert_null(origin.name);
    errno = 0;
    assert_false(lap_origin_look(at("file"), &origin));
    assert_int_equal(errno, ENOTDIR);
    assert_null(origin.name);
    sys.call = "stat", sys.after = 0, sys.why = EIO;
    assert_false(lap_origin_look(scratch, &origin));
    sys.call = NULL;
    assert_int_equal(errno, EIO);
    assert_null(origin.name);
}

static void found(void **state)
{
    lap_origins all = {.count = 0};
    const lap_origin *first[20], *origin;
    char name[24];
    (void)state;
    assert_int_equal(chdir(scratch), 0);
    put("file", "x");
    for (int round = 0; round < 3; round++) /* more than a first array holds */
        for (int i = 0; i < 20; i++) {
            snprintf(name, sizeof name, "f%d/rest", i);
            if (round == 0) {
                name[strlen(name) - 5] = 0;
                assert_int_equal(mkdir(name, 0777), 0);
                strcat(name, "/rest");
            }
            assert_int_equal(lap_origins_find(&all, name, strlen(name) - 5, &origin, NULL), LAP_OK);
            assert_non_null(origin);
            name[strlen(name) - 5] = 0;
            assert_is(origin, name);
            if (round == 0)
                first[i] = origin;
            assert_ptr_equal(origin, first[i]);
        }
    assert_int_equal(all.count, 20);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(lap_origins_find(&all, "anything", 0, &origin, NULL), LAP_OK);
        assert_is(origin, ".");
        assert_int_equal(lap_origins_find(&all, "missing", 7, &origin, NULL), LAP_OK);
        assert_null(origin);
        assert_int_equal(lap_origins_find(&all, "file", 4, &origin, NULL), LAP_OK);
        assert_null(origin);
        assert_int_equal(all.count, 23);
    }
    lap_origins_free(&all);
    assert_true(!all.all && all.count == 0 && all.capacity == 0 && !all.numbers.entries);
}

static void without_memory(void **state)
{
    static const struct {
        const char *call;
        size_t length; /* of the name; 0: the current folder */
    } cases[] = {
        {"grow", 1}, {"strdup", 1}, {"strdup", 0}, {"calloc", 1}, {"realpath", 1}, {"stat", 1}, {"put", 1}};
    (void)state;
    assert_int_equal(chdir(scratch), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_origins all = {.count = 0};
        const lap_origin *origin = (const lap_origin *)&all;
        lap_error err = {0};
        sys.call = cases[i].call, sys.after = 0, sys.why = ENOMEM;
        assert_int_equal(lap_origins_find(&all, ".", cases[i].length, &origin, &err), LAP_E_MEMORY);
        sys.call = NULL;
        assert_null(origin);
        assert_string_equal(err.message,
            strcmp(cases[i].call, "put") == 0 ? "no memory" : "out of memory for the folders of the inputs");
        lap_origins_free(&all);
    }
    /* Other errors make an entry without a name. */
    lap_origins all = {.count = 0};
    const lap_origin *origin;
    sys.call = "stat", sys.after = 0, sys.why = EACCES;
    assert_int_equal(lap_origins_find(&all, ".", 1, &origin, NULL), LAP_OK);
    sys.call = NULL;
    assert_null(origin);
    assert_int_equal(all.count, 1);
    lap_origins_free(&all);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(looked_at), cmocka_unit_test(found), cmocka_unit_test(without_memory)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
