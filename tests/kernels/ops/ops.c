/* Checks every rung of the transpose, reduction, histogram and matrix-vector ladders against c.
 *
 * usage: ops [SEED]: the seed of a failed run, to repeat it; else TEST_SEED, else always the same. */
#include "ops.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device/device.h"

static int tests, failed, skipped, on_device;
static bool quiet;     /* faults of wrong rungs are expected and not shown */
static bool has_fault; /* of the running test: the first one is shown */
static uint64_t state;

/* ---- random numbers (splitmix64) --------------------------------------------------------------- */

uint64_t random64(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

int random_below(int n)
{
    return (int)(random64() % (uint64_t)n);
}

void random_fill(void *memory, size_t bytes)
{
    uint8_t *p = memory;
    for (uint64_t r = 0; bytes > 0; p++, bytes--, r >>= 8) {
        r = (uintptr_t)p % 8 == 0 ? random64() : r + 1;
        *p = (uint8_t)r;
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void require(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static void require_cuda(lap_code code, const lap_error *err)
{
    require(code == LAP_OK, err->message);
}

static size_t whole_bytes(const block *b)
{
    return b->bytes + 2 * GUARD;
}

block block_new(int place, size_t bytes)
{
    block b = {.bytes = bytes, .place = place};
    b.host = aligned_alloc(GUARD, (whole_bytes(&b) + GUARD - 1) / GUARD * GUARD);
    require(b.host != NULL, "out of memory");
    memset(b.host, POISON, whole_bytes(&b));
    if (place != LAP_ON_HOST) {
        lap_error err = {0};
        void *memory;
        require_cuda(lap_cuda_alloc(place, whole_bytes(&b), &memory, &err), &err);
        b.device = memory;
    }
    return b;
}

void block_free(block *b)
{
    free(b->host);
    if (b->device)
        lap_cuda_free(b->place, b->device);
    *b = (block){0};
}

uint8_t *block_data(const block *b)
{
    return (b->device ? b->device : b->host) + GUARD;
}

void block_push(const block *b)
{
    lap_error err = {0};
    if (b->device)
        require_cuda(lap_cuda_copy(b->place, b->device, b->host, whole_bytes(b), NULL, &err), &err);
}

void block_pull(const block *b)
{
    lap_error err = {0};
    if (b->device) {
        require_cuda(lap_cuda_copy(b->place, b->host, b->device, whole_bytes(b), NULL, &err), &err);
        require_cuda(lap_cuda_sync(b->place, NULL, &err), &err);
    }
}

bool block_guards_whole(const block *b)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (b->host[i] != POISON || b->host[GUARD + b->bytes + i] != POISON)
            return false;
    }
    return true;
}

/* ---- TAP --------------------------------------------------------------------------------------- */

bool fault(const char *format, ...)
{
    if (!quiet && !has_fault) {
        va_list arguments;
        va_start(arguments, format);
        printf("# ");
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
    has_fault = true;
    return false;
}

static const char *const ladders[LAP_OP_COUNT] = {"filter", "transpose", "reduce", "histogram", "matvec"};

void check_table(const lap_rung *table, check_fn *check)
{
    for (const lap_rung *rung = table; rung->name; rung++) {
        if (rung->resolves || (ONLY_RACES && !rung->device))
            continue;
        const char *reason = rung->available ? rung->available() : NULL;
        if (reason) {
            printf("ok %d - %s %s # SKIP %s\n", ++tests, ladders[rung->op], rung->name, reason);
            skipped++;
            continue;
        }
        has_fault = false;
        bool good = check(rung);
        printf("%s %d - %s %s equals c\n", good ? "ok" : "not ok", ++tests, ladders[rung->op], rung->name);
        failed += !good;
        on_device += rung->device;
        fflush(stdout);
    }
}

void check_refused(const char *what, check_fn *check, const lap_rung *wrong)
{
    if (ONLY_RACES)
        return;
    quiet = true;
    bool good = check(wrong);
    quiet = false;
    printf("%s %d - %s that %s is refused\n", good ? "not ok" : "ok", ++tests, ladders[wrong->op], what);
    failed += good;
}

int main(int argc, char **argv)
{
    const char *seed = argc > 1 ? argv[1] : getenv("TEST_SEED");
    state = seed ? strtoull(seed, NULL, 0) : 20261122;
    printf("# seed %llu\n", (unsigned long long)state);
    check_transpose();
    check_reduce();
    check_histogram();
    check_matvec();
    printf("1..%d\n", tests);
    if (on_device == 0)
        printf("# no rung was checked on a GPU\n");
    return failed > 0;
}
