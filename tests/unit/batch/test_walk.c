#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

#include "batch/walk.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

static char home[TEMPORARY_PATH], previous[4096];

static int enter_folder(void **state)
{
    (void)state;
    return getcwd(previous, sizeof previous) && mkdtemp(temporary(home, "walk")) && chdir(home) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir(previous) == 0 ? nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

static void put(const char *path, const char *bytes)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = folder; (p = strchr(p + 1, '/'));) {
        *p = 0;
        mkdir(folder, 0755);
        *p = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(bytes, file);
    assert_int_equal(fclose(file), 0);
}

static const char jpeg[] = "\xFF\xD8\xFF\xE0";

/* What a walk reported, one line per entry, sorted: "path>relative", "!path" for problems, "@path" for links,
 * "=path" for the output folder.
 */
typedef struct heard {
    char *lines[64];
    int count, stop_after;
} heard;

static lap_code hear(void *user, const lap_walk_entry *e, lap_error *err)
{
    heard *h = user;
    (void)err;
    assert_true(h->count < 64);
    assert_int_equal((e->stat != NULL) + (e->problem != NULL) + e->link + e->is_out, 1);
    assert_true(asprintf(&h->lines[h->count++], "%s%s>%s",
                    e->problem  ? "!"
                    : e->link   ? "@"
                    : e->is_out ? "="
                                : "",
                    e->path, e->relative) > 0);
    return h->stop_after && h->count == h->stop_after ? LAP_E_CANCELLED : LAP_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Beside the folder that is walked. */
static void write_list(const char *path, const char *list)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(list, 1, strlen(list), file), strlen(list));
    assert_int_equal(fclose(file), 0);
}

static void expect(lap_batch_options options, const char *list, const char *wanted)
{
    heard h = {0};
    lap_error err = {0};
    char all[4096] = "";
    options.out_dir = options.out_dir ? options.out_dir : "out";
    lap_list *names = NULL;
    char path[sizeof home + 8];
    snprintf(path, sizeof path, "%s.list", home);
    if (list)
        write_list(path, list);
    options.files_from = list ? path : NULL;
    assert_int_equal(lap_list_open(&options, 0, NULL, &names, &err), LAP_OK);
    assert_int_equal(lap_walk(&options, names, hear, &h, &err), LAP_OK);
    lap_list_close(names);
    assert_true(!list || unlink(path) == 0);
    qsort(h.lines, (size_t)h.count, sizeof *h.lines, compare);
    for (int i = 0; i < h.count; i++) {
        strcat(strcat(all, i ? " " : ""), h.lines[i]);
        free(h.lines[i]);
    }
    assert_string_equal(all, wanted);
}

#define FOLDERS(...)                                                          \
    (lap_batch_options)                                                       \
    {                                                                         \
        .inputs = (const char *const[]){__VA_ARGS__},                         \
        .input_count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) \
    }

static void names_and_contents_tell_photos(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++)
        put((const char *[]){"in/a.jpg", "in/b.JPeG", "in/c.JPE", "in/s/d.jfif", "in/s/t/e.jpg", "in/f.png",
                "in/g.jpg.txt", "in/h", "in/.lapedge-0-1-2-3.tmp"}[i],
            "x");
    put("in/i", jpeg);
    put("in/.j", jpeg);
    put("in/._k.jpg", "Mac OS X");
    put("in/._l.jpg", jpeg);
    put("in/short", "\xFF\xD8");
    put("in/.lapedge/m.jpg", jpeg);
    expect(FOLDERS("in"), NULL,
        "in/._l.jpg>._l.jpg in/.j>.j in/a.jpg>a.jpg in/b.JPeG>b.JPeG in/c.JPE>c.JPE in/i>i "
        "in/s/d.jfif>s/d.jfif "
        "in/s/t/e.jpg>s/t/e.jpg");
}

static void folders_may_be_written_in_many_ways(void **state)
{
    (void)state;
    put("in/s/a.jpg", "x");
    assert_int_equal(symlink("in", "link"), 0);
    expect(FOLDERS("in///"), NULL, "in/s/a.jpg>s/a.jpg");
    expect(FOLDERS("./in"), NULL, "./in/s/a.jpg>s/a.jpg");
    expect(FOLDERS("in/../in/s"), NULL, "in/../in/s/a.jpg>a.jpg");
    expect(FOLDERS("."), NULL, "./in/s/a.jpg>in/s/a.jpg @./link>link");
    expect(FOLDERS("link"), NULL, "link/s/a.jpg>s/a.jpg");
    expect(FOLDERS("in", "in/s/a.jpg"), NULL, "in/s/a.jpg>a.jpg in/s/a.jpg>s/a.jpg");
}

/* Follows links, with patterns of folders that are left out. */
static lap_batch_options following(lap_batch_options options, const char *excluded)
{
    static const char *globs[1];
    static lap_batch_take take;
    globs[0] = excluded;
    take = (lap_batch_take){.follow = true, .exclude = globs, .exclude_count = excluded ? 1 : 0};
    options.take = &take;
    return options;
}

/* A folder is walked once: under its own name, if the walk gets there without links, however early a link is.
 */
static void followed_links_are_walked_once(void **state)
{
    (void)state;
    put("in/z/p.jpg", "x");
    put("in/z/s/r.jpg", "x");
    put("other/q.jpg", "x");
    assert_int_equal(symlink("z", "in/a"), 0);
    assert_int_equal(symlink("z/s", "in/b"), 0);
    assert_int_equal(symlink("..", "in/z/loop"), 0);
    expect(
        FOLDERS("in"), NULL, "@in/a>a @in/b>b @in/z/loop>z/loop in/z/p.jpg>z/p.jpg in/z/s/r.jpg>z/s/r.jpg");
    expect(following(FOLDERS("in"), NULL), NULL, "in/z/p.jpg>z/p.jpg in/z/s/r.jpg>z/s/r.jpg");
    expect(following(FOLDERS("in/"), NULL), NULL, "in/z/p.jpg>z/p.jpg in/z/s/r.jpg>z/s/r.jpg");
    expect(following(FOLDERS("in"), "a"), NULL, "in/z/p.jpg>z/p.jpg in/z/s/r.jpg>z/s/r.jpg");
    /* Without its own name, the link's: a folder on the way to z/s is left out, too. */
    expect(following(FOLDERS("in"), "z"), NULL, "in/a/p.jpg>a/p.jpg in/a/s/r.jpg>a/s/r.jpg");
    expect(following(FOLDERS("in"), "s"), NULL, "in/b/r.jpg>b/r.jpg in/z/p.jpg>z/p.jpg");
    expect(following(FOLDERS("in"), "z/s"), NULL, "in/b/r.jpg>b/r.jpg in/z/p.jpg>z/p.jpg");
    /* Of two links to a folder elsewhere the first counts, unless that folder is named, too. */
    assert_int_equal(symlink("../other", "in/l"), 0);
    assert_int_equal(symlink("../other", "in/k"), 0);
    expect(following(FOLDERS("in"), "z/*"), NULL, "in/b/r.jpg>b/r.jpg in/k/q.jpg>k/q.jpg");
    expect(following(FOLDERS("in", "other"), "z/*"), NULL, "in/b/r.jpg>b/r.jpg other/q.jpg>q.jpg");
    expect(following(FOLDERS("in", "other/"), "*/[zb]"), NULL,
        "in/a/p.jpg>a/p.jpg in/a/s/r.jpg>a/s/r.jpg other/q.jpg>q.jpg");
    /* A named folder is walked, though a link leads there. */
    expect(following(FOLDERS("in/k", "in/k"), NULL), NULL, "in/k/q.jpg>q.jpg in/k/q.jpg>q.jpg");
    /* A name that only begins like a named folder is another one. */
    put("others/t.jpg", "x");
    assert_int_equal(symlink("../others", "in/n"), 0);
    expect(following(FOLDERS("in", "other"), "[zbkl]"), NULL,
        "in/a/p.jpg>a/p.jpg in/a/s/r.jpg>a/s/r.jpg in/n/t.jpg>n/t.jpg other/q.jpg>q.jpg");
}

static void followed_links_to_files(void **state)
{
    (void)state;
    put("other/q.jpg", jpeg);
    mkdir("in", 0755);
    assert_int_equal(symlink("../other/q.jpg", "in/a.jpg"), 0);
    assert_int_equal(symlink("../other/q.jpg", "in/b"), 0);
    assert_int_equal(symlink("nowhere", "in/c"), 0);
    assert_int_equal(symlink("nowhere", "in/d.jpg"), 0);
    assert_int_equal(symlink("nowhere", "in/.#lock"), 0);
    assert_int_equal(symlink("nowhere", "in/.lapedge-x"), 0);
    expect(FOLDERS("in"), NULL, "@in/a.jpg>a.jpg @in/c>c @in/d.jpg>d.jpg");
    expect(following(FOLDERS("in"), NULL), NULL, "!in/c>c !in/d.jpg>d.jpg in/a.jpg>a.jpg in/b>b");
    expect(following(FOLDERS("in"), "c"), NULL, "!in/d.jpg>d.jpg in/a.jpg>a.jpg in/b>b");
    expect(following(FOLDERS("in"), "d.jpg/"), NULL, "!in/c>c in/a.jpg>a.jpg in/b>b");
}

static void what_cannot_be_taken_is_told(void **state)
{
    (void)state;
    put("in/a.jpg", "x");
    mkdir("in/folder.jpg", 0755);
    assert_int_equal(mkfifo("in/pipe.jpg", 0600), 0);
    assert_int_equal(mkfifo("in/pipe", 0600), 0);
    assert_int_equal(symlink("a.jpg", "in/link.jpg"), 0);
    assert_int_equal(symlink("nowhere", "in/dangling.jpg"), 0);
    assert_int_equal(symlink(".", "in/loop"), 0);
    expect(FOLDERS("in", "missing.jpg", "in/pipe.jpg", "in/link.jpg"), NULL,
        "!in/pipe.jpg>pipe.jpg !in/pipe.jpg>pipe.jpg !missing.jpg>missing.jpg @in/dangling.jpg>dangling.jpg "
        "@in/link.jpg>link.jpg @in/loop>loop in/a.jpg>a.jpg in/link.jpg>link.jpg");
}

static void the_output_folder_is_not_walked(void **state)
{
    (void)state;
    put("in/a.jpg", "x");
    put("in/edges/b.jpg", "x");
    assert_int_equal(symlink("in/edges", "elsewhere"), 0);
    lap_batch_options options = FOLDERS("in");
    options.out_dir = "elsewhere";
    expect(options, NULL, "=in/edges>edges in/a.jpg>a.jpg");
}

static void listed_paths_keep_relative_folders(void **state)
{
    (void)state;
    char absolute[128], wanted[512];
    put("a.jpg", "x");
    put("s/t/b.jpg", "x");
    put("s/..c.jpg", "x");
    put("new\nline.jpg", "x");
    expect((lap_batch_options){0}, "a.jpg\n./s//./t/b.jpg\n\ns/..c.jpg\ns/../a.jpg\ns/t/../../a.jpg",
        "./s//./t/b.jpg>s/t/b.jpg a.jpg>a.jpg s/../a.jpg>a.jpg s/..c.jpg>s/..c.jpg s/t/../../a.jpg>a.jpg");
    snprintf(absolute, sizeof absolute, "%s/s/t/b.jpg", home);
    snprintf(wanted, sizeof wanted, "%s>b.jpg", absolute);
    expect((lap_batch_options){0}, absolute, wanted);
    expect((lap_batch_options){0}, "s\ns/\n..\nnone", "!..>.. !none>none !s/>s !s>s");
    expect((lap_batch_options){.nul_separated = true}, "new\nline.jpg", "new\nline.jpg>new\nline.jpg");
}

static void a_visitor_ends_the_walk(void **state)
{
    heard h = {.stop_after = 2};
    (void)state;
    put("in/a.jpg", "x");
    put("in/b.jpg", "x");
    put("in/s/c.jpg", "x");
    lap_batch_options options = FOLDERS("in");
    options.out_dir = "out";
    assert_int_equal(lap_walk(&options, NULL, hear, &h, NULL), LAP_E_CANCELLED);
    assert_int_equal(h.count, 2);
    free(h.lines[0]);
    free(h.lines[1]);
}

/* A folder that goes while the walk is on, between the listing of its parent and its own. */
static lap_code hear_and_remove(void *user, const lap_walk_entry *e, lap_error *err)
{
    unlink("in/s/c.jpg");
    rmdir("in/s");
    return hear(user, e, err);
}

static void a_vanished_folder_does_not_end_the_walk(void **state)
{
    heard h = {0};
    (void)state;
    put("in/a.jpg", "x");
    put("in/s/c.jpg", "x");
    put("in2/d.jpg", "x");
    lap_batch_options options = FOLDERS("in", "in2");
    options.out_dir = "out";
    assert_int_equal(lap_walk(&options, NULL, hear_and_remove, &h, NULL), LAP_OK);
    assert_int_equal(h.count, 3);
    assert_string_equal(h.lines[0], "in/a.jpg>a.jpg");
    assert_string_equal(h.lines[1], "!in/s>s");
    assert_string_equal(h.lines[2], "in2/d.jpg>d.jpg");
    for (int i = 0; i < h.count; i++)
        free(h.lines[i]);
}

static void paths_longer_than_the_system_takes_are_told(void **state)
{
    heard h = {0};
    char name[201] = "";
    (void)state;
    memset(name, 'd', 200);
    put("in/a.jpg", "x");
    int at = open("in", O_RDONLY | O_DIRECTORY);
    for (int depth = 0; depth < 25 && at >= 0; depth++) { /* 25 * 201 bytes */
        assert_int_equal(mkdirat(at, name, 0755), 0);
        int next = openat(at, name, O_RDONLY | O_DIRECTORY);
        close(at);
        at = next;
    }
    assert_true(at >= 0);
    close(at);
    lap_batch_options options = FOLDERS("in");
    options.out_dir = "out";
    assert_int_equal(lap_walk(&options, NULL, hear, &h, NULL), LAP_OK);
    assert_int_equal(h.count, 2);
    assert_string_equal(h.lines[0], "in/a.jpg>a.jpg");
    assert_int_equal(h.lines[1][0], '!');
    free(h.lines[0]);
    free(h.lines[1]);
    assert_int_equal(system("rm -rf in"), 0);
}

/* What lap_inputs calls for each input: "path" or "path!message", and when to end. */
typedef struct listed {
    char all[512];
    int count, stop_after;
} listed;

static lap_code list_one(void *user, const char *path, const lap_error *problem, lap_error *err)
{
    listed *l = user;
    const size_t length = strlen(l->all);
    (void)err;
    snprintf(l->all + length, sizeof l->all - length, "%s%s%s ", path, problem ? "!" : "",
        problem ? problem->message : "");
    return ++l->count == l->stop_after ? LAP_E_TIMEOUT : LAP_OK;
}

static void inputs_are_listed(void **state)
{
    static const char *const operands[] = {"in", "missing.jpg", "b.jpg"};
    (void)state;
    put("in/a.jpg", "x");
    put("b.jpg", "x");
    assert_int_equal(symlink("a.jpg", "in/link.jpg"), 0);
    assert_int_equal(symlink("a.jpg", "in/other.jpg"), 0);
    for (size_t count = 0; count < 4; count++)
        for (int counted = 0; counted < 2; counted++) {
            listed l = {.count = 0};
            uint64_t links = 77;
            lap_error err = {0};
            assert_int_equal(
                lap_inputs(operands, count, list_one, &l, counted ? &links : NULL, &err), LAP_OK);
            assert_string_equal(l.all, count == 0   ? ""
                                       : count == 1 ? "in/a.jpg "
                                       : count == 2 ? "in/a.jpg missing.jpg!no such file "
                                                    : "in/a.jpg missing.jpg!no such file b.jpg ");
            assert_true(links == (counted ? (count ? 2 : 0) : 77));
        }
    for (int after = 1; after < 3; after++) {
        listed l = {.stop_after = after};
        lap_error err = {0};
        uint64_t links = 77;
        assert_int_equal(lap_inputs(operands, 3, list_one, &l, &links, &err), LAP_E_TIMEOUT);
        assert_int_equal(l.count, after);
        assert_true(links <= 2);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_and_contents_tell_photos),
        TEST(folders_may_be_written_in_many_ways),
        TEST(followed_links_are_walked_once),
        TEST(followed_links_to_files),
        TEST(what_cannot_be_taken_is_told),
        TEST(the_output_folder_is_not_walked),
        TEST(listed_paths_keep_relative_folders),
        TEST(a_visitor_ends_the_walk),
        TEST(a_vanished_folder_does_not_end_the_walk),
        TEST(paths_longer_than_the_system_takes_are_told),
        TEST(inputs_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
