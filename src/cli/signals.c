/* Code around the work of every command on images: create a context, handle signals, compute an exit code. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/sandbox/sandbox.h"
#include "cli/term.h"

static _Atomic(lap_context *) running;
static volatile sig_atomic_t caught;

/* A signal that is ignored when the program starts stays ignored, since its caller wants that: nohup ignores
 * SIGHUP, and a script can ignore any signal with trap ''. */
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static bool is_caught[NUMBERS];

/* One request to stop often arrives as several signals: a terminal signals the whole process group, and a
 * wrapper or a worker's parent passes the signal on as well; timeout(1) signals its child and then the group.
 * So a signal is a second request only if it arrives this long after the first. */
enum { SAME_REQUEST_MS = 500 };
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a signal handler must not wait for a lock");

static void on_signal(int number)
{
    static atomic_llong since_ms; /* 0: there was no request */
    const int before = errno;
    const long long now = 1 + (long long)lap_cli_now_ms();
    long long first = 0;
    if (atomic_compare_exchange_strong(&since_ms, &first, now)) {
        lap_context *context = atomic_load(&running);
        caught = number;
        if (context)
            lap_context_cancel(context);
    } else if (now - first >= SAME_REQUEST_MS) {
        lap_abandon_outputs();
        signal(number, SIG_DFL);
        raise(number); /* takes effect when this handler returns */
    }
    errno = before;
}

/* Ctrl-\ ends the program at once, after its temporary files were removed. The system may be configured to
 * write a core file. */
static void on_quit(int number)
{
    lap_abandon_outputs();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_passed(int number, siginfo_t *info, void *unused)
{
    (void)number, (void)unused;
    on_signal(info->si_value.sival_int);
}

static bool catch_unless_ignored(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, before;
    sigemptyset(&action.sa_mask);
    return sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN &&
           sigaction(number, &action, NULL) == 0;
}

static void catch_signals(lap_context *context)
{
    atomic_store(&running, context);
    for (int i = 0; i < NUMBERS; i++)
        is_caught[i] = catch_unless_ignored(numbers[i], numbers[i] == SIGQUIT ? on_quit : on_signal);
    struct sigaction passed = {.sa_sigaction = on_passed, .sa_flags = SA_SIGINFO};
    sigemptyset(&passed.sa_mask);
    sigaction(LAP_CLI_PASSED_ON, &passed, NULL);
}

static void release_signals(void)
{
    atomic_store(&running, NULL);
    if (caught) /* more signals of the same request may follow */
        return;
    for (int i = 0; i < NUMBERS; i++)
        if (is_caught[i])
            signal(numbers[i], SIG_DFL);
}

int lap_cli_caught(void)
{
    return caught;
}

void lap_cli_note_tolerance(const lap_cli *cli)
{
    const bool filters = cli->command->takes & LAP_CLI_RUN;
    if (filters && lap_params_tolerance(&cli->settings.params) < 0 && !cli->quiet)
        lap_cli_message("note: with this kernel and scale backends may differ by more than one level");
}

static lap_code read_kernel_inside(lap_cli *cli, lap_error *err)
{
    if (lap_cli_read_kernel(cli, err->message, sizeof err->message)) {
        lap_cli_note_tolerance(cli);
        return LAP_OK;
    }
    snprintf(err->subject, sizeof err->subject, "--kernel");
    return err->code = LAP_E_USAGE;
}

lap_context *lap_cli_begin(lap_cli *cli, lap_error *err)
{
    const bool inside = lap_cli_reads_inside(cli);
    *err = (lap_error){0};
    if (cli->sandbox && lap_cli_sandbox(cli, err) != LAP_OK)
        return NULL;
    if (inside && read_kernel_inside(cli, err) != LAP_OK)
        return NULL;
    lap_context *context = lap_context_create(cli->settings.threads, err);
    if (context)
        catch_signals(context);
    return context;
}

void lap_cli_end(lap_context *context)
{
    if (!context)
        return;
    release_signals(); /* must come before the context is destroyed */
    lap_context_destroy(context);
}

lap_cli_exit lap_cli_exit_of(lap_code code)
{
    switch (code) {
    case LAP_OK:
        return LAP_EXIT_OK;
    case LAP_E_USAGE:
    case LAP_E_CLASH:
    case LAP_E_DIFFERENT:
        return LAP_EXIT_USAGE;
    case LAP_E_BACKEND:
    case LAP_E_DEVICE:
        return LAP_EXIT_BACKEND;
    case LAP_E_LIMIT:
    case LAP_E_TIMEOUT:
        return LAP_EXIT_LIMIT;
    case LAP_E_CANCELLED:
        return caught ? (lap_cli_exit)(128 + caught) : LAP_EXIT_FAILED;
    default:
        return LAP_EXIT_FAILED;
    }
}
