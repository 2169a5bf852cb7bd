#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/status.h"
#include "io/target.h"

/* PIECE: one read(2). Small enough to stay in the L2 cache until the entropy decoder has read it. */
enum { PIECE = 64 * 1024, WATCH_MS = 100 };

struct lap_source {
    char name[256]; /* for messages: escaped, on one line */
    int fd;         /* -1: memory */
    bool owns_fd, is_regular, ended, started, held;
    struct stat stat;
    const lap_control *control;

    const uint8_t *memory; /* the rest of a memory source, or of held bytes */
    size_t memory_size;
    size_t ahead; /* bytes that a regular file would have in the buffer after the same peeks */

    uint8_t last_pair[2]; /* if has_last_pair: hold a stream up to these two bytes */
    size_t looked;        /* bytes that were searched for the pair */
    bool has_last_pair, saw_last_pair;

    uint8_t *buffer; /* for a descriptor: peeked bytes, later the current piece */
    size_t capacity, filled;

    uint64_t bytes;
    double ms;
};

/* ---- opening ---------------------------------------------------------------------------------- */

static lap_source *source_create(const char *name, lap_error *err)
{
    lap_source *source = calloc(1, sizeof *source);
    if (!source) {
        lap_fail_at(err, LAP_E_MEMORY, name, "out of memory");
        return NULL;
    }
    source->fd = -1;
    lap_shown_path(source->name, sizeof source->name, name);
    return source;
}

/* The N of /dev/fd/N and similar paths, which name a descriptor; -1 for other paths. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0) {
            char *end = NULL;
            errno = 0;
            long n = strtol(path + length, &end, 10);
            if (end != path + length && *end == '\0' && errno == 0 && n >= 0 && n <= 1 << 20)
                return (int)n;
        }
    }
    return -1;
}

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "is a folder";
    case S_IFIFO:
        return "is a named pipe";
    case S_IFSOCK:
        return "is a socket";
    default:
        return "is a device";
    }
}

static lap_code open_path(lap_source *source, const char *path, lap_error *err)
{
    int named = named_descriptor(path);
    if (named >= 0) {
        source->fd = named;
        if (fstat(named, &source->stat) != 0)
            return lap_fail_at(err, LAP_E_MISSING, source->name, "is not open");
    } else {
        do /* O_NONBLOCK: a FIFO without a writer must not block */
            source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        while (source->fd < 0 && errno == EINTR);
        if (source->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
            return lap_fail_missing(err, source->name);
        if (source->fd < 0)
            return lap_fail_at(err, LAP_E_UNREADABLE, source->name, "cannot be opened: %m");
        source->owns_fd = true;
        if (fstat(source->fd, &source->stat) != 0)
            return lap_fail_at(err, LAP_E_UNREADABLE, source->name, "cannot be read: %m");
        if (!S_ISREG(source->stat.st_mode))
            return lap_fail_at(
                err, LAP_E_UNREADABLE, source->name, "%s, not a regular file", kind_of(source->stat.st_mode));
    }
    if (S_ISDIR(source->stat.st_mode))
        return lap_fail_at(err, LAP_E_UNREADABLE, source->name, "is a folder");
    source->is_regular = S_ISREG(source->stat.st_mode);
    return LAP_OK;
}

lap_code lap_source_open(const char *path, lap_source **source, lap_error *err)
{
    *source = NULL;
    lap_source *s = source_create(strcmp(path, "-") == 0 ? "standard input" : path, err);
    if (!s)
        return LAP_E_MEMORY;
    lap_code code = open_path(s, path, err);
    if (code != LAP_OK) {
        lap_source_close(s);
        return code;
    }
    *source = s;
    return LAP_OK;
}

lap_code lap_source_memory(
    const void *data, size_t size, const char *name, lap_source **source, lap_error *err)
{
    lap_source *s = *source = source_create(name ? name : "memory", err);
    if (!s)
        return LAP_E_MEMORY;
    s->memory = data ? data : (const void *)"";
    s->memory_size = size;
    return LAP_OK;
}

void lap_source_close(lap_source *source)
{
    if (!source)
        return;
    if (source->owns_fd)
        close(source->fd); /* it was only read, so an error loses nothing */
    free(source->buffer);
    free(source);
}

void lap_source_watch(lap_source *source, const lap_control *control)
{
    source->control = control;
}

/* ---- reading ---------------------------------------------------------------------------------- */

lap_code lap_await_readable(int fd, const lap_control *control, lap_error *err)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    for (;;) {
        const lap_code code = lap_control_check(control, err);
        if (code != LAP_OK)
            return code;
        const int ready = poll(&poller, 1, WATCH_MS);
        if (ready > 0)
            return LAP_OK;
        if (ready < 0 && errno != EINTR)
            return lap_fail(err, LAP_E_UNREADABLE, "cannot be read: %m");
    }
}

/* Waits until a descriptor that may block has something to read. */
static lap_code wait_readable(lap_source *source, lap_error *err)
{
    lap_error why = {0};
    if (source->is_regular || lap_await_readable(source->fd, source->control, &why) == LAP_OK)
        return LAP_OK;
    return lap_error_remedy(err, lap_fail_at(err, why.code, source->name, "%s", why.message), why.remedy);
}

/* Reads up to size bytes into the buffer, behind those already there; sets ended at the end of the input. */
static lap_code read_some(lap_source *source, size_t size, lap_error *err)
{
    double begin = lap_now_ms();
    lap_code code = LAP_OK;
    ssize_t n;
    do {
        code = wait_readable(source, err);
        if (code != LAP_OK)
            return code;
        n = read(source->fd, source->buffer + source->filled, size);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        code = lap_fail_at(err, LAP_E_UNREADABLE, source->name, "cannot be read: %m");
    else if (n == 0)
        source->ended = true;
    else
        source->filled += (size_t)n;
    source->bytes += n > 0 ? (uint64_t)n : 0;
    source->ms += lap_now_ms() - begin;
    return code;
}

/* Grows the buffer to at least this capacity, and keeps its content. */
static lap_code reserve(lap_source *source, size_t capacity, lap_error *err)
{
    if (capacity <= source->capacity)
        return LAP_OK;
    uint8_t *buffer = lap_pages_resize(source->buffer, source->filled, capacity);
    if (!buffer)
        return lap_fail_at(err, LAP_E_MEMORY, source->name, "out of memory");
    source->buffer = buffer;
    source->capacity = capacity;
    return LAP_OK;
}

lap_code lap_source_peek(lap_source *source, size_t want, const uint8_t **bytes, size_t *got, lap_error *err)
{
    *bytes = NULL;
    *got = 0;
    if (source->started)
        return lap_fail_at(err, LAP_E_INTERNAL, source->name, "peeked after reading began");
    size_t room;
    if (!lap_add(want, PIECE, &room))
        return lap_fail_at(err, LAP_E_MEMORY, source->name, "out of memory");
    if (source->ahead < want)
        source->ahead = room;
    if (source->fd < 0 || source->held) { /* all bytes are in memory, and stay there */
        *bytes = source->memory;
        *got = want < source->memory_size ? want : source->memory_size;
        return LAP_OK;
    }
    lap_code code = LAP_OK;
    if (source->filled < want)
        code = reserve(source, room, err);
    while (code == LAP_OK && source->filled < want && !source->ended) /* a pipe must not be read further */
        code = read_some(source, source->is_regular ? room - source->filled : want - source->filled, err);
    *bytes = source->buffer;
    *got = want < source->filled ? want : source->filled;
    return code;
}

/* Returns the next piece of bytes in memory. Pieces are cut as those of a regular file that is not held:
 * libjpeg's warnings depend on where pieces end. */
static void give_out(lap_source *source, const uint8_t **bytes, size_t *size)
{
    const size_t piece = source->ahead ? source->ahead : PIECE;
    size_t n = source->memory_size < piece ? source->memory_size : piece;
    source->ahead = 0;
    *bytes = source->memory;
    *size = n;
    source->memory += n;
    source->memory_size -= n;
    source->bytes += n;
    source->started = true;
}

bool lap_source_look(const lap_source *source, uint64_t offset, void *bytes, size_t size)
{
    if (source->fd < 0) {
        const uint64_t all = source->bytes + source->memory_size;
        const bool has = offset <= all && size <= all - offset;
        if (has)
            memcpy(bytes, source->memory - source->bytes + offset, size);
        return has;
    }
    if (!source->owns_fd || offset > INT64_MAX - size) /* a descriptor may begin in the middle of its file */
        return false;
    for (size_t at = 0; at < size;) {
        const ssize_t got = pread(source->fd, (char *)bytes + at, size - at, (off_t)(offset + at));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

lap_code lap_source_next(lap_source *source, const uint8_t **bytes, size_t *size, lap_error *err)
{
    *bytes = NULL;
    *size = 0;
    if (source->fd < 0 || source->memory_size > 0) {
        give_out(source, bytes, size);
        return LAP_OK;
    }
    lap_code code = LAP_OK;
    bool has_peeked = !source->started && source->filled > 0;
    source->started = true;
    if (!has_peeked || source->held) {
        if (source->capacity > 2 * PIECE) { /* a large header was peeked at, or all was held */
            free(source->buffer);
            source->buffer = NULL;
            source->capacity = 0;
        }
        source->filled = 0;
        code = reserve(source, PIECE, err);
        if (code == LAP_OK && !source->ended)
            code = read_some(source, PIECE, err);
    }
    if (code == LAP_OK) {
        *bytes = source->buffer;
        *size = source->filled;
    }
    return code;
}

/* ---- holding the input in memory -------------------------------------------------------------- */

/* Returns the room to allocate: for a regular file its whole size, for other inputs twice the bytes read so
 * far. */
static size_t room_to_hold(const lap_source *source)
{
    off_t size = source->is_regular ? source->stat.st_size : 0;
    size_t room = source->filled < PIECE ? 2 * PIECE : 2 * source->filled;
    bool is_known = size > 0 && (uintmax_t)size < SIZE_MAX - 1 && (size_t)size + 1 > source->filled;
    return is_known ? (size_t)size + 1 : room;
}

void lap_source_hold_until(lap_source *source, size_t from, const uint8_t pair[2])
{
    if (source->is_regular)
        return;
    memcpy(source->last_pair, pair, sizeof source->last_pair);
    source->looked = from;
    source->has_last_pair = true;
}

/* Searches each byte only once, however small the pieces are. */
static bool is_last_pair_there(lap_source *source)
{
    while (source->has_last_pair && !source->saw_last_pair && source->filled >= 2 &&
           source->looked < source->filled - 1) {
        const uint8_t *from = source->buffer + source->looked;
        const size_t left = source->filled - 1 - source->looked;
        const uint8_t *first = memchr(from, source->last_pair[0], left);
        source->saw_last_pair = first && first[1] == source->last_pair[1];
        source->looked += first ? (size_t)(first - from) + 1 : left;
    }
    return source->saw_last_pair;
}

lap_code lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err)
{
    lap_code code = LAP_OK;
    if (source->started)
        return lap_fail(err, LAP_E_INTERNAL, "%s: held after reading began", source->name);
    bool fits = !source->is_regular || (uintmax_t)source->stat.st_size <= limit;
    if (source->fd >= 0 && fits && !source->held) {
        while (code == LAP_OK && !source->ended && source->filled <= limit && !is_last_pair_there(source)) {
            if (source->filled == source->capacity)
                code = reserve(source, room_to_hold(source), err);
            if (code == LAP_OK)
                code = read_some(source, source->capacity - source->filled, err);
        }
        source->memory = source->buffer;
        source->memory_size = source->filled;
        source->bytes = 0; /* counted again by give_out */
        source->held = true;
    }
    *bytes = source->memory;
    *size = source->memory_size;
    *whole =
        source->fd < 0 || (fits && (source->ended || source->saw_last_pair) && source->memory_size <= limit);
    return code;
}

lap_code lap_source_hold_in(
    lap_source *source, uint8_t *memory, size_t room, size_t *size, bool *whole, lap_error *err)
{
    lap_code code = LAP_OK;
    *size = 0;
    *whole = false;
    if (source->started || source->held || source->fd < 0 || source->filled > 0)
        return lap_fail(err, LAP_E_INTERNAL, "%s: held after reading began", source->name);
    uint8_t *const own = source->buffer;
    source->buffer = memory;
    while (code == LAP_OK && !source->ended && source->filled < room)
        code = read_some(source, room - source->filled, err);
    *size = source->filled;
    *whole = code == LAP_OK && source->ended;
    source->buffer = own;
    source->filled = 0;
    source->memory = memory;
    source->memory_size = *size;
    source->bytes = 0;
    source->held = true;
    return code;
}

void lap_source_held_is_read(lap_source *source)
{
    source->bytes += source->memory_size;
    source->memory_size = 0;
    source->started = true;
}

/* ---- the state of the source ------------------------------------------------------------------ */

lap_code lap_source_verify(const lap_source *source, const char *path, lap_error *err)
{
    struct stat now;
    if (!source->is_regular)
        return LAP_OK;
    if (fstat(source->fd, &now) != 0)
        return lap_fail_at(err, LAP_E_UNREADABLE, source->name, "cannot be examined again: %m");
    if (!lap_same_state(&now, &source->stat))
        return lap_fail_at(err, LAP_E_CHANGED, source->name, "changed while it was read");
    if (path && (stat(path, &now) != 0 || !lap_same_state(&now, &source->stat)))
        return lap_fail_at(err, LAP_E_CHANGED, source->name, "changed: another file has this name now");
    return LAP_OK;
}

lap_code lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err)
{
    lap_error changed;
    if ((code == LAP_OK || code == LAP_E_TRUNCATED || code == LAP_E_DAMAGED) &&
        lap_source_verify(source, path, &changed) != LAP_OK)
        return lap_error_set(err, &changed);
    return code;
}

lap_code lap_source_verify_read(const char *path, const struct stat *read, lap_error *err)
{
    struct stat now;
    if (stat(path, &now) != 0 || now.st_dev != read->st_dev || now.st_ino != read->st_ino ||
        lap_same_state(&now, read))
        return LAP_OK;
    return lap_fail_at(err, LAP_E_CHANGED, path, "changed after it was read");
}

const char *lap_source_name(const lap_source *source)
{
    return source->name;
}

const struct stat *lap_source_stat(const lap_source *source)
{
    return source->fd >= 0 ? &source->stat : NULL;
}

int lap_source_fd(const lap_source *source)
{
    return source->fd;
}

uint64_t lap_source_bytes(const lap_source *source)
{
    return source->is_regular ? (uint64_t)source->stat.st_size : source->bytes;
}

double lap_source_ms(const lap_source *source)
{
    return source->ms;
}
