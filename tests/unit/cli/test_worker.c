/* worker.c: which runs use a process with the CUDA devices, which signals it gets, how its death is noticed,
 * and how both processes read a list on standard input. The test simulates processes and devices. */
#include "tests/support/strike.h"
#include "tests/unit/cli/command_stubs.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/folder/folder.h"

enum { WORKER = 4242, PARENT = 4141 };

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    bool once; /* it fails only once */
    pid_t fork;
    int forks, waits, unmapped, status, code; /* code: that the worker stores; -1: it stores none */
    bool possible, draws, signalled_late;
    void (*while_waiting)(void);
    int parent_died, was_full_mask, queued_to, queued, queued_value, death_signal, ended;
    bool catches;
    jmp_buf end; /* where exit goes */
    int pending; /* a file with a byte that is not written yet */
} sys;

static bool strikes(const char *call)
{
    return strike_once(&sys.call, call, &sys.after, sys.why, sys.once);
}

STUB(fork);
pid_t __wrap_fork(void)
{
    sigset_t mask;
    sys.forks++;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sys.was_full_mask =
        sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1);
    if (sys.pending)
        assert_int_equal(lseek(sys.pending, 0, SEEK_END), 1); /* else both processes would write it */
    return strikes("fork") ? -1 : sys.fork;
}

STUB(getpid);
pid_t __wrap_getpid(void)
{
    return PARENT;
}

STUB(getppid);
pid_t __wrap_getppid(void)
{
    return sys.parent_died ? 1 : PARENT;
}

int __wrap_prctl(int option, unsigned long value);
int __wrap_prctl(int option, unsigned long value)
{
    assert_int_equal(option, PR_SET_PDEATHSIG);
    sys.death_signal = (int)value;
    return 0;
}

__typeof__(mmap) __real_mmap;
STUB(mmap);
void *__wrap_mmap(void *at, size_t size, int allowed, int flags, int fd, off_t from)
{
    return strikes("mmap") ? MAP_FAILED : __real_mmap(at, size, allowed, flags, fd, from);
}

__typeof__(munmap) __real_munmap;
STUB(munmap);
int __wrap_munmap(void *at, size_t size)
{
    sys.unmapped += size == sizeof(int);
    return __real_munmap(at, size);
}

STUB(waitpid);
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    sigset_t mask;
    assert_int_equal(pid, WORKER);
    assert_int_equal(options, 0);
    sys.waits++;
    if (strikes("waitpid"))
        return -1;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
    if (sys.while_waiting)
        sys.while_waiting();
    if (sys.code >= 0)
        lap_cli_worker_ends(sys.code);
    *status = sys.status;
    return pid;
}

STUB(sigqueue);
int __wrap_sigqueue(pid_t pid, int number, const union sigval value)
{
    sys.queued_to = pid;
    sys.queued = number;
    sys.queued_value = value.sival_int;
    return 0;
}

_Noreturn void __real_exit(int code);
STUB(exit);
_Noreturn void __wrap_exit(int code)
{
    if (!sys.catches)
        __real_exit(code);
    sys.ended = code;
    longjmp(sys.end, 1);
}

STUB(_exit);
_Noreturn void __wrap__exit(int code)
{
    sys.ended = 1000 + code;
    longjmp(sys.end, 1);
}

STUB(lap_device_possible);
bool __wrap_lap_device_possible(const char **reason)
{
    assert_null(reason);
    return sys.possible;
}

STUB(lap_term_may_draw);
bool __wrap_lap_term_may_draw(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.draws;
}

__typeof__(read) __real_read;
STUB(read);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return strikes("read") ? -1 : __real_read(fd, bytes, size);
}

__typeof__(lap_cli_write) __real_lap_cli_write;
STUB(lap_cli_write);
bool __wrap_lap_cli_write(int fd, const void *bytes, size_t size)
{
    return !strikes("write") && __real_lap_cli_write(fd, bytes, size);
}

__typeof__(memfd_create) __real_memfd_create;
STUB(memfd_create);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    return strikes("memfd_create") ? -1 : __real_memfd_create(name, flags);
}

__typeof__(lseek) __real_lseek;
STUB(lseek);
off_t __wrap_lseek(int fd, off_t at, int from)
{
    return strikes("lseek") ? -1 : __real_lseek(fd, at, from);
}

__typeof__(dup2) __real_dup2;
STUB(dup2);
int __wrap_dup2(int from, int to)
{
    return to == STDIN_FILENO && strikes("dup2") ? -1 : __real_dup2(from, to);
}

__typeof__(sigaction) __real_sigaction;
STUB(sigaction);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    const bool is_signalled = action && action->sa_handler == SIG_DFL && sys.signalled_late;
    sys.signalled_late = sys.signalled_late && !is_signalled;
    if (is_signalled)
        raise(SIGTERM); /* before the handler is gone */
    return __real_sigaction(number, action, before);
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static void start(void)
{
    memset(&sys, 0, sizeof sys);
    sys.possible = true;
    sys.fork = WORKER;
    sys.code = -1;
    begin_command(LAP_COMMAND_RUN);
}

static int begin(void **state)
{
    (void)state;
    heed_signals();
    start();
    return 0;
}

enum { RUNS_ON = -1, LOST = -2 };

/* Returns the exit code, RUNS_ON: this process runs, LOST: it runs without devices. */
static int result(void)
{
    sys.catches = true;
    if (setjmp(sys.end) == 0)
        sys.ended = lap_cli_has_lost_worker(&cli) ? LOST : RUNS_ON;
    sys.catches = false;
    return sys.ended;
}

#define assert_ends(end, err)          \
    do {                               \
        said_listen();                 \
        const int ended_ = result();   \
        said_end();                    \
        assert_text(said_err(), err);  \
        assert_text(said_out(), "");   \
        assert_int_equal(ended_, end); \
    } while (0)

/* ---- the process with the devices ------------------------------------------------------------------ */

static void which_runs_have_a_worker(void **state)
{
    static const struct {
        const char *backend;
        lap_codec_place codec;
        bool filters_not, dry_run, sandbox, impossible;
        int forks;
    } cases[] = {{"auto", LAP_CODEC_AUTO, .forks = 1}, {"auto", LAP_CODEC_CUDA, .forks = 1},
        {"auto", LAP_CODEC_CPU, .forks = 0}, {"auto", LAP_CODEC_TURBO, .forks = 0},
        {"cuda-fast", LAP_CODEC_AUTO, .forks = 1}, {"cuda-fast", LAP_CODEC_CPU, .forks = 1},
        {"cuda", LAP_CODEC_AUTO, .forks = 0}, {"c", LAP_CODEC_AUTO, .forks = 0},
        {"c", LAP_CODEC_CUDA, .forks = 0}, {"auto", LAP_CODEC_AUTO, .filters_not = true},
        {"cuda-fast", LAP_CODEC_AUTO, .filters_not = true}, {"auto", LAP_CODEC_AUTO, .dry_run = true},
        {"auto", LAP_CODEC_AUTO, .sandbox = true}, {"cuda-fast", LAP_CODEC_AUTO, .impossible = true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        cli.settings.backend = cases[i].backend;
        cli.settings.codec = cases[i].codec;
        cli.settings.filter = !cases[i].filters_not;
        cli.dry_run = cases[i].dry_run, cli.sandbox = cases[i].sandbox;
        sys.possible = !cases[i].impossible;
        sys.call = "fork", sys.why = EAGAIN;
        assert_ends(RUNS_ON, "");
        if (sys.forks != cases[i].forks)
            fail_msg("case %zu", i);
        assert_int_equal(sys.waits, 0);
    }
    start();
    sys.call = "mmap", sys.why = ENOMEM;
    assert_ends(RUNS_ON, "");
    assert_int_equal(sys.forks, 0);
    lap_cli_worker_ends(3); /* nobody is told */
}

static void in_the_worker(void **state)
{
    sigset_t mask;
    (void)state;
    sys.fork = 0;
    FILE *file = fopen("pending", "w+");
    assert_non_null(file);
    sys.pending = fileno(file);
    fputc('x', file);
    assert_ends(RUNS_ON, "");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(sys.forks, 1);
    assert_true(sys.was_full_mask);
    assert_int_equal(sys.death_signal, SIGKILL);
    assert_int_equal(sys.waits, 0);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
    assert_true(handler_of(SIGINT) == SIG_DFL);
    lap_cli_worker_ends(7);
    start();
    sys.fork = 0, sys.parent_died = true; /* before prctl */
    assert_ends(1000 + LAP_EXIT_FAILED, "");
    sigfillset(&mask);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

static void hears_signals(void)
{
    assert_true(handler_of(SIGINT) != SIG_DFL && handler_of(SIGTERM) != SIG_DFL);
    assert_true(handler_of(SIGHUP) == SIG_IGN);
}

static void the_worker_ends(void **state)
{
    static const struct {
        int code, status, end;
        const char *said; /* why it died */
    } cases[] = {{0, 0, 0, ""}, {7, 7 << 8, 7, ""}, {3, SIGSEGV, 3, ""}, {2, SIGINT, 2, ""},
        {-1, SIGINT, 128 + SIGINT, ""}, {-1, SIGTERM, 128 + SIGTERM, ""}, {-1, SIGHUP, 128 + SIGHUP, ""},
        {-1, SIGSEGV, LOST, "Segmentation fault"}, {-1, SIGKILL, LOST, "Killed"}, {-1, 0, LOST, "it exited"},
        {-1, 1 << 8, LOST, "it exited"}};
    (void)state;
    signal(SIGHUP, SIG_IGN);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int way = 0; way < 4; way++) {
            char want[200] = "";
            start();
            sys.code = cases[i].code, sys.status = cases[i].status;
            sys.draws = way & 1;
            cli.quiet = way & 2;
            sys.while_waiting = hears_signals;
            sys.call = "waitpid", sys.why = EINTR, sys.once = true;
            if (cases[i].said[0])
                snprintf(want, sizeof want, "%s%s%s%s", way & 1 ? "\r\033[K" : "",
                    way & 2 ? "" : L "warning: the process that used the CUDA devices has died (",
                    way & 2 ? "" : cases[i].said, way & 2 ? "" : "); the CPU processes the rest\n");
            assert_ends(cases[i].end, want);
            assert_int_equal(sys.waits, 2);
            assert_int_equal(sys.unmapped, cases[i].end == LOST);
            assert_true(handler_of(SIGINT) == SIG_DFL && handler_of(SIGTERM) == SIG_DFL);
            assert_true(handler_of(SIGHUP) == SIG_IGN);
            assert_true(sys.was_full_mask);
            if (cases[i].end == LOST)
                lap_cli_worker_ends(9); /* this process is no worker */
        }
    signal(SIGHUP, SIG_DFL);
}

/* ---- a list on standard input ---------------------------------------------------------------------- */

static int standard;

static void give(int fd)
{
    standard = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    assert_int_equal(__real_dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

/* Standard input is a pipe with so many bytes. */
static void give_pipe(size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(write(ends[1], &"0123456789"[i % 10], 1), 1);
    close(ends[1]);
    give(ends[0]);
}

static void take_back(void)
{
    __real_dup2(standard, STDIN_FILENO);
    close(standard);
}

static void read_all(void)
{
    char bytes[64];
    ssize_t got = 0;
    size_t held = 0;
    for (ssize_t more; (more = __real_read(STDIN_FILENO, bytes, 7)) > 0; held += (size_t)more)
        got = more;
    assert_true(held == 25 && got == 4);
    assert_memory_equal(bytes, "1234", 4);
}

static void read_on(void)
{
    char byte;
    assert_int_equal(__real_read(STDIN_FILENO, &byte, 1), 1);
}

static void lists_are_read_twice(void **state)
{
    (void)state;
    const int files = open_files();
    for (int is_pipe = 0; is_pipe < 2; is_pipe++)
        for (int listed = 0; listed < 3; listed++) {
            start();
            if (is_pipe)
                give_pipe(25);
            else {
                put("list", "01234567890123456789012345");
                const int fd = open("list", O_RDONLY | O_CLOEXEC);
                assert_int_equal(__real_lseek(fd, 1, SEEK_SET), 1);
                give(fd);
            }
            cli.files_from = listed == 0 ? NULL : listed == 1 ? "-" : "list";
            cli.quiet = true;
            sys.status = SIGSEGV;
            if (is_pipe && listed == 1)
                sys.while_waiting = read_all;
            else if (listed == 1)
                sys.while_waiting = read_on;
            if (is_pipe && listed == 1)
                sys.call = "read", sys.why = EINTR, sys.once = true;
            assert_ends(LOST, "");
            if (is_pipe && listed == 1)
                read_all(); /* again */
            else
                assert_int_equal(__real_lseek(STDIN_FILENO, 0, SEEK_CUR), is_pipe ? -1 : 1);
            take_back();
            assert_int_equal(open_files(), files);
        }
}

/* A file is read where it is, from its very beginning. */
static void lists_in_files(void **state)
{
    struct stat before, after;
    (void)state;
    put("list", "many names");
    assert_int_equal(stat("list", &before), 0);
    give(open("list", O_RDONLY | O_CLOEXEC));
    cli.files_from = "-";
    cli.settings.max_memory = 2;
    sys.fork = 0;
    assert_ends(RUNS_ON, "");
    assert_int_equal(sys.forks, 1);
    assert_int_equal(fstat(STDIN_FILENO, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_dev == after.st_dev);
    take_back();
}

static void lists_in_memory(void **state)
{
    static const struct {
        const char *call;
        int why, after;
        uint64_t most;
        int end, forks;
        const char *said;
    } cases[] = {{NULL, .most = 0, .end = RUNS_ON, .forks = 1, .said = ""},
        {NULL, .most = 50, .end = RUNS_ON, .forks = 1, .said = ""},
        {NULL, .most = 49, .end = RUNS_ON, .forks = 1, .said = ""},
        {NULL, .most = 48, .end = LAP_EXIT_LIMIT,
            .said = L
            "standard input: a list that is not in a file is held in memory, and this one has more than "
            "24 bytes\n"},
        {"read", EIO, 0, 0, LAP_EXIT_FAILED, 0, L "standard input: Input/output error\n"},
        {"read", EIO, 1, 0, LAP_EXIT_FAILED, 0, L "standard input: Input/output error\n"},
        {"write", ENOSPC, 0, 0, LAP_EXIT_FAILED, 0, L "standard input: No space left on device\n"},
        {"memfd_create", ENOSYS, 0, 0, RUNS_ON, 0, ""}, {"lseek", ESPIPE, 0, 0, RUNS_ON, 0, ""},
        {"dup2", EBADF, 0, 0, RUNS_ON, 0, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        start();
        give_pipe(25);
        const int files = open_files();
        sys.fork = 0;
        sys.call = cases[i].call, sys.why = cases[i].why, sys.after = cases[i].after;
        cli.files_from = "-";
        cli.settings.max_memory = cases[i].most;
        assert_ends(cases[i].end, cases[i].said);
        assert_int_equal(sys.forks, cases[i].forks);
        if (cases[i].end == RUNS_ON) /* else the process ends */
            assert_int_equal(open_files(), files);
        sys.call = NULL;
        if (cases[i].forks)
            read_all();
        take_back();
    }
    start();
    give_pipe(0);
    sys.fork = 0;
    cli.files_from = "-";
    assert_ends(RUNS_ON, "");
    char byte;
    assert_int_equal(__real_read(STDIN_FILENO, &byte, 1), 0);
    take_back();
}

static int given;

static void signal_us(void)
{
    raise(given);
}

/* From here on a signal was caught: it is passed on to the worker, and counts if the worker dies of it. */
static void the_worker_is_signalled(void **state)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int code = -1; code < 6; code += 6) {
            start();
            given = numbers[i];
            sys.while_waiting = signal_us;
            sys.code = code, sys.status = SIGKILL;
            assert_ends(code < 0 ? 128 + given : 5, "");
            assert_int_equal(sys.queued_to, WORKER);
            assert_int_equal(sys.queued, LAP_CLI_PASSED_ON);
            assert_int_equal(sys.queued_value, given);
        }
    start(); /* it has ended, and another process may have its number */
    sys.code = 5;
    sys.signalled_late = true;
    assert_ends(5, "");
    assert_false(sys.signalled_late);
    assert_int_equal(sys.queued, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(which_runs_have_a_worker), TEST(in_the_worker),
        TEST(the_worker_ends), TEST(lists_are_read_twice), TEST(lists_in_files), TEST(lists_in_memory),
        TEST(the_worker_is_signalled)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
