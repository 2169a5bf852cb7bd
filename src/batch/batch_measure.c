/* lap_measure_batch: statistics of many images, several at once, given out in the order of the walk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "base/times.h"
#include "batch/batch.h"
#include "batch/ordered.h"
#include "run/run.h"
#include "run/settings.h"

typedef struct measuring {
    lap_context *context;
    const lap_batch_options *options;
    lap_batch_load load;
    const lap_measure_options *measure;
    lap_measure_fn *each;
    void *user;
    lap_batch_counts *counts;
    lap_ordered ordered;
    bool stopping; /* fail_fast has struck */
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

static void tick(void *user)
{
    measuring *m = user;
    lap_error warning;
    while (m->options->warn && lap_executor_warning(m->ordered.executor, &warning))
        m->options->warn(m->user, &warning);
    if (!lap_ordered_is_due(&m->ordered))
        return;
    if (m->options->work)
        lap_executor_look(m->ordered.executor, m->options->work);
    m->each(m->user, NULL, m->counts);
}

/* What never began because the run stops is not a failure of the file. */
static void give(void *user, lap_job *job)
{
    measuring *m = user;
    const lap_report *report = &job->report;
    if (report->error.code == LAP_E_CANCELLED || m->stopping)
        return;
    count_file(m->counts, report);
    m->counts->ms = lap_now_ms() - m->ordered.began_ms;
    if (m->options->work)
        lap_times_add(&m->options->work->busy, &report->ms);
    const lap_measured file = {job->input, report->status == LAP_FAILED ? NULL : job->measurement, report};
    m->each(m->user, &file, m->counts);
    m->stopping = report->status == LAP_FAILED && m->options->fail_fast;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    measuring *m = user;
    *(entry->link ? &m->counts->links : &m->counts->expected) += 1;
    if (!entry->link && entry->stat && (uint64_t)entry->stat->st_size > lap_batch_small(&m->load))
        m->load.large_bytes += (uint64_t)entry->stat->st_size;
    return lap_control_check(&m->ordered.control, err);
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
    lap_ordered_make_room(&m->ordered);
    if (m->stopping || lap_control_check(&m->ordered.control, NULL) != LAP_OK)
        return LAP_E_CANCELLED; /* ends the walk; walk() knows why */
    lap_job *job = job_of(m, entry);
    if (!job)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    m->counts->found++;
    if (!entry->problem)
        return lap_ordered_submit(&m->ordered, job, err);
    job->report = (lap_report){.status = LAP_FAILED, .error = *entry->problem};
    lap_ordered_add(&m->ordered, job);
    return LAP_OK;
}

static lap_code walk(measuring *m, const char *list, size_t list_size, lap_error *err)
{
    lap_batch_options seen = *m->options;
    lap_error walking = {0};
    seen.others = NULL; /* counted already */
    lap_code code = lap_walk(&seen, list, list_size, work_on, m, &walking);
    code = lap_ordered_finish(
        &m->ordered, code != LAP_OK || m->stopping, m->stopping ? LAP_OK : code, &walking, err);
    if (m->options->work)
        lap_executor_look(m->ordered.executor, m->options->work);
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static lap_code begin(measuring *m, const char *list, size_t list_size, lap_error *err)
{
    lap_code code = lap_walk(m->options, list, list_size, count_one, m, err);
    if (code != LAP_OK)
        return code;
    code = lap_ordered_open(&m->ordered, err);
    if (code == LAP_OK)
        code = lap_batch_executor(m->context, &m->load, m->options->work, &m->ordered.executor, err);
    return code;
}

lap_code lap_measure_batch(lap_context *context, const lap_batch_options *options, const lap_settings *given,
    const lap_measure_options *measure, lap_measure_fn *each, void *user, lap_batch_counts *counts,
    lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    lap_batch_options inputs = *options;
    char *list = NULL;
    size_t list_size = 0;
    inputs.out_dir = ""; /* no folder has that name: nothing is left out as an output */
    measuring m = {.context = context,
        .options = &inputs,
        .load = {.settings = settings, .devices = options->devices},
        .measure = measure,
        .each = each,
        .user = user,
        .counts = counts};
    lap_ordered_begin(&m.ordered, context, options->jobs, counts);
    m.ordered.give = give;
    m.ordered.tick = tick;
    m.ordered.user = &m;
    m.load.jobs = m.ordered.jobs;
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
    lap_ordered_close(&m.ordered);
    free(list);
    return code;
}
