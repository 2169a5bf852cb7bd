#include "batch/in_place_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/in_place_record.h"
#include "io/sink.h"
#include "io/sink_temp.h"

static lap_code fail(const lap_backup *b, int why, lap_error *err)
{
    char what[NAME_MAX + 32];
    snprintf(what, sizeof what, "keep it as %s", b->kept);
    return lap_write_errno(err, b->shown, what, why);
}

/* Checks that the file under the backup's name is the photo: a link to it, or a copy that a stopped run
 * made. */
static lap_code compare(const lap_backup *b, const struct stat *there, lap_error *err)
{
    const int folder = b->tree->fd;
    uint64_t mine = 0, theirs = 0;
    lap_code code = LAP_OK;
    if (there->st_dev == b->photo->st_dev && there->st_ino == b->photo->st_ino)
        return LAP_OK;
    const bool may_be = S_ISREG(there->st_mode) && there->st_size == b->photo->st_size;
    if (may_be)
        code = lap_content_hash(folder, b->name, b->photo, &mine, err);
    if (may_be && code == LAP_OK)
        code = lap_content_hash(folder, b->kept, there, &theirs, err);
    if (code != LAP_OK || (may_be && mine == theirs))
        return lap_error_about(err, code, b->shown);
    return lap_fail_at(err, LAP_E_EXISTS, b->shown,
        "is left alone, since its backup %.200s exists and is another file", b->kept);
}

/* may_miss: the name may be free. */
static lap_code look(const lap_backup *b, bool may_miss, lap_error *err)
{
    struct stat there;
    if (fstatat(b->tree->fd, b->kept, &there, AT_SYMLINK_NOFOLLOW) == 0)
        return compare(b, &there, err);
    return errno == ENOENT && may_miss ? LAP_OK : fail(b, errno, err);
}

lap_code lap_backup_check(const lap_backup *b, lap_error *err)
{
    return look(b, true, err);
}

/* ---- a copy, where there are no links ------------------------------------------------------------ */

static lap_code copy_bytes(int from, lap_sink *to, const char *name, lap_error *err)
{
    char piece[64 * 1024];
    lap_code code = LAP_OK;
    ssize_t got = 0;
    while (code == LAP_OK && ((got = read(from, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            code = lap_sink_write(to, piece, (size_t)got, err);
    return code == LAP_OK && got < 0
               ? lap_fail_at(err, LAP_E_UNREADABLE, name, "cannot be read: %s", strerror(errno))
               : code;
}

static lap_code copy(const lap_backup *b, lap_error *err)
{
    struct stat now;
    lap_sink *sink = NULL;
    const int from = openat(b->tree->fd, b->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (from < 0)
        return lap_fail_at(err, LAP_E_UNREADABLE, b->shown, "cannot be opened: %s", strerror(errno));
    lap_code code = lap_sink_open_below(b->tree, b->kept, &sink, err);
    if (code == LAP_OK)
        lap_sink_inherit(sink, b->photo);
    if (code == LAP_OK)
        code = copy_bytes(from, sink, b->shown, err);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, b->sync, &(lap_like){from, b->photo}, err);
    if (code == LAP_OK && (fstat(from, &now) != 0 || !lap_same_state(&now, b->photo)))
        code = lap_fail_at(err, LAP_E_CHANGED, b->shown, "changed while it was copied");
    if (code == LAP_OK) {
        lap_sink_expect(sink, NULL);
        code = lap_sink_publish(sink, err);
    }
    lap_sink_close(sink);
    close(from);
    return code;
}

/* ---- the name ------------------------------------------------------------------------------------ */

static bool has_no_links(int why)
{
    static const int whys[] = {EPERM, ENOTSUP, ENOSYS, EMLINK, EINVAL, EXDEV};
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        if (why == whys[i])
            return true;
    return false;
}

lap_code lap_backup_keep(const lap_backup *b, lap_error *err)
{
    const int folder = b->tree->fd;
    lap_code code = lap_backup_check(b, err);
    if (code != LAP_OK)
        return code;
    if (linkat(folder, b->name, folder, b->kept, 0) != 0 && errno != EEXIST) {
        if (has_no_links(errno) && faccessat(folder, b->kept, F_OK, 0) != 0)
            return copy(b, err);
        return fail(b, errno, err);
    }
    code = look(b, false, err); /* another process may have taken the name, or replaced the photo */
    if (code == LAP_OK && b->sync && !lap_sync_names(folder, b->kept))
        code = fail(b, errno, err);
    return code;
}
