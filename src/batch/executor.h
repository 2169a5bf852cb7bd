/* Who runs jobs: submit, reap, cancel, close. The first one is the thread pool; worker processes for GPUs
 * can follow behind the same four functions. One owner thread calls them. */
#ifndef LAP_EXECUTOR_H
#define LAP_EXECUTOR_H

#include <sys/stat.h>

#include "io/sink.h"

typedef struct lap_job {
    const lap_tree *tree;            /* the output folder */
    char *input, *output, *relative; /* owned by the job; relative to the output folder */
    struct stat stat;                /* of the input, when it was found, later when it was opened */
    bool force;                      /* whatever file stands under the name is replaced */
    struct stat seen;                /* else this one, if there is one: */
    bool is_seen;
    const lap_settings *settings;
    lap_report report; /* filled by the executor */
    lap_sink *sink;    /* finished and not published, if report.error.code is LAP_OK */
    struct lap_job *next;
} lap_job;

void lap_job_free(lap_job *job); /* closes the sink, which removes what was not published */

typedef struct lap_executor lap_executor;

/* At most jobs run at once, on threads of the context; further ones wait in order. */
lap_code lap_executor_threads(lap_context *context, int jobs, lap_executor **executor, lap_error *err);
/* Takes the job over. */
lap_code lap_executor_submit(lap_executor *executor, lap_job *job, lap_error *err);
/* Who keeps more jobs than this waiting is not woken for each that finishes: for a thumbnail that would cost
 * as much as opening its file. */
enum { LAP_EXECUTOR_LOW = 16 };
/* A finished job, which becomes the caller's; NULL when none finishes within timeout_ms. */
lap_job *lap_executor_reap(lap_executor *executor, int timeout_ms);
/* Submitted and not reaped. */
size_t lap_executor_pending(const lap_executor *executor);
/* Jobs that have not begun come back from reap as cancelled; running ones go on unless the context is
 * cancelled too. */
void lap_executor_cancel(lap_executor *executor);
/* Nothing may be pending. NULL is fine. */
void lap_executor_close(lap_executor *executor);

#endif
