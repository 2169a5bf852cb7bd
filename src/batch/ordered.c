#include "batch/ordered.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/status.h"

enum { TICK_MS = 100, AHEAD = 4 * LAP_EXECUTOR_LOW };

void lap_ordered_begin(lap_ordered *o, lap_context *context, int jobs, lap_batch_counts *counts)
{
    *o = (lap_ordered){.jobs = jobs > 0 && jobs < context->threads ? jobs : context->threads,
        .control = {.cancel = &context->cancel},
        .counts = counts,
        .began_ms = lap_now_ms(),
        .due_ms = TICK_MS};
    *counts = (lap_batch_counts){0};
}

lap_code lap_ordered_open(lap_ordered *o, lap_error *err)
{
    o->room = (uint64_t)o->jobs + AHEAD;
    o->turns = calloc(o->room, sizeof(lap_job *));
    return o->turns ? LAP_OK : lap_fail(err, LAP_E_MEMORY, "out of memory");
}

static void give_those_in_turn(lap_ordered *o)
{
    lap_job **slot;
    while (o->given < o->next && *(slot = &o->turns[o->given % o->room])) {
        o->give(o->user, *slot);
        lap_job_free(*slot);
        *slot = NULL;
        o->given++;
    }
}

static void reap(lap_ordered *o)
{
    lap_job *job = lap_executor_reap(o->executor, TICK_MS);
    if (job) {
        o->turns[job->turn % o->room] = job;
        give_those_in_turn(o);
    }
    o->tick(o->user);
}

void lap_ordered_make_room(lap_ordered *o)
{
    while (o->next - o->given == o->room)
        reap(o);
}

lap_code lap_ordered_submit(lap_ordered *o, lap_job *job, lap_error *err)
{
    job->turn = o->next;
    const lap_code code = lap_executor_submit(o->executor, job, err);
    o->next += code == LAP_OK;
    return code;
}

void lap_ordered_add(lap_ordered *o, lap_job *job)
{
    job->turn = o->next++;
    o->turns[job->turn % o->room] = job;
    give_those_in_turn(o);
}

lap_code lap_ordered_finish(lap_ordered *o, bool cancel, lap_code code, const lap_error *why, lap_error *err)
{
    if (cancel)
        lap_executor_cancel(o->executor);
    while (lap_executor_pending(o->executor))
        reap(o);
    if (lap_control_check(&o->control, err) != LAP_OK)
        return LAP_E_CANCELLED;
    if (code != LAP_OK && err)
        *err = *why;
    return code;
}

bool lap_ordered_is_due(lap_ordered *o)
{
    o->counts->ms = lap_now_ms() - o->began_ms;
    if (o->counts->ms < o->due_ms)
        return false;
    o->due_ms = o->counts->ms + TICK_MS;
    return true;
}

void lap_ordered_close(lap_ordered *o)
{
    o->counts->ms = lap_now_ms() - o->began_ms;
    lap_executor_close(o->executor);
    for (uint64_t i = 0; o->turns && i < o->room; i++)
        lap_job_free(o->turns[i]);
    free(o->turns);
    o->turns = NULL;
}
