/* A run over many files. First a walk that only looks (batch_look.c); then a walk that hands out jobs and
 * takes results back, never more than a few ahead. */
#include "batch/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/status.h"
#include "base/times.h"
#include "run/formats.h"
#include "run/run.h"
#include "run/settings.h"

enum { TICK_MS = 100, AHEAD = 4 * LAP_EXECUTOR_LOW, OWN_FILES = 24, FILES_PER_JOB = 4 };

/* ---- results ----------------------------------------------------------------------------------- */

static void notify(batch *b, const char *input, const char *output, const lap_report *report)
{
    lap_batch_counts *c = b->counts;
    c->ms = lap_now_ms() - b->began_ms;
    if (b->options->work && report)
        lap_times_add(&b->options->work->busy, &report->ms);
    if (report) {
        c->ok += report->status == LAP_DONE;
        c->warned += report->status == LAP_WARNED;
        c->skipped += report->status == LAP_SKIPPED;
        c->failed += report->status == LAP_FAILED;
        if (report->status == LAP_SKIPPED || report->status == LAP_FAILED)
            c->kinds[report->error.code]++;
        else {
            c->pixels += (uint64_t)report->width * (uint64_t)report->height;
            c->bytes_in += report->bytes_in;
            c->bytes_out += report->bytes_out;
        }
        if (report->status == LAP_FAILED && report->error.code == LAP_E_DISK_FULL && b->stop.code == LAP_OK)
            lap_fail_at(
                &b->stop, LAP_E_DISK_FULL, report->error.subject, "stopped early: %s", report->error.message);
        if (report->status == LAP_FAILED && b->options->fail_fast)
            b->stopping = true;
    }
    if (b->each) {
        lap_batch_file file = {input, output, report};
        b->each(b->user, report ? &file : NULL, c);
    }
}

/* An input that is not worked on: why; with nothing in it, the output is up to date. */
static void notify_problem(
    batch *b, lap_status status, const lap_walk_entry *entry, const char *output, const lap_error *why)
{
    lap_report report = {.status = status, .error = *why};
    notify(b, entry->path, output, &report);
}

static void publish_group(batch *b)
{
    if (!b->group.count)
        return;
    lap_error why;
    lap_code code = lap_group_publish(&b->group, b->manifest, &why);
    for (int i = 0; i < b->group.count; i++) {
        lap_job *job = b->group.jobs[i];
        b->counts->waiting--;
        b->counts->waiting_pixels -= (uint64_t)job->report.width * (uint64_t)job->report.height;
        notify(b, job->input, job->output, &job->report);
        lap_job_free(job);
    }
    b->group.count = 0;
    if (code != LAP_OK && b->stop.code == LAP_OK)
        b->stop = why;
}

/* Takes one result back, or lets TICK_MS pass. */
static void reap(batch *b)
{
    lap_job *job = lap_executor_reap(b->executor, TICK_MS);
    if (job && job->report.error.code == LAP_OK) {
        if (!b->group.count)
            b->group.since_ms = lap_now_ms();
        b->group.jobs[b->group.count++] = job;
        b->counts->waiting++;
        b->counts->waiting_pixels += (uint64_t)job->report.width * (uint64_t)job->report.height;
    } else if (job) {
        /* What never began because the run stops is not a failure of the file. */
        if (job->report.error.code != LAP_E_CANCELLED)
            notify(b, job->input, job->output, &job->report);
        else if (b->stop.code == LAP_OK)
            lap_control_check(&b->control, &b->stop);
        lap_job_free(job);
    }
    lap_error warning;
    while (b->options->warn && lap_executor_warning(b->executor, &warning))
        b->options->warn(b->user, &warning);
    if (lap_group_is_due(&b->group))
        publish_group(b);
    if (lap_now_ms() - b->ticked_ms >= TICK_MS) {
        b->ticked_ms = lap_now_ms();
        if (b->options->work)
            lap_executor_look(b->executor, b->options->work);
        notify(b, NULL, NULL, NULL);
    }
}

/* ---- the second walk --------------------------------------------------------------------------- */

static lap_code submit(
    batch *b, const lap_walk_entry *entry, const lap_job *planned, bool apart, lap_error *err)
{
    lap_job *job = calloc(1, sizeof *job);
    if (!job)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    *job = *planned;
    job->input = strdup(entry->path);
    job->output = strdup(planned->output);
    job->relative = strdup(planned->relative);
    job->stat = *entry->stat;
    job->work = lap_job_write;
    job->tree = &b->tree;
    job->force = b->options->force;
    /* A photo without an extension was found by its content, and stays one without. */
    bool as_jpeg = !b->settings->format && !lap_format_of_path(planned->output);
    job->settings = &b->variants[as_jpeg | (apart && b->sync) << 1];
    if (!job->input || !job->output || !job->relative) {
        lap_job_free(job);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    return lap_executor_submit(b->executor, job, err);
}

static lap_code work_on(void *user, const lap_walk_entry *entry, lap_error *err)
{
    batch *b = user;
    char relative[PATH_MAX], output[PATH_MAX];
    lap_error why;
    bool apart;
    lap_job job = {.output = output, .relative = relative, .below = entry->below};
    if (entry->link || !lap_batch_is_ours(b, entry->relative))
        return LAP_OK;
    while (lap_executor_pending(b->executor) >= (size_t)b->load.jobs + AHEAD ||
           b->group.count == LAP_GROUP_FILES)
        reap(b);
    if (b->stop.code == LAP_OK)
        lap_control_check(&b->control, &b->stop);
    if (b->stop.code != LAP_OK || b->stopping)
        return LAP_E_CANCELLED; /* ends the walk; run_jobs knows why */
    b->counts->found++;
    if (entry->problem) {
        notify_problem(b, LAP_FAILED, entry, NULL, entry->problem);
        return lap_prune_note(b->prune, entry, NULL, err);
    }
    if (!lap_batch_output_name(b->options, b->settings, entry->relative, relative, sizeof relative) ||
        !lap_batch_output_path(b, relative, output, sizeof output)) {
        lap_fail_at(&why, LAP_E_WRITE, entry->path, "the path of its output is too long");
        notify_problem(b, LAP_FAILED, entry, NULL, &why);
        return LAP_OK;
    }
    if (lap_batch_check_format(b->settings, entry->path, output, &why) != LAP_OK) {
        notify_problem(b, LAP_FAILED, entry, NULL, &why);
        return LAP_OK;
    }
    if (!b->options->dry_run && lap_batch_sweep_folder(b, relative, err) != LAP_OK)
        return LAP_E_MEMORY;
    if (lap_origins_find(&b->origins, entry->path, entry->below, &job.origin, err) != LAP_OK)
        return LAP_E_MEMORY;
    const lap_status status = lap_batch_judge(b, entry, &job, &why);
    if (status != LAP_DONE) {
        notify_problem(b, status, entry, output, &why);
        return LAP_OK;
    }
    if (b->options->dry_run) {
        lap_report report = {.status = LAP_DONE};
        notify(b, entry->path, output, &report);
        return LAP_OK;
    }
    if (lap_batch_make_folder(b, relative, &apart, &why) != LAP_OK) {
        notify_problem(b, why.code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED, entry, output, &why);
        return LAP_OK;
    }
    return submit(b, entry, &job, apart, err);
}

static lap_code run_jobs(batch *b, lap_list *list, lap_error *err)
{
    lap_error why = {0}, walking = {0};
    lap_batch_options seen = *b->options;
    seen.others = NULL; /* counted already */
    lap_code code = lap_walk(&seen, list, work_on, b, &walking);
    if (b->stop.code != LAP_OK || b->stopping || code != LAP_OK)
        lap_executor_cancel(b->executor);
    while (lap_executor_pending(b->executor))
        reap(b);
    if (b->options->work)
        lap_executor_look(b->executor, b->options->work);
    publish_group(b); /* what is finished is kept, however the run ends */
    (void)lap_manifest_flush(b->manifest, false, 0, NULL); /* who misses a renewed line looks closer again */
    if (lap_group_settle(&b->group, &why) != LAP_OK && b->stop.code == LAP_OK)
        b->stop = why;
    /* Who was asked to stop when everything was done has done everything. */
    if (b->stop.code != LAP_OK)
        return lap_error_set(err, &b->stop);
    if (code == LAP_OK || b->stopping)
        return LAP_OK;
    (void)lap_error_set(err, &walking);
    return code;
}

/* Everything that must be right before the first file is touched. */
static lap_code prepare(batch *b, lap_list *list, lap_error *err)
{
    const lap_batch_options *options = b->options;
    char hash[LAP_SETTINGS_HASH];
    lap_code code = lap_batch_check_operands(options, b->settings, err);
    if (code == LAP_OK)
        code = lap_batch_look(b, list, err);
    if (code == LAP_OK && !options->dry_run)
        code = lap_batch_make_out_dir(options->out_dir, err);
    if (code == LAP_OK)
        code = lap_tree_open(options->out_dir, &b->tree, err);
    if (code == LAP_OK && !options->dry_run && b->sync)
        code = lap_group_open(&b->group, &b->tree, err);
    if (code == LAP_OK) {
        lap_settings_hash(b->settings, hash);
        code = lap_manifest_open(&b->tree, strtoull(hash, NULL, 16), &b->manifest, err);
    }
    if (code == LAP_OK)
        code = lap_batch_executor(b->context, &b->load, options->work, &b->executor, err);
    return code;
}

static batch *create(lap_context *context, const lap_batch_options *options, const lap_settings *settings)
{
    batch *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->context = context;
    b->options = options;
    b->control.cancel = &context->cancel;
    b->began_ms = lap_now_ms();
    b->shards = options->shards;
    b->load.jobs = options->jobs > 0 && options->jobs < context->threads ? options->jobs : context->threads;
    struct rlimit files; /* each job holds its input, its output, and on its way two folders */
    if (!getrlimit(RLIMIT_NOFILE, &files) &&
        files.rlim_cur < OWN_FILES + FILES_PER_JOB * (rlim_t)b->load.jobs)
        b->load.jobs = files.rlim_cur > OWN_FILES + FILES_PER_JOB
                           ? (int)(files.rlim_cur - OWN_FILES) / FILES_PER_JOB
                           : 1;
    b->sync = settings->sync;
    b->group.sync_fd = b->tree.fd = -1;
    for (int i = 0; i < 4; i++) {
        b->variants[i] = *settings;
        b->variants[i].progress = NULL;
        b->variants[i].stats = NULL; /* one place for many files would be a race */
        b->variants[i].sync = i & 2; /* else a group at a time, in lap_group_publish */
        if (i & 1)
            b->variants[i].format = "jpg";
    }
    b->settings = b->load.settings = &b->variants[0];
    b->load.devices = options->devices;
    b->load.is_written = true;
    return b;
}

/* Where a timeline is to be written; NULL: nowhere. */
static const char *trace_of(const lap_batch_options *options)
{
    return options->devices && !options->dry_run ? options->devices->trace : NULL;
}

/* However the run has ended: what was done shows. */
static lap_code write_trace(const batch *b, const lap_trace *trace, lap_code code, lap_error *err)
{
    lap_error why;
    if (!trace || lap_trace_write(trace, trace_of(b->options), b->sync, &why) == LAP_OK || code != LAP_OK)
        return code;
    return lap_error_set(err, &why);
}

/* What it holds is not left for photos. */
static lap_code open_list(batch *b, lap_list **list, lap_error *err)
{
    const uint64_t limit = b->settings->max_memory;
    const lap_code code = lap_list_open(b->options, limit, list, err);
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
    if (options->work)
        *options->work = (lap_batch_work){0};
    batch *b = create(context, options, settings);
    if (!b)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    b->counts = counts;
    b->each = each;
    b->user = user;
    lap_code code = lap_settings_check(b->settings, err);
    if (code == LAP_OK) /* before anything is made */
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
        lap_executor_trace(b->executor, trace);
        code = run_jobs(b, list, err);
    }
    if (code == LAP_OK)
        code = lap_prune_outputs(
            b->prune, &(lap_prune_run){&b->tree, b->manifest, &b->control, b->stopping, b->user}, err);
    counts->ms = lap_now_ms() - b->began_ms;
    lap_executor_close(b->executor);
    lap_trace_thread(trace, "close", b->began_ms + counts->ms, 0);
    code = write_trace(b, trace, code, err);
    lap_trace_destroy(trace);
    lap_prune_free(b->prune);
    lap_manifest_close(b->manifest);
    lap_group_close(&b->group);
    lap_tree_close(&b->tree);
    lap_map64_free(&b->claims);
    lap_map64_free(&b->endangered);
    lap_map64_free(&b->folders);
    lap_origins_free(&b->origins);
    lap_list_close(list);
    free(b);
    return code;
}
