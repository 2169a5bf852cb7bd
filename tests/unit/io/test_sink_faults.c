/* The sink beside system calls that fail, write less than they were asked to, or answer late: what it
 * reports, what it hands to the system, and that it gives everything back. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/status.h"
#include "io/sink.h"

/* ---- the system, as far as the sink sees it --------------------------------------------------------- */

typedef struct system_fault {
    const char *call; /* NULL: no fault */
    int why;          /* the errno */
    int after;        /* so many calls succeed before */
    bool stays;       /* each later call fails, too */
} system_fault;

static struct {
    system_fault fault;
    size_t most;      /* of one write; 0: as many as asked */
    size_t sizes[64]; /* of the writes */
    int writes, polls, file_syncs, folder_syncs, umasks, locked_umasks, files_opened, files_closed,
        bad_closes;
    int reopened, nonblocking; /* opens of /proc/self/fd; with O_NONBLOCK */
    const char *reader;        /* a FIFO whose reader comes while the sink waits */
    int reader_fd;
    bool fake_owner; /* fstat says this one */
    uid_t uid;
    gid_t gid;
    uid_t asked_uid;
    gid_t asked_gid;
    int chowns;
    char asked[128]; /* the last path whose rights were asked for */
    bool no_status;  /* the thread's status has no umask */
    double now;
} sys;

static bool strikes(const char *call)
{
    if (!strike(sys.fault.call, call, &sys.fault.after, sys.fault.why))
        return false;
    if (!sys.fault.stays)
        sys.fault.call = NULL;
    return true;
}

static void no_faults(void)
{
    memset(&sys, 0, sizeof sys);
    sys.reader_fd = -1;
}

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return sys.now;
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    sys.now += 10;
    if (strikes("write"))
        return sys.fault.why == 0 && errno == 0 ? 0 : -1;
    if (sys.writes < 64)
        sys.sizes[sys.writes] = size;
    sys.writes++;
    return __real_write(fd, bytes, sys.most && size > sys.most ? sys.most : size);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_fstat(int fd, struct stat *st);
int __wrap_fsync(int fd)
{
    struct stat st;
    assert_int_equal(__real_fstat(fd, &st), 0);
    sys.now += 100;
    if (S_ISDIR(st.st_mode))
        sys.folder_syncs++;
    else
        sys.file_syncs++;
    return strikes(S_ISDIR(st.st_mode) ? "folder sync" : "file sync") ? -1 : __real_fsync(fd);
}

int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    const int result = __real_fstat(fd, st);
    if (strikes("fstat")) /* what a call that fails leaves there is not said */
        return -1;
    if (sys.fake_owner) {
        st->st_uid = sys.uid;
        st->st_gid = sys.gid;
    }
    return result;
}

int __wrap_fchown(int fd, uid_t uid, gid_t gid);
int __wrap_fchown(int fd, uid_t uid, gid_t gid)
{
    (void)fd;
    sys.chowns++;
    sys.asked_uid = uid;
    sys.asked_gid = gid;
    return strikes("fchown") ? -1 : 0;
}

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode)
{
    return strikes("fchmod") ? -1 : __real_fchmod(fd, mode);
}

int __real_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    return strikes("fsetxattr") ? -1 : __real_fsetxattr(fd, name, value, size, flags);
}

ssize_t __real_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t __wrap_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t __wrap_lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    return strikes("lgetxattr") ? -1 : __real_lgetxattr(path, name, value, size);
}

int __real_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2])
{
    return strikes("futimens") ? -1 : __real_futimens(fd, times);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    if (__real_close(fd) != 0) {
        sys.bad_closes++;
        return -1;
    }
    return strikes("close") ? -1 : 0;
}

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    sys.polls++;
    if (sys.polls > 10000)
        abort(); /* it does not wait */
    if (sys.reader && sys.polls == 3)
        sys.reader_fd = open(sys.reader, O_RDONLY | O_NONBLOCK);
    if (strikes("reader"))
        return 0; /* too slow for one wait */
    return strikes("poll") ? -1 : __real_poll(fds, count, ms < 0 || ms > 20 ? 20 : ms);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    sys.nonblocking += (flags & O_NONBLOCK) != 0 && (flags & O_WRONLY) != 0;
    if (strncmp(path, "/proc/self/fd/", 14) == 0) {
        sys.reopened++;
        if (strikes("reopen"))
            return -1;
    }
    return __real_open(path, flags, mode);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    snprintf(sys.asked, sizeof sys.asked, "%s", path);
    return strikes("access") ? -1 : __real_access(path, mode);
}

static _Thread_local int locks; /* how many mutexes this thread holds */
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    locks++;
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    locks--;
    return __real_pthread_mutex_unlock(mutex);
}

mode_t __real_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask)
{
    sys.umasks++;
    sys.locked_umasks += locks > 0;
    return __real_umask(mask);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (strikes("fopen"))
        return NULL;
    FILE *file = __real_fopen(
        sys.no_status && strcmp(path, "/proc/thread-self/status") == 0 ? "/dev/null" : path, mode);
    sys.files_opened += file != NULL;
    return file;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    sys.files_closed++;
    return __real_fclose(file);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : __real_strdup(text);
}

XXH3_state_t *__real_XXH3_createState(void);
XXH3_state_t *__wrap_XXH3_createState(void);
XXH3_state_t *__wrap_XXH3_createState(void)
{
    return strikes("hash") ? NULL : __real_XXH3_createState();
}

XXH_errorcode __real_XXH3_64bits_reset(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_64bits_reset(XXH3_state_t *state);
XXH_errorcode __wrap_XXH3_64bits_reset(XXH3_state_t *state)
{
    return strikes("reset") ? XXH_ERROR : __real_XXH3_64bits_reset(state);
}

/* ---- steps -------------------------------------------------------------------------------------------- */

/* All of a sink's life; the first error. */
static lap_code live(const lap_tree *tree, const char *path, const void *bytes, size_t size, bool sync,
    const struct stat *like, lap_error *err)
{
    lap_sink *sink = NULL;
    const lap_like as = {open("/dev/null", O_RDONLY | O_CLOEXEC), like};
    lap_code code =
        tree ? lap_sink_open_below(tree, path, &sink, err) : lap_sink_open(path, NULL, &sink, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, bytes, size, err);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, sync, like ? &as : NULL, err);
    if (code == LAP_OK)
        code = lap_sink_publish(sink, err);
    lap_sink_close(sink);
    close(as.fd);
    return code;
}

/* Runs a check in a child, which may change its descriptors and its umask. A child that hangs is ended. */
static void in_child(bool (*check)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        _exit(check() ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* ---- opening ------------------------------------------------------------------------------------------ */

static bool reads_the_umask(void)
{
    lap_error err;
    __real_umask(027);
    const bool is_first =
        live(NULL, at("mask"), "x", 1, false, NULL, &err) == LAP_OK && mode_of(at("mask")) == 0640;
    __real_umask(077); /* a later umask applies to later files */
    return is_first && live(NULL, at("later"), "x", 1, false, NULL, &err) == LAP_OK &&
           mode_of(at("later")) == 0600 && sys.umasks == 0 && sys.files_opened == 2 && sys.files_closed == 2;
}

/* umask(2) changes what it reads, for all threads: it is the last resort, one thread at a time calls it, and
 * what it changed is put back. */
static bool asks_for_the_umask(void)
{
    lap_error err;
    __real_umask(026);
    unlink(at("asked")); /* it would give its mode */
    unlink(at("again"));
    const bool is_first =
        live(NULL, at("asked"), "x", 1, false, NULL, &err) == LAP_OK && mode_of(at("asked")) == 0640;
    const bool is_back = sys.umasks == 2 && __real_umask(077) == 026;
    return is_first && is_back && live(NULL, at("again"), "x", 1, false, NULL, &err) == LAP_OK &&
           mode_of(at("again")) == 0600 && sys.umasks == 4 && sys.locked_umasks == 4 && locks == 0 &&
           __real_umask(0) == 077 && sys.files_opened == sys.files_closed;
}

static void *write_by_oneself(void *worked)
{
    lap_error err;
    __real_umask(022);
    *(bool *)worked = unshare(CLONE_FS) == 0;
    __real_umask(077);
    *(bool *)worked &=
        live(NULL, at("own"), "x", 1, false, NULL, &err) == LAP_OK && mode_of(at("own")) == 0600;
    return NULL;
}

/* A thread may have its own umask. */
static bool asks_the_thread(void)
{
    pthread_t thread;
    bool worked = false;
    unlink(at("own"));
    return pthread_create(&thread, NULL, write_by_oneself, &worked) == 0 && pthread_join(thread, NULL) == 0 &&
           worked && __real_umask(0) == 022;
}

static void the_umask_of_the_process(void **unused)
{
    (void)unused;
    no_faults();
    in_child(reads_the_umask);
    in_child(asks_the_thread);
    sys.fault = (system_fault){"fopen", ENOENT, 0, true};
    in_child(asks_for_the_umask);
    no_faults();
    sys.no_status = true;
    in_child(asks_for_the_umask);
}

static bool holds(const char *path, const char *text)
{
    char got[64] = "";
    const int fd = open(path, O_RDONLY);
    const ssize_t size = read(fd, got, sizeof got - 1);
    close(fd);
    return size == (ssize_t)strlen(text) && strcmp(got, text) == 0;
}

/* A name of a descriptor writes behind what the descriptor has written. */
static bool writes_at(const char *name, int number)
{
    lap_error err;
    const int fd = open(at("given"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    bool good = write(fd, "abc", 3) == 3 && dup2(fd, number) == number && (fd == number || close(fd) == 0);
    good = good && live(NULL, name, "def", 3, true, NULL, &err) == LAP_OK && holds(at("given"), "abcdef") &&
           write(number, "g", 1) == 1; /* it stays open */
    close(number);
    return good;
}

static bool writes_to_descriptors(void)
{
    return writes_at("/dev/fd/0", 0) && writes_at("-", 1) && writes_at("/dev/stdout", 1) &&
           writes_at("/dev/fd/7", 7) && writes_at("/dev/fd/10", 10) && writes_at("/dev/fd/12", 12);
}

static bool fails_with(const char *path, const char *subject, const char *message)
{
    lap_error err = {0};
    const lap_code code = live(NULL, path, "x", 1, false, NULL, &err);
    return (code == LAP_E_WRITE || code == LAP_E_DISK_FULL) && strcmp(err.subject, subject) == 0 &&
           strstr(err.message, message);
}

static bool names_what_failed(void)
{
    const int full = open("/dev/full", O_WRONLY);
    if (dup2(full, 1) != 1)
        return false;
    return fails_with("-", "standard output", strerror(ENOSPC)) &&
           fails_with("/dev/stdout", "/dev/stdout", strerror(ENOSPC)) &&
           fails_with("/dev/fd/200", "/dev/fd/200", strerror(EBADF)) &&
           fails_with("/dev/fd/2147483647", "/dev/fd/2147483647", strerror(EBADF)) &&
           fails_with("/dev/fd/", "/dev/fd/", "a folder") &&
           fails_with("/dev/fd/1x", "/dev/fd/1x", "create a file") &&
           fails_with("/dev/fd/-1", "/dev/fd/-1", "create a file") &&
           fails_with("/dev/fd/4294967297", "/dev/fd/4294967297", "create a file");
}

static void descriptors_by_name(void **unused)
{
    (void)unused;
    no_faults();
    in_child(writes_to_descriptors);
    in_child(names_what_failed);
}

/* The lowest number is free: every file that the sink opens may get it, and it gives it back. */
static bool works_with_number_zero(void)
{
    lap_error err;
    lap_tree tree;
    char path[32];
    int ends[2];
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    bool good =
        lap_tree_open(scratch, &tree, &err) == LAP_OK && pipe(ends) == 0 && mkfifo(at("zero"), 0600) == 0;
    const int reader = open(at("zero"), O_RDONLY | O_NONBLOCK);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const char *const names[] = {at("number0"), at("zero"), "/dev/null", path};
    close(0);
    const int before = open_files();
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names && good; i++) {
        lap_sink *sink = NULL;
        const int folder_syncs = sys.folder_syncs;
        errno = ENXIO; /* of an earlier call */
        good = lap_sink_open(names[i / 2], i % 2 ? &control : NULL, &sink, &err) == LAP_OK &&
               lap_sink_write(sink, "x", 1, &err) == LAP_OK &&
               lap_sink_finish(sink, true, NULL, &err) == LAP_OK && lap_sink_publish(sink, &err) == LAP_OK &&
               sys.folder_syncs == folder_syncs + (i < 2);
        lap_sink_close(sink);
        good = good && lap_sink_open(names[i / 2], i % 2 ? &control : NULL, &sink, &err) == LAP_OK;
        lap_sink_close(sink); /* not finished */
        good = good && open_files() == before;
    }
    good = good && live(&tree, "below", "x", 1, true, NULL, &err) == LAP_OK && open_files() == before;
    good = good && sys.bad_closes == 0;
    close(reader);
    return good;
}

static bool syncs_a_folder_with_number_zero(void)
{
    lap_sink *sink;
    lap_error err;
    bool good = lap_sink_open(at("folder0"), NULL, &sink, &err) == LAP_OK &&
                lap_sink_finish(sink, true, NULL, &err) == LAP_OK;
    close(0);
    good = good && lap_sink_publish(sink, &err) == LAP_OK && sys.folder_syncs == 1 && fcntl(0, F_GETFD) == -1;
    lap_sink_close(sink);
    return good;
}

static void number_zero_is_a_descriptor(void **unused)
{
    (void)unused;
    no_faults();
    in_child(syncs_a_folder_with_number_zero);
    in_child(works_with_number_zero);
}

static void only_a_pipe_is_opened_again(void **unused)
{
    (void)unused;
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_error err;
    int ends[2], pair[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const int file = open(at("file"), O_WRONLY | O_CREAT, 0600);
    const struct {
        int fd, reopened, with_control;
    } cases[] = {{ends[1], 1, 1}, {pair[1], 0, 1}, {file, 0, 1}, {ends[1], 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_sink *sink;
        char path[32];
        no_faults();
        snprintf(path, sizeof path, "/dev/fd/%d", cases[i].fd);
        assert_int_equal(lap_sink_open(path, cases[i].with_control ? &control : NULL, &sink, &err), LAP_OK);
        assert_int_equal(sys.reopened, cases[i].reopened);
        assert_int_equal(lap_sink_write(sink, "x", 1, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
        assert_int_equal(sys.polls, i == 1); /* only what may block is asked first */
        lap_sink_close(sink);
        assert_int_equal(fcntl(cases[i].fd, F_GETFL) & O_NONBLOCK, 0); /* the caller's */
    }
    no_faults();
    lap_sink *sink;
    assert_int_equal(lap_sink_open("/dev/null", &control, &sink, &err), LAP_OK);
    assert_int_equal(sys.nonblocking, 0);
    lap_sink_close(sink);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(pair[i]);
    }
    close(file);
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

static void a_reader_that_comes_late(void **unused)
{
    (void)unused;
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_sink *sink;
    lap_error err;
    char got[8] = "";
    assert_int_equal(mkfifo(at("late"), 0600), 0);
    no_faults();
    sys.reader = at("late");
    assert_int_equal(lap_sink_open(at("late"), &control, &sink, &err), LAP_OK);
    assert_int_equal(sys.polls, 3);
    assert_int_equal(lap_sink_write(sink, "late", 4, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    lap_sink_close(sink);
    assert_int_equal(read(sys.reader_fd, got, sizeof got), 4);
    close(sys.reader_fd);
}

/* Whatever the pipe is opened by: a full one ends the wait with the control, not with the reader. */
static bool full_pipe_is_cancelled(void)
{
    static const char much[1 << 20];
    bool good = true;
    for (int way = 0; way < 3 && good; way++) {
        atomic_int cancel = 0;
        const lap_control control = {.cancel = &cancel};
        lap_sink *sink = NULL;
        lap_error err;
        int ends[2];
        char path[32];
        no_faults();
        if ((way == 2 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) != 0)
            return false;
        if (way == 1)
            sys.fault = (system_fault){"reopen", EACCES, 0, false};
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        good = lap_sink_open(path, &control, &sink, &err) == LAP_OK;
        cancel = 1;
        good = good && lap_sink_write(sink, much, sizeof much, &err) == LAP_E_CANCELLED &&
               strcmp(err.subject, path) == 0;
        good = good && lap_sink_finish(sink, false, NULL, &err) == LAP_E_WRITE;
        lap_sink_close(sink);
        close(ends[0]);
        close(ends[1]);
    }
    return good;
}

static void a_full_pipe(void **unused)
{
    (void)unused;
    in_child(full_pipe_is_cancelled);
}

static void a_device_is_written_while_control_permits(void **unused)
{
    (void)unused;
    atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_sink *sink;
    lap_error err;
    no_faults();
    assert_int_equal(lap_sink_open("/dev/null", &control, &sink, &err), LAP_OK);
    cancel = 1;
    assert_int_equal(lap_sink_write(sink, "x", 1, &err), LAP_OK); /* gathered */
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_E_CANCELLED);
    lap_sink_close(sink);
}

static bool waits_without_control(void)
{
    lap_error err;
    int pair[2];
    char path[32], got[16] = "";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return false;
    snprintf(path, sizeof path, "/dev/fd/%d", pair[1]);
    static const int why[] = {EAGAIN, EINTR};
    for (int i = 0; i < 2; i++) {
        no_faults();
        sys.fault = (system_fault){"write", why[i], 0, false};
        if (live(NULL, path, "again", 5, false, NULL, &err) != LAP_OK ||
            read(pair[0], got, sizeof got) != 5 || sys.polls != (i == 0))
            return false;
    }
    return true;
}

static void a_wait_that_is_disturbed(void **unused)
{
    (void)unused;
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_error err;
    in_child(waits_without_control);
    static const int why[] = {EINTR, EIO, ENOMEM};
    static const lap_code expected[] = {LAP_OK, LAP_E_WRITE, LAP_E_MEMORY};
    for (int i = 0; i < 3; i++) {
        lap_sink *sink;
        no_faults();
        assert_int_equal(lap_sink_open("/dev/null", &control, &sink, &err), LAP_OK);
        sys.fault = (system_fault){"poll", why[i], 0, false};
        assert_int_equal(lap_sink_write(sink, "x", 1, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(sink, false, NULL, &err), expected[i]);
        lap_sink_close(sink);
    }
}

static void a_reader_that_is_slow(void **unused)
{
    (void)unused;
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_sink *sink;
    lap_error err;
    no_faults();
    assert_int_equal(lap_sink_open("/dev/null", &control, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, "x", 1, &err), LAP_OK);
    sys.fault = (system_fault){"reader", EIO, 0, false}; /* an old errno says nothing */
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    assert_int_equal(sys.polls, 2);
    lap_sink_close(sink);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

enum { GATHERED = 65536 };

static void small_writes_are_gathered(void **unused)
{
    (void)unused;
    static char bytes[3 * GATHERED];
    lap_sink *sink;
    lap_error err;
    no_faults();
    assert_int_equal(lap_sink_open(at("gathered"), NULL, &sink, &err), LAP_OK);
    for (int i = 0; i < GATHERED; i++)
        assert_int_equal(lap_sink_write(sink, bytes, 1, &err), LAP_OK);
    assert_int_equal(sys.writes, 0);
    assert_int_equal(lap_sink_write(sink, bytes, 1, &err), LAP_OK);
    assert_int_equal(sys.writes, 1);
    assert_int_equal(sys.sizes[0], GATHERED);
    assert_int_equal(lap_sink_write(sink, bytes, GATHERED - 1, &err), LAP_OK);
    assert_int_equal(sys.writes, 1);
    assert_int_equal(lap_sink_write(sink, bytes, 3 * GATHERED, &err), LAP_OK); /* straight */
    assert_int_equal(sys.writes, 3);
    assert_int_equal(sys.sizes[2], 3 * GATHERED);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    assert_int_equal(sys.writes, 3);
    assert_int_equal(sys.polls, 0);
    lap_sink_close(sink);
}

static void short_writes_go_on(void **unused)
{
    (void)unused;
    char got[32] = "", path[32];
    const atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_error err;
    lap_sink *sink;
    int pair[2];
    no_faults();
    sys.most = 3;
    assert_int_equal(live(NULL, at("short"), "0123456789", 10, false, NULL, &err), LAP_OK);
    assert_int_equal(sys.writes, 4);
    assert_holds(at("short"), "0123456789");
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", pair[1]);
    assert_int_equal(lap_sink_open(path, &control, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, "0123456789", 10, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    lap_sink_close(sink);
    assert_int_equal(read(pair[0], got, sizeof got), 10);
    assert_string_equal(got, "0123456789");

    static char much[3 * PIPE_BUF];
    no_faults(); /* where a write may block, it takes no more than a pipe is sure to have room for */
    assert_int_equal(lap_sink_open(path, &control, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, much, sizeof much, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    lap_sink_close(sink);
    assert_int_equal(sys.writes, 3);
    assert_int_equal(sys.sizes[0], PIPE_BUF);
    assert_int_equal(sys.polls, 3);
    close(pair[0]);
    close(pair[1]);
}

/* ---- each error, by its name -------------------------------------------------------------------------- */

static void each_fault_is_reported(void **unused)
{
    (void)unused;
    static const struct {
        system_fault fault;
        int like, published; /* -1: another kind of output, a pipe */
        lap_code expected;
        const char *message;
    } cases[] = {
        {{"write", EIO, 0, false}, 0, 0, LAP_E_WRITE, "cannot write: "},
        {{"write", ENOSPC, 0, false}, 0, 0, LAP_E_DISK_FULL, "cannot write: "},
        {{"write", 0, 0, false}, 0, 0, LAP_E_WRITE, "cannot write: "}, /* no byte taken */
        {{"file sync", EIO, 0, false}, 0, 0, LAP_E_WRITE, "cannot sync: "},
        {{"file sync", EINVAL, 0, false}, 0, 0, LAP_E_WRITE, "cannot sync: "},
        {{"file sync", EROFS, 0, false}, 0, 0, LAP_E_WRITE, "cannot sync: "},
        {{"file sync", EINVAL, 0, false}, 0, -1, LAP_OK, ""},
        {{"file sync", EROFS, 0, false}, 0, -1, LAP_OK, ""},
        {{"file sync", EIO, 0, false}, 0, -1, LAP_E_WRITE, "cannot sync: "},
        {{"fchmod", EIO, 0, false}, 0, 0, LAP_E_WRITE, "cannot set the mode: "},
        {{"fchmod", EPERM, 0, false}, 0, 1, LAP_OK, ""},
        {{"fchmod", EPERM, 0, false}, 1, 0, LAP_E_WRITE, "cannot set the mode: "},
        {{"futimens", EPERM, 0, false}, 1, 0, LAP_E_WRITE, "cannot set the time: "},
        {{"fstat", EIO, 0, false}, 0, 0, LAP_E_WRITE, "cannot look at the finished file: "},
        {{"close", EIO, 0, false}, 0, 0, LAP_E_WRITE, "cannot close: "},
        {{"close", EDQUOT, 0, false}, 0, 0, LAP_E_DISK_FULL, "cannot close: "},
        {{"close", EINTR, 0, false}, 0, 1, LAP_OK, ""},
        {{"close", EIO, 0, false}, 0, -1, LAP_E_WRITE, "cannot close: "},
        {{"folder sync", EIO, 0, false}, 0, 1, LAP_E_WRITE, "cannot sync its folder: "},
        {{"folder sync", EINVAL, 0, false}, 0, 1, LAP_OK, ""},
        {{"folder sync", EROFS, 0, false}, 0, 1, LAP_OK, ""},
    };
    const struct stat like = {.st_mode = S_IFREG | 0640, .st_mtim = {1000000000, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        char path[PATH_MAX];
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const int files = open_files();
        if (cases[i].published < 0)
            snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        else
            snprintf(path, sizeof path, "%s", at("fault"));
        no_faults();
        sys.fault = cases[i].fault;
        assert_int_equal(
            live(NULL, path, "x", 1, true, cases[i].like ? &like : NULL, &err), cases[i].expected);
        assert_null(sys.fault.call);
        assert_int_equal(sys.bad_closes, 0);
        if (cases[i].expected != LAP_OK) {
            assert_int_equal(err.code, cases[i].expected);
            assert_string_equal(err.subject, path);
            assert_non_null(strstr(err.message, cases[i].message));
            assert_non_null(strstr(err.message, strerror(cases[i].fault.why ? cases[i].fault.why : EIO)));
        }
        assert_int_equal(access(at("fault"), F_OK) == 0, cases[i].published > 0);
        unlink(at("fault"));
        assert_int_equal(count_temps(scratch), 0);
        assert_int_equal(open_files(), files);
        close(ends[0]);
        close(ends[1]);
    }
}

static void what_was_asked_is_synced(void **unused)
{
    (void)unused;
    lap_error err;
    for (int sync = 0; sync < 2; sync++) {
        no_faults();
        assert_int_equal(live(NULL, at("synced"), "x", 1, sync, NULL, &err), LAP_OK);
        assert_int_equal(sys.file_syncs, sync);
        assert_int_equal(sys.folder_syncs, sync);
    }
}

/* The clock of this program goes on in writes and syncs alone. */
static void the_time_of_each_step_is_added(void **unused)
{
    (void)unused;
    lap_sink *sink;
    lap_error err;
    static char much[100000];
    no_faults();
    assert_int_equal(lap_sink_open(at("clock"), NULL, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_write(sink, much, sizeof much, &err), LAP_OK);
    assert_true(lap_sink_ms(sink) == 10);
    assert_int_equal(lap_sink_write(sink, much, 1, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, true, NULL, &err), LAP_OK);
    assert_true(lap_sink_ms(sink) == 120);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    assert_true(lap_sink_ms(sink) == 220);
    assert_true(lap_sink_opening_ms(sink) == 0);
    lap_sink_close(sink);
}

static void memory_that_is_missing(void **unused)
{
    (void)unused;
    static const char *const calls[] = {"strdup", "hash", "reset"};
    lap_error err;
    lap_tree tree;
    no_faults();
    assert_int_equal(lap_tree_open(scratch, &tree, &err), LAP_OK);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int after = 0; after < 2; after++) {
            lap_sink *sink;
            sys.fault = (system_fault){calls[i], ENOMEM, after, false};
            const lap_code code = lap_sink_open_below(&tree, "memory", &sink, &err);
            assert_int_equal(code, sys.fault.call ? LAP_OK : LAP_E_MEMORY);
            lap_sink_close(sink);
        }
    no_faults();
    lap_tree_close(&tree);
}

/* ---- owner and mode ----------------------------------------------------------------------------------- */

/* The sink's file is of user 10 and group 20; it replaces one of this user, group and mode. */
static lap_code replace(
    uid_t uid, gid_t gid, mode_t mode, const system_fault *fault, lap_sink **sink, lap_error *err)
{
    const struct stat old = {.st_mode = S_IFREG | mode, .st_uid = uid, .st_gid = gid};
    no_faults();
    sys.fake_owner = true;
    sys.uid = 10;
    sys.gid = 20;
    assert_int_equal(lap_sink_open(at("owned"), NULL, sink, err), LAP_OK);
    lap_sink_inherit(*sink, &old);
    sys.fault = *fault;
    return lap_sink_finish(*sink, false, NULL, err);
}

static void the_owner_is_kept_or_said(void **unused)
{
    (void)unused;
    static const struct {
        uid_t uid;
        gid_t gid;
        int allowed; /* the owner, if 0; -1: nothing may be changed; 1: only the group */
        int chowns;
        const char *lost;
    } cases[] = {
        {10, 20, -1, 0, ""},
        {11, 20, 0, 1, ""},
        {10, 21, 0, 1, ""},
        {11, 21, 0, 1, ""},
        {11, 20, -1, 1, "the owner cannot be kept: user 11"},
        {10, 21, -1, 2, "the group cannot be kept: 21"},
        {11, 21, -1, 2, "owner and group cannot be kept: user 11, group 21"},
        {11, 21, 1, 2, "the owner cannot be kept: user 11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (mode_t mode = 0; mode <= 0777; mode++) {
            const system_fault none = {0}, fault = {"fchown", EPERM, 0, cases[i].allowed < 0};
            lap_sink *sink;
            lap_error err;
            if (mode & 0700 && mode != 0764 && mode != 0647 && mode != 0777 && mode != 0700)
                continue; /* the owner's rights are always kept: some suffice */
            if (mode == 0)
                continue; /* no rights: the umask decides */
            assert_int_equal(
                replace(cases[i].uid, cases[i].gid, mode, cases[i].allowed ? &fault : &none, &sink, &err),
                LAP_OK);
            assert_string_equal(lap_sink_lost(sink), cases[i].lost);
            assert_int_equal(sys.chowns, cases[i].chowns);
            if (cases[i].chowns) {
                assert_int_equal(sys.asked_gid, cases[i].gid);
                assert_int_equal(sys.asked_uid, cases[i].chowns == 1 ? cases[i].uid : (uid_t)-1);
            }
            const bool group_lost = strstr(cases[i].lost, "group");
            uint64_t content;
            assert_int_equal(lap_sink_made(sink, &content)->st_mode & 0777,
                group_lost ? mode & (0700 | (mode & 7) << 3 | (mode >> 3 & 7)) : mode);
            lap_sink_close(sink);
        }
    lap_sink *sink;
    lap_error err;
    const system_fault broken = {"fchown", EIO, 0, false}, unseen = {"fstat", EIO, 0, false};
    assert_int_equal(replace(11, 21, 0640, &broken, &sink, &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, "cannot set the owner: "));
    lap_sink_close(sink);
    assert_int_equal(replace(11, 21, 0640, &unseen, &sink, &err), LAP_E_WRITE);
    assert_int_equal(sys.chowns, 0);
    lap_sink_close(sink);
}

/* Below a tree, the file that stands there gives its rights, and nothing else that stands there does. */
static void rights_below_a_tree(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    lap_sink *sink;
    uint64_t content;
    no_faults();
    assert_int_equal(mkdir(at("tree"), 0700), 0);
    assert_int_equal(lap_tree_open(at("tree"), &tree, &err), LAP_OK);
    put(at("tree/there"), "x");
    assert_int_equal(chmod(at("tree/there"), 0604), 0);
    assert_int_equal(mkfifo(at("tree/pipe"), 0604), 0);
    assert_int_equal(symlink("there", at("tree/link")), 0);
    static const char *const names[] = {"there", "pipe", "link", "new"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lap_sink_open_below(&tree, names[i], &sink, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
        assert_int_equal(lap_sink_made(sink, &content)->st_mode & 0777, i == 0 ? 0604 : 0644);
        lap_sink_close(sink);
    }
    lap_tree_close(&tree);
}

/* A list for the owner, a user, the group, a mask and others. */
static bool put_list(const char *path, const uint8_t rights[5])
{
    static const uint8_t tags[] = {0x01, 0x02, 0x04, 0x10, 0x20};
    uint8_t list[4 + 8 * 5] = {2};
    for (size_t i = 0; i < 5; i++) {
        memset(list + 4 + 8 * i, 0xff, 8);
        memcpy(list + 4 + 8 * i, (uint8_t[]){tags[i], 0, rights[i], 0}, 4);
        if (tags[i] == 0x02)
            memcpy(list + 8 + 8 * i, (uint8_t[]){0x34, 0x12, 0, 0}, 4);
    }
    return setxattr(path, "system.posix_acl_access", list, sizeof list, 0) == 0;
}

/* Replaces a file with this list; returns the mode, and whether there is a list. */
static mode_t replace_listed(
    const uint8_t rights[5], const system_fault *fault, bool *has_list, const char *lost)
{
    lap_sink *sink;
    lap_error err;
    struct stat info;
    no_faults();
    (void)unlink(at("listed"));
    put(at("listed"), "old");
    assert_true(put_list(at("listed"), rights));
    sys.fault = *fault;
    assert_int_equal(lap_sink_open(at("listed"), NULL, &sink, &err), LAP_OK);
    assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
    assert_string_equal(lap_sink_lost(sink), lost);
    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
    lap_sink_close(sink);
    *has_list = getxattr(at("listed"), "system.posix_acl_access", NULL, 0) > 0;
    assert_int_equal(stat(at("listed"), &info), 0);
    return info.st_mode & 0777;
}

/* The group bits of a mode with a list are its mask: without the list, they must not become the group's. */
static void lists_are_kept_or_nobody_gains(void **unused)
{
    (void)unused;
    static const char lost[] = "the access control list cannot be kept";
    static const struct {
        uint8_t rights[5]; /* of the owner, a user, the group, the mask and others */
        mode_t with, without;
    } cases[] = {
        {{6, 6, 0, 6, 0}, 0660, 0600}, /* the group has nothing, though the mode looks like it */
        {{6, 6, 6, 4, 4}, 0644, 0644}, /* the mask limits the group */
        {{6, 0, 4, 6, 4}, 0664, 0600}, /* without the list, the user would be one of the others */
        {{6, 6, 4, 4, 6}, 0646, 0644},
        {{7, 7, 5, 7, 5}, 0775, 0755},
    };
    const system_fault none = {0}, unset = {"fsetxattr", ENOTSUP, 0, true},
                       blind = {"lgetxattr", EPERM, 0, true};
    bool has_list;
    put(at("listed"), "old");
    if (!put_list(at("listed"), cases[0].rights)) {
        assert_int_equal(errno, ENOTSUP);
        print_message("not tested: no access control lists on this file system\n");
        return;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(replace_listed(cases[i].rights, &none, &has_list, ""), cases[i].with);
        assert_true(has_list);
        assert_int_equal(
            replace_listed(cases[i].rights, &blind, &has_list, ""), cases[i].with); /* by fgetxattr */
        assert_true(has_list);
        assert_int_equal(replace_listed(cases[i].rights, &unset, &has_list, lost), cases[i].without);
        assert_false(has_list);
    }
}

static void an_inherited_list_gives_no_rights(void **unused)
{
    (void)unused;
    lap_sink *sink;
    lap_error err;
    struct stat info;
    static const uint8_t list[] = {2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0x34, 0x12, 0, 0,
        4, 0, 0, 0, 255, 255, 255, 255, 16, 0, 7, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255};
    no_faults();
    assert_int_equal(mkdir(at("default"), 0700), 0);
    put(at("default/old"), "old");
    assert_int_equal(chmod(at("default/old"), 0660), 0);
    if (setxattr(at("default"), "system.posix_acl_default", list, sizeof list, 0) != 0) {
        assert_int_equal(errno, ENOTSUP);
        print_message("not tested: no access control lists on this file system\n");
        return;
    }
    for (int fails = 1; fails >= 0; fails--) {
        const system_fault fault = {fails ? "fsetxattr" : NULL, EIO, 0, true};
        uint64_t content;
        sys.fault = fault;
        assert_int_equal(lap_sink_open(at("default/old"), NULL, &sink, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(sink, false, NULL, &err), LAP_OK);
        assert_int_equal(lap_sink_made(sink, &content)->st_mode & 0777, fails ? 0600 : 0660);
        assert_int_equal(lap_sink_lost(sink)[0] != '\0', fails);
        if (!fails)
            assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
        lap_sink_close(sink);
    }
    assert_int_equal(getxattr(at("default/old"), "system.posix_acl_access", NULL, 0), -1);
    assert_int_equal(stat(at("default/old"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0660);
}

/* ---- nothing stays behind ------------------------------------------------------------------------------ */

static void memory_can_be_taken_twice(void **unused)
{
    (void)unused;
    lap_sink *sink;
    lap_error err;
    void *bytes;
    size_t size;
    no_faults();
    assert_int_equal(lap_sink_memory(&sink, &err), LAP_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lap_sink_write(sink, i ? "two" : "one", 3, &err), LAP_OK);
        lap_sink_take(sink, &bytes, &size);
        assert_int_equal(size, 3);
        assert_memory_equal(bytes, i ? "two" : "one", 3);
        assert_true(malloc_usable_size(bytes) >= 64 * 1024); /* more small pieces usually follow */
        free(bytes);
    }
    static uint8_t large[100000]; /* more than is taken for small pieces */
    memset(large, 7, sizeof large);
    assert_int_equal(lap_sink_write(sink, large, sizeof large, &err), LAP_OK);
    lap_sink_take(sink, &bytes, &size);
    assert_int_equal(size, sizeof large);
    assert_memory_equal(bytes, large, size);
    free(bytes);
    lap_sink_take(sink, &bytes, &size);
    assert_null(bytes);
    assert_int_equal(size, 0);
    lap_sink_close(sink);
}

/* Sinks that end in each way; far more often than there are descriptors left. */
static void use_many(const lap_tree *tree, int rounds)
{
    lap_sink *sink;
    lap_error err;
    for (int i = 0; i < rounds; i++) {
        for (int below = 0; below < 2; below++) {
            const char *path = below ? "sub/many" : at("sub/many");
            for (int way = 0; way < 4; way++) {
                assert_int_equal(below ? lap_sink_open_below(tree, path, &sink, &err)
                                       : lap_sink_open(path, NULL, &sink, &err),
                    LAP_OK);
                if (way > 0)
                    assert_int_equal(lap_sink_write(sink, "x", 1, &err), LAP_OK);
                if (way > 1)
                    assert_int_equal(lap_sink_finish(sink, way == 3, NULL, &err), LAP_OK);
                if (way > 2)
                    assert_int_equal(lap_sink_publish(sink, &err), LAP_OK);
                lap_sink_close(sink);
            }
        }
        assert_int_equal(lap_sink_open(at("no/such/folder"), NULL, &sink, &err), LAP_E_WRITE);
        assert_int_equal(lap_sink_open_below(tree, "no/such", &sink, &err), LAP_E_MISSING);
        assert_int_equal(lap_sink_open("/dev/fd/200", NULL, &sink, &err), LAP_E_WRITE);
        sys.bad_closes = 0;
    }
}

/* What opening would refuse is said before, and nothing else is. */
static void outputs_are_checked(void **unused)
{
    (void)unused;
    lap_error err;
    put(at("checked"), "x");
    assert_int_equal(mkdir(at("checked folder"), 0700), 0);
    assert_int_equal(symlink("checked folder/x", at("checked link")), 0);
    assert_int_equal(symlink("checked circle", at("checked circle")), 0);
    const struct {
        const char *path, *asked, *message;
    } cases[] = {{"-", "", NULL}, {"/dev/stdout", "", NULL}, {"/dev/fd/7", "", NULL},
        {"/dev/null", "/dev/null", "cannot open: "},
        {at("checked"), scratch, "cannot create a file in its folder: "},
        {at("checked new"), scratch, "cannot create a file in its folder: "},
        {at("checked link"), at("checked folder"), "cannot create a file in its folder: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        no_faults();
        assert_int_equal(lap_sink_check(cases[i].path, &err), LAP_OK);
        assert_string_equal(sys.asked, cases[i].asked);
        sys.fault = (system_fault){"access", EACCES, 0, false};
        assert_int_equal(lap_sink_check(cases[i].path, &err), cases[i].message ? LAP_E_WRITE : LAP_OK);
        if (!cases[i].message)
            continue;
        assert_string_equal(err.subject, cases[i].path);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_non_null(strstr(err.message, strerror(EACCES)));
    }
    no_faults();
    assert_int_equal(lap_sink_check(at("checked circle"), &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, strerror(ELOOP)));
    assert_int_equal(lap_sink_check(at("checked folder"), &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, "a folder, not a file"));
    assert_int_equal(lap_sink_check(at("no folder/x"), &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    const size_t bytes = mallinfo2().uordblks;
    for (int i = 0; i < 300; i++)
        assert_int_equal(lap_sink_check(at("checked"), &err), LAP_OK);
    assert_true(mallinfo2().uordblks < bytes + (size_t)300 * 8);
}

/* The input and the output are one file, as standard streams, too; a terminal may be both. */
static bool streams_may_clash(void)
{
    const char *const file = at("both");
    put(file, "x");
    const int regular = open(file, O_RDWR), null = open("/dev/null", O_RDWR);
    const struct {
        int in, out; /* the standard streams */
        const char *from, *to, *clash;
    } cases[] = {{regular, null, "-", file, file}, {null, regular, file, "-", "standard output"},
        {regular, regular, "-", "-", "standard output"}, {null, null, "-", "-", NULL},
        {null, null, "-", "/dev/null", NULL}, {null, null, "/dev/null", "-", NULL},
        {null, null, "/dev/null", "/dev/null", "/dev/null"}, {regular, regular, "/dev/null", file, NULL},
        {regular, null, "-", "-", NULL},
        {-1, regular, "-", "-", NULL}}; /* last: nothing of the one before is left */
    bool good = dup2(regular, 0) == 0 && dup2(regular, 1) == 1;
    for (int after = 0; after < 2; after++) { /* a stream that cannot be examined is no clash */
        lap_error err = {0};
        sys.fault = (system_fault){"fstat", EIO, after, false};
        good = good && lap_sink_differs("-", "-", &err) == LAP_OK && !sys.fault.call;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases && good; i++) {
        lap_error err = {0};
        good = (cases[i].in < 0 ? close(0) == 0 : dup2(cases[i].in, 0) == 0) && dup2(cases[i].out, 1) == 1;
        const lap_code code = lap_sink_differs(cases[i].from, cases[i].to, &err);
        good = good && code == (cases[i].clash ? LAP_E_CLASH : LAP_OK) &&
               strcmp(err.subject, cases[i].clash ? cases[i].clash : "") == 0;
    }
    return good;
}

static void an_output_is_not_the_input(void **unused)
{
    (void)unused;
    no_faults();
    in_child(streams_may_clash);
}

static void everything_is_given_back(void **unused)
{
    (void)unused;
    lap_error err;
    lap_tree tree;
    no_faults();
    assert_int_equal(mkdir(at("sub"), 0700), 0);
    put(at("sub/many"), "old");
    (void)put_list(at("sub/many"), (const uint8_t[]){6, 4, 4, 4, 4}); /* a disk may have no lists */
    assert_int_equal(lap_tree_open(scratch, &tree, &err), LAP_OK);
    use_many(&tree, 4);
    const int files = open_files();
    const size_t bytes = mallinfo2().uordblks;
    use_many(&tree, 300);
    assert_int_equal(open_files(), files);
    assert_int_equal(count_temps(at("sub")), 0);
    assert_true(mallinfo2().uordblks < bytes + (size_t)300 * 16);
    lap_tree_close(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_umask_of_the_process), /* first: a process reads it once */
        cmocka_unit_test(each_fault_is_reported),
        cmocka_unit_test(descriptors_by_name),
        cmocka_unit_test(number_zero_is_a_descriptor),
        cmocka_unit_test(only_a_pipe_is_opened_again),
        cmocka_unit_test(a_reader_that_comes_late),
        cmocka_unit_test(a_full_pipe),
        cmocka_unit_test(a_device_is_written_while_control_permits),
        cmocka_unit_test(a_wait_that_is_disturbed),
        cmocka_unit_test(a_reader_that_is_slow),
        cmocka_unit_test(small_writes_are_gathered),
        cmocka_unit_test(short_writes_go_on),
        cmocka_unit_test(what_was_asked_is_synced),
        cmocka_unit_test(the_time_of_each_step_is_added),
        cmocka_unit_test(memory_that_is_missing),
        cmocka_unit_test(the_owner_is_kept_or_said),
        cmocka_unit_test(rights_below_a_tree),
        cmocka_unit_test(lists_are_kept_or_nobody_gains),
        cmocka_unit_test(an_inherited_list_gives_no_rights),
        cmocka_unit_test(memory_can_be_taken_twice),
        cmocka_unit_test(outputs_are_checked),
        cmocka_unit_test(an_output_is_not_the_input),
        cmocka_unit_test(everything_is_given_back),
    };
    if (!make_scratch())
        return 99;
    umask(022);
    signal(SIGPIPE, SIG_IGN);
    alarm(120); /* a wait without an end fails, too */
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
