/* Which outputs --prune removes, and which it keeps for which reason, whatever the records say: records,
 * photos and folders in every relation to each other. The records are those of the test, the files are real.
 */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/control.h"
#include "base/status.h"
#include "batch/prune.h"

/* ---- the records and the system ------------------------------------------------------------------------ */

enum { MOST = 8 };

static struct {
    lap_manifest_line own[MOST], begun[MOST], other[MOST];
    int own_count, begun_count, other_count;
    bool is_blind, is_all;
    size_t unbelieved;
    int looked_below, looked_above;
    lap_code below, above, news; /* results of the looks */
    int readings;                /* of the records of the output folder and of others */
    bool is_watched;
    int without_news;     /* so many outputs are removed before another run writes; 0: all */
    const char *vanishes; /* this folder is moved away when a photo in it is looked for; NULL: none */
    int vanishes_after;   /* so many looks */
    bool has_other_inode, has_other_device; /* another folder is in its place then; otherwise none is */
    bool has_vanished;
    const char *between; /* what happens between the readings: a "photo" comes back, or a "link" hides it */
    const char *call;    /* that fails for paths with `of` in them, after so many that succeed; NULL: none */
    const char *of;
    int why, after;
    bool once;      /* it fails once only */
    char *kept[64]; /* strings of lines */
    int kept_count;
} sys;

static bool strikes(const char *call, const char *path)
{
    return (!sys.of || strstr(path, sys.of)) && strike_once(&sys.call, call, &sys.after, sys.why, sys.once);
}

static lap_code give(
    const lap_manifest_line *lines, int count, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < count && code == LAP_OK; i++)
        code = each(user, &lines[i], err);
    return code;
}

lap_code __wrap_lap_manifest_each(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);
lap_code __wrap_lap_manifest_each(lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err)
{
    (void)manifest;
    sys.readings++;
    return give(sys.own, sys.own_count, each, user, err);
}

lap_code __wrap_lap_manifest_each_begun(
    lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err);
lap_code __wrap_lap_manifest_each_begun(
    lap_manifest *manifest, lap_manifest_fn *each, void *user, lap_error *err)
{
    (void)manifest;
    return give(sys.begun, sys.begun_count, each, user, err);
}

lap_code __wrap_lap_manifest_each_other(
    lap_manifest *manifest, const char **folder, lap_manifest_fn *each, void *user, lap_error *err);
lap_code __wrap_lap_manifest_each_other(
    lap_manifest *manifest, const char **folder, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    (void)manifest;
    sys.readings += sys.other_count > 0;
    for (int i = 0; i < sys.other_count && code == LAP_OK; i++) {
        *folder = i == 0 ? "/above/.lapedge" : "/out/below/.lapedge";
        code = give(&sys.other[i], 1, each, user, err);
    }
    return code;
}

lap_code __wrap_lap_manifest_look_below(lap_manifest *manifest, const char *output, lap_error *err);
lap_code __wrap_lap_manifest_look_below(lap_manifest *manifest, const char *output, lap_error *err)
{
    (void)manifest, (void)output, (void)err;
    sys.looked_below++;
    return sys.below;
}

lap_code __wrap_lap_manifest_look_above(lap_manifest *manifest, lap_error *err);
lap_code __wrap_lap_manifest_look_above(lap_manifest *manifest, lap_error *err)
{
    (void)manifest, (void)err;
    sys.looked_above++;
    return sys.above;
}

void __wrap_lap_manifest_watch(lap_manifest *manifest);
void __wrap_lap_manifest_watch(lap_manifest *manifest)
{
    (void)manifest;
    assert_int_equal(sys.readings, sys.other_count ? 3 : 2);
    sys.is_watched = true;
    if (sys.between && strcmp(sys.between, "photo") == 0)
        put("in/sub/a.jpg", "a");
    else if (sys.between)
        assert_int_equal(rename("in/sub", "in/away") + symlink("nowhere", "in/sub"), 0);
}

lap_code __wrap_lap_manifest_has_news(
    lap_manifest *manifest, const char *output, bool *has_news, lap_error *err);
lap_code __wrap_lap_manifest_has_news(
    lap_manifest *manifest, const char *output, bool *has_news, lap_error *err)
{
    (void)manifest, (void)output, (void)err;
    assert_true(sys.is_watched);
    *has_news = sys.without_news > 0 && --sys.without_news == 0;
    return sys.news;
}

bool __wrap_lap_manifest_is_blind(const lap_manifest *manifest, lap_error *why);
bool __wrap_lap_manifest_is_blind(const lap_manifest *manifest, lap_error *why)
{
    (void)manifest;
    *why = (lap_error){.code = LAP_E_UNREADABLE, .message = "blind"};
    return sys.is_blind;
}

size_t __wrap_lap_manifest_unbelieved(const lap_manifest *manifest, bool *is_all, lap_error *why);
size_t __wrap_lap_manifest_unbelieved(const lap_manifest *manifest, bool *is_all, lap_error *why)
{
    (void)manifest;
    *is_all = sys.is_all;
    *why = (lap_error){.code = LAP_E_CHANGED, .message = "unbelieved"};
    return sys.unbelieved;
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    if (strikes("stat", path))
        return -1;
    const int result_of_call = __real_stat(path, st);
    if (sys.has_vanished && strstr(path, sys.vanishes)) {
        st->st_ino += sys.has_other_inode;
        st->st_dev += sys.has_other_device;
    }
    return result_of_call;
}

int __real_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st)
{
    if (sys.vanishes && strstr(path, sys.vanishes) && sys.vanishes_after-- == 0) {
        sys.has_vanished = true;
        if (!sys.has_other_inode && !sys.has_other_device)
            assert_int_equal(rename(sys.vanishes, "away"), 0);
    }
    return strikes("lstat", path) ? -1 : __real_lstat(path, st);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return strikes("opendir", path) ? NULL : __real_opendir(path);
}

struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir)
{
    return strikes("readdir", "") ? NULL : __real_readdir(dir);
}

int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags)
{
    return strikes("unlinkat", name) ? -1 : __real_unlinkat(folder, name, flags);
}

int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    return strikes("fstatat", name) ? -1 : __real_fstatat(folder, name, st, flags);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return strikes("calloc", "") ? NULL : __real_calloc(count, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes("strdup", text) ? NULL : __real_strdup(text);
}

char *__real_getcwd(char *path, size_t size);
char *__wrap_getcwd(char *path, size_t size);
char *__wrap_getcwd(char *path, size_t size)
{
    return strikes("getcwd", "") ? NULL : __real_getcwd(path, size);
}

lap_code __real_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    if (strikes("hash", name)) {
        errno = EACCES;
        return lap_fail(err, (lap_code)sys.why, "struck");
    }
    return __real_lap_content_hash(folder, name, there, hash, err);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put", "") ? lap_fail(err, LAP_E_MEMORY, "no memory")
                              : __real_lap_map64_put(map, key, value, err);
}

/* The user cancels the run for one look only: an answer that is not passed on is lost. */
lap_code __real_lap_control_check(const lap_control *control, lap_error *err);
lap_code __wrap_lap_control_check(const lap_control *control, lap_error *err);
lap_code __wrap_lap_control_check(const lap_control *control, lap_error *err)
{
    if (!strikes("check", ""))
        return __real_lap_control_check(control, err);
    sys.call = NULL;
    return lap_fail(err, LAP_E_CANCELLED, "cancelled");
}

/* ---- a run --------------------------------------------------------------------------------------------- */

static lap_tree tree;
static lap_batch_options options;
static lap_batch_prune result;
static lap_error err;
static const char *inputs[3];
static struct {
    bool stopped;
    atomic_int cancel;
    int reports, warnings;
    char output[MOST][64], problem[MOST][160], warned[MOST][256];
    char subject[256]; /* of the last warning */
} run;
static struct {
    size_t operand;
    const char *output;
} notes[MOST];
static int note_count;

static char *keep(const char *text)
{
    char *copy = strdup(text);
    assert_true(copy && sys.kept_count < 64);
    return sys.kept[sys.kept_count++] = copy;
}

static const char *real(const char *path)
{
    char text[PATH_MAX];
    assert_non_null(realpath(path, text));
    return keep(text);
}

static void on_removed(void *user, const char *output, const lap_error *problem)
{
    assert_ptr_equal(user, &run);
    assert_true(run.reports < MOST);
    snprintf(run.output[run.reports], sizeof run.output[0], "%s", output);
    if (problem) {
        assert_int_equal(problem->code, LAP_E_WRITE);
        const size_t cut =
            strlen(output) < sizeof problem->subject ? 0 : strlen("..."); /* its start is missing */
        const char *subject = problem->subject + cut;
        assert_string_equal(subject, output + strlen(output) - strlen(subject));
    }
    snprintf(run.problem[run.reports++], sizeof run.problem[0], "%.150s", problem ? problem->message : "");
}

static void on_warning(void *user, const lap_error *warning)
{
    assert_ptr_equal(user, &run);
    assert_true(run.warnings < MOST);
    snprintf(run.warned[run.warnings++], sizeof run.warned[0], "%.250s", warning->message);
    snprintf(run.subject, sizeof run.subject, "%s", warning->subject);
}

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    memset(&run, 0, sizeof run);
    err = (lap_error){0};
    inputs[0] = "in";
    options = (lap_batch_options){
        .inputs = inputs, .input_count = 1, .out_dir = "out", .prune = &result, .warn = on_warning};
    note_count = 0;
    if (chdir(scratch) != 0 || mkdir("in", 0777) != 0 || mkdir("out", 0777) != 0)
        return -1;
    put("in/stays.jpg", "a photo");
    notes[note_count++].output = "stays.jpg";
    return lap_tree_open("out", &tree, NULL) != LAP_OK;
}

static int end(void **state)
{
    (void)state;
    sys.call = NULL;
    for (int i = 0; i < sys.kept_count; i++)
        free(sys.kept[i]);
    lap_tree_close(&tree);
    if (chdir("/") != 0)
        return -1;
    empty_scratch();
    return 0;
}

/* The record of an output whose photo was `input`, in the folder `folder`, or, if that is NULL, what a record
 * of version 0.1 says. */
static lap_manifest_line from(lap_manifest_line line, const char *input, const char *folder)
{
    struct stat st;
    line.input = keep(input);
    line.folder = NULL;
    if (folder) {
        line.folder = real(folder);
        assert_int_equal(__real_stat(folder, &st), 0);
        line.folder_device = (int64_t)st.st_dev;
        line.folder_inode = (int64_t)st.st_ino;
        line.below = (int64_t)(strlen(input) - strlen(folder) - 1);
    }
    return line;
}

/* Makes an output in out, and its record. */
static lap_manifest_line made(const char *output, const char *input, const char *folder)
{
    char path[64];
    struct stat st;
    uint64_t content;
    snprintf(path, sizeof path, "out/%s", output);
    put(path, "edges");
    assert_int_equal(__real_stat(path, &st), 0);
    assert_int_equal(__real_lap_content_hash(AT_FDCWD, path, &st, &content, NULL), LAP_OK);
    lap_manifest_line line = lap_manifest_line_of(1, keep(output), &st, content);
    line.is_done = true;
    return from(line, input, folder);
}

/* The first two records name a folder that does not exist any more; their inputs are old/NAME. */
static void record_old_folder(void)
{
    for (int i = 0; i < 2; i++) {
        sys.own[i].folder = "/nowhere/old";
        sys.own[i].folder_inode++;
        sys.own[i].below = (int64_t)(strlen(sys.own[i].input) - strlen("old/"));
    }
}

/* The output of in/a.jpg, which is gone. */
static lap_manifest_line *gone(void)
{
    sys.own[sys.own_count] = made("a.jpg", "in/a.jpg", "in");
    return &sys.own[sys.own_count++];
}

static bool is_there(const char *output)
{
    char path[64];
    snprintf(path, sizeof path, "out/%s", output);
    return access(path, F_OK) == 0;
}

static lap_code prune(void)
{
    static struct stat st;
    lap_prune *p = (lap_prune *)&result; /* lap_prune_create sets it also if it fails */
    lap_control control = {.cancel = &run.cancel};
    const int opened = open_files();
    run.reports = run.warnings = sys.readings = 0;
    sys.is_watched = false;
    result = (lap_batch_prune){.each = on_removed,
        .user = &run,
        .removed = 9,
        .failed = 9,
        .kept = 9,
        .hidden = 9,
        .changed = 9,
        .elsewhere = 9,
        .others = 9,
        .hidden_by = "earlier",
        .refused = {.code = LAP_E_WRITE}};
    lap_code code = lap_prune_create(&options, &p, &err);
    assert_int_equal(p != NULL, code == LAP_OK);
    for (int i = 0; i < note_count && code == LAP_OK; i++) {
        const lap_walk_entry entry = {.path = "p", .relative = "p", .stat = &st, .operand = notes[i].operand};
        code = lap_prune_note(p, &entry, notes[i].output, &err);
    }
    const lap_prune_run ended = {.tree = &tree, .control = &control, .stopped = run.stopped, .user = &run};
    if (code == LAP_OK)
        code = lap_prune_outputs(p, &ended, &err);
    lap_prune_free(p);
    assert_int_equal(open_files(), opened);
    return code;
}

static void assert_counts(uint64_t removed, uint64_t kept, uint64_t changed, uint64_t elsewhere)
{
    assert_int_equal(result.removed, removed);
    assert_int_equal(result.kept, kept);
    assert_int_equal(result.changed, changed);
    assert_int_equal(result.elsewhere, elsewhere);
}

/* What was counted besides: nothing. */
static void assert_no_more(void)
{
    assert_int_equal(result.failed, 0);
    assert_int_equal(result.hidden, 0);
    assert_int_equal(result.others, 0);
    assert_int_equal(result.refused.code, LAP_OK);
}

/* The only output, a.jpg, stays, and a problem is reported. */
static void assert_kept(const char *problem)
{
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.failed, 1);
    assert_int_equal(run.reports, 1);
    assert_string_equal(run.output[0], "out/a.jpg");
    assert_string_equal(run.problem[0], problem);
    assert_true(is_there("a.jpg"));
}

static void assert_refused(lap_code code, const char *subject, const char *message)
{
    assert_int_equal(result.refused.code, code);
    assert_string_equal(result.refused.subject, subject);
    assert_string_equal(result.refused.message, message);
    assert_int_equal(result.removed, 0);
    assert_int_equal(run.reports, 0);
}

/* ---- what goes and what stays -------------------------------------------------------------------------- */

static void plain(void **state)
{
    static const char *const shown[][2] = {
        {"out", "out/a.jpg"}, {"out///", "out/a.jpg"}, {"./out/", "./out/a.jpg"}};
    (void)state;
    sys.own[sys.own_count++] = made("stays.jpg", "in/stays.jpg", "in");
    for (size_t i = 0; i < 3; i++)
        for (int dry = 1; dry >= 0; dry--) {
            sys.own_count = 1;
            (void)gone();
            sys.own[sys.own_count] = sys.own[1]; /* two lines of one file: it is counted once */
            sys.own_count++;
            options.out_dir = shown[i][0];
            options.dry_run = dry;
            sys.looked_below = sys.looked_above = 0;
            assert_int_equal(prune(), LAP_OK);
            assert_counts(1, 0, 0, 0);
            assert_no_more();
            assert_int_equal(run.reports, 1);
            assert_string_equal(run.output[0], shown[i][1]);
            assert_string_equal(run.problem[0], "");
            assert_int_equal(is_there("a.jpg"), dry);
            assert_true(is_there("stays.jpg"));
            assert_int_equal(run.warnings, 0);
            assert_int_equal(sys.looked_above, 1);
            assert_in_range(sys.looked_below, 1, 2);
        }
    assert_int_equal(prune(), LAP_OK); /* the next run finds nothing */
    assert_counts(0, 0, 0, 0);
    assert_int_equal(run.reports, 0);
}

/* The output's name as messages show it: below the named output folder, unless that is too long for a path.
 */
static void shown(void **state)
{
    char far[PATH_MAX];
    static const char slashes[] =
        "x//"; /* the output folder is "/", and a slash stands before it in memory */
    (void)state;
    (void)gone();
    options.dry_run = true;
    options.out_dir = slashes + 2;
    assert_int_equal(prune(), LAP_OK);
    assert_string_equal(run.output[0], "/a.jpg");
    options.out_dir = far;
    memset(far, 'o', sizeof far);
    for (int more = 0; more < 2; more++) {
        far[PATH_MAX - strlen("/a.jpg") - 1 + (size_t)more] = '\0';
        assert_int_equal(prune(), LAP_OK);
        assert_counts(1, 0, 0, 0);
        assert_int_equal(run.reports, !more);
        far[PATH_MAX - strlen("/a.jpg") - 1] = 'o';
    }
}

/* An output that a photo of this run leads to stays, and so does one whose photo is there though no walk
 * found it. A folder is no photo. */
static void photos(void **state)
{
    (void)state;
    (void)gone();
    notes[note_count++].output = "a.jpg";
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    note_count--;
    put("in/a.jpg", "hidden from the walk");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    assert_true(is_there("a.jpg"));
    assert_int_equal(unlink("in/a.jpg"), 0);
    assert_int_equal(symlink("nowhere", "in/a.jpg"), 0); /* a link is a name, too */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(unlink("in/a.jpg"), 0);
    assert_int_equal(mkdir("in/a.jpg", 0777), 0);
    put("in/a.jpg/b.jpg", "x");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_false(is_there("a.jpg"));
}

/* The record must describe the very file. */
static void changed(void **state)
{
    (void)state;
    for (int fact = 0; fact < 6; fact++) {
        sys.own_count = 0;
        lap_manifest_line *line = gone();
        line->device += fact == 0;
        line->inode += fact == 1;
        line->size += fact == 2;
        line->mtime_s += fact == 3;
        line->mtime_ns ^= fact == 4;
        line->has_content = fact != 5;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 1, 0);
        assert_no_more();
        assert_true(is_there("a.jpg"));
        assert_int_equal(run.reports, 0);
        put("in/a.jpg", "x"); /* with a photo, the file concerns nobody */
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(unlink("in/a.jpg"), 0);
        /* Several lines are counted once, and not at all if another line describes the file. */
        sys.own[1] = sys.own[0];
        sys.own_count = 2;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 1, 0);
        (void)gone();
        options.dry_run = true;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(1, 0, 0, 0);
        options.dry_run = false;
    }
    sys.own_count = 0;
    gone()->content++; /* the content of the file is another one */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 1, 0);
    assert_no_more();
    assert_true(is_there("a.jpg"));
    assert_int_equal(run.reports, 0);
    sys.own[1] = sys.own[0]; /* a later line describes it */
    sys.own[1].content--;
    sys.own_count = 2;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
}

/* At the output's name is no file, or nothing, or it has no name. */
static void no_file(void **state)
{
    (void)state;
    lap_manifest_line *line = gone();
    assert_int_equal(unlink("out/a.jpg"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    assert_int_equal(symlink("b", "out/a.jpg"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    static const char *const names[] = {"", "deep/", "deep/a.jpg", "../in/stays.jpg"};
    for (size_t i = 0; i < 4; i++) {
        line->output = names[i];
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
    }
    assert_true(access("in/stays.jpg", F_OK) == 0);
    /* In the way to it: a folder without it, a file, a link, a name that no folder can have. */
    char far[NAME_MAX + 16];
    memset(far, 'd', NAME_MAX + 1);
    strcpy(far + NAME_MAX + 1, "/a.jpg");
    assert_int_equal(mkdir("out/deep", 0777), 0);
    put("out/file", "x");
    assert_int_equal(symlink("deep", "out/link"), 0);
    const char *const ways[] = {"deep/a.jpg", "deep/", "file/a.jpg", "link/a.jpg", far};
    for (size_t i = 0; i < 5; i++) {
        line->output = ways[i];
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.failed, i == 4);
        assert_int_equal(run.reports, i == 4);
    }
    assert_string_equal(run.problem[0], "cannot be examined: File name too long");
    line->output = "a.jpg";
    sys.call = "fstatat", sys.of = "a.jpg", sys.why = EIO;
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.failed, 1);
    assert_string_equal(run.problem[0], "cannot be examined: Input/output error");
}

/* Errors keep an output, are counted, and named. */
static void failing(void **state)
{
    static const struct {
        const char *call, *of;
        int why, after;
        const char *problem;
    } cases[] = {
        {"unlinkat", "a.jpg", EACCES, 0, "cannot be removed: Permission denied"},
        {"hash", "a.jpg", LAP_E_UNREADABLE, 0, "is kept, because it cannot be read: Permission denied"},
        {"lstat", "in/a.jpg", EACCES, 0,
            "is kept, because lapedge cannot check whether its photo exists: Permission denied"},
        {"opendir", "/in", EACCES, 0,
            "is kept, because lapedge cannot check whether its photo exists: Permission denied"},
        {"readdir", NULL, EIO, 0,
            "is kept, because lapedge cannot check whether its photo exists: Input/output error"},
    };
    (void)state;
    (void)gone();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sys.call = cases[i].call, sys.of = cases[i].of, sys.why = cases[i].why, sys.after = cases[i].after;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_kept(cases[i].problem);
    }
    result.each = NULL;
    sys.call = "hash", sys.of = "a.jpg", sys.why = LAP_E_MEMORY, sys.after = 0;
    assert_int_equal(prune(), LAP_E_MEMORY);
    sys.after = 0, sys.why = LAP_E_CHANGED; /* somebody writes it at this moment */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 1, 0);
    assert_int_equal(result.failed, 0);
    assert_true(is_there("a.jpg"));
    /* Wherever memory runs out, the run says so, and the file is removed only at the last of these places. */
    int after = 0;
    for (lap_code code = LAP_E_MEMORY; code != LAP_OK; after++) {
        assert_true(is_there("a.jpg"));
        sys.call = "put", sys.of = NULL, sys.after = after;
        code = prune();
        assert_true(code == LAP_E_MEMORY || code == LAP_OK);
        if (!is_there("a.jpg")) {
            sys.own_count = 0;
            (void)gone();
        }
    }
    assert_int_equal(after, 1 + 4);
}

#define UNCHECKED "is kept, because lapedge cannot check whether its photo exists: Stale file handle"

/* Errors that pass, in either reading: what was not asked of all records stays. */
static void failing_once(void **state)
{
    static const struct {
        const char *call, *of;
        int after, claims; /* by records of other folders */
        const char *problem;
    } cases[] = {
        {"lstat", "in/a.jpg", 0, 1, UNCHECKED}, {"opendir", "/in", 0, 1, UNCHECKED},
        {"fstatat", "a.jpg", 0, 1, "cannot be examined: Stale file handle"},
        {"fstatat", "a.jpg", 1, 1, "cannot be examined: Stale file handle"}, /* for the claim */
        {"fstatat", "a.jpg", 1, 0, "cannot be examined: Stale file handle"}, /* in the second reading */
    };
    (void)state;
    assert_int_equal(mkdir("claim", 0777), 0);
    put("claim/y.jpg", "y");
    (void)gone();
    sys.other[0] = from(sys.own[0], "claim/x.jpg", "claim");
    sys.once = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sys.call = cases[i].call, sys.of = cases[i].of, sys.why = ESTALE, sys.after = cases[i].after;
        sys.other_count = cases[i].claims;
        assert_int_equal(prune(), LAP_OK);
        assert_null(sys.call);
        assert_kept(cases[i].problem);
    }
    put("claim/x.jpg", "x"); /* which is there for certain */
    sys.call = "lstat", sys.of = "in/a.jpg", sys.why = ESTALE, sys.after = 0;
    sys.other_count = 1;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
}

/* One of two records of an output cannot be checked for a moment: then the other one alone does not decide,
 * in whatever order they are. */
static void doubted(void **state)
{
    static const char *const calls[] = {"lstat", "stat", "opendir", "fstatat"};
    int reached = 0;
    (void)state;
    assert_int_equal(mkdir("claim", 0777), 0);
    put("claim/x.jpg", "x");
    put("claim/y.jpg", "y");
    inputs[1] = "claim";
    options.input_count = 2;
    notes[note_count].operand = 1;
    notes[note_count++].output = "y.jpg";
    (void)gone();
    sys.own_count = 2;
    sys.own[1] = from(sys.own[0], "claim/x.jpg", "claim");
    sys.once = true;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            for (int after = 0; after < 16; after++) {
                sys.call = calls[i], sys.of = NULL, sys.why = EIO, sys.after = after;
                assert_int_equal(prune(), LAP_OK);
                reached += sys.call == NULL;
                sys.call = NULL;
                assert_counts(0, 0, 0, 0);
                assert_true(is_there("a.jpg"));
            }
        const lap_manifest_line first = sys.own[0];
        sys.own[0] = sys.own[1];
        sys.own[1] = first;
    }
    assert_true(reached > 10);
    sys.call = "lstat", sys.of = "claim/x.jpg", sys.why = ESTALE, sys.after = 0;
    assert_int_equal(prune(), LAP_OK);
    assert_kept(UNCHECKED);
}

/* An output that was not there in the first reading, and is in the second. */
static void found_late(void **state)
{
    (void)state;
    (void)gone();
    sys.once = true;
    sys.call = "fstatat", sys.of = "a.jpg", sys.why = ENOENT, sys.after = 0;
    assert_int_equal(prune(), LAP_OK);
    assert_kept("is kept, because lapedge did not find its photo gone when it first looked");
}

/* The folder of this run goes away, with its disk, while its photos are looked for. */
static void vanishing(void **state)
{
    (void)state;
    (void)gone();
    sys.own[sys.own_count++] = made("b.jpg", "in/b.jpg", "in");
    put("in/b.jpg", "b");
    for (int after = 0; after < 3; after++) {
        sys.vanishes = "in", sys.vanishes_after = after;
        assert_int_equal(prune(), LAP_OK);
        sys.vanishes = NULL, sys.has_vanished = false;
        assert_refused(LAP_E_CHANGED, "in", "was moved or replaced during the run");
        assert_true(is_there("a.jpg") && is_there("b.jpg"));
        assert_int_equal(rename("away", "in"), 0);
    }
    for (int device = 0; device < 2; device++) { /* another folder takes its place */
        sys.has_other_inode = !device, sys.has_other_device = device;
        sys.vanishes = "in", sys.vanishes_after = 0, sys.has_vanished = false;
        assert_int_equal(prune(), LAP_OK);
        sys.vanishes = NULL, sys.has_vanished = false;
        assert_refused(LAP_E_CHANGED, "in", "was moved or replaced during the run");
        assert_true(is_there("a.jpg"));
    }
    sys.own_count = 1;
    sys.call = "stat", sys.of = "/in", sys.why = EIO; /* or it cannot be examined */
    int reported = 0;
    for (int after = 0; after < 8; after++) {
        sys.call = "stat", sys.of = "/in", sys.why = EIO, sys.after = after, sys.once = true;
        assert_int_equal(prune(), LAP_OK);
        const bool was_reached = sys.call == NULL;
        sys.call = NULL;
        assert_int_equal(result.removed + result.failed + (result.refused.code != LAP_OK), 1);
        const bool counts = after != 1; /* the second call only notes which folders have moved */
        assert_int_equal(result.removed, !(was_reached && counts));
        assert_true(result.refused.code != LAP_E_CHANGED);
        reported += result.failed > 0;
        if (!is_there("a.jpg"))
            sys.own[0] = made("a.jpg", "in/a.jpg", "in");
    }
    assert_true(reported >= 2);
}

/* A record of a file that was copied since, as from a backup, needs the copy. */
static void copied(void **state)
{
    (void)state;
    assert_int_equal(mkdir("claim", 0777), 0);
    put("claim/x.jpg", "x");
    const lap_manifest_line whole = *gone();
    lap_manifest_line copy = from(whole, "claim/x.jpg", "claim");
    copy.inode++;
    options.dry_run = true;
    for (int place = 0; place < 3; place++) { /* before, after, and above */
        sys.own_count = place < 2 ? 2 : 1;
        sys.own[place == 0] = whole;
        sys.own[place != 0] = copy;
        sys.other_count = place == 2;
        sys.other[0] = copy;
        if (place == 2)
            sys.own[0] = whole;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
    }
    static const char *const calls[] = {"lstat", "stat"};
    for (int is_own = 0; is_own < 2; is_own++) /* the photo, or its folder, may be there */
        for (int i = 0; i < 2; i++) {
            sys.own_count = 1 + is_own;
            sys.own[is_own] = whole;
            sys.own[!is_own] = is_own ? copy : whole;
            sys.other_count = !is_own;
            sys.call = calls[i], sys.of = "/claim", sys.why = ESTALE, sys.after = 0;
            assert_int_equal(unlink("claim/x.jpg"), 0);
            assert_int_equal(prune(), LAP_OK);
            sys.call = NULL;
            assert_kept(UNCHECKED);
            put("claim/x.jpg", "x");
        }
    sys.own_count = sys.other_count = 1;
    sys.own[0] = whole;
    for (int i = 0; i < 3; i++) { /* not a copy of this file, or not known */
        sys.other[0] = copy;
        sys.other[0].size += i == 0;
        sys.other[0].content += i == 1;
        sys.other[0].has_content = i != 2;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(1, 0, 0, 0);
        assert_no_more();
    }
    sys.other[0] = copy;
    assert_int_equal(unlink("claim/x.jpg"), 0); /* the folder is empty: perhaps not mounted */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 1, 0, 0);
    assert_no_more();
    sys.other[1] = copy; /* another record of it decides, if its photo is there, and is counted once if not */
    sys.other_count = 2;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 1, 0, 0);
    sys.other[1] = from(copy, "in/stays.jpg", "in");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    sys.other_count = 1;
    assert_int_equal(symlink("nowhere", "claim/d"), 0);
    sys.other[0] = copy;
    sys.other[0].input = "claim/d/x.jpg";
    sys.other[0].below = (int64_t)strlen("d/x.jpg");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.hidden, 1);
    assert_int_equal(unlink("claim/d"), 0);
    sys.other[0] = copy;
    for (int force = 0; force < 2; force++) { /* or it is not there */
        assert_int_equal(rename("claim", "away"), 0);
        options.force = force;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(force, 0, 0, !force);
        assert_no_more();
        assert_int_equal(rename("away", "claim"), 0);
    }
    options.force = options.dry_run = false;
    put("claim/y.jpg", "y");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_false(is_there("a.jpg"));
}

/* A copy's photo is looked for where the record says, not where the words of its command line lead now. If
 * its folder is gone, whatever is around that folder says nothing about the photo. */
static void copied_from_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(mkdir("around", 0777) + mkdir("around/claim", 0777), 0);
    put("around/claim/x.jpg", "x");
    sys.other[0] = from(*gone(), "around/claim/x.jpg", "around/claim");
    sys.other[0].input = "words/x.jpg";
    sys.other[0].inode++;
    sys.other_count = 1;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    assert_int_equal(rename("around/claim", "away"), 0); /* which leaves an empty folder */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_no_more();
    assert_true(is_there("a.jpg"));
}

/* A claim's folder is a link by now: to another folder with its inode, on another disk. A device number alone
 * may change. */
static void claimed_behind_a_link(void **state)
{
    struct stat st;
    (void)state;
    assert_int_equal(mkdir("claim", 0777) + mkdir("disk", 0777), 0);
    put("claim/y.jpg", "y");
    put("disk/y.jpg", "y");
    lap_manifest_line claim = from(*gone(), "claim/x.jpg", "claim");
    options.dry_run = true;
    claim.folder_device++;
    sys.other[0] = claim;
    sys.other_count = 1;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(rename("claim", "away") + symlink("disk", "claim"), 0);
    assert_int_equal(__real_stat("disk", &st), 0);
    claim.folder_inode = (int64_t)st.st_ino;
    for (int copy = 0; copy < 2; copy++)
        for (int device = 0; device < 2; device++) {
            claim.folder_device = (int64_t)st.st_dev + device;
            sys.own[1] = sys.other[0] = claim;
            sys.own[1].inode++;
            sys.own_count = 1 + copy;
            sys.other_count = !copy;
            assert_int_equal(prune(), LAP_OK);
            assert_counts(!device, 0, 0, device);
            assert_no_more();
        }
}

/* The folder of a copy's photo vanishes, or cannot be examined, while the photo is looked for. */
static void copied_from_a_folder_that_vanishes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("claim", 0777) + mkdir("empty", 0777), 0);
    put("claim/y.jpg", "y");
    inputs[1] = "claim";
    options.input_count = 2;
    notes[note_count].operand = 1;
    notes[note_count++].output = "y.jpg";
    const lap_manifest_line whole = *gone();
    sys.own[0] = from(whole, "claim/x.jpg", "claim");
    sys.own[0].inode++;
    sys.own[1] = whole;
    sys.own_count = 2;
    sys.vanishes = "claim";
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "claim", "was moved or replaced during the run");
    sys.vanishes = NULL, sys.has_vanished = false;
    assert_int_equal(rename("away", "claim"), 0);
    options.input_count = 1; /* the folder belongs to no run */
    note_count = 1;
    sys.own[2] = sys.own[0];
    sys.own[0] = from(sys.own[2], "empty/x.jpg", "empty");
    sys.own_count = 3;
    sys.own[1] = sys.own[2];
    sys.own[2] = whole;
    sys.call = "stat", sys.of = "/claim", sys.why = ESTALE, sys.after = 1, sys.once = true;
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_int_equal(result.failed, 1);
    assert_string_equal(run.problem[0], UNCHECKED);
    assert_true(is_there("a.jpg"));
    sys.own[0].folder = sys.own[1].folder = NULL; /* of version 0.1, and the current folder is not known */
    sys.own[1].input = sys.own[0].input;
    sys.call = "getcwd", sys.of = NULL, sys.why = ESTALE, sys.after = 1, sys.once = false;
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_int_equal(result.failed, 1);
    assert_string_equal(run.problem[0], UNCHECKED);
    assert_true(is_there("a.jpg"));
}

/* A file that lapedge wrote there again is no copy of the one that an earlier record describes. A record that
 * is not earlier may have come with its copy, from a folder that was copied and is synchronised. */
static void written_again(void **state)
{
    (void)state;
    assert_int_equal(mkdir("claim", 0777), 0);
    put("claim/x.jpg", "x");
    const lap_manifest_line whole = *gone();
    sys.own[1] = from(whole, "claim/x.jpg", "claim");
    sys.own[1].inode++;
    sys.own_count = 2;
    options.dry_run = true;
    sys.begun_count = 1;
    sys.begun[0] = whole;
    sys.begun[0].is_done = false;
    for (int later = -3; later <= 3; later++) { /* a nanosecond, none, or seconds */
        sys.own[1].mtime_s = whole.mtime_s + later / 2;
        sys.own[1].mtime_ns = later / 2 ? 1000000000 - 1 - whole.mtime_ns : whole.mtime_ns + later;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(later < 0, 0, 0, 0);
        assert_no_more();
    }
    sys.own[1].mtime_s = whole.mtime_s - 1;
    for (int other = 0; other < 7; other++) { /* what was written was another file */
        sys.begun[0] = whole;
        sys.begun[0].is_done = false;
        sys.begun[0].device += other == 1;
        sys.begun[0].inode += other == 2;
        sys.begun[0].size += other == 3;
        sys.begun[0].mtime_s += other == 4;
        sys.begun[0].mtime_ns += other == 5;
        sys.begun[0].output = other == 6 ? "b.jpg" : "a.jpg";
        assert_int_equal(prune(), LAP_OK);
        assert_counts(other == 0, 0, 0, 0);
        assert_no_more();
    }
    sys.call = "put", sys.after = 1, sys.of = NULL;
    assert_int_equal(prune(), LAP_E_MEMORY);
}

/* After a folder was renamed and all outputs were made again, the records of its old name need nothing: it is
 * the same folder. A folder of this name that is another one may not be believed. */
static void copied_by_a_renamed_folder(void **state)
{
    (void)state;
    const lap_manifest_line whole = *gone();
    lap_manifest_line old = whole;
    old.inode++;
    old.folder = keep("/old/name");
    sys.own[0] = old;
    sys.own[1] = whole;
    sys.own_count = 2;
    options.dry_run = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_no_more();
    sys.own[0].folder = whole.folder;
    sys.own[0].folder_inode++;
    for (int force = 0; force < 2; force++) {
        options.force = force;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(force, 0, 0, !force);
        assert_no_more();
    }
    options.force = false;
    sys.own[0].input = "in/stays.jpg"; /* a photo that is there */
    sys.own[0].below = (int64_t)strlen("stays.jpg");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
}

/* Another run writes records while this one removes: the rest stays. */
static void meanwhile(void **state)
{
    (void)state;
    for (int without = 1; without <= 4; without++) {
        sys.own_count = 0;
        (void)gone();
        sys.own[sys.own_count++] = made("b.jpg", "in/b.jpg", "in");
        sys.own[sys.own_count++] = made("c.jpg", "in/c.jpg", "in");
        sys.without_news = without;
        assert_int_equal(prune(), LAP_OK);
        assert_counts((uint64_t)without - 1, 0, 0, 0);
        assert_int_equal(result.failed, 0);
        assert_int_equal(result.refused.code, without < 4 ? LAP_E_CHANGED : LAP_OK);
        assert_string_equal(result.refused.subject, without < 4 ? "out" : "");
        assert_int_equal(is_there("c.jpg"), without < 4);
        assert_int_equal(is_there("b.jpg"), without < 3);
    }
    (void)gone();
    sys.without_news = 1;
    options.dry_run = true; /* which removes nothing, and needs not ask */
    sys.own_count = 0;
    (void)gone();
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    options.dry_run = false;
    sys.news = LAP_E_UNREADABLE;
    assert_int_equal(prune(), LAP_E_UNREADABLE);
    assert_true(is_there("a.jpg"));
}

/* The folder that moved to the root: its name in this run is empty. */
static void root_folder(void **state)
{
    (void)state;
    inputs[0] = "/";
    assert_int_equal(mkdir("moved", 0777), 0);
    sys.own[0] = made("stays.jpg", "moved/stays.jpg", "moved");
    sys.own[1] = made("a.jpg", "moved/no such photo.jpg", "moved");
    sys.own_count = 2;
    assert_int_equal(rmdir("moved"), 0);
    options.force = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_false(is_there("a.jpg"));
}

/* ---- the folders of a photo ---------------------------------------------------------------------------- */

/* An empty folder on the way to the photo may be the mount point of a missing disk. */
static void empty_folders(void **state)
{
    (void)state;
    assert_int_equal(mkdir("in/deep", 0777), 0);
    sys.own[sys.own_count++] = made("a.jpg", "in/deep/er/a.jpg", "in");
    for (int removes = 0; removes < 2; removes++) {
        assert_int_equal(prune(), LAP_OK); /* in/deep is empty */
        assert_counts(0, 1, 0, 0);
        assert_no_more();
        assert_true(is_there("a.jpg"));
    }
    sys.call = "readdir", sys.of = NULL, sys.why = EIO, sys.after = 2; /* after "." and ".." */
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.failed, 1);
    assert_string_equal(
        run.problem[0], "is kept, because lapedge cannot check whether its photo exists: Input/output error");
    put("in/deep/file", "x");
    options.dry_run = true;
    sys.call = "readdir", sys.after = 2 * 3; /* in each of two readings the third entry decides */
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_counts(1, 0, 0, 0);
    assert_no_more();
    assert_int_equal(unlink("in/deep/file"), 0);
    assert_int_equal(rmdir("in/deep"), 0);
    assert_int_equal(prune(), LAP_OK); /* the named folder holds a photo */
    assert_counts(1, 0, 0, 0);
    put("in/deep", "a file in place of the folder");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(unlink("in/deep"), 0);
    assert_int_equal(unlink("in/stays.jpg"), 0); /* and now none */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 1, 0, 0);
    assert_true(is_there("a.jpg"));
}

/* A link that is not followed, or leads nowhere, may hide a photo. */
static void links(void **state)
{
    char path[PATH_MAX];
    lap_batch_take take = {.follow = false};
    (void)state;
    options.take = &take;
    assert_int_equal(mkdir("elsewhere", 0777), 0);
    put("elsewhere/b.jpg", "x");
    sys.own[sys.own_count++] = made("a.jpg", "in/link/a.jpg", "in");
    options.dry_run = true;
    for (int leads = 0; leads < 2; leads++) {
        assert_int_equal(symlink(leads ? "../elsewhere" : "nowhere", "in/link"), 0);
        for (int follow = 0; follow < 2; follow++) {
            take.follow = follow;
            assert_int_equal(prune(), LAP_OK);
            const bool is_hidden = !(follow && leads);
            assert_counts(!is_hidden, 0, 0, 0);
            assert_int_equal(result.hidden, is_hidden);
            assert_int_equal(result.failed, 0);
            snprintf(path, sizeof path, "%s/in/link", real("."));
            assert_string_equal(result.hidden_by, is_hidden ? path : "");
        }
        assert_int_equal(unlink("in/link"), 0);
    }
    /* The first link is named, and each output counts. */
    options.take = NULL;
    assert_int_equal(symlink("nowhere", "in/link"), 0);
    assert_int_equal(symlink("nowhere", "in/other"), 0);
    sys.own[sys.own_count++] = made("b.jpg", "in/other/deep/b.jpg", "in");
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.hidden, 2);
    snprintf(path, sizeof path, "%s/in/link", real("."));
    assert_string_equal(result.hidden_by, path);
    /* A link above the named folder hides nothing. */
    assert_int_equal(symlink("in", "way"), 0);
    sys.own_count = 0;
    (void)gone();
    inputs[0] = "way";
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(result.hidden, 0);
    sys.own[0] = made("a.jpg", "way/a.jpg", NULL); /* also in a record of version 0.1 */
    options.force = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(result.hidden, 0);
    /* Below the root of the system, too, each step counts. */
    inputs[0] = "/";
    snprintf(path, sizeof path, "%s/in/link/a.jpg", real("."));
    sys.own[0] = made("a.jpg", path, "/");
    sys.own[0].below = (int64_t)strlen(path + 1);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.hidden, 1);
    snprintf(path, sizeof path, "%s/in/link", real("."));
    assert_string_equal(result.hidden_by, path);
}

/* ---- the recorded folder ------------------------------------------------------------------------------- */

/* The folder of the run has the recorded name, but is another one: with -f it counts as the recorded one. */
static void replaced(void **state)
{
    char message[400], taken[400];
    (void)state;
    gone()->folder_inode++;
    sys.own[sys.own_count] = made("b.jpg", "in/b.jpg", "in");
    sys.own[sys.own_count++].folder_inode++;
    snprintf(message, sizeof message, "is not the recorded folder, %s: name and inode must be the same",
        real("in"));
    snprintf(taken, sizeof taken, "counts as the recorded folder, %s", real("in"));
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    assert_int_equal(result.refused.remedy, LAP_REMEDY_MOVED);
    options.force = options.dry_run = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(2, 0, 0, 0);
    assert_no_more();
    assert_int_equal(run.warnings, 1);
    assert_string_equal(run.warned[0], taken);
    assert_string_equal(run.subject, "in");
    options.warn = NULL;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(2, 0, 0, 0);
    assert_int_equal(run.warnings, 0);
}

/* The folder was renamed: it has the recorded inode under another name. If a later run has recorded the
 * output for the new name, it is the same folder. */
static void renamed(void **state)
{
    char message[400];
    (void)state;
    lap_manifest_line *line = gone();
    snprintf(message, sizeof message, "%s-before", line->folder);
    line->folder = keep(message);
    snprintf(message, sizeof message, "is not the recorded folder, %s: name and inode must be the same",
        line->folder);
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    line->folder_device++; /* then nothing matches but the words of the command line */
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    line->folder_device--;
    options.dry_run = true;
    options.force = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(run.warnings, 1);
    options.force = false;
    const char *before = line->folder;
    *line = *gone(); /* the later run */
    line->folder = before;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_no_more();
    assert_int_equal(run.warnings, 0);
    put("in/a.jpg", "x"); /* the photo is looked for under the new name */
    sys.own[1].input = "in/b.jpg";
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    assert_int_equal(unlink("in/a.jpg"), 0);
    /* The other record does not count if its folder has the name of this run's, but is another one, or has
     * another name, but is still there. */
    assert_int_equal(mkdir("other", 0777), 0);
    for (int is_other = 0; is_other < 2; is_other++) {
        sys.own_count = 0;
        sys.own[1] = *gone();
        sys.own[0].folder = before;
        if (is_other)
            sys.own[1] = from(sys.own[1], "other/a.jpg", "other");
        sys.own_count = 2;
        sys.own[1].folder_inode += !is_other;
        assert_int_equal(prune(), LAP_OK);
        assert_refused(LAP_E_CHANGED, "in", message);
    }
}

/* The recorded folder is gone, and its other photos are in a folder of this run. */
static void moved(void **state)
{
    char message[400];
    (void)state;
    sys.own[sys.own_count++] = made("stays.jpg", "old/stays.jpg", "in");
    sys.own[sys.own_count++] = made("a.jpg", "old/a.jpg", "in");
    record_old_folder();
    snprintf(
        message, sizeof message, "is not the recorded folder, /nowhere/old: name and inode must be the same");
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    options.force = options.dry_run = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_string_equal(run.output[0], "out/a.jpg");
    put("in/a.jpg", "it has moved, too");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(unlink("in/a.jpg"), 0);
    notes[0].output = "another.jpg"; /* no photo of this run leads to an output of that folder */
    options.force = false;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 2);
    assert_no_more();
}

/* The record of a photo that is behind a link at its place and in the folder of this run. */
static lap_manifest_line hidden_twice(lap_manifest_line line)
{
    assert_int_equal(symlink("nowhere", "in/link") + symlink("nowhere", "old/link"), 0);
    line.input = "old/link/a.jpg";
    line.below = (int64_t)strlen("link/a.jpg");
    return line;
}

static void assert_link_named(const char *link)
{
    char path[PATH_MAX];
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.hidden, 1);
    snprintf(path, sizeof path, "%s/%s", real("."), link);
    assert_string_equal(result.hidden_by, path);
}

/* A photo that is where the record says keeps its output, even if another folder has this name by now, and
 * the recorded folder has moved. */
static void back_in_its_place(void **state)
{
    struct stat st;
    (void)state;
    assert_int_equal(mkdir("old", 0777), 0);
    sys.own[0] = made("stays.jpg", "old/stays.jpg", "old"); /* which has moved to in */
    sys.own[1] = made("a.jpg", "old/a.jpg", "old");
    sys.own[0].folder_inode++;
    sys.own[1].folder_inode++;
    sys.own_count = 2;
    options.force = options.dry_run = true;
    const lap_manifest_line before = sys.own[1];
    sys.own[1] = hidden_twice(before); /* the link in the folder of this run is named */
    assert_link_named("in/link");
    assert_int_equal(unlink("in/link") + unlink("old/link"), 0);
    sys.own[1] = before;
    for (int renamed = 0; renamed < 2; renamed++) {
        assert_int_equal(prune(), LAP_OK); /* the old place is empty */
        assert_counts(0, 1, 0, 0);
        assert_no_more();
        put("old/other", "b");
        put("old/a.jpg", "a");
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
        assert_int_equal(unlink("old/a.jpg"), 0);
        sys.call = "lstat", sys.of = "/old/a.jpg", sys.why = ESTALE, sys.after = 0;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_kept(UNCHECKED);
        assert_int_equal(prune(), LAP_OK);
        assert_counts(1, 0, 0, 0);
        assert_no_more();
        assert_int_equal(stat("in", &st), 0); /* or was renamed, and a later run has found its outputs */
        for (int i = 0; i < 2; i++) {
            sys.own[i].folder_inode = (int64_t)st.st_ino;
            sys.own[i].folder_device = (int64_t)st.st_dev;
        }
        sys.own[2] = from(sys.own[1], "in/a.jpg", "in");
        sys.own_count = 3;
        options.force = false;
        assert_int_equal(unlink("old/other"), 0);
    }
    sys.own[1] = hidden_twice(sys.own[1]);
    sys.own[2] = from(sys.own[1], "in/a.jpg", "in");
    assert_link_named("in/link");
}

/* The photos of a recorded folder were moved to several folders of this run. */
static void moved_to_several(void **state)
{
    (void)state;
    assert_int_equal(mkdir("second", 0777), 0);
    put("one.jpg", "a photo named alone");
    inputs[1] = "one.jpg";
    inputs[2] = "second";
    options.input_count = 3;
    notes[note_count].operand = 2;
    notes[note_count++].output = "y.jpg";
    sys.own[0] = made("stays.jpg", "old/stays.jpg", "in");
    sys.own[1] = made("a.jpg", "old/a.jpg", "in");
    record_old_folder();
    sys.own_count = 2;
    options.force = options.dry_run = true;
    put("second/y.jpg", "y");
    put("second/a.jpg", "a");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    assert_int_equal(unlink("second/a.jpg"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
}

/* A folder was moved, and a link to it has its old name: it is the recorded folder under either name. */
static void moved_behind_a_link(void **state)
{
    (void)state;
    (void)gone();
    options.dry_run = true;
    assert_int_equal(mkdir("big", 0777) + rename("in", "big/in") + symlink("big/in", "in"), 0);
    for (int name = 0; name < 2; name++) {
        inputs[0] = name ? "big/in" : "in";
        put("big/in/a.jpg", "a");
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
        assert_int_equal(unlink("big/in/a.jpg"), 0);
        assert_int_equal(prune(), LAP_OK);
        assert_counts(1, 0, 0, 0);
        assert_no_more();
    }
    sys.own[0].folder_device++; /* the link leads to another disk, where a folder has the same inode */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    sys.own[0].folder_device--;
    sys.own[sys.own_count++] =
        from(sys.own[0], "big/in/a.jpg", "big/in"); /* a later run has found it there */
    sys.own[0].folder = keep("/nowhere/in");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_no_more();
}

/* If several records say something else of a file, what keeps it for certain counts most, then what could not
 * be checked, then what may be out of sight; and whatever counts is counted once. */
static void unsure(void **state)
{
    static const struct {
        const char *own, *other; /* records: G gone, U unsure, T there; V and C are U and T of a copy */
        bool is_there;
    } cases[] = {{"UT", "", true}, {"TU", "", true}, {"UC", "", true}, {"CU", "", true}, {"U", "T", true},
        {"U", "C", true}, {"G", "UT", true}, {"G", "TU", true}, {"G", "UC", true}, {"G", "CU", true},
        {"G", "VT", true}, {"GV", "C", true}, {"VG", "T", true}, {"U", "", false}, {"UG", "", false},
        {"GU", "", false}, {"GV", "", false}, {"VG", "", false}, {"UV", "", false}, {"G", "U", false},
        {"G", "V", false}, {"G", "UV", false}, {"U", "U", false}, {"UU", "UU", false}};
    (void)state;
    options.dry_run = true;
    assert_int_equal(symlink("nowhere", "in/link") + mkdir("in/empty", 0777) + mkdir("other", 0777), 0);
    put("other/b.jpg", "b");
    const lap_manifest_line whole = *gone(), there = from(whole, "in/stays.jpg", "in"),
                            kinds[] = {from(whole, "in/link/a.jpg", "in"),
                                from(whole, "in/empty/a.jpg", "in"), from(whole, "other/a.jpg", "other")};
    assert_int_equal(rename("other", "away"), 0);
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            lap_manifest_line *lines[] = {sys.own, sys.other};
            const char *names[] = {cases[i].own, cases[i].other};
            for (int j = 0; j < 2; j++)
                for (size_t k = 0; k < strlen(names[j]); k++) {
                    const char c = names[j][k];
                    lines[j][k] = c == 'G' ? whole : strchr("TC", c) ? there : kinds[kind];
                    lines[j][k].inode += strchr("VC", c) != NULL;
                }
            sys.own_count = (int)strlen(names[0]);
            sys.other_count = (int)strlen(names[1]);
            for (int fails = 0; fails < 2; fails++) {
                sys.call = fails ? "lstat" : NULL;
                sys.of = "in/stays.jpg", sys.why = EACCES, sys.after = 0, sys.once = false;
                assert_int_equal(prune(), LAP_OK);
                sys.call = NULL;
                const bool counts = !cases[i].is_there;
                assert_counts(0, counts && kind == 1, 0, counts && kind == 2);
                assert_int_equal(result.hidden, counts && kind == 0);
                assert_int_equal(result.failed, fails && cases[i].is_there);
                assert_int_equal(run.reports, result.failed);
            }
        }
    sys.own_count = sys.other_count = 1; /* the order of reasons */
    for (int first = 0; first < 3; first++)
        for (int second = 0; second < 3; second++) {
            const int most = first < second ? first : second;
            sys.own[0] = kinds[first];
            sys.other[0] = kinds[second];
            assert_int_equal(prune(), LAP_OK);
            assert_counts(0, most == 1, 0, most == 2);
            assert_int_equal(result.hidden, most == 0);
        }
}

/* Wherever memory runs out, the run says so, whatever the records say. */
static void without_memory(void **state)
{
    (void)state;
    options.dry_run = true;
    assert_int_equal(mkdir("claim", 0777) + symlink("nowhere", "in/link"), 0);
    put("claim/y.jpg", "y");
    sys.own[0] = made("a.jpg", "in/a.jpg", "in");
    sys.own[1] = from(sys.own[0], "claim/x.jpg", "claim");
    sys.own[1].inode++;
    sys.own[2] = made("b.jpg", "in/link/b.jpg", "in");
    sys.own[3] = made("c.jpg", "in/c.jpg", "in");
    sys.own[3].size++;
    sys.own_count = 4;
    sys.other[0] = from(sys.own[0], "claim/x.jpg", "claim");
    sys.other_count = 1;
    bool was_reached = true;
    for (int after = 0; was_reached; after++) {
        sys.call = "put", sys.of = NULL, sys.after = after, sys.once = true;
        const lap_code code = prune();
        was_reached = sys.call == NULL;
        sys.call = NULL;
        assert_int_equal(code, was_reached ? LAP_E_MEMORY : LAP_OK);
    }
    assert_counts(1, 0, 1, 0);
    assert_int_equal(result.hidden, 1);
}

/* The link that is named hides the photo of an output that is counted. */
static void named_link(void **state)
{
    char path[PATH_MAX];
    (void)state;
    assert_int_equal(symlink("nowhere", "in/link1") + symlink("nowhere", "in/link2"), 0);
    sys.own[0] = made("a.jpg", "in/link1/a.jpg", "in");
    sys.own[1] = from(sys.own[0], "in/stays.jpg", "in");
    sys.own[2] = made("b.jpg", "in/link2/b.jpg", "in");
    sys.own_count = 3;
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.hidden, 1);
    snprintf(path, sizeof path, "%s/in/link2", real("."));
    assert_string_equal(result.hidden_by, path);
    sys.own_count = 2;
    assert_int_equal(prune(), LAP_OK);
    assert_no_more();
    assert_string_equal(result.hidden_by, "");
    for (int copy = 0; copy < 2; copy++) { /* of two links, the one of the first record */
        sys.own[1] = from(sys.own[0], "in/link2/a.jpg", "in");
        sys.own[1].inode += (ino_t)copy;
        assert_int_equal(prune(), LAP_OK);
        snprintf(path, sizeof path, "%s/in/link1", real("."));
        assert_string_equal(result.hidden_by, path);
        assert_int_equal(result.hidden, 1);
    }
    sys.own_count = 3;
    for (int fail = 0; fail < 2; fail++) {
        sys.call = "strdup", sys.of = fail ? "link2" : "link1", sys.after = 0, sys.once = false;
        assert_int_equal(prune(), LAP_E_MEMORY);
        sys.call = NULL;
    }
}

/* A photo that comes back, or is hidden, between the two readings keeps its output, even if another record
 * follows. */
static void changed_between(void **state)
{
    (void)state;
    assert_int_equal(mkdir("in/sub", 0777), 0);
    put("in/sub/stays.jpg", "a");
    sys.own[0] = made("a.jpg", "in/sub/a.jpg", "in");
    sys.own[1] = from(sys.own[0], "in/b.jpg", "in");
    sys.own_count = 2;
    for (int hides = 0; hides < 2; hides++) {
        sys.between = hides ? "link" : "photo";
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.hidden, hides);
        assert_int_equal(result.failed, 0);
        assert_true(is_there("a.jpg"));
        assert_int_equal(hides ? 0 : unlink("in/sub/a.jpg"), 0);
    }
}

/* A photo was replaced by a link: if that leads nowhere, the photo is out of sight. */
static void linked_photo(void **state)
{
    char path[PATH_MAX];
    (void)state;
    (void)gone();
    put("photo", "a");
    for (int is_there = 0; is_there < 2; is_there++) {
        assert_int_equal(symlink(is_there ? "../photo" : "nowhere", "in/a.jpg"), 0);
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.hidden, !is_there);
        snprintf(path, sizeof path, "%s/in/a.jpg", real("."));
        assert_string_equal(result.hidden_by, is_there ? "" : path);
        assert_int_equal(unlink("in/a.jpg"), 0);
    }
}

/* It has not moved if what leads to its outputs is a file, or if it still is in its place for one record. */
static void not_moved(void **state)
{
    (void)state;
    put("one.jpg", "a photo named alone");
    inputs[1] = "one.jpg";
    options.input_count = 2;
    notes[note_count].operand = 1;
    notes[note_count++].output = "one.jpg";
    sys.own[sys.own_count++] = made("one.jpg", "old/one.jpg", "in");
    sys.own[sys.own_count++] = made("a.jpg", "old/a.jpg", "in");
    record_old_folder();
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_no_more();
    assert_int_equal(mkdir("other", 0777), 0);
    put("other/z.jpg", "z");
    sys.own[0] = made("stays.jpg", "other/stays.jpg", "other");
    sys.own[1] = made("a.jpg", "other/a.jpg", "other");
    sys.own[1].folder_inode = -1; /* the next number may be that of this run's folder */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_no_more();
}

/* The recorded folder still exists elsewhere: its photos are no affair of this run. */
static void another(void **state)
{
    char message[600];
    (void)state;
    assert_int_equal(mkdir("other", 0777), 0);
    lap_manifest_line *line = gone();
    *line = made("a.jpg", "other/a.jpg", "other");
    assert_int_equal(prune(), LAP_OK); /* the folder is empty */
    assert_counts(0, 1, 0, 0);
    assert_no_more();
    put("other/z.jpg", "z");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_no_more();
    for (int own = 1; own <= 2; own++) { /* also if another record's photo is gone */
        sys.own[1] = from(*line, "in/a.jpg", "in");
        sys.own_count = own;
        sys.call = "lstat", sys.of = "/other/a.jpg", sys.why = ESTALE, sys.after = 0;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_kept(UNCHECKED);
    }
    sys.own_count = 1;
    assert_int_equal(symlink("nowhere", "other/a.jpg"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.hidden, 1);
    assert_int_equal(unlink("other/a.jpg"), 0);
    put("other/a.jpg", "is there");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(unlink("other/a.jpg"), 0);
    line->size++; /* and the output was changed */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    put("other/a.jpg", "is there");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(unlink("other/a.jpg"), 0);
    line->size--;
    const lap_manifest_line before = *line; /* words that lead to a photo outside say nothing */
    line->folder = "/nowhere/other";
    line->input = "words/a.jpg";
    assert_int_equal(mkdir("words", 0777), 0);
    put("words/a.jpg", "is there");
    for (int force = 0; force < 2; force++) {
        options.force = force;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 1);
    }
    *line = before;
    /* But the words of the command line lead to a folder of this run: perhaps the wrong one was named. */
    line->input = "in/a.jpg";
    snprintf(message, sizeof message,
        "is not the recorded folder, %s, which still exists; name that one, or another OUTDIR", line->folder);
    for (int force = 0; force < 2; force++) {
        options.force = force;
        assert_int_equal(prune(), LAP_OK);
        assert_refused(LAP_E_CHANGED, "in", message);
        assert_int_equal(result.refused.remedy, LAP_REMEDY_NONE);
    }
    line->input = "in/gone/a.jpg"; /* words that lead nowhere here; without memory they count */
    line->below = 5;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_int_equal(result.refused.code, LAP_OK);
    sys.call = "strdup", sys.of = "in/gone";
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    sys.call = NULL;
    line->input = "gone-folder/../in/a.jpg";
    line->below = 5;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    assert_int_equal(result.refused.code, LAP_OK);
}

/* The named folder lies in the recorded one, or that one cannot be examined. */
static void around(void **state)
{
    char message[600];
    (void)state;
    lap_manifest_line *line = gone();
    *line = made("a.jpg", "./in/a.jpg", ".");
    line->below = (int64_t)strlen("in/a.jpg");
    snprintf(message, sizeof message, "lies in the recorded folder, %s; name that one", real("."));
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    *line = made("a.jpg", "in/a.jpg", "in");
    line->folder = "/unknown/place";
    snprintf(
        message, sizeof message, "may not be the recorded folder, /unknown/place, which cannot be examined");
    sys.call = "stat", sys.of = "/unknown/place", sys.why = EACCES;
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in", message);
    line->input = "elsewhere/a.jpg";
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.refused.code, LAP_OK);
    assert_int_equal(result.failed, 1);
    assert_string_equal(
        run.problem[0], "is kept, because lapedge cannot check whether its photo exists: Permission denied");
    sys.of = line->folder = real("in"); /* by name it is the folder of this run */
    for (int force = 0; force < 2; force++) {
        sys.after = 1; /* after the run has looked at its folder */
        options.force = force;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.refused.code, LAP_OK);
        assert_int_equal(result.failed, 1);
        assert_string_equal(run.problem[0],
            "is kept, because lapedge cannot check whether its photo exists: Permission denied");
        assert_true(is_there("a.jpg"));
    }
}

/* Records of version 0.1 name no folder: the words of the command line decide, with -f. */
static void early(void **state)
{
    (void)state;
    sys.own[sys.own_count++] = made("a.jpg", "./in//a.jpg", NULL);
    sys.own[sys.own_count++] = made("b.jpg", "in/b.jpg", NULL);
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "in",
        "may be another folder than the recorded one: records of early versions do not name it");
    assert_int_equal(result.refused.remedy, LAP_REMEDY_MOVED);
    options.force = options.dry_run = true;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(2, 0, 0, 0);
    assert_no_more();
    assert_int_equal(run.warnings, 1);
    assert_string_equal(
        run.warned[0], "counts as the recorded folder, because records of early versions do not name one");
    sys.own[0].input = "elsewhere/a.jpg";
    sys.own[1].input = "inside/b.jpg"; /* no folder of this run, though its name begins alike */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 2);
    put("inside", "x");
    sys.own[1].input = "inside";
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
}

/* Each step of a path counts, but for "." and empty ones. */
static void steps(void **state)
{
    static const char *const photos_there[] = {"in/d/a.jpg", "in/.d/a.jpg", "in/d./a.jpg", "in/../in/a"};
    (void)state;
    options.force = true;
    assert_int_equal(mkdir("in/d", 0777) + mkdir("in/.d", 0777) + mkdir("in/d.", 0777), 0);
    for (size_t i = 0; i < 4; i++)
        for (int is_photo = 1; is_photo >= 0; is_photo--) {
            char path[64];
            snprintf(path, sizeof path, ".//%s%s", photos_there[i], is_photo ? "" : ".gone");
            put(photos_there[i], "x");
            sys.own_count = 0;
            sys.own[sys.own_count++] = made("a.jpg", path, NULL);
            assert_int_equal(prune(), LAP_OK);
            assert_counts(!is_photo, 0, 0, 0);
            assert_no_more();
        }
    sys.own[0] = made("a.jpg", "in/a.jpg", NULL);
    sys.call = "getcwd", sys.why = ENOENT, sys.after = 1;
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_int_equal(result.failed, 1);
    assert_string_equal(run.problem[0],
        "is kept, because lapedge cannot check whether its photo exists: No such file or directory");
}

/* Several folders: each photo in its own, and the second in the first. */
static void several(void **state)
{
    (void)state;
    assert_int_equal(mkdir("more", 0777), 0);
    assert_int_equal(mkdir("in/deep", 0777), 0);
    put("more/c.jpg", "x"), put("in/deep/d.jpg", "x");
    inputs[1] = "more", inputs[2] = "in/deep";
    options.input_count = 3;
    for (size_t i = 1; i < 3; i++) {
        notes[note_count].operand = i;
        notes[note_count++].output = i == 1 ? "c.jpg" : "d.jpg";
    }
    (void)gone();
    sys.own[sys.own_count++] = made("b.jpg", "more/b.jpg", "more");
    sys.own[sys.own_count++] = made("e.jpg", "in/deep/e.jpg", "in/deep");
    sys.own[sys.own_count++] = made("c.jpg", "more/c.jpg", "more");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(3, 0, 0, 0);
    assert_no_more();
    assert_true(is_there("c.jpg") && !is_there("a.jpg") && !is_there("b.jpg") && !is_there("e.jpg"));
}

/* The same with records of version 0.1: each photo is looked for in its own folder. */
static void several_early(void **state)
{
    char path[PATH_MAX];
    (void)state;
    assert_int_equal(mkdir("more", 0777), 0);
    put("more/c.jpg", "x");
    inputs[1] = "more";
    options.input_count = 2;
    notes[note_count].operand = 1;
    notes[note_count++].output = "c.jpg";
    sys.own[sys.own_count++] = made("b.jpg", "more/link/b.jpg", NULL);
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "more",
        "may be another folder than the recorded one: records of early versions do not name it");
    options.force = options.dry_run = true;
    assert_int_equal(symlink("nowhere", "more/link"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.hidden, 1);
    snprintf(path, sizeof path, "%s/more/link", real("."));
    assert_string_equal(result.hidden_by, path);
    assert_int_equal(unlink("more/link"), 0);
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_string_equal(run.subject, "more");
    sys.own[0].size++; /* the output was changed, and with -f the folder counts */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 1, 0);
    /* Only a record above names it, with the second folder. */
    sys.own_count = 0;
    sys.other[sys.other_count++] = made("b.jpg", "more/b.jpg", "more");
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.others, 1);
    sys.other[sys.other_count++] = made("d.jpg", "in/d.jpg", "in"); /* or the first, or none */
    assert_int_equal(mkdir("third", 0777), 0);
    put("third/file", "x");
    sys.other[sys.other_count++] = made("e.jpg", "third/e.jpg", "third");
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.others, 2);
}

/* Outputs in folders below the output folder. */
static void deep_outputs(void **state)
{
    (void)state;
    assert_int_equal(mkdir("out/deep", 0777), 0);
    sys.own[sys.own_count++] = made("deep/a.jpg", "in/deep/a.jpg", "in");
    put("out/a.jpg", "edges");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_string_equal(run.output[0], "out/deep/a.jpg");
    assert_true(is_there("a.jpg") && !is_there("deep/a.jpg"));
    options.dry_run = true; /* however the search for it ends, its folder is closed */
    sys.own[0] = made("deep/a.jpg", "in/deep/a.jpg", "in");
    sys.own[0].size++;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 1, 0);
    sys.own[0].size--;
    sys.other[sys.other_count++] = sys.own[0];
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    sys.own_count = 0;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.others, 1);
}

/* One record of several that needs an output keeps it. */
static void contradicting(void **state)
{
    (void)state;
    put("in/b.jpg", "a photo");
    assert_int_equal(mkdir("in/deep", 0777), 0);
    for (int first = 0; first < 2; first++) {
        sys.own_count = 0;
        (void)gone();
        sys.own[1] = sys.own[0];
        sys.own[first].input = "in/b.jpg";
        sys.own_count = 2;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
        assert_true(is_there("a.jpg"));
        /* Then what a record above says does not matter, nor if this folder's say nothing. */
        sys.other[0] = sys.own[0];
        sys.other[0].input = keep("in/deep/a.jpg");
        sys.other[0].below = (int64_t)strlen("deep/a.jpg");
        sys.other_count = 1;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
        sys.own_count = 0;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_no_more();
        sys.other_count = 0;
    }
}

/* ---- records above and below --------------------------------------------------------------------------- */

/* A record elsewhere that needs the output keeps it; one whose photo is gone, too, gives it up. */
static void claimed(void **state)
{
    (void)state;
    assert_int_equal(mkdir("claim", 0777), 0);
    put("claim/x.jpg", "x");
    (void)gone();
    options.dry_run = true;
    sys.other[sys.other_count++] = from(sys.own[0], "claim/x.jpg", "claim");
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_no_more();
    sys.other[0].size++; /* it means another file */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    sys.other[0].size--;
    assert_int_equal(unlink("claim/x.jpg"), 0);
    put("claim/y.jpg", "y");
    assert_int_equal(prune(), LAP_OK); /* given up */
    assert_counts(1, 0, 0, 0);
    assert_no_more();
    assert_int_equal(unlink("claim/y.jpg"), 0); /* an empty folder: perhaps not mounted */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 1, 0, 0);
    assert_int_equal(rmdir("claim"), 0); /* without the folder, only -f gives up */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 1);
    for (int force = 0; force < 2; force++) { /* perhaps it is there */
        options.force = force;
        sys.call = "stat", sys.of = "/claim", sys.why = EACCES, sys.after = 0;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.failed, 1);
        assert_string_equal(run.problem[0],
            "is kept, because lapedge cannot check whether its photo exists: Permission denied");
    }
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    options.force = false;
    sys.call = "lstat", sys.of = "claim", sys.why = EACCES;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.failed, 1);
    assert_string_equal(run.output[0], "out/a.jpg");
    assert_string_equal(
        run.problem[0], "is kept, because lapedge cannot check whether its photo exists: Permission denied");
    sys.call = NULL;
    sys.other[0].folder = NULL; /* of version 0.1 */
    sys.other[0].input = "in/stays.jpg";
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_true(is_there("a.jpg"));
}

/* Outputs that only such records name are counted, and stay. */
static void others(void **state)
{
    (void)state;
    sys.other[sys.other_count++] = made("a.jpg", "in/a.jpg", "in");
    sys.other[sys.other_count++] = made("b.jpg", "in/b.jpg", "in");
    sys.other[sys.other_count++] = sys.other[1];
    sys.other[sys.other_count++] = made("stays.jpg", "in/stays.jpg", "in");
    for (int removes = 0; removes < 2; removes++) {
        options.dry_run = !removes;
        assert_int_equal(prune(), LAP_OK);
        assert_counts(0, 0, 0, 0);
        assert_int_equal(result.others, 2);
        assert_string_equal(result.others_in, "/above");
        assert_int_equal(run.reports, 0);
        assert_true(is_there("a.jpg") && is_there("b.jpg"));
    }
    sys.other[1].size++; /* one of two lines of b.jpg */
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
    assert_int_equal(result.others, 2);
    sys.other[2].size++;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 1, 0);
    assert_int_equal(result.others, 1);
    put("in/a.jpg", "x");
    assert_int_equal(prune(), LAP_OK);
    assert_int_equal(result.others, 0);
    assert_string_equal(result.others_in, "");
    sys.other[1].folder_inode++; /* the recorded folder is another one */
    sys.other[2].folder_inode++;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(0, 0, 0, 0);
}

/* A claim to a file that no record of the output folder describes is not examined: nothing would remove it.
 */
static void claimed_in_vain(void **state)
{
    (void)state;
    options.dry_run = true;
    sys.other[sys.other_count++] = from(*gone(), "in/away/a.jpg", "in");
    sys.own[0].size++;
    sys.call = "lstat", sys.of = "away/a.jpg", sys.why = EACCES;
    assert_int_equal(prune(), LAP_OK);
    sys.call = NULL;
    assert_counts(0, 0, 1, 0);
    assert_no_more();
}

/* ---- when nothing is removed --------------------------------------------------------------------------- */

static void refused(void **state)
{
    (void)state;
    (void)gone();
    note_count = 0;
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_MISSING, "in", "holds no photo");
    note_count = 1;
    run.stopped = true;
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CANCELLED, "", "the run has stopped early");
    run.stopped = false;
    sys.is_blind = true;
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_UNREADABLE, "", "blind");
    sys.is_blind = false;
    sys.unbelieved = 1;
    sys.is_all = true;
    assert_int_equal(prune(), LAP_OK);
    assert_refused(LAP_E_CHANGED, "", "unbelieved");
    assert_int_equal(sys.looked_above, 1);
    atomic_store(&run.cancel, 1);
    assert_int_equal(prune(), LAP_E_CANCELLED);
    atomic_store(&run.cancel, 0);
    sys.unbelieved = 0;
    sys.below = LAP_E_MEMORY;
    assert_int_equal(prune(), LAP_E_MEMORY);
    sys.below = LAP_OK;
    sys.above = LAP_E_UNREADABLE;
    assert_int_equal(prune(), LAP_E_UNREADABLE);
    sys.above = LAP_OK;
    assert_true(is_there("a.jpg"));
    sys.unbelieved = 1;
    sys.is_all = false;
    assert_int_equal(prune(), LAP_OK);
    assert_counts(1, 0, 0, 0);
    assert_int_equal(run.warnings, 1);
    assert_string_equal(run.warned[0], "unbelieved");
}

/* What an earlier record could not find out is not reported if a later one forbids everything, and the later
 * ones are not looked at. */
static void refused_later(void **state)
{
    (void)state;
    (void)gone();
    sys.own[sys.own_count++] = made("b.jpg", "in/b.jpg", "in");
    sys.own[sys.own_count++] = made("c.jpg", "elsewhere/c.jpg", NULL);
    sys.own[1].folder_inode++;
    for (int is_output = 0; is_output < 2; is_output++) {
        sys.call = is_output ? "fstatat" : "lstat";
        sys.of = is_output ? "a.jpg" : "in/a.jpg";
        sys.why = EACCES;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_int_equal(result.refused.code, LAP_E_CHANGED);
        assert_int_equal(run.reports, 0);
        assert_int_equal(result.failed, 0);
        assert_counts(0, 0, 0, 0);
    }
}

/* The run may be cancelled at each record of each reading; what was removed before is counted. */
static void cancelled(void **state)
{
    (void)state;
    (void)gone();
    sys.other[sys.other_count++] = sys.own[0];
    options.dry_run = true;
    for (int after = 0; after <= 5; after++) {
        sys.call = "check", sys.after = after;
        assert_int_equal(prune(), after < 5 ? LAP_E_CANCELLED : LAP_OK);
        assert_int_equal(result.removed, after >= 4);
        assert_int_equal(run.reports, after >= 4);
    }
}

/* An input that could not be examined may hide photos. */
static void noted(void **state)
{
    lap_prune *p;
    lap_error problem = {.code = LAP_E_UNREADABLE, .message = "first"}, second = {.code = LAP_E_MISSING};
    (void)state;
    result = (lap_batch_prune){.each = NULL};
    assert_int_equal(lap_prune_create(&options, &p, &err), LAP_OK);
    const lap_walk_entry bad = {.problem = &problem}, worse = {.problem = &second};
    const lap_prune_run ended = {.tree = &tree};
    assert_int_equal(lap_prune_outputs(p, &ended, &err), LAP_OK);
    assert_string_equal(result.refused.message, "holds no photo");
    result.refused.code = LAP_OK;
    assert_int_equal(lap_prune_note(p, &bad, NULL, &err), LAP_OK);
    assert_int_equal(lap_prune_note(p, &worse, NULL, &err), LAP_OK);
    assert_string_equal(result.refused.message, "first");
    lap_prune_free(p);
    lap_prune_free(NULL);
    assert_int_equal(lap_prune_note(NULL, &bad, "a", &err), LAP_OK);
    assert_int_equal(lap_prune_outputs(NULL, &ended, &err), LAP_OK);
}

static void not_created(void **state)
{
    static const char *const glob[] = {"*.png"};
    const lap_batch_take takes[] = {{.include = glob, .include_count = 1},
        {.exclude = glob, .exclude_count = 1}, {.extensions = "png"}, {.follow = true}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        options.take = &takes[i];
        err = (lap_error){0};
        assert_int_equal(prune(), i < 3 ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, i < 3 ? "photos left out would look gone" : "");
    }
    options.take = NULL;
    for (uint32_t shards = 0; shards < 3; shards++) {
        options.shards = shards;
        assert_int_equal(prune(), shards < 2 ? LAP_OK : LAP_E_USAGE);
    }
    assert_string_equal(err.message, "a share of the photos does not show which photos are gone");
    options.shards = 0;
    options.files_from = "list";
    assert_int_equal(prune(), LAP_E_USAGE);
    assert_string_equal(err.message, "a list of files does not show which photos are gone");
    options.files_from = NULL;
    inputs[0] = "in/stays.jpg";
    assert_int_equal(prune(), LAP_E_USAGE);
    assert_string_equal(
        err.message, "none of the inputs is a folder, and only photos of a folder can be gone");
    assert_int_equal(result.removed + result.failed + result.kept + result.hidden + result.changed +
                         result.elsewhere + result.others,
        0);
    assert_int_equal(result.refused.code, LAP_OK);
    static const char *const absent[] = {"missing", "in/stays.jpg/x"};
    for (int i = 0; i < 2; i++) { /* the walk reports it */
        inputs[0] = absent[i];
        assert_int_equal(prune(), LAP_OK);
        assert_int_equal(result.refused.code, LAP_OK);
    }
    inputs[0] = "in";
    for (int after = 0; after < 2; after++) {
        sys.call = "stat", sys.of = "in", sys.why = EACCES, sys.after = after;
        assert_int_equal(prune(), LAP_OK);
        sys.call = NULL;
        assert_refused(LAP_E_UNREADABLE, "in", "cannot be examined: Permission denied");
    }
    static const char *const calls[] = {"getcwd", "calloc", "calloc", "stat"};
    for (int i = 0; i < 4; i++) {
        sys.call = calls[i], sys.of = NULL, sys.why = ENOMEM, sys.after = i > 1;
        err = (lap_error){0};
        assert_int_equal(prune(), LAP_E_MEMORY);
        sys.call = NULL;
        assert_string_equal(err.message, "out of memory");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(plain), TEST(shown), TEST(photos), TEST(changed),
        TEST(no_file), TEST(failing), TEST(failing_once), TEST(doubted), TEST(found_late), TEST(vanishing),
        TEST(copied), TEST(copied_from_elsewhere), TEST(claimed_behind_a_link),
        TEST(copied_from_a_folder_that_vanishes), TEST(written_again), TEST(copied_by_a_renamed_folder),
        TEST(meanwhile), TEST(root_folder), TEST(empty_folders), TEST(links), TEST(replaced), TEST(renamed),
        TEST(moved), TEST(back_in_its_place), TEST(moved_to_several), TEST(moved_behind_a_link), TEST(unsure),
        TEST(named_link), TEST(without_memory), TEST(changed_between), TEST(linked_photo), TEST(not_moved),
        TEST(another), TEST(around), TEST(early), TEST(steps), TEST(several), TEST(several_early),
        TEST(deep_outputs), TEST(contradicting), TEST(claimed), TEST(claimed_in_vain), TEST(others),
        TEST(refused), TEST(refused_later), TEST(cancelled), TEST(noted), TEST(not_created)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
