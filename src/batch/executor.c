#include "batch/executor.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/context.h"
#include "base/status.h"
#include "run/run.h"

typedef struct job_list {
    lap_job *first, **last;
} job_list;

struct lap_executor {
    lap_context *context;
    int jobs, running, queued; /* queued: in waiting */
    size_t pending;            /* only the owner's thread */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    job_list waiting, done;
};

/* A worker carries its executor and the job it begins with. */
typedef struct worker {
    lap_executor *executor;
    lap_job *job;
} worker;

static void push(job_list *list, lap_job *job)
{
    job->next = NULL;
    *list->last = job;
    list->last = &job->next;
}

static lap_job *pop(job_list *list)
{
    lap_job *job = list->first;
    if (job && !(list->first = job->next))
        list->last = &list->first;
    return job;
}

void lap_job_free(lap_job *job)
{
    if (!job)
        return;
    lap_sink_close(job->sink);
    free(job->input);
    free(job->output);
    free(job->relative);
    free(job);
}

/* Runs its job and then whatever waits; with nothing waiting the thread goes back to the pool, where it
 * may help with the bands of a file that still runs. */
static void work(void *argument)
{
    worker w = *(worker *)argument;
    lap_executor *ex = w.executor;
    free(argument);
    while (w.job) {
        lap_run_to_sink(ex->context, w.job->input, w.job->tree, w.job->relative, w.job->settings,
            &w.job->stat, &w.job->sink, &w.job->report, &w.job->report.error);
        pthread_mutex_lock(&ex->mutex);
        push(&ex->done, w.job);
        w.job = pop(&ex->waiting);
        ex->queued -= w.job != NULL;
        ex->running -= !w.job;
        if (ex->queued <= LAP_EXECUTOR_LOW)
            pthread_cond_signal(&ex->finished);
        pthread_mutex_unlock(&ex->mutex);
    }
}

lap_code lap_executor_threads(lap_context *context, int jobs, lap_executor **executor, lap_error *err)
{
    pthread_condattr_t monotonic;
    lap_executor *ex = calloc(1, sizeof *ex);
    *executor = ex;
    if (!ex)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    ex->context = context;
    ex->jobs = jobs;
    ex->waiting.last = &ex->waiting.first;
    ex->done.last = &ex->done.first;
    pthread_mutex_init(&ex->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ex->finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return LAP_OK;
}

lap_code lap_executor_submit(lap_executor *ex, lap_job *job, lap_error *err)
{
    pthread_mutex_lock(&ex->mutex);
    bool start = ex->running < ex->jobs;
    if (start)
        ex->running++;
    else
        push(&ex->waiting, job);
    ex->queued += !start;
    pthread_mutex_unlock(&ex->mutex);
    ex->pending++;
    if (!start)
        return LAP_OK;
    worker *w = malloc(sizeof *w);
    lap_code code = LAP_E_MEMORY;
    if (w) {
        *w = (worker){ex, job};
        code = lap_pool_submit(ex->context->pool, work, w, err);
    } else {
        lap_fail(err, code, "out of memory");
    }
    if (code != LAP_OK) {
        free(w);
        lap_job_free(job);
        ex->pending--;
        pthread_mutex_lock(&ex->mutex);
        ex->running--;
        pthread_mutex_unlock(&ex->mutex);
    }
    return code;
}

lap_job *lap_executor_reap(lap_executor *ex, int timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&ex->mutex);
    while (timeout_ms > 0 && ex->pending && !ex->done.first)
        if (pthread_cond_timedwait(&ex->finished, &ex->mutex, &until))
            break;
    lap_job *job = pop(&ex->done);
    pthread_mutex_unlock(&ex->mutex);
    ex->pending -= job != NULL;
    return job;
}

size_t lap_executor_pending(const lap_executor *ex)
{
    return ex->pending;
}

void lap_executor_cancel(lap_executor *ex)
{
    pthread_mutex_lock(&ex->mutex);
    for (lap_job *job; (job = pop(&ex->waiting));) {
        job->report.status = LAP_FAILED;
        lap_fail_at(&job->report.error, LAP_E_CANCELLED, job->input, "not started: the run was stopped");
        push(&ex->done, job);
    }
    ex->queued = 0;
    pthread_cond_signal(&ex->finished);
    pthread_mutex_unlock(&ex->mutex);
}

void lap_executor_close(lap_executor *ex)
{
    if (!ex)
        return;
    /* The last job is reaped before its worker has left the mutex: wait until it has. */
    lap_pool_drain(ex->context->pool);
    pthread_cond_destroy(&ex->finished);
    pthread_mutex_destroy(&ex->mutex);
    free(ex);
}
