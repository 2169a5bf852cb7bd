/* write_time FOLDER THREADS FILES BYTES: measures how fast threads can write files into one new folder if
 * they do nothing else: each file is created under another name, written with one call, given its mode,
 * closed and renamed, as in lapedge. Prints files per second. Build: cc -O2 -pthread write_time.c -o
 * write_time */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

static struct {
    int folder;
    long files;
    size_t bytes;
    const char *content;
    atomic_long next;
} all;

static void need(int is_fine, const char *what)
{
    if (is_fine)
        return;
    fprintf(stderr, "write_time: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *write_some(void *unused)
{
    char temp[64], name[64];
    for (long i; (i = atomic_fetch_add(&all.next, 1)) < all.files;) {
        snprintf(temp, sizeof temp, ".write_time-%ld.tmp", i);
        snprintf(name, sizeof name, "%ld.jpg", i);
        const int fd = openat(all.folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        need(fd >= 0, temp);
        need(write(fd, all.content, all.bytes) == (ssize_t)all.bytes, temp);
        need(fchmod(fd, 0644) == 0 && close(fd) == 0, temp);
        need(renameat2(all.folder, temp, all.folder, name, RENAME_NOREPLACE) == 0, name);
    }
    return unused;
}

static double now_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    const int count = argc == 5 ? atoi(argv[2]) : 0;
    if (count < 1 || count > MOST_THREADS) {
        fputs("usage: write_time FOLDER THREADS FILES BYTES\n", stderr);
        return 2;
    }
    all.files = atol(argv[3]);
    all.bytes = strtoul(argv[4], NULL, 10);
    all.content = calloc(1, all.bytes);
    need(all.content && mkdir(argv[1], 0755) == 0, argv[1]);
    all.folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    need(all.folder >= 0, argv[1]);
    const double began = now_s();
    for (int i = 0; i < count; i++)
        need((errno = pthread_create(&threads[i], NULL, write_some, NULL)) == 0, "a thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.0f files/s: %ld files of %zu bytes, %d threads\n", (double)all.files / (now_s() - began),
        all.files, all.bytes, count);
    return 0;
}
