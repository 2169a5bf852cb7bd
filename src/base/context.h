/* What lap_context holds; made in context.c. */
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
    lap_budget budget; /* of lap_settings.max_memory */
    atomic_int cancel;
    _Atomic(uint64_t) swept; /* key of the folder last looked through for what dead runs left */
};

/* What stops a run: the context's cancel flag, and the time limit of the settings counted from start_ms
 * (0 seconds: none). */
lap_control lap_context_control(const lap_context *context, double timeout_s, double start_ms);

#endif
