#include "io/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/status.h"
#include "io/sink_temp.h"

enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };

bool lap_same_state(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool lap_is_untouched(const struct stat *a, const struct stat *b)
{
    return lap_same_state(a, b) && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool lap_is_time_kept(int64_t seconds, int64_t of_seconds)
{
    enum { ROUNDED = 2 };
    return seconds >= of_seconds - ROUNDED && seconds <= of_seconds + ROUNDED;
}

/* ---- trees ------------------------------------------------------------------------------------- */

lap_code lap_tree_open(const char *path, lap_tree *tree, lap_error *err)
{
    *tree = (lap_tree){.fd = open(path, FOLDER), .path = path};
    if (tree->fd >= 0 || errno == ENOENT)
        return LAP_OK;
    return lap_fail_at(err, LAP_E_WRITE, path, "%s", errno == ENOTDIR ? "is not a folder" : strerror(errno));
}

void lap_tree_close(lap_tree *tree)
{
    if (tree->fd >= 0)
        close(tree->fd);
    tree->fd = -1;
}

/* Reports why a step failed; shown: the path so far, for the message. */
static lap_code fail_step(int parent, const char *step, const char *shown, int why, lap_error *err)
{
    struct stat st;
    if (why == ENOENT)
        return lap_fail_at(err, LAP_E_MISSING, shown, "%s", strerror(why));
    if ((why == ENOTDIR || why == ELOOP) && fstatat(parent, step, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return S_ISLNK(st.st_mode)
                   ? lap_fail_at(err, LAP_E_EXISTS, shown,
                         "is a symbolic link, which is not followed here; remove it first")
                   : lap_fail_at(err, LAP_E_WRITE, shown, "is not a folder; move or remove it first");
    return lap_fail_at(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE, shown,
        "cannot open or create this folder: %s", strerror(why));
}

/* A step into one folder of a relative name. */
typedef struct way_step {
    const lap_tree *tree;
    const char *relative;
    size_t start, end; /* the folder's name in relative */
    bool make;
} way_step;

static lap_code take_step(const way_step *s, int parent, int *folder, lap_error *err)
{
    const size_t length = s->end - s->start;
    char step[NAME_MAX + 1];
    int why = ENAMETOOLONG;
    *folder = -1;
    if (length < sizeof step) {
        memcpy(step, s->relative + s->start, length);
        step[length] = 0;
        *folder = openat(parent, step, FOLDER | O_NOFOLLOW);
        why = errno;
        if (*folder < 0 && why == ENOENT && s->make) {
            why = mkdirat(parent, step, 0777) == 0 || errno == EEXIST ? 0 : errno;
            if (!why) {
                *folder = openat(parent, step, FOLDER | O_NOFOLLOW);
                why = errno;
            }
        }
    }
    if (*folder >= 0)
        return LAP_OK;
    char *shown = NULL;
    if (asprintf(&shown, "%s/%.*s", s->tree->path, (int)s->end, s->relative) < 0)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    lap_code code = fail_step(parent, step, shown, why, err);
    free(shown);
    errno = why;
    return code;
}

lap_code lap_tree_enter(const lap_tree *tree, const char *relative, bool make, int *folder, lap_error *err)
{
    lap_code code = LAP_OK;
    *folder = tree->fd;
    if (tree->fd < 0)
        return lap_fail_at(err, LAP_E_MISSING, tree->path, "%s", strerror(ENOENT));
    for (size_t start = 0, end; code == LAP_OK && relative[start + strcspn(relative + start, "/")];
         start = end + 1) {
        const int parent = *folder;
        end = start + strcspn(relative + start, "/");
        if (end - start == 2 && memcmp(relative + start, "..", 2) == 0)
            code = lap_fail_at(err, LAP_E_INTERNAL, relative, "climbs out of the output folder");
        else if (end > start)
            code = take_step(&(way_step){tree, relative, start, end, make}, parent, folder, err);
        if (code != LAP_OK || *folder != parent)
            lap_tree_leave(tree, parent);
        if (code != LAP_OK)
            *folder = -1;
    }
    return code;
}

void lap_tree_leave(const lap_tree *tree, int folder)
{
    if (folder >= 0 && folder != tree->fd)
        close(folder);
}

/* Whether the folder's file system compares names byte by byte, apart from case. */
static bool keeps_bytes(int folder)
{
    struct statfs disk;
    static const unsigned kinds[] = {
        EXT4_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC};
    if (fstatfs(folder, &disk) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned)disk.f_type == kinds[i])
            return true;
    return false;
}

/* Whether the file system may treat another name as equal to this one, of at most NAME_MAX bytes. File
 * systems that ignore case may also ignore dots and spaces at the end, and FAT gives long names a second,
 * short name with a tilde. If a file has the name and the name has a letter, looks up the name with the case
 * of its letters changed; if that finds the same file (perhaps a hard link), the answer is yes. Otherwise the
 * characters in the name decide; for an existing name, only those outside ASCII, and the kind of file system:
 * some that respect case ignore how an accent is encoded. */
static bool has_aliases(int folder, const char *name)
{
    char other[NAME_MAX + 1];
    struct stat a, b;
    const size_t length = strlen(name);
    bool has_letter = false, is_ascii = true, is_plain = !strchr(". ", name[length - 1]);
    for (size_t i = 0; i <= length; i++) {
        const bool is_letter = (name[i] >= 'A' && name[i] <= 'Z') || (name[i] >= 'a' && name[i] <= 'z');
        other[i] = (char)(is_letter ? name[i] ^ 0x20 : name[i]);
        has_letter = has_letter || is_letter;
        is_ascii = is_ascii && !(name[i] & 0x80);
        is_plain = is_plain && name[i] != '~';
    }
    if (!has_letter || fstatat(folder, name, &a, AT_SYMLINK_NOFOLLOW) != 0)
        return !is_plain || !is_ascii;
    if (fstatat(folder, other, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return true;
    return !is_ascii && !keeps_bytes(folder);
}

static bool is_listed(int folder, const char *name)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    bool found = false;
    if (!dir && fd >= 0)
        close(fd);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = strcmp(entry->d_name, name) == 0;
    if (dir)
        closedir(dir);
    return found;
}

bool lap_tree_is_spelt(const lap_tree *tree, const char *relative)
{
    char path[PATH_MAX];
    bool is_spelt = true;
    for (size_t start = 0, end; is_spelt && relative[start]; start = end + (relative[end] == '/')) {
        int folder;
        end = start + strcspn(relative + start, "/");
        if (end >= sizeof path || end - start > NAME_MAX) /* such a file cannot exist */
            break;
        memcpy(path, relative, end);
        path[end] = '\0';
        const lap_code code = lap_tree_enter(tree, path, false, &folder, NULL);
        if (code == LAP_E_MISSING)
            break;
        is_spelt = code == LAP_OK &&
                   (end == start || !has_aliases(folder, path + start) || is_listed(folder, path + start));
        if (code == LAP_OK)
            lap_tree_leave(tree, folder);
    }
    return is_spelt;
}

/* ---- targets ----------------------------------------------------------------------------------- */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool lap_target_at(const char *path, lap_target *target)
{
    *target = (lap_target){.folder = -1, .path = lap_temp_resolve(path)};
    char *folder = target->path ? lap_temp_folder(target->path) : NULL;
    if (folder)
        target->folder = open(folder, FOLDER);
    const int why = errno;
    free(folder);
    if (target->path && target->folder >= 0)
        target->relative = strdup(target->path);
    if (target->relative) {
        target->name = last_name(target->relative);
        return true;
    }
    lap_target_free(target);
    errno = why;
    return false;
}

bool lap_target_below(const lap_tree *tree, const char *relative, lap_target *target)
{
    *target = (lap_target){.tree = tree, .folder = -1, .relative = strdup(relative)};
    if (!target->relative || asprintf(&target->path, "%s/%s", tree->path, relative) < 0) {
        target->path = NULL;
        lap_target_free(target);
        errno = ENOMEM;
        return false;
    }
    target->name = last_name(target->relative);
    return true;
}

void lap_target_free(lap_target *target)
{
    if (target->folder >= 0)
        close(target->folder);
    free(target->path);
    free(target->relative);
    *target = (lap_target){.folder = -1};
}

lap_code lap_target_enter(const lap_target *target, int *folder, lap_error *err)
{
    *folder = target->folder;
    return target->tree ? lap_tree_enter(target->tree, target->relative, false, folder, err) : LAP_OK;
}

void lap_target_leave(const lap_target *target, int folder)
{
    if (target->tree)
        lap_tree_leave(target->tree, folder);
}

/* ---- publishing -------------------------------------------------------------------------------- */

/* Whether the other name is already this file: NFS may lose the reply to a link that succeeded. */
static bool is_linked(int folder, const char *temp, const char *name)
{
    struct stat a, b;
    return fstatat(folder, temp, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(folder, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Returns 0 or an errno; EEXIST if the name is taken. */
static int rename_new(int folder, const char *temp, const char *name)
{
    struct stat st;
    if (renameat2(folder, temp, folder, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    const int why = linkat(folder, temp, folder, name, 0) == 0 ? 0 : errno;
    if (why == 0 || (why == EEXIST && is_linked(folder, temp, name))) {
        (void)unlinkat(folder, temp, 0); /* if this fails, the next run removes it */
        return 0;
    }
    if (why == EEXIST || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return EEXIST;
    if (errno != ENOENT)
        return errno;
    return renameat(folder, temp, folder, name) == 0 ? 0 : errno;
}

static int rename_over(int folder, const char *temp, const char *name, lap_over over, const struct stat *seen)
{
    struct stat st;
    if (over == LAP_OVER_NOTHING)
        return rename_new(folder, temp, name);
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return over == LAP_OVER_SEEN ? rename_new(folder, temp, name)
                                         : (renameat(folder, temp, folder, name) == 0 ? 0 : errno);
        return errno;
    }
    if (!S_ISREG(st.st_mode) || (over == LAP_OVER_SEEN && !lap_is_untouched(&st, seen)))
        return EEXIST;
    return renameat(folder, temp, folder, name) == 0 ? 0 : errno;
}

lap_code lap_target_publish(const lap_target *target, int folder, const char *temp, lap_over over,
    const struct stat *seen, lap_error *err)
{
    const int why = rename_over(folder, temp, target->name, over, seen);
    if (why == 0)
        return LAP_OK;
    if (why == EEXIST && over == LAP_OVER_ANY)
        return lap_fail_at(err, LAP_E_EXISTS, target->path, "is not a regular file; remove it first");
    if (why == EEXIST)
        return lap_fail_at(err, LAP_E_EXISTS, target->path, "appeared, or was changed, during the run");
    return lap_write_errno(err, target->path, "rename the finished file to this name", why);
}
