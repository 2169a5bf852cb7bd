#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term.h"

/* Ten times a second, and the first time only when the image has already taken so long. */
static const double interval_ms = 100, patience_ms = 300;

double lap_cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

bool lap_term_may_draw(const lap_cli *cli)
{
    const char *kind = getenv("TERM");
    return !cli->quiet && cli->progress == LAP_CLI_AUTO && isatty(STDERR_FILENO) && kind &&
           strcmp(kind, "dumb") != 0;
}

void lap_progress_begin(lap_progress *progress, const lap_cli *cli, const char *name)
{
    *progress = (lap_progress){.name = name, .shown_ms = lap_cli_now_ms() + patience_ms - interval_ms};
    progress->on = lap_term_may_draw(cli);
}

void lap_progress_rows(void *user, int rows_done, int rows_total)
{
    lap_progress *progress = user;
    const double now = lap_cli_now_ms();
    if (!progress->on || rows_total < 1 || now < progress->shown_ms + interval_ms)
        return;
    fprintf(stderr, "\r\033[K%3d %%  ", (int)(100.0 * rows_done / rows_total));
    lap_cli_print_safely(stderr, progress->name);
    fflush(stderr);
    progress->shown_ms = now;
    progress->drawn = true;
}

void lap_progress_end(lap_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
