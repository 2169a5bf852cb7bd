#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "cli/term.h"

static _Atomic(lap_context *) running;
static volatile sig_atomic_t caught;
static bool hangs_up; /* SIGHUP is caught */

static void on_signal(int number)
{
    lap_context *context = atomic_load(&running);
    caught = number;
    if (context)
        lap_context_cancel(context);
}

void lap_cli_catch_signals(lap_context *context)
{
    /* Once only: the second one has its default effect, at once. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    atomic_store(&running, context);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* Who starts a program with nohup wants it to go on. */
    struct sigaction before;
    hangs_up = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
    if (hangs_up)
        sigaction(SIGHUP, &action, NULL);
}

void lap_cli_release_signals(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (hangs_up)
        signal(SIGHUP, SIG_DFL);
    atomic_store(&running, NULL);
}

int lap_cli_caught(void)
{
    return caught;
}
