/* Condition variables whose timed waits go by CLOCK_MONOTONIC, the clock of lap_now_ms: a change of the time
 * of day neither ends a wait nor prolongs it. A condition nobody waits for with a limit, and every mutex,
 * gets PTHREAD_COND_INITIALIZER or PTHREAD_MUTEX_INITIALIZER instead, which cannot fail. */
#ifndef LAP_CONDITION_H
#define LAP_CONDITION_H

#include <pthread.h>
#include <time.h>

#include "lapedge.h"

/* LAP_E_MEMORY: there is nothing to destroy then. */
lap_code lap_condition_init(pthread_cond_t *condition, lap_error *err);

/* When a wait that begins now and takes at most so many microseconds ends: for pthread_cond_timedwait. */
struct timespec lap_condition_until(int64_t microseconds);

#endif
