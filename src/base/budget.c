#include "base/budget.h"

#include "base/condition.h"
#include "base/status.h"

enum { LOOK_US = 100000 }; /* between two checks of the cancel flag */

struct lap_budget_waiter {
    struct lap_budget_waiter *next;
};

lap_code lap_budget_init(lap_budget *b, lap_error *err)
{
    *b = (lap_budget){.lock = PTHREAD_MUTEX_INITIALIZER};
    b->last = &b->first;
    return lap_condition_init(&b->freed, err);
}

void lap_budget_destroy(lap_budget *b)
{
    pthread_cond_destroy(&b->freed);
    pthread_mutex_destroy(&b->lock);
}

/* Call it with the lock held; waiting releases it. */
static void wait_a_little(lap_budget *b)
{
    const struct timespec until = lap_condition_until(LOOK_US);
    pthread_cond_timedwait(&b->freed, &b->lock, &until);
}

static void join_queue(lap_budget *b, struct lap_budget_waiter *waiter)
{
    *b->last = waiter;
    b->last = &waiter->next;
}

static void leave_queue(lap_budget *b, struct lap_budget_waiter *waiter)
{
    struct lap_budget_waiter **at = &b->first;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    if (!waiter->next)
        b->last = at;
}

lap_code lap_budget_take(lap_budget *b, uint64_t bytes, uint64_t limit, lap_control *control, lap_error *err)
{
    struct lap_budget_waiter waiter = {.next = NULL};
    /* No deadline, because waiting does not count. */
    const lap_control cancel = {.cancel = control ? control->cancel : NULL};
    lap_code code = LAP_OK;
    double start = lap_now_ms();
    pthread_mutex_lock(&b->lock);
    join_queue(b, &waiter);
    while (code == LAP_OK && !(b->first == &waiter && (b->used == 0 || b->used + bytes <= limit))) {
        wait_a_little(b);
        code = lap_control_check(&cancel, err);
    }
    leave_queue(b, &waiter);
    if (code == LAP_OK)
        b->used += bytes;
    pthread_cond_broadcast(&b->freed);
    pthread_mutex_unlock(&b->lock);
    if (control && control->deadline_ms > 0)
        control->deadline_ms += lap_now_ms() - start;
    return code;
}

void lap_budget_give(lap_budget *b, uint64_t bytes)
{
    if (bytes == 0)
        return;
    pthread_mutex_lock(&b->lock);
    b->used -= bytes;
    pthread_cond_broadcast(&b->freed);
    pthread_mutex_unlock(&b->lock);
}
