/* The record of a run's changes to the disk, in the order in which they were made: LAP_RECORD gets a line for
 * each, words separated by tabs, and LAP_RECORD.data the bytes that were written. Files are known by their
 * inodes. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/faults/nth_call.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines = -1, data = -1;

static int append(const char *path, const char *end)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s", path, end);
    return (int)syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

bool record_begin(void)
{
    const char *path = getenv("LAP_RECORD");
    if (!path)
        return false;
    pthread_mutex_lock(&lock);
    if (lines < 0) {
        lines = append(path, "");
        data = append(path, ".data");
        if (lines < 0 || data < 0)
            abort();
    }
    return true;
}

static void put(int fd, const void *bytes, size_t size)
{
    if (syscall(SYS_write, fd, bytes, size) != (long)size)
        abort();
}

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
    char text[4 * PATH_MAX];
    va_list more;
    va_start(more, format);
    const int size = vsnprintf(text, sizeof text, format, more);
    va_end(more);
    if (size < 0 || size >= (int)sizeof text)
        abort();
    put(lines, text, (size_t)size);
}

/* The whole path of a name in a folder. */
static const char *whole(int folder, const char *path, char text[PATH_MAX])
{
    char name[64], place[PATH_MAX] = "";
    if (path[0] == '/') {
        snprintf(text, PATH_MAX, "%s", path);
        return text;
    }
    snprintf(name, sizeof name, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    if (syscall(SYS_readlinkat, AT_FDCWD, name, place, sizeof place - 1) < 0)
        abort();
    if (snprintf(text, PATH_MAX, "%s/%s", place, path) >= PATH_MAX)
        abort();
    return text;
}

static unsigned long long inode(long fd)
{
    struct stat st;
    return fd >= 0 && syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 ? (unsigned long long)st.st_ino
                                                                               : 0;
}

void record_path(const char *call, long result, int folder, const char *path)
{
    char text[PATH_MAX];
    const bool opens = strcmp(call, "create") == 0 || strcmp(call, "open") == 0 || strcmp(call, "use") == 0;
    if (result >= 0)
        line("%s\t%s\t%llu\n", call, whole(folder, path, text), opens ? inode(result) : 0);
    pthread_mutex_unlock(&lock);
}

void record_two(const char *call, long result, int from, const char *old, int to, const char *new)
{
    char text[PATH_MAX], other[PATH_MAX];
    if (result >= 0)
        line("%s\t%s\t%s\n", call, whole(from, old, text), whole(to, new, other));
    pthread_mutex_unlock(&lock);
}

void record_fd(const char *call, long result, int fd, off_t size)
{
    char name[64], place[PATH_MAX] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (result >= 0 && syscall(SYS_readlinkat, AT_FDCWD, name, place, sizeof place - 1) >= 0)
        line("%s\t%s\t%llu\t%lld\n", call, place, inode(fd), (long long)size);
    pthread_mutex_unlock(&lock);
}

off_t record_position(int fd)
{
    struct stat st;
    const long flags = syscall(SYS_fcntl, fd, F_GETFL);
    if (flags >= 0 && flags & O_APPEND && syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0)
        return st.st_size;
    return (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

void record_write(long result, int fd, const void *bytes, off_t at)
{
    if (result > 0 && at >= 0) {
        put(data, bytes, (size_t)result);
        line("write\t%llu\t%lld\t%ld\n", inode(fd), (long long)at, result);
    }
    pthread_mutex_unlock(&lock);
}
