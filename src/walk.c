/* nftw(3) reads folders as a stream, where fts(3) holds a whole folder in memory: a flat folder of 100,000
 * photos must cost no more than one of 1,000. nftw has no user pointer, hence the thread-local. */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "status.h"

enum { OPEN_FOLDERS = 16 }; /* descriptors that nftw may hold; deeper trees reopen folders */

typedef struct walk {
    const lap_batch_options *options;
    lap_walk_fn *visit;
    void *user;
    lap_error *err;
    lap_code code;
    size_t root_length; /* of the folder operand, with its slash */
    bool has_out;       /* the output folder exists, as this device and inode */
    dev_t out_device;
    ino_t out_inode;
} walk;

static _Thread_local walk *current;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool begins_like_jpeg(const char *path)
{
    unsigned char magic[3];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, magic, sizeof magic);
    close(fd);
    return got == 3 && magic[0] == 0xFF && magic[1] == 0xD8 && magic[2] == 0xFF;
}

static bool is_photo(const char *path)
{
    static const char *const extensions[] = {".jpg", ".jpeg", ".jpe", ".jfif"};
    const char *name = base_name(path), *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return begins_like_jpeg(path);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (!strcasecmp(dot, extensions[i]))
            return true;
    return false;
}

static lap_code give(
    walk *w, const char *path, const char *relative, const struct stat *st, lap_error *problem)
{
    lap_walk_entry entry = {path, relative, st, problem};
    return w->code = w->visit(w->user, &entry, w->err);
}

static int on_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    walk *w = current;
    const char *relative = strlen(path) > w->root_length ? path + w->root_length : base_name(path);
    lap_error problem;
    (void)ftw;
    switch (type) {
    case FTW_D:
        if (w->has_out && st->st_dev == w->out_device && st->st_ino == w->out_inode)
            return FTW_SKIP_SUBTREE;
        return !strcmp(base_name(path), ".lapedge") ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
    case FTW_DNR:
        lap_fail(&problem, LAP_E_UNREADABLE, "%.300s: cannot read this folder: %s", path, strerror(errno));
        return give(w, path, relative, NULL, &problem) == LAP_OK ? FTW_CONTINUE : FTW_STOP;
    case FTW_F:
        if (!S_ISREG(st->st_mode) || !strncmp(base_name(path), ".lapedge-", 9) || !is_photo(path))
            return FTW_CONTINUE;
        return give(w, path, relative, st, NULL) == LAP_OK ? FTW_CONTINUE : FTW_STOP;
    case FTW_NS:
        lap_fail(&problem, LAP_E_UNREADABLE, "%.300s: cannot be looked at: %s", path, strerror(errno));
        return give(w, path, relative, NULL, &problem) == LAP_OK ? FTW_CONTINUE : FTW_STOP;
    default:
        return FTW_CONTINUE; /* symbolic links */
    }
}

static lap_code walk_folder(walk *w, const char *root)
{
    size_t length = strlen(root);
    char *clean = strdup(root);
    if (!clean)
        return lap_fail(w->err, LAP_E_MEMORY, "out of memory");
    while (length > 1 && clean[length - 1] == '/')
        clean[--length] = 0;
    w->root_length = clean[length - 1] == '/' ? length : length + 1;
    walk *outer = current;
    current = w;
    w->code = LAP_OK;
    int rc = nftw(clean, on_entry, OPEN_FOLDERS, FTW_PHYS | FTW_ACTIONRETVAL);
    current = outer;
    if (rc < 0 && w->code == LAP_OK) {
        lap_error problem;
        lap_fail(&problem, LAP_E_UNREADABLE, "%.300s: cannot be walked: %s", clean, strerror(errno));
        give(w, clean, base_name(clean), NULL, &problem);
    }
    free(clean);
    return w->code;
}

static lap_code give_named(walk *w, const char *path, const char *relative)
{
    struct stat st;
    lap_error problem;
    if (stat(path, &st)) {
        lap_fail(&problem, errno == ENOENT || errno == ENOTDIR ? LAP_E_MISSING : LAP_E_UNREADABLE,
            "%.300s: %s", path, strerror(errno));
        return give(w, path, relative, NULL, &problem);
    }
    if (!S_ISREG(st.st_mode)) {
        lap_fail(&problem, LAP_E_UNREADABLE, "%.300s: not a regular file", path);
        return give(w, path, relative, NULL, &problem);
    }
    return give(w, path, relative, &st, NULL);
}

/* Where a listed path goes: relative ones keep their folders; absolute ones, and those that climb with
 * "..", keep their name only. */
static const char *listed_relative(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        for (path++; *path == '/';)
            path++;
    if (*path == '/')
        return base_name(path);
    for (const char *p = path; *p; p++)
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]) && (p == path || p[-1] == '/'))
            return base_name(path);
    return path;
}

static lap_code walk_list(walk *w, const char *list, size_t size)
{
    char end = w->options->nul_separated ? 0 : '\n';
    lap_code code = LAP_OK;
    for (const char *p = list, *last = list + size; p < last && code == LAP_OK;) {
        const char *stop = memchr(p, end, (size_t)(last - p));
        size_t length = (size_t)((stop ? stop : last) - p);
        char *path = strndup(p, length);
        if (!path)
            return lap_fail(w->err, LAP_E_MEMORY, "out of memory");
        if (*path)
            code = give_named(w, path, listed_relative(path));
        free(path);
        p += length + 1;
    }
    return code;
}

lap_code lap_walk(const lap_batch_options *options, const char *list, size_t list_size, lap_walk_fn *visit,
    void *user, lap_error *err)
{
    walk w = {.options = options, .visit = visit, .user = user, .err = err};
    struct stat st;
    if (!stat(options->out_dir, &st)) {
        w.has_out = true;
        w.out_device = st.st_dev;
        w.out_inode = st.st_ino;
    }
    if (list)
        return walk_list(&w, list, list_size);
    for (size_t i = 0; i < options->input_count; i++) {
        const char *path = options->inputs[i];
        bool folder = !stat(path, &st) && S_ISDIR(st.st_mode);
        lap_code code = folder ? walk_folder(&w, path) : give_named(&w, path, base_name(path));
        if (code != LAP_OK)
            return code;
    }
    return LAP_OK;
}
