#include "batch/manifest_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

enum { PIECE = 64 * 1024 };

typedef struct pieces { /* a file that is being read in pieces */
    char *buffer;
    size_t used;
    bool skips;    /* inside a line that is too long */
    off_t skipped; /* how many bytes of that line are no longer in the buffer */
    lap_manifest_text_fn *each;
    void *user;
} pieces;

/* Passes on the complete lines in the buffer, and keeps the incomplete line at its end. */
static lap_code give_lines(pieces *p, lap_error *err)
{
    lap_code code = LAP_OK;
    size_t start = 0;
    for (const char *end; code == LAP_OK && (end = memchr(p->buffer + start, '\n', p->used - start));) {
        const size_t length = (size_t)(end - p->buffer) - start;
        const bool is_long = p->skips || length > LAP_MANIFEST_LINE;
        code = is_long ? p->each(p->user, NULL, 0, true, err)
                       : p->each(p->user, p->buffer + start, length, true, err);
        p->skips = false;
        p->skipped = 0;
        start += length + 1;
    }
    p->used -= start;
    memmove(p->buffer, p->buffer + start, p->used);
    if (p->used > LAP_MANIFEST_LINE) {
        p->skips = true;
        p->skipped += (off_t)p->used;
        p->used = 0;
    }
    return code;
}

lap_code lap_manifest_read_text(
    int fd, const char *shown, off_t *from, lap_manifest_text_fn *each, void *user, lap_error *err)
{
    pieces p = {.buffer = malloc(LAP_MANIFEST_LINE + PIECE + 1), .each = each, .user = user};
    off_t at = *from;
    lap_code code = LAP_OK;
    if (!p.buffer)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    while (code == LAP_OK) {
        const ssize_t got = pread(fd, p.buffer + p.used, PIECE, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = lap_fail_at(err, LAP_E_UNREADABLE, shown, "cannot be read: %s", strerror(errno));
        if (got <= 0)
            break;
        at += got;
        p.used += (size_t)got;
        code = give_lines(&p, err);
    }
    *from = at - (off_t)p.used - p.skipped;
    if (code == LAP_OK && p.used && !p.skips)
        code = each(user, p.buffer, p.used, false, err);
    free(p.buffer);
    return code;
}

const char *lap_manifest_why_not_ours(const struct stat *file)
{
    if (file->st_uid != geteuid() && file->st_uid != 0)
        return "belongs to another user";
    return (file->st_mode & S_IWOTH) ? "may be written by everybody" : NULL;
}
