/* The system calls of a run in the sandbox, as a seccomp filter: a list of what is allowed. What is not on it
 * fails with EPERM, also what later kernels bring. The C library takes that for an old kernel. */
#include <errno.h>
#include <linux/audit.h>
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

#include "cli/sandbox.h"

#if defined(__x86_64__)
#define HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define HERE AUDIT_ARCH_AARCH64
#else
#define HERE 0
#endif

/* Files are Landlock's affair: here they only need to be opened, read, written and named. chmod, chown, and
 * what sets times or attributes by name are not here: Landlock would let them through. */
static const int allowed[] = {
    /* often first: newer kernels look these up in a table, older ones walk the list */
    SYS_futex,
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_openat,
    SYS_newfstatat,
    SYS_fstat,
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
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_fchmod,
    SYS_fcntl,
    SYS_flock,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_ppoll,
    SYS_pselect6,
    SYS_getdents64,
    SYS_statfs,
    SYS_fstatfs,
    SYS_renameat2,
    SYS_linkat,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_faccessat,
    SYS_getcwd,
    SYS_umask,
    SYS_sendfile,
    SYS_copy_file_range,
    /* threads, time, oneself */
    SYS_set_robust_list,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
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
#ifdef SYS_renameat /* missing on the newest processors */
    SYS_renameat,
#endif
#ifdef SYS_open /* x86-64 has the older ones, too, and the C library uses some of them */
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_readlink,
    SYS_access,
    SYS_rename,
    SYS_link,
    SYS_unlink,
    SYS_mkdir,
    SYS_poll,
    SYS_select,
    SYS_dup2,
    SYS_pipe,
    SYS_time,
    SYS_getdents,
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
#ifdef SYS_close_range
    SYS_close_range,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
};

/* Of some calls one argument decides: its lower half, as these arguments are ints; pointers whole. */
typedef enum check { EQUALS, IS_NULL, HAS, HAS_NOT } check;
typedef struct bounded_call {
    int call, argument;
    check check;
    unsigned value;
} bounded_call;

enum { PROGRAM = 512 };
typedef struct program {
    struct sock_filter at[PROGRAM];
    unsigned short size;
} program;

static void add(program *p, unsigned code, unsigned k, unsigned yes, unsigned no)
{
    if (p->size < PROGRAM) /* there is room by far; _Static_assert below */
        p->at[p->size++] =
            (struct sock_filter){(unsigned short)code, (unsigned char)yes, (unsigned char)no, k};
}
_Static_assert(sizeof allowed / sizeof *allowed <= (PROGRAM - 200) / 2, "room for the filter");

enum {
    LOAD = BPF_LD | BPF_W | BPF_ABS,
    IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
    IF_BITS = BPF_JMP | BPF_JSET | BPF_K,
    IF_ABOVE = BPF_JMP | BPF_JGE | BPF_K,
    RETURN = BPF_RET | BPF_K
};

static void add_result(program *p, unsigned action)
{
    add(p, RETURN, action, 0, 0);
}

static unsigned denied(int error)
{
    return SECCOMP_RET_ERRNO | (unsigned)error;
}

/* Both processors are little-endian: the lower half of an argument comes first. */
static void add_bounded(program *p, const bounded_call *b)
{
    const unsigned low = (unsigned)(offsetof(struct seccomp_data, args) + 8 * (size_t)b->argument);
    add(p, IF_EQUAL, (unsigned)b->call, 0, b->check == IS_NULL ? 6 : 4);
    add(p, LOAD, low, 0, 0);
    if (b->check == IS_NULL) {
        add(p, IF_EQUAL, 0, 0, 2);
        add(p, LOAD, low + 4, 0, 0);
        add(p, IF_EQUAL, 0, 1, 0);
    } else
        add(p, b->check == EQUALS ? IF_EQUAL : IF_BITS, b->value, b->check != HAS_NOT, b->check == HAS_NOT);
    add_result(p, denied(EPERM));
    add_result(p, SECCOMP_RET_ALLOW);
    add(p, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
}

static void build(program *p)
{
    const bounded_call bounded[] = {{SYS_clone, 0, HAS, CLONE_THREAD}, /* threads, no processes */
        {SYS_mmap, 2, HAS_NOT, PROT_EXEC},                             /* no memory that runs */
        {SYS_mprotect, 2, HAS_NOT, PROT_EXEC}, {SYS_tgkill, 0, EQUALS, (unsigned)getpid()}, /* abort() */
        {SYS_kill, 1, EQUALS, 0},       /* whether a process is there */
        {SYS_prlimit64, 2, IS_NULL, 0}, /* limits are read, not set */
        {SYS_utimensat, 1, IS_NULL, 0}, /* times of an open file, not by name */
        {SYS_prctl, 0, EQUALS, PR_SET_NAME}};
    static const unsigned long terminal[] = {TCGETS, TIOCGWINSZ, FIONREAD};
    add(p, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
    add(p, IF_EQUAL, HERE, 1, 0);
    add_result(p, SECCOMP_RET_KILL_PROCESS);
    add(p, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
#ifdef __x86_64__
    add(p, IF_ABOVE, 0x40000000, 0, 1); /* calls of the x32 interface */
    add_result(p, denied(EPERM));
#endif
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        add(p, IF_EQUAL, (unsigned)allowed[i], 0, 1);
        add_result(p, SECCOMP_RET_ALLOW);
    }
#ifdef SYS_clone3 /* its flags lie in memory, where a filter cannot look: the C library then takes clone */
    add(p, IF_EQUAL, SYS_clone3, 0, 1);
    add_result(p, denied(ENOSYS));
#endif
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++)
        add_bounded(p, &bounded[i]);
    add(p, IF_EQUAL, SYS_ioctl, 0, 4);
    add(p, LOAD, offsetof(struct seccomp_data, args) + 8, 0, 0);
    for (unsigned i = 0; i < 3; i++)
        add(p, IF_EQUAL, (unsigned)terminal[i], 3 - i, 0);
    add_result(p, denied(EPERM));
    add_result(p, SECCOMP_RET_ALLOW);
}

lap_code lap_sandbox_limit_calls(lap_error *err)
{
    program p = {.size = 0};
    if (!HERE)
        return lap_sandbox_failed(err, LAP_E_BACKEND, "not written for this processor");
    build(&p);
    const struct sock_fprog filter = {.len = p.size, .filter = p.at};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return lap_sandbox_failed(err, LAP_E_BACKEND,
            errno == ENOSYS || errno == EINVAL ? "this kernel has no seccomp" : strerror(errno));
    return LAP_OK;
}
