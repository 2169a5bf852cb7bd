/* The sandbox's rules: which files a command line may open and how, and which system calls with which
 * arguments. The kernel is that of the test: it records Landlock's rules, and the test interprets the
 * filters. The keeper is real, without its own filter. */
#include "tests/support/said.h"
#include "tests/support/strike.h"

#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "cli/options/args.h"
#include "cli/sandbox/sandbox.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

#if defined(__x86_64__) || defined(__aarch64__)

/* ---- the kernel ------------------------------------------------------------------------------------ */

enum { CREATE = 444, ADD = 445, RESTRICT = 446, CLOSE_RANGE = 436, MOST = 1024 };

static struct {
    const char *call; /* that fails once */
    int after, why;
    long abi;
    uint64_t set[3];
    size_t set_size;
    char rules[6000]; /* "path rights" of each rule in the scratch folder, sorted by time */
    int outside;      /* rules for other places */
    int restricted, no_new_privileges, kept, filters;
    struct sock_filter filter[MOST];
    unsigned filter_size;
    bool keeps; /* lap_sandbox_keep is real */
    int keeper;
    bool has_threads, has_no_proc;
} sys;

static pid_t test_process;
static char here[512]; /* the real path of the scratch folder */

static bool strikes(const char *call)
{
    const bool fails = strike(sys.call, call, &sys.after, sys.why);
    if (fails)
        sys.call = NULL;
    return fails;
}

static long note_rule(const void *rule)
{
    struct __attribute__((packed)) {
        uint64_t allowed;
        int32_t parent;
    } given;
    char link[64], path[600];
    memcpy(&given, rule, sizeof given);
    snprintf(link, sizeof link, "/proc/self/fd/%d", given.parent);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    assert_true(size > 0);
    path[size] = '\0';
    const size_t length = strlen(here);
    if (strncmp(path, here, length) != 0)
        sys.outside++;
    else
        snprintf(sys.rules + strlen(sys.rules), sizeof sys.rules - strlen(sys.rules), "%s %llx\n",
            path[length] ? path + length + 1 : ".", (unsigned long long)given.allowed);
    return strikes("add") ? -1 : 0;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list args;
    long a[4];
    va_start(args, number);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == CREATE && !a[0]) {
        assert_true(a[1] == 0 && a[2] == 1);
        errno = sys.why;
        return sys.abi;
    }
    if (number == CREATE) {
        assert_int_equal(a[2], 0);
        sys.set_size = (size_t)a[1];
        memcpy(sys.set, (const void *)a[0], sizeof sys.set);
        return strikes("create") ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (number == ADD) {
        assert_true(a[1] == 1 && a[3] == 0);
        return note_rule((const void *)a[2]);
    }
    if (number == RESTRICT) {
        assert_int_equal(a[1], 0);
        sys.restricted++;
        return strikes("restrict") ? -1 : 0;
    }
    if (number == SYS_seccomp) {
        const struct sock_fprog *program = (const void *)a[2];
        assert_true(a[0] == SECCOMP_SET_MODE_FILTER && a[1] == SECCOMP_FILTER_FLAG_TSYNC);
        assert_true(program->len <= MOST);
        memcpy(sys.filter, program->filter, program->len * sizeof *sys.filter);
        sys.filter_size = program->len;
        sys.filters++;
        return strikes("seccomp") ? -1 : 0;
    }
    assert_int_equal(number, CLOSE_RANGE);
    return __real_syscall(number, a[0], a[1], a[2]);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
    return strikes("fstat") ? -1 : __real_fstat(fd, st);
}

int __wrap_prctl(int what, ...);
int __wrap_prctl(int what, ...)
{
    va_list args;
    va_start(args, what);
    const long value = va_arg(args, int);
    va_end(args);
    assert_true(what == PR_SET_NO_NEW_PRIVS && value == 1);
    sys.no_new_privileges++;
    return strikes("prctl") ? -1 : 0;
}

lap_code __real_lap_sandbox_keep(int *sock, lap_error *err);
lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err);
lap_code __wrap_lap_sandbox_keep(int *sock, lap_error *err)
{
    assert_int_equal(*sock, -1);
    sys.kept++;
    *sock = 9;
    return strikes("keep") ? lap_sandbox_failed(err, LAP_E_BACKEND, "no keeper") : LAP_OK;
}

/* The keeper's child; the test itself must never end so. */
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap__exit(int code)
{
    __real__exit(getpid() == test_process ? 99 : code);
}

int __wrap_fchown(int fd, uid_t user, gid_t group);
int __wrap_fchown(int fd, uid_t user, gid_t group)
{
    assert_true(fd >= 0);
    errno = user == 1234 && group == 5678 ? EXDEV : EIO;
    return user == 1 && group == 2 ? 0 : -1;
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    if (strcmp(path, "/proc/self/task") != 0)
        return __real_opendir(path);
    return sys.has_no_proc ? NULL : __real_opendir(sys.has_threads ? at("two") : at("one"));
}

static lap_cli cli;
static char *operands[4];

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sys.abi = 6;
    memset(&cli, 0, sizeof cli);
    cli.settings = lap_settings_default();
    cli.settings.max_memory = 0;
    cli.command = &lap_cli_commands[LAP_COMMAND_RUN];
    cli.forms = LAP_CLI_ONE;
    cli.operands = operands;
    cli.operand_count = 2;
    operands[0] = "in/a.jpg";
    operands[1] = "out/b.jpg";
    empty_scratch();
    if (!realpath(scratch, here) || chdir(scratch) != 0)
        return -1;
    for (const char *const *each =
             (const char *const[]){"in", "in/sub", "out", "one", "one/1", "two", "two/1", "two/2", NULL};
         *each; each++)
        if (mkdir(*each, 0700) != 0)
            return -1;
    put("in/a.jpg", "x");
    put("in/b.jpg", "x");
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------------- */

static const char *rules_of(lap_code want)
{
    lap_error err = {0};
    sys.rules[0] = '\0';
    sys.outside = sys.restricted = sys.kept = sys.filters = 0;
    const int files = open_files();
    const lap_code code = lap_cli_sandbox(&cli, &err);
    static bool has_self; /* the first time leaves one descriptor open */
    assert_true(open_files() - files <= !has_self || open_files() - files == 1);
    has_self = true;
    assert_int_equal(code, want);
    assert_int_equal(err.code, want);
    if (code == LAP_OK)
        assert_true(sys.restricted == 1 && sys.filters == 1);
    return sys.rules;
}

/* Reading a file: 4; a folder: c. Writing a file: 4002; a folder: 41ae. */
static void operands_of_runs(void **state)
{
    (void)state;
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\nout 41ae\n");
    assert_true(sys.outside >= 3 && sys.kept == 1 && sys.no_new_privileges == 1);
    assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "");
    cli.dry_run = true;
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\n");
    assert_int_equal(sys.kept, 0);
    cli.dry_run = false;
    operands[0] = operands[1] = "-";
    assert_text(rules_of(LAP_OK), "");
    assert_int_equal(sys.kept, 0);
    operands[0] = "none/a.jpg"; /* opening it will say so */
    operands[1] = "none/b.jpg";
    assert_text(rules_of(LAP_OK), "");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    operands[1] = "pipe";
    assert_text(rules_of(LAP_OK), "pipe 4002\n");
    put("out/b.jpg", "x");
    assert_int_equal(symlink("out/b.jpg", "link"), 0);
    operands[1] = "link"; /* the output is written beside the target */
    assert_text(rules_of(LAP_OK), "out 41ae\n");
    /* What else a command line names. */
    begin(NULL);
    put("kernel", "1");
    put("weights", "1");
    cli.kernel = "kernel";
    cli.weights = "weights";
    cli.stats = "in/stats";
    cli.report = "out/page";
    cli.trace = "-";
    cli.json_file = "in/sub/o.json";
    cli.heatmap = "out/map";
    assert_text(rules_of(LAP_OK),
        "in/a.jpg 4\nout 41ae\nkernel 4\nweights 4\nin/sub 41ae\nin 41ae\nout 41ae\nout 41ae\n");
    cli.command = &lap_cli_commands[LAP_COMMAND_DIFF]; /* all operands are inputs */
    cli.forms = LAP_CLI_DIFF;
    cli.kernel = cli.weights = cli.stats = cli.report = cli.json_file = cli.heatmap = NULL;
    operands[1] = "in/b.jpg";
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\nin/b.jpg 4\n");
    cli.command = NULL;
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\nin/b.jpg 4\n");
}

static void operands_of_folders(void **state)
{
    (void)state;
    cli.forms = LAP_CLI_FOLDER;
    operands[0] = "in";
    operands[1] = "in/b.jpg";
    operands[2] = "new/deep//out/";
    cli.operand_count = 3;
    cli.dry_run = true;
    assert_text(rules_of(LAP_OK), "in c\nin/b.jpg 4\n");
    assert_int_equal(access("new", F_OK), -1);
    cli.dry_run = false;
    assert_text(rules_of(LAP_OK), "in c\nin/b.jpg 4\nnew/deep/out 41ae\n");
    cli.dry_run = true;
    assert_text(rules_of(LAP_OK), "in c\nin/b.jpg 4\nnew/deep/out c\n");
    /* Records in the folders on the way up. */
    cli.dry_run = false;
    put("in/.lapedge-in-place.jsonl", "");
    assert_int_equal(mkdir("new/.lapedge", 0700) | mkdir("new/deep/out/.lapedge", 0700), 0);
    assert_text(rules_of(LAP_OK),
        "in c\nin/.lapedge-in-place.jsonl 4\nin/b.jpg 4\nin/.lapedge-in-place.jsonl 4\n"
        "new/deep/out/.lapedge c\nnew/.lapedge c\nnew/deep/out 41ae\n");
    cli.command = &lap_cli_commands[LAP_COMMAND_TRANSFORM]; /* inputs of transform have no records */
    cli.forms = LAP_CLI_TRANSFORM_FOLDER;
    assert_text(
        rules_of(LAP_OK), "in c\nin/b.jpg 4\nnew/deep/out/.lapedge c\nnew/.lapedge c\nnew/deep/out 41ae\n");
    /* An output folder that cannot be made is the run's to report. */
    operands[2] = "in/a.jpg/out";
    assert_text(rules_of(LAP_OK), "in c\nin/b.jpg 4\n");
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    operands[2] = name; /* too long a name */
    lap_error err = {0};
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_WRITE);
    assert_int_equal(strlen(err.subject), 200);
    assert_string_equal(err.message, "File name too long");
    char path[5000];
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 100 ? 'p' : '/';
    path[0] = 'p';
    path[sizeof path - 1] = '\0';
    operands[2] = path;
    assert_text(rules_of(LAP_OK), "in c\nin/b.jpg 4\n");
}

static void in_place(void **state)
{
    (void)state;
    cli.forms = LAP_CLI_IN_PLACE;
    cli.in_place = true;
    operands[1] = "in/sub/../b.jpg";
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\nin 41ae\nin/b.jpg 4\nin 41ae\n");
    cli.dry_run = true;
    assert_text(rules_of(LAP_OK), "in/a.jpg 4\nin c\nin/b.jpg 4\nin c\n");
    /* A list, read twice. */
    cli.operand_count = 0;
    cli.files_from = "list";
    put("list", "in/a.jpg\n\n-\nin/b.jpg");
    put("-", "x");
    assert_text(rules_of(LAP_OK), "list 4\nin/a.jpg 4\nin c\n- 4\n. c\nin/b.jpg 4\nin c\n");
    FILE *list = fopen("list", "w");
    assert_non_null(list);
    fwrite("in/a.jpg\0in/b.jpg\0x\ny", 1, 21, list);
    fclose(list);
    cli.null_separated = true;
    assert_text(rules_of(LAP_OK), "list 4\nin/a.jpg 4\nin c\nin/b.jpg 4\nin c\n. c\n");
    /* Each name takes 2 KB of the kernel's memory. */
    put("list", "in/a.jpg\nin/b.jpg");
    cli.null_separated = false;
    cli.settings.max_memory = 4096;
    assert_text(rules_of(LAP_OK), "list 4\nin/a.jpg 4\nin c\nin/b.jpg 4\nin c\n");
    cli.settings.max_memory = 4095;
    rules_of(LAP_E_LIMIT);
    cli.settings.max_memory = 0;
    char name[5000]; /* too long a name is left out */
    memset(name, 'n', sizeof name);
    for (int size = 4094; size < 4098; size++) {
        list = fopen("list", "w");
        assert_non_null(list);
        fwrite(name, 1, (size_t)size, list);
        fputs("\nin/a.jpg\n", list);
        fclose(list);
        assert_text(
            rules_of(LAP_OK), size < 4096 ? "list 4\n. c\nin/a.jpg 4\nin c\n" : "list 4\nin/a.jpg 4\nin c\n");
    }
    lap_error err;
    cli.files_from = "-";
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "--files-from has to name a file: the list is read twice");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    const int keep_open = open("pipe", O_RDWR | O_CLOEXEC);
    cli.files_from = "pipe";
    rules_of(LAP_E_USAGE);
    assert_int_equal(close(keep_open), 0);
    cli.files_from = "none"; /* the run will say that it is missing */
    assert_text(rules_of(LAP_OK), "");
}

/* Rights of each version of Landlock, and what cannot be restricted. */
static void versions(void **state)
{
    (void)state;
    for (sys.abi = 1; sys.abi < 8; sys.abi++) {
        const long abi = sys.abi;
        assert_text(rules_of(LAP_OK), abi < 3 ? "in/a.jpg 4\nout 1ae\n" : "in/a.jpg 4\nout 41ae\n");
        assert_int_equal(sys.set_size, 24);
        assert_int_equal(
            sys.set[0], 0x1fff | (abi > 1 ? 0x2000 : 0) | (abi > 2 ? 0x4000 : 0) | (abi > 4 ? 0x8000 : 0));
        assert_int_equal(sys.set[1], abi > 3 ? 3 : 0);
        assert_int_equal(sys.set[2], abi > 5 ? 3 : 0);
    }
    static const struct {
        const char *call;
        int after, why;
        lap_code code;
        const char *message;
    } cases[] = {{"create", 0, EMFILE, LAP_E_BACKEND, "Too many open files"}, {"add", 0, EBADFD, LAP_OK, ""},
        {"add", 0, ENOMEM, LAP_E_BACKEND, "Cannot allocate memory"},
        {"prctl", 0, EPERM, LAP_E_BACKEND, "Operation not permitted"},
        {"restrict", 0, E2BIG, LAP_E_BACKEND, "Argument list too long"},
        {"keep", 0, 0, LAP_E_BACKEND, "no keeper"},
        {"seccomp", 0, EACCES, LAP_E_BACKEND, "Permission denied"},
        {"seccomp", 0, EINVAL, LAP_E_BACKEND, "this kernel has no seccomp"},
        {"seccomp", 0, ENOSYS, LAP_E_BACKEND, "this kernel has no seccomp"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_error err = {0};
        begin(NULL);
        sys.call = cases[i].call;
        sys.after = cases[i].after;
        sys.why = cases[i].why;
        assert_int_equal(lap_cli_sandbox(&cli, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.subject, cases[i].code ? "--sandbox" : "");
    }
    for (int i = 0; i < 3; i++) {
        lap_error err = {0};
        begin(NULL);
        sys.abi = i == 2 ? 0 : -1;
        sys.why = i == 1 ? EOPNOTSUPP : ENOSYS;
        assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_BACKEND);
        assert_string_equal(err.message, i == 1 ? "Landlock was switched off when this machine started"
                                                : "this kernel has no Landlock; Linux has it from 5.13");
    }
    lap_error err = {0};
    begin(NULL);
    sys.has_threads = true;
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_BACKEND);
    assert_string_equal(err.message, "threads are already running");
    assert_int_equal(sys.restricted + sys.filters, 0);
    sys.has_no_proc = true;
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
    /* What cannot be examined is left out; its descriptor is closed. */
    begin(NULL);
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
    const int outside = sys.outside, files_before = open_files();
    begin(NULL);
    sys.call = "fstat";
    assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_OK);
    assert_int_equal(sys.outside, outside - 1);
    assert_int_equal(open_files(), files_before + 1); /* the one that stays open */
    /* An error on the way ends it before anything is restricted. */
    for (int after = 0; after < 3; after++) {
        begin(NULL);
        cli.kernel = "in/b.jpg";
        sys.call = "add";
        sys.after = after;
        sys.why = ENOMEM;
        const int files = open_files();
        assert_int_equal(lap_cli_sandbox(&cli, &err), LAP_E_BACKEND);
        assert_true(open_files() - files <= 1);
        assert_int_equal(sys.restricted + sys.filters, 0);
    }
}

/* ---- calls ----------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { ARCH = AUDIT_ARCH_X86_64, LARGE_FILE = 0100000 };
#else
enum { ARCH = AUDIT_ARCH_AARCH64, LARGE_FILE = 0400000 };
#endif

/* What the last filter does with a call. */
static unsigned verdict(unsigned arch, long call, const uint64_t args[6])
{
    struct seccomp_data data = {.nr = (int)call, .arch = arch};
    unsigned value = 0, at_most = 0;
    memcpy(data.args, args, sizeof data.args);
    for (unsigned i = 0; i < sys.filter_size; i++) {
        const struct sock_filter *f = &sys.filter[i];
        assert_true(at_most++ < MOST);
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(f->k + 4 <= sizeof data);
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

enum { NO = SECCOMP_RET_ERRNO | 1 /* EPERM */ };

static const int always[] = {
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
    SYS_ftruncate,
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
    SYS_wait4,
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_stat
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

enum { BITS, VALUES, ZERO };

typedef struct bounded { /* an argument of a call, and which of its values pass; `base` are arguments that
                            pass */
    long call;
    int argument, how;
    unsigned values[5]; /* BITS: the mask */
    int count;
    uint64_t base[6];
    unsigned action;
} bounded;

enum {
    OPEN = O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NONBLOCK | O_NOCTTY | O_DIRECTORY |
           O_NOFOLLOW | O_CLOEXEC | O_PATH | LARGE_FILE,
    THREAD = 0x100 | 0x200 | 0x400 | 0x40000 | 0x800 | 0x10000 | 0x80000 | 0x100000 | 0x200000 | 0x400000
};

static bool passes(const bounded *b, uint64_t value)
{
    if (b->how == ZERO)
        return value == 0;
    if (b->how == BITS)
        return !((unsigned)value & ~b->values[0]);
    for (int i = 0; i < b->count; i++)
        if ((unsigned)value == b->values[i])
            return true;
    return false;
}

static void check_bound(const bounded *b)
{
    for (int i = -6; i < 64; i++) {
        uint64_t args[6], value = i >= 0 ? UINT64_C(1) << i : i == -6 ? ~UINT64_C(0) : 0;
        if (i < 0 && i > -6)
            value = b->how == BITS ? b->values[0] : b->values[5 + i];
        for (int step = 0; step < 3; step++, value++) {
            if (b->call == SYS_openat || b->call == 2)
                if (b->argument != 3 && (value & 3) == 3)
                    continue; /* both accesses: tested apart */
            memcpy(args, b->base, sizeof args);
            args[b->argument] = value;
            assert_int_equal(verdict(ARCH, b->call, args), passes(b, value) ? b->action : NO);
        }
    }
}

static const bounded bounds[] = {{SYS_openat, 2, BITS, {OPEN}, 0, {0}, SECCOMP_RET_ALLOW},
    {SYS_openat, 3, BITS, {0777}, 0, {0}, SECCOMP_RET_ALLOW},
#ifdef SYS_open
    {SYS_open, 1, BITS, {OPEN}, 0, {0}, SECCOMP_RET_ALLOW},
    {SYS_open, 2, BITS, {0777}, 0, {0}, SECCOMP_RET_ALLOW},
#endif
    {SYS_fcntl, 1, VALUES, {F_DUPFD_CLOEXEC, F_GETFL, F_GETFD, F_SETFD, F_GETPIPE_SZ}, 5, {0, F_GETFL},
        SECCOMP_RET_ALLOW},
    {SYS_ioctl, 1, VALUES, {0x5401, 0x5413, 0x541b}, 3, {0}, SECCOMP_RET_ALLOW},
    {SYS_fallocate, 1, VALUES, {1}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_renameat2, 4, BITS, {1}, 0, {0}, SECCOMP_RET_ALLOW},
    {SYS_linkat, 4, VALUES, {0}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_kill, 1, VALUES, {0}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_sched_setaffinity, 0, VALUES, {0}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_prlimit64, 0, VALUES, {0}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_prlimit64, 2, ZERO, {0}, 0, {0}, SECCOMP_RET_ALLOW},
    {SYS_prctl, 0, VALUES, {15}, 1, {0}, SECCOMP_RET_ALLOW},
    {SYS_mmap, 2, BITS, {3}, 0, {0}, SECCOMP_RET_ALLOW},
    {SYS_mprotect, 2, BITS, {3}, 0, {0}, SECCOMP_RET_ALLOW}};

static const bounded kept_bounds[] = {{SYS_fchmod, 1, BITS, {0777}, 0, {0}, SECCOMP_RET_TRAP},
    {SYS_fchown, 1, BITS, {~0u}, 0, {0}, SECCOMP_RET_TRAP},
    {SYS_fsetxattr, 4, VALUES, {0}, 1, {0}, SECCOMP_RET_TRAP},
    {SYS_utimensat, 1, ZERO, {0}, 0, {0}, SECCOMP_RET_TRAP},
    {SYS_utimensat, 3, VALUES, {0}, 1, {0}, SECCOMP_RET_TRAP}};

static bool is_among(const int *calls, size_t count, long call)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i] == call)
            return true;
    return false;
}

static bool has_bounds(long call)
{
    for (size_t i = 0; i < COUNT(bounds); i++)
        if (bounds[i].call == call)
            return true;
    for (size_t i = 0; i < COUNT(kept_bounds); i++)
        if (kept_bounds[i].call == call)
            return true;
    return call == SYS_clone || call == SYS_tgkill || call == SYS_close || call == SYS_sendmsg;
}

static void calls(void **state)
{
    static const uint64_t zeros[6] = {0};
    lap_error err = {0};
    (void)state;
    for (int keeper = -1; keeper < 10; keeper += 10) {
        assert_int_equal(lap_sandbox_limit_calls(keeper, &err), LAP_OK);
        for (long call = 0; call < 1000; call++) {
            const bool is_allowed = is_among(always, COUNT(always), call);
            if (has_bounds(call))
                continue;
            unsigned want = is_allowed ? SECCOMP_RET_ALLOW : NO;
#ifdef SYS_clone3
            want = call == SYS_clone3 ? SECCOMP_RET_ERRNO | ENOSYS : want;
#endif
            assert_int_equal(verdict(ARCH, call, zeros), want);
            assert_int_equal(verdict(ARCH ^ 1, call, zeros), SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
            assert_int_equal(verdict(ARCH, call | 0x40000000, zeros), NO);
#endif
        }
        for (size_t i = 0; i < COUNT(bounds); i++)
            check_bound(&bounds[i]);
        for (int flags = 0; flags < 4; flags++) { /* writing only and reading and writing at once */
            assert_int_equal(verdict(ARCH, SYS_openat, (uint64_t[6]){0, 0, (uint64_t)flags}),
                flags == 3 ? NO : SECCOMP_RET_ALLOW);
#ifdef SYS_open
            assert_int_equal(verdict(ARCH, SYS_open, (uint64_t[6]){0, (uint64_t)flags}),
                flags == 3 ? NO : SECCOMP_RET_ALLOW);
#endif
        }
        for (int bit = -1; bit < 32; bit++) {
            const unsigned one = bit < 0 ? 0 : 1u << bit;
            assert_int_equal(verdict(ARCH, SYS_clone, (uint64_t[6]){0x10000 | one}),
                one & ~(unsigned)THREAD ? NO : SECCOMP_RET_ALLOW);
            assert_int_equal(
                verdict(ARCH, SYS_clone, (uint64_t[6]){one}), one == 0x10000 ? SECCOMP_RET_ALLOW : NO);
        }
        for (long id = -1; id < 2; id++)
            assert_int_equal(verdict(ARCH, SYS_tgkill, (uint64_t[6]){(uint64_t)(getpid() + id)}),
                id ? NO : SECCOMP_RET_ALLOW);
        for (int fd = 0; fd < 20; fd++) {
            assert_int_equal(
                verdict(ARCH, SYS_close, (uint64_t[6]){(uint64_t)fd}), fd == keeper ? NO : SECCOMP_RET_ALLOW);
            assert_int_equal(verdict(ARCH, SYS_sendmsg, (uint64_t[6]){(uint64_t)fd}),
                fd == keeper ? SECCOMP_RET_ALLOW : NO);
        }
        for (size_t i = 0; i < COUNT(kept_bounds); i++)
            if (keeper >= 0)
                check_bound(&kept_bounds[i]);
            else
                assert_int_equal(verdict(ARCH, kept_bounds[i].call, zeros), NO);
    }
    /* The keeper has fewer. */
    static const int of_keeper[] = {SYS_recvmsg, SYS_sendto, SYS_close, SYS_fchmod, SYS_fchown, SYS_fsetxattr,
        SYS_fstat, SYS_newfstatat, SYS_exit_group, SYS_exit};
    static const bounded keeper_bounds[] = {{SYS_fcntl, 1, VALUES, {F_GETFL}, 1, {0}, SECCOMP_RET_ALLOW},
        {SYS_utimensat, 1, ZERO, {0}, 0, {0}, SECCOMP_RET_ALLOW}};
    assert_int_equal(lap_sandbox_limit_keeper(&err), LAP_OK);
    for (long call = 0; call < 1000; call++)
        if (call != SYS_fcntl && call != SYS_utimensat)
            assert_int_equal(verdict(ARCH, call, zeros),
                is_among(of_keeper, COUNT(of_keeper), call) ? SECCOMP_RET_ALLOW : NO);
    for (size_t i = 0; i < COUNT(keeper_bounds); i++)
        check_bound(&keeper_bounds[i]);
}

/* ---- the keeper ------------------------------------------------------------------------------------ */

/* Calls the handler of a refused call; returns what the call would. */
static long refused(long call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct sigaction action;
    siginfo_t info;
    ucontext_t context;
    memset(&info, 0, sizeof info);
    memset(&context, 0, sizeof context);
    assert_int_equal(sigaction(SIGSYS, NULL, &action), 0);
    assert_true(action.sa_flags & SA_SIGINFO);
    info.si_syscall = (int)call;
    errno = 77;
#if defined(__x86_64__)
    greg_t *registers = context.uc_mcontext.gregs;
    registers[REG_RDI] = (greg_t)a, registers[REG_RSI] = (greg_t)b, registers[REG_RDX] = (greg_t)c;
    registers[REG_R10] = (greg_t)d;
    action.sa_sigaction(SIGSYS, &info, &context);
    assert_int_equal(errno, 77);
    return registers[REG_RAX];
#else
    context.uc_mcontext.regs[0] = a, context.uc_mcontext.regs[1] = b, context.uc_mcontext.regs[2] = c;
    context.uc_mcontext.regs[3] = d;
    action.sa_sigaction(SIGSYS, &info, &context);
    assert_int_equal(errno, 77);
    return (long)context.uc_mcontext.regs[0];
#endif
}

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

/* Sends the keeper a request as untrusted code could; returns its answer. */
static int answer_to(int sock, int fd, size_t bytes, size_t list)
{
    struct {
        int call, now;
        mode_t mode;
        uid_t user;
        gid_t group;
        struct timespec times[2];
        size_t size;
        char list[8];
    } r = {.call = SYS_fchmod, .mode = 0600, .size = list};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } p = {.head = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {&r, bytes ? bytes : offsetof(__typeof__(r), list)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int answer = -1;
    memcpy(CMSG_DATA(&p.head), &fd, sizeof fd);
    if (fd >= 0) {
        message.msg_control = p.room;
        message.msg_controllen = CMSG_LEN(sizeof fd);
    }
    assert_true(sendmsg(sock, &message, 0) > 0);
    assert_int_equal(read(sock, &answer, sizeof answer), sizeof answer);
    return answer;
}

static void keeps(void **state)
{
    lap_error err = {0};
    struct stat st;
    int sock = -1, pipe_ends[2];
    (void)state;
    if (getenv("EMULATOR"))
        skip();
    fflush(NULL);
    sigset_t blocked, after;
    struct sigaction action;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGSYS);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
    assert_int_equal(__real_lap_sandbox_keep(&sock, &err), LAP_OK);
    assert_int_equal(getpid(), test_process);
    assert_true(sock >= 0);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &blocked, &after), 0);
    assert_true(sigismember(&after, SIGUSR1) == 1 && sigismember(&after, SIGSYS) == 0);
    assert_int_equal(sigaction(SIGSYS, NULL, &action), 0);
    assert_true(sigismember(&action.sa_mask, SIGINT) == 1 && sigismember(&action.sa_mask, SIGTERM) == 1);
    const int writes = open("in/a.jpg", O_WRONLY | O_CLOEXEC), both = open("in/a.jpg", O_RDWR | O_CLOEXEC);
    const int reads = open("in/a.jpg", O_RDONLY | O_CLOEXEC);
    assert_true(writes >= 0 && both >= 0 && reads >= 0 && pipe2(pipe_ends, O_CLOEXEC) == 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(refused(SYS_fchmod, (uint64_t)writes, 04751, 0, 0), 0);
        assert_int_equal(fstat(writes, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0751);
        assert_int_equal(refused(SYS_fchmod, (uint64_t)both, 0640, 0, 0), 0);
        assert_int_equal(fstat(writes, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(refused(SYS_fchmod, (uint64_t)reads, 0600, 0, 0), -EPERM);
        assert_int_equal(refused(SYS_fchmod, (uint64_t)pipe_ends[1], 0600, 0, 0), -EPERM);
        assert_int_equal(refused(SYS_fchmod, 999, 0600, 0, 0), -EBADF);
        assert_int_equal(fstat(writes, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        const struct timespec times[] = {{1000000000, 5000}, {1100000000, 7000}};
        assert_int_equal(refused(SYS_utimensat, (uint64_t)writes, 0, address(times), 0), 0);
        assert_int_equal(fstat(writes, &st), 0);
        assert_true(st.st_atim.tv_sec == 1000000000 && st.st_mtim.tv_sec == 1100000000);
        assert_int_equal(refused(SYS_utimensat, (uint64_t)writes, 0, 0, 0), 0);
        assert_int_equal(fstat(writes, &st), 0);
        assert_true(st.st_mtim.tv_sec > 1100000000);
        assert_int_equal(refused(SYS_fchown, (uint64_t)writes, 1, 2, 0), 0);
        assert_int_equal(refused(SYS_fchown, (uint64_t)writes, 1234, 5678, 0), -EXDEV);
        assert_int_equal(refused(SYS_fchown, (uint64_t)reads, 1, 2, 0), -EPERM);
        assert_int_equal(
            refused(SYS_fsetxattr, (uint64_t)writes, address("user.any"), address("x"), 1), -EPERM);
        /* Bytes that are no access control list: the keeper refuses them, whatever the file system answers.
         */
        assert_true(refused(SYS_fsetxattr, (uint64_t)writes, address("system.posix_acl_access"),
                        address("xyz"), 3) < 0);
        /* Requests that are too short, of another length than they say, or without a descriptor. */
        assert_int_equal(answer_to(sock, both, 0, 0), 0);
        assert_int_equal(refused(SYS_fchmod, (uint64_t)both, 0640, 0, 0), 0);
        const size_t whole = 6 * sizeof(int) + 2 * sizeof(struct timespec) + sizeof(size_t);
        assert_int_equal(answer_to(sock, both, 4, 0), EBADF);
        assert_int_equal(answer_to(sock, both, whole - 1, (size_t)-1), EBADF);
        assert_int_equal(answer_to(sock, both, 0, 1), EBADF);
        assert_int_equal(answer_to(sock, both, whole + 1, 0), EBADF);
        assert_int_equal(answer_to(sock, -1, 0, 0), EBADF);
        assert_int_equal(fstat(both, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(answer_to(sock, both, whole + 3, 3), 0);
        assert_int_equal(
            refused(SYS_fsetxattr, (uint64_t)reads, address("system.posix_acl_access"), address("xyz"), 3),
            -EPERM);
    }
    assert_int_equal(
        close(writes) | close(both) | close(reads) | close(pipe_ends[0]) | close(pipe_ends[1]), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(operands_of_runs), TEST(operands_of_folders),
        TEST(in_place), TEST(versions), TEST(calls), TEST(keeps)};
    test_process = getpid();
    if (!make_scratch() || !said_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed | said_close() | remove_scratch(NULL);
}

#else /* there is no filter for this processor */

static void nothing(void **state)
{
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
