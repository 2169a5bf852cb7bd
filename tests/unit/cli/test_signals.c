/* Signals, the code around each command, and the process with the CUDA devices: what a request to stop does,
 * and what becomes of a run whose process has died. Processes, the clock and devices are those of the test.
 */
#include "tests/support/said.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/sandbox/sandbox.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define L "lapedge: "
enum { WORKER = 4242, PARENT = 4141 };

static lap_cli cli;

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    bool once; /* it fails only once */

    /* the worker */
    pid_t fork;
    int forks, waits, unmapped, status, code; /* code: that the worker stores; -1: it stores none */
    bool possible, draws, signalled_late;
    void (*while_waiting)(void);
    int parent_died, was_full_mask, queued_to, queued, queued_value, death_signal, ended;
    bool catches;
    jmp_buf end; /* where exit goes */
    int pending; /* a file with a byte that is not written yet */

    /* signals */
    double now_ms;
    int abandoned, raised, cancels, sandboxed, created, destroyed, threads, tolerance;
    lap_context *cancelled;
    bool reads_inside, reads_not, sandbox_fails, context_fails;
} sys;

static bool strikes(const char *call)
{
    const bool fails = strike(sys.call, call, &sys.after, sys.why);
    if (fails && sys.once)
        sys.call = NULL;
    return fails;
}

pid_t __wrap_fork(void);
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

pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void)
{
    return PARENT;
}

pid_t __wrap_getppid(void);
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

void *__real_mmap(void *at, size_t size, int allowed, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t size, int allowed, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t size, int allowed, int flags, int fd, off_t from)
{
    return strikes("mmap") ? MAP_FAILED : __real_mmap(at, size, allowed, flags, fd, from);
}

int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size)
{
    sys.unmapped += size == sizeof(int);
    return __real_munmap(at, size);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options);
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

int __wrap_sigqueue(pid_t pid, int number, const union sigval value);
int __wrap_sigqueue(pid_t pid, int number, const union sigval value)
{
    sys.queued_to = pid;
    sys.queued = number;
    sys.queued_value = value.sival_int;
    return 0;
}

_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);
_Noreturn void __wrap_exit(int code)
{
    if (!sys.catches)
        __real_exit(code);
    sys.ended = code;
    longjmp(sys.end, 1);
}

_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap__exit(int code)
{
    sys.ended = 1000 + code;
    longjmp(sys.end, 1);
}

bool __wrap_lap_device_possible(const char **reason);
bool __wrap_lap_device_possible(const char **reason)
{
    assert_null(reason);
    return sys.possible;
}

bool __wrap_lap_term_may_draw(const lap_cli *of);
bool __wrap_lap_term_may_draw(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.draws;
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return strikes("read") ? -1 : __real_read(fd, bytes, size);
}

bool __real_lap_cli_write(int fd, const void *bytes, size_t size);
bool __wrap_lap_cli_write(int fd, const void *bytes, size_t size);
bool __wrap_lap_cli_write(int fd, const void *bytes, size_t size)
{
    return !strikes("write") && __real_lap_cli_write(fd, bytes, size);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    return strikes("memfd_create") ? -1 : __real_memfd_create(name, flags);
}

off_t __real_lseek(int fd, off_t at, int from);
off_t __wrap_lseek(int fd, off_t at, int from);
off_t __wrap_lseek(int fd, off_t at, int from)
{
    return strikes("lseek") ? -1 : __real_lseek(fd, at, from);
}

int __real_dup2(int from, int to);
int __wrap_dup2(int from, int to);
int __wrap_dup2(int from, int to)
{
    return to == STDIN_FILENO && strikes("dup2") ? -1 : __real_dup2(from, to);
}

int __real_raise(int number);
int __real_sigaction(int number, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    const bool is_signalled = action && action->sa_handler == SIG_DFL && sys.signalled_late;
    sys.signalled_late = sys.signalled_late && !is_signalled;
    if (is_signalled)
        __real_raise(SIGTERM); /* before the handler is gone */
    return __real_sigaction(number, action, before);
}

double __wrap_lap_cli_now_ms(void);
double __wrap_lap_cli_now_ms(void)
{
    return sys.now_ms;
}

void __wrap_lap_abandon_outputs(void);
void __wrap_lap_abandon_outputs(void)
{
    sys.abandoned++;
    errno = EDOM;
}

int __wrap_raise(int number);
int __wrap_raise(int number)
{
    sys.raised = number;
    return 0;
}

void __wrap_lap_context_cancel(lap_context *context);
void __wrap_lap_context_cancel(lap_context *context)
{
    sys.cancels++;
    sys.cancelled = context;
    errno = EDOM;
}

lap_code __wrap_lap_cli_sandbox(const lap_cli *of, lap_error *err);
lap_code __wrap_lap_cli_sandbox(const lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    sys.sandboxed++;
    assert_int_equal(sys.created, 0);
    return sys.sandbox_fails ? lap_sandbox_failed(err, LAP_E_BACKEND, "why") : LAP_OK;
}

bool __wrap_lap_cli_reads_inside(const lap_cli *of);
bool __wrap_lap_cli_reads_inside(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.reads_inside;
}

bool __wrap_lap_cli_read_kernel(lap_cli *of, char *problem, size_t size);
bool __wrap_lap_cli_read_kernel(lap_cli *of, char *problem, size_t size)
{
    assert_true(of == &cli && (sys.sandboxed || !cli.sandbox));
    assert_int_equal(size, sizeof((lap_error *)NULL)->message);
    if (sys.reads_not)
        strcpy(problem, "no kernel");
    return !sys.reads_not;
}

int __wrap_lap_params_tolerance(const lap_params *params);
int __wrap_lap_params_tolerance(const lap_params *params)
{
    assert_ptr_equal(params, &cli.settings.params);
    return sys.tolerance;
}

void __real_lap_context_destroy(lap_context *context);
void __wrap_lap_context_destroy(lap_context *context);
void __wrap_lap_context_destroy(lap_context *context)
{
    sys.destroyed++;
    __real_lap_context_destroy(context);
}

lap_context *__real_lap_context_create(int threads, lap_error *err);
lap_context *__wrap_lap_context_create(int threads, lap_error *err);
lap_context *__wrap_lap_context_create(int threads, lap_error *err)
{
    sys.created++;
    sys.threads = threads;
    if (!sys.context_fails)
        return __real_lap_context_create(threads, err);
    err->code = LAP_E_MEMORY;
    return NULL;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static void start(void)
{
    memset(&sys, 0, sizeof sys);
    sys.possible = true;
    sys.fork = WORKER;
    sys.code = -1;
    sys.now_ms = 100000;
    cli = (lap_cli){.settings = lap_settings_default(), .command = &lap_cli_commands[LAP_COMMAND_RUN]};
}

static int begin(void **state)
{
    (void)state;
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

static void (*handler_of(int number))(int)
{
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

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
    FILE *file = fopen(at("pending"), "w+");
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
                put(at("list"), "01234567890123456789012345");
                const int fd = open(at("list"), O_RDONLY | O_CLOEXEC);
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
    put(at("list"), "many names");
    assert_int_equal(stat(at("list"), &before), 0);
    give(open(at("list"), O_RDONLY | O_CLOEXEC));
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

/* ---- around a command ------------------------------------------------------------------------------ */

static void commands_begin(void **state)
{
    lap_error err;
    (void)state;
    cli.settings.threads = 2;
    lap_context *context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    assert_int_equal(err.code, LAP_OK);
    assert_int_equal(sys.threads, 2);
    assert_int_equal(sys.sandboxed, 0);
    lap_cli_end(context);
    lap_cli_end(NULL);
    assert_int_equal(sys.destroyed, 1);
    start();
    cli.sandbox = true, sys.reads_inside = true;
    context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    assert_int_equal(sys.sandboxed, 1);
    lap_cli_end(context);
    start();
    cli.sandbox = sys.sandbox_fails = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_BACKEND);
    assert_string_equal(err.message, "why");
    assert_int_equal(sys.created, 0);
    start();
    sys.reads_inside = sys.reads_not = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_USAGE);
    assert_string_equal(err.subject, "--kernel");
    assert_string_equal(err.message, "no kernel");
    assert_int_equal(sys.created, 0);
    start();
    sys.reads_not = true; /* it was read before */
    context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    lap_cli_end(context);
    start();
    sys.context_fails = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_MEMORY);
    assert_true(handler_of(SIGINT) == SIG_DFL);
}

static void kernels_without_tolerance(void **state)
{
    static const char note[] =
        L "note: with this kernel and scale backends may differ by more than one level\n";
    static const struct {
        int command, tolerance;
        bool quiet;
        const char *said;
    } cases[] = {{LAP_COMMAND_RUN, -1, false, note}, {LAP_COMMAND_RUN, -1, true, ""},
        {LAP_COMMAND_RUN, 0, false, ""}, {LAP_COMMAND_RUN, 1, false, ""}, {LAP_COMMAND_STATS, -1, false, ""},
        {LAP_COMMAND_TRANSFORM, -1, false, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_error err;
        start();
        cli.command = &lap_cli_commands[cases[i].command];
        sys.tolerance = cases[i].tolerance;
        cli.quiet = cases[i].quiet;
        assert_says(lap_cli_note_tolerance(&cli), "", cases[i].said);
        sys.reads_inside = true;
        lap_context *context = NULL;
        assert_says(context = lap_cli_begin(&cli, &err), "", cases[i].said);
        lap_cli_end(context);
        sys.reads_inside = false;
        assert_says(context = lap_cli_begin(&cli, &err), "", "");
        lap_cli_end(context);
    }
}

static void exit_codes(void **state)
{
    static const lap_cli_exit codes[] = {[LAP_E_USAGE] = LAP_EXIT_USAGE,
        [LAP_E_CLASH] = LAP_EXIT_USAGE,
        [LAP_E_DIFFERENT] = LAP_EXIT_USAGE,
        [LAP_E_BACKEND] = LAP_EXIT_BACKEND,
        [LAP_E_DEVICE] = LAP_EXIT_BACKEND,
        [LAP_E_LIMIT] = LAP_EXIT_LIMIT,
        [LAP_E_TIMEOUT] = LAP_EXIT_LIMIT,
        [LAP_E_INTERNAL] = 0};
    (void)state;
    assert_int_equal(lap_cli_exit_of(LAP_OK), LAP_EXIT_OK);
    for (int code = LAP_OK + 1; code <= LAP_E_INTERNAL; code++)
        assert_int_equal(lap_cli_exit_of((lap_code)code), codes[code] ? codes[code] : LAP_EXIT_FAILED);
}

static void handlers_are_set(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    lap_error err;
    struct sigaction passed;
    (void)state;
    for (int ignored = -1; ignored < 4; ignored++) {
        start();
        if (ignored >= 0)
            signal(numbers[ignored], SIG_IGN);
        lap_context *context = lap_cli_begin(&cli, &err);
        for (int i = 0; i < 4; i++)
            assert_int_equal(handler_of(numbers[i]) == SIG_IGN, i == ignored);
        for (int i = 0; i < 4; i++)
            assert_true(handler_of(numbers[i]) != SIG_DFL);
        if (ignored < 0) {
            assert_true(
                handler_of(SIGINT) == handler_of(SIGTERM) && handler_of(SIGINT) == handler_of(SIGHUP));
            assert_true(handler_of(SIGINT) != handler_of(SIGQUIT));
        }
        assert_int_equal(sigaction(LAP_CLI_PASSED_ON, NULL, &passed), 0);
        assert_true(passed.sa_flags & SA_SIGINFO && passed.sa_handler != SIG_DFL);
        lap_cli_end(context);
        for (int i = 0; i < 4; i++)
            assert_true(handler_of(numbers[i]) == (i == ignored ? SIG_IGN : SIG_DFL));
        if (ignored >= 0)
            signal(numbers[ignored], SIG_DFL);
    }
}

static void quitting(void **state)
{
    lap_error err;
    (void)state;
    lap_context *context = lap_cli_begin(&cli, &err);
    __real_raise(SIGQUIT);
    assert_int_equal(sys.abandoned, 1);
    assert_int_equal(sys.raised, SIGQUIT);
    assert_true(handler_of(SIGQUIT) == SIG_DFL);
    assert_int_equal(sys.cancels, 0);
    lap_cli_end(context);
    assert_int_equal(lap_cli_caught(), 0);
}

/* From here on a signal was caught. */
static void requests_to_stop(void **state)
{
    lap_error err;
    (void)state;
    lap_context *context = lap_cli_begin(&cli, &err);
    assert_int_equal(lap_cli_exit_of(LAP_E_CANCELLED), LAP_EXIT_FAILED);
    errno = ENOTTY;
    __real_raise(SIGTERM);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(sys.cancels, 1);
    assert_ptr_equal(sys.cancelled, context);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    assert_int_equal(lap_cli_exit_of(LAP_E_CANCELLED), 128 + SIGTERM);
    sys.now_ms += 499; /* the same request, by another way */
    __real_raise(SIGINT);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(sys.abandoned + sys.raised, 0);
    lap_cli_end(context); /* more may follow */
    assert_true(handler_of(SIGINT) != SIG_DFL && handler_of(SIGHUP) != SIG_DFL);
    const union sigval value = {.sival_int = SIGHUP};
    siginfo_t info = {0};
    struct sigaction passed;
    assert_int_equal(sigaction(LAP_CLI_PASSED_ON, NULL, &passed), 0);
    info.si_value = value;
    passed.sa_sigaction(LAP_CLI_PASSED_ON, &info, NULL);
    assert_int_equal(sys.abandoned + sys.raised, 0);
    sys.now_ms += 1; /* a second request */
    errno = ENOTTY;
    passed.sa_sigaction(LAP_CLI_PASSED_ON, &info, NULL);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(sys.abandoned, 1);
    assert_int_equal(sys.raised, SIGHUP);
    assert_true(handler_of(SIGHUP) == SIG_DFL);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL), signal(SIGQUIT, SIG_DFL);
}

static int given;

static void signal_us(void)
{
    __real_raise(given);
}

/* A signal is passed on to the worker, and counts if the worker dies of it. */
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

static int open_all(void **state)
{
    (void)state;
    return make_scratch() && said_open() ? 0 : -1;
}

static int close_all(void **state)
{
    return said_close() | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(which_runs_have_a_worker), TEST(in_the_worker),
        TEST(the_worker_ends), TEST(lists_are_read_twice), TEST(lists_in_files), TEST(lists_in_memory),
        TEST(commands_begin), TEST(kernels_without_tolerance), TEST(exit_codes), TEST(handlers_are_set),
        TEST(quitting), TEST(requests_to_stop), TEST(the_worker_is_signalled)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
