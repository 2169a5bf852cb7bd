/* Reads one folder at a time, and sorts its names, so that lists and results have the same order on every
 * file system. Stores the names of one folder, and the paths of folders that remain to be read, so a deep
 * tree needs no extra descriptors. nftw(3) abandons the whole tree if one folder vanishes; fts(3) also keeps
 * a struct stat for each name. */
#include "batch/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/outputs.h"
#include "batch/take.h"
#include "io/map64.h"

typedef struct walk {
    const lap_batch_options *options;
    lap_walk_fn *visit;
    void *user;
    lap_error *err;
    const char *twin; /* the second folder of a pair (lap_walk_side.other), or NULL */
    size_t operand;
    size_t root_length; /* length of the folder operand, including its slash */
    char **folders;     /* folders that remain; the last one is next */
    size_t count, capacity;
    bool has_out; /* the output folder exists, with this device and inode */
    dev_t out_device;
    ino_t out_inode;
    lap_map64 entered; /* if links are followed: visited folders, and the hashes of the paths under which they
                          were visited, so that no folder is walked under two paths */
    char **roots; /* if links are followed: absolute names, without links, of the folders that are walked; or
                     NULL */
    const char *const *root_names; /* the same folders, as the caller named them */
    size_t root_count;
    char *out_name; /* the output folder's absolute name, or NULL */
    lap_outputs outputs;
} walk;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static lap_code no_memory(const walk *w)
{
    return lap_fail(w->err, LAP_E_MEMORY, "out of memory for the list of folders");
}

/* ---- folders ----------------------------------------------------------------------------------- */

/* Returns how many outputs of earlier runs the walk has counted among the inputs so far. */
static uint64_t count_made(const walk *w)
{
    return w->options->others ? w->options->others->ours : 0;
}

/* made: count_made before the input was judged. */
static lap_code give(walk *w, const lap_found *file, const char *relative, size_t below, uint64_t made)
{
    lap_walk_entry entry = {.path = file->path,
        .relative = relative,
        .stat = file->stat,
        .operand = w->operand,
        .below = below,
        .is_made = count_made(w) != made};
    return w->visit(w->user, &entry, w->err);
}

bool lap_walk_may_pass(int why)
{
    return why == ENOMEM || why == EMFILE || why == ENFILE || why == EINTR;
}

lap_code lap_walk_unseen(const lap_walk_entry *entry, lap_error *err)
{
    if (!entry->problem || !entry->may_pass)
        return LAP_OK;
    *err = *entry->problem;
    return err->code;
}

static lap_code give_problem(walk *w, const char *path, const char *relative, int why, const char *what)
{
    lap_error problem;
    if (why == ENOENT || why == ENOTDIR)
        lap_fail_missing(&problem, path);
    else
        lap_fail_at(
            &problem, LAP_E_UNREADABLE, path, "%s%s%s", what, why ? ": " : "", why ? strerror(why) : "");
    lap_walk_entry entry = {.path = path,
        .relative = relative,
        .problem = &problem,
        .may_pass = lap_walk_may_pass(why),
        .is_root = strlen(path) < w->root_length,
        .operand = w->operand};
    return w->visit(w->user, &entry, w->err);
}

static lap_code remember(walk *w, const char *path)
{
    char **grown = lap_grow(w->folders, &w->capacity, w->count + 1, sizeof *grown);
    if (!grown)
        return no_memory(w);
    w->folders = grown;
    w->folders[w->count] = strdup(path);
    if (!w->folders[w->count])
        return no_memory(w);
    w->count++;
    return LAP_OK;
}

static lap_code give_link(walk *w, const char *path)
{
    lap_walk_entry entry = {
        .path = path, .relative = path + w->root_length, .link = true, .operand = w->operand};
    return w->visit(w->user, &entry, w->err);
}

static lap_taking judge(const walk *w, const char *path, const char *name, bool is_folder)
{
    char twin[PATH_MAX];
    const char *relative = path + w->root_length;
    size_t length = w->twin ? strlen(w->twin) : 0;
    while (length > 0 && w->twin[length - 1] == '/')
        length--;
    const bool has_twin =
        w->twin && snprintf(twin, sizeof twin, "%.*s/%s", (int)length, w->twin, relative) < PATH_MAX;
    const lap_candidate candidate = {name, relative, path, has_twin ? twin : NULL, is_folder};
    return lap_take_judge(w->options->take, &candidate, w->options->others);
}

/* Passes on a selected file, unless it is an output of an earlier run. */
static lap_code give_found(walk *w, int folder, const char *path, const char *name, const struct stat *st)
{
    const lap_found file = {folder, name, path, st};
    const uint64_t made = count_made(w);
    bool is_taken;
    const lap_code code = lap_outputs_judge(&w->outputs, &file, &is_taken, w->err);
    return code == LAP_OK && is_taken ? give(w, &file, path + w->root_length, w->root_length, made) : code;
}

/* Counts a photo in this run's output folder. */
static lap_code visit_in_out(walk *w, int folder, const char *path, const char *name, lap_taking taking)
{
    struct stat st;
    const bool is_photo = taking == LAP_TAKE_YES ||
                          (taking == LAP_TAKE_DOUBT && lap_take_begins_like_jpeg(folder, name, false));
    return is_photo && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
               ? give_found(w, folder, path, name, &st)
               : LAP_OK;
}

static lap_code visit_file(walk *w, int folder, const char *path, const char *name)
{
    struct stat st;
    const char *relative = path + w->root_length;
    if (!strncmp(name, ".lapedge-", 9))
        return LAP_OK;
    const lap_batch_take *take = w->options->take;
    const lap_taking taking = judge(w, path, name, false);
    const bool named = taking == LAP_TAKE_YES, follow = take && take->follow;
    if (taking == LAP_TAKE_LEFT_OUT) /* excluded on request */
        return LAP_OK;
    if (lap_outputs_is_out(&w->outputs))
        return visit_in_out(w, folder, path, name, taking);
    if (taking == LAP_TAKE_NO) {
        lap_take_note(w->options->others, folder, name);
        return LAP_OK;
    }
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? LAP_OK /* deleted in the meantime */
                               : give_problem(w, path, relative, errno, "cannot be examined");
    if (S_ISLNK(st.st_mode) && follow && fstatat(folder, name, &st, 0))
        return named ? give_problem(w, path, relative, errno, "cannot be examined") : LAP_OK;
    if (S_ISLNK(st.st_mode))
        return named ? give_link(w, path) : LAP_OK;
    if (!S_ISREG(st.st_mode))
        return named ? give_problem(w, path, relative, 0, "not a regular file") : LAP_OK;
    if (named || lap_take_begins_like_jpeg(folder, name, follow))
        return give_found(w, folder, path, name, &st);
    lap_take_note(w->options->others, folder, name);
    return LAP_OK;
}

/* With --follow, links to folders are treated as folders. A broken link may lead to a folder, too, for
 * example to one on a disk that is not mounted. */
enum { FILE_NAME, FOLDER_NAME, FOLDER_LINK, BROKEN_LINK };

/* *why: an errno if the kind is BROKEN_LINK. */
static int kind_of(int folder, const char *name, unsigned char type, int *why)
{
    struct stat st;
    mode_t mode = type == DT_DIR ? S_IFDIR : type == DT_LNK ? S_IFLNK : S_IFREG;
    if (type == DT_UNKNOWN && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        mode = st.st_mode;
    if (!S_ISLNK(mode))
        return S_ISDIR(mode) ? FOLDER_NAME : FILE_NAME;
    if (fstatat(folder, name, &st, 0) == 0)
        return S_ISDIR(st.st_mode) ? FOLDER_LINK : FILE_NAME;
    *why = errno;
    return *why == ENOENT && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ? FILE_NAME /* deleted */
                                                                                  : BROKEN_LINK;
}

static lap_code visit_broken_link(walk *w, const char *path, const char *name, int why)
{
    const lap_batch_take *take = w->options->take;
    const bool is_lock = !strncmp(name, ".#", 2); /* a lock of Emacs: its target names a process */
    if (is_lock || !strncmp(name, ".lapedge-", 9) || judge(w, path, name, false) == LAP_TAKE_LEFT_OUT ||
        judge(w, path, name, true) == LAP_TAKE_LEFT_OUT)
        return LAP_OK;
    return take && take->follow ? give_problem(w, path, path + w->root_length, why, "cannot be examined")
                                : give_link(w, path);
}

static lap_code visit_name(walk *w, int folder, const char *parent, const char *name, unsigned char type)
{
    char path[PATH_MAX];
    const char *slash = parent[strlen(parent) - 1] == '/' ? "" : "/";
    int why = 0;
    const int kind = kind_of(folder, name, type, &why);
    const bool is_out = lap_outputs_is_out(&w->outputs);
    if (snprintf(path, sizeof path, "%s%s%s", parent, slash, name) >= (int)sizeof path)
        return !is_out && (kind != FILE_NAME || judge(w, path, name, false) == LAP_TAKE_YES)
                   ? give_problem(w, path, path + w->root_length, ENAMETOOLONG, "and longer")
                   : LAP_OK;
    if (kind == FILE_NAME)
        return visit_file(w, folder, path, name);
    if (kind == BROKEN_LINK)
        return is_out ? LAP_OK : visit_broken_link(w, path, name, why);
    if (judge(w, path, name, true) == LAP_TAKE_LEFT_OUT)
        return LAP_OK;
    const lap_batch_take *take = w->options->take;
    if (kind == FOLDER_NAME || (!is_out && take && take->follow))
        return remember(w, path);
    return is_out ? LAP_OK : give_link(w, path);
}

/* The names in a folder. In text, each name follows its type (one byte) and ends with a null byte. */
typedef struct names {
    char *text;
    size_t *at; /* positions in text */
    size_t used, room, count, capacity;
} names;

static bool add_name(names *n, const struct dirent *d)
{
    const size_t size = strlen(d->d_name) + 2;
    char *text = lap_grow(n->text, &n->room, n->used + size, 1);
    size_t *at = text ? lap_grow(n->at, &n->capacity, n->count + 1, sizeof *at) : NULL;
    n->text = text ? text : n->text;
    if (!at)
        return false;
    n->at = at;
    n->at[n->count++] = n->used;
    n->text[n->used] = (char)d->d_type;
    memcpy(n->text + n->used + 1, d->d_name, size - 1);
    n->used += size;
    return true;
}

static int by_name(const void *a, const void *b, void *text)
{
    return strcmp((char *)text + *(const size_t *)a + 1, (char *)text + *(const size_t *)b + 1);
}

/* Reads and sorts the names of a folder. *why: errno if some names may be missing, else 0. */
static lap_code read_names(walk *w, DIR *dir, names *n, int *why)
{
    for (const struct dirent *d; errno = 0, (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
            strcmp(d->d_name, ".lapedge") != 0 && !add_name(n, d))
            return lap_fail(w->err, LAP_E_MEMORY, "out of memory for the names of a folder");
    *why = errno;
    if (n->count)
        qsort_r(n->at, n->count, sizeof *n->at, by_name, n->text);
    return LAP_OK;
}

static lap_code visit_names(walk *w, int fd, const char *path, const names *n)
{
    lap_code code = LAP_OK;
    const size_t before = w->count;
    for (size_t i = 0; i < n->count && code == LAP_OK; i++) {
        const char *entry = n->text + n->at[i];
        code = visit_name(w, fd, path, entry + 1, (unsigned char)*entry);
    }
    for (size_t first = before, last = w->count; first + 1 < last; first++) { /* the last one is next */
        char *swap = w->folders[first];
        w->folders[first] = w->folders[--last];
        w->folders[last] = swap;
    }
    return code;
}

/* Returns the part of a path that is below a folder; NULL: the path is not inside. Both are absolute. */
static const char *part_below(const char *path, const char *folder)
{
    const size_t length = folder ? strlen(folder) : 0;
    if (!folder || strncmp(path, folder, length) != 0 || (length > 1 && path[length] != '/' && path[length]))
        return NULL;
    return path + length + strspn(path + length, "/");
}

/* Whether --exclude leaves out a folder, given by its path below a root. */
static bool is_left_out(const walk *w, const char *root, const char *below)
{
    char path[PATH_MAX], twin[PATH_MAX];
    const size_t length = strlen(root);
    const char *slash = length > 0 && root[length - 1] == '/' ? "" : "/";
    if (snprintf(path, sizeof path, "%s%s%s", root, slash, below) >= (int)sizeof path)
        return true;
    size_t of_twin = w->twin ? strlen(w->twin) : 0;
    while (of_twin > 0 && w->twin[of_twin - 1] == '/')
        of_twin--;
    const bool has_twin =
        w->twin && snprintf(twin, sizeof twin, "%.*s/%s", (int)of_twin, w->twin, below) < (int)sizeof twin;
    const lap_candidate folder = {
        base_name(path), path + strlen(path) - strlen(below), path, has_twin ? twin : NULL, true};
    return lap_take_judge(w->options->take, &folder, NULL) == LAP_TAKE_LEFT_OUT;
}

/* Whether the walk of a root reaches a folder below it: no folder on the way is excluded. */
static bool is_walked_below(const walk *w, const char *root, const char *below)
{
    char part[PATH_MAX];
    for (size_t end = 0; below[end]; end += below[end] == '/') {
        end += strcspn(below + end, "/");
        if (snprintf(part, sizeof part, "%.*s", (int)end, below) >= (int)sizeof part ||
            is_left_out(w, root, part))
            return false;
    }
    return true;
}

/* Whether this path is a link to a folder that the walk also reaches without links, perhaps later. Then the
 * folder is walked there, and not through the link. */
static bool is_alias(const walk *w, const char *path)
{
    struct stat st;
    bool is_met = false;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode))
        return false;
    char *real = realpath(path, NULL);
    const bool is_in_out = real && part_below(real, w->out_name);
    for (size_t i = 0; real && !is_in_out && i < w->root_count && !is_met; i++) {
        const char *below = part_below(real, w->roots[i]);
        is_met = below && is_walked_below(w, w->root_names[i], below);
    }
    free(real);
    return is_met;
}

/* Whether to skip an open folder. If links are followed, skips folders that are walked under another path. */
static bool was_entered(walk *w, const struct stat *st, const char *path, bool is_root)
{
    const lap_batch_take *take = w->options->take;
    if (!take || !take->follow)
        return false;
    if (!is_root && is_alias(w, path))
        return true;
    const uint64_t id[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino}, key = lap_map64_key(id, sizeof id);
    const uint64_t place = lap_map64_name_key(path), *before = lap_map64_find(&w->entered, key);
    return before ? *before != place : lap_map64_put(&w->entered, key, place, w->err) != LAP_OK;
}

/* Enters an open folder. *is_walked: its names are to be visited. The output folder is visited only to count
 * photos in it. */
static lap_code enter(walk *w, int fd, const char *path, bool is_root, bool *is_walked)
{
    struct stat st;
    lap_error problem;
    *is_walked = true;
    if (fstat(fd, &st))
        return LAP_OK;
    const bool is_out = w->has_out && st.st_dev == w->out_device && st.st_ino == w->out_inode;
    *is_walked = is_out ? w->options->others != NULL : !was_entered(w, &st, path, is_root);
    lap_walk_entry entry = {.path = path, .relative = path + w->root_length, .operand = w->operand};
    if (is_out && !is_root) {
        entry.is_out = true;
        const lap_code code = w->visit(w->user, &entry, w->err);
        if (code != LAP_OK)
            return code;
    }
    if (!*is_walked)
        return LAP_OK;
    const lap_code code = lap_outputs_enter(&w->outputs, fd, path, is_root, is_out, &problem);
    if (code == LAP_E_MEMORY)
        return no_memory(w);
    if (code == LAP_OK || is_out)
        return LAP_OK;
    entry.problem = &problem;
    return w->visit(w->user, &entry, w->err);
}

/* Path of a folder as messages and rows show it. */
static const char *shown(const walk *w, const char *path)
{
    return strlen(path) > w->root_length ? path + w->root_length : base_name(path);
}

/* Opens and enters a folder. *fd is -1 if its names are not to be visited. The operand itself may be a link
 * to a folder; links inside it are followed only on request. */
static lap_code open_folder(walk *w, const char *path, bool is_root, int *fd)
{
    const bool follow = is_root || (w->options->take && w->options->take->follow);
    bool is_walked;
    lap_outputs_approach(&w->outputs, path, is_root);
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    if (*fd < 0)
        return lap_outputs_is_out(&w->outputs)
                   ? LAP_OK
                   : give_problem(w, path, shown(w, path), errno, "cannot read this folder");
    const lap_code code = enter(w, *fd, path, is_root, &is_walked);
    if (code == LAP_OK && is_walked)
        return LAP_OK;
    close(*fd);
    *fd = -1;
    return code;
}

static lap_code read_folder(walk *w, const char *path, bool is_root)
{
    int fd, why = 0;
    lap_code code = open_folder(w, path, is_root, &fd);
    if (code != LAP_OK || fd < 0)
        return code;
    const char *what = "cannot read all of this folder";
    names n = {0};
    DIR *dir = fdopendir(fd);
    if (dir) {
        code = read_names(w, dir, &n, &why);
    } else {
        what = "cannot read this folder";
        why = errno;
        close(fd);
    }
    if (code == LAP_OK && dir)
        code = visit_names(w, fd, path, &n);
    if (why && code == LAP_OK && !lap_outputs_is_out(&w->outputs))
        code = give_problem(w, path, shown(w, path), why, what);
    free(n.text);
    free(n.at);
    if (dir)
        closedir(dir);
    return code;
}

/* Makes a folder the root of the walk that follows: the only folder that remains, without slashes at its
 * end. */
static lap_code begin_root(walk *w, const char *root)
{
    size_t length = strlen(root);
    const lap_code code = remember(w, root);
    if (code != LAP_OK)
        return code;
    char *first = w->folders[0];
    while (length > 1 && first[length - 1] == '/')
        first[--length] = 0;
    w->root_length = first[length - 1] == '/' ? length : length + 1;
    return LAP_OK;
}

static lap_code walk_folder(walk *w, const char *root)
{
    lap_code code = begin_root(w, root);
    for (bool is_root = true; w->count; is_root = false) {
        char *path = w->folders[--w->count];
        if (code == LAP_OK)
            code = read_folder(w, path, is_root);
        free(path);
    }
    return code;
}

/* ---- named and listed files -------------------------------------------------------------------- */

static lap_code give_named(walk *w, const char *path, const char *relative, const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return give_problem(w, path, relative, 0, "not a regular file");
    const uint64_t made = count_made(w);
    const lap_code code = lap_outputs_note_named(&w->outputs, path, st, w->err);
    const lap_found file = {.path = path, .stat = st};
    return code == LAP_OK ? give(w, &file, relative, (size_t)(base_name(path) - path), made) : code;
}

/* Returns the path under which a named or listed file is opened and shown: "-" would mean standard input. */
static const char *as_file(const char *path)
{
    return strcmp(path, "-") == 0 ? "./-" : path;
}

/* Makes the output name of a listed path. A relative path keeps its folders, without empty and "." steps, so
 * that one place has one name. An absolute path, and one with "..", keeps only the file name. `to` has room
 * for the path. */
static void listed_relative(const char *path, char *to)
{
    char *end = to;
    for (const char *p = path, *next; *p; p = next) {
        size_t length = strcspn(p, "/");
        next = p + length + strspn(p + length, "/");
        if (*path == '/' || (length == 2 && !memcmp(p, "..", 2))) {
            strcpy(to, base_name(path));
            return;
        }
        if (length == 1 && *p == '.')
            continue;
        if (end > to)
            *end++ = '/';
        memcpy(end, p, length);
        end += length;
    }
    *end = 0;
}

static bool exists(const char *path, size_t length)
{
    char part[PATH_MAX + 1];
    struct stat st;
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    return length > 0 && length <= PATH_MAX && stat(part, &st) == 0;
}

/* If a listed name does not exist, but exists without the bytes that another kind of list puts around names,
 * reports what kind of list this is. */
static lap_code check_listed(const walk *w, const char *path, lap_error *problem)
{
    static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, which some editors write first */
    const size_t length = strlen(path),
                 begin = strncmp(path, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0,
                 line = strcspn(path, "\n"), end = length > begin && path[length - 1] == '\r';
    if (w->options->nul_separated && path[line] && !exists(path, length) && exists(path, line)) {
        lap_fail_at(problem, LAP_E_MISSING, path,
            "no such file: the names of this list are separated by line ends, not zero bytes");
        return lap_error_remedy(problem, LAP_E_MISSING, LAP_REMEDY_LINES);
    }
    if (begin + end == 0 || exists(path, length) || !exists(path + begin, length - begin - end))
        return LAP_OK;
    return lap_fail_at(problem, LAP_E_MISSING, path, "no such file: %s",
        begin ? "this list begins with a byte order mark; remove it, as sed '1s/^\\xef\\xbb\\xbf//' does"
              : "the lines of this list end in carriage returns; remove them, as tr -d '\\r' does");
}

static lap_code give_listed(walk *w, const char *path, const char *relative)
{
    struct stat st;
    lap_error problem;
    if (check_listed(w, path, &problem) == LAP_OK)
        return stat(path, &st) ? give_problem(w, path, relative, errno, "cannot be examined")
                               : give_named(w, path, relative, &st);
    lap_walk_entry entry = {.path = path, .relative = relative, .problem = &problem, .operand = w->operand};
    return w->visit(w->user, &entry, w->err);
}

static lap_code walk_list(walk *w, lap_list *list)
{
    char relative[PATH_MAX + 1];
    const char *path = NULL;
    lap_code code = lap_list_begin(list, w->err);
    while (code == LAP_OK && (code = lap_list_next(list, &path, w->err)) == LAP_OK && path) {
        listed_relative(path, relative);
        if (lap_take_is_apple_double(AT_FDCWD, path)) /* find -name '*.jpg' lists them, too */
            lap_take_note(w->options->others, AT_FDCWD, path);
        else
            code = give_listed(w, as_file(path), relative);
    }
    return code;
}

/* If links are followed: resolves the names of the folders that will be walked. */
static lap_code find_roots(walk *w, const char *const *folders, size_t count)
{
    const lap_batch_take *take = w->options->take;
    if (!take || !take->follow || count == 0)
        return LAP_OK;
    w->roots = calloc(count, sizeof *w->roots);
    if (!w->roots)
        return no_memory(w);
    w->root_names = folders;
    w->root_count = count;
    w->out_name = realpath(w->options->out_dir, NULL);
    for (size_t i = 0; i < count; i++) {
        w->roots[i] = realpath(folders[i], NULL);
        if (!w->roots[i] && errno == ENOMEM)
            return no_memory(w);
    }
    return LAP_OK;
}

static void end(walk *w)
{
    for (size_t i = 0; i < w->root_count; i++)
        free(w->roots[i]);
    free(w->roots);
    free(w->out_name);
    free(w->folders);
    lap_map64_free(&w->entered);
    lap_outputs_free(&w->outputs);
}

lap_code lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err)
{
    walk w = {
        .options = options, .visit = visit, .user = user, .err = err, .outputs = {.others = options->others}};
    struct stat st;
    if (!stat(options->out_dir, &st)) {
        w.has_out = true;
        w.out_device = st.st_dev;
        w.out_inode = st.st_ino;
    }
    lap_code code = lap_take_check(options->take, err);
    if (code == LAP_OK && !list)
        code = find_roots(&w, options->inputs, options->input_count);
    if (code == LAP_OK && list)
        code = walk_list(&w, list);
    for (size_t i = 0; !list && i < options->input_count && code == LAP_OK; i++) {
        const char *path = as_file(options->inputs[i]);
        w.operand = i;
        w.root_length = 0;
        if (stat(path, &st))
            code = give_problem(&w, path, base_name(path), errno, "cannot be examined");
        else if (S_ISDIR(st.st_mode))
            code = walk_folder(&w, path);
        else
            code = give_named(&w, path, base_name(path), &st);
    }
    end(&w);
    return code;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static walk walk_of(const lap_walk_side *side, lap_walk_fn *visit, void *user, lap_error *err)
{
    return (walk){.options = side->options,
        .visit = visit,
        .user = user,
        .err = err,
        .twin = side->other,
        .outputs = {.others = side->options->others}};
}

lap_code lap_walk_folder(const lap_walk_side *side, lap_walk_fn *visit, void *user, lap_error *err)
{
    walk w = walk_of(side, visit, user, err);
    lap_code code = find_roots(&w, &side->folder, 1);
    if (code == LAP_OK)
        code = walk_folder(&w, side->folder);
    end(&w);
    return code;
}

struct lap_probe {
    walk w;
    lap_batch_options options; /* the side's options, without others */
    char *root;
    char folder[PATH_MAX]; /* the folder that was entered last; fd is its descriptor */
    int fd;                /* -1: no folder was entered */
    /* what the last step found */
    bool is_visited, is_link, is_entered;
    lap_error why;
};

static lap_code hear(void *user, const lap_walk_entry *entry, lap_error *err)
{
    lap_probe *p = user;
    (void)err;
    p->is_visited = !entry->link;
    p->is_link = entry->link;
    p->why = entry->problem ? *entry->problem : (lap_error){0};
    return LAP_OK;
}

lap_code lap_probe_open(
    const lap_walk_side *side, lap_walk_fn *visit, void *user, lap_probe **probe, lap_error *err)
{
    lap_probe *p = *probe = calloc(1, sizeof *p);
    if (!p)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    p->fd = -1;
    p->w = walk_of(side, visit, user, err);
    lap_code code = lap_take_check(side->options->take, err);
    if (code == LAP_OK)
        code = find_roots(&p->w, &side->folder, 1);
    if (code == LAP_OK)
        code = walk_folder(&p->w, side->folder);
    lap_outputs_free(&p->w.outputs);
    p->options = *side->options;
    p->options.others = NULL;
    p->w.options = &p->options;
    p->w.visit = hear;
    p->w.user = p;
    if (code == LAP_OK)
        code = begin_root(&p->w, side->folder);
    if (code == LAP_OK)
        p->root = p->w.folders[--p->w.count];
    return code;
}

void lap_probe_close(lap_probe *p)
{
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    free(p->root);
    end(&p->w);
    free(p);
}

static void forget_step(lap_probe *p)
{
    p->is_visited = p->is_link = p->is_entered = false;
    p->why = (lap_error){0};
}

static void stand_in(lap_probe *p, const char *folder, int fd)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = fd;
    p->is_entered = fd >= 0;
    if (folder != p->folder)
        snprintf(p->folder, sizeof p->folder, "%s", folder);
}

/* Goes back from the folder that was entered last to the deepest one that contains the path, or enters the
 * root. *rest: the part of the path below that folder. */
static lap_code go_back(lap_probe *p, const char *relative, const char **rest)
{
    int fd;
    *rest = relative;
    forget_step(p);
    if (p->fd < 0) {
        const lap_code code = open_folder(&p->w, p->root, true, &fd);
        stand_in(p, p->root, fd);
        return code;
    }
    const size_t length = strlen(p->folder), root = p->w.root_length;
    size_t common = 0, at = root;
    for (; at < length && p->folder[at] == relative[at - root]; at++)
        common = p->folder[at] == '/' ? at - root + 1 : common;
    if (at >= length && (length < root || relative[length - root] == '/')) { /* below the same folder */
        *rest = length < root ? relative : relative + (length - root) + 1;
        return LAP_OK;
    }
    *rest = relative + common;
    p->folder[common ? root + common - 1 : strlen(p->root)] = 0;
    lap_outputs_approach(&p->w.outputs, p->folder, false);
    fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        lap_fail_at(&p->why, LAP_E_UNREADABLE, p->folder, "cannot read this folder: %s", strerror(errno));
    stand_in(p, p->folder, fd);
    return LAP_OK;
}

/* Does what a walk does with a name in the folder that was entered last; enters it if it is a folder. */
static lap_code step(lap_probe *p, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int fd;
    forget_step(p);
    if (fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        const int failed = errno;
        const bool fits = snprintf(path, sizeof path, "%s/%s", p->folder, name) < PATH_MAX;
        if (failed != ENOENT)
            lap_fail_at(&p->why, LAP_E_UNREADABLE, fits ? path : name, "%s", strerror(failed));
        return LAP_OK;
    }
    lap_code code = visit_name(&p->w, p->fd, p->folder, name, IFTODT(st.st_mode));
    if (code != LAP_OK || p->w.count == 0)
        return code;
    char *folder = p->w.folders[--p->w.count];
    code = open_folder(&p->w, folder, false, &fd);
    if (fd >= 0)
        stand_in(p, folder, fd);
    else if (p->why.code == LAP_OK)
        lap_fail_at(&p->why, LAP_E_DIFFERENT, folder,
            "can be reached under another path, too, and is compared under that one");
    free(folder);
    return code;
}

/* Sets p->why to the reason why the walk skips this name. Leaves it LAP_OK if the name does not exist, or
 * only leads to the path as a folder. */
static void explain(lap_probe *p, const char *name, bool is_last)
{
    char path[PATH_MAX];
    struct stat st;
    const char *what = NULL;
    if (snprintf(path, sizeof path, "%s/%s", p->folder, name) >= PATH_MAX ||
        fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISLNK(st.st_mode) && (is_last || p->is_link))
        what = "is a symbolic link, which is not followed";
    else if (is_last && S_ISDIR(st.st_mode))
        what = "is a folder";
    else if (is_last && !S_ISREG(st.st_mode))
        what = "not a regular file";
    else if (is_last && (judge(&p->w, path, name, false) == LAP_TAKE_YES ||
                            lap_take_begins_like_jpeg(p->fd, name, false)))
        what = "is an output of an earlier run; to compare it, name its folder";
    else if (is_last)
        what = "does not begin like a JPEG";
    if (what)
        lap_fail_at(&p->why, LAP_E_DIFFERENT, path, "%s", what);
}

lap_code lap_probe_ask(lap_probe *p, const char *relative, lap_probed *as, lap_error *why, lap_error *err)
{
    const char *rest;
    bool is_last = false;
    p->w.err = err;
    lap_code code = go_back(p, relative, &rest);
    while (code == LAP_OK && p->fd >= 0 && !is_last) {
        char name[NAME_MAX + 1];
        const size_t length = strcspn(rest, "/");
        is_last = !rest[length];
        if (length >= sizeof name)
            break;
        memcpy(name, rest, length);
        name[length] = 0;
        rest += length + !is_last;
        code = step(p, name);
        if (is_last && p->is_entered && p->why.code == LAP_OK)
            lap_fail_at(&p->why, LAP_E_DIFFERENT, p->folder, "is a folder");
        else if (code == LAP_OK && !p->is_entered && !p->is_visited && p->why.code == LAP_OK)
            explain(p, name, is_last);
        if (!p->is_entered)
            break;
    }
    *why = p->why;
    *as = is_last && p->is_visited ? LAP_PROBED_VISITED
          : p->why.code != LAP_OK  ? LAP_PROBED_PASSED
                                   : LAP_PROBED_NOTHING;
    return code;
}
