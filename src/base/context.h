/* The members of lap_context, which context.c creates. */
#ifndef LAP_CONTEXT_H
#define LAP_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/control.h"
#include "base/pool.h"

struct lap_context {
    lap_pool *pool;
    int threads;
    lap_budget budget; /* lap_settings.max_memory is its limit */
    atomic_int cancel;
    _Atomic(uint64_t) swept; /* key of the last folder that was swept for leftovers of killed runs */
};

/* What can stop a run: the context's cancel flag, and the settings' time limit, counted from start_ms (0
 * seconds: no limit). */
lap_control lap_context_control(const lap_context *context, double timeout_s, double start_ms);

#endif
