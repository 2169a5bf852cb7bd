#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "io/sink_state.h"
#include "io/sink_temp.h"

/* Headers and rows are gathered to this size; longer pieces go straight to write(2). */
enum { GATHER = 64 * 1024 };

/* ---- writing ---------------------------------------------------------------------------------- */

static lap_code write_all(lap_sink *sink, const uint8_t *bytes, size_t size, lap_error *err)
{
    double began = lap_now_ms();
    lap_code code = LAP_OK;
    if (sink->hash)
        (void)XXH3_64bits_update(sink->hash, bytes, size); /* fails for NULL alone */
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
    size_t need;
    if (!lap_add(sink->used, size, &need))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    uint8_t *grown = lap_grow(sink->buffer, &sink->capacity, need < GATHER ? GATHER : need, 1);
    if (!grown)
        return lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes for the output", need);
    sink->buffer = grown;
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
    mode_t mode = like ? like->st_mode & 0777 : sink->mode ? sink->mode : lap_sink_default_mode();
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
    if (code == LAP_OK && sink->temp && fstat(sink->fd, &sink->made) != 0)
        code = lap_write_errno(err, sink->path, "look at the finished file", errno);
    int closed = close(sink->fd);
    sink->fd = -1;
    if (code == LAP_OK && closed != 0 && errno != EINTR) /* on Linux an interrupted close has closed */
        code = lap_write_errno(err, sink->path, "close", errno);
    free(sink->buffer); /* a group of finished files may wait for its common sync */
    sink->buffer = NULL;
    sink->used = sink->capacity = 0;
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
    /* A folder that may be written but not read, or a file system without folder sync: no failure. */
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
    if (!sink->temp)
        return LAP_OK;
    if (!sink->whole)
        return lap_fail_at(err, LAP_E_INTERNAL, sink->path, "published before it was whole");
    double began = lap_now_ms();
    lap_code code = lap_place_enter(&sink->place, &folder, err);
    if (code == LAP_OK) {
        code = lap_place_publish(&sink->place, folder, sink->temp, sink->over, &sink->seen, err);
        if (code == LAP_OK) {
            free(sink->temp);
            sink->temp = NULL;
        }
        if (code == LAP_OK && sink->sync)
            code = sync_folder(sink, folder, err);
        lap_place_leave(&sink->place, folder);
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
    if (sink->temp && lap_place_enter(&sink->place, &folder, NULL) == LAP_OK) {
        (void)unlinkat(folder, sink->temp, 0);
        lap_place_leave(&sink->place, folder);
    }
    lap_place_free(&sink->place);
    XXH3_freeState(sink->hash);
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

const lap_place *lap_sink_place(const lap_sink *sink)
{
    return &sink->place;
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
