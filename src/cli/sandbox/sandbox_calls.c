/* The seccomp filter of the sandbox: a list of allowed system calls. All other calls fail with EPERM,
 * including those of later kernels. The C library then behaves as on an old kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/sandbox/sandbox.h"

#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define HERE AUDIT_ARCH_AARCH64
#else
#define HERE 0
#endif

/* These calls are safe with any arguments: they affect only this process, or name a file, and Landlock checks
 * that. */
static const int allowed[] = {
    SYS_futex,
    SYS_read,
    SYS_write,
    SYS_newfstatat,
    SYS_fstat,
    SYS_fgetxattr,
    SYS_readlinkat,
    SYS_munmap,
    SYS_madvise,
    SYS_brk,
    SYS_mremap,
    SYS_lseek,
    SYS_pread64,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_fsync,
    SYS_fdatasync,
    SYS_syncfs,
    SYS_ftruncate, /* affects only files opened for writing, which the kernel checks */
    SYS_fadvise64,
    SYS_ppoll,
    SYS_pselect6,
    SYS_getdents64,
    SYS_statfs,
    SYS_fstatfs,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_faccessat,
    SYS_getcwd,
    SYS_umask,
    /* Threads, time, and information about the process itself. */
    SYS_set_robust_list,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_gettid,
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_exit,
    SYS_exit_group,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_membarrier,
    SYS_wait4,      /* waits for the keeper */
#ifdef SYS_renameat /* newer architectures lack it */
    SYS_renameat,
#endif
#ifdef SYS_stat /* the older calls of x86-64, some of which the C library uses */
    SYS_stat,
    SYS_lstat,
    SYS_readlink,
    SYS_access,
    SYS_rename,
    SYS_unlink,
    SYS_mkdir,
    SYS_poll,
    SYS_select,
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
};

/* ---- calls whose arguments decide --------------------------------------------------------------------- */

typedef enum check {
    ONE_OF,  /* the argument is one of the values; after the first value, a 0 ends the list */
    NO,      /* the argument is not the first value */
    WITHIN,  /* the argument has only bits of the first value */
    HAS,     /* the argument has a bit of the first value */
    NOT_ALL, /* the argument lacks a bit of the first value */
    IS_NULL  /* the argument is a null pointer; this check reads all 64 bits, the others 32 */
} check;

enum { VALUES = 5 };

/* Rows of the same call are adjacent. The call fails with EPERM unless all of them hold. */
typedef struct bound {
    int call;
    check check;
    int argument;
    unsigned values[VALUES];
} bound;

enum {
#ifdef __x86_64__ /* some C libraries always ask for it, but do not define its name */
    LARGE_FILE = 0100000,
#else
    LARGE_FILE = 0400000,
#endif
    DETACHED = 0x400000, /* no effect, but some C libraries set it */
    /* O_TRUNC is missing, because Landlock before its version 3 allows every file to be emptied. O_ASYNC,
     * O_NOATIME and the bit that distinguishes O_TMPFILE from O_DIRECTORY are missing too. */
    OPEN = O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NONBLOCK | O_NOCTTY | O_DIRECTORY |
           O_NOFOLLOW | O_CLOEXEC | O_PATH | LARGE_FILE,
    BOTH = O_WRONLY | O_RDWR, /* access mode 3; O_ACCMODE of some C libraries has O_PATH too */
    THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
             CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | DETACHED
};

static const bound bounds[] = {
    /* Access mode 3 is forbidden: Landlock checks no right for it, it can open drivers, and its descriptor
     * can be used for leases. */
    {SYS_openat, WITHIN, 2, {OPEN}},
    {SYS_openat, NOT_ALL, 2, {BOTH}},
    {SYS_openat, WITHIN, 3, {0777}}, /* the new mode must not make a program run with its owner's rights */
#ifdef SYS_open
    {SYS_open, WITHIN, 1, {OPEN}},
    {SYS_open, NOT_ALL, 1, {BOTH}},
    {SYS_open, WITHIN, 2, {0777}},
#endif
    /* Forbids changing a descriptor's owner or signal, leases, locks, and flags that other processes
     * share. */
    {SYS_fcntl, ONE_OF, 1, {F_DUPFD_CLOEXEC, F_GETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ}},
    {SYS_ioctl, ONE_OF, 1, {TCGETS, TIOCGWINSZ, FIONREAD}},
    {SYS_fallocate, ONE_OF, 1, {FALLOC_FL_KEEP_SIZE}},
    {SYS_renameat2, WITHIN, 4, {1}}, /* RENAME_NOREPLACE */
    {SYS_linkat, ONE_OF, 4, {0}},    /* links may be made by name, not from a descriptor */
    /* The process can reach only itself. */
    {SYS_clone, HAS, 0, {CLONE_THREAD}},
    {SYS_clone, WITHIN, 0, {THREAD}},
    {SYS_kill, ONE_OF, 1, {0}}, /* signal 0 only tests whether a process exists */
    {SYS_sched_setaffinity, ONE_OF, 0, {0}},
    {SYS_prlimit64, ONE_OF, 0, {0}},
    {SYS_prlimit64, IS_NULL, 2, {0}}, /* limits may be read, not set */
    {SYS_prctl, ONE_OF, 0, {PR_SET_NAME}},
    /* No executable memory. */
    {SYS_mmap, WITHIN, 2, {PROT_READ | PROT_WRITE}},
    {SYS_mprotect, WITHIN, 2, {PROT_READ | PROT_WRITE}},
};

/* ---- the program of a filter -------------------------------------------------------------------------- */

enum { PROGRAM = 1024 };
typedef struct program {
    struct sock_filter at[PROGRAM];
    unsigned short size;
} program;

enum {
    LOAD = BPF_LD | BPF_W | BPF_ABS,
    KEEP_BITS = BPF_ALU | BPF_AND | BPF_K,
    IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
    IF_BITS = BPF_JMP | BPF_JSET | BPF_K,
    IF_ABOVE = BPF_JMP | BPF_JGE | BPF_K,
    RETURN = BPF_RET | BPF_K
};

static void add(program *p, unsigned code, unsigned k, unsigned yes, unsigned no)
{
    if (p->size < PROGRAM) /* always true: the array is large */
        p->at[p->size++] =
            (struct sock_filter){(unsigned short)code, (unsigned char)yes, (unsigned char)no, k};
}
_Static_assert(2 * (sizeof allowed / sizeof *allowed) + 10 * (sizeof bounds / sizeof *bounds + 10) < PROGRAM,
    "room for the filter");

static void add_result(program *p, unsigned action)
{
    add(p, RETURN, action, 0, 0);
}

static unsigned denied(int error)
{
    return SECCOMP_RET_ERRNO | (unsigned)error;
}

/* Continues after its last instruction, or returns EPERM. */
static void add_check(program *p, const bound *b)
{
    /* Both processors are little-endian: the lower half of an argument comes first. */
    const unsigned low = (unsigned)(offsetof(struct seccomp_data, args) + 8 * (size_t)b->argument);
    const unsigned value = b->values[0];
    unsigned count = 1;
    add(p, LOAD, low, 0, 0);
    switch (b->check) {
    case ONE_OF:
        while (count < VALUES && b->values[count])
            count++;
        for (unsigned i = 0; i < count; i++)
            add(p, IF_EQUAL, b->values[i], count - i, 0);
        break;
    case NO:
        add(p, IF_EQUAL, value, 0, 1);
        break;
    case WITHIN:
        add(p, IF_BITS, ~value, 0, 1);
        break;
    case HAS:
        add(p, IF_BITS, value, 1, 0);
        break;
    case NOT_ALL:
        add(p, KEEP_BITS, value, 0, 0);
        add(p, IF_EQUAL, value, 0, 1);
        break;
    case IS_NULL:
        add(p, IF_EQUAL, 0, 0, 2);
        add(p, LOAD, low + 4, 0, 0);
        add(p, IF_EQUAL, 0, 1, 0);
        break;
    }
    add_result(p, denied(EPERM));
}

/* Adds rows; a call that passes its checks ends with this action. */
static void add_bounds(program *p, const bound *rows, size_t count, unsigned action)
{
    for (size_t i = 0; i < count;) {
        const unsigned short head = p->size;
        const int call = rows[i].call;
        add(p, IF_EQUAL, (unsigned)call, 0, 0);
        for (; i < count && rows[i].call == call; i++)
            add_check(p, &rows[i]);
        add_result(p, action);
        p->at[head].jf = (unsigned char)(p->size - head - 1);
    }
}

static void add_allowed(program *p, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, IF_EQUAL, (unsigned)calls[i], 0, 1);
        add_result(p, SECCOMP_RET_ALLOW);
    }
}

static void begin(program *p)
{
    *p = (program){.size = 0};
    add(p, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
    add(p, IF_EQUAL, HERE, 1, 0);
    add_result(p, SECCOMP_RET_KILL_PROCESS);
    add(p, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
#ifdef __x86_64__
    add(p, IF_ABOVE, 0x40000000, 0, 1); /* calls of the x32 interface */
    add_result(p, denied(EPERM));
#endif
}

static lap_code enter(program *p, lap_error *err)
{
    add_result(p, denied(EPERM));
    const struct sock_fprog filter = {.len = p->size, .filter = p->at};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return lap_sandbox_failed(err, LAP_E_BACKEND,
            errno == ENOSYS || errno == EINVAL ? "this kernel has no seccomp" : strerror(errno));
    return LAP_OK;
}

/* ---- two filters -------------------------------------------------------------------------------------- */

/* The calls that are allowed whatever their arguments come last: since version 5.11 the kernel runs no filter
 * for them, because it remembers the answer, so their place costs nothing. */
lap_code lap_sandbox_limit_calls(int keeper, lap_error *err)
{
    const unsigned socket = (unsigned)keeper;
    const bound own[] = {{SYS_tgkill, ONE_OF, 0, {(unsigned)getpid()}}, /* for abort() */
        /* The keeper's socket keeps this number, because nothing else can get it. Nothing is sent to any
         * other socket. */
        {SYS_close, NO, 0, {socket}}, {SYS_sendmsg, ONE_OF, 0, {socket}}};
    static const bound kept[] = {{SYS_fchmod, WITHIN, 1, {0777}}, {SYS_fchown, WITHIN, 1, {~0u}}, /* any */
        {SYS_fsetxattr, ONE_OF, 4, {0}}, {SYS_utimensat, IS_NULL, 1, {0}}, {SYS_utimensat, ONE_OF, 3, {0}}};
    program p;
    if (!HERE)
        return lap_sandbox_failed(err, LAP_E_BACKEND, "supported on x86-64 and aarch64 only");
    begin(&p);
#ifdef SYS_clone3 /* its flags are in memory that a filter cannot read; the C library then uses clone */
    add(&p, IF_EQUAL, SYS_clone3, 0, 1);
    add_result(&p, denied(ENOSYS));
#endif
    add_bounds(&p, bounds, sizeof bounds / sizeof *bounds, SECCOMP_RET_ALLOW);
    add_bounds(&p, own, sizeof own / sizeof *own, SECCOMP_RET_ALLOW);
    if (keeper >= 0)
        add_bounds(&p, kept, sizeof kept / sizeof *kept, SECCOMP_RET_TRAP);
    add_allowed(&p, allowed, sizeof allowed / sizeof *allowed);
    return enter(&p, err);
}

lap_code lap_sandbox_limit_keeper(lap_error *err)
{
    static const int calls[] = {SYS_recvmsg, SYS_sendto, SYS_close, SYS_fchmod, SYS_fchown, SYS_fsetxattr,
        SYS_fstat, SYS_newfstatat, SYS_exit_group, SYS_exit};
    static const bound rows[] = {{SYS_fcntl, ONE_OF, 1, {F_GETFL}}, {SYS_utimensat, IS_NULL, 1, {0}}};
    program p;
    begin(&p);
    add_bounds(&p, rows, sizeof rows / sizeof *rows, SECCOMP_RET_ALLOW);
    add_allowed(&p, calls, sizeof calls / sizeof *calls);
    return enter(&p, err);
}
