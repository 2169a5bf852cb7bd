/* Records in folders above and below the output folder: which of their lines count, under which names, and
 * what a run that begins there meanwhile has made. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest.h"
#include "batch/manifest_state.h"

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    struct timespec now; /* 0: the system's */
    bool is_misspelt;    /* the names of outputs are those of other files, in other letters */
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return strstr(path, ".lapedge") && strikes("open") ? -1 : __real_open(path, flags, 0666);
}

char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to)
{
    return strikes("realpath") ? NULL : __real_realpath(path, to);
}

lap_code __real_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err);
lap_code __wrap_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err);
lap_code __wrap_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err)
{
    if (strikes("enter"))
        return sys.why == ENOMEM ? LAP_E_MEMORY : LAP_E_MISSING;
    return __real_lap_tree_enter(tree, relative, make, at_folder, err);
}

typedef int select_fn(const struct dirent *);
typedef int order_fn(const struct dirent **, const struct dirent **);
int __real_scandirat(
    int at_folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order);
int __wrap_scandirat(
    int at_folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order);
int __wrap_scandirat(
    int at_folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order)
{
    return strikes("scandirat") ? -1 : __real_scandirat(at_folder, path, names, select, order);
}

static int print(char **text, const char *format, va_list values)
{
    if (strikes("asprintf")) {
        sys.call = NULL;      /* the next one has memory */
        *text = (char *)text; /* anything: it need not be set */
        return -1;
    }
    return vasprintf(text, format, values);
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = print(text, format, values);
    va_end(values);
    return length;
}

/* What _FORTIFY_SOURCE, which packages are built with, makes of it. */
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
    va_list values;
    (void)flag;
    va_start(values, format);
    const int length = print(text, format, values);
    va_end(values);
    return length;
}

void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    return strikes("grow") ? NULL : __real_lap_grow(array, capacity, wanted, size);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put") ? lap_fail(err, LAP_E_MEMORY, "out of memory")
                          : __real_lap_map64_put(map, key, value, err);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!sys.now.tv_sec)
        return __real_clock_gettime(clock, now);
    *now = sys.now;
    return 0;
}

bool __wrap_lap_tree_is_spelt(const lap_tree *tree, const char *relative);
bool __wrap_lap_tree_is_spelt(const lap_tree *tree, const char *relative)
{
    (void)tree, (void)relative;
    return !sys.is_misspelt;
}

/* The file itself is not there. */
lap_code __wrap_lap_content_hash(
    int at_folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int at_folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    (void)at_folder, (void)name, (void)there, (void)err;
    *hash = 13;
    return LAP_OK;
}

/* ---- steps ----------------------------------------------------------------------------------------------
 */

enum { NEW = 1000, OLD = NEW - 11, OURS = 7, THEIRS = 8 }; /* change times, and settings */
static const lap_settings_mark mark = {.hashes = {1, OURS, 3}, .fail_on = LAP_FAIL_TRUNCATED};
static const struct stat photo = {.st_size = 6, .st_mtim = {7, 8}};
static const lap_origin origin = {"/the/photos", 11, 12};
static struct stat file = {.st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {4, 5}}; /* an output */
static lap_tree tree;
static char out[100]; /* its path */
static lap_manifest *manifest;
static int files;
static size_t outside; /* folders above the scratch folder that have records */

/* Other places than the output folder whose records the run has found. */
static size_t places(void)
{
    return manifest->other_count - outside;
}

static void end(void)
{
    lap_manifest_close(manifest);
    manifest = NULL;
    assert_int_equal(open_files(), files);
}

static lap_code open_again(lap_error *err)
{
    lap_manifest_close(manifest);
    return lap_manifest_open(&tree, &mark, &manifest, err);
}

/* An output folder in two others, and a run in it that began at the time NEW. */
static void begin(void)
{
    memset(&sys, 0, sizeof sys);
    lap_manifest_close(manifest);
    manifest = NULL;
    lap_tree_close(&tree);
    empty_scratch();
    assert_int_equal(
        mkdir(at("top"), 0700) || mkdir(at("top/out"), 0700) || mkdir(at("top/out/sub"), 0700), 0);
    snprintf(out, sizeof out, "%s", at("top/out"));
    assert_int_equal(lap_tree_open(out, &tree, NULL), LAP_OK);
    files = open_files();
    assert_int_equal(lap_manifest_open(&tree, &mark, &manifest, NULL), LAP_OK);
    outside = manifest->other_count;
    sys.now = (struct timespec){NEW, 500};
    file.st_ctim = sys.now;
}

/* Adds a line to the records of a folder. */
static void append(const char *folder, const lap_manifest_line *line)
{
    lap_manifest_queue queue = {0};
    char name[200];
    assert_int_equal(lap_manifest_line_write(&queue, line, NULL), LAP_OK);
    snprintf(name, sizeof name, "%s/.lapedge", folder);
    mkdir(at(name), 0700);
    snprintf(name, sizeof name, "%s/.lapedge/a.jsonl", folder);
    FILE *to = fopen(at(name), "a");
    assert_non_null(to);
    assert_int_equal(fwrite(queue.bytes, 1, queue.used, to), queue.used);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(at(name), 0600), 0);
    free(queue.bytes);
}

/* Adds a line about the file under this name. */
static void say(const char *folder, const char *output, uint64_t settings)
{
    lap_manifest_line line = lap_manifest_line_of(settings, output, &file, 13);
    line.is_done = true;
    line.maker = LAP_MAKER_RUN;
    line.input = "photos/in.jpg";
    line.input_size = photo.st_size;
    line.input_mtime_s = photo.st_mtim.tv_sec;
    line.input_mtime_ns = photo.st_mtim.tv_nsec;
    line.folder = "/the/photos";
    line.folder_device = 11;
    line.folder_inode = 12;
    line.below = sizeof "in.jpg" - 1;
    append(folder, &line);
}

static lap_code judge(const char *output, lap_made *is, lap_error *err)
{
    uint64_t content;
    const lap_standing standing = {
        output, tree.fd, &file, {"photos/in.jpg", &photo, &origin, sizeof "photos/" - 1, NULL}};
    return lap_manifest_judge(manifest, &standing, is, &content, err);
}

static lap_made verdict(const char *output)
{
    lap_made is;
    lap_error err;
    if (judge(output, &is, &err) != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
    return is;
}

static void open_it(void)
{
    lap_error err;
    if (open_again(&err) != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
}

/* ---- names ----------------------------------------------------------------------------------------------
 */

static void names_above(void **unused)
{
    (void)unused;
    static const struct {
        const char *folder, *said, *output;
    } cases[] = {{"top", "out/a.jpg", "a.jpg"}, {"top", "out/sub/a.jpg", "sub/a.jpg"},
        {"", "top/out/a.jpg", "a.jpg"}, {"top", "out/a.jpg", "out/a.jpg"}, {"top", "uot/a.jpg", "a.jpg"},
        {"top", "outer/a.jpg", "er/a.jpg"}, {"top", "top/out/a.jpg", "a.jpg"}, {"", "out/a.jpg", "a.jpg"},
        {"top", "out/", ""}, {"top", "a.jpg", "a.jpg"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        say(cases[i].folder, cases[i].said, OURS);
        open_it();
        assert_int_equal(verdict(cases[i].output), i < 3 ? LAP_MADE_SAME : LAP_MADE_UNKNOWN);
        end();
    }
}

static void names_below(void **unused)
{
    (void)unused;
    static char longest[PATH_MAX + 8];
    begin();
    assert_int_equal(mkdir(at("top/out/sub/deep"), 0700), 0);
    say("top/out/sub", "a.jpg", OURS);
    say("top/out/sub", "deep/b.jpg", OURS);
    say("top/out/sub/deep", "c.jpg", OURS);
    open_it();
    assert_int_equal(verdict("a.jpg"), LAP_MADE_UNKNOWN);
    assert_int_equal(verdict("subs/a.jpg"), LAP_MADE_UNKNOWN);
    assert_int_equal(places(), 0);
    assert_int_equal(verdict("sub/a.jpg"), LAP_MADE_SAME);
    assert_int_equal(places(), 1);
    assert_int_equal(verdict("sub/deep/b.jpg"), LAP_MADE_SAME);
    assert_int_equal(verdict("sub/deep/c.jpg"), LAP_MADE_SAME);
    assert_int_equal(verdict("sub/c.jpg"), LAP_MADE_UNKNOWN);
    assert_int_equal(places(), 2);
    end();
    for (int more = 0; more < 3; more++) { /* as long as a path may be; one that does not fit is not cut */
        begin();
        memset(longest, 'n', sizeof longest - 1);
        memcpy(longest, "sub/", 4);
        longest[PATH_MAX - 1 + more] = '\0';
        say("top/out/sub", longest + 4, OURS);
        open_it();
        longest[PATH_MAX - 1] = '\0';
        assert_int_equal(verdict(longest), more ? LAP_MADE_UNKNOWN : LAP_MADE_SAME);
        end();
    }
}

static const char *shown; /* the place whose lines are given */
static char given[300];

static lap_code take(void *user, const lap_manifest_line *line, lap_error *err)
{
    const size_t used = strlen(given);
    snprintf(given + used, sizeof given - used, "%s:%s ", shown + strlen(scratch), line->output);
    return user ? lap_fail(err, LAP_E_CANCELLED, "enough") : LAP_OK;
}

static void lines_of_other_places_are_given(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    say("top/out", "here.jpg", OURS);
    say("top", "out/a.jpg", OURS);
    say("", "top/out/b.jpg", OURS);
    open_it();
    given[0] = '\0';
    assert_int_equal(lap_manifest_each_other(manifest, &shown, take, NULL, &err), LAP_OK);
    assert_string_equal(given, "/top/.lapedge:a.jpg /.lapedge:b.jpg ");
    given[0] = '\0';
    assert_int_equal(lap_manifest_each_other(manifest, &shown, take, &err, &err), LAP_E_CANCELLED);
    assert_string_equal(given, "/top/.lapedge:a.jpg ");
    end();
}

static void begun_lines_are_given(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    say("top/out", "done.jpg", OURS);
    say("top", "out/above.jpg", OURS);
    const lap_manifest_line line = lap_manifest_line_of(OURS, "begun.jpg", &file, 13);
    append("top/out", &line);
    open_it();
    shown = scratch;
    given[0] = '\0';
    assert_int_equal(lap_manifest_each_begun(manifest, take, NULL, &err), LAP_OK);
    assert_string_equal(given, ":begun.jpg ");
    given[0] = '\0';
    assert_int_equal(lap_manifest_each(manifest, take, NULL, &err), LAP_OK);
    assert_string_equal(given, ":done.jpg ");
    end();
}

/* ---- what is written meanwhile --------------------------------------------------------------------------
 */

static bool has_news(const char *output)
{
    bool is = true; /* whatever it was */
    lap_error err;
    if (lap_manifest_has_news(manifest, output, &is, &err) != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
    return is;
}

/* Records here, above and below, all read. */
static void begin_with_all_read(void)
{
    lap_error err;
    begin();
    say("top/out", "here.jpg", OURS);
    say("top", "out/a.jpg", OURS);
    say("top/out/sub", "b.jpg", OURS);
    open_it();
    given[0] = '\0';
    shown = out;
    assert_int_equal(lap_manifest_look_below(manifest, "sub/b.jpg", &err), LAP_OK);
    assert_int_equal(lap_manifest_each(manifest, take, NULL, &err), LAP_OK);
    assert_int_equal(lap_manifest_each_other(manifest, &shown, take, NULL, &err), LAP_OK);
    assert_int_equal(places(), 2);
    lap_manifest_watch(manifest);
}

static void news_of_all_places(void **unused)
{
    (void)unused;
    static const char *const folders[] = {"top/out", "top", "top/out/sub"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (int is_file = 0; is_file < 2; is_file++) { /* a new line, or a new file */
            char name[100];
            lap_error err;
            begin_with_all_read();
            assert_false(has_news("a.jpg") || has_news("sub/b.jpg") || has_news("sub/deep/b.jpg"));
            if (is_file) {
                snprintf(name, sizeof name, "%s/.lapedge/b.jsonl", folders[i]);
                put(at(name), "");
            } else {
                say(folders[i], "x.jpg", OURS);
            }
            assert_true(has_news("a.jpg"));
            assert_true(has_news("a.jpg")); /* also the second time, and after another reading */
            assert_int_equal(lap_manifest_each(manifest, take, NULL, &err), LAP_OK);
            assert_int_equal(lap_manifest_each_other(manifest, &shown, take, NULL, &err), LAP_OK);
            assert_true(has_news("a.jpg"));
            end();
        }
}

static void news_of_folders_without_records(void **unused)
{
    (void)unused;
    begin_with_all_read();
    assert_int_equal(mkdir(at("top/out/other"), 0700), 0);
    assert_false(has_news("other/c.jpg"));
    say("top/out/other", "c.jpg", OURS);
    assert_false(has_news("sub/b.jpg")); /* they say nothing about this one */
    assert_true(has_news("other/c.jpg"));
    end();
    begin_with_all_read();
    say("", "top/out/a.jpg", OURS);
    assert_true(has_news("a.jpg"));
    end();
    begin_with_all_read();
    assert_int_equal(unlink(at("top/.lapedge/a.jsonl")), 0); /* which can need no output any more */
    assert_false(has_news("a.jpg"));
    lap_error err;
    given[0] = '\0';
    assert_int_equal(lap_manifest_each_other(manifest, &shown, take, NULL, &err), LAP_OK);
    assert_string_equal(given, "/top/out/sub/.lapedge:sub/b.jpg ");
    assert_int_equal(rmdir(at("top/.lapedge")), 0);
    assert_false(has_news("a.jpg"));
    end();
}

/* A file that was empty at first has news even if its lines were read meanwhile. */
static void news_of_an_empty_file(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    say("top/out", "here.jpg", OURS);
    assert_int_equal(truncate(at("top/out/.lapedge/a.jsonl"), 0), 0);
    open_it();
    given[0] = '\0';
    shown = out;
    assert_int_equal(lap_manifest_each(manifest, take, NULL, &err), LAP_OK);
    say("top/out", "a.jpg", OURS);
    assert_int_equal(lap_manifest_each(manifest, take, NULL, &err), LAP_OK);
    lap_manifest_watch(manifest);
    assert_true(has_news("a.jpg"));
    end();
}

static void assert_unreadable(lap_code code, const lap_error *err, const char *subject, const char *message)
{
    assert_int_equal(code, LAP_E_UNREADABLE);
    assert_int_equal(err->code, code);
    assert_string_equal(err->subject, subject);
    assert_string_equal(err->message, message);
}

/* What a folder above needs is not known if its records were moved away since, or the output folder was. */
static void folders_that_move(void **unused)
{
    (void)unused;
    lap_error err;
    bool is;
    char lapedge[100];
    begin_with_all_read();
    snprintf(lapedge, sizeof lapedge, "%s", at("top/.lapedge"));
    assert_int_equal(rename(lapedge, at("top/moved")), 0);
    assert_unreadable(lap_manifest_each_other(manifest, &shown, take, NULL, &err), &err, lapedge,
        "was moved or removed during the run");
    assert_int_equal(rename(at("top/moved"), lapedge), 0);
    assert_int_equal(rename(out, at("top/moved")), 0);
    static const char gone[] = "cannot be examined: No such file or directory";
    assert_unreadable(lap_manifest_look_above(manifest, &err), &err, out, gone);
    assert_unreadable(lap_manifest_has_news(manifest, "a.jpg", &is, &err), &err, out, gone);
    assert_int_equal(mkdir(out, 0700), 0);
    assert_unreadable(
        lap_manifest_look_above(manifest, &err), &err, out, "was moved or replaced during the run");
    assert_int_equal(rmdir(out), 0);
    assert_int_equal(rename(at("top/moved"), out), 0);
    assert_false(has_news("a.jpg"));
    end();
}

static void news_that_cannot_be_read(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"open", "enter", "scandirat", "put"};
    lap_error err;
    bool is;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int failed = 0;
        for (int after = 0; after < 12; after++) {
            begin_with_all_read();
            sys.call = calls[i];
            sys.why = EIO;
            sys.after = after;
            const lap_code code = lap_manifest_has_news(manifest, "sub/b.jpg", &is, &err);
            sys.call = NULL;
            failed += code != LAP_OK;
            assert_true(code != LAP_OK ? err.code == code : !is);
            end();
        }
        assert_true(failed > 0);
    }
}

/* A file in the place of a new output may be another one, if the disk takes two names for the same. What
 * another run makes meanwhile is left alone for that reason; what is ours has this name. */
static void names_in_other_letters(void **unused)
{
    (void)unused;
    begin();
    say("top", "out/ours.jpg", OURS);
    open_it();
    sys.is_misspelt = true;
    assert_int_equal(verdict("a.jpg"), LAP_MADE_SPELT);
    assert_int_equal(verdict("ours.jpg"), LAP_MADE_SAME);
    say("top", "out/b.jpg", THEIRS);
    assert_int_equal(verdict("b.jpg"), LAP_MADE_MEANWHILE);
    sys.call = "realpath"; /* what could not be judged has no verdict */
    sys.why = EIO;
    lap_made is;
    lap_error err;
    assert_int_equal(judge("a.jpg", &is, &err), LAP_E_UNREADABLE);
    sys.call = NULL;
    assert_int_not_equal(is, LAP_MADE_SPELT);
    end();
}

/* ---- rivals ---------------------------------------------------------------------------------------------
 */

/* What runs with other settings have made in folders above before this one began is replaced; what they make
 * meanwhile is left alone, also if their records were not there before. */
static void rivals_above(void **unused)
{
    (void)unused;
    for (int has_records = 0; has_records < 2; has_records++)
        for (int is_old = 0; is_old < 2; is_old++) {
            begin();
            file.st_ctim.tv_sec = is_old ? OLD : NEW - 10;
            if (has_records)
                say("top", "out/a.jpg", THEIRS);
            open_it();
            assert_int_equal(places(), has_records);
            if (has_records)
                assert_int_equal(verdict("a.jpg"), LAP_MADE_OURS);
            say("top", "out/b.jpg", THEIRS);
            const bool is_seen = has_records || !is_old;
            assert_int_equal(verdict("b.jpg"), is_seen ? LAP_MADE_MEANWHILE : LAP_MADE_UNKNOWN);
            assert_int_equal(places(), is_seen);
            say("", "top/out/c.jpg", THEIRS);
            assert_int_equal(verdict("c.jpg"), is_old ? LAP_MADE_UNKNOWN : LAP_MADE_MEANWHILE);
            assert_int_equal(verdict("d.jpg"), LAP_MADE_UNKNOWN);
            assert_int_equal(places(), is_seen + !is_old); /* each once */
            say("top", "out/e.jpg", OURS);
            if (is_seen)
                assert_int_equal(verdict("e.jpg"), LAP_MADE_SAME);
            end();
        }
}

/* Records below are first read when an output is judged: the file's time tells what is new. */
static void rivals_below(void **unused)
{
    (void)unused;
    static const struct {
        struct timespec changed;
        bool is_new;
    } cases[] = {{{NEW, 500}, true}, {{NEW, 501}, true}, {{NEW, 499}, false}, {{NEW + 1, 0}, true},
        {{NEW - 1, 999999999}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        file.st_ctim = cases[i].changed;
        say("top/out/sub", "a.jpg", THEIRS);
        open_it();
        assert_int_equal(verdict("sub/a.jpg"), cases[i].is_new ? LAP_MADE_MEANWHILE : LAP_MADE_OURS);
        say("top/out/sub", "b.jpg", THEIRS); /* since then: it is new */
        assert_int_equal(verdict("sub/b.jpg"), LAP_MADE_MEANWHILE);
        end();
    }
    begin();
    open_it();
    assert_int_equal(verdict("sub/a.jpg"), LAP_MADE_UNKNOWN);
    say("top/out/sub", "a.jpg", THEIRS); /* it had no records when it was looked at */
    file.st_ctim.tv_sec = OLD;
    assert_int_equal(verdict("sub/a.jpg"), LAP_MADE_MEANWHILE);
    end();
}

/* ---- places that cannot be read --------------------------------------------------------------------------
 */

static void other_places_that_cannot_be_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why;
        lap_code code;
    } cases[] = {{"open", EIO, LAP_E_UNREADABLE}, {"open", ENOMEM, LAP_E_MEMORY}, {"open", ENOENT, LAP_OK},
        {"open", ENOTDIR, LAP_OK}, {"open", ELOOP, LAP_OK}, {"open", EACCES, LAP_OK},
        {"open", ENAMETOOLONG, LAP_OK}, {"realpath", EIO, LAP_E_UNREADABLE},
        {"realpath", ENOMEM, LAP_E_MEMORY}, {"realpath", EACCES, LAP_OK}, {"scandirat", EACCES, LAP_OK},
        {"scandirat", EIO, LAP_E_UNREADABLE}, {"scandirat", ENOMEM, LAP_E_MEMORY},
        {"asprintf", ENOMEM, LAP_E_MEMORY}, {"grow", ENOMEM, LAP_E_MEMORY}, {"enter", EIO, LAP_E_UNREADABLE},
        {"enter", ENOMEM, LAP_E_MEMORY}, {"enter", EACCES, LAP_OK}, {"enter", ENOENT, LAP_OK},
        {"put", ENOMEM, LAP_E_MEMORY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_below = 0; is_below < 2; is_below++) {
            lap_error err = {0};
            lap_made is;
            begin();
            say(is_below ? "top/out/sub" : "top", is_below ? "a.jpg" : "out/sub/a.jpg", OURS);
            const bool is_late = is_below || !strcmp(cases[i].call, "enter") || !strcmp(cases[i].call, "put");
            if (is_below && (!strcmp(cases[i].call, "open") || !strcmp(cases[i].call, "realpath")))
                continue; /* of above */
            if (!is_below && is_late)
                continue;
            if (is_late)
                open_it();
            sys.call = cases[i].call;
            sys.why = cases[i].why;
            const lap_code code = is_late ? judge("sub/a.jpg", &is, &err) : open_again(&err);
            sys.call = NULL;
            if (code != cases[i].code)
                fail_msg("%s, %d: %d, %s", cases[i].call, cases[i].why, code, err.message);
            if (code != LAP_OK)
                assert_int_equal(err.code, code);
            if (code == LAP_E_UNREADABLE)
                assert_true(err.subject[0] && strstr(err.message, strerror(cases[i].why)));
            if (!is_late)
                assert_int_equal(!manifest, code != LAP_OK);
            if (!manifest) {
                assert_int_equal(open_files(), files);
                open_it();
            }
            if (code != LAP_OK) /* the next call finds what this one did not */
                assert_int_equal(verdict("sub/a.jpg"), LAP_MADE_SAME);
            end();
        }
}

/* A place has two texts: without one of them it is no place. */
/* The message names the place that may not be read, not another one that appeared, too. */
static void the_place_that_cannot_be_read_is_named(void **unused)
{
    (void)unused;
    lap_error err = {0};
    begin();
    open_it();
    assert_false(lap_manifest_is_blind(manifest, &err));
    say("top", "out/a.jpg", OURS);
    sys.call = "scandirat";
    sys.why = EACCES;
    assert_int_equal(verdict("a.jpg"), LAP_MADE_MEANWHILE);
    sys.call = NULL;
    say("", "top/out/a.jpg", OURS);
    assert_int_equal(verdict("b.jpg"), LAP_MADE_MEANWHILE);
    assert_int_equal(places(), 2);
    assert_true(lap_manifest_is_blind(manifest, &err));
    assert_string_equal(err.subject, at("top/.lapedge"));
    end();
}

static void places_without_memory(void **unused)
{
    (void)unused;
    for (int after = 0; after < 2; after++) {
        lap_error err;
        lap_made is;
        begin();
        say("top", "out/sub/a.jpg", OURS);
        sys.call = "asprintf";
        sys.after = after + 1; /* behind the path of the output folder's own records */
        assert_int_equal(open_again(&err), LAP_E_MEMORY);
        open_it();
        sys.call = "asprintf";
        sys.after = after;
        assert_int_equal(judge("sub/b.jpg", &is, &err), LAP_E_MEMORY);
        assert_int_equal(verdict("sub/a.jpg"), LAP_MADE_SAME);
        end();
    }
}

/* Records have numbers of 32 bits. */
static void too_many_records(void **unused)
{
    (void)unused;
    lap_error err;
    const lap_manifest_line line = lap_manifest_line_of(OURS, "a.jpg", &file, 13);
    begin();
    open_it();
    manifest->count = UINT32_MAX;
    sys.call = "grow"; /* is not asked */
    assert_int_equal(lap_manifest_add(manifest, &line, true, IS_NO_RIVAL, &err), LAP_E_MEMORY);
    assert_string_equal(err.message, "out of memory for the records of 4294967295 outputs");
    assert_int_equal(sys.after, 0);
    manifest->count = 0;
    end();
}

/* The records of a folder whose name is as long as a path may be have no name. */
static void folders_with_long_names(void **unused)
{
    (void)unused;
    static char name[PATH_MAX];
    lap_error err;
    lap_made is;
    begin();
    open_it();
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 3] = '/';
    errno = EIO; /* of an earlier call */
    assert_int_equal(judge(name, &is, &err), LAP_OK);
    assert_int_equal(is, LAP_MADE_UNKNOWN);
    end();
}

/* A program may have closed its standard input: then folders get its descriptor. */
static void descriptor_0_is_one_like_others(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    say("top", "out/a.jpg", OURS);
    say("top/out/sub", "b.jpg", OURS);
    lap_manifest_close(manifest);
    manifest = NULL;
    const int standard = dup(0);
    close(0);
    files = open_files();
    open_it();
    assert_int_equal(verdict("a.jpg"), LAP_MADE_SAME);
    assert_int_equal(verdict("sub/b.jpg"), LAP_MADE_SAME);
    given[0] = '\0';
    shown = out;
    assert_int_equal(lap_manifest_each_other(manifest, &shown, take, NULL, &err), LAP_OK);
    lap_manifest_watch(manifest);
    assert_false(has_news("a.jpg"));
    say("top", "out/x.jpg", OURS);
    assert_true(has_news("a.jpg"));
    end();
    lap_tree_close(&tree);
    assert_int_equal(lap_tree_open(out, &tree, NULL), LAP_OK); /* gets it, too */
    files = open_files();
    open_it();
    assert_int_equal(verdict("a.jpg"), LAP_MADE_SAME);
    sys.call = "realpath";
    sys.why = EIO;
    assert_int_equal(open_again(&err), LAP_E_UNREADABLE);
    sys.call = NULL;
    open_it();
    assert_int_equal(rename(out, at("top/moved")), 0);
    assert_int_equal(lap_manifest_look_above(manifest, &err), LAP_E_UNREADABLE);
    end();
    lap_tree_close(&tree);
    dup2(standard, 0);
    close(standard);
}

static void outputs_without_a_folder(void **unused)
{
    (void)unused;
    begin();
    lap_tree_close(&tree);
    files = open_files();
    snprintf(out, sizeof out, "%s", at("top/missing"));
    assert_int_equal(lap_tree_open(out, &tree, NULL), LAP_OK);
    say("top", "missing/a.jpg", OURS);
    sys.call = "realpath"; /* is not asked */
    sys.why = EIO;
    open_it();
    assert_int_equal(places(), 0);
    end();
}

static void look_often(int times)
{
    static const char *const calls[] = {NULL, "grow", "asprintf", "scandirat"};
    lap_error err;
    lap_made is;
    for (int i = 0; i < times; i++) {
        sys.call = calls[i % 4];
        sys.why = ENOMEM;
        sys.after = i / 4 % 5;
        if (open_again(&err) == LAP_OK)
            (void)judge("sub/a.jpg", &is, &err);
        sys.call = NULL;
        open_it();
        (void)judge("sub/a.jpg", &is, &err);
    }
    end();
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    begin();
    say("top", "out/a.jpg", OURS);
    say("top/out/sub", "a.jpg", THEIRS);
    look_often(40);
    const size_t bytes = mallinfo2().uordblks;
    look_often(200);
    assert_true(mallinfo2().uordblks < bytes + (size_t)10 * 16);
}

static int open_scratch(void **state)
{
    (void)state;
    tree.fd = -1;
    return make_scratch() ? 0 : -1;
}

static int close_scratch(void **state)
{
    lap_manifest_close(manifest);
    lap_tree_close(&tree);
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_above),
        cmocka_unit_test(names_below),
        cmocka_unit_test(lines_of_other_places_are_given),
        cmocka_unit_test(begun_lines_are_given),
        cmocka_unit_test(news_of_all_places),
        cmocka_unit_test(news_of_folders_without_records),
        cmocka_unit_test(news_of_an_empty_file),
        cmocka_unit_test(folders_that_move),
        cmocka_unit_test(news_that_cannot_be_read),
        cmocka_unit_test(names_in_other_letters),
        cmocka_unit_test(rivals_above),
        cmocka_unit_test(rivals_below),
        cmocka_unit_test(other_places_that_cannot_be_read),
        cmocka_unit_test(the_place_that_cannot_be_read_is_named),
        cmocka_unit_test(places_without_memory),
        cmocka_unit_test(too_many_records),
        cmocka_unit_test(folders_with_long_names),
        cmocka_unit_test(descriptor_0_is_one_like_others),
        cmocka_unit_test(outputs_without_a_folder),
        cmocka_unit_test(everything_is_given_back),
    };
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
