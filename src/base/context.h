/* What lap_context holds; made in context.c. */
#ifndef LAP_CONTEXT_H
#define LAP_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/pool.h"

struct lap_context {
    lap_pool *pool;
    int threads;
    atomic_int cancel;
    _Atomic(uint64_t) swept; /* key of the folder last looked through for what dead runs left */
};

#endif
