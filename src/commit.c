#include "commit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "status.h"

bool lap_group_is_due(const lap_group *group)
{
    return group->count == LAP_GROUP_FILES ||
           (group->count && lap_now_ms() - group->since_ms >= LAP_GROUP_MS);
}

static lap_code sync_folder(const char *out_dir, lap_error *err)
{
    int fd = open(out_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return lap_fail(err, LAP_E_WRITE, "%.300s: %s", out_dir, strerror(errno));
    int rc = syncfs(fd), why = errno;
    close(fd);
    if (rc)
        return lap_fail(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE,
            "%.300s: sync: %s", out_dir, strerror(why));
    return LAP_OK;
}

static void fail_job(lap_job *job, const lap_error *why)
{
    job->report.status = LAP_FAILED;
    job->report.error = *why;
}

lap_code lap_group_commit(
    lap_group *group, lap_manifest *manifest, const char *out_dir, bool sync, lap_error *err)
{
    lap_error why;
    lap_code code = sync ? sync_folder(out_dir, err) : LAP_OK;
    for (int i = 0; i < group->count && code == LAP_OK; i++)
        code = lap_manifest_begin(manifest, group->jobs[i]->relative, err);
    if (code == LAP_OK)
        code = lap_manifest_flush(manifest, sync, err);
    if (code != LAP_OK) {
        lap_error copy = {code, "the manifest could not be written"};
        for (int i = 0; i < group->count; i++)
            fail_job(group->jobs[i], err ? err : &copy);
        return code;
    }
    for (int i = 0; i < group->count; i++) {
        lap_job *job = group->jobs[i];
        if (lap_sink_publish(job->sink, &why) != LAP_OK) {
            fail_job(job, &why);
            continue;
        }
        lap_code line = lap_manifest_done(
            manifest, job->relative, job->input, &job->stat, lap_sink_bytes(job->sink), err);
        code = code == LAP_OK ? line : code;
    }
    return code == LAP_OK ? lap_manifest_flush(manifest, false, err) : code;
}
