#include "batch/late.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

void lap_late_free(lap_late *late)
{
    lap_known_free(&late->known);
    lap_map64_free(&late->counted);
    lap_map64_free(&late->unread);
}

lap_code lap_late_note(lap_late *late, const char *path, lap_error *err)
{
    return lap_map64_put(&late->counted, lap_map64_name_key(path), 1, err);
}

/* Reads what was added to the record of an open folder, and judges the file that was read. If the file has
 * changed since then, the job will fail. */
static lap_code judge(
    lap_late *late, const lap_job *job, int folder, const char *around, lap_known_as *as, lap_error *err)
{
    const char *slash = strrchr(job->input, '/'), *name = slash ? slash + 1 : job->input;
    uint64_t content = job->photo.hash;
    lap_code code = lap_known_in_place(&late->known, folder, around, err);
    if (code == LAP_OK && !job->photo.is_known)
        code = lap_content_hash_path(job->input, &job->stat, &content, err);
    if (code == LAP_OK)
        *as = lap_known_find(&late->known, name, &job->stat, &content);
    lap_error_about(err, code, job->input);
    return code == LAP_E_CHANGED ? LAP_OK : code;
}

lap_code lap_late_look(
    lap_late *late, const lap_job *job, lap_batch_others *others, bool *is_new, lap_error *err)
{
    char around[PATH_MAX];
    const char *slash = strrchr(job->input, '/');
    const size_t length = slash ? (size_t)(slash - job->input) + (slash == job->input) : 0;
    lap_known_as as = LAP_KNOWN_NOT;
    *is_new = false;
    if (!job->has_record || lap_map64_find(&late->counted, lap_map64_name_key(job->input)))
        return LAP_OK;
    if (snprintf(around, sizeof around, "%.*s", length ? (int)length : 1, length ? job->input : ".") >=
        (int)sizeof around)
        return lap_fail_at(err, LAP_E_UNREADABLE, job->input, "%s", strerror(ENAMETOOLONG));
    const int folder = open(around, O_PATH | O_DIRECTORY | O_CLOEXEC);
    lap_code code = folder >= 0 ? judge(late, job, folder, around, &as, err)
                                : lap_fail_at(err, LAP_E_UNREADABLE, around, "%s", strerror(errno));
    if (folder >= 0)
        close(folder);
    if (code == LAP_E_UNREADABLE && !lap_map64_find(&late->unread, lap_map64_name_key(around))) {
        *is_new = true;
        if (lap_map64_put(&late->unread, lap_map64_name_key(around), 1, err) != LAP_OK)
            code = LAP_E_MEMORY;
    }
    if (code != LAP_OK || as == LAP_KNOWN_NOT)
        return code;
    others->ours++;
    if (as == LAP_KNOWN_FILTERED && others->made++ == 0)
        snprintf(others->made_first, sizeof others->made_first, "%s", job->input);
    return LAP_OK;
}
