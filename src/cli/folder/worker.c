#include "cli/folder/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/term.h"

enum { RUNS = -1 };

static atomic_int *ended; /* shared with the worker: its exit code, or RUNS */
static volatile sig_atomic_t worker, caught;

/* ---- signals: Ctrl-C goes to both, kill to the parent only ------------------------------------------- */

/* Sends the worker LAP_CLI_PASSED_ON for a signal, which is harmless if the worker has received that signal
 * too. The worker decides whether it is a second request, and removes its temporary files before it ends. */
static void pass_on(int number)
{
    const union sigval value = {.sival_int = number};
    caught = number;
    if (worker > 0)
        (void)sigqueue((pid_t)worker, LAP_CLI_PASSED_ON, value);
}

static void set_signals(void (*handler)(int))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handler}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
}

/* ---- a list on standard input, which can be read once ---------------------------------------------------
 */

/* Copies standard input to a file that both processes can read, and returns where it begins; -1: failed. The
 * file is in memory and may have at most half of max_memory. */
static off_t keep_stdin(uint64_t max_memory)
{
    char bytes[65536];
    ssize_t got;
    uint64_t held = 0;
    const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at >= 0)
        return at;
    const int file = memfd_create("lapedge: a list", MFD_CLOEXEC);
    while (file >= 0 && (got = read(STDIN_FILENO, bytes, sizeof bytes)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        held += got > 0 ? (uint64_t)got : 0;
        if (max_memory && held > (max_memory + 1) / 2) {
            char most[LAP_SIZE_TEXT];
            lap_cli_message("standard input: a list that is not in a file is held in memory, and this one "
                            "has more than %s",
                lap_size_text(max_memory / 2, most));
            exit(LAP_EXIT_LIMIT);
        }
        if (got < 0 || !lap_cli_write(file, bytes, (size_t)got)) {
            lap_cli_message("standard input: %s", strerror(errno));
            exit(LAP_EXIT_FAILED);
        }
    }
    const bool kept = file >= 0 && lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO;
    if (file >= 0)
        close(file);
    return kept ? 0 : -1;
}

/* ---- the worker ------------------------------------------------------------------------------------------
 */

static bool may_use_devices(const lap_cli *cli)
{
    const lap_settings *s = &cli->settings;
    const bool names = strncmp(s->backend, "cuda-", 5) == 0;
    const bool may = s->filter && (names || (strcmp(s->backend, "auto") == 0 &&
                                                (s->codec == LAP_CODEC_AUTO || s->codec == LAP_CODEC_CUDA)));
    return may && !cli->dry_run && !cli->sandbox && lap_device_possible(NULL);
}

/* Starts the worker. Returns its number in the parent, 0 in the worker, and a negative number on failure. */
static pid_t start(void)
{
    sigset_t all, before;
    const pid_t parent = getpid();
    ended = mmap(NULL, sizeof *ended, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ended == MAP_FAILED) {
        ended = NULL;
        return -1;
    }
    atomic_init(ended, RUNS);
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(LAP_EXIT_FAILED);
    } else if (pid > 0) {
        worker = pid;
        set_signals(pass_on);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* Waits for the worker to end. Returns its exit code, or RUNS if it crashed. */
static int wait_for_worker(int *status)
{
    while (waitpid((pid_t)worker, status, 0) < 0 && errno == EINTR)
        continue;
    worker = 0;
    set_signals(SIG_DFL);
    const int code = atomic_load(ended), number = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    if (code != RUNS)
        return code;
    if (caught || number == SIGINT || number == SIGTERM || number == SIGHUP)
        return 128 + (caught ? (int)caught : number);
    return RUNS;
}

bool lap_cli_has_lost_worker(const lap_cli *cli)
{
    const bool listed = cli->files_from && strcmp(cli->files_from, "-") == 0;
    int status = 0;
    if (!may_use_devices(cli))
        return false;
    const off_t at = listed ? keep_stdin(cli->settings.max_memory) : 0;
    const pid_t pid = at < 0 ? -1 : start();
    if (pid <= 0)
        return false;
    const int code = wait_for_worker(&status);
    if (code != RUNS)
        exit(code);
    (void)munmap(ended, sizeof *ended);
    ended = NULL;
    if (listed)
        (void)lseek(STDIN_FILENO, at, SEEK_SET);
    if (lap_term_may_draw(cli))
        fputs("\r\033[K", stderr); /* erase the worker's progress line */
    if (!cli->quiet)
        lap_cli_message(
            "warning: the process that used the CUDA devices has died (%s); the CPU processes the rest",
            WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it exited");
    return true;
}

void lap_cli_worker_ends(int exit_code)
{
    if (ended)
        atomic_store(ended, exit_code);
}
