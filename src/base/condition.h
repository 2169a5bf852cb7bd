/* Condition variables whose timed waits use CLOCK_MONOTONIC, the clock of lap_now_ms: setting the time of day
 * neither ends a wait nor prolongs it. A condition without timed waits, and every mutex, uses
 * PTHREAD_COND_INITIALIZER or PTHREAD_MUTEX_INITIALIZER instead, which cannot fail. */
#ifndef LAP_CONDITION_H
#define LAP_CONDITION_H

#include <pthread.h>
#include <time.h>

#include "lapedge.h"

/* LAP_E_MEMORY: there is nothing to destroy then. */
lap_code lap_condition_init(pthread_cond_t *condition, lap_error *err);

/* Returns the end of a wait of at most this many microseconds that begins now, for pthread_cond_timedwait. */
struct timespec lap_condition_until(int64_t microseconds);

#endif
