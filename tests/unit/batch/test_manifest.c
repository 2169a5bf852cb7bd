#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

#include "batch/manifest.h"
#include "batch/manifest_file.h"
#include "tests/support/temporary.h"
#include "tests/support/tick.h"

/* In front of the C library's own. */
static int fallocate_fails, syncs;

int fallocate(int fd, int mode, off_t at, off_t size)
{
    static __typeof__(fallocate) *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fallocate");
    errno = fallocate_fails;
    return fallocate_fails ? -1 : next(fd, mode, at, size);
}

int fsync(int fd)
{
    static __typeof__(fsync) *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    syncs++;
    return next(fd);
}

/* Each listing of a folder takes a minute. */
static bool is_slow;
static time_t passed;

int scandirat(int folder, const char *path, struct dirent ***names, int (*takes)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **))
{
    static __typeof__(scandirat) *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "scandirat");
    passed += is_slow ? 60 : 0;
    return next(folder, path, names, takes, order);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static __typeof__(clock_gettime) *next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    const int result = next(clock, now);
    now->tv_sec += passed;
    return result;
}

static char folder[TEMPORARY_PATH];
static lap_tree tree;

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(temporary(folder, "manifest")) && lap_tree_open(folder, &tree, NULL) == LAP_OK ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    lap_tree_close(&tree);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* What stands under an output's name: it need not be there but where its content counts. */
static const struct stat jpeg = {
    .st_dev = 5, .st_ino = 77, .st_size = 500, .st_mtim = {.tv_sec = 1700000001, .tv_nsec = 7}};
enum { CONTENT = 99 };
static const struct stat photo = {.st_size = 1000, .st_mtim = {.tv_sec = 1700000000, .tv_nsec = 123456789}};
static lap_origin origin = {"/photos", 5, 4711};
static const lap_manifest_input from_photo = {"photos/in.jpg", &photo, &origin, sizeof "photos/" - 1, NULL};

static void put(const char *name, const char *text)
{
    int fd = openat(tree.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static struct stat state_of(const char *name)
{
    struct stat st;
    assert_int_equal(fstatat(tree.fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static uint64_t content_of(const char *name)
{
    const struct stat st = state_of(name);
    uint64_t content;
    assert_int_equal(lap_content_hash(tree.fd, name, &st, &content, NULL), LAP_OK);
    return content;
}

/* As if these settings had that hash, and others with another fail_on. */
static lap_settings_mark mark_of(uint64_t settings)
{
    return (lap_settings_mark){
        .hashes = {1000 + settings, settings, 2000 + settings}, .fail_on = LAP_FAIL_TRUNCATED};
}

static lap_manifest *opened(uint64_t settings)
{
    const lap_settings_mark mark = mark_of(settings);
    lap_manifest *m;
    lap_error err;
    if (lap_manifest_open(&tree, &mark, &m, &err) != LAP_OK)
        fail_msg("%s", err.message);
    return m;
}

/* A run that makes these outputs, and ends before the done line of the last one if asked. */
static void run(uint64_t settings, const char *const *outputs, int count, bool unfinished)
{
    lap_manifest *m = opened(settings);
    for (int i = 0; i < count; i++)
        assert_int_equal(
            lap_manifest_begin(m, &(lap_manifest_output){outputs[i], &jpeg, CONTENT, false}, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, true, 4096, NULL), LAP_OK);
    for (int i = 0; i < count - unfinished; i++)
        assert_int_equal(lap_manifest_done(
                             m, &(lap_manifest_output){outputs[i], &jpeg, CONTENT, false}, &from_photo, NULL),
            LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
}

static lap_made verdict(const lap_manifest *m, const char *output, const struct stat *in,
    const struct stat *there, uint64_t *content)
{
    const lap_standing standing = {
        output, tree.fd, there, {"photos/in.jpg", in, &origin, from_photo.below, NULL}};
    uint64_t ignored;
    lap_made made;
    assert_int_equal(lap_manifest_find(m, &standing, &made, content ? content : &ignored, NULL), LAP_OK);
    return made;
}

static lap_made judged(lap_manifest *m, const char *output)
{
    const lap_standing standing = {output, tree.fd, &jpeg, from_photo};
    uint64_t content;
    lap_made made;
    assert_int_equal(lap_manifest_judge(m, &standing, &made, &content, NULL), LAP_OK);
    return made;
}

static lap_made made(uint64_t settings, const char *output, const struct stat *in, const struct stat *there)
{
    lap_manifest *m = opened(settings);
    lap_made result = verdict(m, output, in, there, NULL);
    lap_manifest_close(m);
    return result;
}

/* A file that is there, and a run that says that it made it. */
static struct stat made_for_real(uint64_t settings, const char *output, const char *text)
{
    put(output, text);
    const struct stat there = state_of(output);
    lap_manifest *m = opened(settings);
    assert_int_equal(lap_manifest_done(m, &(lap_manifest_output){output, &there, content_of(output), false},
                         &from_photo, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
    return there;
}

static void nothing_is_known_of_no_folder(void **state)
{
    lap_manifest *m;
    (void)state;
    lap_tree none;
    assert_int_equal(lap_tree_open("/nonexistent/folder", &none, NULL), LAP_OK);
    const lap_settings_mark mark = mark_of(1);
    assert_int_equal(lap_manifest_open(&none, &mark, &m, NULL), LAP_OK);
    assert_int_equal(verdict(m, "a.jpg", &photo, &jpeg, NULL), LAP_MADE_UNKNOWN);
    lap_manifest_close(m);
    lap_manifest_close(NULL);
}

static void a_done_output_is_known_and_its_facts_count(void **state)
{
    static const char *const outputs[] = {"a.jpg", "sub/b.jpg"};
    (void)state;
    run(7, outputs, 2, false);
    assert_int_equal(made(7, "a.jpg", &photo, &jpeg), LAP_MADE_SAME);
    assert_int_equal(made(7, "sub/b.jpg", &photo, &jpeg), LAP_MADE_SAME);
    assert_int_equal(made(7, "b.jpg", &photo, &jpeg), LAP_MADE_UNKNOWN);
    struct stat other[5] = {jpeg, jpeg, jpeg, jpeg, jpeg}; /* not the file of the line */
    other[0].st_dev++;
    other[1].st_ino++;
    other[2].st_size--;
    other[3].st_mtim.tv_sec++;
    other[4].st_mtim.tv_nsec++;
    for (int i = 0; i < 5; i++)
        assert_int_equal(made(7, "a.jpg", &photo, &other[i]), LAP_MADE_CHANGED);
}

/* What is to be replaced is read, and what it says of itself is not enough. */
static void content_decides_what_is_replaced(void **state)
{
    struct stat changed = photo;
    (void)state;
    const struct stat there = made_for_real(7, "a.jpg", "made by lapedge");
    assert_int_equal(made(7, "a.jpg", &photo, &there), LAP_MADE_SAME);
    assert_int_equal(made(8, "a.jpg", &photo, &there), LAP_MADE_OURS); /* other settings */
    changed.st_size++;
    assert_int_equal(made(7, "a.jpg", &changed, &there), LAP_MADE_OURS);
    changed = photo;
    changed.st_mtim.tv_nsec++;
    assert_int_equal(made(7, "a.jpg", &changed, &there), LAP_MADE_OURS);
    /* Edited in place, with its old time: the same file, as far as it says. */
    assert_true(await_tick(folder));
    put("a.jpg", "edited by hand!");
    const struct timespec times[2] = {there.st_mtim, there.st_mtim};
    assert_int_equal(utimensat(tree.fd, "a.jpg", times, 0), 0);
    const struct stat edited = state_of("a.jpg");
    assert_true(lap_same_state(&edited, &there));
    assert_false(lap_is_untouched(&edited, &there));
    assert_int_equal(made(8, "a.jpg", &photo, &edited), LAP_MADE_CHANGED);
    /* What was looked at is not what stands there any more. */
    uint64_t content;
    assert_int_equal(lap_content_hash(tree.fd, "a.jpg", &there, &content, NULL), LAP_E_CHANGED);
    assert_int_equal(unlinkat(tree.fd, "a.jpg", 0), 0);
    assert_int_equal(lap_content_hash(tree.fd, "a.jpg", &there, &content, NULL), LAP_E_CHANGED);
    assert_int_equal(symlinkat("/dev/zero", tree.fd, "a.jpg"), 0);
    assert_int_equal(lap_content_hash(tree.fd, "a.jpg", &there, &content, NULL), LAP_E_CHANGED);
}

static void a_begun_output_is_ours_and_not_done(void **state)
{
    (void)state;
    put("a.jpg", "made by lapedge");
    const struct stat there = state_of("a.jpg");
    lap_manifest *m = opened(7);
    assert_int_equal(
        lap_manifest_begin(m, &(lap_manifest_output){"a.jpg", &there, content_of("a.jpg"), false}, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(m, true, 4096, NULL), LAP_OK);
    lap_manifest_close(m);
    assert_int_equal(made(7, "a.jpg", &photo, &there), LAP_MADE_OURS);
}

static void a_later_run_overrules(void **state)
{
    (void)state;
    const struct stat there = made_for_real(7, "a.jpg", "made by lapedge");
    lap_manifest *m = opened(8);
    assert_int_equal(lap_manifest_done(m, &(lap_manifest_output){"a.jpg", &there, content_of("a.jpg"), false},
                         &from_photo, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    /* A third one dies between begin and done: the file of the done line stands there still. */
    assert_int_equal(
        lap_manifest_begin(m, &(lap_manifest_output){"a.jpg", &there, content_of("a.jpg"), false}, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
    assert_int_equal(made(8, "a.jpg", &photo, &there), LAP_MADE_SAME);
    assert_int_equal(made(7, "a.jpg", &photo, &there), LAP_MADE_OURS);
}

/* Copied and restored folders have other inodes and times, and the same content. */
static void content_decides_where_the_file_is_another(void **state)
{
    struct stat there, was;
    uint64_t found;
    (void)state;
    put("a.jpg", "made by lapedge");
    was = there = state_of("a.jpg");
    was.st_ino++;
    const uint64_t content = content_of("a.jpg");
    lap_manifest *m = opened(7);
    assert_int_equal(
        lap_manifest_done(m, &(lap_manifest_output){"a.jpg", &was, content, false}, &from_photo, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
    m = opened(7);
    assert_int_equal(verdict(m, "a.jpg", &photo, &was, &found), LAP_MADE_SAME);
    assert_true(found == 0); /* nothing was read */
    assert_int_equal(verdict(m, "a.jpg", &photo, &there, &found), LAP_MADE_SAME);
    assert_true(found == content);
    put("a.jpg", "made by anybody"); /* as long */
    there = state_of("a.jpg");
    assert_int_equal(verdict(m, "a.jpg", &photo, &there, &found), LAP_MADE_CHANGED);
    put("a.jpg", "longer than it was");
    there = state_of("a.jpg");
    assert_int_equal(verdict(m, "a.jpg", &photo, &there, &found), LAP_MADE_CHANGED);
    assert_true(found == 0);
    lap_manifest_close(m);
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

static void put_manifest(const char *text)
{
    int fd;
    assert_true(mkdirat(tree.fd, ".lapedge", 0700) == 0 || errno == EEXIST);
    fd = openat(tree.fd, ".lapedge/20200101T000000.000000000-x-1.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

/* Lines of versions that noted only the size. It has more than 32 bits. */
static void of_old_lines_the_size_decides(void **state)
{
    static const char lines[] =
        "{\"schema\":\"lapedge.manifest/1\",\"event\":\"begin\",\"output\":\"a.jpg\",\"settings\":"
        "\"0000000000000007\"}\n"
        "{\"schema\":\"lapedge.manifest/1\",\"event\":\"begin\",\"output\":\"b.jpg\",\"settings\":"
        "\"0000000000000007\"}\n"
        "{\"schema\":\"lapedge.manifest/1\",\"event\":\"done\",\"output\":\"a.jpg\",\"settings\":"
        "\"0000000000000007\",\"input\":\"in.jpg\",\"input_size\":1000,\"input_mtime_s\":1700000000,"
        "\"input_mtime_ns\":123456789,\"output_size\":500}\n";
    struct stat other = jpeg;
    (void)state;
    put_manifest(lines);
    assert_int_equal(made(7, "a.jpg", &photo, &jpeg), LAP_MADE_SAID);
    assert_int_equal(made(8, "a.jpg", &photo, &jpeg), LAP_MADE_UNHASHED);
    other.st_size++;
    assert_int_equal(made(7, "a.jpg", &photo, &other), LAP_MADE_CHANGED);
    other.st_size = jpeg.st_size + ((off_t)1 << 32);
    assert_int_equal(made(7, "a.jpg", &photo, &other), LAP_MADE_CHANGED);
    assert_int_equal(made(7, "b.jpg", &photo, &jpeg), LAP_MADE_UNKNOWN); /* it says nothing about a file */
}

/* Records that others may have written replace nothing; what they call done is passed over. */
static void records_of_others_are_not_believed(void **state)
{
    uint64_t content;
    (void)state;
    const struct stat there = made_for_real(7, "a.jpg", "made by lapedge");
    struct stat moved = there;
    moved.st_ino++;
    char *path = file_path();
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(made(7, "a.jpg", &photo, &there), LAP_MADE_SAID);
    assert_int_equal(made(8, "a.jpg", &photo, &there), LAP_MADE_UNBELIEVED);
    lap_manifest *m = opened(7);
    struct stat now = there;
    now.st_mtim.tv_sec++; /* by its content it would be known, but no line of ours is made of that */
    const struct timespec times[2] = {now.st_mtim, now.st_mtim};
    assert_int_equal(utimensat(tree.fd, "a.jpg", times, 0), 0);
    now = state_of("a.jpg");
    assert_int_equal(verdict(m, "a.jpg", &photo, &now, &content), LAP_MADE_SAID);
    assert_true(content == 0);
    lap_manifest_close(m);
    assert_int_equal(chmod(path, 0664), 0);
    assert_int_equal(made(8, "a.jpg", &photo, &now), LAP_MADE_OURS);
    assert_int_equal(fchmodat(tree.fd, ".lapedge", 0777, 0), 0);
    assert_int_equal(made(8, "a.jpg", &photo, &now), LAP_MADE_UNBELIEVED);
    assert_int_equal(fchmodat(tree.fd, ".lapedge", 0775, 0), 0);
    assert_int_equal(made(8, "a.jpg", &photo, &now), LAP_MADE_OURS);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(made(8, "a.jpg", &photo, &now), LAP_MADE_UNBELIEVED);
    }
    free(path);
}

/* Whatever the umask, only its owner may write a file that is believed: a line that somebody else adds to it
 * would be believed, too. */
static void records_are_made_for_their_owner(void **state)
{
    struct stat st;
    (void)state;
    const mode_t before = umask(0);
    (void)made_for_real(7, "a.jpg", "made by lapedge");
    umask(before);
    char *path = file_path();
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    free(path);
    assert_int_equal(state_of(".lapedge").st_mode & 0777, 0775);
    assert_int_equal(made(8, "a.jpg", &photo, &(struct stat){.st_size = 1}), LAP_MADE_CHANGED);
}

static void what_another_run_writes_is_read_before_the_verdict(void **state)
{
    static const char *const first[] = {"a.jpg"}, *const second[] = {"b.jpg"};
    (void)state;
    lap_manifest *m = opened(7);
    run(7, first, 1, false); /* makes the folder, too */
    assert_int_equal(verdict(m, "a.jpg", &photo, &jpeg, NULL), LAP_MADE_UNKNOWN);
    assert_int_equal(judged(m, "a.jpg"), LAP_MADE_SAME);
    lap_manifest *other = opened(7);
    for (int i = 0; i < 3; i++) { /* a file that grows, lines cut anywhere */
        assert_int_equal(
            lap_manifest_begin(other, &(lap_manifest_output){second[0], &jpeg, CONTENT, false}, NULL),
            LAP_OK);
        assert_int_equal(lap_manifest_flush(other, false, 0, NULL), LAP_OK);
    }
    assert_int_equal(judged(m, "b.jpg"), LAP_MADE_CHANGED);
    assert_int_equal(
        lap_manifest_done(other, &(lap_manifest_output){"b.jpg", &jpeg, CONTENT, false}, &from_photo, NULL),
        LAP_OK);
    assert_int_equal(lap_manifest_flush(other, false, 0, NULL), LAP_OK);
    assert_int_equal(lap_manifest_refresh(m, NULL), LAP_OK);
    assert_int_equal(verdict(m, "b.jpg", &photo, &jpeg, NULL), LAP_MADE_SAME);
    put_manifest(
        "{\"event\":\"done\",\"output\":\"c.jpg\",\"settings\":\"0000000000000007\",\"output_size\":5");
    assert_int_equal(judged(m, "c.jpg"), LAP_MADE_UNKNOWN);
    put_manifest("00}\n");
    assert_int_equal(judged(m, "c.jpg"), LAP_MADE_UNHASHED);
    lap_manifest_close(other);
    lap_manifest_close(m);
}

/* What a run with other settings makes while this run works is left alone, also where an earlier run made the
 * same content; what was there before is replaced. */
static void what_a_rival_makes_meanwhile_is_left_alone(void **state)
{
    (void)state;
    struct stat there = made_for_real(8, "a.jpg", "edges"), later;
    lap_manifest *m = opened(7);
    lap_made is;
    uint64_t content;
    const lap_standing before = {"a.jpg", tree.fd, &there, from_photo},
                       after = {"a.jpg", tree.fd, &later, from_photo};
    assert_int_equal(lap_manifest_judge(m, &before, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_OURS);
    assert_int_equal(renameat(tree.fd, "a.jpg", tree.fd, "kept"), 0);
    later = made_for_real(8, "a.jpg", "edges"); /* another file */
    assert_int_equal(lap_manifest_judge(m, &after, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_MEANWHILE);
    later = made_for_real(8, "a.jpg", "more edges");
    assert_int_equal(lap_manifest_judge(m, &after, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_MEANWHILE);
    lap_manifest_close(m);
    assert_int_equal(made(7, "a.jpg", &photo, &later), LAP_MADE_OURS);
}

/* A record may grow after it was read, while others are. */
static void what_a_rival_makes_while_records_are_read_is_left_alone(void **state)
{
    (void)state;
    lap_made is;
    uint64_t content;
    (void)made_for_real(8, "a.jpg", "edges");
    is_slow = true;
    lap_manifest *m = opened(7);
    is_slow = false;
    assert_int_equal(unlinkat(tree.fd, "a.jpg", 0), 0);
    const struct stat there = made_for_real(8, "a.jpg", "edges");
    const lap_standing standing = {"a.jpg", tree.fd, &there, from_photo};
    assert_int_equal(lap_manifest_judge(m, &standing, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_MEANWHILE);
    lap_manifest_close(m);
    passed = 0;
}

/* The same between output folders of which one lies in the other: neither run has read the other's records
 * when it comes to an output. */
static void a_rival_above_or_below_is_noticed(void **state)
{
    (void)state;
    const lap_tree whole = tree;
    const lap_settings_mark mark = mark_of(7);
    lap_tree part;
    lap_manifest *above, *below;
    char name[80];
    lap_made is;
    uint64_t content;
    snprintf(name, sizeof name, "%s/part", folder);
    assert_int_equal(mkdirat(tree.fd, "part", 0700), 0);
    assert_int_equal(lap_tree_open(name, &part, NULL), LAP_OK);
    assert_int_equal(lap_manifest_open(&whole, &mark, &above, NULL), LAP_OK);
    assert_int_equal(lap_manifest_open(&part, &mark, &below, NULL), LAP_OK);
    assert_true(await_tick(folder));
    tree = part;
    struct stat there = made_for_real(8, "a.jpg", "edges");
    tree = whole;
    const lap_standing from_above = {"part/a.jpg", part.fd, &there, from_photo};
    assert_int_equal(lap_manifest_judge(above, &from_above, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_MEANWHILE);
    lap_manifest_close(above);
    assert_true(await_tick(folder));
    assert_int_equal(lap_manifest_open(&whole, &mark, &above, NULL), LAP_OK); /* begins after it */
    assert_int_equal(lap_manifest_judge(above, &from_above, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_OURS);
    there = made_for_real(8, "part/b.jpg", "edges");
    const lap_standing from_below = {"b.jpg", part.fd, &there, from_photo};
    assert_int_equal(lap_manifest_judge(below, &from_below, &is, &content, NULL), LAP_OK);
    assert_int_equal(is, LAP_MADE_MEANWHILE);
    lap_manifest_close(above);
    lap_manifest_close(below);
    lap_tree_close(&part);
}

static void links_are_passed_over(void **state)
{
    static const char *const outputs[] = {"a.jpg"};
    lap_manifest *m;
    lap_error err;
    (void)state;
    run(7, outputs, 1, false);
    assert_int_equal(symlinkat("/etc/passwd", tree.fd, ".lapedge/x.jsonl"), 0);
    assert_int_equal(symlinkat("nowhere", tree.fd, ".lapedge/0.jsonl"), 0);
    assert_int_equal(made(7, "a.jpg", &photo, &jpeg), LAP_MADE_SAME);
    assert_int_equal(renameat(tree.fd, ".lapedge", tree.fd, "moved"), 0);
    assert_int_equal(symlinkat("moved", tree.fd, ".lapedge"), 0);
    const lap_settings_mark mark = mark_of(7);
    assert_int_equal(lap_manifest_open(&tree, &mark, &m, &err), LAP_E_EXISTS);
    assert_non_null(strstr(err.subject, "/.lapedge"));
}

/* A line that cannot be ours costs no memory, and those behind it are read. */
static void long_lines_are_passed_over(void **state)
{
    static char line[3 << 20];
    (void)state;
    memset(line, 'x', sizeof line - 2);
    line[sizeof line - 2] = '\n';
    put_manifest(line);
    put_manifest("{\"event\":\"done\",\"output\":\"a.jpg\",\"settings\":\"7\",\"output_size\":500}\n");
    assert_int_equal(made(7, "a.jpg", &photo, &jpeg), LAP_MADE_UNHASHED);
}

static void names_need_not_be_text(void **state)
{
    static const char *const outputs[] = {"new\nline.jpg", "\xff\xfe.jpg", "100%41.jpg", "%zz\xff.jpg",
        "quote\".jpg", "\x01.jpg", "\xff%41.jpg"};
    enum { COUNT = sizeof outputs / sizeof *outputs };
    (void)state;
    run(7, outputs, COUNT, false);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(made(7, outputs[i], &photo, &jpeg), LAP_MADE_SAME);
    assert_int_equal(made(7, "100A.jpg", &photo, &jpeg), LAP_MADE_UNKNOWN);
    assert_int_equal(made(7,
                         "\xff"
                         "A.jpg",
                         &photo, &jpeg),
        LAP_MADE_UNKNOWN);
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
        lap_made now = made(7, "a.jpg", &photo, &jpeg);
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
    assert_int_equal(made(7, "a.jpg", &photo, &jpeg), LAP_MADE_SAME);
    assert_int_equal(made(7, "b.jpg", &photo, &jpeg), LAP_MADE_UNKNOWN);
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
    assert_int_equal(
        lap_manifest_begin(m, &(lap_manifest_output){"first.jpg", &jpeg, CONTENT, false}, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    tight = before;
    tight.rlim_cur = 3000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "many%d.jpg", i);
        assert_int_equal(
            lap_manifest_begin(m, &(lap_manifest_output){name, &jpeg, CONTENT, false}, NULL), LAP_OK);
    }
    assert_int_equal(lap_manifest_flush(m, false, 0, &err), LAP_E_DISK_FULL);
    assert_non_null(strstr(err.message, "File too large"));
    assert_int_equal(
        lap_manifest_begin(m, &(lap_manifest_output){"last.jpg", &jpeg, CONTENT, false}, NULL), LAP_OK);
    assert_int_equal(lap_manifest_flush(m, false, 0, NULL), LAP_OK);
    lap_manifest_close(m);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(made(7, "first.jpg", &photo, &jpeg), LAP_MADE_CHANGED); /* known, and not there */
    assert_int_equal(made(7, "many0.jpg", &photo, &jpeg), LAP_MADE_UNKNOWN);
    assert_int_equal(made(7, "last.jpg", &photo, &jpeg), LAP_MADE_CHANGED);
}

/* A file system that sets nothing aside is no reason to fail; one that is full is. */
static void room_is_set_aside_where_that_can_be(void **state)
{
    static const struct {
        int why;
        lap_code code;
    } cases[] = {{EOPNOTSUPP, LAP_OK}, {EINTR, LAP_OK}, {ENOSPC, LAP_E_DISK_FULL}, {0, LAP_OK}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        lap_manifest *m = opened(7);
        assert_int_equal(
            lap_manifest_begin(m, &(lap_manifest_output){"a.jpg", &jpeg, CONTENT, false}, NULL), LAP_OK);
        fallocate_fails = cases[i].why;
        errno = ENOSPC; /* of something before */
        assert_int_equal(lap_manifest_flush(m, false, 4096, &err), cases[i].code);
        fallocate_fails = 0;
        lap_manifest_close(m);
    }
}

/* The name of the record's file, and its folder's, are synced with its first lines, and then no more. */
static void names_are_synced_once(void **state)
{
    (void)state;
    lap_manifest *m = opened(7);
    for (int i = 0; i < 3; i++) {
        syncs = 0;
        assert_int_equal(
            lap_manifest_begin(m, &(lap_manifest_output){"a.jpg", &jpeg, CONTENT, false}, NULL), LAP_OK);
        assert_int_equal(lap_manifest_flush(m, i > 0, 0, NULL), LAP_OK);
        assert_int_equal(syncs, i == 1 ? 2 : 0);
    }
    lap_manifest_close(m);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)

/* The superuser's record is believed, and one's own; for the superuser they are the same, so another user
 * asks. */
static void the_superusers_records_are_believed(void **state)
{
    const uid_t me = geteuid(), asking = me ? me : 65533;
    struct stat file = {.st_mode = S_IFREG | 0644};
    (void)state;
    assert_int_equal(me ? 0 : seteuid(asking), 0);
    const char *root = lap_manifest_why_not_ours(&file);
    file.st_uid = asking;
    const char *own = lap_manifest_why_not_ours(&file);
    file.st_uid = asking + 1;
    const char *other = lap_manifest_why_not_ours(&file);
    file.st_uid = asking;
    file.st_mode |= S_IWOTH;
    const char *open = lap_manifest_why_not_ours(&file);
    assert_int_equal(me ? 0 : seteuid(0), 0);
    assert_null(root);
    assert_null(own);
    assert_string_equal(other, "belongs to another user");
    assert_string_equal(open, "may be written by everybody");
}

/* What lap_manifest_read_text passed on: whole lines by their lengths, "-" for one that is too long, and "+"
 * for what may be incomplete. */
static lap_code note_line(void *user, char *text, size_t length, bool is_whole, lap_error *err)
{
    char *noted = user;
    (void)err;
    assert_true(strlen(noted) < 80);
    if (text)
        text[length] = 0; /* which the contract permits */
    snprintf(noted + strlen(noted), 20, text ? "%zu%s " : "- ", length, is_whole ? "" : "+");
    return LAP_OK;
}

static off_t expect_lines(FILE *file, off_t from, const char *expected)
{
    char noted[100] = "";
    fflush(file);
    assert_int_equal(lap_manifest_read_text(fileno(file), "file", &from, note_line, noted, NULL), LAP_OK);
    assert_string_equal(noted, expected);
    return from;
}

/* What follows the limit in a line is no line, though it would read as one: nor for a reader that came in the
 * middle of it. */
static void the_end_of_a_long_line_is_no_line(void **state)
{
    enum { PIECE = 64 << 10, LONGEST = 40960 }; /* read at once; a line */
    static char many[LAP_MANIFEST_LINE + 2 * PIECE];
    char text[40];
    (void)state;
    memset(many, 'x', sizeof many);
    for (size_t size = LAP_MANIFEST_LINE + PIECE; size <= sizeof many; size += PIECE) {
        FILE *file = tmpfile();
        assert_non_null(file);
        fputs("first\n", file);
        fwrite(many, 1, size, file);
        assert_int_equal(expect_lines(file, 0, "5 "), 6);
        fputs("tail\nnext\nlast", file);
        assert_int_equal(expect_lines(file, 6, "- 4 4+ "), 6 + size + 10);
        fputs("!\n", file);
        assert_int_equal(expect_lines(file, 6 + (off_t)size + 10, "5 "), 6 + size + 16);
        fclose(file);
    }
    /* Whether a line is too long does not depend on where it begins. */
    for (int before = 0; before < PIECE; before += 20000) {
        FILE *file = tmpfile();
        assert_non_null(file);
        fprintf(file, "%*s\n", before, "");
        fwrite(many, 1, LONGEST, file);
        putc('\n', file);
        fwrite(many, 1, LONGEST + 1, file);
        fputs("\nnext\n", file);
        snprintf(text, sizeof text, before > LONGEST ? "- 40960 - 4 " : "%d 40960 - 4 ", before);
        assert_int_equal(expect_lines(file, 0, text), before + 2 * LONGEST + 9);
        fclose(file);
    }
    /* A line without its end is kept up to the limit. */
    for (size_t more = 0; more < 2; more++) {
        FILE *file = tmpfile();
        assert_non_null(file);
        fwrite(many, 1, LAP_MANIFEST_LINE + more, file);
        snprintf(text, sizeof text, "%d+ ", (int)LAP_MANIFEST_LINE);
        assert_int_equal(expect_lines(file, 0, more ? "" : text), 0);
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_known_of_no_folder),
        TEST(a_done_output_is_known_and_its_facts_count),
        TEST(content_decides_what_is_replaced),
        TEST(a_begun_output_is_ours_and_not_done),
        TEST(a_later_run_overrules),
        TEST(content_decides_where_the_file_is_another),
        TEST(of_old_lines_the_size_decides),
        TEST(records_of_others_are_not_believed),
        TEST(the_superusers_records_are_believed),
        TEST(records_are_made_for_their_owner),
        TEST(what_another_run_writes_is_read_before_the_verdict),
        TEST(what_a_rival_makes_meanwhile_is_left_alone),
        TEST(what_a_rival_makes_while_records_are_read_is_left_alone),
        TEST(a_rival_above_or_below_is_noticed),
        TEST(links_are_passed_over),
        TEST(long_lines_are_passed_over),
        TEST(the_end_of_a_long_line_is_no_line),
        TEST(names_need_not_be_text),
        TEST(a_cut_at_every_byte_loses_lines_and_nothing_else),
        TEST(nonsense_is_passed_over),
        TEST(a_failed_flush_leaves_whole_lines),
        TEST(room_is_set_aside_where_that_can_be),
        TEST(names_are_synced_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
