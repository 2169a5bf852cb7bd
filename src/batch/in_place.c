/* Replaces photos with their outputs, several at once. Each output is published separately, in the order in
 * which the photos were named:
 *
 *     judge (the record of its folder) -> job -> backup -> line in the record, synced -> rename -> line
 *
 * A photo is replaced only if it is still the file that the run decided on. So two simultaneous runs never
 * filter a photo twice: the later run finds a different file under the name, and finds that file in the
 * record. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/batch.h"
#include "batch/in_place_backup.h"
#include "batch/in_place_record.h"
#include "batch/outputs.h"
#include "io/side.h"
#include "io/sink_temp.h"
#include "run/run.h"
#include "run/settings.h"

typedef struct folder { /* a folder of photos */
    lap_tree tree;      /* open while it has users */
    char *path;         /* the first path that named it */
    lap_record record;
    lap_error refused; /* why no more photos of this folder are replaced; LAP_OK: photos are still replaced */
    int users;
} folder;

typedef struct photo {
    lap_job job; /* first: freeing the job frees the photo. job.seen: the photo as judged */
    folder *folder;
    char kept[NAME_MAX + 1]; /* name of its backup; empty: no backup was requested */
    bool is_repeated;        /* named before, and therefore not counted again */
} photo;

typedef struct in_place {
    lap_context *context;
    const lap_in_place *order;
    lap_batch_options options; /* the caller's options, without an output folder */
    lap_settings settings;
    lap_batch_load load;
    lap_settings_mark mark; /* identifies the settings */
    lap_jobs jobs;
    folder **folders;
    size_t folder_count, folder_capacity;
    lap_map64 places;    /* device and inode of a folder -> its index, from 1 */
    lap_map64 taken;     /* folder and name of photos that were already handled */
    lap_outputs outputs; /* counts photos that are outputs of folder runs */
    lap_side *sides;
    lap_error refused; /* why the first skipped folder was skipped */
} in_place;

/* ---- folders ------------------------------------------------------------------------------------- */

static lap_code make_folder(in_place *run, const char *path, uint64_t key, folder **made, lap_error *err)
{
    folder **grown = lap_grow(run->folders, &run->folder_capacity, run->folder_count + 1, sizeof(folder *));
    folder *f = grown ? calloc(1, sizeof *f) : NULL;
    run->folders = grown ? grown : run->folders;
    if (!f || !(f->path = strdup(path)) || lap_record_begin(&f->record, path, &run->mark, err) != LAP_OK) {
        free(f ? f->path : NULL);
        free(f);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the list of folders");
    }
    f->tree.fd = -1;
    run->folders[run->folder_count++] = *made = f;
    return lap_map64_put(&run->places, key, run->folder_count, err);
}

/* Opens the folder of a path without links; it stays open until no photo uses it any more. */
static lap_code enter_folder(in_place *run, const char *path, folder **entered, lap_error *err)
{
    struct stat st;
    folder *f = NULL;
    lap_tree tree;
    lap_code code = lap_tree_open(path, &tree, err);
    if (code != LAP_OK)
        return code;
    if (tree.fd < 0 || fstat(tree.fd, &st) != 0) {
        lap_tree_close(&tree);
        return lap_fail_at(err, LAP_E_MISSING, path, "no such folder");
    }
    const uint64_t key = lap_batch_inode(&st), *known = lap_map64_find(&run->places, key);
    if (known)
        f = run->folders[*known - 1];
    else
        code = make_folder(run, path, key, &f, err);
    if (code == LAP_OK && !known && !run->options.dry_run)
        (void)lap_temp_sweep(tree.fd); /* removes what stopped runs left */
    if (code == LAP_OK && f->users++ == 0)
        f->tree = (lap_tree){tree.fd, f->path};
    else
        lap_tree_close(&tree);
    *entered = code == LAP_OK ? f : NULL;
    return code;
}

static void leave_folder(folder *f)
{
    if (f && --f->users == 0)
        lap_tree_close(&f->tree);
}

/* Skips a photo because of its folder's record; the message names both. */
static lap_code leave_alone(in_place *run, const photo *p, const lap_error *why, lap_error *err)
{
    if (run->refused.code == LAP_OK)
        run->refused = *why;
    return lap_fail_at(
        err, why->code, p->job.input, "is left alone, because of %s: %s", why->subject, why->message);
}

/* ---- results ------------------------------------------------------------------------------------- */

static void free_photo(photo *p)
{
    if (!p)
        return;
    folder *f = p->folder;
    lap_job_free(&p->job); /* needs the folder */
    leave_folder(f);
}

static void notify(in_place *run, const lap_job *job)
{
    const lap_batch_file file = {job->input, job->output, &job->report};
    if (((const photo *)job)->is_repeated) {
        run->jobs.counts->found--;
        run->jobs.counts->expected--;
    } else {
        lap_jobs_count(&run->jobs, &job->report);
    }
    if (run->order->each)
        run->order->each(run->order->user, &file, run->jobs.counts);
}

static void tick(void *user)
{
    const in_place *run = user;
    if (run->order->each)
        run->order->each(run->order->user, NULL, run->jobs.counts);
}

/* Whether the photo is the one that was judged. Its link count may differ, because a backup is a link. */
static lap_code look_at(const photo *p, struct stat *now, lap_error *err)
{
    if (fstatat(p->folder->tree.fd, p->job.relative, now, AT_SYMLINK_NOFOLLOW) == 0 &&
        lap_same_state(now, &p->job.seen) && lap_same_state(now, &p->job.stat))
        return LAP_OK;
    return lap_fail_at(err, LAP_E_CHANGED, p->job.input, "was changed, or replaced, during the run");
}

static lap_code keep_backup(const in_place *run, const photo *p, const struct stat *now, lap_error *err)
{
    const lap_backup backup = {
        &p->folder->tree, p->job.input, p->job.relative, p->kept, now, run->settings.sync};
    return p->kept[0] ? lap_backup_keep(&backup, err) : LAP_OK;
}

/* Adds the line that says that an output is about to replace the photo, or has replaced it. */
static lap_code record(const in_place *run, const photo *p, bool is_done, lap_error *err)
{
    uint64_t content;
    const struct stat *made = lap_sink_made(p->job.sink, &content), *seen = &p->job.seen;
    const uint64_t settings = lap_settings_recorded(&run->mark, lap_job_is_whole(&p->job));
    lap_manifest_line line = lap_manifest_line_of(settings, p->job.relative, made, content);
    line.maker = LAP_MAKER_RUN;
    line.is_done = is_done;
    line.input = p->job.relative;
    line.input_size = seen->st_size;
    line.input_mtime_s = seen->st_mtim.tv_sec;
    line.input_mtime_ns = seen->st_mtim.tv_nsec;
    return lap_record_add(&p->folder->record, p->folder->tree.fd, &line, run->settings.sync && !is_done, err);
}

/* Adds the line before the rename. If that fails, the record is no longer trusted; a full disk ends the
 * run. */
static lap_code announce(in_place *run, const photo *p, lap_error *err)
{
    lap_error *refused = &p->folder->refused;
    lap_code code = refused->code == LAP_OK ? record(run, p, false, err) : LAP_OK;
    if (code == LAP_E_DISK_FULL || code == LAP_E_MEMORY)
        return code;
    if (code != LAP_OK)
        *refused = *err;
    return refused->code == LAP_OK || run->order->again ? LAP_OK : leave_alone(run, p, refused, err);
}

static lap_code publish(in_place *run, photo *p, lap_error *err)
{
    struct stat now;
    lap_code code = look_at(p, &now, err);
    if (code == LAP_OK)
        code = keep_backup(run, p, &now, err);
    if (code == LAP_OK)
        code = announce(run, p, err);
    if (code == LAP_OK)
        code = look_at(p, &now, err);
    if (code != LAP_OK)
        return code;
    lap_sink_expect(p->job.sink, &now);
    code = lap_sink_publish(p->job.sink, err);
    if (code == LAP_E_EXISTS) /* a different file was there a moment ago */
        return lap_fail_at(err, LAP_E_CHANGED, p->job.input, "was changed, or replaced, during the run");
    if (code == LAP_OK && p->folder->refused.code == LAP_OK)
        (void)record(run, p, true, NULL); /* if this fails, the first line suffices to recognise the output */
    return code;
}

/* Judges a photo by its folder's record. LAP_DONE: it is a photo; LAP_SKIPPED: it is an output. */
static lap_status judge(const in_place *run, photo *p, lap_error *why)
{
    folder *f = p->folder;
    const lap_candidate candidate = {f->tree.fd, p->job.relative, &p->job.seen};
    lap_was was;
    *why = (lap_error){0};
    const lap_code code = lap_record_judge(&f->record, &candidate, &was, why);
    lap_error_about(why, code, p->job.input);
    if (code != LAP_OK)
        return LAP_FAILED;
    if (was == LAP_WAS_OTHER)
        lap_fail_at(why, LAP_E_EXISTS, p->job.input,
            "was filtered in place before, with other settings, and is left alone; to filter the photo with "
            "these, restore the original photo first");
    else if (was == LAP_WAS_UNTIMED && run->settings.preserve)
        lap_fail_at(why, LAP_E_EXISTS, p->job.input,
            "was filtered in place before, without keeping the photo's time, and is left alone; to keep it, "
            "restore the original photo first");
    return was == LAP_WAS_PHOTO ? LAP_DONE : LAP_SKIPPED;
}

/* Judges a photo that was changed, perhaps by another run. */
static void judge_changed(in_place *run, photo *p)
{
    lap_report *report = &p->job.report;
    lap_error why;
    folder *f = p->folder;
    if (run->order->again || fstatat(f->tree.fd, p->job.relative, &p->job.seen, AT_SYMLINK_NOFOLLOW) != 0 ||
        lap_record_refresh(&f->record, f->tree.fd, &why) != LAP_OK || judge(run, p, &why) != LAP_SKIPPED)
        return;
    /* Drop the notes from decoding: they concern the photo, and the other run reports them. */
    *report = (lap_report){.status = LAP_SKIPPED, .error = why};
}

/* lap_jobs.give */
static void give(void *user, lap_job *job)
{
    in_place *run = user;
    photo *p = (photo *)job;
    lap_report *report = &job->report;
    lap_error why;
    if (job->sink && report->error.code == LAP_OK && !run->jobs.failed_fast &&
        publish(run, p, &why) != LAP_OK) {
        report->status = why.code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED;
        report->error = why;
    }
    if (report->error.code == LAP_E_CHANGED && p->folder)
        judge_changed(run, p);
    if (!lap_jobs_was_stopped(&run->jobs, job) && !run->jobs.failed_fast)
        notify(run, job);
    free_photo(p);
}

/* ---- what is to be done -------------------------------------------------------------------------- */

/* Enters the folder of a path without links, and examines the file there. */
static lap_code find_target(in_place *run, const char *target, photo *p, lap_error *err)
{
    const char *slash = strrchr(target, '/'), *path = p->job.input;
    char *around = lap_temp_folder(target);
    p->job.relative = strdup(slash ? slash + 1 : target);
    if (!around || !p->job.relative) {
        free(around);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    const lap_code code = enter_folder(run, around, &p->folder, err);
    free(around);
    if (code != LAP_OK)
        return code;
    p->job.tree = &p->folder->tree;
    if (fstatat(p->folder->tree.fd, p->job.relative, &p->job.seen, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT
                   ? lap_fail_at(err, LAP_E_MISSING, path, "no such file")
                   : lap_fail_at(err, LAP_E_UNREADABLE, path, "cannot be examined: %s", strerror(errno));
    return S_ISREG(p->job.seen.st_mode) ? LAP_OK
                                        : lap_fail_at(err, LAP_E_UNREADABLE, path, "not a regular file");
}

/* Finds the photo's real place, folder and name. */
static lap_code find_place(in_place *run, photo *p, lap_error *err)
{
    char *target = lap_temp_resolve(p->job.input);
    const lap_code code =
        target ? find_target(run, target, p, err)
               : lap_fail_at(err, LAP_E_UNREADABLE, p->job.input, "cannot be examined: %s", strerror(errno));
    free(target);
    return code;
}

/* Whether the photo was already handled, under this name or a different name that leads to it. A second hard
 * link counts as a separate photo: it still leads to the old file when the first one is replaced. */
static lap_code take_turn(in_place *run, const photo *p, bool *again, lap_error *err)
{
    char key[sizeof(dev_t) + sizeof(ino_t) + NAME_MAX + 1];
    struct stat st;
    const size_t length = strlen(p->job.relative);
    if (length > NAME_MAX || fstat(p->folder->tree.fd, &st) != 0)
        return lap_fail_at(err, LAP_E_UNREADABLE, p->job.input, "its folder cannot be examined");
    memcpy(key, &st.st_dev, sizeof st.st_dev);
    memcpy(key + sizeof st.st_dev, &st.st_ino, sizeof st.st_ino);
    memcpy(key + sizeof st.st_dev + sizeof st.st_ino, p->job.relative, length);
    const uint64_t hash = lap_map64_key(key, sizeof st.st_dev + sizeof st.st_ino + length);
    *again = lap_map64_find(&run->taken, hash) != NULL;
    return lap_map64_put(&run->taken, hash, 1, err);
}

/* Reads the record and judges the photo. Recognises outputs even if the record cannot be written. */
static lap_status ask_record(in_place *run, photo *p, lap_error *why)
{
    folder *f = p->folder;
    if (f->refused.code == LAP_OK && lap_record_refresh(&f->record, f->tree.fd, why) != LAP_OK) {
        if (why->code == LAP_E_MEMORY)
            return LAP_FAILED;
        f->refused = *why;
    }
    *why = (lap_error){0};
    if (run->order->again)
        return LAP_DONE;
    lap_error doubt = f->refused;
    if (doubt.code == LAP_OK) {
        const lap_status status = judge(run, p, why);
        if (status != LAP_DONE || lap_record_check(&f->record, f->tree.fd, &doubt) == LAP_OK)
            return status;
    }
    (void)leave_alone(run, p, &doubt, why);
    return LAP_FAILED;
}

static lap_status check_backup(const in_place *run, photo *p, lap_error *why)
{
    const char *suffix = run->order->backup;
    if (!suffix)
        return LAP_DONE;
    if (snprintf(p->kept, sizeof p->kept, "%s%s", p->job.relative, suffix) >= (int)sizeof p->kept) {
        lap_fail_at(why, LAP_E_WRITE, p->job.input, "the name of its backup is too long");
        return LAP_FAILED;
    }
    const lap_backup backup = {&p->folder->tree, p->job.input, p->job.relative, p->kept, &p->job.seen, false};
    const lap_code code = lap_backup_check(&backup, why);
    return code == LAP_OK ? LAP_DONE : code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED;
}

/* In a dry run, also reports foreseeable obstacles. */
static lap_status plan(in_place *run, photo *p, lap_report *report)
{
    lap_error *why = &report->error;
    bool again = false;
    if (find_place(run, p, why) != LAP_OK || take_turn(run, p, &again, why) != LAP_OK)
        return LAP_FAILED;
    if (again) {
        p->is_repeated = true;
        snprintf(report->note, sizeof report->note, "the same file as an earlier one, and handled once");
        return LAP_SKIPPED;
    }
    lap_status status = ask_record(run, p, why);
    if (status == LAP_DONE)
        status = check_backup(run, p, why);
    if (status == LAP_DONE &&
        lap_outputs_note_named(&run->outputs, p->job.input, &p->job.seen, why) != LAP_OK)
        status = LAP_FAILED;
    if (status == LAP_DONE && run->options.dry_run &&
        lap_run_check(p->job.input, p->job.input, &run->settings, why) != LAP_OK)
        status = LAP_FAILED;
    return status;
}

/* NULL: out of memory. */
static photo *photo_of(const in_place *run, const char *path)
{
    photo *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->job = (lap_job){.work = lap_job_write, .settings = &run->settings};
    p->job.input = strdup(path);
    p->job.output = strdup(path);
    if (p->job.input && p->job.output)
        return p;
    free_photo(p);
    return NULL;
}

static lap_code work_on(void *user, const lap_walk_entry *entry, lap_error *err)
{
    in_place *run = user;
    const lap_code code = lap_jobs_make_room(&run->jobs);
    if (code != LAP_OK)
        return code;
    photo *p = photo_of(run, entry->path);
    if (!p)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    run->jobs.counts->found++;
    lap_report *report = &p->job.report;
    if (entry->problem) {
        report->status = LAP_FAILED;
        report->error = *entry->problem;
    } else {
        report->status = plan(run, p, report);
    }
    if (report->status == LAP_DONE && !run->options.dry_run) {
        p->job.stat = p->job.seen;
        return lap_jobs_submit(&run->jobs, &p->job, err);
    }
    lap_jobs_add(&run->jobs, &p->job);
    return LAP_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static lap_code count_one(void *user, const lap_walk_entry *entry, lap_error *err)
{
    in_place *run = user;
    run->jobs.counts->expected++;
    for (size_t i = 0; entry->stat && i < run->options.side_count; i++)
        if (lap_side_is_file(&run->sides[i], entry->stat))
            return lap_fail_at(err, LAP_E_CLASH, run->sides[i].path, "is one of the photos");
    return lap_control_check(&run->jobs.control, err);
}

static lap_code look_at_sides(in_place *run, lap_error *err)
{
    const lap_batch_options *o = &run->options;
    const char *list = lap_list_path(o);
    lap_code code = LAP_OK;
    run->sides = calloc(o->side_count + 1, sizeof *run->sides);
    if (!run->sides)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < o->side_count && code == LAP_OK; i++) {
        code = lap_side_look(o->sides[i], &run->sides[i], err);
        if (code == LAP_OK)
            code = lap_side_check(o->sides[i], &list, 1, err);
    }
    return code;
}

static lap_code check_inputs(const lap_batch_options *options, lap_error *err)
{
    struct stat st;
    for (size_t i = 0; i < options->input_count && !options->files_from; i++)
        if (stat(options->inputs[i], &st) == 0 && S_ISDIR(st.st_mode))
            return lap_fail_at(err, LAP_E_USAGE, options->inputs[i], "is a folder; name the files in it");
    return LAP_OK;
}

static lap_code prepare(in_place *run, lap_list **list, lap_error *err)
{
    lap_code code = lap_settings_check(&run->settings, err);
    if (code == LAP_OK)
        code = lap_run_check_backend(&run->settings, err);
    if (code == LAP_OK)
        code = check_inputs(&run->options, err);
    if (code == LAP_OK)
        code = lap_list_open(&run->options, run->settings.max_memory, &run->jobs.control, list, err);
    if (code != LAP_OK)
        return code;
    run->settings.max_memory = lap_list_leaves(*list, run->settings.max_memory); /* the rest is for photos */
    run->mark = lap_settings_mark_of(&run->settings);
    code = look_at_sides(run, err);
    if (code == LAP_OK)
        code = lap_walk(&run->options, *list, count_one, run, err);
    if (code != LAP_OK) /* not all photos were counted */
        run->jobs.counts->expected = 0;
    return code == LAP_OK ? lap_jobs_open(&run->jobs, run->context, &run->load, err) : code;
}

static lap_code work(in_place *run, lap_list *list, lap_error *err)
{
    lap_error walking = {0};
    lap_code code = lap_walk(&run->options, list, work_on, run, &walking);
    lap_jobs_finish(&run->jobs, code != LAP_OK);
    code = lap_jobs_result(&run->jobs, code, &walking, err);
    if (code != LAP_OK)
        return code;
    return run->refused.code == LAP_OK || run->order->again
               ? LAP_OK
               : lap_fail_at(err, LAP_E_WRITE, run->refused.subject, "%s", run->refused.message);
}

static void begin(in_place *run, const lap_settings *settings, lap_batch_counts *counts)
{
    lap_batch_options *options = &run->options;
    const bool is_one = options->input_count == 1 && !options->files_from;
    options->out_dir = ""; /* no folder has that name */
    run->outputs.others = options->others;
    options->others = NULL; /* the walk counts nothing */
    run->settings = lap_settings_complete(settings);
    run->settings.in_place = true;
    if (!is_one) { /* several files would write to one place */
        run->settings.stats = NULL;
        run->settings.progress = NULL;
    }
    lap_jobs_begin(&run->jobs, run->context, options, counts);
    /* large_bytes stays 0, so "auto" uses no device: a crashing driver would end the run. */
    run->load = (lap_batch_load){.settings = &run->settings, .devices = options->devices, .is_written = true};
    run->jobs.give = give;
    run->jobs.tick = tick;
    run->jobs.user = run;
    run->jobs.warn_user = run->order->user;
    run->jobs.most = run->load.jobs = lap_batch_jobs_within_files(run->jobs.most);
    run->jobs.in_order = true;
}

lap_code lap_batch_in_place(lap_context *context, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err)
{
    in_place run = {.context = context, .order = order, .options = *order->options};
    lap_list *list = NULL;
    begin(&run, settings, counts);
    lap_code code = prepare(&run, &list, err);
    if (code == LAP_OK)
        code = work(&run, list, err);
    lap_jobs_close(&run.jobs);
    for (size_t i = 0; i < run.folder_count; i++) {
        lap_record_end(&run.folders[i]->record);
        /* Still open if no thread could be started for one of its photos. */
        lap_tree_close(&run.folders[i]->tree);
        free(run.folders[i]->path);
        free(run.folders[i]);
    }
    free(run.folders);
    lap_map64_free(&run.places);
    lap_map64_free(&run.taken);
    lap_outputs_free(&run.outputs);
    for (size_t i = 0; run.sides && i < run.options.side_count; i++)
        lap_side_free(&run.sides[i]);
    free(run.sides);
    lap_list_close(list);
    return code;
}
