#include "batch/in_place_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest_file.h"
#include "io/sink_temp.h"
#include "io/target.h"

lap_code lap_record_begin(
    lap_record *r, const char *folder, const lap_settings_mark *settings, lap_error *err)
{
    *r = (lap_record){.settings = settings};
    if (asprintf(&r->shown, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
            LAP_IN_PLACE_RECORD) >= 0)
        return LAP_OK;
    r->shown = NULL;
    return lap_fail(err, LAP_E_MEMORY, "out of memory");
}

void lap_record_end(lap_record *r)
{
    free(r->shown);
    lap_map64_free(&r->known);
    *r = (lap_record){0};
}

/* ---- what its lines say -------------------------------------------------------------------------- */

static uint64_t size_key(int64_t size)
{
    return lap_map64_key(&size, sizeof size);
}

static uint64_t content_key(int64_t size, uint64_t content)
{
    const uint64_t facts[] = {(uint64_t)size, content};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t made_key(int64_t size, uint64_t content, uint64_t settings)
{
    const uint64_t facts[] = {(uint64_t)size, content, settings};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t timed_key(uint64_t made)
{
    return lap_map64_key(&made, sizeof made);
}

static lap_code know(lap_record *r, const lap_manifest_line *line, lap_error *err)
{
    const uint64_t made =
        made_key(line->size, line->content, lap_settings_taken(r->settings, line->settings));
    const uint64_t keys[] = {
        size_key(line->size), content_key(line->size, line->content), made, timed_key(made)};
    const size_t all = sizeof keys / sizeof *keys;
    const size_t count = lap_is_time_kept(line->mtime_s, line->input_mtime_s) ? all : all - 1;
    lap_code code = LAP_OK;
    for (size_t i = 0; i < count && code == LAP_OK; i++)
        code = lap_map64_put(&r->known, keys[i], 1, err);
    return code;
}

/* Whether these bytes may be a line damaged by a crash: its beginning, or blocks that were never written. */
static bool is_torn(const char *text, size_t length)
{
    static const char begin[] = "{\"schema\":\"lapedge.manifest/";
    const size_t same = length < sizeof begin - 1 ? length : sizeof begin - 1;
    return length == 0 || memchr(text, '\0', length) != NULL ||
           (memcmp(text, begin, same) == 0 && text[length - 1] != '}');
}

static lap_code take_line(void *user, char *text, size_t length, bool is_whole, lap_error *err)
{
    lap_record *r = user;
    lap_manifest_line line;
    r->lines += is_whole;
    while (length > 0 && *text == '\0') { /* blocks that were never written come first */
        text++;
        length--;
    }
    const bool torn = text && is_torn(text, length);
    if (text && lap_manifest_line_read(text, length, &line) && line.has_content)
        return know(r, &line, err);
    if (torn || (text && !is_whole)) /* another process may still be writing this line */
        return LAP_OK;
    return lap_fail_at(err, LAP_E_UNREADABLE, r->shown,
        "line %zu was not written by lapedge (remove that line, or restore the record)", r->lines);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static lap_code fail_reading(const lap_record *r, int why, lap_error *err)
{
    return why == ELOOP ? lap_fail_at(err, LAP_E_UNREADABLE, r->shown,
                              "is a symbolic link (replace it by the file itself)")
                        : lap_fail_at(err, LAP_E_UNREADABLE, r->shown, "%s", strerror(why));
}

/* Checks that no other user can have written this file, or removed an earlier one. */
static lap_code trust(const lap_record *r, int folder, const struct stat *file, lap_error *err)
{
    struct stat around;
    if (fstat(folder, &around) != 0)
        return fail_reading(r, errno, err);
    const bool is_open = (around.st_mode & S_IWOTH) && !(around.st_mode & S_ISVTX);
    const char *why = is_open ? "lies in a folder that everybody may write (chmod o-w prevents that)"
                      : file->st_mode && !S_ISREG(file->st_mode) ? "is not a regular file (move it away)"
                      : file->st_mode                            ? lap_manifest_why_not_ours(file)
                                                                 : NULL;
    /* The other messages already say what to do. */
    const char *remedy = strchr(why ? why : "(", '(') ? ""
                         : file->st_uid == geteuid() || file->st_uid == 0
                             ? " (chmod o-w prevents that, if its lines are true)"
                             : " (run as that user, or have root chown it, if its lines are true)";
    return why ? lap_fail_at(err, LAP_E_UNREADABLE, r->shown, "%s%s", why, remedy) : LAP_OK;
}

/* Opens the record for reading. *fd is -1 if the folder has no record. */
static lap_code open_record(const lap_record *r, int folder, int *fd, struct stat *file, lap_error *err)
{
    *file = (struct stat){0};
    *fd = openat(folder, LAP_IN_PLACE_RECORD, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 && errno != ENOENT)
        return fail_reading(r, errno, err);
    if (*fd >= 0 && fstat(*fd, file) != 0)
        return fail_reading(r, errno, err);
    return trust(r, folder, file, err);
}

lap_code lap_record_refresh(lap_record *r, int folder, lap_error *err)
{
    struct stat file;
    int fd;
    lap_code code = open_record(r, folder, &fd, &file, err);
    if (code == LAP_OK && fd >= 0) {
        const bool is_it = file.st_dev == r->device && file.st_ino == r->inode && file.st_size >= r->read;
        r->read = is_it ? r->read : 0;
        r->lines = is_it ? r->lines : 0;
        r->device = file.st_dev;
        r->inode = file.st_ino;
        if (file.st_size > r->read)
            code = lap_manifest_read_text(fd, r->shown, &r->read, take_line, r, err);
    }
    if (fd >= 0)
        close(fd);
    return code;
}

lap_code lap_record_judge(const lap_record *r, const lap_candidate *c, lap_was *was, lap_error *err)
{
    const int64_t size = c->there->st_size;
    uint64_t content;
    *was = LAP_WAS_PHOTO;
    if (!lap_map64_find(&r->known, size_key(size)))
        return LAP_OK;
    const lap_code code = lap_content_hash(c->folder, c->name, c->there, &content, err);
    if (code != LAP_OK)
        return code;
    const uint64_t made = made_key(size, content, lap_settings_own(r->settings));
    if (lap_map64_find(&r->known, content_key(size, content)))
        *was = !lap_map64_find(&r->known, made)             ? LAP_WAS_OTHER
               : lap_map64_find(&r->known, timed_key(made)) ? LAP_WAS_SAME
                                                            : LAP_WAS_UNTIMED;
    return LAP_OK;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Some file systems do not support fsync for folders. A folder without read permission cannot be opened for
 * fsync: then the whole file system is synced, through a descriptor of a file in the folder. */
bool lap_sync_names(int folder, const char *beside)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file =
        fd < 0 ? openat(folder, beside, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0 && file < 0)
        return false;
    const bool synced = fd < 0 ? syncfs(file) == 0 : fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
    const int why = errno;
    close(fd < 0 ? file : fd);
    errno = why;
    return synced;
}

enum { ADD = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

lap_code lap_record_check(const lap_record *r, int folder, lap_error *err)
{
    if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0 &&
        (faccessat(folder, LAP_IN_PLACE_RECORD, R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT))
        return LAP_OK;
    return lap_write_errno(err, r->shown, "write", errno);
}

/* Makes the line, after a newline if the file does not end with one. */
static lap_code prepare(const lap_manifest_line *line, lap_manifest_queue *queue, lap_error *err)
{
    queue->bytes = lap_grow(NULL, &queue->capacity, 1, 1);
    if (!queue->bytes)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    queue->bytes[queue->used++] = '\n';
    return lap_manifest_line_write(queue, line, err);
}

/* Writes all bytes at once, so that lines of two runs do not mix. First completes an older line that a crash
 * or a full disk cut off. Returns 0 or an errno. */
static int write_line(int fd, const lap_manifest_queue *queue)
{
    struct stat st;
    char last = '\n';
    if (fstat(fd, &st) != 0)
        return errno;
    while (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) < 0)
        if (errno != EINTR)
            return errno;
    const bool ends = last == '\n';
    const char *bytes = queue->bytes + ends;
    for (size_t left = queue->used - ends; left > 0;) {
        const ssize_t wrote = write(fd, bytes, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        bytes += wrote;
        left -= (size_t)wrote;
    }
    return 0;
}

static lap_code add_to(
    lap_record *r, int folder, int fd, const lap_manifest_queue *queue, bool sync, lap_error *err)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return fail_reading(r, errno, err);
    const lap_code code = trust(r, folder, &file, err); /* another run may have created it in the meantime */
    if (code != LAP_OK)
        return code;
    int why = write_line(fd, queue);
    if (!why && sync && fdatasync(fd) != 0)
        why = errno;
    if (!why && sync && !r->is_named && !lap_sync_names(folder, LAP_IN_PLACE_RECORD))
        why = errno;
    r->is_named |= sync && !why;
    return why ? lap_write_errno(err, r->shown, "write", why) : LAP_OK;
}

lap_code lap_record_add(lap_record *r, int folder, const lap_manifest_line *line, bool sync, lap_error *err)
{
    lap_manifest_queue queue = {0};
    lap_code code = prepare(line, &queue, err);
    int fd = code == LAP_OK ? openat(folder, LAP_IN_PLACE_RECORD, ADD) : -1;
    if (code == LAP_OK && fd < 0 && errno == ENOENT)
        fd = openat(folder, LAP_IN_PLACE_RECORD, ADD | O_CREAT, 0644);
    if (code == LAP_OK && fd < 0)
        code = lap_write_errno(err, r->shown, "write", errno);
    if (code == LAP_OK)
        code = add_to(r, folder, fd, &queue, sync, err);
    if (fd >= 0 && close(fd) != 0 && errno != EINTR && code == LAP_OK)
        code = lap_write_errno(err, r->shown, "write", errno);
    free(queue.bytes);
    return code;
}
