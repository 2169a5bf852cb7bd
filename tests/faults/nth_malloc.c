/* Preloaded: the LAP_FAIL_AT-th allocation since main began fails, and with LAP_FAIL_EVER all that follow.
 * Where it fired it says so by creating the file LAP_FAIL_FIRED. LAP_FAIL_COUNT=FILE: how many there were,
 * when the program exits. LAP_FAIL_PLACES=FILE: for each stack of callers in the program, without those in
 * libraries, a line with the number of the first allocation. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/faults/after_main.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;

/* ---- places ---- */

enum { FRAMES = 60, PLACES = 1 << 14 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t places[PLACES]; /* hashes of stacks; 0: none */
static int places_file = -1;
static uintptr_t program_begin, program_end;
/* Of a thread that notes a place: what that allocates is no place. */
static _Thread_local bool notes __attribute__((tls_model("initial-exec")));

/* Of the first object, which is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    program_begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            program_end = program_begin + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

/* The first call of backtrace loads a library, which allocates. */
__attribute__((constructor)) static void open_places(void)
{
    void *frame;
    const char *path = getenv("LAP_FAIL_PLACES");
    if (path && backtrace(&frame, 1) && dl_iterate_phdr(find_program, NULL))
        places_file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
}

static void note_place(long call)
{
    void *frames[FRAMES];
    char line[32];
    uint64_t hash = 1469598103934665603U; /* FNV-1a */
    const int count = backtrace(frames, FRAMES);
    for (int i = 0; i < count; i++)
        if ((uintptr_t)frames[i] >= program_begin && (uintptr_t)frames[i] < program_end)
            hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211U;
    pthread_mutex_lock(&mutex);
    size_t at = hash % PLACES;
    while (places[at] && places[at] != hash)
        at = (at + 1) % PLACES;
    if (!places[at])
        (void)!write(places_file, line, (size_t)snprintf(line, sizeof line, "%ld\n", call));
    places[at] = hash;
    pthread_mutex_unlock(&mutex);
}

static bool fails(void)
{
    if (!atomic_load(&started))
        return false;
    const char *at = getenv("LAP_FAIL_AT"), *fired = getenv("LAP_FAIL_FIRED");
    long call = atomic_fetch_add(&calls, 1) + 1, wanted = at ? strtol(at, NULL, 10) : 0;
    if (places_file >= 0 && !notes) {
        notes = true;
        note_place(call);
        notes = false;
    }
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
