/* Preloaded: calls of the C library fail where LAP_FAULTS says so.
 *
 *   LAP_FAULTS=CALL:N:ERRNO[,...]    the N-th CALL since main began fails with the number ERRNO
 *              CALL:N+:ERRNO         and all that follow
 *              CALL:N%:ERRNO         and every second one that follows: a storm
 *              CALL:N+:0             reads and writes are short: half of what was asked for, at least one
 * byte LAP_FIRED=FILE                   is created when a fault fires LAP_COUNTS=FILE                  how
 * often each call was made, a line each, when the program exits
 *
 * Writing to stderr never fails. Only calls that go through the dynamic linker are met: not those that the C
 * library makes inside itself (fopen opens without a call to open). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/faults/after_main.h"
#include "tests/faults/nth_call.h"

enum { MAX_FAULTS = 8, MAX_CALLS = 64 };

typedef struct fault {
    char call[24], how;
    long at;
    int number;
} fault;

typedef struct counter {
    _Atomic(const char *) call;
    atomic_long count;
} counter;

static fault faults[MAX_FAULTS];
static int fault_count;
static counter counters[MAX_CALLS];

__attribute__((constructor)) static void read_faults(void)
{
    const char *at = getenv("LAP_FAULTS");
    for (int used = 0; at && *at && fault_count < MAX_FAULTS; at += used + (at[used] == ',')) {
        fault *f = &faults[fault_count++];
        used = 0;
        if (sscanf(at, "%23[a-z_0-9]:%ld%n", f->call, &f->at, &used) != 2)
            abort();
        if (at[used] == '+' || at[used] == '%')
            f->how = at[used++];
        int more = 0;
        if (sscanf(at + used, ":%d%n", &f->number, &more) != 1)
            abort();
        used += more;
    }
}

static long count(const char *call)
{
    for (int i = 0; i < MAX_CALLS; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&counters[i].call, &none, call) || strcmp(none, call) == 0)
            return atomic_fetch_add(&counters[i].count, 1) + 1;
    }
    abort();
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("LAP_COUNTS");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
    for (int i = 0; fd >= 0 && i < MAX_CALLS && counters[i].call; i++)
        dprintf(fd, "%s %ld\n", counters[i].call, counters[i].count);
    if (fd >= 0)
        syscall(SYS_close, fd);
}

static void fired(void)
{
    const char *path = getenv("LAP_FIRED");
    long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, 0600) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
}

int nth_call_fails(const char *call)
{
    if (!atomic_load(&started))
        return 0;
    const int before = errno;
    const long now = count(call);
    for (int i = 0; i < fault_count; i++) {
        const fault *f = &faults[i];
        if (strcmp(f->call, call) != 0 || now < f->at || (!f->how && now > f->at) ||
            (f->how == '%' && (now - f->at) % 2))
            continue;
        fired();
        errno = before;
        return f->number ? f->number : NTH_CALL_SHORT;
    }
    errno = before;
    return 0;
}
