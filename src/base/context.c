#include "base/context.h"

#include <sched.h>
#include <stdlib.h>

#include "base/status.h"

/* Most machines have fewer cores than this. The limit keeps a typing error from starting a million
 * threads. */
enum { MAX_THREADS = 1024 };

int lap_usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return 1;
}

lap_context *lap_context_create(int threads, lap_error *err)
{
    if (threads < 0 || threads > MAX_THREADS) {
        lap_fail(err, LAP_E_USAGE, "%d threads requested; allowed are 1 to %d, or 0 for one per core",
            threads, MAX_THREADS);
        return NULL;
    }
    lap_context *context = calloc(1, sizeof *context);
    if (!context) {
        lap_fail(err, LAP_E_MEMORY, "out of memory for a context");
        return NULL;
    }
    context->threads = threads > 0 ? threads : lap_usable_cores();
    atomic_init(&context->cancel, 0);
    atomic_init(&context->swept, 0);
    if (lap_budget_init(&context->budget, err) != LAP_OK) {
        free(context);
        return NULL;
    }
    context->pool = lap_pool_create(context->threads, err);
    if (!context->pool) {
        lap_budget_destroy(&context->budget);
        free(context);
        return NULL;
    }
    return context;
}

void lap_context_destroy(lap_context *context)
{
    if (!context)
        return;
    lap_pool_destroy(context->pool);
    lap_budget_destroy(&context->budget);
    free(context);
}

int lap_context_threads(const lap_context *context)
{
    return context ? context->threads : 1;
}

void lap_context_cancel(lap_context *context)
{
    atomic_store(&context->cancel, 1);
}

lap_control lap_context_control(const lap_context *context, double timeout_s, double start_ms)
{
    return (lap_control){.cancel = &context->cancel,
        .deadline_ms = timeout_s > 0 ? start_ms + 1e3 * timeout_s : 0,
        .limit_s = timeout_s};
}
