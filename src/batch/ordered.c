#include "batch/ordered.h"

#include <stdlib.h>

#include "base/status.h"

enum { WAIT_MS = 100, AHEAD = 4 * LAP_EXECUTOR_LOW };

lap_code lap_ordered_open(lap_ordered *o, int jobs, lap_error *err)
{
    o->room = (uint64_t)jobs + AHEAD;
    o->next = o->given = 0;
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
    lap_job *job = lap_executor_reap(o->executor, WAIT_MS);
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

void lap_ordered_finish(lap_ordered *o, bool cancel)
{
    if (cancel)
        lap_executor_cancel(o->executor);
    while (lap_executor_pending(o->executor))
        reap(o);
}

void lap_ordered_close(lap_ordered *o)
{
    for (uint64_t i = 0; o->turns && i < o->room; i++)
        lap_job_free(o->turns[i]);
    free(o->turns);
    o->turns = NULL;
}
