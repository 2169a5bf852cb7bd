/* Writes this run's lines to the manifest. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/manifest_state.h"
#include "io/sink_temp.h"

static lap_manifest_line begun(const lap_manifest *m, const lap_manifest_output *output)
{
    const uint64_t settings = lap_settings_recorded(&m->settings, output->is_whole);
    lap_manifest_line line = lap_manifest_line_of(settings, output->name, output->made, output->content);
    line.maker = m->settings.turns ? LAP_MAKER_TRANSFORM : LAP_MAKER_RUN;
    return line;
}

lap_code lap_manifest_begin(lap_manifest *m, const lap_manifest_output *output, lap_error *err)
{
    const lap_manifest_line line = begun(m, output);
    return lap_manifest_line_write(&m->queue, &line, err);
}

lap_code lap_manifest_done(
    lap_manifest *m, const lap_manifest_output *output, const lap_manifest_input *input, lap_error *err)
{
    lap_manifest_line line = begun(m, output);
    line.is_done = true;
    line.input = input->path;
    line.input_size = input->stat->st_size;
    line.input_mtime_s = input->stat->st_mtim.tv_sec;
    line.input_mtime_ns = input->stat->st_mtim.tv_nsec;
    line.input_ctime_s = input->stat->st_ctim.tv_sec;
    line.input_ctime_ns = input->stat->st_ctim.tv_nsec;
    line.has_input_content = input->content && input->content->is_known;
    line.input_content = line.has_input_content ? input->content->hash : 0;
    if (input->origin) {
        line.folder = input->origin->name;
        line.folder_device = input->origin->device;
        line.folder_inode = input->origin->inode;
        line.below = (int64_t)strlen(input->path + input->below);
    }
    return lap_manifest_line_write(&m->queue, &line, err);
}

lap_code lap_manifest_folder(lap_manifest *m, bool make, lap_error *err)
{
    struct stat st;
    if (m->here.folder >= 0 || m->tree->fd < 0)
        return LAP_OK;
    if (make && mkdirat(m->tree->fd, ".lapedge", 0777 & ~S_IWOTH) != 0 && errno != EEXIST)
        return lap_write_errno(err, m->here.shown, "make this folder", errno);
    m->here.folder = openat(m->tree->fd, ".lapedge", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (m->here.folder >= 0 || (errno == ENOENT && !make))
        return LAP_OK;
    const int why = errno;
    if (fstatat(m->tree->fd, ".lapedge", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        return lap_fail_at(err, LAP_E_EXISTS, m->here.shown,
            "is a symbolic link, which is not followed here; remove it first");
    return lap_fail_at(err, LAP_E_WRITE, m->here.shown, "%s", strerror(why));
}

/* Creates a file named like 20261231T235959.123456789-host-pid.jsonl. Such names sort by time, and no two
 * runs share one. */
static lap_code make_file(lap_manifest *m, lap_error *err)
{
    char host[64] = "host", stamp[32];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gethostname(host, sizeof host - 1);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", gmtime_r(&now.tv_sec, &utc));
    for (char *p = host; *p; p++)
        if (*p == '/' || (unsigned char)*p < 0x21)
            *p = '_';
    snprintf(m->own, sizeof m->own, "%s.%09ld-%s-%ld.jsonl", stamp, now.tv_nsec, host, (long)getpid());
    lap_code code = lap_manifest_folder(m, true, err);
    if (code != LAP_OK)
        return code;
    if (m->here.folder < 0)
        return lap_fail_at(err, LAP_E_WRITE, m->here.shown, "the output folder is missing");
    /* If a group may write to the folder, its members can add record files, which are not believed. But lines
     * that they added to our file would be believed, so its mode is 0644. */
    m->fd =
        openat(m->here.folder, m->own, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (m->fd < 0)
        return lap_write_errno(err, m->here.shown, "make a file in it", errno);
    m->size = 0;
    m->is_new = true;
    return LAP_OK;
}

static void close_file(lap_manifest *m)
{
    if (m->fd < 0)
        return;
    if (ftruncate(m->fd, m->size)) /* frees the reserved space */
        errno = 0;
    close(m->fd); /* if the last lines are lost, the next run only has more work */
    m->fd = -1;
}

static lap_code fail_writing(const lap_manifest *m, lap_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return lap_fail_at(
        err, full ? LAP_E_DISK_FULL : LAP_E_WRITE, m->here.shown, "cannot write: %s", strerror(errno));
}

static lap_code write_queue(lap_manifest *m, lap_error *err)
{
    for (size_t at = 0; at < m->queue.used;) {
        ssize_t wrote = write(m->fd, m->queue.bytes + at, m->queue.used - at);
        if (wrote == 0)
            errno = EIO; /* nothing was written, and a retry would not write anything either */
        if (wrote == 0 || (wrote < 0 && errno != EINTR)) {
            lap_code code = fail_writing(m, err);
            if (ftruncate(m->fd, m->size)) /* half a line would damage the next one: start a new file */
                close_file(m);
            return code;
        }
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    m->size += (off_t)m->queue.used;
    return LAP_OK;
}

/* Some file systems do not support fsync for folders. */
static bool sync_folder(int folder)
{
    return fsync(folder) == 0 || errno == EINVAL || errno == EROFS;
}

/* A new file survives a power cut only if its name and its folder's name do. An OUTDIR without read
 * permission cannot be opened for fsync: then the whole file system is synced. m->fd is open, so
 * m->here.folder is, too. */
static bool sync_names(const lap_manifest *m)
{
    const int parent = openat(m->tree->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return syncfs(m->here.folder) == 0;
    const bool synced = sync_folder(m->here.folder) && sync_folder(parent);
    const int why = errno;
    close(parent);
    errno = why;
    return synced;
}

lap_code lap_manifest_flush(lap_manifest *m, bool sync, size_t ahead, lap_error *err)
{
    lap_code code = m->queue.used && m->fd < 0 ? make_file(m, err) : LAP_OK;
    if (code == LAP_OK && ahead &&
        fallocate(m->fd, FALLOC_FL_KEEP_SIZE, m->size, (off_t)(m->queue.used + ahead)) && errno == ENOSPC)
        code = fail_writing(m, err);
    if (code == LAP_OK)
        code = write_queue(m, err);
    m->queue.used = 0;
    if (code == LAP_OK && sync && m->fd >= 0 && (fdatasync(m->fd) || (m->is_new && !sync_names(m))))
        code = fail_writing(m, err);
    m->is_new = m->is_new && !(code == LAP_OK && sync);
    return code;
}

void lap_manifest_close(lap_manifest *m)
{
    if (!m)
        return;
    close_file(m);
    lap_manifest_place_free(&m->here);
    for (size_t i = 0; i < m->other_count; i++)
        lap_manifest_place_free(&m->others[i]);
    free(m->others);
    lap_map64_free(&m->looked);
    free(m->records);
    lap_map64_free(&m->outputs);
    free(m->queue.bytes);
    free(m);
}
