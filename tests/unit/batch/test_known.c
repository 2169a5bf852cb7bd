/* Which files are known as outputs, by the records that earlier runs left in folders (known.h), and photos
 * that a run in place has replaced since a walk found them (late.h). */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/in_place_record.h"
#include "batch/known.h"
#include "batch/late.h"
#include "batch/manifest_line.h"
#include "io/target.h"

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    int hashed; /* contents that were read */
} sys;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...)
{
    return strikes("openat") ? -1 : __real_openat(folder, name, flags, 0666);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
    return strikes("fdopendir") ? NULL : __real_fdopendir(fd);
}

struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir)
{
    return strikes("readdir") ? NULL : __real_readdir(dir);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strikes("put") ? lap_fail(err, LAP_E_MEMORY, "no memory")
                          : __real_lap_map64_put(map, key, value, err);
}

lap_code __real_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    sys.hashed++;
    return strikes("hash") ? (lap_code)sys.why : __real_lap_content_hash(folder, name, there, hash, err);
}

lap_code __wrap_lap_content_hash_path(
    const char *path, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __real_lap_content_hash_path(
    const char *path, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash_path(
    const char *path, const struct stat *there, uint64_t *hash, lap_error *err)
{
    sys.hashed++;
    return strikes("hash path") ? lap_fail(err, (lap_code)sys.why, "struck")
                                : __real_lap_content_hash_path(path, there, hash, err);
}

static void fails(const char *call, int after, int why)
{
    sys.call = call, sys.after = after, sys.why = why;
}

/* ---- records ------------------------------------------------------------------------------------------- */

static int folder, opened;

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    folder = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    opened = open_files();
    return folder < 0;
}

static int end(void **state)
{
    (void)state;
    sys.call = NULL;
    assert_int_equal(open_files(), opened);
    empty_scratch();
    return close(folder);
}

static struct stat state_of(const char *name)
{
    struct stat st;
    assert_int_equal(fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

/* Adds a line to a record; without a content, the line has no hash. */
static void note(const char *record, lap_manifest_line line, lap_maker maker, bool is_done)
{
    static const char hash[] = ",\"output_hash\":\"0123456789abcdef\"";
    lap_manifest_queue queue = {0};
    line.maker = maker;
    line.is_done = is_done;
    line.input = "in.jpg";
    assert_int_equal(lap_manifest_line_write(&queue, &line, NULL), LAP_OK);
    if (!line.has_content) { /* as version 0.1 wrote it */
        char *from = memmem(queue.bytes, queue.used, hash, 16), *to = from + sizeof hash - 1;
        memmove(from, to, (size_t)(queue.bytes + queue.used - to));
        queue.used -= sizeof hash - 1;
    }
    FILE *file = fopen(at(record), "a");
    assert_non_null(file);
    assert_int_equal(fwrite(queue.bytes, 1, queue.used, file), queue.used);
    assert_int_equal(fclose(file), 0);
    free(queue.bytes);
}

static lap_code read_in_place(lap_known *known, lap_error *err)
{
    return lap_known_in_place(known, folder, "shown", err);
}

/* An output is known by all facts of its state together, or by size and content. */
static void by_each_fact(void **state)
{
    static const lap_known_as as[] = {LAP_KNOWN_FILTERED, LAP_KNOWN_FILTERED, LAP_KNOWN_TURNED};
    (void)state;
    put(at("a.jpg"), "abcde");
    const struct stat st = state_of("a.jpg");
    const uint64_t content = 77, other = 78;
    for (lap_maker maker = LAP_MAKER_UNKNOWN; maker <= LAP_MAKER_TRANSFORM; maker++)
        for (int is_done = 0; is_done < 2; is_done++) {
            lap_known known = {0};
            (void)unlinkat(folder, LAP_IN_PLACE_RECORD, 0);
            assert_int_equal(read_in_place(&known, NULL), LAP_OK); /* no record is an empty one */
            assert_int_equal(lap_known_find(&known, "a.jpg", &st, &content), LAP_KNOWN_NOT);
            note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "b.jpg", &st, content), maker, is_done);
            assert_int_equal(read_in_place(&known, NULL), LAP_OK);
            assert_int_equal(lap_known_find(&known, "a.jpg", &st, NULL), as[maker]);
            for (int fact = 0; fact < 5; fact++) {
                struct stat now = st;
                now.st_dev += fact == 0;
                now.st_ino += fact == 1;
                now.st_size += fact == 2;
                now.st_mtim.tv_sec += fact == 3;
                now.st_mtim.tv_nsec ^= fact == 4;
                assert_int_equal(lap_known_find(&known, "a.jpg", &now, NULL), LAP_KNOWN_NOT);
                assert_int_equal(lap_known_find(&known, "b.jpg", &now, NULL), LAP_KNOWN_NOT);
                assert_int_equal(
                    lap_known_find(&known, "a.jpg", &now, &content), fact == 2 ? LAP_KNOWN_NOT : as[maker]);
                assert_int_equal(lap_known_find(&known, "a.jpg", &now, &other), LAP_KNOWN_NOT);
            }
            lap_known_free(&known);
            assert_null(known.facts.entries);
        }
}

/* A line of version 0.1 has no content: size and name tell, if the output was completed. */
static void without_content(void **state)
{
    (void)state;
    put(at("a.jpg"), "abcde");
    struct stat st = state_of("a.jpg");
    for (int is_done = 0; is_done < 2; is_done++) {
        lap_known known = {0};
        (void)unlinkat(folder, LAP_IN_PLACE_RECORD, 0);
        lap_manifest_line line = lap_manifest_line_of(1, "deep/a.jpg", &st, 0);
        line.has_content = false;
        note(LAP_IN_PLACE_RECORD, line, LAP_MAKER_TRANSFORM, is_done);
        assert_int_equal(read_in_place(&known, NULL), LAP_OK);
        const lap_known_as as = is_done ? LAP_KNOWN_TURNED : LAP_KNOWN_NOT;
        assert_int_equal(lap_known_find(&known, "a.jpg", &st, NULL), as);
        assert_int_equal(lap_known_find(&known, "elsewhere/a.jpg", &st, NULL), as);
        assert_int_equal(lap_known_find(&known, "b.jpg", &st, NULL), LAP_KNOWN_NOT);
        assert_int_equal(lap_known_find(&known, "deep", &st, NULL), LAP_KNOWN_NOT);
        struct stat larger = st;
        larger.st_size++;
        assert_int_equal(lap_known_find(&known, "a.jpg", &larger, NULL), LAP_KNOWN_NOT);
        lap_known_free(&known);
    }
}

/* What both commands have made counts as filtered, whichever was first. */
static void by_both(void **state)
{
    (void)state;
    put(at("a.jpg"), "abcde");
    const struct stat st = state_of("a.jpg");
    for (int first = 0; first < 2; first++) {
        lap_known known = {0};
        (void)unlinkat(folder, LAP_IN_PLACE_RECORD, 0);
        for (int i = 0; i < 2; i++)
            note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &st, 5),
                i == first ? LAP_MAKER_RUN : LAP_MAKER_TRANSFORM, true);
        assert_int_equal(read_in_place(&known, NULL), LAP_OK);
        assert_int_equal(lap_known_find(&known, "a.jpg", &st, NULL), LAP_KNOWN_FILTERED);
        lap_known_free(&known);
    }
}

/* A record is read on from where it ended; one that has become shorter is read from its beginning. Lines of
 * other programs, and the beginning of a line, are no facts. */
static void read_on(void **state)
{
    (void)state;
    put(at("a.jpg"), "abcde");
    put(at("b.jpg"), "bcde");
    const struct stat a = state_of("a.jpg"), b = state_of("b.jpg");
    lap_known known = {0};
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &a, 5), LAP_MAKER_RUN, true);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &a, 6), LAP_MAKER_RUN, true);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    const size_t count = known.facts.count;
    /* Other lines of the same length in place of those that were read. */
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(at(LAP_IN_PLACE_RECORD), "r+");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, EOF, file) > 0);
    for (char *each = text; (each = strstr(each, "a.jpg")); each++)
        *each = 'c';
    rewind(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(text);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "b.jpg", &b, 7), LAP_MAKER_TRANSFORM, true);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(lap_known_find(&known, "b.jpg", &b, NULL), LAP_KNOWN_TURNED);
    assert_int_equal(known.facts.count, count + 3);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK); /* nothing was added */
    assert_int_equal(known.facts.count, count + 3);
    struct stat moved = b;
    moved.st_size = 99;
    file = fopen(at(LAP_IN_PLACE_RECORD), "r+"); /* the same inode */
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    assert_int_equal(fclose(file), 0);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "b.jpg", &moved, 8), LAP_MAKER_RUN, true);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(lap_known_find(&known, "b.jpg", &moved, NULL), LAP_KNOWN_FILTERED);
    file = fopen(at(LAP_IN_PLACE_RECORD), "a");
    assert_non_null(file);
    assert_true(fputs("another program\n{\"output\": \"x\n{\"begin", file) >= 0);
    assert_int_equal(fclose(file), 0);
    const size_t before = known.facts.count;
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(known.facts.count, before);
    lap_known_free(&known);
}

/* A record that is not there or no regular file is empty; one that cannot be read is an error. */
static void unreadable(void **state)
{
    static const struct {
        const char *call;
        int why;
        bool is_empty;
    } cases[] = {{"openat", ENOENT, true}, {"openat", ELOOP, true}, {"openat", ENXIO, true},
        {"openat", EACCES, false}, {"openat", EMFILE, false}, {"fstat", EIO, false}};
    lap_known known = {0};
    (void)state;
    put(at("a.jpg"), "abcde");
    const struct stat st = state_of("a.jpg");
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &st, 5), LAP_MAKER_RUN, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        char message[200];
        fails(cases[i].call, 0, cases[i].why);
        assert_int_equal(read_in_place(&known, &err), cases[i].is_empty ? LAP_OK : LAP_E_UNREADABLE);
        sys.call = NULL;
        snprintf(message, sizeof message, "%s: %s", LAP_IN_PLACE_RECORD, strerror(cases[i].why));
        assert_string_equal(err.message, cases[i].is_empty ? "" : message);
        assert_string_equal(err.subject, cases[i].is_empty ? "" : "shown");
        assert_int_equal(known.facts.count, 0);
        assert_int_equal(open_files(), opened);
    }
    for (int after = 0; after < 4; after++) {
        fails("put", after, 0);
        assert_int_equal(read_in_place(&known, NULL), LAP_E_MEMORY);
        sys.call = NULL;
        assert_int_equal(open_files(), opened);
        lap_known_free(&known);
        known = (lap_known){0};
    }
    assert_int_equal(renameat(folder, LAP_IN_PLACE_RECORD, folder, "real"), 0);
    assert_int_equal(symlinkat("real", folder, LAP_IN_PLACE_RECORD), 0);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(unlinkat(folder, LAP_IN_PLACE_RECORD, 0), 0);
    assert_int_equal(mkfifoat(folder, LAP_IN_PLACE_RECORD, 0666), 0);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(unlinkat(folder, LAP_IN_PLACE_RECORD, 0), 0);
    assert_int_equal(mkdirat(folder, LAP_IN_PLACE_RECORD, 0777), 0);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(known.facts.count, 0);
    lap_known_free(&known);
}

/* ---- records of folder runs ------------------------------------------------------------------------------
 */

static void of_runs(void **state)
{
    static const struct {
        const char *name;
        bool is_read;
    } records[] = {{"a.jsonl", true}, {"host-1.jsonl", true}, {".jsonl", false}, {"a.jsonlx", false},
        {"a.json", false}, {"ajsonl", false}, {"jsonl", false}};
    bool is_there = true;
    lap_known known = {0};
    (void)state;
    put(at("a.jpg"), "abcde");
    const struct stat st = state_of("a.jpg");
    assert_int_equal(lap_known_runs(&known, folder, "x", &is_there, NULL), LAP_OK);
    assert_false(is_there);
    put(at(".lapedge"), "a file");
    is_there = true;
    assert_int_equal(lap_known_runs(&known, folder, "x", &is_there, NULL), LAP_OK);
    assert_false(is_there);
    assert_int_equal(unlinkat(folder, ".lapedge", 0), 0);
    assert_int_equal(mkdirat(folder, "real", 0777), 0);
    note("real/a.jsonl", lap_manifest_line_of(1, "a.jpg", &st, 5), LAP_MAKER_RUN, true);
    assert_int_equal(symlinkat("real", folder, ".lapedge"), 0);
    is_there = true;
    assert_int_equal(lap_known_runs(&known, folder, "x", &is_there, NULL), LAP_OK);
    assert_false(is_there);
    assert_int_equal(known.facts.count, 0);
    assert_int_equal(unlinkat(folder, ".lapedge", 0), 0);
    assert_int_equal(mkdirat(folder, ".lapedge", 0777), 0);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        char path[64];
        struct stat other = st;
        other.st_size = 1000 + (off_t)i;
        snprintf(path, sizeof path, ".lapedge/%s", records[i].name);
        note(path, lap_manifest_line_of(1, "a.jpg", &other, i), LAP_MAKER_RUN, true);
    }
    is_there = false;
    assert_int_equal(lap_known_runs(&known, folder, "x", &is_there, NULL), LAP_OK);
    assert_true(is_there);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct stat other = st;
        other.st_size = 1000 + (off_t)i;
        assert_int_equal(
            lap_known_find(&known, "a.jpg", &other, NULL) == LAP_KNOWN_FILTERED, records[i].is_read);
    }
    lap_known_free(&known);
}

static void unreadable_runs(void **state)
{
    static const struct {
        const char *call;
        int after, why;
        bool is_of_record;
    } cases[] = {{"openat", 0, EACCES, false}, {"fdopendir", 0, ENOMEM, false}, {"readdir", 0, EIO, false},
        {"readdir", 1, EBADF, false}, {"openat", 1, EACCES, true}};
    static const char *const shown[][2] = {
        {"x", "x/.lapedge"}, {"x/", "x/.lapedge"}, {"/", "/.lapedge"}, {"", "/.lapedge"}};
    lap_known known = {0};
    bool is_there;
    (void)state;
    assert_int_equal(mkdirat(folder, ".lapedge", 0777), 0);
    put(at(".lapedge/a.jsonl"), "none");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t j = 0; j < sizeof shown / sizeof *shown; j++) {
            lap_error err = {0};
            char message[200];
            snprintf(message, sizeof message, "%s%s", cases[i].is_of_record ? "a.jsonl: " : "",
                strerror(cases[i].why));
            fails(cases[i].call, cases[i].after, cases[i].why);
            assert_int_equal(lap_known_runs(&known, folder, shown[j][0], &is_there, &err), LAP_E_UNREADABLE);
            sys.call = NULL;
            assert_string_equal(err.message, message);
            assert_string_equal(err.subject, shown[j][1]);
            assert_int_equal(open_files(), opened);
        }
    lap_known_free(&known);
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */

/* The content is read only where it may tell: the state is another, and an output has this size. */
static void judged(void **state)
{
    lap_known known = {0};
    lap_known_as as = LAP_KNOWN_FILTERED;
    uint64_t content;
    (void)state;
    put(at("a.jpg"), "abcde");
    put(at("same.jpg"), "abcde");
    put(at("other.jpg"), "abcdx");
    put(at("longer.jpg"), "abcdef");
    const struct stat a = state_of("a.jpg"), same = state_of("same.jpg"), other = state_of("other.jpg"),
                      longer = state_of("longer.jpg");
    assert_int_equal(__real_lap_content_hash(folder, "a.jpg", &a, &content, NULL), LAP_OK);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &a, content), LAP_MAKER_TRANSFORM, true);
    assert_int_equal(read_in_place(&known, NULL), LAP_OK);
    assert_int_equal(lap_known_judge(&known, folder, "longer.jpg", &longer, &as, NULL), LAP_OK);
    assert_int_equal(as, LAP_KNOWN_NOT);
    assert_int_equal(lap_known_judge(&known, folder, "a.jpg", &a, &as, NULL), LAP_OK);
    assert_int_equal(as, LAP_KNOWN_TURNED);
    assert_int_equal(sys.hashed, 0);
    assert_int_equal(lap_known_judge(&known, folder, "same.jpg", &same, &as, NULL), LAP_OK);
    assert_int_equal(as, LAP_KNOWN_TURNED);
    assert_int_equal(sys.hashed, 1);
    assert_int_equal(lap_known_judge(&known, folder, "other.jpg", &other, &as, NULL), LAP_OK);
    assert_int_equal(as, LAP_KNOWN_NOT);
    assert_int_equal(sys.hashed, 2);
    /* What has changed or cannot be read is not known. */
    static const lap_code codes[][2] = {
        {LAP_E_MEMORY, LAP_E_MEMORY}, {LAP_E_CHANGED, LAP_OK}, {LAP_E_UNREADABLE, LAP_OK}};
    for (size_t i = 0; i < 3; i++) {
        fails("hash", 0, (int)codes[i][0]);
        as = LAP_KNOWN_TURNED;
        assert_int_equal(lap_known_judge(&known, folder, "same.jpg", &same, &as, NULL), codes[i][1]);
        assert_int_equal(as, LAP_KNOWN_NOT);
    }
    lap_known_free(&known);
}

/* ---- photos replaced meanwhile
 * ----------------------------------------------------------------------------- */

/* A finished job whose input is a file of the scratch folder. */
static lap_job job_of(const char *name, char path[512])
{
    snprintf(path, 512, "%s", at(name));
    lap_job job = {.input = path, .has_record = true};
    assert_int_equal(stat(path, &job.stat), 0);
    return job;
}

static void late(void **state)
{
    lap_late all = {.known = {.facts = {.count = 0}}};
    lap_batch_others others = {0};
    lap_error err = {0};
    bool is_new = true;
    char path[512], second[512];
    uint64_t content;
    (void)state;
    put(at("a.jpg"), "abcde");
    put(at("b.jpg"), "abcde");
    put(at("c.jpg"), "abcdx");
    lap_job job = job_of("a.jpg", path), copy = job_of("b.jpg", second);
    assert_int_equal(__real_lap_content_hash(folder, "a.jpg", &job.stat, &content, NULL), LAP_OK);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &job.stat, content), LAP_MAKER_RUN, true);
    job.has_record = false;
    assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), LAP_OK);
    assert_int_equal(others.ours, 0);
    assert_false(is_new);
    job.has_record = true;
    assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), LAP_OK);
    assert_int_equal(sys.hashed, 1); /* the job does not know the content */
    assert_int_equal(others.ours, 1);
    assert_int_equal(others.made, 1);
    assert_string_equal(others.made_first, path);
    /* By the content that the job knows: it was read under another name. */
    copy.photo.is_known = true;
    copy.photo.hash = content;
    assert_int_equal(lap_late_look(&all, &copy, &others, &is_new, &err), LAP_OK);
    assert_int_equal(others.made, 2);
    copy.photo.hash++;
    assert_int_equal(lap_late_look(&all, &copy, &others, &is_new, &err), LAP_OK);
    assert_int_equal(others.made, 2);
    assert_int_equal(others.ours, 2);
    assert_string_equal(others.made_first, path);
    assert_int_equal(sys.hashed, 1);
    /* A photo that the walk has counted is not counted again. */
    copy.photo.hash = content;
    assert_int_equal(lap_late_note(&all, second, &err), LAP_OK);
    assert_int_equal(lap_late_look(&all, &copy, &others, &is_new, &err), LAP_OK);
    assert_int_equal(others.ours, 2);
    /* What transform has made is ours, and no edge map. */
    lap_job turned = job_of("c.jpg", second);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "c.jpg", &turned.stat, 9), LAP_MAKER_TRANSFORM, true);
    assert_int_equal(lap_late_look(&all, &turned, &others, &is_new, &err), LAP_OK);
    assert_int_equal(others.ours, 3);
    assert_int_equal(others.made, 2);
    assert_string_equal(err.message, "");
    lap_late_free(&all);
    assert_true(!all.known.facts.entries && !all.counted.entries && !all.unread.entries);
}

/* The folder of an input: below another one, the current one, the root. */
static void folders_of_late(void **state)
{
    char before[4096], path[512];
    const char *const names[] = {"deep/a.jpg", "a.jpg"};
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(mkdirat(folder, "deep", 0777), 0);
    put(at("deep/a.jpg"), "abcde");
    put(at("a.jpg"), "abcdef");
    lap_job deep = job_of("deep/a.jpg", path), flat = job_of("a.jpg", path);
    note("deep/" LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &deep.stat, 1), LAP_MAKER_RUN, true);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &flat.stat, 2), LAP_MAKER_RUN, true);
    assert_int_equal(chdir(scratch), 0);
    for (int i = 0; i < 2; i++) {
        lap_late all = {.known = {.facts = {.count = 0}}};
        lap_batch_others others = {0};
        bool is_new;
        lap_job job = i ? flat : deep;
        snprintf(path, sizeof path, "%s", names[i]);
        job.input = path;
        assert_int_equal(lap_late_look(&all, &job, &others, &is_new, NULL), LAP_OK);
        assert_int_equal(others.made, 1);
        assert_string_equal(others.made_first, names[i]);
        lap_late_free(&all);
    }
    assert_int_equal(chdir(before), 0);
    lap_late all = {.known = {.facts = {.count = 0}}};
    lap_error err = {0};
    bool is_new;
    strcpy(path, "/x");
    lap_job job = {.input = path, .has_record = true, .photo = {.is_known = true}};
    fails("openat", 0, EACCES); /* of the record: the root itself was opened */
    assert_int_equal(lap_late_look(&all, &job, NULL, &is_new, &err), LAP_E_UNREADABLE);
    sys.call = NULL;
    assert_string_equal(err.subject, "/");
    assert_true(is_new);
    strcpy(path, "/missing-folder/x");
    err = (lap_error){0};
    assert_int_equal(lap_late_look(&all, &job, NULL, &is_new, &err), LAP_E_UNREADABLE);
    assert_string_equal(err.subject, "/missing-folder");
    assert_string_equal(err.message, strerror(ENOENT));
    assert_true(is_new);
    lap_late_free(&all);
}

/* Of a record that cannot be read, the first input of its folder tells. */
static void unreadable_late(void **state)
{
    lap_late all = {.known = {.facts = {.count = 0}}};
    lap_batch_others others = {0};
    char path[512], long_path[PATH_MAX + 4];
    (void)state;
    put(at("a.jpg"), "abcde");
    lap_job job = job_of("a.jpg", path);
    note(LAP_IN_PLACE_RECORD, lap_manifest_line_of(1, "a.jpg", &job.stat, 5), LAP_MAKER_RUN, true);
    for (int again = 0; again < 2; again++) {
        lap_error err = {0};
        bool is_new = again;
        fails("openat", 0, EACCES);
        assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), LAP_E_UNREADABLE);
        sys.call = NULL;
        assert_int_equal(is_new, !again);
        assert_string_equal(err.subject, scratch);
        assert_int_equal(open_files(), opened);
    }
    /* A photo that changes while it is read fails by itself; other errors name it. */
    static const lap_code codes[][2] = {
        {LAP_E_CHANGED, LAP_OK}, {LAP_E_MEMORY, LAP_E_MEMORY}, {LAP_E_UNREADABLE, LAP_E_UNREADABLE}};
    for (size_t i = 0; i < 3; i++) {
        lap_error err = {0};
        bool is_new = true;
        fails("hash path", 0, (int)codes[i][0]);
        assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), codes[i][1]);
        assert_string_equal(err.subject, path);
        assert_false(is_new);
        assert_int_equal(others.ours, 0);
    }
    sys.call = NULL;
    lap_late_free(&all);
    all = (lap_late){.known = {.facts = {.count = 0}}};
    lap_error err = {0};
    bool is_new = false;
    fails("openat", 0, EACCES);
    assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), LAP_E_UNREADABLE);
    lap_map64_free(&all.unread);
    all.unread = (lap_map64){0};
    fails("put", 0, 0);
    assert_int_equal(lap_late_note(&all, path, &err), LAP_E_MEMORY);
    sys.call = NULL;
    memset(long_path, 'x', sizeof long_path);
    for (size_t length = PATH_MAX - 1; length <= PATH_MAX; length++) {
        strcpy(long_path + length, "/y");
        job.input = long_path;
        err = (lap_error){0};
        assert_int_equal(lap_late_look(&all, &job, &others, &is_new, &err), LAP_E_UNREADABLE);
        assert_string_equal(err.message, strerror(ENAMETOOLONG));
        long_path[length] = 'x';
    }
    lap_late_free(&all);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(by_each_fact), TEST(without_content), TEST(by_both),
        TEST(read_on), TEST(unreadable), TEST(of_runs), TEST(unreadable_runs), TEST(judged), TEST(late),
        TEST(folders_of_late), TEST(unreadable_late)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
