/* The sandbox's filters of system calls (sandbox_calls.c), and the keeper, which makes calls that the filter
 * of the run refuses (sandbox_keeper.c). The test interprets the filters. The keeper is a process, as in the
 * program. The rules for files are in test_sandbox.c. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

#if defined(__x86_64__) || defined(__aarch64__)

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    struct sock_filter filter[1024];
    unsigned filter_size;
    struct sigaction on_refused;
    void (*at_exit)(void);
    pid_t child;   /* the keeper */
    int unblocked; /* the sum of the signals */
} sys;

static pid_t test_process;

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    enum { CLOSE_RANGE = 436 };
    long a[3];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 3; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_seccomp) {
        assert_true((int)a[0] == SECCOMP_SET_MODE_FILTER && (int)a[1] == SECCOMP_FILTER_FLAG_TSYNC);
        const struct sock_fprog *filter = (const struct sock_fprog *)a[2];
        assert_true(filter->len <= COUNT(sys.filter));
        sys.filter_size = filter->len;
        memcpy(sys.filter, filter->filter, filter->len * sizeof *filter->filter);
        return strikes("seccomp") ? -1 : 0;
    }
    assert_int_equal(number, CLOSE_RANGE);
    assert_true((unsigned)a[0] == 1 && (unsigned)a[1] == ~0u && (unsigned)a[2] == 0);
    for (int fd = 1; fd < 256; fd++)
        (void)close(fd);
    return strikes("close_range") ? -1 : 0;
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

int __real_socketpair(int domain, int type, int protocol, int pair[2]);
int __wrap_socketpair(int domain, int type, int protocol, int pair[2]);
int __wrap_socketpair(int domain, int type, int protocol, int pair[2])
{
    return strikes("socketpair") ? -1 : __real_socketpair(domain, type, protocol, pair);
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
    if (strikes("fork"))
        return sys.child = -1;
    return sys.child = __real_fork();
}

_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap__exit(int code)
{
    __real__exit(getpid() == test_process ? 99 : code); /* only the keeper ends so */
}

int __wrap_atexit(void (*at_exit)(void));
int __wrap_atexit(void (*at_exit)(void))
{
    sys.at_exit = at_exit;
    return strikes("atexit") ? -1 : 0;
}

int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    assert_true(number == SIGSYS && !before);
    sys.on_refused = *action;
    return strikes("sigaction") ? -1 : 0;
}

int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    if (how != SIG_UNBLOCK)
        return __real_sigprocmask(how, set, before);
    for (int number = 1; number < NSIG; number++)
        sys.unblocked += sigismember(set, number) == 1 ? number : 0;
    return strikes("sigprocmask") ? -1 : 0;
}

/* The errno tells whether these calls got the right arguments: ENOTTY. Not every user may make them, and not
 * every file system knows them. */
int __wrap_fchown(int fd, uid_t user, gid_t group);
int __wrap_fchown(int fd, uid_t user, gid_t group)
{
    errno = fd > 0 && user == 11 && group == 22 ? ENOTTY : EDOM;
    return -1;
}

int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    const char *list = value;
    bool is_right = fd > 0 && strcmp(name, "system.posix_acl_access") == 0 && flags == 0;
    for (size_t i = 0; i < size; i++)
        is_right = is_right && list[i] == (char)('a' + i % 7);
    errno = is_right ? ENOTTY : EDOM;
    return -1;
}

static lap_error err;

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    err = (lap_error){0};
    empty_scratch();
    put("file", "x");
    return 0;
}

/* ---- the filters ----------------------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { ARCH = AUDIT_ARCH_X86_64, LARGE_FILE = 0100000 };
#else
enum { ARCH = AUDIT_ARCH_AARCH64, LARGE_FILE = 0400000 };
#endif

enum { PASS = SECCOMP_RET_ALLOW, TRAP = SECCOMP_RET_TRAP, NO = SECCOMP_RET_ERRNO | EPERM };

/* What the last filter does with a call. */
static unsigned verdict_on(unsigned arch, long call, const uint64_t args[6])
{
    struct seccomp_data data = {.nr = (int)call, .arch = arch};
    unsigned value = 0;
    memcpy(data.args, args, sizeof data.args);
    for (unsigned i = 0; i < sys.filter_size; i++) {
        const struct sock_filter *f = &sys.filter[i];
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(f->k + sizeof value <= sizeof data && f->k % 4 == 0);
            memcpy(&value, (const char *)&data + f->k, sizeof value);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= f->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            i += value == f->k ? f->jt : f->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            i += value & f->k ? f->jt : f->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            i += value >= f->k ? f->jt : f->jf;
            break;
        case BPF_RET | BPF_K:
            return f->k;
        default:
            fail();
        }
    }
    fail();
    return 0;
}

static void assert_verdict(long call, const uint64_t args[6], unsigned want)
{
    const unsigned got = verdict_on(ARCH, call, args);
    if (got != want)
        fail_msg("call %ld(%#llx, %#llx, %#llx, %#llx, %#llx): %#x, not %#x", call,
            (unsigned long long)args[0], (unsigned long long)args[1], (unsigned long long)args[2],
            (unsigned long long)args[3], (unsigned long long)args[4], got, want);
}

/* The calls that pass with any arguments. */
static const int allowed[] = {
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_stat
    SYS_stat, SYS_lstat, SYS_readlink, SYS_access, SYS_rename, SYS_unlink, SYS_mkdir, SYS_poll, SYS_select,
    SYS_time,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
    SYS_futex, SYS_read, SYS_write, SYS_newfstatat, SYS_fstat, SYS_fgetxattr, SYS_readlinkat, SYS_munmap,
    SYS_madvise, SYS_brk, SYS_mremap, SYS_lseek, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_fsync,
    SYS_fdatasync, SYS_syncfs, SYS_ftruncate, SYS_fadvise64, SYS_ppoll, SYS_pselect6, SYS_getdents64,
    SYS_statfs, SYS_fstatfs, SYS_unlinkat, SYS_mkdirat, SYS_faccessat, SYS_getcwd, SYS_umask,
    SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity, SYS_gettid, SYS_getpid, SYS_getppid,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_exit, SYS_exit_group, SYS_clock_gettime,
    SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrandom, SYS_getrusage,
    SYS_sysinfo, SYS_uname, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    SYS_restart_syscall, SYS_membarrier, SYS_wait4};

/* One argument of a call, and which of its values pass if the other arguments are 0. */
typedef struct bound {
    long call;
    int argument;
    enum {
        BITS,   /* those that have only bits of the first value */
        VALUES, /* the values; after the first, a 0 ends them */
        ZERO    /* 0 in all 64 bits; the others look only at 32 */
    } how;
    unsigned values[5];
} bound;

enum {
    OPEN = O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NONBLOCK | O_NOCTTY | O_DIRECTORY |
           O_NOFOLLOW | O_CLOEXEC | O_PATH | LARGE_FILE,
    BOTH = O_WRONLY | O_RDWR, /* an access mode that is forbidden */
    THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
             CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | 0x400000
};

static const bound bounds[] = {{SYS_openat, 2, BITS, {OPEN}}, {SYS_openat, 3, BITS, {0777}},
#ifdef SYS_open
    {SYS_open, 1, BITS, {OPEN}}, {SYS_open, 2, BITS, {0777}},
#endif
    {SYS_fcntl, 1, VALUES, {F_DUPFD_CLOEXEC, F_GETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ}},
    {SYS_ioctl, 1, VALUES, {TCGETS, TIOCGWINSZ, FIONREAD}}, {SYS_fallocate, 1, VALUES, {FALLOC_FL_KEEP_SIZE}},
    {SYS_renameat2, 4, BITS, {1}}, {SYS_linkat, 4, VALUES, {0}}, {SYS_kill, 1, VALUES, {0}},
    {SYS_sched_setaffinity, 0, VALUES, {0}}, {SYS_prlimit64, 0, VALUES, {0}}, {SYS_prlimit64, 2, ZERO, {0}},
    {SYS_prctl, 0, VALUES, {PR_SET_NAME}}, {SYS_mmap, 2, BITS, {PROT_READ | PROT_WRITE}},
    {SYS_mprotect, 2, BITS, {PROT_READ | PROT_WRITE}}};

static const bound kept[] = {{SYS_fchmod, 1, BITS, {0777}}, {SYS_fchown, 1, BITS, {~0u}},
    {SYS_fsetxattr, 4, VALUES, {0}}, {SYS_utimensat, 1, ZERO, {0}}, {SYS_utimensat, 3, VALUES, {0}}};

static bool passes(const bound *b, uint64_t value)
{
    const unsigned low = (unsigned)value;
    if (b->how == ZERO)
        return value == 0;
    if (b->how == BITS)
        return !(low & ~b->values[0]) && (b->values[0] != OPEN || (low & BOTH) != BOTH);
    for (int i = 0; i < 5 && (i == 0 || b->values[i]); i++)
        if (low == b->values[i])
            return true;
    return false;
}

static void check_bounds(const bound *rows, size_t count, unsigned action)
{
    for (const bound *b = rows; b < rows + count; b++)
        for (int i = -6; i < 64; i++) { /* the largest, those of the row, and each bit, with the next two */
            uint64_t value = i >= 0 ? (uint64_t)1 << i : i == -6 ? ~(uint64_t)0 : b->values[5 + i];
            for (int step = 0; step < 3; step++, value++) {
                uint64_t args[6] = {0};
                args[b->argument] = value;
                assert_verdict(b->call, args, passes(b, value) ? action : NO);
            }
        }
}

static bool is_among(const int *calls, size_t count, long call)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i] == call)
            return true;
    return false;
}

static bool is_bound(const bound *rows, size_t count, long call)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].call == call)
            return true;
    return false;
}

enum { CALLS = 1000 }; /* more than there are */
static const uint64_t zeros[6], ones[6] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};

static void calls_of_the_run(void **state)
{
    static const int keepers[] = {-1, 0, 9};
    (void)state;
    for (size_t k = 0; k < COUNT(keepers); k++) {
        const int keeper = keepers[k];
        assert_int_equal(lap_sandbox_limit_calls(keeper, &err), LAP_OK);
        for (long call = 0; call < CALLS; call++) {
            const bool other =
                call == SYS_clone || call == SYS_tgkill || call == SYS_close || call == SYS_sendmsg;
            unsigned want = is_among(allowed, COUNT(allowed), call) ? PASS : NO;
            assert_int_equal(verdict_on(ARCH ^ 1, call, zeros), SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__ /* the x32 interface */
            assert_verdict(call | 0x40000000, zeros, NO);
#endif
#ifdef SYS_clone3
            want = call == SYS_clone3 ? SECCOMP_RET_ERRNO | ENOSYS : want;
#endif
            if (other || is_bound(bounds, COUNT(bounds), call) || is_bound(kept, COUNT(kept), call))
                continue;
            assert_verdict(call, zeros, want);
            assert_verdict(call, ones, want);
        }
        check_bounds(bounds, COUNT(bounds), PASS);
        for (int bit = -1; bit < 32; bit++) {
            const unsigned one = bit < 0 ? 0 : 1u << bit;
            assert_verdict(SYS_clone, (uint64_t[6]){CLONE_THREAD | one}, one & ~(unsigned)THREAD ? NO : PASS);
            assert_verdict(
                SYS_clone, (uint64_t[6]){one}, one == CLONE_THREAD ? PASS : NO); /* else a process */
        }
        for (int more = -1; more < 2; more++)
            assert_verdict(SYS_tgkill, (uint64_t[6]){(uint64_t)(getpid() + more)}, more ? NO : PASS);
        for (int fd = -1; fd < 20; fd++) {
            const uint64_t args[6] = {(unsigned)fd};
            assert_verdict(SYS_close, args, fd == keeper ? NO : PASS);
            assert_verdict(SYS_sendmsg, args, fd == keeper ? PASS : NO);
        }
        for (size_t i = 0; i < COUNT(kept); i++)
            assert_verdict(kept[i].call, zeros, keeper < 0 ? NO : TRAP);
    }
    check_bounds(kept, COUNT(kept), TRAP);
}

static void calls_of_the_keeper(void **state)
{
    static const int calls[] = {SYS_recvmsg, SYS_sendto, SYS_close, SYS_fchmod, SYS_fchown, SYS_fsetxattr,
        SYS_fstat, SYS_newfstatat, SYS_exit_group, SYS_exit};
    static const bound rows[] = {{SYS_fcntl, 1, VALUES, {F_GETFL}}, {SYS_utimensat, 1, ZERO, {0}}};
    (void)state;
    assert_int_equal(lap_sandbox_limit_keeper(&err), LAP_OK);
    for (long call = 0; call < CALLS; call++) {
        const unsigned want = is_among(calls, COUNT(calls), call) ? PASS : NO;
        assert_int_equal(verdict_on(ARCH ^ 1, call, zeros), SECCOMP_RET_KILL_PROCESS);
        if (is_bound(rows, COUNT(rows), call))
            continue;
        assert_verdict(call, zeros, want);
        assert_verdict(call, ones, want);
    }
    check_bounds(rows, COUNT(rows), PASS);
}

static void kernels_that_refuse_a_filter(void **state)
{
    static const int whys[] = {ENOSYS, EINVAL, EACCES};
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(whys); i++) {
        sys.call = "seccomp", sys.why = whys[i / 2];
        err = (lap_error){0};
        assert_int_equal(
            i % 2 ? lap_sandbox_limit_keeper(&err) : lap_sandbox_limit_calls(3, &err), LAP_E_BACKEND);
        assert_int_equal(err.code, LAP_E_BACKEND);
        assert_string_equal(err.subject, "--sandbox");
        assert_string_equal(err.message, sys.why == EACCES ? strerror(EACCES) : "this kernel has no seccomp");
    }
}

/* ---- the keeper ------------------------------------------------------------------------------------ */

static int sock = -1;

/* Fills the stack where the next function has its variables: one that is not set is not 0 by chance. */
static __attribute__((noinline)) void fill_stack(void)
{
    volatile char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0x55; /* every second signal of a set */
}

/* Whether the keeper could be told to end: user-mode QEMU 7.2 says that it sent an empty message, and sends
 * none. */
static bool empty_messages_arrive(void)
{
    const struct msghdr empty = {0};
    char byte;
    int pair[2];
    assert_int_equal(__real_socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(sendmsg(pair[0], &empty, MSG_NOSIGNAL), 0);
    const bool arrives = recv(pair[1], &byte, 1, MSG_DONTWAIT) == 0;
    close(pair[0]);
    close(pair[1]);
    return arrives;
}

static void keep(void)
{
    if (!empty_messages_arrive())
        skip();
    fill_stack();
    assert_int_equal(lap_sandbox_keep(&sock, &err), LAP_OK);
    assert_true(sys.child > 0 && sock >= 0);
}

/* Ends the keeper, as the program does at its end. */
static void end_keeper(void)
{
    sys.at_exit();
    assert_int_equal(waitpid(sys.child, NULL, 0), -1);
    assert_int_equal(errno, ECHILD); /* nothing is left of it */
    assert_int_equal(close(sock), 0);
}

/* Makes the call that the filter refuses, through the handler of the signal; returns its result. */
static int64_t refused_call(int call, const void *arguments[4], int fd)
{
    static ucontext_t at;
    siginfo_t info = {0};
    info.si_syscall = call;
    const int64_t values[] = {fd, (int64_t)(intptr_t)arguments[1], (int64_t)(intptr_t)arguments[2],
        (int64_t)(intptr_t)arguments[3]};
#if defined(__x86_64__)
    static const int names[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};
    for (int i = 0; i < 4; i++)
        at.uc_mcontext.gregs[names[i]] = values[i];
#else
    for (int i = 0; i < 4; i++)
        at.uc_mcontext.regs[i] = (unsigned long long)values[i];
#endif
    errno = EXDEV;
    sys.on_refused.sa_sigaction(SIGSYS, &info, &at);
    assert_int_equal(errno, EXDEV);
#if defined(__x86_64__)
    return at.uc_mcontext.gregs[REG_RAX];
#else
    return (int64_t)at.uc_mcontext.regs[0];
#endif
}

#define REFUSED(call, fd, ...) refused_call(call, (const void *[4]){NULL, __VA_ARGS__}, fd)
#define NUMBER(n) (const void *)(intptr_t)(n)

static void how_it_starts(void **state)
{
    (void)state;
    const int files = open_files();
    keep();
    assert_int_equal(open_files(), files + 1);
    assert_true(fcntl(sock, F_GETFD) & FD_CLOEXEC);
    assert_true(sys.on_refused.sa_flags & SA_SIGINFO);
    assert_true(
        sigismember(&sys.on_refused.sa_mask, SIGTERM) && sigismember(&sys.on_refused.sa_mask, SIGINT));
    assert_int_equal(sys.unblocked, SIGSYS);
    end_keeper();
    assert_int_equal(open_files(), files);
    static const char *const calls[] = {"socketpair", "fork", "atexit", "sigaction", "sigprocmask"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        begin(NULL);
        sys.call = calls[i], sys.why = EMFILE;
        const lap_code code = lap_sandbox_keep(&sock, &err);
        assert_int_equal(code, LAP_E_BACKEND);
        assert_string_equal(err.subject, "--sandbox");
        if (i == 0)
            assert_string_equal(err.message, strerror(EMFILE));
        else if (i == 1)
            assert_string_equal(err.message,
                "cannot start the process that sets modes, owners and times: Too many open files");
        assert_int_equal(open_files(), files);
        if (sys.child > 0)
            assert_int_equal(waitpid(sys.child, NULL, 0), sys.child);
    }
}

static void modes(void **state)
{
    struct stat st;
    (void)state;
    keep();
    const int both = open("file", O_RDWR | O_CLOEXEC), in = open("file", O_RDONLY | O_CLOEXEC),
              out = open("file", O_WRONLY | O_CLOEXEC);
    assert_int_equal(REFUSED(SYS_fchmod, out, NUMBER(0640)), 0);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(REFUSED(SYS_fchmod, both, NUMBER(07751)), 0);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    assert_int_equal(REFUSED(SYS_fchmod, in, NUMBER(0640)), -EPERM);
    assert_int_equal(stat("file", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    const int fifo = open("fifo", O_RDWR | O_CLOEXEC);
    int ends[2]; /* no flags, and opened for reading */
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(REFUSED(SYS_fchmod, fifo, NUMBER(0640)), -EPERM);
    assert_int_equal(REFUSED(SYS_fchmod, ends[0], NUMBER(0640)), -EPERM);
    assert_int_equal(REFUSED(SYS_fchmod, -1, NUMBER(0640)), -EBADF);
    assert_int_equal(REFUSED(SYS_fchown, both, NUMBER(11), NUMBER(22)), -ENOTTY);
    assert_int_equal(REFUSED(SYS_fchown, in, NUMBER(11), NUMBER(22)), -EPERM);
    assert_int_equal(close(both) | close(in) | close(out) | close(fifo) | close(ends[0]) | close(ends[1]), 0);
    end_keeper();
    sys.call = "fstat", sys.why = ENOMEM; /* in the keeper */
    keep();
    sys.call = NULL;
    const int file = open("file", O_RDWR | O_CLOEXEC);
    assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), -ENOMEM);
    assert_int_equal(close(file), 0);
    end_keeper();
}

static void times_of_files(void **state)
{
    const struct timespec times[] = {{100, 5000}, {200, 6000}};
    struct stat st;
    (void)state;
    keep();
    const int file = open("file", O_RDWR | O_CLOEXEC);
    assert_int_equal(REFUSED(SYS_utimensat, file, NULL, times), 0);
    assert_int_equal(fstat(file, &st), 0);
    assert_true(st.st_atim.tv_sec == 100 && st.st_mtim.tv_sec == 200);
    assert_int_equal(REFUSED(SYS_utimensat, file, NULL, NULL), 0); /* to now */
    assert_int_equal(fstat(file, &st), 0);
    assert_true(st.st_atim.tv_sec > 1000 && st.st_mtim.tv_sec > 1000);
    assert_int_equal(close(file), 0);
    end_keeper();
}

static void access_lists(void **state)
{
    enum { MOST = 64 * 1024 };
    static char list[MOST + 8];
    (void)state;
    for (size_t i = 0; i < sizeof list; i++)
        list[i] = (char)('a' + i % 7);
    keep();
    const int file = open("file", O_RDWR | O_CLOEXEC);
    static const size_t sizes[] = {0, 1, 28, MOST};
    for (size_t i = 0; i < COUNT(sizes); i++)
        assert_int_equal(
            REFUSED(SYS_fsetxattr, file, "system.posix_acl_access", list, NUMBER(sizes[i])), -ENOTTY);
    assert_int_equal(REFUSED(SYS_fsetxattr, file, "system.posix_acl_access", list, NUMBER(MOST + 1)), -EBADF);
    assert_int_equal(REFUSED(SYS_fsetxattr, file, "system.posix_acl_default", list, NUMBER(4)), -EPERM);
    assert_int_equal(REFUSED(SYS_fsetxattr, file, "user.x", list, NUMBER(4)), -EPERM);
    assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0600)), 0); /* it goes on */
    assert_int_equal(close(file), 0);
    end_keeper();
}

/* Sends bytes, with a descriptor unless fd is -1; returns the answer. */
static int answer_to(const void *bytes, size_t size, int fd)
{
    int answer = -1;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } passed = {.head = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec io = {(void *)(uintptr_t)bytes, size};
    const struct msghdr message = {.msg_iov = &io,
        .msg_iovlen = 1,
        .msg_control = fd < 0 ? NULL : passed.room,
        .msg_controllen = fd < 0 ? 0 : CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(&passed.head), &fd, sizeof fd);
    assert_true(sendmsg(sock, &message, MSG_NOSIGNAL) > 0);
    assert_int_equal(read(sock, &answer, sizeof answer), sizeof answer);
    return answer;
}

/* Messages of code that was taken over: a request of another length than it says, or without a descriptor,
 * sets nothing, and the keeper goes on. */
static void strange_messages(void **state)
{
    struct {
        int call, now;
        mode_t mode;
        uid_t user;
        gid_t group;
        struct timespec times[2];
        size_t list_size;
        char list[8];
    } request = {.call = SYS_fchmod, .mode = 0600};
    const size_t whole = offsetof(__typeof__(request), list);
    static const struct {
        int more; /* bytes than a request without a list */
        size_t list_size;
        int answer;
    } cases[] = {{0, 0, 0}, {3, 3, 0}, {-1, 0, EBADF}, {-1, (size_t)-1, EBADF}, {0, 1, EBADF}, {1, 0, EBADF},
        {3, 2, EBADF}, {3, 4, EBADF}};
    struct stat st;
    (void)state;
    keep();
    const int file = open("file", O_RDWR | O_CLOEXEC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t size = whole + (size_t)cases[i].more;
        request.list_size = cases[i].list_size;
        assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), 0);
        assert_int_equal(answer_to(&request, size, -1), EBADF);
        assert_int_equal(answer_to(&request, size, file), cases[i].answer);
        assert_int_equal(fstat(file, &st), 0);
        assert_int_equal(st.st_mode & 0777, cases[i].answer ? 0640 : 0600);
    }
    for (size_t size = 1; size < whole; size++) {
        request.list_size = size - whole;
        assert_int_equal(answer_to(&request, size, file), EBADF);
    }
    assert_int_equal(close(file), 0);
    end_keeper();
}

/* It keeps no descriptor of others, and is not stopped by signals for the run. */
static void apart_from_the_run(void **state)
{
    int ends[2];
    char byte;
    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    keep();
    const int file = open("file", O_RDWR | O_CLOEXEC);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0600)), 0); /* it has begun */
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_int_equal(kill(sys.child, numbers[i]), 0);
    assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    int inside[2]; /* a descriptor that was sent is closed */
    assert_int_equal(pipe2(inside, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(REFUSED(SYS_fchmod, inside[1], NUMBER(0640)), -EPERM);
    close(inside[1]);
    assert_int_equal(read(inside[0], &byte, 1), 0);
    close(inside[0]);
    assert_int_equal(close(file), 0);
    end_keeper();
}

/* A keeper that has ended, or could not be confined, sets nothing. */
static void keepers_that_end(void **state)
{
    static const char *const calls[] = {NULL, "seccomp", "close_range"};
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++) {
        int status = 0;
        sys.call = calls[i], sys.why = EPERM;
        keep();
        sys.call = NULL;
        if (i == 0) {
            const struct msghdr empty = {0};
            assert_int_equal(sendmsg(sock, &empty, MSG_NOSIGNAL), 0);
        }
        assert_int_equal(waitpid(sys.child, &status, 0), sys.child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == (i > 0));
        const int file = open("file", O_RDWR | O_CLOEXEC);
        assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), -EIO);
        assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), -EIO);
        assert_int_equal(close(file), 0);
        end_keeper();
    }
    keep(); /* it ends with the run, too, however that ends */
    int status = 0;
    assert_int_equal(close(sock), 0);
    assert_int_equal(waitpid(sys.child, &status, 0), sys.child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static char before[500];

static int open_scratch(void **state)
{
    (void)state;
    test_process = getpid();
    return make_scratch() && getcwd(before, sizeof before) && chdir(scratch) == 0 ? 0 : -1;
}

static int close_scratch(void **state)
{
    return chdir(before) | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    static const struct CMUnitTest tests[] = {TEST(calls_of_the_run), TEST(calls_of_the_keeper),
        TEST(kernels_that_refuse_a_filter), TEST(how_it_starts), TEST(modes), TEST(times_of_files),
        TEST(access_lists), TEST(strange_messages), TEST(apart_from_the_run), TEST(keepers_that_end)};
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}

#else /* there is no filter for this processor */

int main(void)
{
    return 0;
}

#endif
