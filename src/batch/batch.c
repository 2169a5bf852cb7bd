/* A run over many files. The first walk only looks (batch_look.c). The second walk submits jobs and collects
 * their results; it is never more than a few jobs ahead of the results. */
#include "batch/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/source.h"
#include "run/formats.h"
#include "run/run.h"
#include "run/settings.h"

/* ---- results ----------------------------------------------------------------------------------- */

static void notify(batch *b, const char *input, const char *output, const lap_report *report)
{
    const lap_batch_file file = {input, output, report};
    lap_jobs_count(&b->jobs, report);
    if (b->each)
        b->each(b->user, &file, b->jobs.counts);
}

static void tick(void *user)
{
    const batch *b = user;
    if (b->each)
        b->each(b->user, NULL, b->jobs.counts);
}

static void publish_group(batch *b)
{
    if (!b->group.count)
        return;
    lap_error why;
    lap_code code = lap_group_publish(&b->group, b->manifest, &why);
    for (int i = 0; i < b->group.count; i++) {
        lap_job *job = b->group.jobs[i];
        b->jobs.counts->waiting--;
        b->jobs.counts->waiting_pixels -= (uint64_t)job->report.width * (uint64_t)job->report.height;
        notify(b, job->input, job->output, &job->report);
        lap_job_free(job);
    }
    b->group.count = 0;
    if (code != LAP_OK)
        lap_jobs_note(&b->jobs, &why);
}

/* Detects an input that a run in place had already filtered when the job read it. If the folder's record
 * cannot be read, the output may be an edge map of an edge map: the job fails if it would replace a file;
 * otherwise a warning is reported, once per folder. */
static void look_at_input(batch *b, lap_job *job)
{
    lap_report *report = &job->report;
    lap_batch_others *others = b->options->others;
    bool is_new;
    lap_error why;
    if (report->error.code != LAP_OK || !b->settings->filter || !others || !others->finds_made)
        return;
    const lap_code code = lap_late_look(&b->late, job, others, &is_new, &why);
    if (code == LAP_E_MEMORY || (code != LAP_OK && job->is_seen)) {
        report->status = LAP_FAILED;
        lap_fail_at(&report->error, code, job->input, "may be an output already: %.300s: %.300s", why.subject,
            why.message);
    } else if (code != LAP_OK && is_new && b->options->warn) {
        lap_error warning;
        lap_fail_at(&warning, code, why.subject, "%.300s; photos there may be filtered already", why.message);
        b->options->warn(b->user, &warning);
    }
}

/* lap_jobs.give: adds a finished output to the group. */
static void keep(void *user, lap_job *job)
{
    batch *b = user;
    const lap_report *report = &job->report;
    look_at_input(b, job);
    if (report->error.code == LAP_OK) {
        if (!b->group.count)
            b->group.since_ms = lap_now_ms();
        b->group.jobs[b->group.count++] = job;
        b->jobs.counts->waiting++;
        b->jobs.counts->waiting_pixels += (uint64_t)report->width * (uint64_t)report->height;
        return;
    }
    if (!lap_jobs_was_stopped(&b->jobs, job))
        notify(b, job->input, job->output, report);
    lap_job_free(job);
}

/* lap_jobs.step */
static void publish_when_due(void *user)
{
    batch *b = user;
    if (lap_group_is_due(&b->group))
        publish_group(b);
}

/* ---- the second walk --------------------------------------------------------------------------- */

typedef struct plan {  /* what to do with one input */
    lap_job job;       /* the job's names point to the arrays below */
    lap_status status; /* LAP_DONE: process the input (in a dry run: it would be processed) */
    lap_error why;     /* the reason for any other status */
    bool apart;        /* the output is synced separately */
    bool is_left;      /* the output cannot be written */
    char relative[PATH_MAX], output[PATH_MAX]; /* output is empty until it is known */
} plan;

/* For a photo whose output will not be written: returns LAP_FAILED if this process cannot open the photo. */
static lap_status foresee(const lap_walk_entry *entry, lap_error *why)
{
    lap_source *source = NULL;
    const lap_code code = lap_source_open(entry->path, &source, why);
    lap_source_close(source);
    return code == LAP_OK ? LAP_DONE : LAP_FAILED;
}

/* Called for each output that is to be written: checks whether its folder can be written. A dry run only
 * warns: once about the output folder, or once about each folder below it. If the output folder cannot be
 * written, a run writes nothing, but still visits all inputs and reports those that need no output. */
static lap_code look_at_folder(batch *b, const char *relative, bool *may_write, lap_error *err)
{
    const lap_batch_options *o = b->options;
    lap_error unwritable = {0};
    lap_code code = LAP_OK;
    if (!b->is_left)
        unwritable = b->unwritable;
    if (o->dry_run && b->unwritable.code == LAP_OK)
        code = lap_batch_foresee_folder(b, relative, &unwritable, err);
    b->is_left |= b->unwritable.code != LAP_OK;
    *may_write = !o->dry_run && !b->is_left;
    if (o->dry_run && o->warn && unwritable.code != LAP_OK)
        o->warn(b->user, &unwritable);
    return code;
}

/* Fills status and why, and creates the folder of the output. An error ends the run. */
static lap_code plan_output(batch *b, const lap_walk_entry *entry, plan *p, lap_error *err)
{
    char output[PATH_MAX];
    p->status = LAP_FAILED;
    if (!lap_batch_output_name(b->options, b->settings, entry->relative, p->relative, sizeof p->relative) ||
        !lap_batch_output_path(b, p->relative, output, sizeof output)) {
        lap_fail_at(&p->why, LAP_E_WRITE, entry->path, "the path of its output is too long");
        return LAP_OK;
    }
    if (lap_batch_check_format(b->settings, entry->path, output, &p->why) != LAP_OK)
        return LAP_OK;
    strcpy(p->output, output);
    p->job = (lap_job){.output = p->output, .relative = p->relative, .below = entry->below};
    if (!b->options->dry_run && lap_batch_sweep_folder(b, p->relative, err) != LAP_OK)
        return LAP_E_MEMORY;
    if (lap_origins_find(&b->origins, entry->path, entry->below, &p->job.origin, err) != LAP_OK)
        return LAP_E_MEMORY;
    p->status = lap_batch_judge(b, entry, &p->job, &p->why);
    bool writes = false;
    if (p->status == LAP_DONE && look_at_folder(b, p->relative, &writes, err) != LAP_OK)
        return LAP_E_MEMORY;
    if (p->status == LAP_DONE && !writes)
        p->status = foresee(entry, &p->why);
    p->is_left = p->status == LAP_DONE && !writes && !b->options->dry_run;
    if (p->status != LAP_DONE || !writes)
        return LAP_OK;
    if (lap_batch_make_folder(b, p->relative, &p->apart, &p->why) != LAP_OK)
        p->status = p->why.code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED;
    return LAP_OK;
}

static lap_code submit(batch *b, const lap_walk_entry *entry, const plan *p, lap_error *err)
{
    lap_job *job = calloc(1, sizeof *job);
    if (!job)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    *job = p->job;
    job->input = strdup(entry->path);
    job->output = strdup(p->output);
    job->relative = strdup(p->relative);
    job->stat = *entry->stat;
    job->work = lap_job_write;
    job->tree = &b->tree;
    job->force = b->options->force;
    job->skip_existing = b->options->skip_existing;
    job->no_clobber = b->options->no_clobber;
    /* A photo that was found by content and has no extension gets an output without an extension. */
    const bool as_jpeg = !b->settings->format && !lap_format_of_path(p->output);
    job->settings = &b->variants[as_jpeg | (p->apart && b->sync) << 1];
    if (job->input && job->output && job->relative)
        return lap_jobs_submit(&b->jobs, job, err);
    lap_job_free(job);
    return lap_fail(err, LAP_E_MEMORY, "out of memory");
}

/* Reports an input that cannot be examined. */
static lap_code refuse(batch *b, const lap_walk_entry *entry, lap_error *err)
{
    const lap_report report = {.status = LAP_FAILED, .error = *entry->problem};
    const lap_code code = lap_prune_note(b->prune, entry, NULL, err);
    notify(b, entry->path, NULL, &report);
    return code;
}

/* Makes a job for an input, or reports its status if no work is needed. */
static lap_code take(batch *b, const lap_walk_entry *entry, lap_error *err)
{
    plan p = {.status = LAP_FAILED};
    const lap_code code = plan_output(b, entry, &p, err);
    if (code != LAP_OK || p.is_left)
        return code;
    if (p.status == LAP_DONE && !b->options->dry_run)
        return submit(b, entry, &p, err);
    lap_report report = {.status = p.status};
    if (p.status != LAP_DONE)
        report.error = p.why;
    notify(b, entry->path, *p.output ? p.output : NULL, &report);
    return LAP_OK;
}

static lap_code work_on(void *user, const lap_walk_entry *entry, lap_error *err)
{
    batch *b = user;
    if (entry->link || entry->is_out || !lap_batch_is_ours(b, entry->relative))
        return LAP_OK;
    const lap_code code = lap_jobs_make_room(&b->jobs);
    if (code != LAP_OK)
        return code;
    if (!entry->problem && lap_batch_is_repeated(b, entry)) { /* one input, named twice: count it once */
        b->jobs.counts->expected--;
        return LAP_OK;
    }
    b->jobs.counts->found++;
    return entry->problem ? refuse(b, entry, err) : take(b, entry, err);
}

static lap_code run_jobs(batch *b, lap_list *list, lap_error *err)
{
    lap_error why = {0}, walking = {0};
    lap_batch_options seen = *b->options;
    seen.others = NULL; /* already counted */
    lap_code code = lap_walk(&seen, list, work_on, b, &walking);
    /* If --fail-fast ended the walk, the walk has no error, so the folder's error is still reported. */
    const bool is_through = (code == LAP_OK || b->jobs.failed_fast) && walking.code == LAP_OK;
    if (is_through && b->is_left && !b->options->dry_run)
        code = lap_error_set(&walking, &b->unwritable);
    lap_jobs_finish(&b->jobs, code != LAP_OK);
    publish_group(b); /* publishes finished outputs, however the run ends */
    if (lap_group_settle(&b->group, &why) != LAP_OK)
        lap_jobs_note(&b->jobs, &why);
    return lap_jobs_result(&b->jobs, code, &walking, err);
}

/* Whether there is nothing to write: a mistyped pattern should not leave an empty folder behind. */
static bool is_idle(const batch *b)
{
    const lap_batch_counts *counts = b->jobs.counts;
    size_t sides = 0; /* files of the caller that may lie in the folder */
    for (size_t i = 0; i < b->options->side_count; i++)
        sides += strcmp(b->options->sides[i], "/dev/stdout") != 0;
    return counts->expected + counts->other_shards + sides == 0 && access(b->options->out_dir, F_OK) != 0;
}

/* Prepares the run: checks everything that must be right before a file is changed. */
static lap_code prepare(batch *b, lap_list *list, lap_error *err)
{
    const lap_batch_options *options = b->options;
    const lap_settings_mark mark = lap_settings_mark_of(b->settings);
    lap_code code = lap_batch_check_operands(options, b->settings, err);
    if (code == LAP_OK)
        code = lap_batch_look(b, list, err);
    const bool idle = code == LAP_OK && is_idle(b);
    const bool writes = !options->dry_run && !idle;
    if (code == LAP_OK && !idle)
        code = lap_batch_make_out_dir(options->out_dir, options->dry_run, &b->unwritable, err);
    if (code == LAP_OK && !b->around)
        code = lap_batch_around(options, &b->around, err);
    if (code == LAP_OK)
        code = lap_tree_open(options->out_dir, &b->tree, err);
    if (code == LAP_OK && writes && b->sync)
        code = lap_group_open(&b->group, &b->tree, err);
    if (code == LAP_OK)
        code = lap_manifest_open(&b->tree, &mark, &b->manifest, err);
    if (code == LAP_OK)
        code = lap_jobs_open(&b->jobs, b->context, &b->load, err);
    return code;
}

static batch *create(lap_context *context, const lap_batch_options *options, const lap_settings *settings,
    lap_batch_counts *counts)
{
    batch *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->context = context;
    b->options = options;
    b->shards = options->shards;
    lap_jobs_begin(&b->jobs, context, options, counts);
    b->jobs.give = keep;
    b->jobs.step = publish_when_due;
    b->jobs.tick = tick;
    b->jobs.user = b;
    b->jobs.most = b->load.jobs = lap_batch_jobs_within_files(b->jobs.most);
    b->sync = settings->sync;
    b->group.sync_fd = b->tree.fd = -1;
    for (int i = 0; i < 4; i++) {
        b->variants[i] = *settings;
        b->variants[i].progress = NULL;
        b->variants[i].stats = NULL; /* several files would write to one place */
        b->variants[i].sync = i & 2; /* otherwise lap_group_publish syncs a group at a time */
        if (i & 1)
            b->variants[i].format = "jpg";
    }
    b->settings = b->load.settings = &b->variants[0];
    b->load.devices = options->devices;
    b->load.is_written = true;
    return b;
}

/* Returns the path of the timeline; NULL: no timeline was requested. */
static const char *trace_of(const lap_batch_options *options)
{
    return options->devices && !options->dry_run ? options->devices->trace : NULL;
}

/* Writes the timeline of what was done, however the run ended. */
static lap_code write_trace(const batch *b, const lap_trace *trace, lap_code code, lap_error *err)
{
    lap_error why;
    if (!trace || lap_trace_write(trace, trace_of(b->options), b->sync, &why) == LAP_OK || code != LAP_OK)
        return code;
    return lap_error_set(err, &why);
}

/* Opens the list, and subtracts its memory from the limit for photos. */
static lap_code open_list(batch *b, lap_list **list, lap_error *err)
{
    const uint64_t limit = b->settings->max_memory;
    const lap_code code = lap_list_open(b->options, limit, &b->jobs.control, list, err);
    for (int i = 0; i < 4; i++)
        b->variants[i].max_memory = lap_list_leaves(*list, limit);
    return code;
}

lap_code lap_batch(lap_context *context, const lap_batch_options *options, const lap_settings *given,
    lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err)
{
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    lap_list *list = NULL;
    lap_trace *trace = NULL;
    *counts = (lap_batch_counts){0};
    batch *b = create(context, options, settings, counts);
    if (!b)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    b->each = each;
    b->user = b->jobs.warn_user = user;
    lap_code code = lap_settings_check(b->settings, err);
    if (code == LAP_OK && options->shard >= (options->shards ? options->shards : 1))
        code = lap_fail(err, LAP_E_USAGE, "share %u of %u does not exist: shares are numbered from 0",
            options->shard, options->shards);
    if (code == LAP_OK) /* before anything is created */
        code = lap_run_check_backend(b->settings, err);
    if (code == LAP_OK)
        code = open_list(b, &list, err);
    if (code == LAP_OK && options->prune)
        code = lap_prune_create(options, &b->prune, err);
    if (code == LAP_OK)
        code = prepare(b, list, err);
    if (code == LAP_OK && trace_of(options))
        code = lap_trace_create(&trace, err);
    if (code == LAP_OK) {
        lap_executor_trace(b->jobs.executor, trace);
        code = run_jobs(b, list, err);
    }
    if (code == LAP_OK)
        code = lap_prune_outputs(b->prune,
            &(lap_prune_run){&b->tree, b->manifest, &b->jobs.control, b->jobs.failed_fast, b->user}, err);
    lap_jobs_close(&b->jobs);
    lap_trace_thread(trace, "close", b->jobs.began_ms + counts->ms, 0);
    code = write_trace(b, trace, code, err);
    lap_trace_destroy(trace);
    lap_prune_free(b->prune);
    lap_manifest_close(b->manifest);
    lap_group_close(&b->group);
    lap_tree_close(&b->tree);
    lap_map64_free(&b->claims);
    lap_map64_free(&b->endangered);
    lap_map64_free(&b->folders);
    lap_late_free(&b->late);
    lap_origins_free(&b->origins);
    lap_list_close(list);
    free(b);
    return code;
}
