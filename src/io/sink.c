#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink_temp.h"

/* Headers and rows are gathered to this size; longer pieces go straight to write(2). */
enum { GATHER = 64 * 1024 };

struct lap_sink {
    int fd;      /* -1: memory, or closed */
    bool memory; /* the buffer is the output */
    char *path;  /* final name, links resolved; for messages else */
    char *temp;  /* NULL: written directly, or published */
    mode_t mode; /* of the file that is replaced; 0: there is none */
    bool broken; /* a write failed: never to be published */
    bool whole;  /* finished */
    bool sync;   /* asked for at finish */
    uint8_t *buffer;
    size_t used, capacity;
    uint64_t bytes;
    double ms;
};

static mode_t process_umask;

/* umask(2) can only be read by changing it, which other threads would see; so from /proc. */
static void read_umask(void)
{
    mode_t mask = 0;
    bool found = false;
    FILE *status = fopen("/proc/self/status", "re");
    if (status) {
        char line[256];
        while (!found && fgets(line, sizeof line, status)) {
            found = strncmp(line, "Umask:", 6) == 0;
            mask = found ? (mode_t)strtoul(line + 6, NULL, 8) : 0;
        }
        fclose(status);
    }
    if (!found) {
        mask = umask(077);
        umask(mask);
    }
    process_umask = mask & 0777;
}

static mode_t default_mode(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_umask);
    return 0666 & ~process_umask;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* The descriptor that "-", /dev/stdout or /dev/fd/N stands for; -1 for any other path. */
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

static lap_code open_target(lap_sink *sink, const char *path, lap_error *err)
{
    int given = named_descriptor(path);
    if (given >= 0) {
        sink->path = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
        if (!sink->path)
            return lap_write_errno(err, path, "write", ENOMEM);
        /* A copy, so that the error of close(2) can be seen and the caller's stays open. */
        sink->fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
        return sink->fd < 0 ? lap_write_errno(err, sink->path, "write", errno) : LAP_OK;
    }
    struct stat old;
    bool exists = stat(path, &old) == 0;
    size_t length = strlen(path);
    if ((exists && S_ISDIR(old.st_mode)) || length == 0 || path[length - 1] == '/')
        return lap_fail_at(err, LAP_E_WRITE, path, "cannot write: a folder, not a file");
    if (exists && !S_ISREG(old.st_mode)) {
        sink->path = strdup(path);
        sink->fd = sink->path ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1;
        return sink->fd < 0 ? lap_write_errno(err, path, "open", errno) : LAP_OK;
    }
    sink->path = lap_temp_resolve(path);
    if (!sink->path)
        return lap_write_errno(err, path, "write", errno);
    sink->mode = exists ? old.st_mode & 0777 : 0;
    sink->temp = lap_temp_create(sink->path, &sink->fd);
    return sink->temp ? LAP_OK : lap_write_errno(err, path, "create a file in its folder", errno);
}

lap_code lap_sink_open(const char *path, lap_sink **sink, lap_error *err)
{
    *sink = NULL;
    lap_sink *made = calloc(1, sizeof *made);
    if (!made)
        return lap_write_errno(err, path, "write", ENOMEM);
    made->fd = -1;
    double began = lap_now_ms();
    lap_code code = open_target(made, path, err);
    made->ms += lap_now_ms() - began;
    if (code != LAP_OK) {
        lap_sink_close(made);
        return code;
    }
    *sink = made;
    return LAP_OK;
}

lap_code lap_sink_memory(lap_sink **sink, lap_error *err)
{
    *sink = calloc(1, sizeof **sink);
    if (!*sink)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    (*sink)->fd = -1;
    (*sink)->memory = true;
    return LAP_OK;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static lap_code write_all(lap_sink *sink, const uint8_t *bytes, size_t size, lap_error *err)
{
    double began = lap_now_ms();
    lap_code code = LAP_OK;
    while (size > 0 && code == LAP_OK) {
        ssize_t wrote = write(sink->fd, bytes, size);
        if (wrote >= 0) {
            bytes += wrote;
            size -= (size_t)wrote;
        } else if (errno == EAGAIN) { /* a pipe or terminal that somebody made non-blocking */
            struct pollfd wait = {.fd = sink->fd, .events = POLLOUT};
            if (poll(&wait, 1, -1) < 0 && errno != EINTR)
                code = lap_write_errno(err, sink->path, "write", errno);
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

/* Room for size more bytes in the buffer of a memory sink, at least doubled. */
static lap_code reserve(lap_sink *sink, size_t size, lap_error *err)
{
    size_t need, doubled = 0;
    if (!lap_add(sink->used, size, &need))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    if (need <= sink->capacity)
        return LAP_OK;
    if (!lap_mul(sink->capacity, 2, &doubled) || doubled < need)
        doubled = need < GATHER ? GATHER : need;
    uint8_t *grown = realloc(sink->buffer, doubled);
    if (!grown)
        return lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes for the output", doubled);
    sink->buffer = grown;
    sink->capacity = doubled;
    return LAP_OK;
}

lap_code lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err)
{
    lap_code code = LAP_OK;
    if (size == 0)
        return LAP_OK;
    if (sink->memory) {
        code = reserve(sink, size, err);
    } else {
        if (!sink->buffer) {
            sink->buffer = malloc(GATHER);
            if (!sink->buffer)
                return lap_write_errno(err, sink->path, "write", ENOMEM);
            sink->capacity = GATHER;
        }
        if (size > sink->capacity - sink->used)
            code = flush(sink, err);
    }
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

/* ---- the end ---------------------------------------------------------------------------------- */

static lap_code set_mode_and_times(const lap_sink *sink, const struct stat *like, lap_error *err)
{
    mode_t mode = like ? like->st_mode & 0777 : sink->mode ? sink->mode : default_mode();
    /* Some file systems (FAT) have no modes: an error only where they were asked for. */
    if (fchmod(sink->fd, mode) != 0 && like)
        return lap_write_errno(err, sink->path, "set the mode", errno);
    if (like) {
        const struct timespec times[2] = {like->st_atim, like->st_mtim};
        if (futimens(sink->fd, times) != 0)
            return lap_write_errno(err, sink->path, "set the time", errno);
    }
    return LAP_OK;
}

lap_code lap_sink_finish(lap_sink *sink, bool sync, const struct stat *like, lap_error *err)
{
    if (sink->memory)
        return LAP_OK;
    if (sink->broken || sink->fd < 0)
        return lap_fail_at(err, LAP_E_WRITE, sink->path, "an earlier write failed");
    lap_code code = flush(sink, err);
    double began = lap_now_ms();
    sink->sync = sync;
    if (code == LAP_OK && sink->temp)
        code = set_mode_and_times(sink, like, err);
    /* Pipes and terminals cannot be synced, and say so. */
    if (code == LAP_OK && sync && fsync(sink->fd) != 0 && (sink->temp || (errno != EINVAL && errno != EROFS)))
        code = lap_write_errno(err, sink->path, "sync", errno);
    int closed = close(sink->fd);
    sink->fd = -1;
    if (code == LAP_OK && closed != 0 && errno != EINTR) /* on Linux an interrupted close has closed */
        code = lap_write_errno(err, sink->path, "close", errno);
    free(sink->buffer); /* a group of finished files may wait for its common sync */
    sink->buffer = NULL;
    sink->used = sink->capacity = 0;
    sink->whole = code == LAP_OK;
    sink->ms += lap_now_ms() - began;
    return code;
}

static lap_code sync_folder(const char *path, lap_error *err)
{
    lap_code code = LAP_OK;
    char *folder = lap_temp_folder(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    /* A folder that may be written but not read, or a file system without folder sync: no failure. */
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        code = lap_write_errno(err, path, "sync its folder", errno);
    if (fd >= 0)
        close(fd);
    free(folder);
    return code;
}

lap_code lap_sink_publish(lap_sink *sink, lap_error *err)
{
    if (!sink->temp)
        return LAP_OK;
    if (!sink->whole)
        return lap_fail_at(err, LAP_E_INTERNAL, sink->path, "published before it was whole");
    double began = lap_now_ms();
    lap_code code = LAP_OK;
    if (rename(sink->temp, sink->path) != 0) {
        code = lap_write_errno(err, sink->path, "rename the finished file to this name", errno);
    } else {
        free(sink->temp);
        sink->temp = NULL;
        if (sink->sync)
            code = sync_folder(sink->path, err);
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
    if (sink->temp)
        unlink(sink->temp);
    free(sink->temp);
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

double lap_sink_ms(const lap_sink *sink)
{
    return sink->ms;
}
