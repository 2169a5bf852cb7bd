/* The sandbox: which files a command line allows, what the kernel is asked for, and what the keeper sets. The
 * kernel's Landlock is that of the test; the keeper is a process, as it is in the program. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
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

#include "cli/options/args.h"
#include "cli/sandbox/sandbox.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the system ------------------------------------------------------------------------------------ */

enum { CREATE = 444, ADD = 445, RESTRICT = 446, CLOSE = 436, RULES = 64 };

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;

    /* the rules that a command line asks for, a line each: R or W, and a path */
    char asked[1 << 14];
    char looked_at[1 << 14]; /* names whose records were looked for */
    int enters, keeps, keeper, limits, limited_keeper, tasks;
    bool real_allow, real_keep;

    /* the kernel */
    long abi;
    uint64_t handled[3];
    uint64_t allowed;
    struct stat parent;
    int restricted, alone, no_new_privileges;

    struct {
        struct sock_filter at[1024];
        size_t size;
    } filter;

    /* the keeper */
    struct sigaction on_refused;
    void (*at_exit)(void);
    pid_t child;
    int unblocked;
} sys;

static char folder[PATH_MAX]; /* the scratch folder, without links */

static bool strikes(const char *call)
{
    return strike(sys.call, call, &sys.after, sys.why);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < (number == ADD ? 4 : number == RESTRICT ? 2 : 3); i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == CREATE && !a[0]) {
        assert_true(a[1] == 0 && (int)a[2] == 1);
        errno = sys.why;
        return sys.abi;
    }
    if (number == CREATE) {
        assert_true(a[1] == sizeof sys.handled && (int)a[2] == 0);
        memcpy(sys.handled, (const void *)a[0], sizeof sys.handled);
        return strikes("create") ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (number == ADD) {
        int32_t parent;
        assert_true((int)a[1] == 1 && (int)a[3] == 0);
        memcpy(&sys.allowed, (const void *)a[2], sizeof sys.allowed);
        memcpy(&parent, (const char *)a[2] + sizeof sys.allowed, sizeof parent);
        assert_int_equal(fstat(parent, &sys.parent), 0);
        assert_true(fcntl((int)a[0], F_GETFD) >= 0);
        return strikes("add") ? -1 : 0;
    }
    if (number == RESTRICT) {
        assert_true(fcntl((int)a[0], F_GETFD) >= 0 && (int)a[1] == 0);
        sys.restricted++;
        return strikes("restrict") ? -1 : 0;
    }
    if (number == SYS_seccomp) {
        assert_true((int)a[0] == SECCOMP_SET_MODE_FILTER && (int)a[1] == SECCOMP_FILTER_FLAG_TSYNC);
        const struct sock_fprog *filter = (const struct sock_fprog *)a[2];
        assert_true(filter->len <= COUNT(sys.filter.at));
        sys.filter.size = filter->len;
        memcpy(sys.filter.at, filter->filter, filter->len * sizeof *filter->filter);
        return strikes("seccomp") ? -1 : 0;
    }
    assert_int_equal(number, CLOSE);
    assert_true((unsigned)a[0] == 1 && (unsigned)a[1] == ~0u && a[2] == 0);
    for (int fd = 1; fd < 256; fd++)
        (void)close(fd);
    return strikes("close_range") ? -1 : 0;
}

int __wrap_prctl(int option, unsigned long value, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long value, unsigned long b, unsigned long c, unsigned long d)
{
    assert_true(option == PR_SET_NO_NEW_PRIVS && value == 1 && b + c + d == 0);
    sys.no_new_privileges++;
    return strikes("prctl") ? -1 : 0;
}

static void ask(char access, const char *path)
{
    const size_t length = strlen(folder);
    const bool is_below = strncmp(path, folder, length) == 0;
    snprintf(sys.asked + strlen(sys.asked), sizeof sys.asked - strlen(sys.asked), "%c %s%s\n", access,
        is_below ? "$" : "", path + (is_below ? length : 0));
}

lap_code __real_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
lap_code __wrap_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
lap_code __wrap_lap_sandbox_allow(
    lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err)
{
    if (strikes("allow"))
        return lap_sandbox_failed(err, LAP_E_BACKEND, "no rule");
    ask(access == LAP_SANDBOX_WRITE ? 'W' : 'R', path);
    return __real_lap_sandbox_allow(box, path, access, err);
}

lap_code __real_lap_sandbox_keep(int *sock, lap_error *err);
lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err);
lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err)
{
    assert_int_equal(sys.restricted, 1);
    sys.keeps++;
    *sock = 77;
    return strikes("keep") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no keeper") : LAP_OK;
}

lap_code __real_lap_sandbox_limit_calls(int keeper, lap_error *err);
lap_code __wrap_lap_sandbox_limit_calls(int keeper, lap_error *err);
lap_code __wrap_lap_sandbox_limit_calls(int keeper, lap_error *err)
{
    assert_int_equal(sys.restricted, 1);
    sys.limits++;
    sys.keeper = keeper;
    return strikes("limit") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no seccomp") : LAP_OK;
}

lap_code __real_lap_sandbox_limit_keeper(lap_error *err);
lap_code __wrap_lap_sandbox_limit_keeper(lap_error *err);
lap_code __wrap_lap_sandbox_limit_keeper(lap_error *err)
{
    return strikes("limit keeper") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no seccomp") : LAP_OK;
}

DIR *__real_opendir(const char *name);
DIR *__wrap_opendir(const char *name);
DIR *__wrap_opendir(const char *name)
{
    if (strcmp(name, "/proc/self/task") != 0)
        return __real_opendir(name);
    return sys.tasks < 0 ? NULL : __real_opendir("tasks");
}

int __real_access(const char *path, int how);
int __wrap_access(const char *path, int how);
int __wrap_access(const char *path, int how)
{
    const size_t length = strlen(folder);
    snprintf(
        sys.looked_at + strlen(sys.looked_at), sizeof sys.looked_at - strlen(sys.looked_at), "%s\n", path);
    errno = ENOENT;
    return strncmp(path, folder, length) == 0 ? __real_access(path, how) : -1;
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    return strikes("mkdir") ? -1 : __real_mkdir(path, mode);
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
    __real__exit(sys.child == 0 ? code : 99); /* only the keeper ends so */
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
    sys.unblocked = sigismember(set, SIGSYS) + 2 * sigismember(set, SIGTERM);
    return strikes("sigprocmask") ? -1 : 0;
}

/* Which arguments these calls have is said by an errno. */
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

/* ---- Landlock -------------------------------------------------------------------------------------- */

static lap_error err;
static lap_cli cli;

static void start(void)
{
    static char *none[1];
    memset(&sys, 0, sizeof sys);
    sys.abi = 6;
    sys.tasks = -1;
    empty_scratch();
    err = (lap_error){0};
    cli = (lap_cli){.settings = lap_settings_default(),
        .command = &lap_cli_commands[LAP_COMMAND_RUN],
        .forms = LAP_CLI_ONE,
        .operands = none};
}

static int begin(void **state)
{
    (void)state;
    start();
    return 0;
}

static void fails_with(lap_code code, lap_code want, const char *message)
{
    assert_int_equal(code, want);
    assert_int_equal(err.code, want);
    assert_string_equal(err.subject, "--sandbox");
    assert_string_equal(err.message, message);
}

enum { FIRST = (1 << 13) - 1, REFER = 1 << 13, TRUNCATE = 1 << 14, DEVICES = 1 << 15 };

static void versions_of_landlock(void **state)
{
    static const struct {
        uint64_t files, net, scoped;
    } wants[] = {{FIRST, 0, 0}, {FIRST | REFER, 0, 0}, {FIRST | REFER | TRUNCATE, 0, 0},
        {FIRST | REFER | TRUNCATE, 3, 0}, {FIRST | REFER | TRUNCATE | DEVICES, 3, 0},
        {FIRST | REFER | TRUNCATE | DEVICES, 3, 3}, {FIRST | REFER | TRUNCATE | DEVICES, 3, 3}};
    lap_sandbox box;
    (void)state;
    for (int abi = 1; abi <= 7; abi++) {
        start();
        sys.abi = abi;
        assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
        assert_memory_equal(sys.handled, &wants[abi - 1], sizeof *wants);
        assert_true(box.abi == abi && box.rules > 0 && !box.writes);
        assert_int_equal(close(box.rules), 0);
    }
    for (int abi = -1; abi < 1; abi++)
        for (int off = 0; off < 2; off++) {
            start();
            sys.abi = abi;
            sys.why = off ? EOPNOTSUPP : ENOSYS;
            fails_with(lap_sandbox_open(&box, &err), LAP_E_BACKEND,
                off ? "Landlock was switched off when this machine started"
                    : "this kernel has no Landlock; Linux has it from 5.13");
            assert_int_equal(box.rules, -1);
        }
    start();
    sys.call = "create", sys.why = EMFILE;
    fails_with(lap_sandbox_open(&box, &err), LAP_E_BACKEND, strerror(EMFILE));
}

static void rights(void **state)
{
    enum { WRITE = 1 << 1, READ = 1 << 2, LIST = 1 << 3, REMOVE = 1 << 5, DIRS = 1 << 7, FILES = 1 << 8 };
    static const struct {
        const char *path;
        lap_sandbox_access access;
        int abi;
        uint64_t allowed;
    } cases[] = {{"file", LAP_SANDBOX_READ, 6, READ}, {"file", LAP_SANDBOX_WRITE, 6, WRITE | TRUNCATE},
        {"file", LAP_SANDBOX_WRITE, 2, WRITE}, {"sub", LAP_SANDBOX_READ, 6, READ | LIST},
        {"sub", LAP_SANDBOX_WRITE, 6, READ | LIST | WRITE | REMOVE | DIRS | FILES | TRUNCATE},
        {"sub", LAP_SANDBOX_WRITE, 2, READ | LIST | WRITE | REMOVE | DIRS | FILES},
        {"link", LAP_SANDBOX_READ, 1, READ | LIST}, {"fifo", LAP_SANDBOX_WRITE, 3, WRITE | TRUNCATE},
        {"missing", LAP_SANDBOX_READ, 6, 0}, {"missing", LAP_SANDBOX_WRITE, 6, 0}};
    lap_sandbox box;
    struct stat st;
    (void)state;
    const int files = open_files();
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("file", "x");
        assert_int_equal(mkdir("sub", 0777) | symlink("sub", "link") | mkfifo("fifo", 0600), 0);
        sys.abi = cases[i].abi;
        assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
        assert_int_equal(__real_lap_sandbox_allow(&box, cases[i].path, cases[i].access, &err), LAP_OK);
        assert_int_equal(sys.allowed, cases[i].allowed);
        assert_int_equal(box.writes, cases[i].access == LAP_SANDBOX_WRITE);
        if (cases[i].allowed) {
            assert_int_equal(stat(cases[i].path, &st), 0);
            assert_true(st.st_ino == sys.parent.st_ino && st.st_dev == sys.parent.st_dev);
        }
        assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
        assert_int_equal(box.writes, cases[i].access == LAP_SANDBOX_WRITE); /* what is allowed stays */
        assert_int_equal(close(box.rules), 0);
        assert_int_equal(open_files(), files);
    }
    assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
    sys.call = "add", sys.why = EINVAL;
    fails_with(
        __real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_E_BACKEND, strerror(EINVAL));
    sys.why = EBADFD; /* a pipe, which Landlock does not restrict */
    assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
    sys.call = "fstat", sys.why = EIO, sys.allowed = 0;
    assert_int_equal(__real_lap_sandbox_allow(&box, "file", LAP_SANDBOX_READ, &err), LAP_OK);
    assert_int_equal(sys.allowed, 0);
    assert_int_equal(close(box.rules), 0);
    assert_int_equal(open_files(), files);
}

static void restrictions(void **state)
{
    lap_sandbox box;
    (void)state;
    assert_int_equal(lap_sandbox_open(&box, &err), LAP_OK);
    assert_int_equal(lap_sandbox_restrict(&box, &err), LAP_OK);
    assert_true(sys.restricted == 1 && sys.no_new_privileges == 1);
    sys.call = "prctl", sys.why = EPERM;
    fails_with(lap_sandbox_restrict(&box, &err), LAP_E_BACKEND, strerror(EPERM));
    assert_int_equal(sys.restricted, 1);
    sys.call = "restrict", sys.why = E2BIG;
    fails_with(lap_sandbox_restrict(&box, &err), LAP_E_BACKEND, strerror(E2BIG));
    assert_int_equal(close(box.rules), 0);
}

/* ---- seccomp --------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define HERE AUDIT_ARCH_AARCH64
#endif

#ifdef HERE

enum { ALLOW = -1, TRAP = -2, KILL = -3 }; /* else an errno */

/* What the filter says of a call. */
static int verdict_of(unsigned arch, int call, const uint64_t args[6])
{
    struct seccomp_data data = {.nr = call, .arch = arch};
    uint32_t held = 0;
    memcpy(data.args, args, sizeof data.args);
    for (size_t at = 0;; at++) {
        assert_true(at < sys.filter.size);
        const struct sock_filter *i = &sys.filter.at[at];
        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(i->k + sizeof held <= sizeof data && i->k % 4 == 0);
            memcpy(&held, (const char *)&data + i->k, sizeof held);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            held &= i->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += held == i->k ? i->jt : i->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += held & i->k ? i->jt : i->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += held >= i->k ? i->jt : i->jf;
            break;
        default:
            assert_int_equal(i->code, BPF_RET | BPF_K);
            if (i->k == SECCOMP_RET_ALLOW || i->k == SECCOMP_RET_TRAP || i->k == SECCOMP_RET_KILL_PROCESS)
                return i->k == SECCOMP_RET_ALLOW ? ALLOW : i->k == SECCOMP_RET_TRAP ? TRAP : KILL;
            assert_int_equal(i->k & ~0xffffu, SECCOMP_RET_ERRNO);
            return (int)(i->k & 0xffff);
        }
    }
}

static int verdict(int call, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    return verdict_of(HERE, call, (const uint64_t[6]){a, b, c, d, e, 9});
}

/* Any arguments are fine. */
static void is_allowed(const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 64; bit++) {
            const uint64_t value = (uint64_t)1 << bit;
            if (verdict(calls[i], value, value, value, value, value) != ALLOW)
                fail_msg("call %d", calls[i]);
        }
}

static void is_denied(const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (verdict(calls[i], 0, 0, 0, 0, 0) != EPERM || verdict(calls[i], 1, 2, 3, 4, 5) != EPERM)
            fail_msg("call %d", calls[i]);
}

/* One argument decides; the first is `base`, the others are zero. Only 32 bits of it count. */
static void assert_argument(int call, int argument, uint64_t value, uint64_t base, int want)
{
    for (int high = 0; high < 2; high++) {
        uint64_t args[6] = {base};
        args[argument] = value | (high ? (uint64_t)5 << 32 : 0);
        const int got = verdict_of(HERE, call, args);
        if (got != want)
            fail_msg("call %d, argument %d is %#llx: %d, not %d", call, argument, (unsigned long long)value,
                got, want);
    }
}

static void only_bits(int call, int argument, uint64_t also, uint64_t mask)
{
    for (int bit = 0; bit < 32; bit++) {
        const uint64_t value = (uint64_t)1 << bit;
        assert_argument(call, argument, value | also, 0, mask & value ? ALLOW : EPERM);
    }
    assert_argument(call, argument, also, 0, ALLOW);
}

static void only_values(int call, int argument, const unsigned *values, size_t count)
{
    for (unsigned i = 0; i < 6000; i++) {
        const unsigned value = i < 3000 ? i : i + 0x5000 - 3000;
        bool is_one = false;
        for (size_t k = 0; k < count; k++)
            is_one = is_one || values[k] == value;
        assert_argument(call, argument, value, 0, is_one ? ALLOW : EPERM);
    }
}
#define ONLY(call, argument, ...)                                \
    only_values(call, argument, (const unsigned[]){__VA_ARGS__}, \
        sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void calls_of_the_run(void **state)
{
    static const int fine[] = {SYS_futex, SYS_read, SYS_write, SYS_munmap, SYS_brk, SYS_wait4, SYS_getrandom,
        SYS_rt_sigaction, SYS_uname, SYS_unlinkat, SYS_ftruncate, SYS_exit_group};
    static const int denied[] = {SYS_socket, SYS_connect, SYS_sendto, SYS_execve, SYS_ptrace, SYS_mount,
        SYS_setuid, SYS_fchmodat, SYS_fchownat, SYS_setxattr, SYS_bpf, SYS_seccomp, SYS_recvmsg, 5000};
    static const int kept[] = {SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_utimensat};
    static const int keepers[] = {-1, 0, 7};
    (void)state;
    for (size_t k = 0; k < COUNT(keepers); k++) {
        const int keeper = keepers[k];
        start();
        assert_int_equal(__real_lap_sandbox_limit_calls(keeper, &err), LAP_OK);
        is_allowed(fine, COUNT(fine));
        is_denied(denied, COUNT(denied));
        for (size_t i = 0; i < COUNT(kept); i++)
            assert_int_equal(verdict(kept[i], 1, 0, 0, 0, 0), keeper < 0 ? EPERM : TRAP);
        for (int fd = -1; fd < 10; fd++) {
            const uint64_t number = (uint32_t)fd;
            assert_int_equal(verdict(SYS_close, number, 0, 0, 0, 0), fd == keeper ? EPERM : ALLOW);
            assert_int_equal(verdict(SYS_sendmsg, number, 0, 0, 0, 0), fd == keeper ? ALLOW : EPERM);
        }
        assert_int_equal(verdict(SYS_tgkill, (uint64_t)getpid(), 3, 6, 0, 0), ALLOW);
        assert_int_equal(verdict(SYS_tgkill, (uint64_t)getpid() + 1, 3, 6, 0, 0), EPERM);
#ifdef SYS_clone3
        assert_int_equal(verdict(SYS_clone3, 0, 0, 0, 0, 0), ENOSYS);
#endif
        assert_int_equal(verdict_of(HERE + 1, SYS_read, (const uint64_t[6]){0}), KILL);
#ifdef __x86_64__ /* the x32 interface */
        assert_int_equal(verdict(0x40000000 + SYS_read, 0, 0, 0, 0, 0), EPERM);
        assert_int_equal(verdict(0x7fffffff, 0, 0, 0, 0, 0), EPERM);
#endif
    }
    for (int bit = 0; bit < 32; bit++) { /* with a keeper: what its handler may ask for */
        const uint64_t value = (uint64_t)1 << bit;
        assert_argument(SYS_fchmod, 1, value, 0, bit < 9 ? TRAP : EPERM);
        assert_argument(SYS_fchown, 1, value, 0, TRAP);
        assert_argument(SYS_fsetxattr, 4, value, 0, EPERM);
        assert_argument(SYS_utimensat, 3, value, 0, EPERM);
        assert_int_equal(verdict(SYS_utimensat, 3, value, 0, 0, 0), EPERM);
        assert_int_equal(verdict(SYS_utimensat, 3, value << 32, 0, 0, 0), EPERM);
    }
}

static void arguments_of_calls(void **state)
{
    enum {
#ifdef __x86_64__
        LARGE = 0100000,
#else
        LARGE = 0400000,
#endif
        OPENED = O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NONBLOCK | O_NOCTTY | O_DIRECTORY |
                 O_NOFOLLOW | O_CLOEXEC | O_PATH | LARGE,
        THREADS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                  CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | 0x400000
    };
    (void)state;
    assert_int_equal(__real_lap_sandbox_limit_calls(5, &err), LAP_OK);
    only_bits(SYS_openat, 2, 0, OPENED);
    only_bits(SYS_openat, 3, 0, 0777);
    assert_int_equal(verdict(SYS_openat, 0, 0, O_RDWR | O_CREAT, 0644, 0), ALLOW);
    assert_int_equal(verdict(SYS_openat, 0, 0, O_ACCMODE, 0, 0), EPERM);
    assert_int_equal(verdict(SYS_openat, 0, 0, O_ACCMODE | O_CREAT, 0, 0), EPERM);
#ifdef SYS_open
    only_bits(SYS_open, 1, 0, OPENED);
    only_bits(SYS_open, 2, 0, 0777);
    assert_int_equal(verdict(SYS_open, 0, O_ACCMODE, 0, 0, 0), EPERM);
#endif
    ONLY(SYS_fcntl, 1, F_DUPFD_CLOEXEC, F_GETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ);
    ONLY(SYS_ioctl, 1, TCGETS, TIOCGWINSZ, FIONREAD);
    ONLY(SYS_fallocate, 1, 1);
    only_bits(SYS_renameat2, 4, 0, 1);
    ONLY(SYS_linkat, 4, 0);
    only_bits(SYS_clone, 0, CLONE_THREAD, THREADS);
    assert_int_equal(verdict(SYS_clone, CLONE_VM | CLONE_FS, 0, 0, 0, 0), EPERM); /* a process */
    assert_int_equal(verdict(SYS_clone, 0, 0, 0, 0, 0), EPERM);
    ONLY(SYS_kill, 1, 0);
    ONLY(SYS_sched_setaffinity, 0, 0);
    ONLY(SYS_prlimit64, 0, 0);
    for (int bit = 0; bit < 64; bit++)
        assert_int_equal(verdict(SYS_prlimit64, 0, 3, (uint64_t)1 << bit, 0, 0), EPERM);
    assert_int_equal(verdict(SYS_prlimit64, 0, 3, 0, 0, 0), ALLOW);
    ONLY(SYS_prctl, 0, PR_SET_NAME);
    only_bits(SYS_mmap, 2, 0, PROT_READ | PROT_WRITE);
    only_bits(SYS_mprotect, 2, 0, PROT_READ | PROT_WRITE);
}

static void calls_of_the_keeper(void **state)
{
    static const int fine[] = {SYS_recvmsg, SYS_sendto, SYS_close, SYS_fchmod, SYS_fchown, SYS_fsetxattr,
        SYS_fstat, SYS_newfstatat, SYS_exit_group, SYS_exit};
    static const int denied[] = {SYS_read, SYS_write, SYS_openat, SYS_mmap, SYS_socket, SYS_sendmsg, SYS_kill,
        SYS_unlinkat, SYS_clone, SYS_execve, SYS_ftruncate};
    static const int whys[] = {ENOSYS, EINVAL, EACCES};
    (void)state;
    assert_int_equal(__real_lap_sandbox_limit_keeper(&err), LAP_OK);
    is_allowed(fine, COUNT(fine));
    is_denied(denied, COUNT(denied));
    ONLY(SYS_fcntl, 1, F_GETFL);
    assert_int_equal(verdict(SYS_utimensat, 3, 0, 7, 0, 0), ALLOW);
    for (int bit = 0; bit < 64; bit++)
        assert_int_equal(verdict(SYS_utimensat, 3, (uint64_t)1 << bit, 0, 0, 0), EPERM);
    assert_int_equal(verdict_of(HERE + 1, SYS_recvmsg, (const uint64_t[6]){0}), KILL);
    for (size_t i = 0; i < 2 * COUNT(whys); i++) { /* kernels that refuse the filter */
        start();
        sys.call = "seccomp", sys.why = whys[i / 2];
        const lap_code code =
            i % 2 ? __real_lap_sandbox_limit_keeper(&err) : __real_lap_sandbox_limit_calls(3, &err);
        fails_with(code, LAP_E_BACKEND, sys.why == EACCES ? strerror(EACCES) : "this kernel has no seccomp");
    }
}

#endif

/* ---- a command line -------------------------------------------------------------------------------- */

static void set_operands(const char *line)
{
    static char text[200];
    static char *words[8];
    cli.operand_count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[cli.operand_count++] = word;
    words[cli.operand_count] = NULL;
    cli.operands = words;
}

#define SYSTEM "R /proc/self\nR /sys/devices/system/cpu\nR /sys/fs/cgroup\nR /dev/urandom\nR /dev/null\n"

/* Enters the sandbox, and compares the rules behind those for the system. */
static void assert_rules(const char *rules)
{
    char want[1 << 13];
    const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
    sys.looked_at[0] = '\0';
    const lap_code code = lap_cli_sandbox(&cli, &err);
    if (code != LAP_OK)
        fail_msg("%s: %s", err.subject, err.message);
    snprintf(want, sizeof want, "%s%s", SYSTEM, rules);
    assert_string_equal(sys.asked, want);
    assert_int_equal(open_files(), files + self);
    assert_int_equal(sys.restricted, 1);
    assert_int_equal(sys.keeps, strstr(rules, "W ") != NULL);
    assert_int_equal(sys.limits, 1);
    assert_int_equal(sys.keeper, sys.keeps ? 77 : -1);
    assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "");
}

static void make_files(void)
{
    static const char *const names[] = {"a.jpg", "b.jpg", "there.jpg", "sub/there.jpg", "photos/p.jpg",
        ".lapedge-in-place.jsonl", "photos/.lapedge-in-place.jsonl"};
    assert_int_equal(mkdir("sub", 0777) | mkdir("photos", 0777) | mkdir("photos/.lapedge", 0777), 0);
    assert_int_equal(mkdir("sub/deep", 0777) | mkdir("sub/.lapedge", 0777) | mkfifo("fifo", 0600), 0);
    for (size_t i = 0; i < COUNT(names); i++)
        put(names[i], "x");
}

#define IN_SUB "R $/sub/.lapedge\nR $/.lapedge-in-place.jsonl\n"
#define IN_PHOTOS "R $/photos/.lapedge-in-place.jsonl\nR $/photos/.lapedge\nR $/.lapedge-in-place.jsonl\n"

static void what_command_lines_need(void **state)
{
    enum { DRY = 1, IN_PLACE = 2 };
    static const struct {
        const char *operands;
        int command;
        unsigned forms;
        int flags;
        const char *rules;
    } cases[] = {{"a.jpg new.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW .\n"},
        {"a.jpg there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW $\n"},
        {"a.jpg sub/there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW $/sub\n"},
        {"a.jpg sub/new.jpg", LAP_COMMAND_TRANSFORM, LAP_CLI_TRANSFORM, 0, "R a.jpg\nW sub\n"},
        {"a.jpg there.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, DRY, "R a.jpg\n"},
        {"- -", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, ""}, {"- new.jpg", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "W .\n"},
        {"a.jpg -", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\n"},
        {"a.jpg fifo", LAP_COMMAND_RUN, LAP_CLI_ONE, 0, "R a.jpg\nW fifo\n"},
        {"a.jpg b.jpg", LAP_COMMAND_STATS, LAP_CLI_STATS, 0, "R a.jpg\nR b.jpg\n"},
        {"a.jpg", LAP_COMMAND_INFO, LAP_CLI_INFO, 0, "R a.jpg\n"},
        {"a.jpg b.jpg sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0,
            "R a.jpg\nR $/a.jpg/x\nR b.jpg\nR $/b.jpg/x\n" IN_SUB "W sub\n"},
        {"photos sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS IN_SUB "W sub\n"},
        {"photos sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, DRY, "R photos\n" IN_PHOTOS IN_SUB "R sub\n"},
        {"photos sub/deep", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS IN_SUB "W sub/deep\n"},
        {"photos sub", LAP_COMMAND_TRANSFORM, LAP_CLI_TRANSFORM_FOLDER, 0, "R photos\n" IN_SUB "W sub\n"},
        {"photos sub/new/er/", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0,
            "R photos\n" IN_PHOTOS IN_SUB "W sub/new/er/\n"},
        {"photos none/new", LAP_COMMAND_RUN, LAP_CLI_FOLDER, DRY, "R photos\n" IN_PHOTOS "R none/new\n"},
        {"missing sub", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R missing\n" IN_SUB "W sub\n"},
        {"photos a.jpg/new", LAP_COMMAND_RUN, LAP_CLI_FOLDER, 0, "R photos\n" IN_PHOTOS "W a.jpg/new\n"},
        {"a.jpg sub/there.jpg", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE,
            "R a.jpg\nW $\nR sub/there.jpg\nW $/sub\n"},
        {"a.jpg", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE | DRY, "R a.jpg\nR $\n"},
        {"- missing", LAP_COMMAND_RUN, LAP_CLI_IN_PLACE, IN_PLACE, "R missing\nW .\n"},
        {"photos sub", LAP_COMMAND_STATS, LAP_CLI_STATS_FOLDER, 0, "R photos\nR sub\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        make_files();
        char rules[1000];
        /* Records around a file would be in a folder of its name, so those above it count. */
        snprintf(rules, sizeof rules, "%s", cases[i].rules);
        for (char *at; (at = strstr(rules, "R $/a.jpg/x\n")) || (at = strstr(rules, "R $/b.jpg/x\n"));) {
            static const char above[] = "R $/.lapedge-in-place.jsonl\n";
            char rest[1000];
            snprintf(rest, sizeof rest, "%s", at + strlen("R $/a.jpg/x\n"));
            snprintf(at, sizeof rules - (size_t)(at - rules), "%s%s", above, rest);
        }
        set_operands(cases[i].operands);
        cli.command = &lap_cli_commands[cases[i].command];
        cli.forms = cases[i].forms;
        cli.dry_run = cases[i].flags & DRY, cli.in_place = cases[i].flags & IN_PLACE;
        assert_rules(rules);
        struct stat st;
        const bool makes = strstr(cases[i].operands, "sub/new/er/") != NULL;
        assert_int_equal(stat("sub/new/er", &st) == 0, makes);
        assert_int_equal(stat("none", &st) == 0, false);
    }
}

/* Records are looked for in each folder above, but not in the root. */
static void records_above(void **state)
{
    char want[1 << 13] = "", above[PATH_MAX + 8];
    (void)state;
    make_files();
    strcat(strcpy(above, folder), "/photos");
    for (char *slash; *above; *slash = '\0') {
        strcat(strcat(want, above), "/.lapedge-in-place.jsonl\n");
        strcat(strcat(want, above), "/.lapedge\n");
        slash = strrchr(above, '/');
    }
    set_operands("photos");
    cli.files_from = NULL;
    cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
    cli.forms = LAP_CLI_FOLDER; /* as if it wrote */
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
    assert_string_equal(sys.looked_at, want);
}

static void side_files(void **state)
{
    (void)state;
    make_files();
    set_operands("a.jpg -");
    cli.kernel = "k", cli.weights = "w";
    cli.json_file = "sub/j", cli.trace = "photos/t", cli.stats = "-", cli.report = "fifo";
    cli.heatmap = "there.jpg";
    assert_rules("R a.jpg\nR k\nR w\nW sub\nW photos\nW fifo\nW $\n");
    for (int i = 0; i < 5; i++) { /* each of them */
        static const char *const rules[] = {"W a\n", "W b\n", "W c\n", "W d\n", "W e\n"};
        start();
        cli.json_file = i == 0 ? "a/x" : NULL, cli.trace = i == 1 ? "b/x" : NULL;
        cli.stats = i == 2 ? "c/x" : NULL, cli.report = i == 3 ? "d/x" : NULL;
        cli.heatmap = i == 4 ? "e/x" : NULL;
        set_operands("- -");
        assert_rules(rules[i]);
    }
}

static void put_bytes(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void lists(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool nul;
        const char *rules;
    } cases[] = {{"", 0, false, "R list\n"}, {"a.jpg\nb.jpg\n", 12, false, "R list\nR a.jpg\nR b.jpg\n"},
        {"a.jpg\nb.jpg", 11, false, "R list\nR a.jpg\nR b.jpg\n"},
        {"a.jpg\n\n-\n", 9, false, "R list\nR a.jpg\nR ./-\n"},
        {"a\nb\0-\0\0c", 8, true, "R list\nR a\nb\nR ./-\nR c\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put_bytes("list", cases[i].bytes, cases[i].size);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER;
        cli.files_from = "list", cli.null_separated = cases[i].nul;
        assert_rules(cases[i].rules);
    }
    for (int more = -1; more < 2; more++) { /* no path is as long as PATH_MAX; such a name is left out */
        static char name[PATH_MAX + 8], rules[PATH_MAX + 64];
        start();
        const size_t length = (size_t)(PATH_MAX + more);
        memset(name, 'n', length);
        memcpy(name + length, "\nb\n", 4);
        put("list", name);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER;
        cli.files_from = "list";
        snprintf(rules, sizeof rules, "R list\n%s%.*s%sR b\n", more < 0 ? "R " : "",
            more < 0 ? (int)length : 0, name, more < 0 ? "\n" : "");
        assert_rules(rules);
    }
    for (int most = 0; most < 4; most++) { /* each name takes memory of the kernel */
        static const uint64_t limits[] = {0, 2 * 2048, 2 * 2048 - 1, 1};
        start();
        put("list", "a\nb\n");
        set_operands("sub");
        assert_int_equal(mkdir("sub", 0777), 0);
        cli.forms = LAP_CLI_FOLDER, cli.files_from = "list";
        cli.settings.max_memory = limits[most];
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (most < 2)
            assert_int_equal(code, LAP_OK);
        else
            fails_with(code, LAP_E_LIMIT,
                "rules for this many files would take more memory than --max-memory; name fewer in "
                "--files-from, or their folder");
    }
    static const struct {
        const char *list;
        bool fstat_fails;
        const char *message; /* NULL: it is fine */
    } kinds[] = {{"-", false, "--files-from has to name a file: the list is read twice"},
        {"sub", false, "--files-from has to name a file: the list is read twice"}, {"missing", false, NULL},
        {"list", false, NULL}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        start();
        const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
        put("list", "a\n");
        assert_int_equal(mkdir("sub", 0777), 0);
        cli.command = &lap_cli_commands[LAP_COMMAND_STATS];
        cli.forms = LAP_CLI_STATS_FOLDER, cli.files_from = kinds[i].list;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (kinds[i].message)
            fails_with(code, LAP_E_USAGE, kinds[i].message);
        else
            assert_int_equal(code, LAP_OK);
        assert_int_equal(open_files(), files + self);
    }
}

/* Wherever a rule cannot be added, the run is refused, and nothing is confined. */
static void rules_that_fail(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++)
        for (int after = 0;; after++) {
            start();
            make_files();
            put("list", "a.jpg\nb.jpg\n");
            set_operands(way == 0 ? "photos a.jpg sub/deep" : way == 1 ? "a.jpg b.jpg" : "sub");
            cli.forms = way == 1 ? LAP_CLI_IN_PLACE : LAP_CLI_FOLDER;
            cli.in_place = way == 1;
            cli.files_from = way == 2 ? "list" : NULL;
            cli.kernel = "a.jpg", cli.weights = "b.jpg", cli.json_file = "j", cli.heatmap = "sub/h";
            sys.call = "allow", sys.after = after;
            const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
            const lap_code code = lap_cli_sandbox(&cli, &err);
            assert_int_equal(open_files(), files + self);
            int count = 0;
            for (const char *at = sys.asked; (at = strchr(at, '\n')); at++)
                count++;
            if (code == LAP_OK) {
                assert_true(after > 10 && count == after);
                break;
            }
            assert_int_equal(count, after);
            fails_with(code, LAP_E_BACKEND, "no rule");
            assert_int_equal(sys.restricted + sys.keeps + sys.limits, 0);
        }
}

static void entering(void **state)
{
    static const struct {
        const char *call;
        int why, tasks;
        const char *message;
        int restricted, keeps, limits;
    } cases[] = {{NULL, 0, -1, NULL, 1, 1, 1}, {NULL, 0, 1, NULL, 1, 1, 1},
        {NULL, 0, 2, "threads are already running", 0, 0, 0},
        {NULL, 0, 3, "threads are already running", 0, 0, 0},
        {"restrict", EPERM, 1, "Operation not permitted", 1, 0, 0}, {"keep", 0, 1, "no keeper", 1, 1, 0},
        {"limit", 0, 1, "no seccomp", 1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("a.jpg", "x");
        assert_int_equal(mkdir("tasks", 0777), 0);
        for (int k = 0; k < cases[i].tasks; k++)
            put(k == 0 ? "tasks/1" : k == 1 ? "tasks/2" : "tasks/3", "");
        set_operands("a.jpg out.jpg");
        sys.tasks = cases[i].tasks;
        sys.call = cases[i].call, sys.why = cases[i].why;
        const int files = open_files(), self = __real_access("/proc/self", F_OK) == 0;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        if (cases[i].message)
            fails_with(code, LAP_E_BACKEND, cases[i].message);
        else
            assert_int_equal(code, LAP_OK);
        assert_int_equal(sys.restricted, cases[i].restricted);
        assert_int_equal(sys.keeps, cases[i].keeps);
        assert_int_equal(sys.limits, cases[i].limits);
        assert_int_equal(open_files(), files + self);
    }
    start();
    sys.abi = 0;
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_BACKEND);
    assert_string_equal(sys.asked, "");
}

/* OUTDIR is made, with the folders above it. What the run itself would report is left to it. */
static void output_folders(void **state)
{
    static const struct {
        const char *out;
        int why, after;
        const char *made, *not_made;
        bool fails;
    } cases[] = {{"one", 0, 0, "one", NULL, false}, {"one/two/three", 0, 0, "one/two/three", NULL, false},
        {"one//two//", 0, 0, "one/two", NULL, false}, {"sub", 0, 0, "sub", NULL, false},
        {"sub/two", 0, 0, "sub/two", NULL, false}, {"one/two", EACCES, 0, NULL, "one", false},
        {"one/two", EACCES, 1, "one", "one/two", false}, {"one/two", EROFS, 0, NULL, "one", false},
        {"one/two", ENOENT, 0, NULL, "one", false}, {"file/two", 0, 0, "file", "file/two", false},
        {"one/two", ENOTDIR, 0, NULL, "one", false}, {"one/two", EEXIST, 0, NULL, "one", false},
        {"one/two", EIO, 0, NULL, "one", true}, {"one/two", ENOSPC, 1, "one", "one/two", true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        put("file", "x");
        assert_int_equal(mkdir("sub", 0777), 0);
        char line[40];
        snprintf(line, sizeof line, "file %s", cases[i].out);
        set_operands(line);
        cli.forms = LAP_CLI_FOLDER;
        sys.call = cases[i].why ? "mkdir" : NULL, sys.why = cases[i].why, sys.after = cases[i].after;
        const lap_code code = lap_cli_sandbox(&cli, &err);
        assert_int_equal(code, cases[i].fails ? LAP_E_WRITE : LAP_OK);
        if (cases[i].fails) {
            assert_int_equal(err.code, LAP_E_WRITE);
            assert_string_equal(err.subject, cases[i].out);
            assert_string_equal(err.message, strerror(cases[i].why));
        }
        if (cases[i].made)
            assert_int_equal(__real_access(cases[i].made, F_OK), 0);
        if (cases[i].not_made)
            assert_int_equal(__real_access(cases[i].not_made, F_OK), -1);
    }
    for (int more = -1; more < 2; more++) { /* a path that is too long is told by the run */
        static char path[PATH_MAX + 2];
        static char file[] = "file";
        static char *words[] = {file, path, NULL};
        start();
        memset(path, 0, sizeof path);
        memset(path, '/', (size_t)(PATH_MAX + more));
        memcpy(path, "one/two", strlen("one/two"));
        cli.operands = words, cli.operand_count = 2;
        cli.forms = LAP_CLI_FOLDER;
        assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
        assert_int_equal(__real_access("one/two", F_OK), more < 0 ? 0 : -1);
    }
}

/* ---- the keeper ------------------------------------------------------------------------------------ */

static int sock = -1;

static void keep(void)
{
    assert_int_equal(__real_lap_sandbox_keep(&sock, &err), LAP_OK);
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
#elif defined(__aarch64__)
    for (int i = 0; i < 4; i++)
        at.uc_mcontext.regs[i] = (unsigned long long)values[i];
#endif
    errno = EXDEV;
    sys.on_refused.sa_sigaction(SIGSYS, &info, &at);
    assert_int_equal(errno, EXDEV);
#if defined(__x86_64__)
    return at.uc_mcontext.gregs[REG_RAX];
#elif defined(__aarch64__)
    return (int64_t)at.uc_mcontext.regs[0];
#else
    skip();
    return 0;
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
    assert_int_equal(sys.unblocked, 1);
    end_keeper();
    assert_int_equal(open_files(), files);
    static const char *const calls[] = {"socketpair", "fork", "atexit", "sigaction", "sigprocmask"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        start();
        sys.call = calls[i], sys.why = EMFILE;
        const lap_code code = __real_lap_sandbox_keep(&sock, &err);
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
    put("file", "x");
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
    assert_int_equal(REFUSED(SYS_fchmod, fifo, NUMBER(0640)), -EPERM);
    assert_int_equal(REFUSED(SYS_fchmod, -1, NUMBER(0640)), -EBADF);
    assert_int_equal(REFUSED(SYS_fchown, both, NUMBER(11), NUMBER(22)), -ENOTTY);
    assert_int_equal(REFUSED(SYS_fchown, in, NUMBER(11), NUMBER(22)), -EPERM);
    assert_int_equal(close(both) | close(in) | close(out) | close(fifo), 0);
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
    put("file", "x");
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
    put("file", "x");
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

/* Messages of code that was taken over: nothing is set, and the keeper goes on. */
static void strange_messages(void **state)
{
    static const char bytes[300];
    struct stat st;
    (void)state;
    put("file", "x");
    assert_int_equal(chmod("file", 0600), 0);
    keep();
    const int file = open("file", O_RDWR | O_CLOEXEC);
    for (size_t size = 1; size < sizeof bytes; size++) {
        const int answer = answer_to(bytes, size, file);
        assert_true(answer == EBADF || answer == 0); /* one size is that of a request: mode 0 */
        assert_int_equal(answer_to(bytes, size, -1), EBADF);
        if (answer == 0) {
            assert_int_equal(fstat(file, &st), 0);
            assert_int_equal(st.st_mode & 0777, 0);
        }
    }
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0);
    assert_int_equal(REFUSED(SYS_fchmod, file, NUMBER(0640)), 0);
    assert_int_equal(close(file), 0);
    end_keeper();
}

/* It keeps no descriptor of others, and is not stopped by signals for the run. */
static void apart_from_the_run(void **state)
{
    int ends[2];
    char byte;
    (void)state;
    put("file", "x");
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
    static const char *const calls[] = {NULL, "limit keeper", "close_range"};
    (void)state;
    put("file", "x");
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
    return make_scratch() && realpath(scratch, folder) && getcwd(before, sizeof before) && chdir(scratch) == 0
               ? 0
               : -1;
}

static int close_scratch(void **state)
{
    return chdir(before) | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    static const struct CMUnitTest tests[] = {TEST(versions_of_landlock), TEST(rights), TEST(restrictions),
#ifdef HERE
        TEST(calls_of_the_run), TEST(arguments_of_calls), TEST(calls_of_the_keeper),
#endif
        TEST(what_command_lines_need), TEST(records_above), TEST(side_files), TEST(lists),
        TEST(rules_that_fail), TEST(entering), TEST(output_folders), TEST(how_it_starts), TEST(modes),
        TEST(times_of_files), TEST(access_lists), TEST(strange_messages), TEST(apart_from_the_run),
        TEST(keepers_that_end)};
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
