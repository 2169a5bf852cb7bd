/* Preloaded: the LAP_FAIL_AT-th allocation since main began fails, and with LAP_FAIL_EVER all that follow.
 * Where it fired it says so by creating the file LAP_FAIL_FIRED. LAP_FAIL_COUNT=FILE: how many there were,
 * when the program exits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/faults/after_main.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;

static bool fails(void)
{
    if (!atomic_load(&started))
        return false;
    const char *at = getenv("LAP_FAIL_AT"), *fired = getenv("LAP_FAIL_FIRED");
    long call = atomic_fetch_add(&calls, 1) + 1, wanted = at ? strtol(at, NULL, 10) : 0;
    if (wanted == 0 || (getenv("LAP_FAIL_EVER") ? call < wanted : call != wanted))
        return false;
    int fd = fired ? open(fired, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
    return true;
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("LAP_FAIL_COUNT");
    int fd = path ? open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%ld\n", atomic_load(&calls));
    close(fd);
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = fails() ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
