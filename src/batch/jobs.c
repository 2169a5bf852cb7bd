#include "batch/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "base/times.h"

enum { TICK_MS = 100 };
#define WAITING_BYTES ((size_t)64 << 20) /* texts and profiles of photos whose turn has not come */

void lap_jobs_begin(
    lap_jobs *jobs, lap_context *context, const lap_batch_options *options, lap_batch_counts *counts)
{
    const int asked = options->jobs;
    *jobs = (lap_jobs){.options = options,
        .most = asked > 0 && asked < context->threads ? asked : context->threads,
        .control = {.cancel = &context->cancel},
        .counts = counts,
        .began_ms = lap_now_ms(),
        .due_ms = TICK_MS};
    *counts = (lap_batch_counts){0};
    if (options->work)
        *options->work = (lap_batch_work){0};
}

static bool has_failed(const lap_job *job)
{
    return job->report.status == LAP_FAILED;
}

/* A changed photo does not end the run yet: another run may have filtered it, which the owner finds out when
 * it receives the job. */
static bool has_failed_for_good(const lap_job *job)
{
    return has_failed(job) && job->report.error.code != LAP_E_CHANGED;
}

/* The next outputs would not fit either. */
static bool is_disk_full(const lap_job *job)
{
    return has_failed(job) && job->report.error.code == LAP_E_DISK_FULL;
}

lap_code lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *load, lap_error *err)
{
    if (load)
        load->is_asked = jobs->options->jobs > 0;
    const lap_code code = load ? lap_batch_executor(context, load, jobs->options->work, &jobs->executor, err)
                               : lap_executor_threads(context, jobs->most, &jobs->executor, err);
    if (code != LAP_OK)
        return code;
    lap_executor_end_at(jobs->executor, jobs->options->fail_fast ? has_failed_for_good : is_disk_full);
    jobs->room = (uint64_t)jobs->most + (uint64_t)lap_executor_ahead(jobs->executor);
    if (jobs->in_order)
        jobs->turns = calloc(jobs->room, sizeof(lap_job *));
    return jobs->in_order && !jobs->turns ? lap_fail(err, LAP_E_MEMORY, "out of memory") : LAP_OK;
}

/* ---- results ----------------------------------------------------------------------------------- */

void lap_jobs_note(lap_jobs *jobs, const lap_error *why)
{
    if (jobs->stop.code == LAP_OK)
        jobs->stop = *why;
}

void lap_jobs_end_early(lap_jobs *jobs)
{
    jobs->failed_fast = true;
    lap_executor_cancel(jobs->executor);
}

bool lap_jobs_was_stopped(lap_jobs *jobs, const lap_job *job)
{
    if (job->report.error.code != LAP_E_CANCELLED)
        return false;
    if (jobs->stop.code == LAP_OK)
        lap_control_check(&jobs->control, &jobs->stop);
    return true;
}

static void end_if_due(lap_jobs *jobs, const lap_report *report)
{
    const lap_error *why = &report->error;
    if (report->status == LAP_FAILED && why->code == LAP_E_DISK_FULL && jobs->stop.code == LAP_OK)
        lap_fail_at(&jobs->stop, LAP_E_DISK_FULL, why->subject, "stopped early: %s", why->message);
    if (report->status == LAP_FAILED && jobs->options->fail_fast)
        jobs->failed_fast = true;
    if (jobs->stop.code != LAP_OK || jobs->failed_fast)
        lap_executor_cancel(jobs->executor);
}

void lap_jobs_count(lap_jobs *jobs, const lap_report *report)
{
    lap_batch_counts *c = jobs->counts;
    c->ms = lap_now_ms() - jobs->began_ms;
    c->ok += report->status == LAP_DONE;
    c->warned += report->status == LAP_WARNED;
    c->skipped += report->status == LAP_SKIPPED;
    c->failed += report->status == LAP_FAILED;
    if (report->status == LAP_SKIPPED || report->status == LAP_FAILED) {
        c->kinds[report->error.code]++;
    } else {
        c->pixels += (uint64_t)report->width * (uint64_t)report->height;
        c->bytes_in += report->bytes_in;
        c->bytes_out += report->bytes_out;
        c->recoded += report->recoded != 0;
    }
    if (jobs->options->work)
        lap_times_add(&jobs->options->work->busy, &report->ms);
    end_if_due(jobs, report);
}

static size_t bytes_of(const lap_job *job)
{
    const lap_measurement *m = job->measurement;
    size_t bytes = sizeof *job + (m ? sizeof *m : 0) + (job->text ? strlen(job->text) : 0);
    if (m && m->rows)
        bytes += ((size_t)m->width + (size_t)m->height) * sizeof *m->rows;
    return bytes;
}

static void take_back(lap_jobs *jobs, lap_job *job)
{
    const size_t bytes = jobs->in_order ? bytes_of(job) : 0;
    jobs->largest = bytes > jobs->largest ? bytes : jobs->largest;
    if (!jobs->in_order) {
        jobs->given++;
        jobs->give(jobs->user, job);
        return;
    }
    jobs->turns[job->turn % jobs->room] = job;
    while (jobs->given < jobs->next) {
        lap_job **turn = &jobs->turns[jobs->given % jobs->room], *next = *turn;
        if (!next)
            return;
        *turn = NULL;
        jobs->given++;
        jobs->give(jobs->user, next);
    }
}

/* Reaps one job; waits for at most TICK_MS. */
static void reap(lap_jobs *jobs)
{
    const lap_batch_options *o = jobs->options;
    lap_job *job = lap_executor_reap(jobs->executor, TICK_MS);
    lap_error warning;
    if (job)
        take_back(jobs, job);
    while (o->warn && lap_executor_warning(jobs->executor, &warning))
        o->warn(jobs->warn_user, &warning);
    if (jobs->step)
        jobs->step(jobs->user);
    const double ms = lap_now_ms() - jobs->began_ms;
    if (ms < jobs->due_ms)
        return;
    jobs->due_ms = ms + TICK_MS;
    jobs->counts->ms = ms;
    if (o->work)
        lap_executor_look(jobs->executor, o->work);
    jobs->tick(jobs->user);
}

/* ---- handing in -------------------------------------------------------------------------------- */

/* Returns how many jobs may be in progress or wait for their turn, so that their results stay within
 * WAITING_BYTES; only a few until the first result shows how large results are. */
static uint64_t room_for_results(const lap_jobs *jobs)
{
    const uint64_t few = (uint64_t)jobs->most + LAP_EXECUTOR_LOW;
    const uint64_t fit = jobs->largest > 0 ? WAITING_BYTES / jobs->largest : few;
    if (!jobs->in_order || fit > jobs->room)
        return jobs->room;
    return fit > few ? fit : few;
}

lap_code lap_jobs_make_room(lap_jobs *jobs)
{
    while (jobs->next - jobs->given >= room_for_results(jobs))
        reap(jobs);
    if (jobs->stop.code == LAP_OK)
        lap_control_check(&jobs->control, &jobs->stop);
    return jobs->stop.code != LAP_OK || jobs->failed_fast ? LAP_E_CANCELLED : LAP_OK;
}

lap_code lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err)
{
    job->turn = jobs->next;
    const lap_code code = lap_executor_submit(jobs->executor, job, err);
    jobs->next += code == LAP_OK;
    return code;
}

void lap_jobs_add(lap_jobs *jobs, lap_job *job)
{
    job->turn = jobs->next++;
    take_back(jobs, job);
}

void lap_jobs_finish(lap_jobs *jobs, bool cancel)
{
    if (cancel)
        lap_executor_cancel(jobs->executor);
    while (lap_executor_pending(jobs->executor))
        reap(jobs);
    if (jobs->options->work)
        lap_executor_look(jobs->executor, jobs->options->work);
}

static void count_vanished(lap_batch_counts *counts)
{
    counts->vanished = counts->expected > counts->found ? counts->expected - counts->found : 0;
    counts->failed += counts->vanished;
    counts->kinds[LAP_E_MISSING] += counts->vanished;
}

lap_code lap_jobs_result(lap_jobs *jobs, lap_code code, const lap_error *why, lap_error *err)
{
    if (jobs->stop.code != LAP_OK)
        return lap_error_set(err, &jobs->stop);
    const bool is_early = jobs->failed_fast && why->code == LAP_OK; /* lap_jobs_make_room ended the walk */
    if (code == LAP_OK && !jobs->failed_fast)
        count_vanished(jobs->counts);
    if (code == LAP_OK || is_early)
        return LAP_OK;
    (void)lap_error_set(err, why);
    return code;
}

void lap_jobs_close(lap_jobs *jobs)
{
    jobs->counts->ms = lap_now_ms() - jobs->began_ms;
    lap_executor_close(jobs->executor);
    for (uint64_t i = 0; jobs->turns && i < jobs->room; i++)
        lap_job_free(jobs->turns[i]);
    free(jobs->turns);
    jobs->turns = NULL;
}
