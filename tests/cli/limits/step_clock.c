/* A clock that goes by steps: each look at it is LAP_STEP_NS nanoseconds later than the one before, so that
 * all times are known beforehand. At look number LAP_STEP_INT, counted from 1, it sends SIGINT. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time);

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static _Atomic long long now, looks;
    const char *step = getenv("LAP_STEP_NS"), *interrupt = getenv("LAP_STEP_INT");
    const long long at = atomic_fetch_add(&now, step ? atoll(step) : 1);
    (void)clock;
    if (atomic_fetch_add(&looks, 1) + 1 == (interrupt ? atoll(interrupt) : 0))
        raise(SIGINT);
    time->tv_sec = at / 1000000000;
    time->tv_nsec = at % 1000000000;
    return 0;
}
