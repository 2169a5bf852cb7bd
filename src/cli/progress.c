#include "cli/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"

/* Redraws ten times a second. For one image the line appears only after patience_ms. */
static const double interval_ms = 100, patience_ms = 300;

/* For a folder, the times come from its counts, which start at 0. */
void lap_progress_begin(lap_progress *progress, const lap_cli *cli, const char *name)
{
    *progress = (lap_progress){.name = name, .on = lap_term_may_draw(cli), .shown_ms = -interval_ms};
    if (name)
        progress->shown_ms += lap_cli_now_ms() + patience_ms;
}

static void drew(lap_progress *progress, double now_ms)
{
    fflush(stderr);
    progress->shown_ms = now_ms;
    progress->drawn = true;
}

void lap_progress_hide(lap_progress *progress)
{
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}

/* ---- one image ----------------------------------------------------------------------------------- */

enum { PERCENT = 7 }; /* columns before the name */

/* Prints as much of a path's end as fits: a line that wraps in the terminal could not be erased. Each
 * character has at least one byte, so this is never too long, provided that no character is wider than one
 * column. */
static void print_end(const char *path, int room)
{
    char *shown = lap_cli_shown(path), *end = shown ? shown : (char[]){""};
    const size_t length = strlen(end), fits = room > 0 ? (size_t)room : 0;
    if (length > fits) {
        end += length - (fits > 3 ? fits - 3 : 0);
        while ((*end & 0xc0) == 0x80) /* do not start within a character */
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
    drew(progress, now);
}

/* ---- a folder ------------------------------------------------------------------------------------ */

typedef struct line {
    char text[400];
    size_t length;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int added = vsnprintf(l->text + l->length, sizeof l->text - l->length, format, args);
    va_end(args);
    l->length += added > 0 ? (size_t)added : 0;
    if (l->length >= sizeof l->text)
        l->length = sizeof l->text - 1;
}

/* Formats "1:05" or "2:03:09"; "-:--" if unknown. */
static void add_time(line *l, double seconds)
{
    const long s = seconds >= 0 && seconds < 1e7 ? (long)(seconds + 0.5) : -1;
    if (s < 0)
        add(l, "-:--");
    else if (s < 3600)
        add(l, "%ld:%02ld", s / 60, s % 60);
    else
        add(l, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

/* Adds the number of photos on each device. */
static void add_devices(line *l, const lap_batch_work *work)
{
    enum { MOST = 8 };
    for (int i = 0; i < work->device_count && i < MOST; i++) {
        const lap_batch_device *d = &work->device[i];
        if (d->is_ready)
            add(l, ", device %d: %d", d->device, d->under_way);
        else
            add(l, ", device %d %s", d->device, d->is_lost ? "lost" : "starts");
    }
}

/* Parts that a narrow terminal omits, in order. */
enum { WHOLE, NO_DEVICES, NO_PIXELS, SHORT_BAR, NO_RATE, NO_BAR, NO_TIME, LEVELS };

static void compose(line *l, const lap_batch_counts *counts, const lap_batch_work *work, int level)
{
    enum { CELLS = 20, FEW_CELLS = 8 };
    static const double telling_s = 0.3; /* before this, rates and the time left are unreliable */
    const uint64_t worked = counts->ok + counts->warned + counts->failed + counts->waiting;
    const uint64_t over = worked + counts->skipped, pixels = counts->pixels + counts->waiting_pixels;
    const uint64_t expected = counts->expected > over ? counts->expected : over;
    const double seconds = counts->ms / 1e3, rate = seconds > 0 ? (double)worked / seconds : 0;
    const bool telling = seconds >= telling_s && worked > 0;
    const int cells = level >= NO_BAR ? 0 : level >= SHORT_BAR ? FEW_CELLS : CELLS;
    const uint64_t filled = expected ? (uint64_t)cells * over / expected : 0;
    *l = (line){.length = 0};
    for (int i = 0; i < cells; i++)
        add(l, "%s%c", i ? "" : "[", (uint64_t)i < filled ? '#' : '.');
    add(l, "%s%llu/%llu", cells ? "] " : "", (unsigned long long)over, (unsigned long long)expected);
    if (counts->skipped)
        add(l, ", %llu skipped", (unsigned long long)counts->skipped);
    if (counts->failed)
        add(l, ", %llu failed", (unsigned long long)counts->failed);
    if (level < NO_RATE && telling)
        add(l, ", %.*f photos/s", rate < 10 ? 1 : 0, rate);
    if (level < NO_PIXELS && telling)
        add(l, ", %.0f Mpixel/s", (double)pixels / 1e6 / seconds);
    /* Skipped files take no time, so the time left is computed from the others. */
    if (level < NO_TIME) {
        add(l, ", ");
        add_time(l, telling ? seconds * (double)(expected - over) / (double)worked : -1);
        add(l, " left");
    }
    if (level < NO_DEVICES)
        add_devices(l, work);
}

void lap_progress_files(lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work)
{
    line l;
    if (!progress->on || counts->ms < progress->shown_ms + interval_ms)
        return;
    /* A line that wraps could not be erased, so the last column stays free. */
    const int room = lap_term_error_width() - 1;
    int level = WHOLE;
    do
        compose(&l, counts, work, level);
    while ((int)l.length > room && ++level < LEVELS);
    fprintf(stderr, "\r\033[K%.*s", room, l.text);
    drew(progress, counts->ms);
}
