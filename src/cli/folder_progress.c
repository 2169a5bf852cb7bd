#include "cli/folder_progress.h"

#include "cli/term.h"

static const double interval_ms = 100;

void lap_folder_progress_begin(lap_folder_progress *progress, const lap_cli *cli)
{
    *progress = (lap_folder_progress){.on = lap_term_may_draw(cli), .shown_ms = -interval_ms};
}

/* "1:05" or "2:03:09"; what is not known yet as "-:--". */
static void print_time(double seconds)
{
    const long s = seconds >= 0 && seconds < 1e7 ? (long)(seconds + 0.5) : -1;
    if (s < 0)
        fputs("-:--", stderr);
    else if (s < 3600)
        fprintf(stderr, "%ld:%02ld", s / 60, s % 60);
    else
        fprintf(stderr, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

/* What each device does: how many photos are on it. */
static void print_devices(const lap_batch_work *work)
{
    enum { MOST = 8 };
    for (int i = 0; i < work->device_count && i < MOST; i++) {
        const lap_batch_device *d = &work->device[i];
        if (d->is_ready)
            fprintf(stderr, ", device %d: %d", d->device, d->under_way);
        else
            fprintf(stderr, ", device %d %s", d->device, d->is_lost ? "lost" : "starts");
    }
}

void lap_folder_progress_show(
    lap_folder_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work)
{
    enum { CELLS = 20 };
    if (!progress->on || counts->ms < progress->shown_ms + interval_ms)
        return;
    const uint64_t worked = counts->ok + counts->warned + counts->failed + counts->waiting;
    const uint64_t over = worked + counts->skipped, pixels = counts->pixels + counts->waiting_pixels;
    const uint64_t expected = counts->expected > over ? counts->expected : over;
    const double seconds = counts->ms / 1e3;
    const int filled = expected ? (int)(CELLS * over / expected) : 0;
    fputs("\r\033[K[", stderr);
    for (int i = 0; i < CELLS; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %llu/%llu", (unsigned long long)over, (unsigned long long)expected);
    if (counts->skipped)
        fprintf(stderr, ", %llu skipped", (unsigned long long)counts->skipped);
    if (counts->failed)
        fprintf(stderr, ", %llu failed", (unsigned long long)counts->failed);
    const double rate = seconds > 0 ? (double)worked / seconds : 0.0;
    fprintf(stderr, ", %.*f photos/s, %.0f Mpixel/s, ", rate < 10 ? 1 : 0, rate,
        seconds > 0 ? (double)pixels / 1e6 / seconds : 0.0);
    /* Skipped files cost nothing: the time left follows from those that were worked on. */
    print_time(worked ? seconds * (double)(expected - over) / (double)worked : -1);
    fputs(" left", stderr);
    print_devices(work);
    fflush(stderr);
    progress->shown_ms = counts->ms;
    progress->drawn = true;
}

void lap_folder_progress_hide(lap_folder_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
