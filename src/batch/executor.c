#include "batch/executor_state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/condition.h"
#include "base/status.h"
#include "batch/in_place_record.h"

/* ---- jobs -------------------------------------------------------------------------------------- */

lap_job *lap_job_pop(lap_job_list *list)
{
    lap_job *job = STAILQ_FIRST(list);
    if (job)
        STAILQ_REMOVE_HEAD(list, next);
    return job;
}

bool lap_job_is_whole(const lap_job *job)
{
    return job->report.warnings == (lap_sink_lost(job->sink)[0] != '\0');
}

void lap_job_free(lap_job *job)
{
    if (!job)
        return;
    lap_sink_close(job->sink);
    if (job->measurement)
        lap_measurement_free(job->measurement);
    free(job->measurement);
    free(job->text);
    free(job->input);
    free(job->output);
    free(job->relative);
    free(job);
}

/* ---- threads ----------------------------------------------------------------------------------- */

lap_run_order lap_job_order(lap_context *context, const lap_job *job, const lap_settings *settings)
{
    return (lap_run_order){.context = context,
        .in = job->input,
        .tree = job->tree,
        .out = job->measure ? NULL : job->relative,
        .settings = settings,
        .left_by_device = job->left_by_device};
}

void lap_job_write(lap_context *context, lap_job *job, const lap_settings *settings)
{
    const lap_run_order order = lap_job_order(context, job, settings);
    lap_run_to_sink(&order, &job->stat, &job->sink, &job->report, &job->report.error);
    lap_job_look_again(job);
}

/* Whether the input's folder may have a record of runs in place. */
static bool has_record(const char *input)
{
    char record[PATH_MAX];
    const char *slash = strrchr(input, '/');
    const int length = slash ? (int)(slash - input) + 1 : 0;
    if (snprintf(record, sizeof record, "%.*s%s", length, input, LAP_IN_PLACE_RECORD) >= (int)sizeof record)
        return true;
    return access(record, F_OK) == 0 || errno != ENOENT;
}

void lap_job_look_again(lap_job *job)
{
    const bool has_output = job->sink != NULL;
    job->photo.is_known =
        has_output && lap_content_hash_path(job->input, &job->stat, &job->photo.hash, NULL) == LAP_OK;
    job->has_record = has_output && has_record(job->input);
}

void lap_job_measure(lap_context *context, lap_job *job, const lap_settings *settings)
{
    const lap_run_order order = lap_job_order(context, job, settings);
    lap_measure_to(&order, job->measure, job->measurement, &job->report, &job->report.error);
    lap_job_describe(job);
}

void lap_job_describe(lap_job *job)
{
    const lap_measured file = {.input = job->input, .measurement = job->measurement, .report = &job->report};
    free(job->text); /* the text of an earlier attempt */
    job->text = NULL;
    if (job->order && job->order->text && job->report.status != LAP_FAILED)
        job->text = job->order->text(job->order->user, &file);
}

void lap_job_run(lap_executor *ex, lap_job *job, const lap_settings *settings)
{
    const double start = lap_now_ms();
    job->work(ex->context, job, settings);
    lap_trace_thread(ex->trace, "photo", start, job->number);
}

static void cancel(lap_executor *ex, lap_job *job)
{
    job->report.status = LAP_FAILED;
    lap_fail_at(&job->report.error, LAP_E_CANCELLED, job->input, "not started: the run was stopped");
    STAILQ_INSERT_TAIL(&ex->done, job, next);
}

static void end(lap_executor *ex)
{
    for (lap_job *job; (job = lap_job_pop(&ex->waiting));)
        cancel(ex, job);
    ex->queued = 0;
    ex->is_ending = true;
}

void lap_executor_finish(lap_executor *ex, lap_job *job)
{
    STAILQ_INSERT_TAIL(&ex->done, job, next);
    if (ex->is_last && ex->is_last(job))
        end(ex);
    if (ex->queued <= LAP_EXECUTOR_LOW)
        pthread_cond_signal(&ex->finished);
}

/* Runs waiting jobs. When no job is left, the thread returns to the pool, where it may help with the bands of
 * a file that is still being processed. */
static void work_on_threads(lap_executor *ex)
{
    lap_job *job;
    while ((job = lap_job_pop(&ex->waiting))) {
        ex->queued--;
        pthread_mutex_unlock(&ex->mutex);
        lap_job_run(ex, job, job->settings);
        pthread_mutex_lock(&ex->mutex);
        lap_executor_finish(ex, job);
    }
}

static void work(void *argument)
{
    lap_executor *ex = argument;
    pthread_mutex_lock(&ex->mutex);
    ex->kind->work(ex);
    ex->running--;
    pthread_mutex_unlock(&ex->mutex);
}

bool lap_executor_wake(lap_executor *ex)
{
    if (ex->running >= ex->jobs || (ex->kind->is_enough && ex->kind->is_enough(ex)))
        return true;
    ex->running++;
    if (lap_pool_submit(ex->context->pool, work, ex, NULL) == LAP_OK)
        return true;
    ex->running--;
    return ex->running > 0;
}

/* ---- the owner --------------------------------------------------------------------------------- */

lap_code lap_executor_create(
    lap_context *context, int jobs, const lap_executor_kind *kind, lap_executor **executor, lap_error *err)
{
    lap_executor *ex = calloc(1, sizeof *ex);
    *executor = ex;
    if (!ex)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    ex->kind = kind;
    ex->context = context;
    ex->jobs = jobs;
    STAILQ_INIT(&ex->waiting);
    STAILQ_INIT(&ex->done);
    ex->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    const lap_code code = lap_condition_init(&ex->finished, err);
    if (code != LAP_OK) {
        free(ex);
        *executor = NULL;
    }
    return code;
}

lap_code lap_executor_threads(lap_context *context, int jobs, lap_executor **executor, lap_error *err)
{
    static const lap_executor_kind threads = {.work = work_on_threads, .ahead = 4 * LAP_EXECUTOR_LOW};
    return lap_executor_create(context, jobs, &threads, executor, err);
}

/* Each job keeps its input and output open, and temporarily two folders. */
enum { OWN_FILES = 24, FILES_PER_JOB = 4 };

static int files_for_jobs(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > INT_MAX)
        return INT_MAX;
    return files.rlim_cur > OWN_FILES ? (int)files.rlim_cur - OWN_FILES : 0;
}

int lap_batch_jobs_within_files(int jobs)
{
    const int most = files_for_jobs() / FILES_PER_JOB;
    return jobs <= most ? jobs : most > 1 ? most : 1;
}

int lap_batch_files_beside(int jobs)
{
    const int all = files_for_jobs();
    return jobs <= all / FILES_PER_JOB ? all - jobs * FILES_PER_JOB : 0;
}

int lap_executor_ahead(const lap_executor *ex)
{
    return ex->kind->ahead;
}

void lap_executor_trace(lap_executor *ex, lap_trace *trace)
{
    pthread_mutex_lock(&ex->mutex);
    ex->trace = trace; /* devices began to start when the executor was created */
    pthread_mutex_unlock(&ex->mutex);
}

void lap_executor_end_at(lap_executor *ex, bool (*is_last)(const lap_job *job))
{
    ex->is_last = is_last;
}

lap_code lap_executor_submit(lap_executor *ex, lap_job *job, lap_error *err)
{
    job->number = ex->submitted++;
    job->device = -1;
    pthread_mutex_lock(&ex->mutex);
    if (ex->is_ending) {
        cancel(ex, job);
        pthread_mutex_unlock(&ex->mutex);
        ex->pending++;
        return LAP_OK;
    }
    STAILQ_INSERT_TAIL(&ex->waiting, job, next);
    ex->queued++;
    /* If no thread can be started and no thread is running, this job is the only one waiting. */
    const bool fails = !lap_executor_wake(ex) && !ex->kind->waits;
    if (fails) {
        (void)lap_job_pop(&ex->waiting);
        ex->queued--;
    }
    pthread_mutex_unlock(&ex->mutex);
    if (fails) {
        lap_job_free(job);
        return lap_fail(err, LAP_E_MEMORY, "no thread can be started");
    }
    ex->pending++;
    return LAP_OK;
}

lap_job *lap_executor_reap(lap_executor *ex, int timeout_ms)
{
    const struct timespec until = lap_condition_until((int64_t)timeout_ms * 1000);
    pthread_mutex_lock(&ex->mutex);
    while (timeout_ms > 0 && ex->pending && STAILQ_EMPTY(&ex->done))
        if (pthread_cond_timedwait(&ex->finished, &ex->mutex, &until))
            break;
    lap_job *job = lap_job_pop(&ex->done);
    if (!job && ex->kind->look_after)
        ex->kind->look_after(ex);
    pthread_mutex_unlock(&ex->mutex);
    ex->pending -= job != NULL;
    return job;
}

size_t lap_executor_pending(const lap_executor *ex)
{
    return ex->pending;
}

bool lap_executor_warning(lap_executor *ex, lap_error *warning)
{
    if (!ex->kind->warning)
        return false;
    pthread_mutex_lock(&ex->mutex);
    const bool is_one = ex->kind->warning(ex, warning);
    pthread_mutex_unlock(&ex->mutex);
    return is_one;
}

void lap_executor_look(lap_executor *ex, lap_batch_work *work)
{
    work->device_count = 0;
    if (!ex->kind->look)
        return;
    pthread_mutex_lock(&ex->mutex);
    ex->kind->look(ex, work);
    pthread_mutex_unlock(&ex->mutex);
}

void lap_executor_cancel(lap_executor *ex)
{
    pthread_mutex_lock(&ex->mutex);
    end(ex);
    pthread_cond_signal(&ex->finished);
    pthread_mutex_unlock(&ex->mutex);
}

void lap_executor_free(lap_executor *ex)
{
    pthread_cond_destroy(&ex->finished);
    pthread_mutex_destroy(&ex->mutex);
    free(ex);
}

void lap_executor_close(lap_executor *ex)
{
    if (!ex)
        return;
    /* The last job may be reaped before its worker releases the mutex, so wait until the worker has. */
    lap_pool_drain(ex->context->pool);
    if (!ex->kind->close || ex->kind->close(ex))
        lap_executor_free(ex);
}
