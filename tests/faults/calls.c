/* The calls that nth_call.c may let fail, each in front of the C library's own, and which of them are
 * recorded. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/faults/nth_call.h"

#define NEXT(name)                 \
    static __typeof__(name) *next; \
    if (!next)                     \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

/* The whole of a call that fails by a value and errno. */
#define FAIL_IF(name, value)               \
    NEXT(name);                            \
    const int why = nth_call_fails(#name); \
    if (why > 0) {                         \
        errno = why;                       \
        return value;                      \
    }

/* ---- opening and reading --------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

static int recorded_open(long fd, int folder, const char *path, int flags)
{
    record_path(flags & O_CREAT ? flags & O_TRUNC ? "create" : "open" : "use", fd, folder, path);
    return (int)fd;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = mode_of(flags, more);
    va_end(more);
    FAIL_IF(open, -1);
    if (!record_begin())
        return next(path, flags, mode);
    return recorded_open(next(path, flags, mode), AT_FDCWD, path, flags);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = mode_of(flags, more);
    va_end(more);
    FAIL_IF(openat, -1);
    if (!record_begin())
        return next(folder, path, flags, mode);
    return recorded_open(next(folder, path, flags, mode), folder, path, flags);
}

static size_t less(int why, size_t size)
{
    return why == NTH_CALL_SHORT && size > 1 ? size / 2 : size;
}

ssize_t read(int fd, void *bytes, size_t size)
{
    FAIL_IF(read, -1);
    return next(fd, bytes, less(why, size));
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    FAIL_IF(pread, -1);
    return next(fd, bytes, less(why, size), at);
}

FILE *fopen(const char *path, const char *how)
{
    FAIL_IF(fopen, NULL);
    return next(path, how);
}

int fclose(FILE *file)
{
    NEXT(fclose);
    const int why = nth_call_fails("fclose"), closed = next(file);
    if (why > 0)
        errno = why;
    return why > 0 ? EOF : closed;
}

int fflush(FILE *file)
{
    FAIL_IF(fflush, EOF);
    return next(file);
}

DIR *fdopendir(int fd)
{
    FAIL_IF(fdopendir, NULL);
    return next(fd);
}

DIR *opendir(const char *path)
{
    FAIL_IF(opendir, NULL);
    return next(path);
}

FILE *fopencookie(void *cookie, const char *how, cookie_io_functions_t functions)
{
    FAIL_IF(fopencookie, NULL);
    return next(cookie, how, functions);
}

FILE *open_memstream(char **bytes, size_t *size)
{
    FAIL_IF(open_memstream, NULL);
    return next(bytes, size);
}

ssize_t getdelim(char **line, size_t *size, int end, FILE *file)
{
    FAIL_IF(getdelim, -1);
    return next(line, size, end, file);
}

int fcntl(int fd, int what, ...)
{
    va_list more;
    va_start(more, what);
    const long argument = va_arg(more, long);
    va_end(more);
    FAIL_IF(fcntl, -1);
    return next(fd, what, argument);
}

struct dirent *readdir(DIR *folder)
{
    FAIL_IF(readdir, NULL);
    return next(folder);
}

int scandirat(int folder, const char *path, struct dirent ***names, int (*wanted)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **))
{
    FAIL_IF(scandirat, -1);
    return next(folder, path, names, wanted, order);
}

int stat(const char *path, struct stat *st)
{
    FAIL_IF(stat, -1);
    return next(path, st);
}

int lstat(const char *path, struct stat *st)
{
    FAIL_IF(lstat, -1);
    return next(path, st);
}

int fstat(int fd, struct stat *st)
{
    FAIL_IF(fstat, -1);
    return next(fd, st);
}

int fstatat(int folder, const char *path, struct stat *st, int flags)
{
    FAIL_IF(fstatat, -1);
    return next(folder, path, st, flags);
}

ssize_t readlink(const char *path, char *to, size_t size)
{
    FAIL_IF(readlink, -1);
    return next(path, to, size);
}

char *realpath(const char *path, char *to)
{
    FAIL_IF(realpath, NULL);
    return next(path, to);
}

char *getcwd(char *to, size_t size)
{
    FAIL_IF(getcwd, NULL);
    return next(to, size);
}

int access(const char *path, int how)
{
    FAIL_IF(access, -1);
    return next(path, how);
}

off_t lseek(int fd, off_t to, int from)
{
    FAIL_IF(lseek, -1);
    return next(fd, to, from);
}

/* The CPU runtime of the CUDA tests, and its sanitizers, need these themselves. */
#ifndef LAP_CUDACPU

/* ---- memory, threads, waiting ----------------------------------------------------------------------- */

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    FAIL_IF(mmap, MAP_FAILED);
    return next(at, size, protection, flags, fd, offset);
}

int madvise(void *at, size_t size, int advice)
{
    FAIL_IF(madvise, -1);
    return next(at, size, advice);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    NEXT(pthread_create);
    const int why = nth_call_fails("pthread_create");
    return why > 0 ? why : next(thread, attributes, run, argument);
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    FAIL_IF(sched_getaffinity, -1);
    return next(process, size, set);
}

int pthread_condattr_init(pthread_condattr_t *attributes)
{
    NEXT(pthread_condattr_init);
    const int why = nth_call_fails("pthread_condattr_init");
    return why > 0 ? why : next(attributes);
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    NEXT(pthread_mutex_init);
    const int why = nth_call_fails("pthread_mutex_init");
    return why > 0 ? why : next(mutex, attributes);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    NEXT(pthread_cond_init);
    const int why = nth_call_fails("pthread_cond_init");
    return why > 0 ? why : next(condition, attributes);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    FAIL_IF(poll, -1);
    return next(fds, n, timeout);
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    FAIL_IF(getrandom, -1);
    return next(bytes, size, flags);
}

#endif

/* ---- what changes the disk -------------------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t size)
{
    NEXT(write);
    const int why = fd == STDERR_FILENO ? 0 : nth_call_fails("write");
    if (why > 0) {
        errno = why;
        return -1;
    }
    if (!record_begin())
        return next(fd, bytes, less(why, size));
    const off_t at = record_position(fd);
    const ssize_t wrote = next(fd, bytes, less(why, size));
    record_write(wrote, fd, bytes, at);
    return wrote;
}

int close(int fd)
{
    NEXT(close);
    const int why = nth_call_fails("close"), closed = next(fd);
    if (why > 0)
        errno = why;
    return why > 0 ? -1 : closed;
}

#define SYNC(name)                       \
    int name(int fd)                     \
    {                                    \
        FAIL_IF(name, -1);               \
        if (!record_begin())             \
            return next(fd);             \
        const int result = next(fd);     \
        record_fd(#name, result, fd, 0); \
        return result;                   \
    }
SYNC(fsync)
SYNC(fdatasync)
SYNC(syncfs)

int ftruncate(int fd, off_t size)
{
    FAIL_IF(ftruncate, -1);
    if (!record_begin())
        return next(fd, size);
    const int result = next(fd, size);
    record_fd("ftruncate", result, fd, size);
    return result;
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    FAIL_IF(fallocate, -1);
    return next(fd, mode, at, size);
}

int fchmod(int fd, mode_t mode)
{
    FAIL_IF(fchmod, -1);
    return next(fd, mode);
}

int fchown(int fd, uid_t user, gid_t group)
{
    FAIL_IF(fchown, -1);
    return next(fd, user, group);
}

int futimens(int fd, const struct timespec times[2])
{
    FAIL_IF(futimens, -1);
    return next(fd, times);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    FAIL_IF(renameat2, -1);
    if (!record_begin())
        return next(from, old, to, new, flags);
    const int result = next(from, old, to, new, flags);
    record_two("rename", result, from, old, to, new);
    return result;
}

int renameat(int from, const char *old, int to, const char *new)
{
    FAIL_IF(renameat, -1);
    if (!record_begin())
        return next(from, old, to, new);
    const int result = next(from, old, to, new);
    record_two("rename", result, from, old, to, new);
    return result;
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    FAIL_IF(linkat, -1);
    if (!record_begin())
        return next(from, old, to, new, flags);
    const int result = next(from, old, to, new, flags);
    record_two("link", result, from, old, to, new);
    return result;
}

int unlinkat(int folder, const char *path, int flags)
{
    FAIL_IF(unlinkat, -1);
    if (!record_begin())
        return next(folder, path, flags);
    const int result = next(folder, path, flags);
    record_path("unlink", result, folder, path);
    return result;
}

int unlink(const char *path)
{
    FAIL_IF(unlink, -1);
    if (!record_begin())
        return next(path);
    const int result = next(path);
    record_path("unlink", result, AT_FDCWD, path);
    return result;
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    FAIL_IF(mkdirat, -1);
    if (!record_begin())
        return next(folder, path, mode);
    const int result = next(folder, path, mode);
    record_path("mkdir", result, folder, path);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    FAIL_IF(mkdir, -1);
    if (!record_begin())
        return next(path, mode);
    const int result = next(path, mode);
    record_path("mkdir", result, AT_FDCWD, path);
    return result;
}
