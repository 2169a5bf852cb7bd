#include "batch/list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "io/source.h"
#include "io/target.h"

enum { PIECE = 64 * 1024, LONGEST = PATH_MAX, SMALL = 16 << 20 };

struct lap_list {
    const char *shown; /* the caller's name of the list, for messages */
    char end;          /* the byte that ends each name */
    bool is_held;      /* bytes holds the whole list; else one piece of the file */
    char *bytes;
    size_t used, next; /* in bytes: end of the data, and position of the next name */
    int fd;
    struct stat was;   /* the file's state when it was opened */
    off_t begin, from; /* where the names begin in the file, and where the next piece begins */
    char name[LONGEST + 1];
};

static lap_code fail_list(const lap_list *list, lap_error *err)
{
    return lap_fail_at(err, LAP_E_UNREADABLE, list->shown, "this list cannot be read: %s", strerror(errno));
}

static lap_list *create(const char *shown, char end, lap_error *err)
{
    lap_list *list = calloc(1, sizeof *list);
    if (!list) {
        lap_fail(err, LAP_E_MEMORY, "out of memory");
        return NULL;
    }
    list->shown = shown;
    list->end = end;
    return list;
}

void lap_list_close(lap_list *list)
{
    if (!list)
        return;
    if (list->fd > STDIN_FILENO)
        close(list->fd);
    free(list->bytes);
    free(list);
}

const char *lap_list_path(const lap_batch_options *options)
{
    const char *path = options->files_from;
    return path && strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* Reads the whole list if it is not larger than `most`. */
static lap_code hold(lap_list *list, uint64_t most, const lap_control *control, lap_error *err)
{
    size_t capacity = 0;
    list->is_held = true;
    for (;;) {
        char *grown = lap_grow(list->bytes, &capacity, list->used + PIECE, 1);
        if (!grown)
            return lap_fail_at(err, LAP_E_MEMORY, list->shown, "out of memory for this list");
        list->bytes = grown;
        const lap_code code = lap_await_readable(list->fd, control, err);
        if (code != LAP_OK)
            return code == LAP_E_UNREADABLE ? fail_list(list, err) : code;
        const ssize_t got = read(list->fd, grown + list->used, PIECE);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return fail_list(list, err);
        if (got == 0)
            return LAP_OK;
        list->used += got > 0 ? (size_t)got : 0;
        char size[LAP_SIZE_TEXT];
        if (list->used > most)
            return lap_fail_at(err, LAP_E_LIMIT, list->shown,
                "a list that is not in a file is held in memory, and this one has more than %s",
                lap_size_text(most, size));
    }
}

/* Opening a FIFO does not wait for a writer; reading its names does. */
static lap_code open_list(lap_list *list, const char *path, lap_error *err)
{
    list->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (list->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return lap_fail_missing(err, path);
    if (list->fd < 0 || fstat(list->fd, &list->was) != 0)
        return fail_list(list, err);
    list->begin = lseek(list->fd, 0, SEEK_CUR);
    return LAP_OK;
}

lap_code lap_list_open(const lap_batch_options *options, uint64_t limit, const lap_control *control,
    lap_list **list, lap_error *err)
{
    const char *path = options->files_from;
    *list = NULL;
    if (!path)
        return LAP_OK;
    lap_list *l = create(path, options->nul_separated ? '\0' : '\n', err);
    if (!l)
        return LAP_E_MEMORY;
    lap_code code = open_list(l, path, err);
    const bool is_file = code == LAP_OK && S_ISREG(l->was.st_mode) && l->begin >= 0;
    const uint64_t most = limit ? (limit + 1) / 2 : UINT64_MAX, small = most < SMALL ? most : SMALL;
    if (code == LAP_OK && is_file && (uint64_t)(l->was.st_size - l->begin) > small) {
        l->bytes = malloc(PIECE);
        if (!l->bytes)
            code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    } else if (code == LAP_OK) {
        code = hold(l, most, control, err);
    }
    if (code != LAP_OK) {
        lap_list_close(l);
        return code;
    }
    *list = l;
    return LAP_OK;
}

uint64_t lap_list_leaves(const lap_list *list, uint64_t limit)
{
    const uint64_t held = list && list->is_held ? list->used : 0;
    return held < limit ? limit - held : limit ? 1 : 0;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static lap_code check_file(const lap_list *list, lap_error *err)
{
    struct stat now;
    if (list->is_held)
        return LAP_OK;
    if (fstat(list->fd, &now) != 0)
        return fail_list(list, err);
    return lap_is_untouched(&now, &list->was)
               ? LAP_OK
               : lap_fail_at(err, LAP_E_CHANGED, list->shown, "this list changed during the run");
}

lap_code lap_list_begin(lap_list *list, lap_error *err)
{
    list->next = 0;
    list->from = list->begin;
    if (!list->is_held)
        list->used = 0;
    return check_file(list, err);
}

/* Reads the next piece; it is empty at the end. */
static lap_code fill(lap_list *list, lap_error *err)
{
    ssize_t got = 0;
    if (list->is_held)
        return LAP_OK;
    do
        got = pread(list->fd, list->bytes, PIECE, list->from);
    while (got < 0 && errno == EINTR);
    list->next = list->used = 0;
    if (got < 0)
        return fail_list(list, err);
    list->from += got;
    list->used = (size_t)got;
    return got ? LAP_OK : check_file(list, err); /* at the end: was the list modified? */
}

/* Reads the next name, which may be empty. Cuts a name that is too long. */
static lap_code read_name(lap_list *list, bool *is_one, lap_error *err)
{
    size_t length = 0;
    lap_code code = LAP_OK;
    *is_one = false;
    for (const char *stop = NULL; !stop; *is_one = true) {
        if (list->next == list->used)
            code = fill(list, err);
        if (code != LAP_OK || list->next == list->used)
            break;
        const char *begin = list->bytes + list->next;
        const size_t there = list->used - list->next;
        stop = memchr(begin, list->end, there);
        const size_t part = stop ? (size_t)(stop - begin) : there;
        if (list->end && length == 0 && part > 1 && memchr(begin, 0, part) &&
            (memcmp(begin, "\xff\xfe", 2) == 0 || memcmp(begin, "\xfe\xff", 2) == 0))
            return lap_fail_at(err, LAP_E_USAGE, list->shown,
                "this list is UTF-16; convert it to UTF-8, for example with iconv");
        if (list->end && memchr(begin, 0, part)) {
            lap_fail_at(err, LAP_E_USAGE, list->shown,
                "the names of this list are separated by zero bytes, not line ends");
            return lap_error_remedy(err, LAP_E_USAGE, LAP_REMEDY_NUL_SEPARATED);
        }
        const size_t kept = part < LONGEST - length ? part : LONGEST - length;
        memcpy(list->name + length, begin, kept);
        length += kept;
        list->next += part + (stop != NULL);
    }
    list->name[length] = '\0';
    return code;
}

lap_code lap_list_next(lap_list *list, const char **name, lap_error *err)
{
    lap_code code;
    bool is_one;
    do
        code = read_name(list, &is_one, err);
    while (code == LAP_OK && is_one && !list->name[0]);
    *name = code == LAP_OK && is_one ? list->name : NULL;
    return code;
}
