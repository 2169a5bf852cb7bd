/* Whether our coders may be used is found out once. If memory runs out meanwhile, the next call finds it out:
 * a program that was short of memory for a moment keeps its coders. Allocations of the library go through
 * the functions below (rules.mk: --wrap); the Nth of them fails. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libjpeg/known_picture.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

static int left; /* allocations until one fails; 0: none fails */

static bool fails(void)
{
    return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    enum { OUT_OF_MEMORY = 12 };
    return fails() ? OUT_OF_MEMORY : __real_posix_memalign(memory, alignment, size);
}

/* Returns how many calls ran out of memory before one did not; *last is what that one returned. */
static int run_out(const char *(*differs)(void), const char **last)
{
    int failed = 0;
    for (int n = 1;; n++) {
        left = n;
        *last = differs();
        left = 0;
        if (!*last || !strstr(*last, "out of memory"))
            return failed;
        failed++;
        if (n > 10000)
            return -1;
    }
}

int main(void)
{
    static const char *const names[] = {"encoding", "decoding"};
    const char *(*const calls[])(void) = {lap_known_encoding_differs, lap_known_decoding_differs};
    int bad = 0;
    puts("1..2");
    for (int i = 0; i < 2; i++) {
        const char *last;
        const int failed = run_out(calls[i], &last);
        const bool is_fine = failed >= 2 && (!last || strstr(last, "rounds differently"));
        printf("%sok %d - %s: %d calls out of memory, then: %s\n", is_fine ? "" : "not ", i + 1, names[i],
            failed, last ? last : "as libjpeg-turbo");
        bad += !is_fine;
    }
    return bad > 0;
}
