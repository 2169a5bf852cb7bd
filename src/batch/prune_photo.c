#include "batch/prune_photo.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

/* ---- the folders of this run --------------------------------------------------------------------- */

/* Returns the absolute path, which the caller frees. Does not resolve links and "..". */
static char *from_root(const char *path)
{
    char here[PATH_MAX] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return NULL;
    char *whole = malloc(strlen(here) + strlen(path) + 2), *end = whole;
    if (!whole)
        return NULL;
    const char *const ways[] = {here, path};
    for (int i = 0; i < 2; i++)
        for (const char *step = ways[i]; *step; step += strcspn(step, "/")) {
            step += strspn(step, "/");
            const size_t length = strcspn(step, "/");
            if (length == 0 || (length == 1 && *step == '.'))
                continue;
            *end++ = '/';
            end = mempcpy(end, step, length);
        }
    *end = '\0';
    return whole;
}

/* Notes why an input cannot be examined; errno says it. */
static void refuse(lap_error *refused, const char *input)
{
    if (refused->code == LAP_OK)
        lap_fail_at(refused, LAP_E_UNREADABLE, input, "cannot be examined: %s", strerror(errno));
}

/* Examines an input that exists. False: no memory. */
static bool look_at_folder(const char *input, lap_prune_folder *folder, lap_error *refused)
{
    folder->name = from_root(input);
    if (!folder->name || lap_origin_look(input, &folder->origin))
        return folder->name != NULL;
    const bool has_memory = errno != ENOMEM;
    refuse(refused, input);
    return has_memory;
}

lap_code lap_prune_folders_look(
    lap_prune_folders *folders, const lap_batch_options *options, lap_error *refused, lap_error *err)
{
    struct stat st;
    bool has_folder = false;
    folders->options = options;
    folders->each = calloc(options->input_count + 1, sizeof *folders->each);
    bool has_memory = folders->each != NULL;
    for (size_t i = 0; has_memory && i < options->input_count; i++) {
        const bool is_there = stat(options->inputs[i], &st) == 0;
        if (!is_there && errno != ENOENT && errno != ENOTDIR)
            refuse(refused, options->inputs[i]);
        has_folder = has_folder || !is_there || S_ISDIR(st.st_mode); /* a missing input is reported later */
        if (is_there && S_ISDIR(st.st_mode))
            has_memory = look_at_folder(options->inputs[i], &folders->each[i], refused);
    }
    if (!has_memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    return has_folder ? LAP_OK
                      : lap_fail(err, LAP_E_USAGE,
                            "none of the inputs is a folder, and only photos of a folder can be gone");
}

void lap_prune_folders_free(lap_prune_folders *folders)
{
    for (size_t i = 0; folders->each && i < folders->options->input_count; i++) {
        free(folders->each[i].name);
        free(folders->each[i].origin.name);
    }
    free(folders->each);
    lap_map64_free(&folders->moved);
    lap_map64_free(&folders->here);
}

bool lap_prune_folder_stands(const lap_prune_folders *folders, size_t operand, int *why)
{
    struct stat st;
    const lap_origin *origin = &folders->each[operand].origin;
    const bool is_there = stat(origin->name, &st) == 0;
    *why = is_there || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    return is_there && (int64_t)st.st_ino == origin->inode && (int64_t)st.st_dev == origin->device;
}

/* ---- the folder of a record ---------------------------------------------------------------------- */

static bool lies_inside(const char *path, const char *folder)
{
    const size_t length = folder ? strlen(folder) : 0;
    return folder && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The last folder of this run in which a path lies; NULL: none. is_real: the path has no links, like the real
 * names of the folders; otherwise compares the names on the command line. */
static const lap_prune_folder *folder_around(const lap_prune_folders *folders, const char *path, bool is_real)
{
    const lap_prune_folder *around = NULL;
    for (size_t i = 0; i < folders->options->input_count; i++) {
        const lap_prune_folder *folder = &folders->each[i];
        if (lies_inside(path, is_real ? folder->origin.name : folder->name))
            around = folder;
    }
    return around;
}

/* The path that the record's photo has if it is in this folder. The caller frees it. NULL: no memory. */
static char *path_in(const char *folder, const lap_manifest_line *line)
{
    char *path;
    const size_t length = strlen(folder); /* 0: the root */
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    const char *below = line->input + strlen(line->input) - (size_t)line->below;
    return asprintf(&path, "%s%s%s", folder, slash, below) < 0 ? NULL : path;
}

char *lap_prune_recorded_path(const lap_manifest_line *line)
{
    return line->folder ? path_in(line->folder, line) : from_root(line->input);
}

char *lap_prune_recorded_path_here(const lap_prune_folders *folders, const lap_manifest_line *line)
{
    int why;
    char *path = line->folder && lap_prune_recorded_stands(line, &why) ? path_in(line->folder, line) : NULL;
    if (path && folder_around(folders, path, true))
        return path;
    free(path);
    return NULL;
}

/* Whether no link is on the way to a folder. */
static bool has_no_link(const char *folder)
{
    char *real = realpath(folder, NULL);
    const bool is_same = real && strcmp(real, folder) == 0;
    free(real);
    return is_same;
}

/* As lap_prune_recorded_stands; *device is the folder's if it stands. The device may have another number
 * after a restart; but a link may also lead to the root of another file system, which often has the same
 * inode. */
static bool stands_on(const lap_manifest_line *line, int64_t *device, int *why)
{
    struct stat st;
    const bool is_there = stat(line->folder, &st) == 0;
    *why = is_there || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    *device = is_there ? (int64_t)st.st_dev : 0;
    return is_there && S_ISDIR(st.st_mode) && (int64_t)st.st_ino == line->folder_inode &&
           (*device == line->folder_device || has_no_link(line->folder));
}

bool lap_prune_recorded_stands(const lap_manifest_line *line, int *why)
{
    int64_t device;
    return stands_on(line, &device, why);
}

/* The folder of this run in which a recorded folder is that still stands; NULL: none. If the folder has moved
 * and its old name is a link by now, *real is the new name, which the caller frees. */
static const lap_prune_folder *folder_of_standing(
    const lap_prune_folders *folders, const lap_manifest_line *line, int64_t device, char **real)
{
    const lap_prune_folder *around = folder_around(folders, line->folder, true);
    if (!around && device == line->folder_device && (*real = realpath(line->folder, NULL)))
        around = folder_around(folders, *real, true);
    return around;
}

/* Whether the recorded folder is one of this run, or in one, by name and inode. */
static bool is_here(const lap_prune_folders *folders, const lap_manifest_line *line)
{
    int why;
    int64_t device;
    char *real = NULL;
    const bool is_here =
        line->folder && stands_on(line, &device, &why) && folder_of_standing(folders, line, device, &real);
    free(real);
    return is_here;
}

/* A recorded folder counts as moved if it no longer exists and its photos, under the same names, are in a
 * folder of this run. */
lap_code lap_prune_folders_note(
    lap_prune_folders *folders, const lap_manifest_line *line, size_t leads, lap_error *err)
{
    int why;
    if (is_here(folders, line)) {
        const lap_code code = lap_map64_put(&folders->here, lap_map64_name_key(line->output), 1, err);
        if (code != LAP_OK)
            return code;
    }
    if (!line->folder || !leads || lap_map64_find(&folders->moved, lap_map64_name_key(line->folder)))
        return LAP_OK;
    const bool is_moved = folders->each[leads - 1].name && !lap_prune_recorded_stands(line, &why) && !why;
    return lap_map64_put(&folders->moved, lap_map64_name_key(line->folder), is_moved ? leads + 1 : 1, err);
}

/* Finds the photo by the recorded folder. Compares devices only if the name differs, because device numbers
 * may change at a restart. */
static lap_prune_photo look_by_folder(const lap_prune_folders *folders, const lap_manifest_line *line)
{
    const char *folder = line->folder;
    int why;
    int64_t device;
    char *real = NULL;
    const bool is_there = stands_on(line, &device, &why);
    const lap_prune_folder *around = is_there ? folder_of_standing(folders, line, device, &real)
                                              : folder_around(folders, line->folder, true);
    lap_prune_photo photo = {.relation = is_there || why ? LAP_PRUNE_ANOTHER : LAP_PRUNE_ELSEWHERE};
    if (around)
        photo = (lap_prune_photo){.relation = is_there || why ? LAP_PRUNE_HERE : LAP_PRUNE_DIFFERS,
            .operand = (size_t)(around - folders->each),
            .below = strlen(around->origin.name)};
    if (around && real)
        folder = real;
    const uint64_t *moved = lap_map64_find(&folders->moved, lap_map64_name_key(line->folder));
    if (photo.relation == LAP_PRUNE_ELSEWHERE && moved && *moved > 1) {
        folder = folders->each[*moved - 2].name;
        photo =
            (lap_prune_photo){.relation = LAP_PRUNE_DIFFERS, .operand = *moved - 2, .below = strlen(folder)};
    }
    for (size_t i = 0; i < folders->options->input_count && !is_there && !why; i++) {
        const lap_origin *now = &folders->each[i].origin;
        if (now->name && now->inode == line->folder_inode && now->device == line->folder_device) {
            /* A later run has found the output up to date in the folder's new place. */
            const bool is_known = lap_map64_find(&folders->here, lap_map64_name_key(line->output)) != NULL;
            folder = now->name;
            photo = (lap_prune_photo){.relation = is_known ? LAP_PRUNE_HERE : LAP_PRUNE_DIFFERS,
                .operand = i,
                .below = strlen(folder)};
        }
    }
    if ((photo.relation == LAP_PRUNE_HERE || photo.relation == LAP_PRUNE_DIFFERS) && !why)
        photo.path = path_in(folder, line);
    free(real);
    photo.unknown = why;
    return photo;
}

/* Whether the input path in a record, as given on the command line, leads to a folder that exists here; if
 * not, the record was written elsewhere. */
static bool names_folder_here(const lap_manifest_line *line)
{
    struct stat st;
    char *folder = strdup(line->input);
    if (!folder)
        return true;
    folder[strlen(folder) - (size_t)line->below] = '\0';
    const bool is_there = stat(*folder ? folder : ".", &st) == 0;
    free(folder);
    return is_there;
}

lap_prune_photo lap_prune_photo_find(const lap_prune_folders *folders, const lap_manifest_line *line)
{
    lap_prune_photo photo = {.relation = LAP_PRUNE_ELSEWHERE};
    if (line->folder)
        photo = look_by_folder(folders, line);
    if (photo.relation == LAP_PRUNE_HERE || photo.relation == LAP_PRUNE_DIFFERS)
        return photo;
    const bool is_another = photo.relation == LAP_PRUNE_ANOTHER;
    photo = (lap_prune_photo){
        .relation = LAP_PRUNE_ELSEWHERE, .path = from_root(line->input), .unknown = photo.unknown};
    if (!photo.path || (is_another && !names_folder_here(line)))
        return photo;
    const lap_prune_folder *around = folder_around(folders, photo.path, false);
    if (around) {
        photo.relation = is_another ? LAP_PRUNE_ANOTHER : LAP_PRUNE_DIFFERS;
        photo.operand = (size_t)(around - folders->each);
        photo.below = strlen(around->name);
    }
    return photo;
}

void lap_prune_photo_describe(const lap_prune_folders *folders, const lap_manifest_line *line,
    const lap_prune_photo *photo, lap_error *err)
{
    const char *named = folders->options->inputs[photo->operand];
    int unknown;
    if (photo->relation == LAP_PRUNE_ANOTHER) {
        const char *what = lies_inside(folders->each[photo->operand].origin.name, line->folder)
                               ? "lies in the recorded folder, %.300s; name that one"
                           : lap_prune_recorded_stands(line, &unknown)
                               ? "is not the recorded folder, %.300s, which still exists; name that one, or "
                                 "another OUTDIR"
                               : "may not be the recorded folder, %.300s, which cannot be examined";
        lap_fail_at(err, LAP_E_CHANGED, named, what, line->folder);
        return;
    }
    if (line->folder)
        lap_fail_at(err, LAP_E_CHANGED, named,
            "is not the recorded folder, %.300s: name and inode must be the same", line->folder);
    else
        lap_fail_at(err, LAP_E_CHANGED, named,
            "may be another folder than the recorded one: records of early versions do not name it");
    (void)lap_error_remedy(err, err->code, LAP_REMEDY_MOVED);
}

/* ---- what is at a photo's path ------------------------------------------------------------------- */

/* Whether no file has the name of a photo: there is nothing, or a folder. *why: an errno if that is unknown,
 * else 0. */
static bool is_vacant(const char *path, int *why)
{
    struct stat st;
    const bool is_there = lstat(path, &st) == 0;
    *why = is_there || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    return is_there ? S_ISDIR(st.st_mode) : *why == 0;
}

/* Whether a path is a link that leads nowhere. */
static bool is_dangling(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st) != 0;
}

bool lap_prune_is_left_behind(const lap_manifest_line *line, lap_prune_relation relation)
{
    int why;
    if (relation != LAP_PRUNE_ELSEWHERE)
        return false;
    char *path = lap_prune_recorded_path(line);
    const bool gone = path && is_vacant(path, &why);
    free(path);
    return gone;
}

/* Whether the deepest folder that still exists on the way to a photo is empty, like the mount point of a
 * missing disk. Cuts the path; the part before `below` stays. On an error returns false and sets *why. */
static bool folder_is_empty(char *path, size_t below, int *why)
{
    int count = 0;
    DIR *folder = NULL;
    char *slash;
    while (!folder && (slash = strrchr(path, '/')) && (size_t)(slash - path) >= below) {
        *slash = '\0';
        folder = opendir(*path ? path : "/");
        if (!folder && errno != ENOENT && errno != ENOTDIR) {
            *why = errno;
            return false;
        }
    }
    if (!folder)
        return false;
    errno = 0;
    while (count <= 2 && readdir(folder))
        count++;
    *why = errno;
    closedir(folder);
    return count <= 2 && *why == 0; /* "." and ".." */
}

/* Whether the photo is behind a symbolic link that leads nowhere, or that this run does not follow: then it
 * is out of sight, but not necessarily gone. Returns the length of the first such link's part of the path, or
 * 0. */
static size_t hidden_behind(const lap_prune_folders *folders, const char *path, size_t below)
{
    char part[PATH_MAX]; /* is_vacant has looked up the path, so it is not longer */
    struct stat st;
    const lap_batch_take *take = folders->options->take;
    const char *first = path + below + strspn(path + below, "/");
    for (const char *end = strchr(first, '/'); end; end = strchr(end + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (lstat(part, &st) != 0 || !S_ISLNK(st.st_mode))
            continue;
        if (!take || !take->follow || stat(part, &st) != 0)
            return (size_t)(end - path);
    }
    return 0;
}

lap_prune_sight lap_prune_look(const lap_prune_folders *folders, char *path, size_t below)
{
    int why;
    lap_prune_sight sight = {.place = LAP_PRUNE_GONE};
    const bool is_free = is_vacant(path, &why);
    const size_t link = is_free ? hidden_behind(folders, path, below) : is_dangling(path) ? strlen(path) : 0;
    if (link) {
        sight.place = LAP_PRUNE_HIDDEN;
        snprintf(sight.link, sizeof sight.link, "%.*s", (int)link, path);
    } else if (!is_free) {
        sight.place = LAP_PRUNE_THERE;
    } else if (folder_is_empty(path, below, &why)) {
        sight.place = LAP_PRUNE_NOT_MOUNTED;
    }
    if (why)
        sight = (lap_prune_sight){.place = LAP_PRUNE_UNKNOWN, .why = why};
    return sight;
}

/* Looks at a path, which is freed, and keeps what counts more. NULL with errno: the path is not known. */
static void look_too(const lap_prune_folders *folders, char *path, size_t below, lap_prune_sight *sight)
{
    const lap_prune_sight other = path ? lap_prune_look(folders, path, below)
                                       : (lap_prune_sight){.place = LAP_PRUNE_UNKNOWN, .why = errno};
    free(path);
    if (other.place > sight->place)
        *sight = other;
}

lap_prune_sight lap_prune_photo_look(
    const lap_prune_folders *folders, const lap_manifest_line *line, const lap_prune_photo *photo)
{
    char *recorded = lap_prune_recorded_path(line);
    const bool is_other = !recorded || strcmp(recorded, photo->path) != 0;
    lap_prune_sight sight = lap_prune_look(folders, photo->path, photo->below);
    if (is_other && sight.place != LAP_PRUNE_THERE)
        look_too(folders, recorded, line->folder ? strlen(line->folder) : 0, &sight);
    else
        free(recorded);
    for (size_t i = 0; i < folders->options->input_count && photo->relation == LAP_PRUNE_DIFFERS; i++) {
        const char *folder = folders->each[i].origin.name;
        if (folder && sight.place != LAP_PRUNE_THERE)
            look_too(folders, path_in(folder, line), strlen(folder), &sight);
    }
    return sight;
}
