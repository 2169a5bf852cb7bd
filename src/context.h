/* What lap_context holds; made in context.c. */
#ifndef LAP_CONTEXT_H
#define LAP_CONTEXT_H

#include <stdatomic.h>

#include "pool.h"

struct lap_context {
    lap_pool *pool;
    int threads;
    atomic_int cancel;
};

#endif
