/* Jobs whose results are given out in the order in which they were handed in, however many run at once. One
 * owner thread calls all of this. */
#ifndef LAP_ORDERED_H
#define LAP_ORDERED_H

#include "batch/executor.h"

typedef struct lap_ordered {
    lap_executor *executor;
    void (*give)(void *user, lap_job *job); /* the next result; the job is freed afterwards */
    void (*tick)(void *user);               /* after each wait, ten times a second at least */
    void *user;
    lap_job **turns;      /* done, and not given out: turn t at t % room; NULL where it is not done */
    uint64_t room;        /* jobs under way or waiting for their turn, at most */
    uint64_t next, given; /* turns handed out to jobs; given to the caller */
} lap_ordered;

/* executor, give, tick and user are set; jobs: how many the executor runs at once. LAP_E_MEMORY. */
lap_code lap_ordered_open(lap_ordered *ordered, int jobs, lap_error *err);
/* Waits until one more job may be handed in: give and tick are called. */
void lap_ordered_make_room(lap_ordered *ordered);
/* Takes the job over; after make_room. */
lap_code lap_ordered_submit(lap_ordered *ordered, lap_job *job, lap_error *err);
/* A job that needs no work: its report is filled. Likewise. */
void lap_ordered_add(lap_ordered *ordered, lap_job *job);
/* Waits for all that were handed in; cancel: those that have not begun come back as cancelled. */
void lap_ordered_finish(lap_ordered *ordered, bool cancel);
/* After finish, or where nothing was handed in. The executor is the caller's. */
void lap_ordered_close(lap_ordered *ordered);

#endif
