/* The jobs of a run over many files, and what ends such a run early. One owner thread calls all these
 * functions: it submits jobs as it walks, and receives results as they finish, or in the order of
 * submission. */
#ifndef LAP_JOBS_H
#define LAP_JOBS_H

#include "base/control.h"
#include "batch/batch_devices.h"

typedef struct lap_jobs {
    /* the caller sets these after lap_jobs_begin */
    void (*give)(void *user, lap_job *job); /* receives the next finished job, and owns it from then on */
    void (*step)(void *user);               /* called after each wait, or NULL */
    void (*tick)(void *user);               /* called ten times a second; counts->ms is set */
    void *user;
    const lap_batch_options *options; /* uses warn, with warn_user, and work */
    void *warn_user;
    bool in_order; /* results are given in the order of submission */

    /* the caller may only read these */
    int most;            /* the most jobs at once */
    lap_control control; /* tells whether the run was stopped */
    lap_batch_counts *counts;
    double began_ms;
    lap_error stop;         /* why the run ends early; LAP_OK: it does not, or fail_fast ends it */
    bool failed_fast;       /* a file failed, and options->fail_fast is set */
    lap_executor *executor; /* closed by lap_jobs_close */

    /* internal to jobs.c */
    double due_ms;
    lap_job **turns; /* finished jobs whose turn has not come: turn t is at t % room; NULL: not finished */
    uint64_t room;   /* most jobs in progress or waiting for their turn */
    size_t largest;  /* bytes of the largest result so far, if results are given in order */
    uint64_t next, given; /* turns assigned to jobs; turns given to the caller */
} lap_jobs;

/* Starts the clock, and clears counts and options->work. Runs options->jobs jobs at once (0: no limit), but
 * no more than the context has threads. */
void lap_jobs_begin(
    lap_jobs *jobs, lap_context *context, const lap_batch_options *options, lap_batch_counts *counts);
/* Starts the executor that suits the load, with load->jobs jobs at once, and sets load->is_asked. If load is
 * NULL, uses threads only. LAP_E_MEMORY, LAP_E_BACKEND. */
lap_code lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *load, lap_error *err);
/* Waits until one more job may be submitted. LAP_E_CANCELLED, without a message: the run ends early, which
 * also ends the walk; lap_jobs_result returns the reason. */
lap_code lap_jobs_make_room(lap_jobs *jobs);
/* Submits a job, which the executor then owns, also after a failure. Call lap_jobs_make_room first. */
lap_code lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err);
/* Adds a job that needs no work, because its report is already filled, and owns it from then on. Call
 * lap_jobs_make_room first. */
void lap_jobs_add(lap_jobs *jobs, lap_job *job);
/* Whether the job was not done because the run was stopped. Then its file does not count as failed. */
bool lap_jobs_was_stopped(lap_jobs *jobs, const lap_job *job);
/* Ends the run, as a failure does with fail_fast. */
void lap_jobs_end_early(lap_jobs *jobs);
/* Notes why the run ends early, unless that is known already. */
void lap_jobs_note(lap_jobs *jobs, const lap_error *why);
/* Waits for all submitted jobs. With cancel, jobs that have not begun come back as cancelled. */
void lap_jobs_finish(lap_jobs *jobs, bool cancel);
/* Returns how the run ended: the reason for an early end, or else the result of the walk (code and why). A
 * request to stop that comes after the last job is ignored. Inputs that a complete walk did not find any more
 * count as failed. */
lap_code lap_jobs_result(lap_jobs *jobs, lap_code code, const lap_error *why, lap_error *err);
/* Adds a file's report to counts, and its times to options->work. A full disk, and with options->fail_fast
 * any failure, ends the run: submitted jobs that have not begun come back as cancelled. */
void lap_jobs_count(lap_jobs *jobs, const lap_report *report);
/* Call after lap_jobs_finish, or if nothing was submitted. Sets counts->ms. */
void lap_jobs_close(lap_jobs *jobs);

#endif
