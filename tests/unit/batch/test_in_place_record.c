/* The record of photos in place: what each fact of a line makes of a file, which files are believed, and what
 * happens when a call fails. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/in_place_record.h"
#include "io/target.h"

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails; NULL: none */
    int why, after;   /* after so many that succeed */
    int times;        /* so many fail; 0: all */
    int reads, hashes, data_syncs, name_syncs, whole_syncs;
    bool is_short; /* writes take one byte */
    int close_why; /* close changes errno to this */
    int syncfs;    /* why it fails */
} sys;

static bool strikes(const char *call)
{
    if (!strike(sys.call, call, &sys.after, sys.why))
        return false;
    if (sys.times && --sys.times == 0)
        sys.call = NULL;
    return true;
}

int __real_openat(int at_folder, const char *name, int flags, ...);
int __wrap_openat(int at_folder, const char *name, int flags, ...);
int __wrap_openat(int at_folder, const char *name, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return strikes(strcmp(name, ".") == 0 ? "open folder"
                   : flags & O_CREAT      ? "create"
                   : flags & O_APPEND     ? "open to write"
                                          : "open")
               ? -1
               : __real_openat(at_folder, name, flags, mode);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const int closed = __real_close(fd);
    if (sys.close_why)
        errno = sys.close_why;
    return strikes("close") ? -1 : closed;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t from);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t from)
{
    sys.reads++;
    return strikes("pread") ? sys.why ? -1 : 0 : __real_pread(fd, bytes, size, from);
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (strikes("write nothing"))
        return 0;
    if (strikes("write"))
        return -1;
    return __real_write(fd, bytes, sys.is_short ? 1 : size);
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    sys.data_syncs++;
    assert_int_not_equal(fd, -1);
    return strikes("fdatasync") ? -1 : 0;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    sys.name_syncs++;
    assert_int_not_equal(fd, -1);
    return strikes("fsync") ? -1 : 0;
}

int __wrap_syncfs(int fd);
int __wrap_syncfs(int fd)
{
    struct stat st;
    sys.whole_syncs++;
    assert_int_equal(__real_fstat(fd, &st), 0);
    errno = sys.syncfs;
    return sys.syncfs ? -1 : 0;
}

/* What the system says about a folder or a file, whoever runs the test. */
int __wrap_faccessat(int at_folder, const char *name, int mode, int flags);
int __wrap_faccessat(int at_folder, const char *name, int mode, int flags)
{
    const bool is_record = strcmp(name, LAP_IN_PLACE_RECORD) == 0;
    struct stat st;
    assert_int_equal(flags, AT_EACCESS);
    assert_int_equal(mode, is_record ? R_OK | W_OK : W_OK | X_OK);
    if (strikes(is_record ? "access" : "access folder"))
        return -1;
    return fstatat(at_folder, name, &st, 0);
}

void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    return strikes("grow") ? NULL : __real_lap_grow(array, capacity, wanted, size);
}

static int print(char **text, const char *format, va_list values)
{
    if (strikes("asprintf")) {
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

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put") ? lap_fail(err, LAP_E_MEMORY, "out of memory")
                          : __real_lap_map64_put(map, key, value, err);
}

lap_code __real_lap_content_hash(
    int at_folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int at_folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int at_folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    sys.hashes++;
    return __real_lap_content_hash(at_folder, name, there, hash, err);
}

/* ---- steps ----------------------------------------------------------------------------------------------
 */

enum { LEAST = 100, OWN = 200, STRICTEST = 300 }; /* hashes of the same settings, by fail_on */
static const lap_settings_mark mark = {.hashes = {LEAST, OWN, STRICTEST}, .fail_on = LAP_FAIL_TRUNCATED};
static lap_record record;
static int folder = -1, files; /* the folder, and how many descriptors are open */

static void forget(void)
{
    lap_record_end(&record);
    assert_int_equal(lap_record_begin(&record, "the/folder", &mark, NULL), LAP_OK);
}

static void begin(void)
{
    memset(&sys, 0, sizeof sys);
    unlink(at(LAP_IN_PLACE_RECORD));
    rmdir(at(LAP_IN_PLACE_RECORD));
    assert_int_equal(chmod(scratch, 0700), 0);
    if (folder < 0)
        folder = open(scratch, O_PATH | O_DIRECTORY);
    forget();
    files = open_files();
}

static lap_code refresh(lap_error *err)
{
    *err = (lap_error){0};
    const lap_code code = lap_record_refresh(&record, folder, err);
    assert_int_equal(err->code, code);
    assert_int_equal(open_files(), files);
    return code;
}

/* An error that names the record, and says this. */
static void assert_says(const lap_error *err, const char *message)
{
    assert_string_equal(err->subject, "the/folder/" LAP_IN_PLACE_RECORD);
    assert_string_equal(err->message, message);
}

static void put_record(const char *text, size_t size)
{
    FILE *file = fopen(at(LAP_IN_PLACE_RECORD), "a");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void put_text(const char *text)
{
    put_record(text, strlen(text));
}

static const char *record_text(void)
{
    static char text[4096];
    FILE *file = fopen(at(LAP_IN_PLACE_RECORD), "r");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    return text;
}

/* A file of these bytes, and what the record says of it. */
static lap_code judge(const char *bytes, lap_was *was, lap_error *err)
{
    struct stat st;
    put(at("photo"), bytes);
    assert_int_equal(stat(at("photo"), &st), 0);
    sys.hashes = 0;
    const lap_candidate candidate = {folder, "photo", &st};
    return lap_record_judge(&record, &candidate, was, err);
}

static lap_was was(const char *bytes)
{
    lap_was is;
    lap_error err;
    assert_int_equal(judge(bytes, &is, &err), LAP_OK);
    return is;
}

/* A done line about an output of these bytes. */
static lap_manifest_line line_of(const char *bytes, uint64_t settings, int64_t seconds)
{
    struct stat st;
    lap_manifest_line line = {.is_done = true,
        .maker = LAP_MAKER_RUN,
        .settings = settings,
        .output = "a.jpg",
        .mtime_s = seconds,
        .has_content = true,
        .input = "a.jpg",
        .input_mtime_s = 1000};
    put(at("output"), bytes);
    assert_int_equal(stat(at("output"), &st), 0);
    assert_int_equal(__real_lap_content_hash(folder, "output", &st, &line.content, NULL), LAP_OK);
    line.size = st.st_size;
    return line;
}

static lap_code add(const char *bytes, uint64_t settings, bool sync, lap_error *err)
{
    const lap_manifest_line line = line_of(bytes, settings, 1000);
    *err = (lap_error){0};
    const lap_code code = lap_record_add(&record, folder, &line, sync, err);
    assert_int_equal(open_files(), files);
    return code;
}

static void write_line(const char *bytes, uint64_t settings, int64_t seconds)
{
    const lap_manifest_line line = line_of(bytes, settings, seconds);
    lap_manifest_queue queue = {0};
    assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
    put_record(queue.bytes, queue.used);
    free(queue.bytes);
}

/* ---- what a line makes of a file ------------------------------------------------------------------------
 */

static void each_fact_has_its_verdict(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t settings;
        int64_t seconds;
        lap_was expected;
    } cases[] = {{OWN, 1000, LAP_WAS_SAME}, {STRICTEST, 1000, LAP_WAS_SAME}, {LEAST, 1000, LAP_WAS_OTHER},
        {7, 1000, LAP_WAS_OTHER}, {OWN, 5000, LAP_WAS_UNTIMED}, {STRICTEST, 0, LAP_WAS_UNTIMED},
        {7, 5000, LAP_WAS_OTHER}};
    lap_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        write_line("output", cases[i].settings, cases[i].seconds);
        assert_int_equal(was("output"), LAP_WAS_PHOTO); /* it is not read yet */
        assert_int_equal(sys.hashes, 0);
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(was("output"), cases[i].expected);
        assert_int_equal(sys.hashes, 1);
        assert_int_equal(was("0utput"), LAP_WAS_PHOTO); /* another content of this size */
        assert_int_equal(sys.hashes, 1);
        assert_int_equal(was("outputs"), LAP_WAS_PHOTO); /* another size: not even read */
        assert_int_equal(sys.hashes, 0);
    }
}

/* Facts of two lines are not mixed. */
static void lines_are_told_apart(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    write_line("one", OWN, 5000);
    write_line("two", 7, 1000);
    write_line("same", 7, 1000);
    write_line("same", OWN, 5000);
    write_line("last", OWN, 5000);
    write_line("last", OWN, 1000);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("one"), LAP_WAS_UNTIMED);
    assert_int_equal(was("two"), LAP_WAS_OTHER);
    assert_int_equal(was("same"), LAP_WAS_UNTIMED);
    assert_int_equal(was("last"), LAP_WAS_SAME);
    assert_int_equal(was("lasts"), LAP_WAS_PHOTO);
}

static void a_file_that_cannot_be_judged(void **unused)
{
    (void)unused;
    struct stat st;
    lap_was is = LAP_WAS_SAME;
    lap_error err;
    begin();
    write_line("output", OWN, 1000);
    assert_int_equal(refresh(&err), LAP_OK);
    put(at("photo"), "output");
    assert_int_equal(stat(at("photo"), &st), 0);
    st.st_ino++;
    const lap_candidate candidate = {folder, "photo", &st};
    assert_int_equal(lap_record_judge(&record, &candidate, &is, &err), LAP_E_CHANGED);
    assert_int_equal(is, LAP_WAS_PHOTO);
    for (int after = 0; after < 4; after++) { /* a line whose facts cannot be kept is not passed over */
        forget();
        sys.call = "put";
        sys.after = after;
        sys.times = 1;
        assert_int_equal(refresh(&err), LAP_E_MEMORY);
    }
}

/* ---- what is a line -------------------------------------------------------------------------------------
 */

#define HEAD "{\"schema\":\"lapedge.manifest/"
#define BYTES(text) text, sizeof(text) - 1
#define REMEDY " was not written by lapedge (remove that line, or restore the record)"

/* What a crash leaves is passed over, whatever follows it; what another program wrote is not. */
static void torn_lines_are_passed_over(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t size;
        bool is_torn;
    } cases[] = {{BYTES(""), true}, {BYTES("{"), true}, {BYTES("{\"schema"), true}, {BYTES(HEAD), true},
        {BYTES(HEAD "1\",\"event\":\"done\",\"outp"), true}, {BYTES(HEAD "1\"}"), false},
        {BYTES("{\"schemes\":"), false}, {BYTES("{\"schema\":\"lapedge.manifests"), false},
        {BYTES("}"), false}, {BYTES("x"), false}, {BYTES(" "), false}, {BYTES("\0\0\0"), true},
        {BYTES("\0\0\0x"), false}, {BYTES("x\0\0\0"), true}, {BYTES("\0\0\0{"), true},
        {BYTES(HEAD "1\",\"ev\0\0\0"), true}, {BYTES(HEAD "1\",\"ev\0\0\0}"), true}};
    lap_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        write_line("first", OWN, 1000);
        put_record(cases[i].text, cases[i].size);
        assert_int_equal(refresh(&err), LAP_OK); /* its writer may not be finished */
        put_text("\n");
        write_line("second", OWN, 1000);
        const lap_code code = refresh(&err);
        if (code != (cases[i].is_torn ? LAP_OK : LAP_E_UNREADABLE))
            fail_msg("%s: %d", cases[i].text, code);
        if (!cases[i].is_torn)
            assert_says(&err, "line 2" REMEDY);
        assert_int_equal(was("first"), LAP_WAS_SAME);
        assert_int_equal(was("second"), cases[i].is_torn ? LAP_WAS_SAME : LAP_WAS_PHOTO);
    }
}

/* Blocks that were never written, before a line that was. */
static void a_line_behind_zeros_counts(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    write_line("first", OWN, 1000);
    put_record("\0\0\0\0", 4);
    write_line("second", OWN, 1000);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME);
    assert_int_equal(was("second"), LAP_WAS_SAME);
}

static void lines_that_say_too_little(void **unused)
{
    (void)unused;
    static char endless[LAP_MANIFEST_LINE + 100000];
    lap_error err;
    begin(); /* a line of a manifest of version 0.1 does not say what the output was */
    put_text(HEAD "1\",\"event\":\"done\",\"output\":\"a\",\"settings\":\"c8\",\"output_size\":6}\n");
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "line 1" REMEDY);
    begin();
    write_line("output", OWN, 1000);
    memset(endless, '{', sizeof endless - 2);
    endless[sizeof endless - 2] = '\n';
    put_text(endless);
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "line 2" REMEDY);
}

/* ---- reading ---------------------------------------------------------------------------------------------
 */

static void only_new_lines_are_read(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    assert_int_equal(refresh(&err), LAP_OK); /* the record does not exist yet */
    assert_int_equal(sys.reads, 0);
    write_line("first", OWN, 1000);
    write_line("second", OWN, 1000);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME);
    const int reads = sys.reads;
    assert_int_equal(refresh(&err), LAP_OK); /* it has not grown */
    assert_int_equal(sys.reads, reads);
    write_line("third", OWN, 1000);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME);
    assert_int_equal(was("third"), LAP_WAS_SAME);
    put_text("x\n"); /* lines that were read before are counted */
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "line 4" REMEDY);
    assert_int_equal(unlink(at(LAP_IN_PLACE_RECORD)), 0);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME); /* what is known stays known */
}

/* Another file, or one that was cut, is read from its beginning. */
static void another_record_is_read_as_a_whole(void **unused)
{
    (void)unused;
    lap_error err;
    for (int way = 0; way < 2; way++) {
        begin();
        write_line("first", OWN, 1000);
        assert_int_equal(refresh(&err), LAP_OK);
        if (way == 0) { /* as long as the other */
            assert_int_equal(rename(at(LAP_IN_PLACE_RECORD), at("moved")), 0);
            write_line("other", OWN, 1000);
        } else {
            assert_int_equal(truncate(at(LAP_IN_PLACE_RECORD), 0), 0);
            put_text("x\n");
            assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
            assert_says(&err, "line 1" REMEDY);
            assert_int_equal(truncate(at(LAP_IN_PLACE_RECORD), 0), 0);
            assert_int_equal(refresh(&err), LAP_OK);
            write_line("other", OWN, 1000);
        }
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(was("other"), LAP_WAS_SAME);
        put_text("x\n");
        assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
        assert_says(&err, "line 2" REMEDY);
    }
}

static void only_a_record_of_ours_is_believed(void **unused)
{
    (void)unused;
    lap_error err;
    static const char open_folder[] = "lies in a folder that everybody may write (chmod o-w prevents that)";
    for (int is_there = 0; is_there < 2; is_there++) {
        begin();
        if (is_there)
            write_line("first", OWN, 1000);
        assert_int_equal(chmod(scratch, 0707), 0);
        assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
        assert_says(&err, open_folder);
        assert_int_equal(add("second", OWN, true, &err), LAP_E_UNREADABLE);
        assert_says(&err, open_folder);
        assert_null(strstr(record_text(), "\"output_size\":6")); /* the second */
        assert_int_equal(chmod(scratch, 01707), 0);              /* but not remove what others wrote */
        begin();
        assert_int_equal(chmod(scratch, 01707), 0);
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(add("second", OWN, true, &err), LAP_OK);
        assert_int_equal(chmod(scratch, 0770), 0);
        assert_int_equal(refresh(&err), LAP_OK);
    }
    begin();
    write_line("first", OWN, 1000);
    assert_int_equal(chmod(at(LAP_IN_PLACE_RECORD), 0646), 0);
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "may be written by everybody (chmod o-w prevents that, if its lines are true)");
    assert_int_equal(add("second", OWN, false, &err), LAP_E_UNREADABLE);
    assert_int_equal(was("first"), LAP_WAS_PHOTO);
    const uid_t me = geteuid(); /* a user who does not own the file gets the same advice */
    assert_int_equal(chmod(scratch, 0755), 0);
    assert_int_equal(me ? 0 : seteuid(65533), 0);
    const lap_code code = refresh(&err);
    assert_int_equal(me ? 0 : seteuid(0), 0);
    assert_int_equal(code, LAP_E_UNREADABLE);
    assert_says(&err, "may be written by everybody (chmod o-w prevents that, if its lines are true)");
    begin();
    assert_int_equal(mkfifo(at(LAP_IN_PLACE_RECORD), 0600), 0);
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "is not a regular file (move it away)");
    begin();
    put(at("elsewhere"), "kept\n");
    assert_int_equal(symlink("elsewhere", at(LAP_IN_PLACE_RECORD)), 0);
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "is a symbolic link (replace it by the file itself)");
    assert_int_equal(add("first", OWN, true, &err), LAP_E_WRITE);
    assert_holds(at("elsewhere"), "kept\n");
}

static void a_record_that_cannot_be_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why, after;
        const char *message;
    } cases[] = {{"open", EACCES, 0, "Permission denied"}, {"fstat", EIO, 0, "Input/output error"},
        {"fstat", EIO, 1, "Input/output error"}, {"pread", EIO, 0, "cannot be read: Input/output error"}};
    lap_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        write_line("first", OWN, 1000);
        sys.call = cases[i].call;
        sys.why = cases[i].why;
        sys.after = cases[i].after;
        assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
        assert_says(&err, cases[i].message);
        sys.call = NULL;
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(was("first"), LAP_WAS_SAME);
    }
}

/* ---- writing ---------------------------------------------------------------------------------------------
 */

static void what_is_added_is_read(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat st;
    begin();
    const mode_t mask = umask(0);
    assert_int_equal(add("first", OWN, true, &err), LAP_OK);
    umask(mask);
    assert_int_equal(stat(at(LAP_IN_PLACE_RECORD), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644); /* another user could read it, but not write */
    assert_true(strncmp(record_text(), HEAD, strlen(HEAD)) == 0);
    assert_ptr_equal(strchr(record_text(), '\n'), record_text() + st.st_size - 1);
    for (int is_short = 0; is_short < 2; is_short++) {
        sys.is_short = is_short;
        assert_int_equal(add("second", 7, false, &err), LAP_OK);
    }
    assert_null(strstr(record_text(), "\n\n"));
    assert_int_equal(stat(at(LAP_IN_PLACE_RECORD), &st), 0);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME);
    assert_int_equal(was("second"), LAP_WAS_OTHER);
    put_text(HEAD); /* a crash, then the next run */
    assert_int_equal(add("third", OWN, true, &err), LAP_OK);
    assert_non_null(strstr(record_text(), HEAD "\n" HEAD));
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("third"), LAP_WAS_SAME);
}

/* A rename may follow as soon as the line is there: the line, and once its file's name, are on the disk. */
static void lines_are_synced(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    assert_int_equal(add("first", OWN, false, &err), LAP_OK);
    assert_true(sys.data_syncs == 0 && sys.name_syncs == 0);
    sys.call = "fsync";
    sys.why = EIO;
    sys.times = 1;
    assert_int_equal(add("second", OWN, true, &err), LAP_E_WRITE);
    assert_says(&err, "cannot write: Input/output error");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(add("third", OWN, true, &err), LAP_OK);
        assert_int_equal(sys.data_syncs, 2 + i);
        assert_int_equal(sys.name_syncs, 2);
        assert_int_equal(add("fourth", OWN, false, &err), LAP_OK);
        assert_int_equal(sys.data_syncs, 2 + i);
    }
    assert_int_equal(sys.whole_syncs, 0);
}

static void a_line_that_cannot_be_written(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why, after, times;
        lap_code code;
        bool is_written;
    } cases[] = {{"grow", 0, 0, 0, LAP_E_MEMORY, false}, {"grow", 0, 1, 0, LAP_E_MEMORY, false},
        {"open to write", EACCES, 0, 0, LAP_E_WRITE, false}, {"create", EACCES, 0, 0, LAP_E_WRITE, false},
        {"create", ENOSPC, 0, 0, LAP_E_DISK_FULL, false}, {"fstat", EIO, 0, 1, LAP_E_UNREADABLE, false},
        {"fstat", EIO, 1, 1, LAP_E_UNREADABLE, false}, {"fstat", EIO, 2, 1, LAP_E_WRITE, false},
        {"pread", EIO, 0, 1, LAP_E_WRITE, false}, {"pread", EINTR, 0, 3, LAP_OK, true},
        {"write", EINTR, 0, 3, LAP_OK, true}, {"write", ENOSPC, 0, 1, LAP_E_DISK_FULL, false},
        {"write", EROFS, 0, 1, LAP_E_WRITE, false}, {"write nothing", EINTR, 0, 1, LAP_E_WRITE, false},
        {"pread", 0, 0, 1, LAP_OK, true}, {"fdatasync", EIO, 0, 1, LAP_E_WRITE, true},
        {"fdatasync", ENOSPC, 0, 1, LAP_E_DISK_FULL, true}, {"fsync", EIO, 0, 1, LAP_E_WRITE, true},
        {"fsync", EINVAL, 0, 1, LAP_OK, true}, {"fsync", EROFS, 0, 1, LAP_OK, true},
        {"open folder", EACCES, 0, 1, LAP_OK, true}};
    lap_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        const bool is_there = strcmp(cases[i].call, "create") != 0;
        if (is_there)
            write_line("first", OWN, 1000);
        const lap_manifest_line line = line_of("second", OWN, 1000);
        sys.call = cases[i].call;
        sys.why = cases[i].why;
        sys.after = cases[i].after;
        sys.times = cases[i].times;
        err = (lap_error){0};
        const lap_code code = lap_record_add(&record, folder, &line, true, &err);
        if (code != cases[i].code)
            fail_msg("%s, %d: %d, %s", cases[i].call, cases[i].why, code, err.message);
        assert_int_equal(open_files(), files);
        if (code != LAP_OK && code != LAP_E_MEMORY) {
            assert_string_equal(err.subject, "the/folder/" LAP_IN_PLACE_RECORD);
            assert_non_null(strstr(err.message, strerror(cases[i].why == EINTR ? EIO : cases[i].why)));
        }
        sys.call = NULL;
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(was("second"), cases[i].is_written ? LAP_WAS_SAME : LAP_WAS_PHOTO);
        assert_int_equal(add("third", OWN, true, &err), LAP_OK); /* and the next run can go on */
        assert_int_equal(refresh(&err), LAP_OK);
        assert_int_equal(was("third"), LAP_WAS_SAME);
    }
}

/* A failure to close is one to write, and hides no other. */
static void closing(void **unused)
{
    (void)unused;
    lap_error err;
    static const int whys[] = {EIO, ENOSPC, EINTR};
    static const lap_code codes[] = {LAP_E_WRITE, LAP_E_DISK_FULL, LAP_OK};
    for (int i = 0; i < 3; i++) {
        begin();
        sys.call = "close";
        sys.why = whys[i];
        assert_int_equal(add("first", OWN, false, &err), codes[i]);
        if (codes[i] != LAP_OK)
            assert_non_null(strstr(err.message, strerror(whys[i])));
    }
    begin();
    assert_int_equal(chmod(scratch, 0707), 0);
    sys.call = "close";
    sys.why = EIO;
    assert_int_equal(add("first", OWN, true, &err), LAP_E_UNREADABLE);
    assert_non_null(strstr(err.message, "lies in a folder"));
}

/* A folder that may be written and entered, but not read, has no descriptor to sync: that of a file in it
 * does. */
static void names_are_synced_without_reading_the_folder(void **unused)
{
    (void)unused;
    begin();
    put(at("photo"), "");
    assert_true(lap_sync_names(folder, "photo"));
    assert_true(sys.name_syncs == 1 && sys.whole_syncs == 0);
    sys.close_why = EINTR;
    sys.call = "fsync";
    sys.why = EIO;
    assert_false(lap_sync_names(folder, "photo"));
    assert_int_equal(errno, EIO);
    sys.call = "open folder";
    sys.why = EACCES;
    assert_false(lap_sync_names(folder, "missing"));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sys.whole_syncs, 0);
    assert_true(lap_sync_names(folder, "photo"));
    assert_int_equal(sys.whole_syncs, 1);
    sys.syncfs = EIO;
    assert_false(lap_sync_names(folder, "photo"));
    assert_int_equal(errno, EIO);
    assert_int_equal(open_files(), files);
}

/* A program may have closed its standard input: then files get its descriptor. */
static void descriptor_0_is_one_like_others(void **unused)
{
    (void)unused;
    lap_error err;
    begin();
    put(at("photo"), "");
    const int standard = dup(0);
    close(0);
    files = open_files();
    assert_int_equal(add("first", OWN, true, &err), LAP_OK);
    assert_int_equal(refresh(&err), LAP_OK);
    assert_int_equal(was("first"), LAP_WAS_SAME);
    const lap_manifest_line line = line_of("third", OWN, 1000);
    errno = ENOENT; /* of an earlier call */
    assert_int_equal(lap_record_add(&record, folder, &line, false, &err), LAP_OK);
    assert_int_equal(open_files(), files);
    sys.name_syncs = 0;
    assert_true(lap_sync_names(folder, "photo"));
    assert_true(sys.name_syncs == 1 && sys.whole_syncs == 0);
    sys.call = "open folder";
    sys.why = EACCES;
    assert_true(lap_sync_names(folder, "photo"));
    assert_int_equal(sys.whole_syncs, 1);
    sys.call = "fstat";
    sys.why = EIO;
    assert_int_equal(refresh(&err), LAP_E_UNREADABLE);
    assert_says(&err, "Input/output error");
    sys.call = "close";
    assert_int_equal(add("second", OWN, false, &err), LAP_E_WRITE);
    sys.call = NULL;
    assert_int_equal(open_files(), files);
    dup2(standard, 0);
    close(standard);
}

static void whether_a_line_can_be_added(void **unused)
{
    (void)unused;
    static const struct {
        const char *call;
        int why;
        lap_code code;
    } cases[] = {{NULL, 0, LAP_OK}, {"access folder", EACCES, LAP_E_WRITE},
        {"access folder", ENOENT, LAP_E_WRITE}, {"access", EACCES, LAP_E_WRITE},
        {"access", EROFS, LAP_E_WRITE}, {"access", ENOENT, LAP_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_there = 0; is_there < 2; is_there++) {
            lap_error err = {0};
            begin();
            if (is_there)
                put_text("");
            sys.call = cases[i].call;
            sys.why = cases[i].why;
            assert_int_equal(lap_record_check(&record, folder, &err), cases[i].code);
            assert_int_equal(access(at(LAP_IN_PLACE_RECORD), F_OK) == 0, is_there);
            if (cases[i].code != LAP_OK)
                assert_string_equal(err.subject, "the/folder/" LAP_IN_PLACE_RECORD);
        }
}

static void the_record_is_named_in_its_folder(void **unused)
{
    (void)unused;
    static const char *const names[][2] = {{"/", "/" LAP_IN_PLACE_RECORD}, {".", "./" LAP_IN_PLACE_RECORD},
        {"a/b", "a/b/" LAP_IN_PLACE_RECORD}, {"a/b/", "a/b/" LAP_IN_PLACE_RECORD}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lap_record r;
        assert_int_equal(lap_record_begin(&r, names[i][0], &mark, NULL), LAP_OK);
        assert_string_equal(r.shown, names[i][1]);
        lap_record_end(&r);
        assert_null(r.shown);
    }
    lap_record r;
    lap_error err;
    begin();
    sys.call = "asprintf";
    assert_int_equal(lap_record_begin(&r, "folder", &mark, &err), LAP_E_MEMORY);
    assert_int_equal(err.code, LAP_E_MEMORY);
    lap_record_end(&r);
}

static void use_often(int times)
{
    static const char *const calls[] = {NULL, "grow", "put", "write"};
    lap_error err;
    lap_was is;
    for (int i = 0; i < times; i++) {
        unlink(at(LAP_IN_PLACE_RECORD));
        forget();
        sys.call = calls[i % 4];
        sys.why = EIO;
        (void)add("output", OWN, true, &err);
        (void)refresh(&err);
        (void)judge("output", &is, &err);
    }
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    begin();
    use_often(40);
    const size_t bytes = mallinfo2().uordblks;
    use_often(160); /* 40 times each way */
    assert_true(mallinfo2().uordblks < bytes + (size_t)40 * 16);
}

static int open_scratch(void **state)
{
    (void)state;
    return make_scratch() ? 0 : -1;
}

static int close_scratch(void **state)
{
    lap_record_end(&record);
    close(folder);
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fact_has_its_verdict),
        cmocka_unit_test(lines_are_told_apart),
        cmocka_unit_test(a_file_that_cannot_be_judged),
        cmocka_unit_test(torn_lines_are_passed_over),
        cmocka_unit_test(a_line_behind_zeros_counts),
        cmocka_unit_test(lines_that_say_too_little),
        cmocka_unit_test(only_new_lines_are_read),
        cmocka_unit_test(another_record_is_read_as_a_whole),
        cmocka_unit_test(only_a_record_of_ours_is_believed),
        cmocka_unit_test(a_record_that_cannot_be_read),
        cmocka_unit_test(what_is_added_is_read),
        cmocka_unit_test(lines_are_synced),
        cmocka_unit_test(a_line_that_cannot_be_written),
        cmocka_unit_test(closing),
        cmocka_unit_test(names_are_synced_without_reading_the_folder),
        cmocka_unit_test(descriptor_0_is_one_like_others),
        cmocka_unit_test(whether_a_line_can_be_added),
        cmocka_unit_test(the_record_is_named_in_its_folder),
        cmocka_unit_test(everything_is_given_back),
    };
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
