/* Jobs whose results are given out in the order in which they were handed in, however many run at once: what
 * runs share that only read their inputs. One owner thread calls all of this. */
#ifndef LAP_ORDERED_H
#define LAP_ORDERED_H

#include "base/control.h"
#include "batch/executor.h"

typedef struct lap_ordered {
    void (*give)(void *user, lap_job *job); /* the next result; the job is freed afterwards */
    void (*tick)(void *user);               /* after each wait, ten times a second at least */
    void *user;
    lap_executor *executor; /* closed with this */
    int jobs;               /* how many it runs at once */
    lap_control control;    /* has the run been stopped? */
    lap_batch_counts *counts;
    double began_ms, due_ms;
    lap_job **turns;      /* done, and not given out: turn t at t % room; NULL where it is not done */
    uint64_t room;        /* jobs under way or waiting for their turn, at most */
    uint64_t next, given; /* turns handed out to jobs; given to the caller */
} lap_ordered;

/* The time begins. jobs: as many as are asked for (0: any number), and the context has threads. */
void lap_ordered_begin(lap_ordered *ordered, lap_context *context, int jobs, lap_batch_counts *counts);
/* executor, give, tick and user are set. LAP_E_MEMORY. */
lap_code lap_ordered_open(lap_ordered *ordered, lap_error *err);
/* Waits until one more job may be handed in: give and tick are called. */
void lap_ordered_make_room(lap_ordered *ordered);
/* Takes the job over; after make_room. */
lap_code lap_ordered_submit(lap_ordered *ordered, lap_job *job, lap_error *err);
/* A job that needs no work: its report is filled. Likewise. */
void lap_ordered_add(lap_ordered *ordered, lap_job *job);
/* Waits for all that were handed in; cancel: those that have not begun come back as cancelled. code and why:
 * how handing in has ended, which is the result unless the run was stopped. */
lap_code lap_ordered_finish(
    lap_ordered *ordered, bool cancel, lap_code code, const lap_error *why, lap_error *err);
/* Sets the time in counts; ten times a second it is time to show them. */
bool lap_ordered_is_due(lap_ordered *ordered);
/* After finish, or where nothing was handed in. */
void lap_ordered_close(lap_ordered *ordered);

#endif
