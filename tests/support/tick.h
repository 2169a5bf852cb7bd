/* Times of files go by ticks of some milliseconds, on some file systems of seconds: what is written within
 * one may have the same time. Kernels since 6.13 give finer times to files that were looked at, later than
 * those of the clock that goes by ticks. */
#ifndef TICK_H
#define TICK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static inline bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Waits until a file that is written in this folder gets a later time than those that are there, and until
 * the clock that goes by ticks is later, too. */
static inline bool await_tick(const char *folder)
{
    char path[512];
    struct stat first, now;
    struct timespec clock;
    snprintf(path, sizeof path, "%s/tick", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return false;
    bool done = fstat(fd, &first) == 0;
    do {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        done = done && futimens(fd, NULL) == 0 && fstat(fd, &now) == 0 &&
               clock_gettime(CLOCK_REALTIME_COARSE, &clock) == 0;
    } while (done && !(is_before(&first.st_ctim, &now.st_ctim) && is_before(&first.st_ctim, &clock)));
    close(fd);
    return unlink(path) == 0 && done;
}

#endif
