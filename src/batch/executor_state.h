/* Shared by the files of the executor. */
#ifndef LAP_EXECUTOR_STATE_H
#define LAP_EXECUTOR_STATE_H

#include <pthread.h>

#include "base/context.h"
#include "batch/executor.h"
#include "run/run.h"

typedef STAILQ_HEAD(lap_job_list, lap_job) lap_job_list;

lap_job *lap_job_pop(lap_job_list *list); /* NULL: the list is empty */

/* How jobs are run: by threads only, or by threads and devices. close is called without the mutex, the other
 * functions with it. A NULL function does nothing. */
typedef struct lap_executor_kind {
    void (*work)(lap_executor *executor); /* does available work; releases the mutex while it works */
    int ahead;                            /* how many jobs should wait, so that no thread runs out of work */
    /* Whether the running threads suffice for the next work, so that no other thread is woken for it. */
    bool (*is_enough)(const lap_executor *executor);
    bool waits; /* if no thread can be started, a job may wait until look_after retries */
    void (*look_after)(lap_executor *executor); /* called by the owner from time to time */
    bool (*warning)(lap_executor *executor, lap_error *warning);
    void (*look)(lap_executor *executor, lap_batch_work *work);
    bool (*close)(lap_executor *executor); /* false: a thread hangs; it frees the executor later */
} lap_executor_kind;

struct lap_executor {
    const lap_executor_kind *kind;
    lap_context *context;
    int jobs;                            /* most threads */
    size_t pending;                      /* only for the owner's thread */
    uint64_t submitted;                  /* only for the owner's thread */
    lap_trace *trace;                    /* or NULL */
    bool (*is_last)(const lap_job *job); /* or NULL */
    struct lap_device_pool *pool;        /* set if the kind uses devices */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    /* protected by the mutex */
    bool is_ending; /* no other job begins */
    int running;    /* running threads */
    size_t queued;  /* jobs in waiting */
    lap_job_list waiting, done;
};

/* Creates an executor of this kind without jobs. */
lap_code lap_executor_create(
    lap_context *context, int jobs, const lap_executor_kind *kind, lap_executor **executor, lap_error *err);
/* Frees an executor that no thread uses any more. */
void lap_executor_free(lap_executor *executor);
/* Call with the mutex held: starts one more thread if that is allowed and the next work needs it. False if no
 * thread could be started. */
bool lap_executor_wake(lap_executor *executor);
/* Call with the mutex held when a job is done. */
void lap_executor_finish(lap_executor *executor, lap_job *job);
lap_run_order lap_job_order(lap_context *context, const lap_job *job, const lap_settings *settings);
/* Runs the job on this thread with these settings. */
void lap_job_run(lap_executor *executor, lap_job *job, const lap_settings *settings);

#endif
