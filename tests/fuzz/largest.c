/* The largest block that was asked for since fuzz_largest was zero: a small input must not ask for much
 * memory. For programs without sanitizers, which bring their own allocator; libFuzzer has -malloc_limit_mb.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

_Atomic size_t fuzz_largest;

static void note(size_t size)
{
    size_t before = atomic_load(&fuzz_largest);
    while (size > before && !atomic_compare_exchange_weak(&fuzz_largest, &before, size))
        ;
}

void *malloc(size_t size)
{
    note(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    note(size && count > (size_t)-1 / size ? (size_t)-1 : count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    note(size);
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note(size);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    note(size);
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
