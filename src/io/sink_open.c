/* The ways to a sink: a path, a place below a tree, a descriptor, memory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink_state.h"
#include "io/sink_temp.h"

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

mode_t lap_sink_default_mode(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_umask);
    return 0666 & ~process_umask;
}

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
    sink->mode = exists ? old.st_mode & 0777 : 0;
    if (!lap_place_at(path, &sink->place))
        return lap_write_errno(err, path, "create a file in its folder", errno);
    sink->path = strdup(sink->place.path);
    sink->temp = sink->path ? lap_temp_create(sink->place.folder, &sink->fd) : NULL;
    return sink->temp ? LAP_OK : lap_write_errno(err, path, "create a file in its folder", errno);
}

static lap_code open_below(lap_sink *sink, const lap_tree *tree, const char *relative, lap_error *err)
{
    struct stat old;
    int folder = -1;
    if (!lap_place_below(tree, relative, &sink->place))
        return lap_write_errno(err, relative, "write", errno);
    sink->path = strdup(sink->place.path);
    sink->hash = XXH3_createState();
    if (!sink->path || !sink->hash || XXH3_64bits_reset(sink->hash) != XXH_OK)
        return lap_write_errno(err, relative, "write", ENOMEM);
    lap_code code = lap_place_enter(&sink->place, &folder, err);
    if (code != LAP_OK)
        return code;
    if (fstatat(folder, sink->place.name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode))
        sink->mode = old.st_mode & 0777;
    sink->temp = lap_temp_create(folder, &sink->fd);
    if (!sink->temp)
        code = lap_write_errno(err, sink->path, "create a file in its folder", errno);
    lap_place_leave(&sink->place, folder);
    return code;
}

static lap_code open_sink(const lap_tree *tree, const char *path, lap_sink **sink, lap_error *err)
{
    *sink = NULL;
    lap_sink *made = calloc(1, sizeof *made);
    if (!made)
        return lap_write_errno(err, path, "write", ENOMEM);
    made->fd = made->place.folder = -1;
    double began = lap_now_ms();
    lap_code code = tree ? open_below(made, tree, path, err) : open_target(made, path, err);
    made->ms += lap_now_ms() - began;
    if (code != LAP_OK) {
        lap_sink_close(made);
        return code;
    }
    *sink = made;
    return LAP_OK;
}

lap_code lap_sink_open(const char *path, lap_sink **sink, lap_error *err)
{
    return open_sink(NULL, path, sink, err);
}

lap_code lap_sink_open_below(const lap_tree *tree, const char *relative, lap_sink **sink, lap_error *err)
{
    return open_sink(tree, relative, sink, err);
}

lap_code lap_sink_memory(lap_sink **sink, lap_error *err)
{
    *sink = calloc(1, sizeof **sink);
    if (!*sink)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the output");
    (*sink)->fd = (*sink)->place.folder = -1;
    (*sink)->memory = true;
    return LAP_OK;
}
