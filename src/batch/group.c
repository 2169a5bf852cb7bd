#include "batch/group.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/source.h"

bool lap_group_is_due(const lap_group *group)
{
    return group->count == LAP_GROUP_FILES ||
           (group->count && lap_now_ms() - group->since_ms >= LAP_GROUP_MS);
}

lap_code lap_group_open(lap_group *group, const lap_tree *tree, lap_error *err)
{
    group->sync_fd = openat(tree->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->sync_fd < 0)
        return lap_fail_at(err, LAP_E_WRITE, tree->path, "cannot open this folder: %s", strerror(errno));
    return LAP_OK;
}

void lap_group_close(lap_group *group)
{
    if (group->sync_fd >= 0)
        close(group->sync_fd); /* the descriptor was only read, so closing cannot lose data */
    group->sync_fd = -1;
}

static lap_code sync_files(lap_group *group, lap_error *err)
{
    if (group->sync_fd < 0 || !syncfs(group->sync_fd))
        return LAP_OK;
    int why = errno;
    return lap_fail(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE,
        "the output folder could not be synced: %s", strerror(why));
}

lap_code lap_group_settle(lap_group *group, lap_error *err)
{
    lap_code code = group->unsettled ? sync_files(group, err) : LAP_OK;
    group->unsettled = false;
    return code;
}

static void fail_job(lap_job *job, const lap_error *why)
{
    job->report.status = why->code == LAP_E_EXISTS || why->code == LAP_OK ? LAP_SKIPPED : LAP_FAILED;
    job->report.error = *why;
    lap_sink_close(job->sink); /* frees the file's disk space */
    job->sink = NULL;
}

static void fail_from(lap_group *group, int first, const lap_error *why)
{
    for (int i = first; i < group->count; i++)
        if (group->jobs[i]->sink) {
            lap_error mine;
            lap_fail_at(&mine, why->code, group->jobs[i]->input, "%s%s%s", why->subject,
                why->subject[0] ? ": " : "", why->message);
            fail_job(group->jobs[i], &mine);
        }
}

/* Fails jobs whose photo was modified after it was read; otherwise their outputs would look up to date. */
static void fail_changed(lap_group *group)
{
    lap_error why;
    for (int i = 0; i < group->count; i++)
        if (lap_source_verify_read(group->jobs[i]->input, &group->jobs[i]->stat, &why) != LAP_OK)
            fail_job(group->jobs[i], &why);
}

static lap_manifest_output output_of(const lap_job *job)
{
    lap_manifest_output output = {.name = job->relative, .is_whole = lap_job_is_whole(job)};
    output.made = lap_sink_made(job->sink, &output.content);
    return output;
}

/* Writes the begin lines of the first n jobs, and makes sure that their done lines will fit. */
static lap_code announce(const lap_group *group, int n, lap_manifest *manifest, lap_error *err)
{
    enum { DONE_LINE = 800 }; /* length without paths; escapes are rare, and there is some spare room */
    lap_code code = LAP_OK;
    size_t done_bytes = 0;
    for (int i = 0; i < n && code == LAP_OK; i++) {
        const lap_job *job = group->jobs[i];
        if (!job->sink)
            continue;
        done_bytes += DONE_LINE + strlen(job->relative) + strlen(job->input) +
                      (job->origin ? strlen(job->origin->name) : 0);
        const lap_manifest_output output = output_of(job);
        code = lap_manifest_begin(manifest, &output, err);
    }
    return code == LAP_OK ? lap_manifest_flush(manifest, group->sync_fd >= 0, done_bytes, err) : code;
}

/* A file that no record describes is only replaced by an output with the same content. */
static lap_code check_equal(const lap_job *job, lap_error *err)
{
    const lap_target *target = lap_sink_target(job->sink);
    uint64_t made, stands;
    const struct stat *finished = lap_sink_made(job->sink, &made);
    int folder;
    lap_code code = lap_target_enter(target, &folder, err);
    if (code != LAP_OK)
        return code;
    code = lap_content_hash(folder, target->name, &job->seen, &stands, err);
    lap_target_leave(target, folder);
    lap_error_about(err, code, job->output);
    if (code == LAP_OK && (stands != made || job->seen.st_size != finished->st_size))
        code = lap_made_refuse(LAP_MADE_UNHASHED, job->output, err);
    return code == LAP_E_CHANGED ? lap_made_refuse(LAP_MADE_CHANGED, job->output, err) : code;
}

/* Decides whether the file at the output's name may be replaced. LAP_E_EXISTS without a message: the file is
 * the same output, made by another run, or skip_existing is set. */
static lap_code judge_standing(
    lap_job *job, lap_manifest *manifest, int folder, const struct stat *there, lap_error *err)
{
    const lap_standing standing = {
        job->relative, folder, there, {job->input, &job->stat, job->origin, job->below, &job->photo}};
    lap_made made = LAP_MADE_UNKNOWN;
    uint64_t content;
    *err = (lap_error){0};
    if (job->skip_existing)
        return LAP_E_EXISTS;
    if (job->no_clobber)
        return lap_sink_exists(job->output, err);
    if (!S_ISREG(there->st_mode))
        return lap_fail_at(err, LAP_E_EXISTS, job->output, "is not a regular file; remove it first");
    const lap_code code = lap_manifest_judge(manifest, &standing, &made, &content, err);
    if (code != LAP_OK)
        return lap_error_about(err, code, job->output);
    if (job->force && lap_made_may_force(made))
        return LAP_OK;
    if (made >= LAP_MADE_SAID) {
        *err = (lap_error){0};
        return LAP_E_EXISTS;
    }
    job->only_equal = made == LAP_MADE_UNHASHED;
    return made == LAP_MADE_OURS || made == LAP_MADE_UNHASHED ? LAP_OK
                                                              : lap_made_refuse(made, job->output, err);
}

/* After a collision with a file of another run: returns LAP_OK if publishing may be tried again, now
 * expecting that file. */
static lap_code look_again(lap_job *job, lap_manifest *manifest, lap_error *err)
{
    const lap_target *target = lap_sink_target(job->sink);
    int folder;
    lap_code code = lap_target_enter(target, &folder, err);
    if (code != LAP_OK)
        return code;
    job->is_seen = fstatat(folder, target->name, &job->seen, AT_SYMLINK_NOFOLLOW) == 0;
    if (job->is_seen)
        code = judge_standing(job, manifest, folder, &job->seen, err);
    lap_target_leave(target, folder);
    return code;
}

/* Gives an output its name. Another run may have made a file of that name in the meantime. */
static lap_code publish_job(lap_job *job, lap_manifest *manifest, lap_error *err)
{
    enum { TRIES = 4 };
    for (int i = 0;; i++) {
        const bool must_equal = job->is_seen && job->only_equal && !job->force;
        lap_code code = must_equal ? check_equal(job, err) : LAP_OK;
        if (code != LAP_OK)
            return code;
        lap_sink_expect(job->sink, job->is_seen ? &job->seen : NULL);
        code = lap_sink_publish(job->sink, err);
        if (code != LAP_E_EXISTS || i == TRIES)
            return code;
        code = look_again(job, manifest, err);
        if (code != LAP_OK)
            return code;
    }
}

/* Renames the outputs of the first n jobs, and queues their done lines. */
static lap_code rename_jobs(lap_group *group, int n, lap_manifest *manifest, lap_error *err)
{
    lap_error why;
    lap_code code = LAP_OK;
    for (int i = 0; i < n; i++) {
        lap_job *job = group->jobs[i];
        if (!job->sink)
            continue;
        if (publish_job(job, manifest, &why) != LAP_OK) {
            fail_job(job, &why);
            continue;
        }
        group->unsettled = true;
        const lap_manifest_output output = output_of(job);
        const lap_manifest_input input = {job->input, &job->stat, job->origin, job->below, &job->photo};
        if (code == LAP_OK)
            code = lap_manifest_done(manifest, &output, &input, err);
    }
    return code == LAP_OK ? lap_manifest_flush(manifest, false, 0, err) : code;
}

lap_code lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err)
{
    lap_error why = {0}, ignored;
    lap_code code = sync_files(group, &why);
    fail_changed(group);
    int n = code == LAP_OK ? group->count : 0;
    for (lap_code now = LAP_E_INTERNAL; n > 0 && now != LAP_OK;) {
        now = announce(group, n, manifest, &why);
        if (now != LAP_OK) {
            code = now;
            n = now == LAP_E_DISK_FULL ? n - 1 : 0;
            fail_from(group, n, &why);
        }
    }
    fail_from(group, n, &why);
    lap_code published = rename_jobs(group, n, manifest, code == LAP_OK ? &why : &ignored);
    if (code == LAP_OK)
        code = published;
    if (code != LAP_OK && err)
        *err = why;
    return code;
}
