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

/* Another way to do jobs than each on one thread. All but close are called under the mutex. */
typedef struct lap_executor_ops {
    void (*work)(void *helper); /* on a thread: does what there is to do, with the mutex released meanwhile */
    void (*look_after)(void *helper);                  /* by the owner, from time to time */
    bool (*warning)(void *helper, lap_error *warning); /* lap_executor_warning */
    void (*look)(const void *helper, lap_batch_work *work);
    bool (*close)(void *helper); /* false: something still uses the executor, which stays as it is */
} lap_executor_ops;

struct lap_executor {
    lap_context *context;
    int jobs;                    /* threads at most */
    size_t pending;              /* only the owner's thread */
    uint64_t submitted;          /* likewise */
    lap_trace *trace;            /* or NULL */
    const lap_executor_ops *ops; /* or NULL */
    void *helper;                /* of ops */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    /* under the mutex */
    int running;   /* threads */
    size_t queued; /* in waiting */
    lap_job_list waiting, done;
};

/* Under the mutex: one more thread looks for work, if there may be one. False where none could be started. */
bool lap_executor_wake(lap_executor *executor);
/* Under the mutex: a job is done. */
void lap_executor_finish(lap_executor *executor, lap_job *job);
/* Has the job done on this thread, with these settings. */
void lap_job_run(lap_executor *executor, lap_job *job, const lap_settings *settings);

#endif
