#include "io/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink.h"
#include "io/sink_temp.h"

char *lap_real_name(const char *path)
{
    char *target = lap_temp_resolve(path), *name = target ? realpath(target, NULL) : NULL;
    if (name || !target) {
        free(target);
        return name;
    }
    size_t length = strlen(target);
    while (length > 1 && target[length - 1] == '/')
        target[--length] = 0;
    const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
    char *folder = lap_temp_folder(target);
    /* The recursion ends, since "." and "/" always exist. */
    char *above = folder && strcmp(folder, target) != 0 ? lap_real_name(folder) : NULL;
    if (above && asprintf(&name, "%s/%s", strcmp(above, "/") == 0 ? "" : above, base) < 0)
        name = NULL;
    free(above);
    free(folder);
    free(target);
    return name;
}

lap_code lap_side_look(const char *path, lap_side *side, lap_error *err)
{
    struct stat st;
    *side = (lap_side){.path = path, .name = lap_real_name(path)};
    if (!side->name)
        return lap_write_errno(err, path, "write", errno);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        side->is_file = true;
        side->device = st.st_dev;
        side->inode = st.st_ino;
    }
    return LAP_OK;
}

void lap_side_free(lap_side *side)
{
    free(side->name);
    *side = (lap_side){0};
}

bool lap_side_is_file(const lap_side *side, const struct stat *st)
{
    return side->is_file && st->st_dev == side->device && st->st_ino == side->inode;
}

static bool is_same(const lap_side *side, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return (fstat(STDIN_FILENO, &st) == 0 && lap_side_is_file(side, &st)) ||
               (fstat(STDOUT_FILENO, &st) == 0 && lap_side_is_file(side, &st));
    if (stat(path, &st) == 0) /* only regular files clash: a device or a pipe may be named twice */
        return lap_side_is_file(side, &st);
    char *name = side->is_file ? NULL : lap_real_name(path);
    const bool same = name && side->name && strcmp(name, side->name) == 0;
    free(name);
    return same;
}

lap_code lap_side_lies_in(const char *path, const char *folder, bool *lies_in, lap_error *err)
{
    char *name = lap_real_name(path), *around = name ? lap_real_name(folder) : NULL;
    size_t length = around ? strlen(around) : 0;
    length -= length == 1; /* the root */
    *lies_in = around && strncmp(name, around, length) == 0 && name[length] == '/';
    const lap_code code = around ? LAP_OK
                                 : lap_fail_at(err, LAP_E_WRITE, name ? folder : path,
                                       "cannot be reached: %s", strerror(errno));
    free(name);
    free(around);
    return code;
}

lap_code lap_side_check(const char *path, const char *const *others, size_t count, lap_error *err)
{
    lap_side side;
    lap_code code = lap_side_look(path, &side, err);
    for (size_t i = 0; i < count && code == LAP_OK; i++)
        if (others[i] && others[i][0] && is_same(&side, others[i]))
            code = lap_fail_at(err, LAP_E_CLASH, path, "is the same file as %s", others[i]);
    lap_side_free(&side);
    return code;
}

lap_code lap_side_reach(const char *path, lap_error *err)
{
    return lap_sink_check(path, err);
}

static bool is_fifo(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static lap_code without_reader(const char *path, lap_code code, lap_error *err)
{
    return code == LAP_E_TIMEOUT ? lap_fail_at(err, LAP_E_WRITE, path, "no process reads this FIFO") : code;
}

lap_code lap_side_await_reader(const char *path, double seconds, lap_error *err)
{
    const lap_control control = {.deadline_ms = lap_now_ms() + 1e3 * seconds};
    int fd; /* stays open */
    return is_fifo(path) ? without_reader(path, lap_sink_open_fifo(path, &control, &fd, err), err) : LAP_OK;
}

lap_code lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err)
{
    lap_control control = {.deadline_ms = lap_now_ms()};
    lap_sink *sink = NULL;
    lap_code code = lap_sink_open(path, is_fifo(path) ? &control : NULL, &sink, err);
    code = without_reader(path, code, err);
    control.deadline_ms = 0; /* a reader may be slow */
    if (code == LAP_OK)
        code = lap_sink_write(sink, bytes, size, err);
    if (code == LAP_OK)
        code = lap_sink_finish(sink, sync, NULL, err);
    if (code == LAP_OK)
        code = lap_sink_publish(sink, err);
    lap_sink_close(sink);
    return code;
}
