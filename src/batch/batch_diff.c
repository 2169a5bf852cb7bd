/* lap_compare_folders: compares the images of two folders in pairs, several at once, in the order of the
 * walk. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/context.h"
#include "base/status.h"
#include "batch/jobs.h"
#include "batch/walk.h"
#include "run/formats.h"
#include "run/pixels.h"
#include "run/settings.h"

typedef struct comparing {
    const lap_pairing *pairing;
    lap_walk_side sides[2];
    lap_probe *probes[2];
    int side; /* index of the folder that is being walked */
    lap_batch_options options;
    const lap_settings *settings;
    lap_jobs jobs;
} comparing;

typedef struct pair_job {
    lap_job job; /* the job's report has the size and note of the first folder's picture */
    const comparing *run;
    lap_difference difference;
    bool excused;
    lap_report reads[2];
    char *paths[2]; /* pointers into text; NULL: that folder lacks the file */
    char *relative;
    char text[];
} pair_job;

/* ---- a pair ------------------------------------------------------------------------------------ */

/* Estimates the memory of both pictures from the header of one. Returns 0 if it cannot be read, which is
 * reported later. */
static uint64_t memory_of(const char *path, const lap_settings *settings, const lap_control *control)
{
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_read_options options = lap_read_options_of(settings, control);
    uint64_t bytes = 0;
    options.decode = LAP_DECODE_SERIAL;
    if (lap_source_open(path, &source, NULL) == LAP_OK &&
        lap_decoder_open(source, &options, &decoder, NULL) == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        bytes = 2 * ((uint64_t)h->width * (uint64_t)h->height * (uint64_t)h->channels + h->memory_estimate);
    }
    lap_decoder_close(decoder);
    lap_source_close(source);
    return bytes;
}

static lap_code compare_files(
    lap_context *context, pair_job *pair, const lap_settings *settings, lap_error *err)
{
    lap_pixels *pictures[2] = {NULL, NULL};
    lap_code code = LAP_OK;
    for (int i = 0; i < 2 && code == LAP_OK; i++) {
        code = lap_pixels_read(context, pair->paths[i], settings, &pictures[i], err);
        lap_error_about(err, code, pair->paths[i]);
        if (code == LAP_OK)
            lap_pixels_warn(pictures[i], true, &pair->reads[i]);
    }
    if (code == LAP_OK) {
        const lap_view *view = lap_pixels_view(pictures[0]);
        lap_report *report = &pair->job.report;
        snprintf(report->note, sizeof report->note, "%s", lap_pixels_note(pictures[0]));
        report->width = view->width;
        report->height = view->height;
        report->channels = view->channels;
        const lap_diff_rules *rules = pair->run->pairing->rules;
        pair->excused = lap_difference_excuse(view, lap_pixels_view(pictures[1]), rules);
        code = rules->ignore_count == 0 || lap_difference_has_pixels(view, rules)
                   ? lap_compare_views(view, lap_pixels_view(pictures[1]), rules->mask_border,
                         rules->with_ssim, &pair->difference, err)
                   : lap_fail(err, LAP_E_DIFFERENT, "the rectangles to ignore%s leave no pixel to compare",
                         rules->mask_border ? " and the border" : "");
        lap_error_about(err, code, pair->relative);
    }
    lap_pixels_free(pictures[0]);
    lap_pixels_free(pictures[1]);
    return code;
}

static void compare_pair(lap_context *context, lap_job *job, const lap_settings *settings)
{
    pair_job *pair = (pair_job *)job;
    lap_error *err = &job->report.error;
    lap_control control = lap_context_control(context, settings->timeout_s, lap_now_ms());
    const uint64_t limit = settings->max_memory,
                   wants = limit ? memory_of(pair->paths[0], settings, &control) : 0,
                   need = wants < limit ? wants : limit;
    lap_code code = need ? lap_budget_take(&context->budget, need, limit, &control, err) : LAP_OK;
    const bool has = need && code == LAP_OK;
    if (code == LAP_OK)
        code = compare_files(context, pair, settings, err);
    if (has)
        lap_budget_give(&context->budget, need);
    job->report.status = code != LAP_OK                                      ? LAP_FAILED
                         : pair->reads[0].warnings + pair->reads[1].warnings ? LAP_WARNED
                                                                             : LAP_DONE;
    if (code == LAP_OK)
        *err = (lap_error){0};
}

/* Makes a job for a pair; a and b are paths, or NULL. Returns NULL if out of memory. */
static pair_job *pair_of(const comparing *run, const char *a, const char *b, const char *relative)
{
    const char *const paths[] = {a, b};
    size_t lengths[2], size = sizeof(pair_job) + strlen(relative) + 1;
    for (int i = 0; i < 2; i++) {
        lengths[i] = paths[i] ? strlen(paths[i]) + 1 : 0;
        size += lengths[i];
    }
    pair_job *pair = calloc(1, size);
    if (!pair)
        return NULL;
    pair->job.work = compare_pair;
    pair->job.settings = run->settings;
    pair->run = run;
    char *at = pair->text;
    for (int i = 0; i < 2; i++)
        if (paths[i]) {
            pair->paths[i] = memcpy(at, paths[i], lengths[i]);
            at += lengths[i];
        }
    pair->relative = strcpy(at, relative);
    const char *one = a ? a : b; /* for messages if the run is stopped */
    pair->job.input = one ? strdup(one) : NULL;
    if (pair->job.input)
        return pair;
    lap_job_free(&pair->job);
    return NULL;
}

/* ---- results ----------------------------------------------------------------------------------- */

static void give(void *user, lap_job *job)
{
    comparing *run = user;
    const pair_job *pair = (const pair_job *)job;
    const lap_report *report = &job->report;
    const bool compared = report->error.code == LAP_OK && pair->paths[0] && pair->paths[1];
    const lap_pair given = {.a = pair->paths[0],
        .b = pair->paths[1],
        .relative = pair->relative,
        .width = report->width,
        .height = report->height,
        .channels = report->channels,
        .difference = compared ? &pair->difference : NULL,
        .excused = compared && pair->excused,
        .error = &report->error,
        .note = report->note,
        .reads = {&pair->reads[0], &pair->reads[1]}};
    if (!lap_jobs_was_stopped(&run->jobs, job) && !run->jobs.failed_fast) {
        lap_jobs_count(&run->jobs, report);
        if (!run->pairing->each(run->pairing->user, &given, run->jobs.counts))
            lap_jobs_end_early(&run->jobs);
    }
    lap_job_free(job);
}

static void tick(void *user)
{
    const comparing *run = user;
    run->pairing->each(run->pairing->user, NULL, run->jobs.counts);
}

/* ---- the walks --------------------------------------------------------------------------------- */

/* A path may exist in one folder or in both. The first folder's walk makes a pair of each file that it
 * visits; the second folder's walk skips those files. A probe of each folder (lap_probe) tells which paths
 * its walk visits. */

/* Sets *as to what the walk of the other folder does with this entry's path. */
static lap_code look_across(
    const comparing *run, const lap_walk_entry *entry, lap_probed *as, lap_error *why, lap_error *err)
{
    *why = (lap_error){0};
    if (!entry->is_root)
        return lap_probe_ask(run->probes[!run->side], entry->relative, as, why, err);
    const bool is_same = strcmp(run->sides[0].folder, run->sides[1].folder) == 0;
    *as = is_same ? LAP_PROBED_VISITED : LAP_PROBED_NOTHING;
    return LAP_OK;
}

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    comparing *run = user;
    lap_probed as = LAP_PROBED_NOTHING;
    lap_error why;
    lap_code code = LAP_OK;
    if (entry->link)
        run->jobs.counts->links++;
    else if (run->side == 1)
        code = look_across(run, entry, &as, &why, err);
    run->jobs.counts->expected += !entry->link && as != LAP_PROBED_VISITED;
    return code == LAP_OK ? lap_control_check(&run->jobs.control, err) : code;
}

/* Makes the path of a file below a folder; false if it is too long. */
static bool path_below(const char *folder, const char *relative, char path[PATH_MAX])
{
    const size_t length = strlen(folder);
    return snprintf(path, PATH_MAX, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/",
               relative) < PATH_MAX;
}

/* The pair has a path in the other folder only if the walk of that folder visits this path. */
static pair_job *pair_for(const comparing *run, const lap_walk_entry *entry, lap_probed as)
{
    char path[PATH_MAX];
    const char *other = NULL;
    if (as == LAP_PROBED_VISITED && path_below(run->sides[!run->side].folder, entry->relative, path))
        other = path;
    return run->side == 0 ? pair_of(run, entry->path, other, entry->relative)
                          : pair_of(run, other, entry->path, entry->relative);
}

static lap_code take(void *user, const lap_walk_entry *entry, lap_error *err)
{
    comparing *run = user;
    lap_probed as;
    lap_error why;
    if (entry->link)
        return LAP_OK;
    lap_code code = look_across(run, entry, &as, &why, err);
    if (code != LAP_OK || (run->side == 1 && as == LAP_PROBED_VISITED))
        return code;
    code = lap_jobs_make_room(&run->jobs);
    if (code != LAP_OK)
        return code;
    pair_job *pair = pair_for(run, entry, as);
    if (!pair)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    run->jobs.counts->found++;
    if (entry->problem)
        why = *entry->problem;
    if (why.code == LAP_OK && pair->paths[0] && pair->paths[1])
        return lap_jobs_submit(&run->jobs, &pair->job, err);
    if (why.code != LAP_OK)
        pair->job.report = (lap_report){.status = LAP_FAILED, .error = why};
    lap_jobs_add(&run->jobs, &pair->job);
    return LAP_OK;
}

static lap_code compare_all(comparing *run, lap_error *err)
{
    lap_error walking = {0};
    lap_code code = LAP_OK;
    for (run->side = 0; run->side < 2 && code == LAP_OK; run->side++)
        code = lap_probe_open(&run->sides[run->side], count_one, run, &run->probes[run->side], err);
    if (code != LAP_OK)
        return code;
    run->options.others = NULL; /* already counted */
    for (run->side = 0; run->side < 2 && code == LAP_OK; run->side++)
        code = lap_walk_folder(&run->sides[run->side], take, run, &walking);
    lap_jobs_finish(&run->jobs, code != LAP_OK);
    return lap_jobs_result(&run->jobs, code, &walking, err);
}

static lap_code check_folder(const char *path, lap_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return lap_fail_at(err, LAP_E_MISSING, path, "no such folder");
    return S_ISDIR(st.st_mode) ? LAP_OK : lap_fail_at(err, LAP_E_USAGE, path, "is not a folder");
}

lap_code lap_compare_folders(lap_context *context, const lap_pairing *pairing, const lap_settings *given,
    lap_batch_counts *counts, lap_error *err)
{
    const lap_batch_options *options = pairing->options;
    const lap_settings completed = lap_settings_complete(given), *settings = &completed;
    comparing run = {.pairing = pairing,
        .options = {.out_dir = "", .jobs = options->jobs, .take = options->take, .others = options->others},
        .settings = settings};
    run.sides[0] = (lap_walk_side){&run.options, pairing->a, pairing->b};
    run.sides[1] = (lap_walk_side){&run.options, pairing->b, pairing->a};
    lap_jobs_begin(&run.jobs, context, &run.options, counts);
    run.jobs.give = give;
    run.jobs.tick = tick;
    run.jobs.user = &run;
    run.jobs.in_order = true;
    lap_code code = lap_settings_check(settings, err);
    if (code == LAP_OK)
        code = lap_libraries_check(err);
    if (code == LAP_OK)
        code = check_folder(pairing->a, err);
    if (code == LAP_OK)
        code = check_folder(pairing->b, err);
    if (code == LAP_OK)
        code = lap_jobs_open(&run.jobs, context, NULL, err);
    if (code == LAP_OK)
        code = compare_all(&run, err);
    lap_jobs_close(&run.jobs);
    for (int i = 0; i < 2; i++)
        lap_probe_close(run.probes[i]);
    return code;
}
