#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "status.h"

bool lap_batch_output_name(const lap_settings *settings, const char *relative, char *name, size_t size)
{
    if (!settings->format)
        return snprintf(name, size, "%s", relative) < (int)size;
    const char *slash = strrchr(relative, '/'), *dot = strrchr(relative, '.');
    const char *base = slash ? slash + 1 : relative;
    int stem = (int)(dot && dot > base ? dot - relative : (long)strlen(relative));
    return snprintf(name, size, "%.*s.%s", stem, relative, settings->format) < (int)size;
}

static lap_code make_folders(char *path, lap_error *err)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char kept = *p;
        *p = 0;
        int rc = mkdir(path, 0777), why = errno;
        struct stat st;
        if (rc && (stat(path, &st) || !S_ISDIR(st.st_mode)))
            return lap_fail(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE, "%.400s: %s",
                path, why == EEXIST ? "is not a folder" : strerror(why));
        *p = kept;
        if (!kept)
            return LAP_OK;
    }
}

lap_code lap_batch_make_folder(batch *b, const char *output, lap_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(output, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - output), output);
    if (!strcmp(folder, b->last_folder))
        return LAP_OK;
    lap_code code = make_folders(folder, err);
    if (code != LAP_OK)
        return code;
    lap_sink_sweep(folder);
    memcpy(b->last_folder, folder, strlen(folder) + 1);
    return LAP_OK;
}

lap_code lap_batch_make_out_dir(const char *out_dir, lap_error *err)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", out_dir) >= (int)sizeof path)
        return lap_fail(err, LAP_E_WRITE, "%.300s: this path is too long", out_dir);
    lap_code code = make_folders(path, err);
    if (code == LAP_OK && access(out_dir, W_OK | X_OK))
        code = lap_fail(err, LAP_E_WRITE, "%.300s: %s", out_dir, strerror(errno));
    return code;
}

lap_code lap_batch_check_operands(const lap_batch_options *options, lap_error *err)
{
    struct stat out, in;
    bool has_out = !stat(options->out_dir, &out);
    for (size_t i = 0; i < options->input_count; i++) {
        const char *path = options->inputs[i];
        if (stat(path, &in)) {
            if (options->input_count == 1)
                return lap_fail(err, errno == ENOENT || errno == ENOTDIR ? LAP_E_MISSING : LAP_E_UNREADABLE,
                    "%.300s: %s", path, strerror(errno));
        } else if (has_out && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            return lap_fail(
                err, LAP_E_USAGE, "%.300s is the input and the output folder; name another one", path);
        }
    }
    return LAP_OK;
}

lap_code lap_batch_read_list(const lap_batch_options *options, char **list, size_t *size, lap_error *err)
{
    size_t capacity = 0, used = 0;
    char *bytes = NULL;
    *list = NULL;
    *size = 0;
    if (!options->files_from)
        return LAP_OK;
    bool standard = !strcmp(options->files_from, "-");
    FILE *file = standard ? stdin : fopen(options->files_from, "re");
    if (!file)
        return lap_fail(err, errno == ENOENT ? LAP_E_MISSING : LAP_E_UNREADABLE, "%.300s: %s",
            options->files_from, strerror(errno));
    for (size_t got = 1; got;) {
        if (used == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(bytes, capacity);
            if (!grown)
                break;
            bytes = grown;
        }
        used += got = fread(bytes + used, 1, capacity - used, file);
    }
    lap_code code = LAP_OK;
    if (ferror(file))
        code = lap_fail(err, LAP_E_UNREADABLE, "%.300s: %s", options->files_from, strerror(errno));
    else if (!feof(file))
        code = lap_fail(err, LAP_E_MEMORY, "%.300s: out of memory for this list", options->files_from);
    if (!standard)
        fclose(file);
    if (code == LAP_OK) {
        *list = bytes ? bytes : calloc(1, 1);
        *size = used;
    } else {
        free(bytes);
    }
    return code;
}
