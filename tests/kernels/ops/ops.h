/* Shared by the checks of the four ladders: TAP, random numbers with a seed that can be repeated, and
 * memory with guard bytes on the host or on a device. */
#ifndef LAP_TEST_OPS_H
#define LAP_TEST_OPS_H

#include "rungs/backend.h"

enum { GUARD = 256, POISON = 0xA5 };

/* For race detectors, under which the rest takes minutes: rungs on devices only, on a few sizes. */
#ifdef LAP_FEW_SIZES
enum { ONLY_RACES = 1 };
#else
enum { ONLY_RACES = 0 };
#endif

/* Memory whose first and last GUARD bytes must not be written. The checks use host; where place is a
 * device, push and pull move all of it, guards included, to the device and back. */
typedef struct block {
    uint8_t *host, *device;
    size_t bytes; /* between the guards */
    int place;
} block;

block block_new(int place, size_t bytes); /* all POISON; ends the program if memory is short */
void block_free(block *b);
uint8_t *block_data(const block *b); /* for the rungs: 256-byte aligned */
static inline uint8_t *block_host(const block *b)
{
    return b->host + GUARD;
}
void block_push(const block *b);
void block_pull(const block *b);
bool block_guards_whole(const block *b); /* after pull */

uint64_t random64(void);
int random_below(int n); /* 0..n-1 */
void random_fill(void *memory, size_t bytes);
/* Prints "# ..." once a failing test; returns false, so that checks can return it. */
bool fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One test per rung of table that runs itself (not built or not available: skipped, with the reason),
 * then a test that the wrong rung is refused. */
typedef bool check_fn(const lap_rung *rung);
void check_table(const lap_rung *table, check_fn *check);
void check_refused(const char *what, check_fn *check, const lap_rung *wrong);

void check_transpose(void);
void check_reduce(void);
void check_histogram(void);
void check_matvec(void);

#endif
