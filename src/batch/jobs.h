/* The jobs of a run over many files: the owner hands them in as it walks, and their results are given back as
 * they finish, or in the order in which they were handed in. One owner thread calls all of this. */
#ifndef LAP_JOBS_H
#define LAP_JOBS_H

#include "base/control.h"
#include "batch/batch_devices.h"

typedef struct lap_jobs {
    /* set by the caller after lap_jobs_begin */
    void (*give)(void *user, lap_job *job); /* the next result; the job becomes the caller's */
    void (*step)(void *user);               /* after each wait; NULL: nothing */
    void (*tick)(void *user);               /* ten times a second, counts->ms is set */
    void *user;
    const lap_batch_options *options; /* warn, with warn_user, and work are used */
    void *warn_user;
    bool in_order; /* results are given in the order of the jobs */

    /* for reading */
    int most;            /* jobs at once */
    lap_control control; /* has the run been stopped? */
    lap_batch_counts *counts;
    double began_ms;
    lap_executor *executor; /* closed with this */

    /* of jobs.c */
    double due_ms;
    lap_job **turns;      /* in order: done and not given; turn t at t % room, NULL where it is not done */
    uint64_t room;        /* jobs under way or waiting for their turn, at most */
    uint64_t next, given; /* turns handed out to jobs; given to the caller */
} lap_jobs;

/* The time begins, counts and options->work are cleared. options->jobs: as many at once as are asked for (0:
 * any number) and the context has threads. */
void lap_jobs_begin(
    lap_jobs *jobs, lap_context *context, const lap_batch_options *options, lap_batch_counts *counts);
/* Starts the executor that the load wants (load->jobs is set here); NULL: threads alone. Errors:
 * LAP_E_MEMORY, LAP_E_BACKEND. */
lap_code lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *load, lap_error *err);
/* Waits until one more job may be handed in. */
void lap_jobs_make_room(lap_jobs *jobs);
/* Takes the job over; after make_room. */
lap_code lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err);
/* Takes over a job that needs no work: its report is filled. After make_room. */
void lap_jobs_add(lap_jobs *jobs, lap_job *job);
/* Waits for all that were handed in. cancel: those that have not begun come back as cancelled. */
void lap_jobs_finish(lap_jobs *jobs, bool cancel);
/* How a run that only reads ended: stopped, else as the walk did (code and why). */
lap_code lap_jobs_result(const lap_jobs *jobs, lap_code code, const lap_error *why, lap_error *err);
/* Adds a file's report to counts, and its times to options->work. */
void lap_jobs_count(lap_jobs *jobs, const lap_report *report);
/* After finish, or if nothing was handed in. Sets counts->ms. */
void lap_jobs_close(lap_jobs *jobs);

#endif
