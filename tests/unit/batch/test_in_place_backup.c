/* The backup of a photo beside it: made once, of this photo, and complete, or else nothing happens to the
 * photo. File systems without links, and what others do meanwhile, are made up here. */
#include "tests/support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/in_place_backup.h"
#include "batch/in_place_record.h"
#include "io/sink.h"

static struct {
    int link, access, read, look, sync; /* why they fail; 0: they do not */
    int interrupted, reads;             /* reads that are interrupted first; all reads of the photo */
    int looks;                          /* looks at a name that succeed before */
    const char *theirs;                 /* another process makes this backup just before the link */
    const char *edits;                  /* and writes this into the photo while it is read */
    bool makes_late;                    /* or makes a backup just before the copy gets its name */
    int syncs;
    int photo; /* its descriptor */
} sys;

static char text[200000];

int __real_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
    if (sys.theirs)
        put(at("kept"), sys.theirs);
    errno = sys.link;
    return sys.link ? -1 : __real_linkat(from, old, to, new, flags);
}

int __real_faccessat(int folder, const char *name, int mode, int flags);
int __wrap_faccessat(int folder, const char *name, int mode, int flags);
int __wrap_faccessat(int folder, const char *name, int mode, int flags)
{
    if (!sys.access)
        return __real_faccessat(folder, name, mode, flags);
    errno = sys.access;
    return -1;
}

int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    if (sys.look && strcmp(name, "kept") == 0 && sys.looks-- <= 0) {
        errno = sys.look;
        return -1;
    }
    return __real_fstatat(folder, name, st, flags);
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    sys.reads++;
    if (sys.reads <= sys.interrupted) {
        errno = EINTR;
        return -1;
    }
    if (sys.edits) {
        put(at("photo"), sys.edits);
        sys.edits = NULL;
    }
    if (sys.read && sys.reads > 1) {
        errno = sys.read;
        return -1;
    }
    return __real_read(fd, bytes, size);
}

lap_code __real_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err)
{
    if (sys.makes_late)
        put(at("kept"), "late");
    return __real_lap_sink_publish(sink, err);
}

bool __wrap_lap_sync_names(int folder, const char *beside);
bool __wrap_lap_sync_names(int folder, const char *beside)
{
    struct stat st;
    assert_int_equal(__real_fstatat(folder, beside, &st, 0), 0); /* what a folder that cannot be read needs */
    sys.syncs++;
    errno = sys.sync;
    return !sys.sync;
}

/* ---- steps -------------------------------------------------------------------------------------------- */

static lap_tree tree;
static struct stat photo;
static lap_backup backup;

/* A photo without a backup. */
static void begin(void)
{
    memset(&sys, 0, sizeof sys);
    unlink(at("kept"));
    rmdir(at("kept"));
    unlink(at("photo"));
    put(at("photo"), text);
    assert_int_equal(chmod(at("photo"), 0640), 0);
    const struct timespec times[2] = {{1000000000, 5}, {1000000000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, at("photo"), times, 0), 0);
    assert_int_equal(stat(at("photo"), &photo), 0);
    backup =
        (lap_backup){.tree = &tree, .name = "photo", .kept = "kept", .shown = "the photo", .photo = &photo};
}

static lap_code keep(lap_error *err)
{
    *err = (lap_error){0};
    const int files = open_files();
    const lap_code code = lap_backup_keep(&backup, err);
    assert_int_equal(open_files(), files);
    assert_int_equal(count_temps(scratch), 0);
    return code;
}

static bool is_text(const char *name, const char *expected)
{
    static char got[sizeof text];
    FILE *file = fopen(at(name), "r");
    if (!file)
        return false;
    const size_t size = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[size] = '\0';
    return strcmp(got, expected) == 0;
}

static bool is_kept(void)
{
    return is_text("kept", text) && is_text("photo", text);
}

static bool is_missing(void)
{
    return access(at("kept"), F_OK) != 0;
}

/* ---- a link ------------------------------------------------------------------------------------------- */

static void a_backup_is_a_link(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat st;
    for (int sync = 0; sync < 2; sync++) {
        begin();
        backup.sync = sync;
        assert_int_equal(lap_backup_check(&backup, &err), LAP_OK);
        assert_true(is_missing());
        for (int i = 0; i < 2; i++) { /* again: it is there */
            assert_int_equal(keep(&err), LAP_OK);
            assert_int_equal(stat(at("kept"), &st), 0);
            assert_true(st.st_ino == photo.st_ino && is_kept());
            assert_int_equal(sys.syncs, sync ? i + 1 : 0);
            assert_int_equal(lap_backup_check(&backup, &err), LAP_OK);
            assert_int_equal(sys.reads, 0);
        }
    }
    begin();
    backup.sync = true;
    sys.sync = EIO;
    assert_int_equal(keep(&err), LAP_E_WRITE);
    assert_string_equal(err.subject, "the photo");
    assert_string_equal(err.message, "cannot keep it as kept: Input/output error");
}

/* The same content is a backup of it; anything else stops the run before the photo is touched. */
static void what_has_the_name_is_compared(void **unused)
{
    (void)unused;
    lap_error err;
    static char other[sizeof text];
    memcpy(other, text, sizeof text);
    other[sizeof text - 3] ^= 1;
    const char *const texts[] = {text, other, "short", ""};
    for (int late = 0; late < 2; late++) /* there before, or made by another process just now */
        for (int i = 0; i < 4; i++) {
            begin();
            backup.sync = true;
            if (late) {
                sys.theirs = texts[i];
            } else {
                put(at("kept"), texts[i]);
                assert_int_equal(lap_backup_check(&backup, &err), i ? LAP_E_EXISTS : LAP_OK);
            }
            assert_int_equal(keep(&err), i ? LAP_E_EXISTS : LAP_OK);
            assert_true(is_text("kept", texts[i]) && is_text("photo", text));
            assert_int_equal(sys.syncs, i == 0);
            if (i == 0)
                continue;
            assert_string_equal(err.subject, "the photo");
            assert_string_equal(
                err.message, "is left alone, since its backup kept exists and is another file");
        }
    begin(); /* a folder or link is no backup */
    assert_int_equal(mkdir(at("kept"), 0700), 0);
    assert_int_equal(stat(at("kept"), &photo), 0);
    photo.st_ino++;
    assert_int_equal(keep(&err), LAP_E_EXISTS);
    begin();
    assert_int_equal(symlink("photo", at("kept")), 0);
    assert_int_equal(keep(&err), LAP_E_EXISTS);
    begin(); /* the number of another device */
    assert_int_equal(link(at("photo"), at("kept")), 0);
    struct stat was = photo;
    photo.st_dev++;
    photo.st_size++;
    assert_int_equal(keep(&err), LAP_E_EXISTS);
    photo = was;
    photo.st_ino++;
    photo.st_size++;
    assert_int_equal(keep(&err), LAP_E_EXISTS);

    begin(); /* the photo is another one by now */
    put(at("kept"), text);
    photo.st_ino += 1000;
    assert_int_equal(keep(&err), LAP_E_CHANGED);
    assert_string_equal(err.subject, "the photo");
    begin(); /* neither can be read */
    put(at("kept"), text);
    sys.read = EIO;
    assert_int_equal(keep(&err), LAP_E_UNREADABLE);
    assert_string_equal(err.subject, "the photo");
}

static void names_that_cannot_be_looked_at(void **unused)
{
    (void)unused;
    static const struct {
        int why;
        lap_code code;
    } cases[] = {{EACCES, LAP_E_WRITE}, {EIO, LAP_E_WRITE}, {ENOMEM, LAP_E_MEMORY}};
    lap_error err;
    for (int i = 0; i < 3; i++)
        for (int looks = 0; looks < 2; looks++) {
            begin();
            sys.look = cases[i].why;
            sys.looks = looks;
            assert_int_equal(keep(&err), cases[i].code);
            assert_string_equal(err.subject, "the photo");
            assert_non_null(strstr(err.message, "cannot keep it as kept: "));
            assert_non_null(strstr(err.message, strerror(cases[i].why)));
            assert_int_equal(is_missing(), looks == 0);
        }
    begin(); /* it has to be there after the link */
    sys.look = ENOENT;
    assert_int_equal(keep(&err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    static const struct {
        int why;
        lap_code code;
    } links[] = {
        {ENOSPC, LAP_E_DISK_FULL}, {EDQUOT, LAP_E_DISK_FULL}, {EACCES, LAP_E_WRITE}, {EROFS, LAP_E_WRITE}};
    for (int i = 0; i < 4; i++) {
        begin();
        sys.link = links[i].why;
        assert_int_equal(keep(&err), links[i].code);
        assert_non_null(strstr(err.message, strerror(links[i].why)));
        assert_true(is_missing());
    }
}

/* ---- a copy ------------------------------------------------------------------------------------------- */

static void without_links_it_is_a_copy(void **unused)
{
    (void)unused;
    static const int whys[] = {EPERM, ENOTSUP, ENOSYS, EMLINK, EINVAL, EXDEV};
    lap_error err;
    struct stat st;
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++) {
        begin();
        sys.link = whys[i];
        sys.interrupted = i % 2 ? 2 : 0;
        assert_int_equal(keep(&err), LAP_OK);
        assert_true(is_kept());
        assert_int_equal(stat(at("kept"), &st), 0);
        assert_true(st.st_ino != photo.st_ino && st.st_mode == photo.st_mode);
        assert_true(st.st_mtim.tv_sec == photo.st_mtim.tv_sec && st.st_mtim.tv_nsec == photo.st_mtim.tv_nsec);
        sys.link = EEXIST;
        assert_int_equal(keep(&err), LAP_OK); /* it is compared */
    }
}

static void copies_that_fail(void **unused)
{
    (void)unused;
    lap_error err;
    begin(); /* the name is taken after all: no copy */
    sys.link = EPERM;
    sys.theirs = "theirs";
    assert_int_equal(keep(&err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, strerror(EPERM)));
    assert_true(is_text("kept", "theirs"));

    begin(); /* another process makes one while it is copied */
    sys.link = EPERM;
    sys.makes_late = true;
    assert_int_equal(keep(&err), LAP_E_EXISTS);
    assert_true(is_text("kept", "late"));

    begin(); /* the photo cannot be read to its end */
    sys.link = EPERM;
    sys.read = EIO;
    assert_int_equal(keep(&err), LAP_E_UNREADABLE);
    assert_string_equal(err.subject, "the photo");
    assert_non_null(strstr(err.message, "cannot be read: "));
    assert_non_null(strstr(err.message, strerror(EIO)));
    assert_true(is_missing());

    begin(); /* or is edited meanwhile */
    sys.link = EPERM;
    sys.edits = "edited";
    assert_int_equal(keep(&err), LAP_E_CHANGED);
    assert_string_equal(err.message, "changed while it was copied");
    assert_true(is_missing() && is_text("photo", "edited"));

    begin(); /* or is gone */
    sys.link = EPERM;
    assert_int_equal(unlink(at("photo")), 0);
    assert_int_equal(keep(&err), LAP_E_UNREADABLE);
    assert_non_null(strstr(err.message, "cannot be opened: "));
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    assert_true(is_missing());

    begin(); /* there is no folder for it */
    sys.link = EPERM;
    sys.access = ENOENT;
    backup.kept = "no folder/kept";
    assert_int_equal(keep(&err), LAP_E_MISSING);
}

/* Number 0 is a descriptor like others. */
static void a_copy_through_number_zero(void **unused)
{
    (void)unused;
    int status;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        lap_error err;
        begin();
        sys.link = EPERM;
        close(0);
        _exit(keep(&err) == LAP_OK && is_kept() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backup_is_a_link),
        cmocka_unit_test(what_has_the_name_is_compared),
        cmocka_unit_test(names_that_cannot_be_looked_at),
        cmocka_unit_test(without_links_it_is_a_copy),
        cmocka_unit_test(copies_that_fail),
        cmocka_unit_test(a_copy_through_number_zero),
    };
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)('a' + i * i % 23);
    if (!make_scratch() || lap_tree_open(scratch, &tree, NULL) != LAP_OK)
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
