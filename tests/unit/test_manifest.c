#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "batch/manifest.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lapedge-manifest-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const struct stat photo = {.st_size = 1000, .st_mtim = {.tv_sec = 1700000000, .tv_nsec = 123456789}};

static lap_manifest *opened(uint64_t settings)
{
    lap_manifest *m;
    lap_error err;
    if (lap_manifest_open(folder, settings, &m, &err) != LAP_OK)
        fail_msg("%s", err.message);
    return m;
}

/* A run that makes these outputs, and ends before the done line of the last one if asked. */
static void run(uint64_t settings, const char *const *outputs, int count, bool unfinished)
{
    lap_manifest *m = opened(settings);
    for (int i = 0; i < count; i++)
        assert_int_equal(lap_manifest_begin(m, outputs[i], NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, true, 4096, NULL), LAP_OK);
    for (int i = 0; i < count - unfinished; i++)
        assert_int_equal(lap_manifest_done(m, outputs[i], "in.jpg", &photo, 500, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
}

static lap_made made(uint64_t settings, const char *output, const struct stat *in, off_t size)
{
    lap_manifest *m = opened(settings);
    lap_made result = lap_manifest_find(m, output, in, size);
    lap_manifest_close(m);
    return result;
}

static void nothing_is_known_of_no_folder(void **state)
{
    lap_manifest *m;
    (void)state;
    assert_int_equal(lap_manifest_open("/nonexistent/folder", 1, &m, NULL), LAP_OK);
    assert_int_equal(lap_manifest_find(m, "a.jpg", &photo, 500), LAP_MADE_UNKNOWN);
    lap_manifest_close(m);
    lap_manifest_close(NULL);
}

static void a_done_output_is_known_and_its_facts_count(void **state)
{
    static const char *const outputs[] = {"a.jpg", "sub/b.jpg"};
    (void)state;
    run(7, outputs, 2, false);
    assert_int_equal(made(7, "a.jpg", &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "sub/b.jpg", &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "b.jpg", &photo, 500), LAP_MADE_UNKNOWN);
    assert_int_equal(made(8, "a.jpg", &photo, 500), LAP_MADE_OURS); /* other settings */
    assert_int_equal(made(7, "a.jpg", &photo, 499), LAP_MADE_OURS); /* output cut */
    struct stat changed = photo;
    changed.st_size++;
    assert_int_equal(made(7, "a.jpg", &changed, 500), LAP_MADE_OURS);
    changed = photo;
    changed.st_mtim.tv_nsec++;
    assert_int_equal(made(7, "a.jpg", &changed, 500), LAP_MADE_OURS);
}

static void a_begun_output_is_ours_and_not_done(void **state)
{
    static const char *const outputs[] = {"a.jpg", "b.jpg"};
    (void)state;
    run(7, outputs, 2, true);
    assert_int_equal(made(7, "a.jpg", &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "b.jpg", &photo, 500), LAP_MADE_OURS);
}

static void a_later_run_overrules(void **state)
{
    static const char *const outputs[] = {"a.jpg"};
    (void)state;
    run(7, outputs, 1, false);
    run(8, outputs, 1, false);
    assert_int_equal(made(8, "a.jpg", &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "a.jpg", &photo, 500), LAP_MADE_OURS);
    run(8, outputs, 1, true); /* dies between begin and done: what stands there is not trusted */
    assert_int_equal(made(8, "a.jpg", &photo, 500), LAP_MADE_OURS);
}

static void names_need_not_be_text(void **state)
{
    static const char *const outputs[] = {"new\nline.jpg", "\xff\xfe.jpg", "100%41.jpg", "%zz\xff.jpg",
        "quote\".jpg", "\x01.jpg", "\xff%41.jpg"};
    enum { COUNT = sizeof outputs / sizeof *outputs };
    (void)state;
    run(7, outputs, COUNT, false);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(made(7, outputs[i], &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "100A.jpg", &photo, 500), LAP_MADE_UNKNOWN);
    assert_int_equal(made(7,
                         "\xff"
                         "A.jpg",
                         &photo, 500),
        LAP_MADE_UNKNOWN);
}

/* The one manifest file of the folder, malloc'ed. */
static char *file_path(void)
{
    char *path = NULL, where[128];
    snprintf(where, sizeof where, "%s/.lapedge", folder);
    DIR *dir = opendir(where);
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));)
        if (strstr(d->d_name, ".jsonl"))
            assert_true(asprintf(&path, "%s/%s", where, d->d_name) > 0);
    closedir(dir);
    assert_non_null(path);
    return path;
}

static void a_cut_at_every_byte_loses_lines_and_nothing_else(void **state)
{
    static const char *const outputs[] = {"a.jpg"};
    (void)state;
    run(7, outputs, 1, false);
    char *path = file_path();
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    lap_made before = LAP_MADE_SAME;
    for (off_t size = st.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate(path, size), 0);
        lap_made now = made(7, "a.jpg", &photo, 500);
        /* only the newline: the line is whole. Less: done, then begin is lost, in this order. */
        assert_true(now == LAP_MADE_SAME ? size == st.st_size - 1 : now <= before);
        before = now;
    }
    assert_int_equal(before, LAP_MADE_UNKNOWN);
    free(path);
}

static void nonsense_is_passed_over(void **state)
{
    static const char *const outputs[] = {"a.jpg"};
    static const char nonsense[] =
        "{\"event\":\"done\",\"output\":\"b.jpg\"}\n{\"event\":\"done\",\"settings\":\"7\"}\n[1]\nnull\n\n"
        "{\"event\":\"done\",\"output\":5,\"settings\":\"7\"}\n\0\xff{{{{\n";
    (void)state;
    run(7, outputs, 1, false);
    char *path = file_path();
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(fwrite(nonsense, 1, sizeof nonsense, file), sizeof nonsense);
    assert_int_equal(fclose(file), 0);
    free(path);
    assert_int_equal(made(7, "a.jpg", &photo, 500), LAP_MADE_SAME);
    assert_int_equal(made(7, "b.jpg", &photo, 500), LAP_MADE_UNKNOWN);
}

/* A write that stops halfway must not leave half a line for the next one to be glued to. */
static void a_failed_flush_leaves_whole_lines(void **state)
{
    struct rlimit before, tight;
    char name[64];
    lap_error err = {0};
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    lap_manifest *m = opened(7);
    assert_int_equal(lap_manifest_begin(m, "first.jpg", NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    tight = before;
    tight.rlim_cur = 1500;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "many%d.jpg", i);
        assert_int_equal(lap_manifest_begin(m, name, NULL), LAP_OK);
    }
    assert_int_equal(lap_manifest_flush(m, false, 0, &err), LAP_E_DISK_FULL);
    assert_non_null(strstr(err.message, "File too large"));
    assert_int_equal(lap_manifest_begin(m, "last.jpg", NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(made(7, "first.jpg", &photo, 1), LAP_MADE_OURS);
    assert_int_equal(made(7, "many0.jpg", &photo, 1), LAP_MADE_UNKNOWN);
    assert_int_equal(made(7, "last.jpg", &photo, 1), LAP_MADE_OURS);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_known_of_no_folder),
        TEST(a_done_output_is_known_and_its_facts_count),
        TEST(a_begun_output_is_ours_and_not_done),
        TEST(a_later_run_overrules),
        TEST(names_need_not_be_text),
        TEST(a_cut_at_every_byte_loses_lines_and_nothing_else),
        TEST(nonsense_is_passed_over),
        TEST(a_failed_flush_leaves_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
