/* Checks of an output before anything is created. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink.h"
#include "io/sink_temp.h"

lap_code lap_write_errno(lap_error *err, const char *path, const char *what, int why)
{
    const lap_code code = why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL
                          : why == ENOMEM                ? LAP_E_MEMORY
                                                         : LAP_E_WRITE;
    /* EFBIG is not LAP_E_DISK_FULL: a smaller file may still be written. */
    const char *more =
        why == EFBIG ? "; the file size limit is that of the process, or of the file system" : "";
    return lap_fail_at(err, code, path, "cannot %s: %s%s", what, strerror(why), more);
}

/* Stats a path, or the standard descriptor for "-". */
static bool look(const char *path, int standard, struct stat *st)
{
    return strcmp(path, "-") == 0 ? fstat(standard, st) == 0 : stat(path, st) == 0;
}

lap_code lap_sink_differs(const char *in, const char *out, lap_error *err)
{
    struct stat a, b;
    const bool is_stream = strcmp(in, "-") == 0 || strcmp(out, "-") == 0;
    if (!look(in, STDIN_FILENO, &a) || !look(out, STDOUT_FILENO, &b) || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino || (is_stream && !S_ISREG(a.st_mode))) /* a terminal may be both */
        return LAP_OK;
    const lap_code code = lap_fail_at(
        err, LAP_E_CLASH, strcmp(out, "-") == 0 ? "standard output" : out, "is the input file itself");
    return lap_error_remedy(err, code, LAP_REMEDY_IN_PLACE);
}

lap_code lap_sink_exists(const char *out, lap_error *err)
{
    return lap_error_remedy(
        err, lap_fail_at(err, LAP_E_EXISTS, out, "exists and is left alone"), LAP_REMEDY_CLOBBER);
}

lap_code lap_sink_look(const char *path, struct stat *there, lap_error *err)
{
    const size_t length = strlen(path);
    if (stat(path, there) != 0)
        *there = (struct stat){0};
    if (S_ISDIR(there->st_mode) || length == 0 || path[length - 1] == '/')
        return lap_fail_at(err, LAP_E_WRITE, path, "cannot write: a folder, not a file");
    return LAP_OK;
}

lap_code lap_sink_check(const char *path, lap_error *err)
{
    struct stat old;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strncmp(path, "/dev/fd/", 8) == 0)
        return LAP_OK;
    lap_code code = lap_sink_look(path, &old, err);
    if (code != LAP_OK)
        return code;
    if (old.st_mode && !S_ISREG(old.st_mode))
        return access(path, W_OK) != 0 ? lap_write_errno(err, path, "open", errno) : LAP_OK;
    char *target = lap_temp_resolve(path), *folder = target ? lap_temp_folder(target) : NULL;
    if (!folder)
        code = lap_write_errno(err, path, "write", errno);
    else if (access(folder, W_OK | X_OK) != 0)
        code = lap_write_errno(err, path, "create a file in its folder", errno);
    free(folder);
    free(target);
    return code;
}
