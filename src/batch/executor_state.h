/* What the files of the executor share. */
#ifndef LAP_EXECUTOR_STATE_H
#define LAP_EXECUTOR_STATE_H

#include <pthread.h>

#include "base/context.h"
#include "batch/executor.h"

typedef struct lap_job_list {
    lap_job *first, **last;
} lap_job_list;

void lap_job_list_init(lap_job_list *list);
void lap_job_push(lap_job_list *list, lap_job *job);
void lap_job_push_front(lap_job_list *list, lap_job *job);
lap_job *lap_job_pop(lap_job_list *list);                /* NULL where there is none */
lap_job *lap_job_take(lap_job_list *list, lap_job **at); /* at: what points to it, in the list */

/* What runs the jobs: threads alone, or threads beside a pool of devices. close is called without the mutex,
 * the others with it. NULL: there is nothing to do. */
typedef struct lap_executor_kind {
    void (*work)(lap_executor *executor); /* what there is to do, with the mutex released meanwhile */
    bool waits; /* a job that no thread can be started for may wait: look_after tries again */
    void (*look_after)(lap_executor *executor); /* by the owner, from time to time */
    bool (*warning)(lap_executor *executor, lap_error *warning);
    void (*look)(lap_executor *executor, lap_batch_work *work);
    bool (*close)(lap_executor *executor); /* false: a thread hangs, and nothing may be freed */
} lap_executor_kind;

struct lap_executor {
    const lap_executor_kind *kind;
    lap_context *context;
    int jobs;                     /* threads at most */
    size_t pending;               /* only the owner's thread */
    uint64_t submitted;           /* likewise */
    lap_trace *trace;             /* or NULL */
    struct lap_device_pool *pool; /* of the kind that has devices */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    /* under the mutex */
    int running;   /* threads */
    size_t queued; /* in waiting */
    lap_job_list waiting, done;
};

/* An executor of this kind, without jobs. */
lap_code lap_executor_create(
    lap_context *context, int jobs, const lap_executor_kind *kind, lap_executor **executor, lap_error *err);
/* Under the mutex: one more thread looks for work, if there may be one. False where none could be started. */
bool lap_executor_wake(lap_executor *executor);
/* Under the mutex: a job is done. */
void lap_executor_finish(lap_executor *executor, lap_job *job);
/* Has the job done on this thread, with these settings. */
void lap_job_run(lap_executor *executor, lap_job *job, const lap_settings *settings);

#endif
