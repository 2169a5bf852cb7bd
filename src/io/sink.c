#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/grow.h"
#include "base/status.h"
#include "io/acl.h"
#include "io/sink_temp.h"

struct lap_sink {
    int fd;      /* -1: memory, or closed */
    bool memory; /* a memory sink: the buffer is the output */
    char *path;  /* for messages */
    lap_target target;
    lap_temp temp; /* no name: written directly, or published */
    lap_over over;
    struct stat seen;   /* with LAP_OVER_SEEN: what may be replaced */
    struct stat made;   /* the finished temporary file */
    XXH3_state_t *hash; /* below a tree, until finished: hash of all bytes; else NULL */
    uint64_t content;
    struct stat replaced;       /* the file to replace; its mode is 0: no file to replace */
    lap_acl acl;                /* access control list of that file */
    char lost[160];             /* what finishing could not keep; empty: it kept everything */
    bool broken;                /* a write failed: cannot be published */
    bool whole;                 /* finished */
    bool sync;                  /* as requested in lap_sink_finish */
    bool blocks;                /* a write may block, and control may end the wait */
    const lap_control *control; /* used until the sink is finished */
    uint8_t *buffer;
    size_t used, capacity;
    uint64_t bytes;
    double ms, opening_ms;
};

/* Gathers headers and rows to this size; longer pieces go straight to write(2). */
enum { GATHER = 64 * 1024 };
/* How long one wait for a FIFO's reader may last before control is checked again: the kernel has no event for
 * a reader that opens a FIFO. */
enum { WATCH_MS = 100, READER_MS = 10 };

/* ---- opening: a path, a target below a tree, a descriptor, memory --------------------------------- */

/* Returns the mode of a new file, according to the calling thread's umask. Reads it from /proc if possible,
 * since umask(2) can only read it by changing it, which affects other threads. */
static mode_t default_mode(void)
{
    static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
    mode_t mask = 0;
    bool found = false;
    FILE *status = fopen("/proc/thread-self/status", "re");
    if (status) {
        char line[256];
        while (!found && fgets(line, sizeof line, status)) {
            found = strncmp(line, "Umask:", 6) == 0;
            mask = found ? (mode_t)strtoul(line + 6, NULL, 8) : 0;
        }
        fclose(status);
    }
    if (!found) {
        pthread_mutex_lock(&asking);
        mask = umask(077);
        umask(mask);
        pthread_mutex_unlock(&asking);
    }
    return 0666 & ~mask;
}

/* Returns the descriptor that "-", /dev/stdout or /dev/fd/N stands for; -1 for any other path. */
static int named_descriptor(const char *path)
{
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    static const char prefix[] = "/dev/fd/";
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return -1;
    const char *digits = path + sizeof prefix - 1;
    char *end;
    long fd = strtol(digits, &end, 10);
    return end != digits && *end == 0 && fd >= 0 && fd <= INT_MAX ? (int)fd : -1;
}

/* Duplicates a descriptor: closing the duplicate reports errors, and the caller's descriptor stays open. A
 * pipe is opened again, since a duplicate would share O_NONBLOCK with the caller; if that is not allowed,
 * writing may block. */
static void duplicate(lap_sink *sink, int given)
{
    char again[32];
    struct stat st = {0};
    snprintf(again, sizeof again, "/proc/self/fd/%d", given);
    const bool may_block = sink->control && fstat(given, &st) == 0 && !S_ISREG(st.st_mode);
    sink->fd = may_block && S_ISFIFO(st.st_mode) ? open(again, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    sink->blocks = may_block && sink->fd < 0;
    if (sink->fd < 0)
        sink->fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
}

/* Returns the error of a control that ended a wait, and names the path in it. */
static lap_code stopped(const char *path, const lap_error *why, lap_error *err)
{
    return lap_error_remedy(err, lap_fail_at(err, why->code, path, "%s", why->message), why->remedy);
}

lap_code lap_sink_open_fifo(const char *path, const lap_control *control, int *fd, lap_error *err)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    *fd = open(path, flags);
    while (*fd < 0 && errno == ENXIO) { /* no reader yet */
        lap_error why;
        if (lap_control_check(control, &why) != LAP_OK)
            return stopped(path, &why, err);
        (void)poll(NULL, 0, READER_MS);
        *fd = open(path, flags);
    }
    return *fd < 0 ? lap_write_errno(err, path, "open", errno) : LAP_OK;
}

/* Opens a FIFO, device or socket; waits for the reader of a FIFO. */
static lap_code open_directly(lap_sink *sink, mode_t mode, lap_error *err)
{
    if (S_ISFIFO(mode) && sink->control)
        return lap_sink_open_fifo(sink->path, sink->control, &sink->fd, err);
    sink->blocks = sink->control;
    sink->fd = open(sink->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return sink->fd < 0 ? lap_write_errno(err, sink->path, "open", errno) : LAP_OK;
}

static void replace(lap_sink *sink, int folder, const struct stat *old)
{
    sink->replaced = *old;
    if (old->st_mode)
        sink->acl = lap_acl_at(folder, sink->target.name);
}

static lap_code open_target(lap_sink *sink, const char *path, lap_error *err)
{
    int given = named_descriptor(path);
    if (given >= 0) {
        sink->path = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
        if (!sink->path)
            return lap_write_errno(err, path, "write", ENOMEM);
        duplicate(sink, given);
        return sink->fd < 0 ? lap_write_errno(err, sink->path, "write", errno) : LAP_OK;
    }
    struct stat old;
    const lap_code code = lap_sink_look(path, &old, err);
    if (code != LAP_OK)
        return code;
    if (old.st_mode && !S_ISREG(old.st_mode)) {
        sink->path = strdup(path);
        return sink->path ? open_directly(sink, old.st_mode, err)
                          : lap_write_errno(err, path, "open", ENOMEM);
    }
    if (!lap_target_at(path, &sink->target))
        return lap_write_errno(err, path, "create a file in its folder", errno);
    replace(sink, sink->target.folder, &old);
    sink->path = strdup(sink->target.path);
    const bool made = sink->path && lap_temp_create(sink->target.folder, sink->path, &sink->temp, &sink->fd);
    return made ? LAP_OK : lap_write_errno(err, path, "create a file in its folder", errno);
}

static lap_code open_below(lap_sink *sink, const lap_tree *tree, const char *relative, lap_error *err)
{
    struct stat old;
    int folder = -1;
    if (!lap_target_below(tree, relative, &sink->target))
        return lap_write_errno(err, relative, "write", errno);
    sink->path = strdup(sink->target.path);
    sink->hash = XXH3_createState();
    if (!sink->path || !sink->hash || XXH3_64bits_reset(sink->hash) != XXH_OK)
        return lap_write_errno(err, relative, "write", ENOMEM);
    lap_code code = lap_target_enter(&sink->target, &folder, err);
    if (code != LAP_OK)
        return code;
    if (fstatat(folder, sink->target.name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode))
        replace(sink, folder, &old);
    if (!lap_temp_create(folder, sink->path, &sink->temp, &sink->fd))
        code = lap_write_errno(err, sink->path, "create a file in its folder", errno);
    lap_target_leave(&sink->target, folder);
    return code;
}

static lap_code open_sink(
    const lap_tree *tree, const char *path, const lap_control *control, lap_sink **sink, lap_error *err)
{
    *sink = NULL;
    lap_sink *made = calloc(1, sizeof *made);
    if (!made)
        return lap_write_errno(err, path, "write", ENOMEM);
    made->fd = made->target.folder = made->temp.held = -1;
    made->control = control;
    double began = lap_now_ms();
    lap_code code = tree ? open_below(made, tree, path, err) : open_target(made, path, err);
    made->ms = made->opening_ms = lap_now_ms() - began;
    if (code != LAP_OK) {
        lap_sink_close(made);
        return code;
    }
    *sink = made;
    return LAP_OK;
}

lap_code lap_sink_open(const char *path, const lap_control *control, lap_sink **sink, lap_error *err)
{
    return open_sink(NULL, path, control, sink, err);
}

lap_code lap_sink_open_below(const lap_tree *tree, const char *relative, lap_sink **sink, lap_error *err)
{
    return open_sink(tree, relative, NULL, sink, err);
}

lap_code lap_sink_memory(lap_sink **sink, lap_error *err)
{
    *sink = calloc(1, sizeof **sink);
    if (!*sink)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    (*sink)->fd = (*sink)->target.folder = (*sink)->temp.held = -1;
    (*sink)->memory = true;
    return LAP_OK;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Waits until the descriptor can be written. */
static lap_code wait_writable(const lap_sink *sink, lap_error *err)
{
    struct pollfd wait = {.fd = sink->fd, .events = POLLOUT};
    for (int ready = 0; ready <= 0;) {
        lap_error why;
        if (lap_control_check(sink->control, &why) != LAP_OK)
            return stopped(sink->path, &why, err);
        ready = poll(&wait, 1, sink->control ? WATCH_MS : -1);
        if (ready < 0 && errno != EINTR)
            return lap_write_errno(err, sink->path, "write", errno);
    }
    return LAP_OK;
}

static lap_code write_all(lap_sink *sink, const uint8_t *bytes, size_t size, lap_error *err)
{
    double began = lap_now_ms();
    lap_code code = LAP_OK;
    if (sink->hash)
        (void)XXH3_64bits_update(sink->hash, bytes, size); /* fails only for NULL */
    while (size > 0 && code == LAP_OK) {
        if (sink->blocks)
            code = wait_writable(sink, err);
        if (code != LAP_OK)
            break;
        /* If poll reports room, a pipe accepts PIPE_BUF bytes without blocking. */
        ssize_t wrote = write(sink->fd, bytes, sink->blocks && size > PIPE_BUF ? PIPE_BUF : size);
        if (wrote > 0) {
            bytes += wrote;
            size -= (size_t)wrote;
        } else if (wrote == 0) { /* no retry: the device may never accept a byte */
            code = lap_write_errno(err, sink->path, "write", EIO);
        } else if (errno == EAGAIN) { /* opened non-blocking, or made so by another process */
            code = wait_writable(sink, err);
        } else if (errno != EINTR) {
            code = lap_write_errno(err, sink->path, "write", errno);
        }
    }
    sink->broken |= code != LAP_OK;
    sink->ms += lap_now_ms() - began;
    return code;
}

static lap_code flush(lap_sink *sink, lap_error *err)
{
    size_t size = sink->used;
    sink->used = 0;
    return write_all(sink, sink->buffer, size, err);
}

lap_code lap_sink_reserve(lap_sink *sink, size_t size, lap_error *err)
{
    size_t need;
    if (!sink->memory)
        return LAP_OK;
    if (!lap_add(sink->used, size, &need))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    uint8_t *grown = lap_grow(sink->buffer, &sink->capacity, need, 1);
    if (!grown)
        return lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes for the output", need);
    sink->buffer = grown;
    return LAP_OK;
}

/* Makes room in the buffer, if necessary by writing it out. Pieces larger than the buffer are written
 * directly. */
static lap_code make_room(lap_sink *sink, size_t size, lap_error *err)
{
    if (sink->memory) /* more small writes usually follow */
        return lap_sink_reserve(sink, sink->used == 0 && size < GATHER ? GATHER : size, err);
    if (!sink->buffer) {
        sink->buffer = malloc(GATHER);
        if (!sink->buffer)
            return lap_write_errno(err, sink->path, "write", ENOMEM);
        sink->capacity = GATHER;
    }
    return size > sink->capacity - sink->used ? flush(sink, err) : LAP_OK;
}

lap_code lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err)
{
    if (size == 0)
        return LAP_OK;
    lap_code code = size > sink->capacity - sink->used ? make_room(sink, size, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    if (size <= sink->capacity - sink->used) {
        memcpy(sink->buffer + sink->used, bytes, size);
        sink->used += size;
    } else {
        code = write_all(sink, bytes, size, err);
    }
    if (code == LAP_OK)
        sink->bytes += size;
    return code;
}

/* ---- finishing and publishing ----------------------------------------------------------------- */

void lap_sink_inherit(lap_sink *sink, const struct stat *replaced)
{
    sink->replaced = *replaced;
}

/* Adds a sentence about what could not be kept. */
__attribute__((format(printf, 2, 3))) static void lose(lap_sink *sink, const char *format, ...)
{
    const size_t used = strlen(sink->lost);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0)
        snprintf(sink->lost + used, sizeof sink->lost - used, "; ");
    const size_t from = strlen(sink->lost);
    vsnprintf(sink->lost + from, sizeof sink->lost - from, format, arguments);
    va_end(arguments);
}

/* Gives the file the owner and the group of the file to replace. Only root may give a file away; other users
 * can only keep a group that they belong to. */
static lap_code keep_owner(lap_sink *sink, bool *keeps_group, lap_error *err)
{
    const struct stat *old = &sink->replaced;
    struct stat now;
    *keeps_group = true;
    if (!old->st_mode)
        return LAP_OK;
    if (fstat(sink->fd, &now) != 0)
        return lap_write_errno(err, sink->path, "look at the finished file", errno);
    if ((now.st_uid == old->st_uid && now.st_gid == old->st_gid) ||
        fchown(sink->fd, old->st_uid, old->st_gid) == 0)
        return LAP_OK;
    if (errno == EIO)
        return lap_write_errno(err, sink->path, "set the owner", errno);
    *keeps_group = now.st_gid == old->st_gid || fchown(sink->fd, (uid_t)-1, old->st_gid) == 0;
    const unsigned uid = (unsigned)old->st_uid, gid = (unsigned)old->st_gid;
    if (*keeps_group)
        lose(sink, "the owner cannot be kept: user %u", uid);
    else if (now.st_uid == old->st_uid)
        lose(sink, "the group cannot be kept: %u", gid);
    else
        lose(sink, "owner and group cannot be kept: user %u, group %u", uid, gid);
    return LAP_OK;
}

static lap_code set_rights_times(lap_sink *sink, const lap_like *like, lap_error *err)
{
    const mode_t old = sink->replaced.st_mode & 0777;
    bool keeps_group, is_lost = false;
    const lap_code code = keep_owner(sink, &keeps_group, err);
    if (code != LAP_OK)
        return code;
    int why;
    if (like || old) {
        lap_acl acl = like ? lap_acl_of(like->fd) : sink->acl;
        why = lap_acl_give(sink->fd, &acl, like ? like->stat->st_mode & 0777 : old, keeps_group, &is_lost);
        if (like)
            lap_acl_free(&acl);
    } else {
        why = fchmod(sink->fd, default_mode()) == 0 ? 0 : errno;
    }
    /* Some file systems (FAT) have no modes: an error only if one was requested. EIO is always an error. */
    if (why && (like || why == EIO))
        return lap_write_errno(err, sink->path, "set the mode", why);
    if (is_lost)
        lose(sink, "the access control list cannot be kept");
    if (like) {
        const struct timespec times[2] = {like->stat->st_atim, like->stat->st_mtim};
        if (futimens(sink->fd, times) != 0)
            return lap_write_errno(err, sink->path, "set the time", errno);
    }
    return LAP_OK;
}

lap_code lap_sink_finish(lap_sink *sink, bool sync, const lap_like *like, lap_error *err)
{
    if (sink->memory)
        return LAP_OK;
    if (sink->broken || sink->fd < 0)
        return lap_fail_at(err, LAP_E_WRITE, sink->path, "an earlier write failed");
    lap_code code = flush(sink, err);
    double began = lap_now_ms();
    sink->sync = sync;
    if (code == LAP_OK && sink->temp.name)
        code = set_rights_times(sink, like, err);
    /* fsync fails for pipes and terminals: not an error. */
    if (code == LAP_OK && sync && fsync(sink->fd) != 0 &&
        (sink->temp.name || (errno != EINVAL && errno != EROFS)))
        code = lap_write_errno(err, sink->path, "sync", errno);
    if (code == LAP_OK && sink->temp.name && fstat(sink->fd, &sink->made) != 0)
        code = lap_write_errno(err, sink->path, "look at the finished file", errno);
    int closed = close(sink->fd);
    sink->fd = -1;
    if (code == LAP_OK && closed != 0 && errno != EINTR) /* Linux closes even if interrupted */
        code = lap_write_errno(err, sink->path, "close", errno);
    free(sink->buffer); /* finished files may wait long for their group's sync */
    sink->buffer = NULL;
    if (sink->hash)
        sink->content = XXH3_64bits_digest(sink->hash);
    XXH3_freeState(sink->hash);
    sink->hash = NULL;
    sink->whole = code == LAP_OK;
    sink->ms += lap_now_ms() - began;
    return code;
}

static lap_code sync_folder(const lap_sink *sink, int folder, lap_error *err)
{
    lap_code code = LAP_OK;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Not an error: a folder that may be written but not read, or a file system without folder sync. */
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        code = lap_write_errno(err, sink->path, "sync its folder", errno);
    if (fd >= 0)
        close(fd);
    return code;
}

void lap_sink_expect(lap_sink *sink, const struct stat *there)
{
    sink->over = there ? LAP_OVER_SEEN : LAP_OVER_NOTHING;
    if (there)
        sink->seen = *there;
}

lap_code lap_sink_publish(lap_sink *sink, lap_error *err)
{
    int folder;
    if (!sink->temp.name)
        return LAP_OK;
    if (!sink->whole)
        return lap_fail_at(err, LAP_E_INTERNAL, sink->path, "published before it was complete");
    double began = lap_now_ms();
    lap_code code = lap_target_enter(&sink->target, &folder, err);
    if (code == LAP_OK) {
        code = lap_target_publish(&sink->target, folder, sink->temp.name, sink->over, &sink->seen, err);
        if (code == LAP_OK)
            lap_temp_forget(&sink->temp);
        if (code == LAP_OK && sink->sync)
            code = sync_folder(sink, folder, err);
        lap_target_leave(&sink->target, folder);
    }
    sink->ms += lap_now_ms() - began;
    return code;
}

void lap_sink_close(lap_sink *sink)
{
    if (!sink)
        return;
    if (sink->fd >= 0)
        close(sink->fd);
    int folder;
    if (sink->temp.name && lap_target_enter(&sink->target, &folder, NULL) == LAP_OK) {
        (void)unlinkat(folder, sink->temp.name, 0);
        lap_target_leave(&sink->target, folder);
    }
    lap_target_free(&sink->target);
    lap_acl_free(&sink->acl);
    XXH3_freeState(sink->hash);
    lap_temp_forget(&sink->temp);
    free(sink->path);
    free(sink->buffer);
    free(sink);
}

void lap_sink_take(lap_sink *sink, void **bytes, size_t *size)
{
    *bytes = sink->buffer;
    *size = sink->used;
    sink->buffer = NULL;
    sink->used = sink->capacity = 0;
}

uint64_t lap_sink_bytes(const lap_sink *sink)
{
    return sink->bytes;
}

const char *lap_sink_lost(const lap_sink *sink)
{
    return sink->lost;
}

const lap_target *lap_sink_target(const lap_sink *sink)
{
    return &sink->target;
}

const struct stat *lap_sink_made(const lap_sink *sink, uint64_t *content)
{
    *content = sink->content;
    return &sink->made;
}

double lap_sink_ms(const lap_sink *sink)
{
    return sink->ms;
}

double lap_sink_opening_ms(const lap_sink *sink)
{
    return sink->opening_ms;
}
