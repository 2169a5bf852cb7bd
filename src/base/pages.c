#include "base/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"

enum { LINE = 64, LARGE = 2 << 20 };

void *lap_pages_alloc(size_t bytes)
{
    size_t room, large = bytes / LARGE * LARGE;
    void *memory;
    /* Round up to a large page, unless that wastes more than an eighth of the memory. */
    if (!lap_add(bytes, LINE, &room) || !lap_add(large, LARGE, &room))
        return NULL;
    if (room - bytes <= bytes / 8)
        large = room;
    if (posix_memalign(&memory, large > 0 ? LARGE : LINE, large > bytes ? large : bytes) != 0)
        return NULL;
    if (large > 0)
        (void)madvise(
            memory, large, MADV_HUGEPAGE); /* only a hint: the memory is usable without large pages */
    return memory;
}

void *lap_pages_zeroed(size_t bytes)
{
    void *memory;
    if (bytes < LARGE)
        return posix_memalign(&memory, LINE, bytes) == 0 ? memset(memory, 0, bytes) : NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* only a hint */
    return memory;
}

void lap_pages_release(void *memory, size_t bytes)
{
    if (bytes < LARGE)
        free(memory);
    else if (memory)
        (void)munmap(memory, bytes);
}

void *lap_pages_resize(void *memory, size_t used, size_t bytes)
{
    void *larger;
    if (bytes < LARGE)
        return realloc(memory, bytes);
    larger = lap_pages_alloc(bytes);
    if (larger) {
        if (used > 0)
            memcpy(larger, memory, used);
        free(memory);
    }
    return larger;
}
