/* Memory that several files share: each says how much it will take before it takes any. */
#ifndef LAP_BUDGET_H
#define LAP_BUDGET_H

#include <pthread.h>

#include "base/control.h"

typedef struct lap_budget {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    uint64_t used;
    struct lap_budget_waiter *first, **last; /* in order of arrival: a large file is not passed for ever */
} lap_budget;

/* LAP_E_MEMORY: there is nothing to destroy then. */
lap_code lap_budget_init(lap_budget *budget, lap_error *err);
void lap_budget_destroy(lap_budget *budget); /* nobody has anything */

/* Waits until bytes, which are at most limit, fit beside what the others have. Who has something must not ask
 * for more. Time spent waiting is added to control's deadline; LAP_E_CANCELLED where it is cancelled. It may
 * be NULL. */
lap_code lap_budget_take(
    lap_budget *budget, uint64_t bytes, uint64_t limit, lap_control *control, lap_error *err);
void lap_budget_give(lap_budget *budget, uint64_t bytes);

#endif
