/* Bytes that end where a page ends, before one that may not be read: code that reads behind them dies of a
 * signal, even without a sanitizer. */
#ifndef EDGE_H
#define EDGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy that is valid until the next call. */
static inline uint8_t *at_edge(const void *bytes, size_t size)
{
    enum { MOST = 256 << 20 }; /* only touched pages take memory */
    static uint8_t *end;
    if (!end) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *pages = mmap(
            NULL, MOST + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pages == MAP_FAILED || mprotect(pages + MOST, page, PROT_NONE) != 0)
            abort();
        end = pages + MOST;
    }
    if (size > MOST)
        abort();
    return size ? memcpy(end - size, bytes, size) : end;
}

#endif
