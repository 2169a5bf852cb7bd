/* lap_measure_batch: statistics of many images, several at once, given out in the order of the walk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "base/times.h"
#include "batch/batch.h"
#include "run/run.h"
#include "run/settings.h"

enum { TICK_MS = 100, AHEAD = 4 * LAP_EXECUTOR_LOW };

typedef struct measuring {
    lap_context *context;
    const lap_batch_options *options;
    lap_batch_load load;
    const lap_measure_options *measure;
    lap_measure_fn *each;
    void *user;
    lap_batch_counts *counts;
    lap_control control;
    lap_executor *executor;
    lap_job **turns;      /* done, and not given out: turn t at t % room; NULL where it is not done */
    uint64_t room;        /* jobs under way or waiting for their turn, at most */
    uint64_t next, given; /* turns handed out to jobs; given to the caller */
    bool stopping;        /* fail_fast has struck */
    double began_ms, ticked_ms;
} measuring;

/* ---- results ----------------------------------------------------------------------------------- */

static void count_file(lap_batch_counts *c, const lap_report *report)
{
    c->ok += report->status == LAP_DONE;
    c->warned += report->status == LAP_WARNED;
    c->failed += report->status == LAP_FAILED;
    if (report->status == LAP_FAILED) {
        c->kinds[report->error.code]++;
        return;
    }
    c->pixels += (uint64_t)report->width * (uint64_t)report->height;
    c->bytes_in += report->bytes_in;
}

static void tick(measuring *m)
{
    lap_error warning;
    while (m->options->warn && lap_executor_warning(m->executor, &warning))
        m->options->warn(m->user, &warning);
    m->counts->ms = lap_now_ms() - m->began_ms;
    if (m->counts->ms < m->ticked_ms + TICK_MS)
        return;
    m->ticked_ms = m->counts->ms;
    if (m->options->work)
        lap_executor_look(m->executor, m->options->work);
    m->each(m->user, NULL, m->counts);
}

/* What never began because the run stops is not a failure of the file. */
static void give(measuring *m, const lap_job *job)
{
    const lap_report *report = &job->report;
    if (report->error.code == LAP_E_CANCELLED || m->stopping)
        return;
    count_file(m->counts, report);
    m->counts->ms = lap_now_ms() - m->began_ms;
    if (m->options->work)
        lap_times_add(&m->options->work->busy, &report->ms);
    const lap_measured file = {job->input, report->status == LAP_FAILED ? NULL : job->measurement, report};
    m->each(m->user, &file, m->counts);
    m->stopping = report->status == LAP_FAILED && m->options->fail_fast;
}

static void give_those_in_turn(measuring *m)
{
    lap_job **slot;
    while (m->given < m->next && *(slot = &m->turns[m->given % m->room])) {
        give(m, *slot);
        lap_job_free(*slot);
        *slot = NULL;
        m->given++;
    }
}

/* Takes one result back, or lets TICK_MS pass. */
static void reap(measuring *m)
{
    lap_job *job = lap_executor_reap(m->executor, TICK_MS);
    if (job) {
        m->turns[job->turn % m->room] = job;
        give_those_in_turn(m);
    }
    tick(m);
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    measuring *m = user;
    *(entry->link ? &m->counts->links : &m->counts->expected) += 1;
    if (!entry->link && entry->stat && (uint64_t)entry->stat->st_size > lap_batch_small(&m->load))
        m->load.large_bytes += (uint64_t)entry->stat->st_size;
    return lap_control_check(&m->control, err);
}

static lap_job *job_of(const measuring *m, const lap_walk_entry *entry)
{
    lap_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->work = lap_job_measure;
    job->settings = m->load.settings;
    job->measure = m->measure;
    if (entry->stat)
        job->stat = *entry->stat;
    job->input = strdup(entry->path);
    job->measurement = calloc(1, sizeof *job->measurement);
    if (job->input && job->measurement)
        return job;
    lap_job_free(job);
    return NULL;
}

static lap_code work_on(void *user, const lap_walk_entry *entry, lap_error *err)
{
    measuring *m = user;
    if (entry->link)
        return LAP_OK;
    while (m->next - m->given == m->room)
        reap(m);
    if (m->stopping || lap_control_check(&m->control, NULL) != LAP_OK)
        return LAP_E_CANCELLED; /* ends the walk; walk() knows why */
    lap_job *job = job_of(m, entry);
    if (!job)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    m->counts->found++;
    job->turn = m->next++;
    if (!entry->problem)
        return lap_executor_submit(m->executor, job, err);
    job->report = (lap_report){.status = LAP_FAILED, .error = *entry->problem};
    m->turns[job->turn % m->room] = job;
    give_those_in_turn(m);
    return LAP_OK;
}

static lap_code walk(measuring *m, const char *list, size_t list_size, lap_error *err)
{
    lap_batch_options seen = *m->options;
    lap_error walking = {0};
    seen.others = NULL; /* counted already */
    const lap_code code = lap_walk(&seen, list, list_size, work_on, m, &walking);
    if (code != LAP_OK || m->stopping)
        lap_executor_cancel(m->executor);
    while (lap_executor_pending(m->executor))
        reap(m);
    if (m->options->work)
        lap_executor_look(m->executor, m->options->work);
    if (lap_control_check(&m->control, err) != LAP_OK)
        return LAP_E_CANCELLED;
    if (code == LAP_OK || m->stopping)
        return LAP_OK;
    if (err)
        *err = walking;
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static lap_code begin(measuring *m, const char *list, size_t list_size, lap_error *err)
{
    char how[LAP_BATCH_HOW];
    lap_code code = lap_walk(m->options, list, list_size, count_one, m, err);
    if (code != LAP_OK)
        return code;
    m->room = (uint64_t)m->load.jobs + AHEAD;
    m->turns = calloc(m->room, sizeof(lap_job *));
    if (!m->turns)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    code = lap_batch_executor(m->context, &m->load, how, &m->executor, err);
    if (code == LAP_OK && m->options->work) {
        snprintf(m->options->work->how, sizeof m->options->work->how, "%s", how);
        m->options->work->jobs = (uint64_t)m->load.jobs;
    }
    return code;
}

static void end(measuring *m)
{
    lap_executor_close(m->executor);
    for (uint64_t i = 0; m->turns && i < m->room; i++)
        lap_job_free(m->turns[i]);
    free(m->turns);
}

lap_code lap_measure_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, const lap_measure_options *measure, lap_measure_fn *each, void *user,
    lap_batch_counts *counts, lap_error *err)
{
    const int asked = options->jobs, threads = context->threads;
    lap_batch_options inputs = *options;
    char *list = NULL;
    size_t list_size = 0;
    inputs.out_dir = ""; /* no folder has that name: nothing is left out as an output */
    measuring m = {.context = context,
        .options = &inputs,
        .load = {.settings = settings,
            .devices = options->devices,
            .jobs = asked > 0 && asked < threads ? asked : threads},
        .measure = measure,
        .each = each,
        .user = user,
        .counts = counts,
        .control = {.cancel = &context->cancel},
        .began_ms = lap_now_ms()};
    *counts = (lap_batch_counts){0};
    if (options->work)
        *options->work = (lap_batch_work){0};
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK)
        code = lap_run_check_backend(settings, err);
    if (code == LAP_OK)
        code = lap_batch_read_list(&inputs, &list, &list_size, err);
    if (code == LAP_OK)
        code = begin(&m, list, list_size, err);
    if (code == LAP_OK)
        code = walk(&m, list, list_size, err);
    counts->ms = lap_now_ms() - m.began_ms;
    end(&m);
    free(list);
    return code;
}
