/* What a walk does with outputs of earlier runs: which it takes, which it leaves out and counts, and whose
 * records it reads for that. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/in_place_record.h"
#include "batch/outputs.h"
#include "io/target.h"

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int after;
    lap_code code; /* of those that return one */
    int judged;
    char read[2000]; /* folders whose records of runs were read, each with a space; in place: with a + */
    time_t now;      /* 0: the system's */
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, 0);
}

static lap_code struck(lap_error *err)
{
    return lap_fail_at(err, sys.code, "the subject", "cannot be read");
}

static void note(const char *shown, const char *mark)
{
    const size_t used = strlen(sys.read);
    snprintf(sys.read + used, sizeof sys.read - used, "%s%s ", mark, shown);
}

lap_code __real_lap_known_runs(
    lap_known *known, int folder, const char *shown, bool *is_there, lap_error *err);
lap_code __wrap_lap_known_runs(
    lap_known *known, int folder, const char *shown, bool *is_there, lap_error *err);
lap_code __wrap_lap_known_runs(
    lap_known *known, int folder, const char *shown, bool *is_there, lap_error *err)
{
    note(shown, "");
    const lap_code code = __real_lap_known_runs(known, folder, shown, is_there, err);
    return strikes("runs") ? struck(err) : code; /* it has read a part */
}

lap_code __real_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err);
lap_code __wrap_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err);
lap_code __wrap_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err)
{
    note(shown, "+");
    return strikes("in place") ? struck(err) : __real_lap_known_in_place(known, folder, shown, err);
}

lap_code __real_lap_known_judge(const lap_known *known, int folder, const char *name,
    const struct stat *there, lap_known_as *as, lap_error *err);
lap_code __wrap_lap_known_judge(const lap_known *known, int folder, const char *name,
    const struct stat *there, lap_known_as *as, lap_error *err);
lap_code __wrap_lap_known_judge(const lap_known *known, int folder, const char *name,
    const struct stat *there, lap_known_as *as, lap_error *err)
{
    sys.judged++;
    return strikes("judge") ? struck(err) : __real_lap_known_judge(known, folder, name, there, as, err);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put") ? struck(err) : __real_lap_map64_put(map, key, value, err);
}

void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    return strikes("grow") ? NULL : __real_lap_grow(array, capacity, wanted, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : __real_strdup(text);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return strikes("open") ? -1 : __real_open(path, flags, 0666);
}

time_t __real_time(time_t *now);
time_t __wrap_time(time_t *now);
time_t __wrap_time(time_t *now)
{
    return sys.now ? sys.now : __real_time(now);
}

/* ---- steps ----------------------------------------------------------------------------------------------
 */

static lap_batch_others others;
static lap_outputs outputs;
static int files;
enum { IN_PLACE, RUN, TURNED }; /* who made a file */

static void begin(void)
{
    lap_outputs_free(&outputs);
    memset(&sys, 0, sizeof sys);
    others = (lap_batch_others){.finds_made = true};
    outputs = (lap_outputs){.others = &others};
    empty_scratch();
    files = open_files();
}

static const char *folder(const char *name)
{
    assert_int_equal(mkdir(at(name), 0777), 0);
    return at(name);
}

/* A file that holds its own path, and a line about it in the records of a folder. */
static void made(const char *records, const char *path, int by)
{
    lap_manifest_queue queue = {0};
    struct stat st;
    uint64_t content;
    put(at(path), path);
    assert_int_equal(stat(at(path), &st), 0);
    assert_int_equal(lap_content_hash_path(at(path), &st, &content, NULL), LAP_OK);
    lap_manifest_line line = lap_manifest_line_of(7, "it", &st, content);
    line.maker = by == TURNED ? LAP_MAKER_TRANSFORM : LAP_MAKER_RUN;
    assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
    char name[200];
    snprintf(name, sizeof name, "%s/.lapedge", records);
    if (by != IN_PLACE)
        mkdir(at(name), 0777);
    snprintf(name, sizeof name, "%s/%s", records, by == IN_PLACE ? LAP_IN_PLACE_RECORD : ".lapedge/a.jsonl");
    FILE *file = fopen(at(name), "a");
    assert_non_null(file);
    assert_int_equal(fwrite(queue.bytes, 1, queue.used, file), queue.used);
    assert_int_equal(fclose(file), 0);
    free(queue.bytes);
}

static lap_code enter(const char *name, bool is_named, bool is_out, lap_error *err)
{
    const int fd = __real_open(at(name), O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    lap_outputs_approach(&outputs, at(name), is_named);
    const lap_code code = lap_outputs_enter(&outputs, fd, at(name), is_named, is_out, err);
    close(fd);
    assert_int_equal(open_files(), files);
    return code;
}

static void walk(const char *name, bool is_named, bool is_out)
{
    lap_error err;
    if (enter(name, is_named, is_out, &err) != LAP_OK)
        fail_msg("%s: %s", name, err.message);
}

static lap_code judge(const char *path, bool *is_taken, lap_error *err)
{
    struct stat st;
    char around[512];
    snprintf(around, sizeof around, "%s", at(path));
    char *slash = strrchr(around, '/');
    assert_int_equal(stat(at(path), &st), 0);
    *slash = '\0';
    const int fd = __real_open(around, O_RDONLY | O_DIRECTORY);
    const lap_found file = {fd, slash + 1, at(path), &st};
    const lap_code code = lap_outputs_judge(&outputs, &file, is_taken, err);
    close(fd);
    assert_int_equal(open_files(), files);
    return code;
}

static bool is_taken(const char *path)
{
    bool is = false;
    lap_error err;
    if (judge(path, &is, &err) != LAP_OK)
        fail_msg("%s: %s", path, err.message);
    return is;
}

static lap_code note_named(const char *path, lap_error *err)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    const lap_code code = lap_outputs_note_named(&outputs, path, &st, err);
    assert_int_equal(open_files(), files);
    return code;
}

/* ---- below a named folder --------------------------------------------------------------------------------
 */

static void an_output_folder_ends_where_it_ends(void **unused)
{
    (void)unused;
    begin();
    folder("in");
    folder("in/out");
    folder("in/out/deep");
    folder("in/outer");
    made("in/out", "in/out/a.jpg", RUN);
    made("in/out", "in/out/deep/b.jpg", TURNED);
    made("in/out", "in/outer/c.jpg", RUN);
    put(at("in/out/photo.jpg"), "photo");
    put(at("in/out/deep/photo.jpg"), "photo");
    walk("in", true, false);
    walk("in/out", false, false);
    assert_false(is_taken("in/out/a.jpg"));
    assert_true(is_taken("in/out/photo.jpg"));
    walk("in/out/deep", false, false);
    assert_false(is_taken("in/out/deep/b.jpg"));
    assert_true(is_taken("in/out/deep/photo.jpg"));
    walk("in/outer", false, false);
    assert_true(is_taken("in/outer/c.jpg"));
    assert_true(others.outputs == 2 && others.output_folders == 1 && others.out_photos == 0);
    assert_int_equal(others.left_count, 1);
    assert_string_equal(others.left[0].folder, at("in/out"));
    assert_string_equal(others.left[0].first, at("in/out/a.jpg"));
    assert_true(others.left[0].outputs == 2 && others.left[0].photos == 0);
    assert_true(others.made == 0 && others.ours == 0);
    folder("in/plain");
    put(at("in/plain/photo.jpg"), "photo");
    walk("in/plain", false, false);
    sys.judged = 0;
    assert_true(is_taken("in/plain/photo.jpg"));
    assert_int_equal(sys.judged, 1); /* by what is known of named folders alone */
    lap_outputs_free(&outputs);      /* and once more, without a count */
    walk("in", true, false);
    walk("in/out", false, false);
    assert_false(is_taken("in/out/a.jpg"));
    assert_true(is_taken("in/out/photo.jpg"));
}

/* One output folder in another: what the outer one knows, the inner one need not. */
static void output_folders_in_output_folders(void **unused)
{
    (void)unused;
    begin();
    folder("in");
    folder("in/out");
    folder("in/out/inner");
    made("in/out", "in/out/inner/a.jpg", RUN);
    made("in/out/inner", "in/out/inner/b.jpg", RUN);
    made("in/out", "in/out/c.jpg", RUN);
    walk("in", true, false);
    walk("in/out", false, false);
    assert_false(is_taken("in/out/c.jpg"));
    walk("in/out/inner", false, false);
    assert_false(is_taken("in/out/inner/a.jpg"));
    assert_false(is_taken("in/out/inner/b.jpg"));
    assert_true(others.outputs == 3 && others.output_folders == 2 && others.left_count == 2);
    assert_true(others.left[0].outputs == 2 && others.left[1].outputs == 1);
    assert_string_equal(others.left[1].folder, at("in/out/inner"));
    assert_string_equal(others.left[1].first, at("in/out/inner/b.jpg"));
}

static void this_runs_output_folder(void **unused)
{
    (void)unused;
    begin();
    folder("in");
    folder("in/out");
    folder("in/out/sub");
    made("in/out", "in/out/a.jpg", RUN);
    put(at("in/out/photo.jpg"), "photo");
    put(at("in/out/sub/photo.jpg"), "photo");
    walk("in", true, false);
    assert_false(lap_outputs_is_out(&outputs));
    walk("in/out", false, true);
    assert_true(lap_outputs_is_out(&outputs));
    assert_false(is_taken("in/out/a.jpg"));
    assert_true(others.outputs == 0 && others.left_count == 0); /* its own outputs are not reported */
    assert_false(is_taken("in/out/photo.jpg"));
    walk("in/out/sub", false, false);
    assert_true(lap_outputs_is_out(&outputs));
    assert_false(is_taken("in/out/sub/photo.jpg"));
    assert_true(others.out_photos == 2 && others.outputs == 0 && others.output_folders == 0);
    assert_true(others.left_count == 1 && others.left[0].photos == 2 && others.left[0].outputs == 0);
    assert_string_equal(others.left[0].folder, at("in/out"));
    lap_outputs_approach(&outputs, at("in"), false);
    assert_false(lap_outputs_is_out(&outputs));
    walk("in/out", true, true); /* it may be named: then it is left out as well */
    assert_true(lap_outputs_is_out(&outputs));
    assert_false(is_taken("in/out/photo.jpg"));
    lap_outputs_approach(&outputs, at("in/out"), true); /* an operand ends everything before it */
    assert_false(lap_outputs_is_out(&outputs));
    const int root = __real_open(scratch, O_PATH);
    assert_int_equal(lap_outputs_enter(&outputs, root, "/", true, true, NULL), LAP_OK);
    close(root);
    lap_outputs_approach(&outputs, "/any", false);
    assert_true(lap_outputs_is_out(&outputs));
}

static void only_some_folders_are_told_by_name(void **unused)
{
    (void)unused;
    enum { FOLDERS = LAP_OTHER_FOLDERS + 2 };
    char name[40];
    begin();
    folder("in");
    walk("in", true, false);
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(name, sizeof name, "in/%d", i);
        folder(name);
        snprintf(name, sizeof name, "in/%d/a.jpg", i);
        char records[40];
        snprintf(records, sizeof records, "in/%d", i);
        made(records, name, RUN);
        walk(records, false, false);
        assert_false(is_taken(name));
        assert_false(is_taken(name));
    }
    walk("in/3", false, false); /* through another operand */
    assert_false(is_taken("in/3/a.jpg"));
    assert_int_equal(others.outputs, 2 * FOLDERS + 1);
    assert_int_equal(others.output_folders, FOLDERS + 1);
    assert_int_equal(others.left_count, LAP_OTHER_FOLDERS);
    for (int i = 0; i < LAP_OTHER_FOLDERS; i++) {
        snprintf(name, sizeof name, "in/%d", i);
        assert_string_equal(others.left[i].folder, at(name));
        assert_int_equal(others.left[i].outputs, i == 3 ? 3 : 2);
    }
}

/* Another run may be at work in an output folder. Only what may have come since its records were read is a
 * reason to read them again. */
static void outputs_made_during_the_walk(void **unused)
{
    (void)unused;
    static const struct {
        int ago; /* the reading of the records, before the file changed */
        bool is_read_again;
    } cases[] = {{0, true}, {1000, true}, {-10, true}, {-11, false}, {-1000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat st;
        lap_error err;
        bool is;
        begin();
        folder("in");
        folder("in/out");
        made("in/out", "in/out/a.jpg", RUN);
        assert_int_equal(stat(at("in/out/a.jpg"), &st), 0);
        sys.now = st.st_ctim.tv_sec - cases[i].ago;
        walk("in/out", false, false);
        sys.read[0] = '\0';
        made("in/out", "in/out/b.jpg", RUN);
        if (stat(at("in/out/b.jpg"), &st) != 0 || sys.now != st.st_ctim.tv_sec - cases[i].ago)
            continue;                           /* a second has passed */
        assert_false(is_taken("in/out/a.jpg")); /* it was known */
        assert_string_equal(sys.read, "");
        assert_int_equal(is_taken("in/out/b.jpg"), !cases[i].is_read_again);
        assert_int_equal(sys.read[0] != '\0', cases[i].is_read_again);
        if (!cases[i].is_read_again)
            continue;
        put(at("in/out/photo.jpg"), "photo");
        assert_true(is_taken("in/out/photo.jpg")); /* it is not in the records */
        sys.call = "runs";
        sys.code = LAP_E_UNREADABLE;
        assert_true(is_taken("in/out/photo.jpg"));
        sys.code = LAP_E_MEMORY;
        err = (lap_error){0};
        assert_int_equal(judge("in/out/photo.jpg", &is, &err), LAP_E_MEMORY);
        assert_int_equal(err.code, LAP_E_MEMORY);
        for (sys.after = 0; sys.after < 2;) { /* before and after the second reading */
            const int after = sys.after;
            sys.call = "judge";
            err = (lap_error){0};
            assert_int_equal(judge("in/out/photo.jpg", &is, &err), LAP_E_MEMORY);
            assert_int_equal(err.code, LAP_E_MEMORY);
            sys.after = after + 1;
        }
        sys.call = "open";
        sys.after = 0;
        assert_true(is_taken("in/out/photo.jpg")); /* the folder is gone */
    }
}

static void records_that_cannot_be_read(void **unused)
{
    (void)unused;
    static const lap_code codes[] = {LAP_E_UNREADABLE, LAP_E_MEMORY};
    for (int i = 0; i < 2; i++)
        for (int is_out = 0; is_out < 2; is_out++) {
            lap_error err = {0};
            begin();
            folder("in");
            folder("in/out");
            made("in/out", "in/out/a.jpg", RUN);
            walk("in", true, false);
            sys.call = "runs";
            sys.code = codes[i];
            const bool is_told = codes[i] == LAP_E_MEMORY || !is_out;
            assert_int_equal(enter("in/out", false, is_out, &err), is_told ? codes[i] : LAP_OK);
            if (is_told) {
                assert_string_equal(err.subject, "the subject");
                assert_string_equal(err.message, "cannot be read; outputs below it count as photos");
            }
            sys.call = NULL;
            assert_int_equal(lap_outputs_is_out(&outputs), is_out && !is_told);
            assert_int_equal(is_taken("in/out/a.jpg"), is_told);
        }
}

static void folders_without_memory(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"grow", "strdup", "in place"};
    for (int i = 0; i < 3; i++) {
        lap_error err = {0};
        begin();
        folder("in");
        made("in", "in/a.jpg", RUN);
        sys.call = calls[i];
        sys.code = LAP_E_MEMORY;
        assert_int_equal(enter("in", false, true, &err), LAP_E_MEMORY);
        assert_int_equal(err.code, LAP_E_MEMORY);
        assert_string_equal(err.message, "out of memory for the list of folders");
        assert_false(lap_outputs_is_out(&outputs));
        sys.call = NULL;
        walk("in", false, true);
        assert_true(lap_outputs_is_out(&outputs));
    }
}

/* ---- what was made before --------------------------------------------------------------------------------
 */

static void outputs_in_a_named_folder_are_counted(void **unused)
{
    (void)unused;
    for (int finds_made = 0; finds_made < 2; finds_made++) {
        begin();
        others.finds_made = finds_made;
        folder("out");
        folder("out/in");
        folder("out/in/sub");
        put(at("out/in/photo.jpg"), "photo");
        made("out", "out/in/turned.jpg", TURNED);
        made("out", "out/in/a.jpg", RUN);
        made("out/in", "out/in/b.jpg", RUN);
        made("out/in", "out/in/c.jpg", IN_PLACE);
        made("out/in/sub", "out/in/sub/d.jpg", IN_PLACE);
        walk("out/in", true, false);
        assert_true(is_taken("out/in/photo.jpg"));
        assert_true(others.made == 0 && others.ours == 0);
        assert_true(is_taken("out/in/turned.jpg"));
        assert_true(others.made == 0 && others.ours == (uint64_t)finds_made);
        assert_true(is_taken("out/in/a.jpg"));
        assert_true(is_taken("out/in/b.jpg"));
        assert_true(is_taken("out/in/c.jpg"));
        walk("out/in/sub", false, false);
        assert_true(is_taken("out/in/sub/d.jpg"));
        assert_true(others.made == (finds_made ? 4 : 0) && others.ours == (finds_made ? 5 : 0));
        assert_string_equal(others.made_first, finds_made ? at("out/in/a.jpg") : "");
        assert_true(others.outputs == 0 && others.left_count == 0);
        if (!finds_made)
            assert_null(strchr(sys.read, '+')); /* the records in place were not needed */
    }
}

/* Adds the scratch folder and all above it, as they are read. */
static void add_above(char *expected, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", scratch);
    for (char *end; (end = strrchr(path, '/')); *end = 0)
        snprintf(expected + strlen(expected), size - strlen(expected), "%s ", path);
    snprintf(expected + strlen(expected), size - strlen(expected), "/ ");
}

/* The folder may lie in an output folder, however it is called. */
static void records_of_all_folders_above_are_read(void **unused)
{
    (void)unused;
    char expected[1000];
    for (int way = 0; way < 3; way++) {
        begin();
        folder("a");
        folder("a/b");
        assert_int_equal(symlink("a/b", at("link")), 0);
        if (way == 2) { /* one that cannot be opened */
            sys.call = "open";
            sys.after = 1;
        }
        if (way == 2) {
            const int fd = __real_open(at("a/b"), O_RDONLY);
            assert_int_equal(lap_outputs_enter(&outputs, fd, at("a/b"), true, false, NULL), LAP_OK);
            close(fd);
            snprintf(expected, sizeof expected, "+%s %s %s ", at("a/b"), at("a/b"), at("a"));
        } else {
            const char *named = way ? "link" : "a/b";
            walk(named, true, false);
            snprintf(expected, sizeof expected, "+%s %s %s ", at(named), at(named), at("a"));
            add_above(expected, sizeof expected);
        }
        assert_string_equal(sys.read, expected);
    }
}

/* Records above that cannot be read hide nothing: what is named is taken. Without memory the walk ends. */
static void records_above_that_cannot_be_read(void **unused)
{
    (void)unused;
    begin();
    folder("in");
    made("in", "in/a.jpg", RUN);
    sys.call = "runs";
    sys.code = LAP_E_UNREADABLE;
    sys.after = 1;
    walk("in", true, false);
    assert_true(is_taken("in/a.jpg"));
    assert_int_equal(others.made, 1);
    assert_non_null(strstr(sys.read, " / "));
    begin();
    folder("in");
    made("in", "in/a.jpg", IN_PLACE);
    sys.call = "in place";
    sys.code = LAP_E_UNREADABLE;
    walk("in", true, false);
    assert_true(is_taken("in/a.jpg"));
    assert_int_equal(others.made, 0);
    for (int after = 0; after < 2; after++) {
        lap_error err = {0};
        begin();
        folder("in");
        sys.call = "runs";
        sys.code = LAP_E_MEMORY;
        sys.after = after;
        assert_int_equal(enter("in", true, false, &err), LAP_E_MEMORY);
        assert_int_equal(err.code, LAP_E_MEMORY);
        assert_null(strstr(sys.read, "/tmp "));
    }
    lap_error err = {0};
    bool is;
    begin();
    folder("in");
    made("in", "in/a.jpg", RUN);
    walk("in", true, false);
    sys.call = "judge";
    sys.code = LAP_E_MEMORY;
    assert_int_equal(judge("in/a.jpg", &is, &err), LAP_E_MEMORY);
    assert_true(err.code == LAP_E_MEMORY && others.made == 0 && others.ours == 0);
}

static void named_files_are_counted(void **unused)
{
    (void)unused;
    lap_error err;
    char before[500], expected[1500];
    begin();
    folder("in");
    made("in", "in/a.jpg", IN_PLACE);
    made("in", "in/b.jpg", RUN);
    made("in", "in/c.jpg", TURNED);
    put(at("in/photo.jpg"), "photo");
    made("in", "d.jpg", RUN);
    assert_int_equal(note_named(at("in/photo.jpg"), &err), LAP_OK);
    assert_true(others.made == 0 && others.ours == 0);
    assert_int_equal(note_named(at("in/a.jpg"), &err), LAP_OK);
    assert_string_equal(others.made_first, at("in/a.jpg"));
    assert_int_equal(note_named(at("in/b.jpg"), &err), LAP_OK);
    assert_int_equal(note_named(at("in/c.jpg"), &err), LAP_OK);
    assert_true(others.made == 2 && others.ours == 3);
    snprintf(expected, sizeof expected, "+%s %s ", at("in"), at("in"));
    add_above(expected, sizeof expected);
    put(at("in/copy.jpg"), "in/b.jpg"); /* it is known by its content */
    assert_int_equal(note_named(at("in/copy.jpg"), &err), LAP_OK);
    assert_true(others.made == 3 && others.ours == 4);
    assert_string_equal(sys.read, expected); /* once for all files of the folder */
    assert_int_equal(note_named(at("d.jpg"), &err), LAP_OK);
    assert_true(others.made == 4 && others.ours == 5); /* `in` knows it */
    snprintf(expected + strlen(expected), 200, "+%s ", scratch);
    add_above(expected, sizeof expected);
    assert_string_equal(sys.read, expected);

    assert_non_null(getcwd(before, sizeof before)); /* names without a folder, or in the first one */
    begin();
    folder("in");
    made("in", "in/a.jpg", IN_PLACE);
    assert_int_equal(chdir(at("in")), 0);
    assert_int_equal(note_named("a.jpg", &err), LAP_OK);
    assert_int_equal(others.made, 1);
    assert_true(strncmp(sys.read, "+. . ", 5) == 0);
    sys.read[0] = '\0';
    struct stat st;
    assert_int_equal(stat("a.jpg", &st), 0);
    assert_int_equal(lap_outputs_note_named(&outputs, "/a.jpg", &st, &err), LAP_OK);
    assert_string_equal(sys.read, "+/ / ");
    assert_int_equal(chdir(before), 0);
}

static void named_files_that_cannot_be_judged(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"put", "in place", "runs", "judge"};
    static char path[PATH_MAX + 100];
    lap_error err;
    struct stat st;
    for (int i = 0; i < 4; i++)
        for (int is_memory = 0; is_memory < 2; is_memory++) {
            begin();
            folder("in");
            made("in", "in/a.jpg", RUN);
            sys.call = calls[i];
            sys.code = is_memory ? LAP_E_MEMORY : LAP_E_UNREADABLE;
            if (!is_memory && i != 1 && i != 2) /* only memory may fail there */
                continue;
            err = (lap_error){0};
            assert_int_equal(note_named(at("in/a.jpg"), &err), is_memory ? LAP_E_MEMORY : LAP_OK);
            if (is_memory)
                assert_int_equal(err.code, LAP_E_MEMORY);
            assert_int_equal(others.made, !is_memory);
        }
    begin();
    folder("in");
    made("in", "in/a.jpg", RUN);
    sys.call = "open";
    assert_int_equal(note_named(at("in/a.jpg"), &err), LAP_OK);
    assert_string_equal(sys.read, "");
    sys.call = NULL;
    others.finds_made = false;
    assert_int_equal(note_named(at("in/a.jpg"), &err), LAP_OK);
    assert_string_equal(sys.read, "");
    others.finds_made = true;
    assert_int_equal(stat(at("in/a.jpg"), &st), 0);
    memset(path, '/', sizeof path - 2); /* would be the first folder, if it were cut */
    path[sizeof path - 2] = 'a';
    assert_int_equal(lap_outputs_note_named(&outputs, path, &st, &err), LAP_OK);
    assert_string_equal(sys.read, "");
    outputs.others = NULL;
    assert_int_equal(note_named(at("in/a.jpg"), &err), LAP_OK);
    assert_string_equal(sys.read, "");
}

/* A program may have closed its standard input: then folders get its descriptor. */
static void descriptor_0_is_one_like_others(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    folder("in");
    folder("in/out");
    made("in/out", "in/out/a.jpg", RUN);
    const int standard = dup(0);
    close(0);
    files = open_files();
    assert_int_equal(note_named(at("in/out/a.jpg"), &err), LAP_OK);
    assert_int_equal(others.made, 1);
    const int fd = __real_open(at("in/out"), O_RDONLY | O_DIRECTORY), kept = dup(fd);
    close(fd); /* 0 */
    sys.read[0] = '\0';
    assert_int_equal(lap_outputs_enter(&outputs, kept, at("in/out"), true, false, &err), LAP_OK);
    assert_non_null(strstr(sys.read, " / ")); /* and all between */
    lap_outputs_approach(&outputs, at("in/out"), false);
    assert_int_equal(lap_outputs_enter(&outputs, kept, at("in/out"), false, false, &err), LAP_OK);
    made("in/out", "in/out/b.jpg", RUN);
    struct stat st;
    bool is;
    assert_int_equal(stat(at("in/out/b.jpg"), &st), 0);
    const lap_found file = {kept, "b.jpg", at("in/out/b.jpg"), &st};
    assert_int_equal(lap_outputs_judge(&outputs, &file, &is, &err), LAP_OK);
    assert_false(is);
    close(kept);
    assert_int_equal(open_files(), files);
    dup2(standard, 0);
    close(standard);
}

/* ---- memory ----------------------------------------------------------------------------------------------
 */

static void walk_often(int times)
{
    static const char *const calls[] = {NULL, "runs", "grow", "strdup"};
    lap_error err;
    for (int i = 0; i < times; i++) {
        outputs = (lap_outputs){.others = &others};
        walk("in", true, false);
        sys.call = calls[i % 4];
        sys.code = i % 8 < 4 ? LAP_E_UNREADABLE : LAP_E_MEMORY;
        sys.after = i % 4 ? 0 : 1000;
        (void)enter("in/out", false, false, &err);
        sys.call = NULL;
        walk("in/out", false, false);
        sys.read[0] = '\0';
        assert_int_equal(note_named(at("in/out/a.jpg"), &err), LAP_OK);
        lap_outputs_free(&outputs);
        assert_true(!outputs.scopes && outputs.count == 0 && !outputs.others);
    }
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    begin();
    folder("in");
    folder("in/out");
    made("in/out", "in/out/a.jpg", RUN);
    walk_often(80);
    const size_t bytes = mallinfo2().uordblks;
    walk_often(320); /* 40 times each way */
    assert_true(mallinfo2().uordblks < bytes + (size_t)40 * 16);
    outputs = (lap_outputs){0};
}

static int open_scratch(void **state)
{
    (void)state;
    return make_scratch() ? 0 : -1;
}

static int close_scratch(void **state)
{
    lap_outputs_free(&outputs);
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_folder_ends_where_it_ends),
        cmocka_unit_test(output_folders_in_output_folders),
        cmocka_unit_test(this_runs_output_folder),
        cmocka_unit_test(only_some_folders_are_told_by_name),
        cmocka_unit_test(outputs_made_during_the_walk),
        cmocka_unit_test(records_that_cannot_be_read),
        cmocka_unit_test(folders_without_memory),
        cmocka_unit_test(outputs_in_a_named_folder_are_counted),
        cmocka_unit_test(records_of_all_folders_above_are_read),
        cmocka_unit_test(records_above_that_cannot_be_read),
        cmocka_unit_test(named_files_are_counted),
        cmocka_unit_test(named_files_that_cannot_be_judged),
        cmocka_unit_test(descriptor_0_is_one_like_others),
        cmocka_unit_test(everything_is_given_back),
    };
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
