/* The files of the manifest: what a line says, what the files are called, and what happens when a call fails.
 */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <regex.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/manifest.h"
#include "batch/manifest_state.h"

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails; NULL: none */
    int why, after;   /* after so many that succeed */
    const char *host;
    bool is_made; /* mkdirat makes the folder, and fails */
    int syncs, whole_syncs, lists, opens;
    int ahead; /* seconds that the clock is ahead */
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
    strncpy(name, sys.host ? sys.host : "host", size);
    return 0;
}

int __real_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_mkdirat(int folder, const char *name, mode_t mode)
{
    if (sys.is_made)
        assert_int_equal(__real_mkdirat(folder, name, mode), 0);
    return strikes("mkdirat") ? -1 : __real_mkdirat(folder, name, mode);
}

int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...)
{
    sys.opens += strstr(name, ".jsonl") != NULL;
    return strikes(flags & O_CREAT          ? "create"
                   : strcmp(name, ".") == 0 ? "open parent"
                                            : "open")
               ? -1
               : __real_openat(folder, name, flags, 0644);
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (sys.call && strcmp(sys.call, "half") == 0 && sys.after-- <= 0) {
        sys.call = "truncate";
        sys.after = 0;
        (void)!__real_write(fd, bytes, size / 2);
        errno = EIO;
        return -1;
    }
    return strikes("write") ? sys.why ? -1 : 0 : __real_write(fd, bytes, size > 100 ? 100 : size);
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    if (!strikes("truncate"))
        return __real_ftruncate(fd, size);
    sys.call = NULL;
    return -1;
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    sys.syncs++;
    return strikes("fsync") ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    (void)fd;
    return strikes("fdatasync") ? -1 : 0;
}

int __wrap_syncfs(int fd);
int __wrap_syncfs(int fd)
{
    (void)fd;
    sys.whole_syncs++;
    return sys.call && strcmp(sys.call, "open parent") == 0 && sys.why == EIO ? -1 : 0;
}

int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    return strikes("fstatat") ? -1 : __real_fstatat(folder, name, st, flags);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
    return strikes("pread") ? -1 : __real_pread(fd, bytes, size, at);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int rc = __real_clock_gettime(clock, now);
    now->tv_sec += sys.ahead;
    return rc;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : __real_strdup(text);
}

typedef int select_fn(const struct dirent *);
typedef int order_fn(const struct dirent **, const struct dirent **);
int __real_scandirat(
    int folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order);
int __wrap_scandirat(
    int folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order);
int __wrap_scandirat(int folder, const char *path, struct dirent ***names, select_fn *select, order_fn *order)
{
    sys.lists++;
    return strikes("scandirat") ? -1 : __real_scandirat(folder, path, names, select, order);
}

/* ---- steps ----------------------------------------------------------------------------------------------
 */

static lap_tree tree;
static const struct stat made = {.st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {4, 5}},
                         photo = {.st_size = 6, .st_mtim = {7, 8}, .st_ctim = {9, 10}};
static const lap_origin origin = {"/the/photos", 11, 12};
static lap_settings_mark mark = {.hashes = {100, 200, 300}, .fail_on = LAP_FAIL_TRUNCATED};

static void begin(void)
{
    char command[128];
    memset(&sys, 0, sizeof sys);
    snprintf(command, sizeof command, "rm -rf '%s/.lapedge'", scratch);
    assert_int_equal(system(command), 0);
}

static lap_manifest *opened(void)
{
    lap_manifest *m = NULL;
    lap_error err;
    if (lap_manifest_open(&tree, &mark, &m, &err) != LAP_OK)
        fail_msg("%s", err.message);
    return m;
}

static void queue(lap_manifest *m, const char *output, lap_photo_content content, bool is_placed)
{
    const lap_manifest_output o = {output, &made, 13, false};
    const lap_manifest_input i = {"photos/in.jpg", &photo, is_placed ? &origin : NULL, sizeof "photos/" - 1,
        content.is_known ? &content : NULL};
    assert_int_equal(lap_manifest_begin(m, &o, NULL), LAP_OK);
    assert_int_equal(lap_manifest_done(m, &o, &i, NULL), LAP_OK);
}

/* Writes a run's lines about an output. */
static lap_code write_of(lap_manifest *m, const char *output, bool sync, lap_error *err)
{
    *err = (lap_error){0};
    queue(m, output, (lap_photo_content){true, 14}, true);
    return lap_manifest_flush(m, sync, 0, err);
}

static void a_run(const char *output)
{
    lap_error err;
    lap_manifest *m = opened();
    assert_int_equal(write_of(m, output, false, &err), LAP_OK);
    lap_manifest_close(m);
}

/* Puts a file of records there, with a line about an output that names no input but of a done line. */
static void put_file(const char *name, const char *output, const char *event)
{
    char text[200];
    snprintf(text, sizeof text,
        "{\"event\":\"%s\",\"output\":\"%s\",\"settings\":\"7\",\"output_size\":5%s}\n", event, output,
        strcmp(event, "nowhere") == 0 ? "" : ",\"input\":\"in\"");
    put(at(name), text);
    assert_int_equal(chmod(at(name), 0600), 0);
}

static char names[200]; /* of the outputs that were given */
static int given;
static lap_code take(void *user, const lap_manifest_line *line, lap_error *err)
{
    given++;
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", line->output);
    return user ? lap_fail(err, LAP_E_CANCELLED, "enough") : LAP_OK;
}

static const char *all(lap_manifest *m)
{
    lap_error err;
    names[0] = '\0';
    assert_int_equal(lap_manifest_each(m, take, NULL, &err), LAP_OK);
    return names;
}

/* ---- lines ----------------------------------------------------------------------------------------------
 */

static lap_code compare(void *user, const lap_manifest_line *l, lap_error *err)
{
    const int way = *(int *)user;
    (void)err;
    given++;
    assert_true(l->is_done && l->has_content);
    assert_int_equal(l->maker, way == 2 ? LAP_MAKER_TRANSFORM : LAP_MAKER_RUN);
    assert_string_equal(l->output, "a.jpg");
    assert_int_equal(l->settings, 200);
    assert_true(l->device == 1 && l->inode == 2 && l->size == 3 && l->mtime_s == 4 && l->mtime_ns == 5);
    assert_int_equal(l->content, 13);
    assert_string_equal(l->input, "photos/in.jpg");
    assert_true(l->input_size == 6 && l->input_mtime_s == 7 && l->input_mtime_ns == 8);
    assert_true(l->input_ctime_s == 9 && l->input_ctime_ns == 10);
    assert_int_equal(l->has_input_content, way == 0);
    assert_true(l->input_content == (way == 0 ? 0xabcdef0123456789 : 0));
    if (way == 1) {
        assert_null(l->folder);
        return LAP_OK;
    }
    assert_string_equal(l->folder, "/the/photos");
    assert_true(l->folder_device == 11 && l->folder_inode == 12 && l->below == strlen("in.jpg"));
    return LAP_OK;
}

static void a_line_says_all(void **unused)
{
    (void)unused;
    for (int way = 0; way < 3; way++) {
        begin();
        mark.turns = way == 2;
        lap_manifest *m = opened();
        queue(m, "a.jpg", (lap_photo_content){way == 0, 0xabcdef0123456789}, way != 1);
        assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
        given = 0;
        assert_int_equal(lap_manifest_each(m, compare, &way, NULL), LAP_OK);
        assert_int_equal(given, 1); /* the done line */
        lap_manifest_close(m);
    }
    mark.turns = false;
}

static void files_are_named_by_time_and_host(void **unused)
{
    (void)unused;
    static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
    static const char *const hosts[][2] = {{"a b/c!\x01~", "a_b_c!_~"}, {long_name, NULL}, {"host", "host"}};
    for (int i = 0; i < 3; i++) {
        char pattern[200], expected[80];
        regex_t compiled;
        lap_error err;
        begin();
        sys.host = hosts[i][0];
        lap_manifest *m = opened();
        assert_string_equal(m->own, "");
        assert_int_equal(write_of(m, "a.jpg", false, &err), LAP_OK);
        snprintf(
            expected, sizeof expected, hosts[i][1] ? "%s" : "%.63s", hosts[i][1] ? hosts[i][1] : long_name);
        snprintf(pattern, sizeof pattern, "^20[0-9]{6}T[0-9]{6}\\.[0-9]{9}-%s-%ld\\.jsonl$", expected,
            (long)getpid());
        assert_int_equal(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
        assert_int_equal(regexec(&compiled, m->own, 0, NULL, 0), 0);
        regfree(&compiled);
        lap_manifest_close(m);
    }
}

/* ---- calls that fail -------------------------------------------------------------------------------------
 */

static void a_line_that_cannot_be_written(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why;
        lap_code code;
    } cases[] = {{"mkdirat", ENOSPC, LAP_E_DISK_FULL}, {"mkdirat", EACCES, LAP_E_WRITE},
        {"create", EDQUOT, LAP_E_DISK_FULL}, {"create", EACCES, LAP_E_WRITE},
        {"write", ENOSPC, LAP_E_DISK_FULL}, {"write", EDQUOT, LAP_E_DISK_FULL},
        {"write", EFBIG, LAP_E_DISK_FULL}, {"write", EROFS, LAP_E_WRITE}, {"write", 0, LAP_E_WRITE},
        {"fdatasync", EIO, LAP_E_WRITE}, {"fdatasync", ENOSPC, LAP_E_DISK_FULL}, {"fsync", EIO, LAP_E_WRITE},
        {"fsync", EINVAL, LAP_OK}, {"fsync", EROFS, LAP_OK}, {"open parent", EACCES, LAP_OK},
        {"open parent", EIO, LAP_E_WRITE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err;
        begin();
        const int files = open_files();
        lap_manifest *m = opened();
        sys.call = cases[i].call;
        sys.why = cases[i].why;
        assert_int_equal(write_of(m, "a.jpg", true, &err), cases[i].code);
        if (cases[i].code != LAP_OK) {
            assert_string_equal(err.subject, at(".lapedge"));
            assert_non_null(strstr(err.message, strerror(cases[i].why ? cases[i].why : EIO)));
        }
        assert_int_equal(sys.whole_syncs, strcmp(cases[i].call, "open parent") == 0);
        sys.call = NULL; /* the next lines are written, and none twice */
        const bool is_there = strstr(cases[i].call, "sync") || strstr(cases[i].call, "open");
        assert_int_equal(write_of(m, "b.jpg", true, &err), LAP_OK);
        assert_string_equal(all(m), is_there ? "a.jpg b.jpg " : "b.jpg ");
        lap_manifest_close(m);
        assert_int_equal(open_files(), files);
    }
    lap_error err;
    begin(); /* another process makes the folder */
    lap_manifest *m = opened();
    sys.call = "mkdirat";
    sys.why = EEXIST;
    sys.is_made = true;
    assert_int_equal(write_of(m, "a.jpg", true, &err), LAP_OK);
    lap_manifest_close(m);
    begin(); /* or a file */
    m = opened();
    put(at(".lapedge"), "");
    assert_int_equal(write_of(m, "a.jpg", true, &err), LAP_E_WRITE);
    assert_string_equal(err.message, strerror(ENOTDIR));
    lap_manifest_close(m);
}

/* Half a line that cannot be removed: what follows goes into a new file. */
static void half_a_line_is_left(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat st;
    char first[160];
    begin();
    const int files = open_files();
    lap_manifest *m = opened();
    assert_int_equal(write_of(m, "a.jpg", true, &err), LAP_OK);
    snprintf(first, sizeof first, "%s", m->own);
    sys.call = "half";
    assert_int_equal(write_of(m, "b.jpg", true, &err), LAP_E_WRITE);
    assert_int_equal(m->fd, -1);
    assert_int_equal(open_files(), files + 1); /* the folder's */
    assert_int_equal(write_of(m, "c.jpg", true, &err), LAP_OK);
    assert_string_not_equal(m->own, first);
    char path[300];
    snprintf(path, sizeof path, "%s/.lapedge/%s", scratch, m->own);
    assert_int_equal(lap_manifest_flush(m, false, 100000, &err), LAP_OK); /* with room that is not needed */
    lap_manifest_close(m);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 200 && st.st_size < 2000 && st.st_blocks * 512 < 100000);
    m = opened();
    assert_string_equal(all(m), "a.jpg c.jpg ");
    lap_manifest_close(m);
    assert_int_equal(open_files(), files);
}

static void files_that_cannot_be_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why;
        lap_code code;
        const char *message;
    } cases[] = {{"fstatat", EIO, LAP_E_UNREADABLE, "x.jsonl cannot be read: "},
        {"fstatat", ENOENT, LAP_OK, NULL}, {"fstat", EIO, LAP_E_UNREADABLE, "x.jsonl cannot be read: "},
        {"open", EIO, LAP_E_UNREADABLE, "x.jsonl cannot be read: "}, {"open", ENOENT, LAP_OK, NULL},
        {"open", ELOOP, LAP_OK, NULL}, {"open", EACCES, LAP_E_UNREADABLE, "x.jsonl cannot be read: "},
        {"pread", EIO, LAP_E_UNREADABLE, "cannot be read: "},
        {"scandirat", EIO, LAP_E_UNREADABLE, "cannot be read: "},
        {"scandirat", ENOMEM, LAP_E_MEMORY, "cannot be read: "},
        {"strdup", ENOMEM, LAP_E_MEMORY, "out of memory"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int after = 0; after < 2; after++) {
            lap_error err = {0};
            lap_manifest *m = (lap_manifest *)&err;
            begin();
            assert_int_equal(mkdir(at(".lapedge"), 0700), 0);
            put_file(".lapedge/w.jsonl", "w.jpg", "done");
            put_file(".lapedge/x.jsonl", "x.jpg", "done");
            const int files = open_files();
            sys.call = cases[i].call;
            sys.why = cases[i].why;
            sys.after = strcmp(sys.call, "open") == 0 || strcmp(sys.call, "fstat") == 0 ? 2 : 1;
            if (strcmp(sys.call, "scandirat") == 0)
                sys.after = 0;
            if (strcmp(sys.call, "pread") == 0)
                sys.after = 2; /* those of the first file */
            if (strcmp(sys.call, "fstat") == 0)
                sys.after += after;
            assert_int_equal(lap_manifest_open(&tree, &mark, &m, &err), cases[i].code);
            if (cases[i].code == LAP_OK) {
                lap_manifest_close(m);
            } else {
                assert_null(m);
                assert_non_null(strstr(err.message, cases[i].message));
                if (cases[i].code == LAP_E_UNREADABLE)
                    assert_non_null(strstr(err.message, strerror(cases[i].why)));
                if (strcmp(cases[i].call, "pread") == 0)
                    assert_string_equal(err.subject, at(".lapedge/x.jsonl"));
            }
            assert_int_equal(open_files(), files);
        }
}

/* If a record file is gone, there is no news; any other error is reported for the first file. */
static void news_that_cannot_be_examined(void **unused)
{
    (void)unused;
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        lap_error err = {0};
        bool is_new = false;
        begin();
        assert_int_equal(mkdir(at(".lapedge"), 0700), 0);
        put_file(".lapedge/w.jsonl", "w.jpg", "done");
        put_file(".lapedge/x.jsonl", "x.jpg", "done");
        lap_manifest *m = opened();
        assert_string_equal(all(m), "w.jpg x.jpg ");
        lap_manifest_watch(m);
        sys.call = "fstatat";
        sys.why = is_gone ? ENOENT : EIO;
        sys.after = 0;
        assert_int_equal(
            lap_manifest_has_news(m, "a.jpg", &is_new, &err), is_gone ? LAP_OK : LAP_E_UNREADABLE);
        assert_string_equal(err.message, is_gone ? "" : "w.jsonl cannot be read: Input/output error");
        assert_false(is_new);
        lap_manifest_close(m);
    }
}

/* ---- which files are read ---------------------------------------------------------------------------------
 */

static void files_of_other_names(void **unused)
{
    (void)unused;
    begin();
    assert_int_equal(mkdir(at(".lapedge"), 0700), 0);
    lap_manifest *m = opened(); /* empty */
    assert_string_equal(all(m), "");
    put_file(".lapedge/.jsonl", "no.jpg", "done");
    put_file(".lapedge/x.jsonl", "x.jpg", "done");
    put_file(".lapedge/long name.txt", "no.jpg", "done");
    put_file(".lapedge/yy.jsonl", "begun.jpg", "begin");
    put_file(".lapedge/zz.jsonl", "nowhere.jpg", "nowhere");
    assert_int_equal(mkdir(at(".lapedge/folder.jsonl"), 0700), 0);
    assert_int_equal(mkfifo(at(".lapedge/fifo.jsonl"), 0600), 0);
    assert_string_equal(all(m), "x.jpg ");
    assert_string_equal(all(m), "x.jpg "); /* from the start each time */
    lap_error err;
    put_file(".lapedge/y.jsonl", "y.jpg", "done");
    given = 0;
    assert_int_equal(lap_manifest_each(m, take, m, &err), LAP_E_CANCELLED);
    assert_int_equal(given, 1);
    lap_manifest_close(m);

    begin(); /* no folder; one that was made since */
    m = opened();
    assert_string_equal(all(m), "");
    a_run("later.jpg");
    assert_string_equal(all(m), "later.jpg ");
    assert_int_equal(lap_manifest_refresh(m, &err), LAP_OK);
    sys.opens = 0; /* what has not grown is not opened */
    assert_int_equal(lap_manifest_refresh(m, &err), LAP_OK);
    assert_int_equal(sys.opens, 0);
    lap_manifest_close(m);
}

static void files_that_are_not_believed(void **unused)
{
    (void)unused;
    bool is_all;
    lap_error why, err;
    begin();
    assert_int_equal(mkdir(at(".lapedge"), 0700), 0);
    put_file(".lapedge/a.jsonl", "a.jpg", "done");
    put_file(".lapedge/b.jsonl", "b.jpg", "done");
    put_file(".lapedge/c.jsonl", "c.jpg", "done");
    assert_int_equal(chmod(at(".lapedge/b.jsonl"), 0606), 0);
    assert_int_equal(chmod(at(".lapedge/c.jsonl"), 0602), 0);
    lap_manifest *m = opened();
    assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 2);
    FILE *file = fopen(at(".lapedge/c.jsonl"), "a"); /* it grows: still one file */
    assert_int_equal(fputs("{}\n", file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(lap_manifest_refresh(m, &err), LAP_OK);
    assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(all(m), "a.jpg ");
        assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 2);
        assert_false(is_all);
        assert_int_equal(why.code, LAP_E_EXISTS);
        assert_string_equal(why.message, "b.jsonl may be written by everybody");
    }
    assert_int_equal(unlink(at(".lapedge/a.jsonl")), 0);
    assert_string_equal(all(m), "");
    assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 2);
    assert_true(is_all);
    sys.call = "open"; /* what is not believed need not be readable */
    sys.why = EACCES;
    assert_string_equal(all(m), "");
    assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 2);
    sys.call = NULL;
    assert_int_equal(chmod(at(".lapedge"), 0707), 0);
    put_file(".lapedge/a.jsonl", "a.jpg", "done");
    assert_string_equal(all(m), "");
    assert_int_equal(lap_manifest_unbelieved(m, &is_all, &why), 3);
    assert_string_equal(why.message, "a.jsonl lies in a folder that everybody may write");
    lap_manifest_close(m);
}

/* A second look at what is not ours, or is new. */
static void what_is_new_is_looked_at_again(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat there;
    uint64_t content;
    lap_made verdict;
    begin();
    put(at("a.jpg"), "an output");
    assert_int_equal(stat(at("a.jpg"), &there), 0);
    assert_int_equal(lap_content_hash(tree.fd, "a.jpg", &there, &content, &err), LAP_OK);
    lap_manifest *m = opened();
    const lap_standing standing = {"a.jpg", tree.fd, &there, {"in.jpg", &photo, NULL, 0, NULL}};
    const lap_standing unreadable = {"a.jpg", -1, &there, {"in.jpg", &photo, NULL, 0, NULL}};
    sys.lists = 0;
    assert_int_equal(lap_manifest_judge(m, &standing, &verdict, &content, &err), LAP_OK);
    assert_int_equal(verdict, LAP_MADE_UNKNOWN);
    assert_int_equal(sys.lists, 0); /* there is no folder */
    lap_manifest *other = opened();
    uint64_t hash;
    assert_int_equal(lap_content_hash(tree.fd, "a.jpg", &there, &hash, &err), LAP_OK);
    const lap_manifest_output o = {"a.jpg", &there, hash, false};
    assert_int_equal(lap_manifest_begin(other, &o, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(other, false, 0, NULL), LAP_OK);
    lap_manifest_close(other);
    for (int i = 0; i < 2; i++) { /* a run with other settings may have made what is new */
        sys.lists = 0;
        assert_int_equal(lap_manifest_judge(m, &standing, &verdict, &content, &err), LAP_OK);
        assert_int_equal(verdict, LAP_MADE_OURS);
        assert_int_equal(sys.lists, 1);
    }
    sys.ahead = 3600;
    other = opened(); /* for a run that begins an hour later, it is old */
    sys.ahead = sys.lists = 0;
    assert_int_equal(lap_manifest_judge(other, &standing, &verdict, &content, &err), LAP_OK);
    assert_int_equal(verdict, LAP_MADE_OURS);
    assert_int_equal(sys.lists, 0);
    assert_int_equal(lap_manifest_done(other, &o, &standing.input, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(other, false, 0, NULL), LAP_OK);
    lap_manifest_close(other);
    other = opened();
    sys.lists = 0; /* what is up to date is not looked at again */
    assert_int_equal(lap_manifest_judge(other, &standing, &verdict, &content, &err), LAP_OK);
    assert_int_equal(verdict, LAP_MADE_SAME);
    assert_int_equal(sys.lists, 0);
    lap_manifest_close(other);
    assert_int_equal(lap_manifest_judge(m, &unreadable, &verdict, &content, &err), LAP_E_UNREADABLE);
    lap_manifest_close(m);
}

/* ---- what is given back ------------------------------------------------------------------------ */

static void use_all(int times)
{
    lap_error err;
    for (int i = 0; i < times; i++) {
        lap_manifest *m = opened();
        queue(m, "b.jpg", (lap_photo_content){true, 14}, true); /* never flushed */
        assert_int_equal(lap_manifest_refresh(m, &err), LAP_OK);
        assert_string_equal(all(m), "a.jpg z.jpg ");
        lap_manifest_close(m);
        sys.call = "strdup";
        sys.after = 1; /* the second name of a list */
        assert_int_equal(lap_manifest_open(&tree, &mark, &m, &err), LAP_E_MEMORY);
        sys.call = NULL;
    }
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    for (int number = 0; number < 2; number++) { /* number 0 is a descriptor like others */
        int status;
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            enum { TIMES = 300 };
            lap_error err;
            begin();
            a_run("a.jpg");
            lap_manifest *held = opened();
            if (number > 0)
                close(0);
            const int files = open_files();
            bool good = write_of(held, "z.jpg", true, &err) == LAP_OK && (number == 0 || held->fd == 0) &&
                        sys.syncs == 2 && lap_manifest_flush(held, true, 9, &err) == LAP_OK;
            lap_manifest_close(held);
            good = good && open_files() == files - 1;
            use_all(8);
            const size_t bytes = mallinfo2().uordblks;
            use_all(TIMES);
            good = good && open_files() == files - 1 && mallinfo2().uordblks < bytes + (size_t)TIMES * 8;
            _exit(good ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* Number 0 goes to each descriptor in turn. */
static bool works_with_number_zero(void)
{
    lap_error err;
    lap_tree zero;
    lap_manifest *m = NULL;
    char own[160];
    close(0);
    begin(); /* the tree */
    bool good = lap_tree_open(scratch, &zero, &err) == LAP_OK && zero.fd == 0 &&
                lap_manifest_open(&zero, &mark, &m, &err) == LAP_OK &&
                write_of(m, "a.jpg", true, &err) == LAP_OK && strcmp(all(m), "a.jpg ") == 0;
    lap_manifest_close(m);
    lap_tree_close(&zero);
    begin(); /* the folder, when it is made */
    m = opened();
    good = good && write_of(m, "a.jpg", true, &err) == LAP_OK && m->here.folder == 0;
    a_run("b.jpg");
    good = good && strcmp(all(m), "a.jpg b.jpg ") == 0;
    lap_manifest_close(m);
    const int null = open("/dev/null", O_RDONLY); /* the folder that is synced */
    m = opened();
    good = good && null == 0 && write_of(m, "c.jpg", false, &err) == LAP_OK;
    close(0);
    const int files = open_files();
    sys.whole_syncs = 0;
    good =
        good && write_of(m, "d.jpg", true, &err) == LAP_OK && sys.whole_syncs == 0 && open_files() == files;
    lap_manifest_close(m);
    put_file(".lapedge/x.jsonl", "x.jpg", "done"); /* the file that is read, and the one that is written */
    good = good && chmod(at(".lapedge/x.jsonl"), 0606) == 0 && open("/dev/null", O_RDONLY) == 0;
    m = opened();
    close(0);
    FILE *file = fopen(at(".lapedge/x.jsonl"), "a");
    fputs("{}\n", file);
    fclose(file);
    const int before = open_files();
    errno = EACCES; /* of an earlier call */
    good = good && lap_manifest_refresh(m, &err) == LAP_OK && open_files() == before &&
           write_of(m, "e.jpg", true, &err) == LAP_OK && m->fd == 0;
    memcpy(own, m->own, sizeof own);
    good = good && write_of(m, "f.jpg", true, &err) == LAP_OK && strcmp(own, m->own) == 0;
    lap_manifest_close(m);
    return good;
}

static void number_zero_is_a_descriptor(void **unused)
{
    (void)unused;
    int status;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(works_with_number_zero() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_all),
        cmocka_unit_test(files_are_named_by_time_and_host),
        cmocka_unit_test(a_line_that_cannot_be_written),
        cmocka_unit_test(half_a_line_is_left),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(news_that_cannot_be_examined),
        cmocka_unit_test(files_of_other_names),
        cmocka_unit_test(files_that_are_not_believed),
        cmocka_unit_test(what_is_new_is_looked_at_again),
        cmocka_unit_test(everything_is_given_back),
        cmocka_unit_test(number_zero_is_a_descriptor),
    };
    umask(022);
    if (!make_scratch() || lap_tree_open(scratch, &tree, NULL) != LAP_OK)
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
