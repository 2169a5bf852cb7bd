/* A memory limit that several files share. Each file reserves its memory before it allocates any. */
#ifndef LAP_BUDGET_H
#define LAP_BUDGET_H

#include <pthread.h>

#include "base/control.h"

typedef struct lap_budget {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    uint64_t used;
    struct lap_budget_waiter *first, **last; /* oldest first, so that a large file gets its turn */
} lap_budget;

/* LAP_E_MEMORY: there is nothing to destroy then. */
lap_code lap_budget_init(lap_budget *budget, lap_error *err);
void lap_budget_destroy(lap_budget *budget); /* all memory must have been given back */

/* Waits until `bytes` (at most limit) fit into the memory that other files have not reserved. A caller that
 * already holds memory must not reserve more. Waiting time is added to control's deadline. LAP_E_CANCELLED if
 * control is cancelled. control may be NULL. */
lap_code lap_budget_take(
    lap_budget *budget, uint64_t bytes, uint64_t limit, lap_control *control, lap_error *err);
void lap_budget_give(lap_budget *budget, uint64_t bytes);

#endif
