/* lap_compare_folders: compares the images of two folders in pairs, several at once, in the order of the
 * walk. */
#include <errno.h>
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
    const char *sides[2];
    int side; /* index of the folder that is being walked */
    lap_batch_options options;
    const lap_settings *settings;
    lap_jobs jobs;
} comparing;

typedef struct pair_job {
    lap_job job; /* the job's report has the size and note of the first folder's picture */
    const comparing *run;
    lap_difference difference;
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
    }
    if (code == LAP_OK) {
        const lap_view *view = lap_pixels_view(pictures[0]);
        lap_report *report = &pair->job.report;
        snprintf(report->note, sizeof report->note, "%s", lap_pixels_note(pictures[0]));
        report->width = view->width;
        report->height = view->height;
        report->channels = view->channels;
        const lap_diff_rules *rules = pair->run->pairing->rules;
        lap_difference_excuse(view, lap_pixels_view(pictures[1]), rules);
        code = lap_difference_has_pixels(view, rules)
                   ? lap_compare_views(view, lap_pixels_view(pictures[1]), rules->mask_border,
                         rules->with_ssim, &pair->difference, err)
                   : lap_fail(err, LAP_E_DIFFERENT, "the rectangles to ignore leave no pixel to compare");
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
    job->report.status = code == LAP_OK ? LAP_DONE : LAP_FAILED;
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
        .error = &report->error,
        .note = report->note};
    if (!lap_jobs_was_stopped(&run->jobs, job)) {
        lap_jobs_count(&run->jobs, report);
        run->pairing->each(run->pairing->user, &given, run->jobs.counts);
    }
    lap_job_free(job);
}

static void tick(void *user)
{
    const comparing *run = user;
    run->pairing->each(run->pairing->user, NULL, run->jobs.counts);
}

/* ---- the walks --------------------------------------------------------------------------------- */

/* Makes the path of the file in the other folder, and returns whether it exists. A file that cannot be
 * examined counts as existing, and reading it reports the error. */
static bool find_other(const comparing *run, const char *relative, char path[PATH_MAX])
{
    struct stat st;
    const char *folder = run->sides[!run->side];
    const size_t length = strlen(folder);
    const int size = snprintf(
        path, PATH_MAX, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", relative);
    return size > 0 && size < PATH_MAX && (lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    comparing *run = user;
    char other[PATH_MAX];
    if (entry->link)
        run->jobs.counts->links++;
    else if (run->side == 0 || entry->problem || !find_other(run, entry->relative, other))
        run->jobs.counts->expected++;
    return lap_control_check(&run->jobs.control, err);
}

static lap_code take(void *user, const lap_walk_entry *entry, lap_error *err)
{
    comparing *run = user;
    char other[PATH_MAX];
    if (entry->link)
        return LAP_OK;
    const bool both = !entry->problem && find_other(run, entry->relative, other);
    if (both && run->side == 1) /* was paired during the walk of the first folder */
        return LAP_OK;
    const lap_code code = lap_jobs_make_room(&run->jobs);
    if (code != LAP_OK)
        return code;
    pair_job *pair = both ? pair_of(run, entry->path, other, entry->relative)
                          : pair_of(run, run->side == 0 ? entry->path : NULL,
                                run->side == 1 ? entry->path : NULL, entry->relative);
    if (!pair)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    run->jobs.counts->found++;
    if (both)
        return lap_jobs_submit(&run->jobs, &pair->job, err);
    if (entry->problem)
        pair->job.report = (lap_report){.status = LAP_FAILED, .error = *entry->problem};
    lap_jobs_add(&run->jobs, &pair->job);
    return LAP_OK;
}

static lap_code walk_both(comparing *run, lap_walk_fn *visit, lap_error *err)
{
    lap_code code = LAP_OK;
    for (run->side = 0; run->side < 2 && code == LAP_OK; run->side++) {
        run->options.inputs = &run->sides[run->side];
        code = lap_walk(&run->options, NULL, visit, run, err);
    }
    return code;
}

static lap_code compare_all(comparing *run, lap_error *err)
{
    lap_error walking = {0};
    lap_code code = walk_both(run, count_one, err);
    if (code != LAP_OK)
        return code;
    run->options.others = NULL; /* already counted */
    code = walk_both(run, take, &walking);
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
        .sides = {pairing->a, pairing->b},
        .options = {.input_count = 1,
            .out_dir = "",
            .jobs = options->jobs,
            .take = options->take,
            .others = options->others},
        .settings = settings};
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
    return code;
}
