/* The sink: complete or absent, whatever the disk, the folder or the reader does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink.h"
#include "io/sink_temp.h"
#include "tests/support/scratch.h"

/* The whole life of a sink; the first error. */
static lap_code write_file(
    const char *path, const char *text, size_t times, bool sync, const struct stat *like, lap_error *err)
{
    lap_sink *sink = NULL;
    const lap_like as = {open("/dev/null", O_RDONLY | O_CLOEXEC), like};
    lap_code code = lap_sink_open(path, NULL, &sink, err);
    for (size_t i = 0; i < times && code == LAP_OK; i++)
        code = lap_sink_write(sink, text, strlen(text), err);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, sync, like ? &as : NULL, err);
    if (code == LAP_OK)
        code = lap_sink_publish(sink, err);
    lap_sink_close(sink);
    close(as.fd);
    return code;
}

/* ---- what should work --------------------------------------------------------------------------- */

static void appears_only_when_published(void **unused)
{
    (void)unused;
    lap_sink *sink;
    lap_error err;
    struct stat info;
    assert_int_equal(lap_sink_open(at("a"), NULL, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, "hello", 5, &err), LAP_OK);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_INTERNAL); /* not whole yet */
    assert_int_equal(lap_sink_finish(sink, true, NULL, &err), LAP_OK);
    assert_int_equal(access(at("a"), F_OK), -1);
    assert_int_equal(count_temps(scratch), 1);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    assert_int_equal(lap_sink_bytes(sink), 5);
    assert_true(lap_sink_opening_ms(sink) > 0);
    assert_true(lap_sink_ms(sink) > lap_sink_opening_ms(sink));
    lap_sink_close(sink);
    assert_holds(at("a"), "hello");
    assert_int_equal(stat(at("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~022); /* main sets the umask */
    assert_int_equal(count_temps(scratch), 0);
}

static void nothing_is_left_when_dropped(void **unused)
{
    (void)unused;
    lap_sink *sink;
    lap_error err;
    put(at("keep"), "old");
    assert_int_equal(lap_sink_open(at("keep"), NULL, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, "new", 3, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    lap_sink_close(sink);
    lap_sink_close(NULL);
    assert_holds(at("keep"), "old");
    assert_int_equal(count_temps(scratch), 0);
}

static void many_sizes_arrive_in_order(void **unused)
{
    (void)unused;
    static uint8_t bytes[400000];
    lap_sink *sinks[2];
    lap_error err;
    size_t total = 0;
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    assert_int_equal(lap_sink_open(at("sizes"), NULL, &sinks[0], &err), LAP_OK);
    assert_int_equal(lap_sink_memory(&sinks[1], &err), LAP_OK);
    while (total < sizeof bytes) { /* below, at and above what is gathered */
        seed = seed * 1664525u + 1013904223u;
        size_t size = seed >> 30 == 0 ? 65536 : (seed >> 8) % (seed >> 30 == 1 ? 100000 : 300);
        if (size > sizeof bytes - total)
            size = sizeof bytes - total;
        for (int i = 0; i < 2; i++)
            assert_int_equal(lap_sink_write(sinks[i], bytes + total, size, &err), LAP_OK);
        total += size;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lap_sink_bytes(sinks[i]), sizeof bytes);
        assert_int_equal(lap_sink_finish(sinks[i], false, NULL, &err), LAP_OK);
        assert_int_equal(lap_sink_publish(sinks[i], &err), LAP_OK);
    }
    void *taken;
    size_t size;
    lap_sink_take(sinks[1], &taken, &size);
    assert_int_equal(size, sizeof bytes);
    assert_memory_equal(taken, bytes, size);
    FILE *file = fopen(at("sizes"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(taken, 1, size, file), size);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    assert_memory_equal(taken, bytes, size);
    free(taken);
    lap_sink_close(sinks[0]);
    lap_sink_close(sinks[1]);
}

static void memory_can_be_reserved(void **unused)
{
    (void)unused;
    lap_sink *sinks[2];
    lap_error err;
    void *taken;
    size_t size;
    assert_int_equal(lap_sink_open(at("reserved"), NULL, &sinks[0], &err), LAP_OK);
    assert_int_equal(lap_sink_memory(&sinks[1], &err), LAP_OK);
    for (int i = 0; i < 2; i++) { /* less than what is written, and all of it */
        assert_int_equal(lap_sink_reserve(sinks[i], 5, &err), LAP_OK);
        assert_int_equal(lap_sink_write(sinks[i], "a few", 5, &err), LAP_OK);
        assert_int_equal(lap_sink_write(sinks[i], " more words", 11, &err), LAP_OK);
        assert_int_equal(lap_sink_reserve(sinks[i], 1, &err), LAP_OK);
    }
    assert_int_equal(lap_sink_reserve(sinks[1], SIZE_MAX, &err), LAP_E_MEMORY);
    lap_sink_take(sinks[1], &taken, &size);
    assert_int_equal(size, 16);
    assert_memory_equal(taken, "a few more words", size);
    assert_int_equal(lap_sink_reserve(sinks[1], 3, &err), LAP_OK); /* an empty one takes exactly that much */
    assert_int_equal(lap_sink_write(sinks[1], "end", 3, &err), LAP_OK);
    free(taken);
    lap_sink_take(sinks[1], &taken, &size);
    assert_in_range(malloc_usable_size(taken), 3, 64);
    free(taken);
    assert_int_equal(lap_sink_bytes(sinks[0]), 16);
    for (int i = 0; i < 2; i++)
        lap_sink_close(sinks[i]);
}

static void modes_and_times(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat info,
        like = {.st_mode = S_IFREG | 04640, .st_mtim = {1000000000, 5}, .st_atim = {1100000000, 0}};
    assert_int_equal(write_file(at("like"), "x", 1, false, &like, &err), LAP_OK);
    assert_int_equal(stat(at("like"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640); /* never setuid */
    assert_int_equal(info.st_mtim.tv_sec, 1000000000);
    assert_int_equal(info.st_mtim.tv_nsec, 5);
    assert_int_equal(chmod(at("like"), 0604), 0);
    assert_int_equal(write_file(at("like"), "y", 1, false, NULL, &err), LAP_OK);
    assert_int_equal(stat(at("like"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0604); /* that of the file replaced */
    assert_true(info.st_mtim.tv_sec > 1000000000);

    lap_sink *sink; /* private until it is whole */
    assert_int_equal(lap_sink_open(at("private"), NULL, &sink, &err), LAP_OK);
    DIR *dir = opendir(scratch);
    assert_non_null(dir);
    int seen = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, ".lapedge-", 9) == 0) {
            assert_int_equal(stat(at(entry->d_name), &info), 0);
            assert_int_equal(info.st_mode & 0777, 0600);
            seen++;
        }
    closedir(dir);
    assert_int_equal(seen, 1);
    lap_sink_close(sink);
}

static void links_are_followed(void **unused)
{
    (void)unused;
    lap_error err;
    struct stat info;
    assert_int_equal(mkdir(at("real"), 0700), 0);
    put(at("real/file"), "old");
    assert_int_equal(symlink("real/file", at("link")), 0);
    assert_int_equal(symlink("link", at("link2")), 0);
    assert_int_equal(write_file(at("link2"), "new", 1, true, NULL, &err), LAP_OK);
    assert_holds(at("real/file"), "new");
    assert_int_equal(lstat(at("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(symlink("real/none", at("dangling")), 0);
    assert_int_equal(write_file(at("dangling"), "made", 1, false, NULL, &err), LAP_OK);
    assert_holds(at("real/none"), "made");
    assert_int_equal(symlink(at("real/whole"), at("absolute")), 0);
    assert_int_equal(write_file(at("absolute"), "far", 1, false, NULL, &err), LAP_OK);
    assert_holds(at("real/whole"), "far");
    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_int_equal(write_file(at("loop"), "x", 1, false, NULL, &err), LAP_E_WRITE);
    assert_int_equal(count_temps(at("real")), 0);
}

static void same_file_is_seen_through_links(void **unused)
{
    (void)unused;
    lap_error err;
    put(at("one"), "1");
    put(at("two"), "1");
    assert_int_equal(link(at("one"), at("hard")), 0);
    assert_int_equal(symlink("one", at("soft")), 0);
    assert_int_equal(lap_sink_differs(at("one"), at("two"), &err), LAP_OK);
    assert_int_equal(lap_sink_differs(at("one"), at("none"), &err), LAP_OK);
    assert_int_equal(lap_sink_differs(at("one"), "-", &err), LAP_OK);
    assert_int_equal(lap_sink_differs(at("one"), at("one"), &err), LAP_E_CLASH);
    assert_int_equal(lap_sink_differs(at("one"), at("hard"), &err), LAP_E_CLASH);
    assert_int_equal(lap_sink_differs(at("soft"), at("hard"), &err), LAP_E_CLASH);
}

static void written_directly(void **unused)
{
    (void)unused;
    lap_error err;
    int ends[2];
    char got[8] = "", path[32];
    struct stat info;
    assert_int_equal(write_file("/dev/null", "x", 1, true, NULL, &err), LAP_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));

    assert_int_equal(pipe(ends), 0); /* as /dev/fd/N, and as a FIFO with a name */
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_int_equal(write_file(path, "abc", 1, true, NULL, &err), LAP_OK);
    assert_int_equal(read(ends[0], got, sizeof got), 3);
    assert_string_equal(got, "abc");
    assert_int_equal(write(ends[1], "d", 1), 1); /* the caller's own stays open */
    close(ends[0]);
    assert_int_equal(write_file(path, "abc", 1, true, NULL, &err), LAP_E_WRITE); /* EPIPE, SIGPIPE ignored */
    close(ends[1]);

    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(write_file(at("fifo"), "xyz", 1, true, NULL, &err), LAP_OK);
    assert_int_equal(read(reader, got, sizeof got), 3);
    close(reader);
    assert_int_equal(lstat(at("fifo"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

static void *read_all(void *path)
{
    static char got[64];
    size_t size = 0;
    const int reader = open(path, O_RDONLY);
    for (ssize_t n; reader >= 0 && (n = read(reader, got + size, sizeof got - 1 - size)) > 0;)
        size += (size_t)n;
    close(reader);
    got[size] = 0;
    return got;
}

static void a_fifo_is_opened_when_its_reader_comes(void **unused)
{
    (void)unused;
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_sink *sink = NULL;
    lap_error err;
    pthread_t thread;
    void *got = NULL;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", at("late"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_all, path), 0);
    assert_int_equal(lap_sink_open(path, &control, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, "hello", 5, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, true, NULL, &err), LAP_OK);
    lap_sink_close(sink);
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_string_equal(got, "hello");
}

/* Neither the reader that never comes, nor the one that never reads. */
static void a_fifo_is_waited_for_no_longer_than_allowed(void **unused)
{
    (void)unused;
    static const char much[1 << 20];
    atomic_int cancel = 0;
    const lap_control over = {.deadline_ms = lap_now_ms() - 1}, control = {.cancel = &cancel};
    const lap_control *const controls[] = {&over, &control};
    lap_sink *sink = NULL;
    lap_error err = {0};
    assert_int_equal(mkfifo(at("silent"), 0600), 0);
    const int reader = open(at("silent"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(lap_sink_open(at("silent"), &control, &sink, &err), LAP_OK);
    cancel = 1;
    assert_int_equal(lap_sink_write(sink, much, sizeof much, &err), LAP_E_CANCELLED);
    assert_non_null(strstr(err.subject, "silent"));
    lap_sink_close(sink);
    close(reader);
    for (int i = 0; i < 2; i++) {
        err = (lap_error){0};
        assert_int_equal(
            lap_sink_open(at("silent"), controls[i], &sink, &err), i == 0 ? LAP_E_TIMEOUT : LAP_E_CANCELLED);
        assert_null(sink);
        assert_non_null(strstr(err.subject, "silent"));
    }
}

/* ---- what should fail ---------------------------------------------------------------------------- */

static void assert_fails(const char *path, lap_code expected)
{
    lap_error err = {0};
    assert_int_equal(write_file(path, "0123456789abcdef", 20000, false, NULL, &err), expected);
    assert_int_equal(err.code, expected);
    assert_non_null(strstr(err.subject, path));
}

static void bad_targets(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    put(at("plain"), "x");
    assert_fails(at("folder"), LAP_E_WRITE);
    assert_fails(at("folder/"), LAP_E_WRITE);
    assert_fails(at("missing/out.jpg"), LAP_E_WRITE);
    assert_fails(at("plain/out.jpg"), LAP_E_WRITE);
    assert_fails("/dev/full", LAP_E_DISK_FULL);
    lap_error err;
    static const char *const folders[] = {"", "folder", "folder/", "missing/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        assert_int_equal(write_file(i ? at(folders[i]) : "", "x", 1, false, NULL, &err), LAP_E_WRITE);
        assert_non_null(strstr(err.message, "a folder, not a file"));
    }
    int fd;
    lap_temp temp;
    errno = 0;
    assert_false(lap_temp_create(-1, "x", &temp, &fd)); /* the reason is that of the last attempt */
    assert_null(temp.name);
    assert_int_equal(errno, EBADF);
}

static void broken_is_never_published(void **unused)
{
    (void)unused;
    struct rlimit old, small = {70000, RLIM_INFINITY};
    lap_sink *sink;
    lap_error err;
    put(at("limited"), "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    assert_int_equal(lap_sink_open(at("limited"), NULL, &sink, &err), LAP_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0); /* SIGXFSZ is ignored: EFBIG */
    char *bytes = calloc(1, 100000);
    assert_non_null(bytes);
    lap_code code = lap_sink_write(sink, bytes, 100000, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(code, LAP_E_WRITE); /* a smaller file may still be written */
    assert_non_null(strstr(err.message, "file size limit"));
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_E_WRITE);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_E_INTERNAL);
    lap_sink_close(sink);
    free(bytes);
    assert_holds(at("limited"), "old");
    assert_int_equal(count_temps(scratch), 0);
}

/* A disk that ends with this process, even if it is killed. */
static bool mount_small_disk(const char *folder)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, "size=65536") == 0;
}

static void small_disk_at_many_sizes(void **unused)
{
    (void)unused;
    const char *folder = at("disk");
    char target[256];
    int full = 0, fits = 0;
    assert_int_equal(mkdir(folder, 0700), 0);
    if (!mount_small_disk(folder)) {
        print_message("# mounting a small tmpfs needs root\n");
        skip();
    }
    snprintf(target, sizeof target, "%s/out", folder);
    for (size_t kb = 1; kb <= 100; kb++) {
        lap_error err = {0};
        put(target, "old");
        char text[1025];
        memset(text, 'x', 1024);
        text[1024] = 0;
        lap_code code = write_file(target, text, kb, kb % 2, NULL, &err);
        assert_true(code == LAP_OK || code == LAP_E_DISK_FULL);
        if (code == LAP_OK) {
            struct stat info;
            assert_int_equal(stat(target, &info), 0);
            assert_int_equal(info.st_size, kb * 1024);
            fits++;
        } else {
            assert_holds(target, "old");
            full++;
        }
        assert_int_equal(count_temps(folder), 0);
    }
    assert_int_equal(umount(folder), 0);
    assert_true(fits >= 50 && full >= 30);
}

static void read_only_folder(void **unused)
{
    (void)unused;
    assert_int_equal(mkdir(at("ro"), 0700), 0);
    assert_int_equal(chmod(at("ro"), 0500), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* root may write anywhere */
        lap_error err = {0};
        if (geteuid() == 0 && (chmod(scratch, 0755) != 0 || setuid(65534) != 0))
            _exit(2);
        _exit(write_file(at("ro/out"), "x", 1, false, NULL, &err) == LAP_E_WRITE &&
                      strstr(err.subject, "ro/out")
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- leftovers ----------------------------------------------------------------------------------- */

static void dead_runs_are_swept(void **unused)
{
    (void)unused;
    lap_error err;
    lap_sink *mine;
    assert_int_equal(mkdir(at("sweep"), 0700), 0);
    assert_int_equal(lap_sink_open(at("sweep/mine"), NULL, &mine, &err), LAP_OK);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        lap_sink *sink;
        _exit(lap_sink_open(at("sweep/out"), NULL, &sink, &err) == LAP_OK ? 0 : 1);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(info.si_status, 0);
    assert_int_equal(count_temps(at("sweep")), 2);
    assert_int_equal(lap_sink_sweep(at("sweep")), 1); /* a zombie already */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(count_temps(at("sweep")), 1); /* mine is alive */

    /* another host's: only when old; and what only looks alike stays */
    const char *fresh = ".lapedge-00000000-1-1-0000000a.tmp", *day = ".lapedge-00000000-1-1-0000000c.tmp",
               *old = ".lapedge-00000000-1-1-0000000b.tmp";
    char path[256];
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    snprintf(path, sizeof path, "%s/sweep/%s", scratch, fresh);
    put(path, "");
    put(at("sweep/.lapedge-notes.tmp"), "");
    snprintf(path, sizeof path, "%s/sweep/%s.bak", scratch, old);
    put(path, "");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    snprintf(path, sizeof path, "%s/sweep/%s", scratch, old);
    put(path, "");
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(lap_sink_sweep(at("sweep")), 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_temps(at("sweep")), 4);
    for (int hours = 23; hours <= 25; hours += 2) { /* a day is young */
        const struct timespec then[2] = {{time(NULL) - 3600 * hours, 0}, {time(NULL) - 3600 * hours, 0}};
        snprintf(path, sizeof path, "%s/sweep/%s", scratch, day);
        put(path, "");
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
        assert_int_equal(lap_sink_sweep(at("sweep")), hours > 24);
    }
    assert_int_equal(lap_sink_sweep(at("no such folder")), 0);

    assert_int_equal(lap_sink_finish(mine, false, NULL, &err), LAP_OK);
    assert_int_equal(lap_sink_publish(mine, &err), LAP_OK);
    lap_sink_close(mine);
}

/* A number is used again by a later process: the start time distinguishes the two. */
static void reused_numbers_are_told_apart(void **unused)
{
    (void)unused;
    int fd;
    assert_int_equal(mkdir(at("reuse"), 0700), 0);
    int folder = open(at("reuse"), O_PATH | O_DIRECTORY);
    char changed[512];
    lap_temp temp;
    assert_true(lap_temp_create(folder, at("reuse/out"), &temp, &fd));
    close(fd);
    unsigned host, random;
    long pid;
    unsigned long long start;
    assert_int_equal(sscanf(temp.name, ".lapedge-%x-%ld-%llx-%x.tmp", &host, &pid, &start, &random), 4);
    assert_int_equal(pid, getpid());
    assert_true(start > 0);
    snprintf(changed, sizeof changed, "%s/reuse/.lapedge-%08x-%ld-%llx-%08x.tmp", scratch, host, pid,
        start + 1, random);
    assert_int_equal(renameat(folder, temp.name, AT_FDCWD, changed), 0);
    assert_int_equal(lap_sink_sweep(at("reuse")), 1);
    close(folder);
    lap_temp_forget(&temp);
}

/* In a child, because afterwards a process can create no more. The last file finds no place in the table of
 * files to remove; the next run removes it. */
static void an_ending_process_removes_its_files(void **unused)
{
    (void)unused;
    enum { MANY = 4098 };
    assert_int_equal(mkdir(at("ending"), 0700), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        lap_error err;
        lap_sink *done, *kept;
        int folder = open(at("ending"), O_PATH | O_DIRECTORY), fd;
        bool good = lap_sink_open(at("ending/done"), NULL, &done, &err) == LAP_OK &&
                    lap_sink_finish(done, false, NULL, &err) == LAP_OK &&
                    lap_sink_publish(done, &err) == LAP_OK &&
                    lap_sink_open(at("ending/kept"), NULL, &kept, &err) == LAP_OK &&
                    lap_sink_finish(kept, false, NULL, &err) == LAP_OK;
        lap_temp temp[MANY];
        for (int i = 0; i < MANY && good; i++) {
            good = lap_temp_create(folder, at("ending/x"), &temp[i], &fd);
            close(fd);
        }
        good = good && temp[MANY - 4].held >= 0 && temp[MANY - 1].held < 0;
        lap_abandon_outputs();
        good = good && lap_sink_publish(kept, &err) == LAP_E_WRITE &&
               lap_sink_open(at("ending/late"), NULL, &done, &err) == LAP_E_WRITE;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_temps(at("ending")), 3); /* 4096 places, one of them for "kept" */
    assert_int_equal(access(at("ending/done"), F_OK), 0);
    assert_int_equal(lap_sink_sweep(at("ending")), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appears_only_when_published),
        cmocka_unit_test(nothing_is_left_when_dropped),
        cmocka_unit_test(many_sizes_arrive_in_order),
        cmocka_unit_test(memory_can_be_reserved),
        cmocka_unit_test(modes_and_times),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(same_file_is_seen_through_links),
        cmocka_unit_test(written_directly),
        cmocka_unit_test(a_fifo_is_opened_when_its_reader_comes),
        cmocka_unit_test(a_fifo_is_waited_for_no_longer_than_allowed),
        cmocka_unit_test(bad_targets),
        cmocka_unit_test(broken_is_never_published),
        cmocka_unit_test(small_disk_at_many_sizes),
        cmocka_unit_test(read_only_folder),
        cmocka_unit_test(dead_runs_are_swept),
        cmocka_unit_test(reused_numbers_are_told_apart),
        cmocka_unit_test(an_ending_process_removes_its_files),
    };
    if (!make_scratch())
        return 99;
    umask(022);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
