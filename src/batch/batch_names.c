#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/batch.h"
#include "io/sink_temp.h"
#include "lapedge_program.h"
#include "run/formats.h"

bool lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size)
{
    const char *slash = strrchr(relative, '/');
    if (options->flat && slash)
        relative = slash + 1;
    const char *base = slash ? slash + 1 : relative, *dot = strrchr(base, '.');
    if (!dot || dot == base)
        dot = base + strlen(base);
    const char *format = settings->format;
    return snprintf(name, size, "%.*s%s%s%s", (int)(dot - relative), relative,
               options->suffix ? options->suffix : "", format ? "." : "", format ? format : dot) < (int)size;
}

bool lap_batch_output_path(const batch *b, const char *relative, char *path, size_t size)
{
    const char *folder = b->options->out_dir;
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        length--;
    return snprintf(path, size, "%.*s/%s", (int)length, folder, relative) < (int)size;
}

lap_code lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err)
{
    const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output, *dot = strrchr(base, '.');
    if (settings->format || lap_format_of_path(output) || !dot || dot == base || !dot[1])
        return LAP_OK;
    const lap_code code = lap_fail_at(err, LAP_E_USAGE, input,
        "the extension of its output, %.40s, names no known format (jpg jpeg png bmp tga ppm pgm tsv)", dot);
    return lap_error_remedy(err, code, LAP_REMEDY_FORMAT);
}

uint64_t lap_batch_key(const char *relative)
{
    return lap_map64_name_key(relative);
}

uint64_t lap_batch_inode(const struct stat *st)
{
    const uint64_t id[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
    return lap_map64_key(id, sizeof id);
}

bool lap_batch_is_ours(const batch *b, const char *relative)
{
    return b->shards <= 1 || lap_batch_key(relative) % b->shards == b->options->shard;
}

/* Calls mkdir. In a dry run, sets errno as mkdir would, as far as that can be known without making the
 * folder. */
static int try_mkdir(const char *path, bool dry_run)
{
    char copy[PATH_MAX];
    struct stat st;
    if (!dry_run)
        return mkdir(path, 0777);
    if (lstat(path, &st) == 0)
        return errno = EEXIST, -1;
    return errno != ENOENT ? -1 : access(dirname(strcpy(copy, path)), W_OK | X_OK);
}

/* Reports why a folder could not be made. If its parent folder cannot be searched, the folder may exist, so
 * the message names the parent. */
static lap_code fail_making(const char *path, int why, lap_error *err)
{
    char copy[PATH_MAX];
    const char *around = dirname(strcpy(copy, path));
    if (why == EACCES && access(around, X_OK) != 0)
        return lap_fail_at(err, LAP_E_WRITE, around, "cannot search this folder: %s", strerror(why));
    return lap_fail_at(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE, path, "%s%s",
        why == EEXIST ? "is not a folder" : "cannot create this folder: ",
        why == EEXIST ? "" : strerror(why));
}

static lap_code make_folders(char *path, bool dry_run, lap_error *err)
{
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char kept = *p;
        *p = 0;
        int rc = try_mkdir(path, dry_run), why = errno;
        if (rc == 0 && dry_run)
            return LAP_OK; /* a run could make the folders below, too */
        struct stat st;
        const bool seen = !rc || stat(path, &st) == 0;
        if (!seen && why == EEXIST)
            return lap_fail_at(err, LAP_E_WRITE, path, "%s%s",
                errno == ENOENT ? "a broken symbolic link: " : "", strerror(errno));
        if (rc && !(seen && S_ISDIR(st.st_mode)))
            return fail_making(path, why, err);
        *p = kept;
        if (!kept)
            return LAP_OK;
    }
}

/* State of a folder in b->folders. */
enum { SWEPT = 1, MADE = 2, APART = 4, TOLD = 8 };

static uint64_t folder_key(const char *relative)
{
    const char *slash = strrchr(relative, '/');
    return lap_map64_key(relative, slash ? (size_t)(slash - relative) : 0);
}

lap_code lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err)
{
    int folder;
    if (lap_map64_find(&b->folders, folder_key(relative)))
        return LAP_OK;
    if (lap_tree_enter(&b->tree, relative, false, &folder, NULL) == LAP_OK) {
        lap_temp_sweep(folder);
        lap_tree_leave(&b->tree, folder);
    }
    return lap_map64_put(&b->folders, folder_key(relative), SWEPT, err);
}

lap_code lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err)
{
    struct stat here, root;
    int folder;
    uint64_t *known = lap_map64_find(&b->folders, folder_key(relative));
    if (!known || !(*known & MADE)) {
        lap_code code = lap_tree_enter(&b->tree, relative, true, &folder, err);
        if (code != LAP_OK)
            return code;
        bool far = fstat(folder, &here) || fstat(b->tree.fd, &root) || here.st_dev != root.st_dev;
        lap_tree_leave(&b->tree, folder);
        code = lap_map64_put(&b->folders, folder_key(relative), SWEPT | MADE | (far ? APART : 0), err);
        if (code != LAP_OK)
            return code;
        known = lap_map64_find(&b->folders, folder_key(relative));
    }
    *apart = *known & APART;
    return LAP_OK;
}

static lap_code fail_creating(const char *folder, int why, lap_error *err)
{
    return lap_fail_at(err, LAP_E_WRITE, folder, "cannot create files in this folder: %s", strerror(why));
}

/* Checks whether files can be created in a folder. A missing permission is only stored in *unwritable,
 * because it matters only if something is to be written; any other error is returned. */
static lap_code check_writable(const char *folder, lap_error *unwritable, lap_error *err)
{
    if (access(folder, W_OK | X_OK) == 0)
        return LAP_OK;
    const bool is_denied = errno == EACCES || errno == EPERM || errno == EROFS;
    const lap_code code = fail_creating(folder, errno, unwritable);
    if (is_denied)
        return LAP_OK;
    (void)lap_error_set(err, unwritable);
    return code;
}

/* Opens the innermost existing folder of an output, and shortens relative to a name in it. False: no folder
 * below the output folder exists, or it cannot be opened, which lap_batch_judge has reported. */
static bool enter_innermost(const batch *b, char *relative, int *folder)
{
    lap_error why;
    lap_code code = LAP_E_MISSING;
    for (char *slash; code == LAP_E_MISSING && (slash = strrchr(relative, '/'));) {
        code = lap_tree_enter(&b->tree, relative, false, folder, &why);
        *slash = code == LAP_E_MISSING ? '\0' : *slash;
    }
    return code == LAP_OK;
}

lap_code lap_batch_foresee_folder(batch *b, const char *relative, lap_error *unwritable, lap_error *err)
{
    char below[PATH_MAX], shown[PATH_MAX];
    int folder;
    *unwritable = (lap_error){0};
    snprintf(below, sizeof below, "%s", relative);
    if (!enter_innermost(b, below, &folder))
        return LAP_OK;
    const int why = faccessat(folder, ".", W_OK | X_OK, 0) == 0 ? 0 : errno;
    lap_tree_leave(&b->tree, folder);
    const uint64_t key = folder_key(below);
    if (!why || lap_map64_find(&b->folders, key))
        return LAP_OK;
    if (lap_batch_output_path(b, below, shown, sizeof shown))
        (void)fail_creating(dirname(shown), why, unwritable);
    return lap_map64_put(&b->folders, key, TOLD, err);
}

lap_code lap_batch_make_out_dir(const char *out_dir, bool dry_run, lap_error *unwritable, lap_error *err)
{
    char path[PATH_MAX];
    *unwritable = (lap_error){0};
    if (snprintf(path, sizeof path, "%s", out_dir) >= (int)sizeof path)
        return lap_fail_at(err, LAP_E_WRITE, out_dir, "this path is too long");
    lap_code code = make_folders(path, dry_run, err);
    struct stat st;
    if (code == LAP_OK && !(dry_run && stat(out_dir, &st) != 0 && errno == ENOENT))
        code = check_writable(out_dir, unwritable, err);
    /* Report this now rather than after the first group of files. If .lapedge is a link, the manifest reports
     * that. */
    if (code == LAP_OK && snprintf(path, sizeof path, "%s/.lapedge", out_dir) < (int)sizeof path &&
        lstat(path, &st) == 0 && !S_ISLNK(st.st_mode)) {
        if (!S_ISDIR(st.st_mode))
            code =
                lap_fail_at(err, LAP_E_WRITE, path, "is not a folder, and lapedge keeps its records there");
        else if (unwritable->code == LAP_OK)
            code = check_writable(path, unwritable, err);
    }
    return code;
}

lap_code lap_batch_around(const lap_batch_options *options, const char **around, lap_error *err)
{
    lap_code code = LAP_OK;
    *around = NULL;
    for (size_t i = 0; i < options->input_count && !*around && code == LAP_OK; i++) {
        struct stat st;
        bool lies_in = false;
        if (stat(options->inputs[i], &st) == 0 && S_ISDIR(st.st_mode))
            code = lap_side_lies_in(options->out_dir, options->inputs[i], &lies_in, err);
        if (lies_in)
            *around = options->inputs[i];
    }
    return code;
}

/* Whether a named file would be its own output. */
static bool is_own_output(
    const lap_batch_options *options, const lap_settings *settings, const char *path, const struct stat *in)
{
    char name[PATH_MAX], output[PATH_MAX];
    struct stat there;
    const char *slash = strrchr(path, '/');
    return S_ISREG(in->st_mode) &&
           lap_batch_output_name(options, settings, slash ? slash + 1 : path, name, sizeof name) &&
           snprintf(output, sizeof output, "%s/%s", options->out_dir, name) < (int)sizeof output &&
           !stat(output, &there) && there.st_dev == in->st_dev && there.st_ino == in->st_ino;
}

/* Reports errno. */
static lap_code fail_opening(const char *path, lap_error *err)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return lap_fail_missing(err, path);
    return lap_fail_at(err, LAP_E_UNREADABLE, path, "cannot be examined: %s", strerror(errno));
}

lap_code lap_batch_check_operands(
    const lap_batch_options *options, const lap_settings *settings, lap_error *err)
{
    struct stat out, in;
    if (!options->out_dir)
        return lap_fail(err, LAP_E_USAGE, "the output folder is missing");
    bool has_out = !stat(options->out_dir, &out);
    for (size_t i = 0; i < options->input_count; i++) {
        const char *path = options->inputs[i];
        if (stat(path, &in)) {
            if (options->input_count == 1)
                return fail_opening(path, err);
        } else if (has_out && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            return lap_fail_at(
                err, LAP_E_USAGE, path, "is the input and the output folder; name another one");
        } else if (options->input_count == 1 && is_own_output(options, settings, path, &in)) {
            lap_fail_at(err, LAP_E_USAGE, path, "would be its own output");
            return lap_error_remedy(err, LAP_E_USAGE, LAP_REMEDY_OTHER_FOLDER);
        }
    }
    return LAP_OK;
}
