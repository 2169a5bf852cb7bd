/* The lines that this run adds to the manifest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest_state.h"
#include "io/sink_temp.h"

/* Paths need not be UTF-8, JSON strings must be: other bytes travel percent-encoded under NAME_raw. */
static void set_path(json_t *line, const char *name, const char *raw_name, const char *path)
{
    json_t *text = json_string(path);
    if (text) {
        json_object_set_new(line, name, text);
        return;
    }
    char *encoded = malloc(3 * strlen(path) + 1), *to = encoded;
    if (!encoded)
        return;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        to += *p < 0x21 || *p > 0x7e || *p == '%' ? sprintf(to, "%%%02X", *p) : sprintf(to, "%c", *p);
    json_object_set_new(line, raw_name, json_string(encoded));
    free(encoded);
}

static lap_code queue_line(lap_manifest *m, json_t *line, lap_error *err)
{
    size_t length = line ? json_dumpb(line, NULL, 0, JSON_COMPACT) : 0;
    char *grown = length ? lap_grow(m->queue, &m->queue_capacity, m->queued + length + 1, 1) : NULL;
    if (!grown) {
        json_decref(line);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    }
    m->queue = grown;
    json_dumpb(line, m->queue + m->queued, length, JSON_COMPACT);
    m->queued += length;
    m->queue[m->queued++] = '\n';
    json_decref(line);
    return LAP_OK;
}

static json_t *new_line(
    const lap_manifest *m, const char *event, const char *output, const struct stat *made, uint64_t content)
{
    char settings[17], hash[17];
    snprintf(settings, sizeof settings, "%016" PRIx64, m->settings_hash);
    snprintf(hash, sizeof hash, "%016" PRIx64, content);
    json_t *line = json_pack("{s:s, s:s}", "schema", "lapedge.manifest/1", "event", event);
    if (line) {
        set_path(line, "output", "output_raw", output);
        json_object_set_new(line, "settings", json_string(settings));
        json_object_set_new(line, "output_device", json_integer((json_int_t)made->st_dev));
        json_object_set_new(line, "output_inode", json_integer((json_int_t)made->st_ino));
        json_object_set_new(line, "output_size", json_integer(made->st_size));
        json_object_set_new(line, "output_mtime_s", json_integer(made->st_mtim.tv_sec));
        json_object_set_new(line, "output_mtime_ns", json_integer(made->st_mtim.tv_nsec));
        json_object_set_new(line, "output_hash", json_string(hash));
    }
    return line;
}

lap_code lap_manifest_begin(
    lap_manifest *m, const char *output, const struct stat *made, uint64_t content, lap_error *err)
{
    return queue_line(m, new_line(m, "begin", output, made, content), err);
}

lap_code lap_manifest_done(lap_manifest *m, const char *output, const char *input, const struct stat *in,
    const struct stat *made, uint64_t content, lap_error *err)
{
    json_t *line = new_line(m, "done", output, made, content);
    if (line) {
        set_path(line, "input", "input_raw", input);
        json_object_set_new(line, "input_size", json_integer(in->st_size));
        json_object_set_new(line, "input_mtime_s", json_integer(in->st_mtim.tv_sec));
        json_object_set_new(line, "input_mtime_ns", json_integer(in->st_mtim.tv_nsec));
    }
    return queue_line(m, line, err);
}

lap_code lap_manifest_folder(lap_manifest *m, bool make, lap_error *err)
{
    struct stat st;
    if (m->folder >= 0 || m->tree->fd < 0)
        return LAP_OK;
    if (make && mkdirat(m->tree->fd, ".lapedge", 0777) != 0 && errno != EEXIST)
        return lap_write_errno(err, m->shown, "make this folder", errno);
    m->folder = openat(m->tree->fd, ".lapedge", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (m->folder >= 0 || (errno == ENOENT && !make))
        return LAP_OK;
    const int why = errno;
    if (fstatat(m->tree->fd, ".lapedge", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        return lap_fail_at(
            err, LAP_E_EXISTS, m->shown, "is a symbolic link, which is not followed here; remove it first");
    return lap_fail_at(err, LAP_E_WRITE, m->shown, "%s", strerror(why));
}

/* 20261231T235959.123456789-host-pid.jsonl: sorts by time, and no two runs share one. */
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
    if (m->folder < 0)
        return lap_fail_at(err, LAP_E_WRITE, m->shown, "there is no folder for it");
    m->fd = openat(m->folder, m->own, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (m->fd < 0)
        return lap_write_errno(err, m->shown, "make a file in it", errno);
    m->size = 0;
    m->is_new = true;
    return LAP_OK;
}

static void close_file(lap_manifest *m)
{
    if (m->fd < 0)
        return;
    if (ftruncate(m->fd, m->size)) /* gives back what was set aside */
        errno = 0;
    close(m->fd); /* its last lines only save work: whoever misses them does it again */
    m->fd = -1;
}

static lap_code fail_writing(const lap_manifest *m, lap_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return lap_fail_at(err, full ? LAP_E_DISK_FULL : LAP_E_WRITE, m->shown, "%s", strerror(errno));
}

static lap_code write_queue(lap_manifest *m, lap_error *err)
{
    for (size_t at = 0; at < m->queued;) {
        ssize_t wrote = write(m->fd, m->queue + at, m->queued - at);
        if (wrote == 0)
            errno = EIO; /* nothing is taken, and would not be the next time */
        if (wrote == 0 || (wrote < 0 && errno != EINTR)) {
            lap_code code = fail_writing(m, err);
            if (ftruncate(m->fd, m->size)) /* half a line would spoil the next one: start a new file */
                close_file(m);
            return code;
        }
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    m->size += (off_t)m->queued;
    return LAP_OK;
}

/* A new file survives a power cut only where its name does, and that of its folder. */
static bool sync_names(lap_manifest *m)
{
    const int parent = openat(m->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fsync(m->folder) == 0 || errno == EINVAL || errno == EROFS;
    synced = synced && (parent == -1 || fsync(parent) == 0 || errno == EINVAL || errno == EROFS);
    const int why = errno;
    if (parent != -1)
        close(parent);
    errno = why;
    return synced;
}

lap_code lap_manifest_flush(lap_manifest *m, bool sync, size_t ahead, lap_error *err)
{
    lap_code code = m->queued && m->fd < 0 ? make_file(m, err) : LAP_OK;
    if (code == LAP_OK && ahead &&
        fallocate(m->fd, FALLOC_FL_KEEP_SIZE, m->size, (off_t)(m->queued + ahead)) && errno == ENOSPC)
        code = fail_writing(m, err);
    if (code == LAP_OK)
        code = write_queue(m, err);
    m->queued = 0;
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
    if (m->folder >= 0)
        close(m->folder);
    for (size_t i = 0; i < m->file_count; i++)
        free(m->files[i].name);
    free(m->files);
    free(m->shown);
    free(m->records);
    lap_map64_free(&m->outputs);
    free(m->queue);
    free(m);
}
