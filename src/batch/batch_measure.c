/* lap_measure_batch: computes statistics of many images, several at once, and returns them in the order of
 * the walk. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/context.h"
#include "base/status.h"
#include "batch/batch.h"
#include "batch/jobs.h"
#include "io/map64.h"
#include "run/run.h"
#include "run/settings.h"

typedef struct measuring {
    lap_context *context;
    const lap_batch_options *options; /* a copy of the order's options, without an output folder */
    lap_batch_load load;
    const lap_measure_order *order;
    lap_jobs jobs;
    bool may_repeat;       /* there are several operands, or a list */
    lap_map64 places;      /* hash of a file's folder and name -> place_state */
    char around[PATH_MAX]; /* the folder of the previous file, with its device and inode */
    uint64_t around_id[2];
} measuring;

typedef enum place_state { IS_COUNTED = 1, IS_SUBMITTED } place_state;

/* ---- results ----------------------------------------------------------------------------------- */

static void tick(void *user)
{
    const measuring *m = user;
    m->order->each(m->order->user, NULL, m->jobs.counts);
}

/* After a failure that ends the run, no further result is passed on. */
static void give(void *user, lap_job *job)
{
    measuring *m = user;
    const lap_report *report = &job->report;
    if (!lap_jobs_was_stopped(&m->jobs, job) && !m->jobs.failed_fast) {
        const bool failed = report->status == LAP_FAILED;
        const lap_measured file = {job->input, failed ? NULL : job->measurement, report, job->text};
        lap_jobs_count(&m->jobs, report);
        m->order->each(m->order->user, &file, m->jobs.counts);
    }
    lap_job_free(job);
}

/* ---- the walk ---------------------------------------------------------------------------------- */

/* Returns a hash that identifies a file's folder and name, whatever path leads there. 0: unknown, or not
 * needed. */
static uint64_t place_of(measuring *m, const lap_walk_entry *entry)
{
    struct stat st;
    const char *slash = strrchr(entry->path, '/'), *name = slash ? slash + 1 : entry->path;
    const size_t length = (size_t)(name - entry->path);
    if (!m->may_repeat || !entry->stat || length >= sizeof m->around)
        return 0;
    if (strncmp(m->around, entry->path, length) != 0 || m->around[length] || !m->around_id[1]) {
        snprintf(m->around, sizeof m->around, "%.*s", (int)length, entry->path);
        const bool is_there = stat(length ? m->around : ".", &st) == 0;
        m->around_id[0] = is_there ? (uint64_t)st.st_dev : 0;
        m->around_id[1] = is_there ? (uint64_t)st.st_ino : 0;
    }
    const uint64_t id[] = {m->around_id[0], m->around_id[1], lap_map64_name_key(name)};
    return m->around_id[1] ? lap_map64_key(id, sizeof id) : 0;
}

/* Counts an input that is named twice only once. */
static lap_code count_input(measuring *m, const lap_walk_entry *entry, lap_error *err)
{
    const uint64_t place = place_of(m, entry);
    if (place && lap_map64_find(&m->places, place))
        return LAP_OK;
    m->jobs.counts->expected++;
    return place ? lap_map64_put(&m->places, place, IS_COUNTED, err) : LAP_OK;
}

static bool is_repeated(measuring *m, const lap_walk_entry *entry)
{
    const uint64_t place = place_of(m, entry);
    uint64_t *state = place ? lap_map64_find(&m->places, place) : NULL;
    const bool is_repeated = state && *state == IS_SUBMITTED;
    if (state)
        *state = IS_SUBMITTED;
    return is_repeated;
}

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    measuring *m = user;
    if (entry->link)
        m->jobs.counts->links++;
    else if (count_input(m, entry, err) != LAP_OK)
        return LAP_E_MEMORY;
    if (!entry->link && entry->stat && (uint64_t)entry->stat->st_size > lap_batch_small(&m->load))
        m->load.large_bytes += (uint64_t)entry->stat->st_size;
    /* Skipped files are counted only in this walk. */
    const lap_code code = lap_walk_unseen(entry, err);
    return code == LAP_OK ? lap_control_check(&m->jobs.control, err) : code;
}

static lap_job *job_of(const measuring *m, const lap_walk_entry *entry)
{
    lap_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->work = lap_job_measure;
    job->settings = m->load.settings;
    job->measure = m->order->measure;
    job->order = m->order;
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
    if (entry->link || is_repeated(m, entry))
        return LAP_OK;
    const lap_code code = lap_jobs_make_room(&m->jobs);
    if (code != LAP_OK)
        return code;
    lap_job *job = job_of(m, entry);
    if (!job)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    m->jobs.counts->found++;
    if (!entry->problem)
        return lap_jobs_submit(&m->jobs, job, err);
    job->report = (lap_report){.status = LAP_FAILED, .error = *entry->problem};
    lap_jobs_add(&m->jobs, job);
    return LAP_OK;
}

static lap_code walk(measuring *m, lap_list *list, lap_error *err)
{
    lap_batch_options seen = *m->options;
    lap_error walking = {0};
    seen.others = NULL; /* already counted */
    lap_code code = lap_walk(&seen, list, work_on, m, &walking);
    lap_jobs_finish(&m->jobs, code != LAP_OK);
    return lap_jobs_result(&m->jobs, code, &walking, err);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static lap_code begin(measuring *m, lap_list *list, lap_error *err)
{
    lap_code code = lap_walk(m->options, list, count_one, m, err);
    if (code != LAP_OK)
        return code;
    return lap_jobs_open(&m->jobs, m->context, &m->load, err);
}

lap_code lap_measure_batch(lap_context *context, const lap_measure_order *order, const lap_settings *given,
    lap_batch_counts *counts, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    lap_batch_options inputs = *order->options;
    lap_settings own = *settings;
    lap_list *list = NULL;
    inputs.out_dir = ""; /* no folder has this name, so nothing is excluded as an output */
    measuring m = {.context = context,
        .options = &inputs,
        .load = {.settings = &own, .devices = inputs.devices},
        .order = order};
    lap_jobs_begin(&m.jobs, context, &inputs, counts);
    m.jobs.give = give;
    m.jobs.tick = tick;
    m.jobs.user = &m;
    m.jobs.warn_user = order->user;
    m.jobs.in_order = true;
    m.load.jobs = m.jobs.most;
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK)
        code = lap_run_check_backend(settings, err);
    if (code == LAP_OK)
        code = lap_list_open(&inputs, settings->max_memory, &m.jobs.control, &list, err);
    m.may_repeat = list || inputs.input_count > 1;
    own.max_memory = lap_list_leaves(list, own.max_memory); /* the rest is for photos */
    if (code == LAP_OK)
        code = begin(&m, list, err);
    if (code == LAP_OK)
        code = walk(&m, list, err);
    lap_jobs_close(&m.jobs);
    lap_map64_free(&m.places);
    lap_list_close(list);
    return code;
}
