#include "base/condition.h"

#include <string.h>

#include "base/status.h"

lap_code lap_condition_init(pthread_cond_t *condition, lap_error *err)
{
    pthread_condattr_t monotonic;
    int rc = pthread_condattr_init(&monotonic);
    if (rc == 0) {
        rc = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        if (rc == 0)
            rc = pthread_cond_init(condition, &monotonic);
        pthread_condattr_destroy(&monotonic);
    }
    return rc ? lap_fail(err, LAP_E_MEMORY, "cannot make a condition variable: %s", strerror(rc)) : LAP_OK;
}

struct timespec lap_condition_until(int64_t microseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += microseconds / 1000000;
    until.tv_nsec += microseconds % 1000000 * 1000;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    return until;
}
