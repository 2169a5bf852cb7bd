/* Decides what to do with an input, depending on the file at its output's name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "batch/batch.h"

/* LAP_DONE: the input may use its output's name. */
static lap_status judge_claim(
    batch *b, const lap_walk_entry *entry, const char *relative, const char *output, lap_error *why)
{
    uint64_t *claims = lap_map64_find(&b->claims, lap_batch_key(relative));
    if (!claims || *claims <= LAP_TAKEN)
        return LAP_DONE;
    lap_fail_at(why, LAP_E_CLASH, entry->path, "%d inputs would be written to %.300s; none was", (int)*claims,
        output);
    lap_error_remedy(why, LAP_E_CLASH,
        b->options->flat && b->options->input_count == 1 && !b->options->files_from ? LAP_REMEDY_FLAT
                                                                                    : LAP_REMEDY_APART);
    return LAP_FAILED;
}

bool lap_batch_is_repeated(batch *b, const lap_walk_entry *entry)
{
    char relative[PATH_MAX];
    uint64_t *claims =
        lap_batch_output_name(b->options, b->settings, entry->relative, relative, sizeof relative)
            ? lap_map64_find(&b->claims, lap_batch_key(relative))
            : NULL;
    if (!claims || *claims > LAP_TAKEN)
        return false;
    const bool is_repeated = *claims == LAP_TAKEN;
    *claims = LAP_TAKEN;
    return is_repeated;
}

/* Whether an output should have its input's time and mode, but does not. */
static bool lacks_attributes(const batch *b, const lap_job *job, const lap_walk_entry *entry)
{
    return b->settings->preserve &&
           (!lap_is_time_kept(job->seen.st_mtim.tv_sec, entry->stat->st_mtim.tv_sec) ||
               ((job->seen.st_mode ^ entry->stat->st_mode) & 0777));
}

/* Refuses to replace a file. If inputs are outputs of earlier runs, the operands are probably in the wrong
 * order, and a file that lapedge did not make is probably an original photo. Then the message does not
 * suggest replacing it. */
static void refuse(const batch *b, lap_made made, const char *output, lap_error *why)
{
    lap_made_refuse(made, output, why);
    if (made == LAP_MADE_UNKNOWN && b->options->others && b->options->others->ours)
        (void)lap_error_remedy(why, why->code, LAP_REMEDY_ORDER);
}

/* Judges a regular file at the output's name. Adds a line to the manifest if the file was recognised only by
 * its content, so that the next run need not read it, or if its photo was moved, so that the photo may be
 * edited in its new place. force also replaces files that the records do not allow to be replaced; rebuild
 * also processes photos whose outputs are up to date. */
static lap_status judge_file(batch *b, const lap_walk_entry *entry, lap_job *job, int folder, lap_error *why)
{
    const lap_batch_options *options = b->options;
    lap_photo_content photo = {.is_known = false};
    const lap_standing standing = {
        job->relative, folder, &job->seen, {entry->path, entry->stat, job->origin, job->below, &photo}};
    uint64_t content = 0;
    lap_made made = LAP_MADE_UNKNOWN;
    const lap_code code = lap_manifest_judge(b->manifest, &standing, &made, &content, why);
    if (code == LAP_E_MEMORY || (code != LAP_OK && (!options->force || b->around))) {
        lap_error_about(why, code, job->output);
        return LAP_FAILED;
    }
    *why = (lap_error){0};
    if (b->around && made == LAP_MADE_UNKNOWN) {
        lap_fail_at(why, LAP_E_EXISTS, job->output,
            "exists, was not made by lapedge, and lies in %.300s, so it may be a photo: move it, or write "
            "elsewhere",
            b->around);
        return LAP_SKIPPED;
    }
    const bool is_same = code == LAP_OK && made >= LAP_MADE_SAID,
               goes_anew = options->rebuild || lacks_attributes(b, job, entry);
    const bool may_force = options->force && lap_made_may_force(made);
    job->only_equal = made == LAP_MADE_UNHASHED;
    if (is_same ? goes_anew && (options->force || made == LAP_MADE_SAME)
                : may_force || made == LAP_MADE_OURS || made == LAP_MADE_UNHASHED)
        return LAP_DONE;
    if (!is_same || goes_anew) {
        refuse(b, made, job->output, why);
        return LAP_SKIPPED;
    }
    const lap_manifest_output output = {.name = job->relative, .made = &job->seen, .content = content};
    /* It is written at once, so that --prune of another run sees that this photo needs the output. If this
     * fails, the next run does it again. */
    if (content && !options->dry_run &&
        lap_manifest_done(b->manifest, &output, &standing.input, NULL) == LAP_OK)
        (void)lap_manifest_flush(b->manifest, false, 0, NULL);
    return LAP_SKIPPED;
}

static lap_status judge_there(batch *b, const lap_walk_entry *entry, lap_job *job, int folder, lap_error *why)
{
    const uint64_t inode = lap_batch_inode(&job->seen);
    if (b->options->skip_existing)
        return LAP_SKIPPED;
    if (b->options->no_clobber) {
        lap_sink_exists(job->output, why);
        return LAP_SKIPPED;
    }
    if (inode == lap_batch_inode(entry->stat) || lap_map64_find(&b->endangered, inode)) {
        lap_fail_at(why, LAP_E_CLASH, entry->path, "would overwrite an input, %.300s", job->output);
        return LAP_FAILED;
    }
    if (S_ISREG(job->seen.st_mode))
        return judge_file(b, entry, job, folder, why);
    /* Only a regular file is replaced, never a link or a pipe. */
    const lap_code code = b->options->force ? LAP_E_WRITE : LAP_E_EXISTS;
    lap_fail_at(why, code, job->output, "is not a regular file; remove it first");
    return b->options->force ? LAP_FAILED : LAP_SKIPPED;
}

lap_status lap_batch_judge(batch *b, const lap_walk_entry *entry, lap_job *job, lap_error *why)
{
    const char *slash = strrchr(job->relative, '/');
    int folder;
    *why = (lap_error){0};
    lap_status status = judge_claim(b, entry, job->relative, job->output, why);
    if (status != LAP_DONE)
        return status;
    const lap_code code = lap_tree_enter(&b->tree, job->relative, false, &folder, why);
    if (code == LAP_E_MISSING) {
        *why = (lap_error){0};
        return LAP_DONE;
    }
    if (code != LAP_OK)
        return code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED;
    if (fstatat(folder, slash ? slash + 1 : job->relative, &job->seen, AT_SYMLINK_NOFOLLOW) == 0) {
        job->is_seen = true;
        status = judge_there(b, entry, job, folder, why);
    } else if (errno != ENOENT) {
        lap_fail_at(why, LAP_E_WRITE, job->output, "cannot be examined: %s", strerror(errno));
        status = LAP_FAILED;
    }
    lap_tree_leave(&b->tree, folder);
    return status;
}
