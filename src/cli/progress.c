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

enum { PERCENT = 7 }; /* columns before the name */

/* As much of a path's end as has room: a line that the terminal breaks could not be erased. A character
 * has one byte at least, so this is never too long where each has one column. */
static void print_end(const char *path, int room)
{
    char *shown = lap_cli_shown(path), *end = shown ? shown : (char[]){""};
    const size_t length = strlen(end), fits = room > 0 ? (size_t)room : 0;
    if (length > fits) {
        end += length - (fits > 3 ? fits - 3 : 0);
        while ((*end & 0xc0) == 0x80) /* not from within a character */
            end++;
        fputs(fits > 3 ? "..." : "", stderr);
    }
    fputs(end, stderr);
    free(shown);
}

void lap_progress_rows(void *user, int rows_done, int rows_total)
{
    lap_progress *progress = user;
    const double now = lap_cli_now_ms();
    if (!progress->on || rows_total < 1 || now < progress->shown_ms + interval_ms)
        return;
    fprintf(stderr, "\r\033[K%3d %%  ", (int)(100.0 * rows_done / rows_total));
    print_end(progress->name, lap_term_error_width() - PERCENT - 1);
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
