/* What is to happen with an input, by what stands under the name of its output. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "batch/batch.h"

/* Whether the input may have its name at all: LAP_DONE. */
static lap_status judge_claim(
    batch *b, const lap_walk_entry *entry, const char *relative, const char *output, lap_error *why)
{
    uint64_t *claims = lap_map64_find(&b->claims, lap_batch_key(relative));
    if (!claims)
        return LAP_DONE;
    if (*claims == LAP_REPEATED) {
        *claims = LAP_TAKEN;
        return LAP_DONE;
    }
    if (*claims == LAP_TAKEN)
        return LAP_SKIPPED;
    lap_fail_at(why, LAP_E_CLASH, entry->path, "%d inputs would be written to %.300s; none was", (int)*claims,
        output);
    return LAP_FAILED;
}

/* A regular file that stands there. One that is known by its content gets a line, so that it need not be read
 * each time. */
static lap_status judge_file(batch *b, const lap_walk_entry *entry, const char *relative, const char *output,
    int folder, const struct stat *there, lap_error *why)
{
    uint64_t content;
    const lap_made made = lap_manifest_judge(b->manifest, relative, entry->stat, folder, there, &content);
    if (made == LAP_MADE_OURS)
        return LAP_DONE;
    if (made != LAP_MADE_SAME) {
        lap_made_refuse(made, output, why);
        return LAP_SKIPPED;
    }
    if (content && !b->options->dry_run &&
        lap_manifest_done(b->manifest, relative, entry->path, entry->stat, there, content, NULL) == LAP_OK &&
        ++b->renewed % LAP_GROUP_FILES == 0)
        (void)lap_manifest_flush(b->manifest, false, 0, NULL); /* then it is read again */
    return LAP_SKIPPED;
}

static lap_status judge_there(batch *b, const lap_walk_entry *entry, const char *relative, const char *output,
    int folder, const struct stat *there, lap_error *why)
{
    const uint64_t inode = lap_batch_inode(there);
    if (b->options->skip_existing)
        return LAP_SKIPPED;
    if (b->options->no_clobber) {
        lap_fail_at(why, LAP_E_EXISTS, output, "exists and is left alone (--no-clobber)");
        return LAP_SKIPPED;
    }
    if (inode == lap_batch_inode(entry->stat) || lap_map64_find(&b->endangered, inode)) {
        lap_fail_at(why, LAP_E_CLASH, entry->path, "would overwrite an input, %.300s", output);
        return LAP_FAILED;
    }
    /* A file is replaced, never what a link points to, never what a pipe leads to. */
    if (!S_ISREG(there->st_mode) && b->options->force) {
        lap_fail_at(why, LAP_E_WRITE, output, "is not a regular file; remove it first");
        return LAP_FAILED;
    }
    if (b->options->force)
        return LAP_DONE;
    if (S_ISREG(there->st_mode))
        return judge_file(b, entry, relative, output, folder, there, why);
    lap_made_refuse(LAP_MADE_UNKNOWN, output, why);
    return LAP_SKIPPED;
}

lap_status lap_batch_judge(batch *b, const lap_walk_entry *entry, const char *relative, const char *output,
    struct stat *seen, bool *is_seen, lap_error *why)
{
    const char *slash = strrchr(relative, '/');
    int folder;
    *why = (lap_error){0};
    *is_seen = false;
    lap_status status = judge_claim(b, entry, relative, output, why);
    if (status != LAP_DONE)
        return status;
    const lap_code code = lap_tree_enter(&b->tree, relative, false, &folder, why);
    if (code == LAP_E_MISSING) {
        *why = (lap_error){0};
        return LAP_DONE;
    }
    if (code != LAP_OK)
        return code == LAP_E_EXISTS ? LAP_SKIPPED : LAP_FAILED;
    if (fstatat(folder, slash ? slash + 1 : relative, seen, AT_SYMLINK_NOFOLLOW) == 0) {
        *is_seen = true;
        status = judge_there(b, entry, relative, output, folder, seen, why);
    } else if (errno != ENOENT) {
        lap_fail_at(why, LAP_E_WRITE, output, "%s", strerror(errno));
        status = LAP_FAILED;
    }
    lap_tree_leave(&b->tree, folder);
    return status;
}
