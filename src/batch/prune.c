#include "batch/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/map64.h"

typedef struct prune_folder { /* an input that is a folder */
    char *name;               /* from the root, without "." and empty steps; NULL: it is none */
    bool has_photos;
} prune_folder;

struct lap_prune {
    const lap_batch_options *options;
    lap_batch_prune *result; /* the caller's */
    prune_folder *folders;   /* one per input */
    lap_map64 outputs;       /* hashes of names that are not to be removed, or have been */
    /* while it removes */
    const lap_tree *tree;
    const lap_control *control;
};

/* Why an output stays that may be one to go; what is NULL: there was none. */
typedef struct prune_trouble {
    const char *what;
    int number; /* an errno */
} prune_trouble;

static uint64_t name_key(const char *name)
{
    return lap_map64_key(name, strlen(name));
}

/* The path from the root, in malloc'ed memory: links and ".." stay as they are. */
static char *from_root(const char *path)
{
    char here[PATH_MAX] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return NULL;
    char *whole = malloc(strlen(here) + strlen(path) + 2), *end = whole;
    if (!whole)
        return NULL;
    const char *const parts[] = {here, path};
    for (int i = 0; i < 2; i++)
        for (const char *step = parts[i]; *step; step += strcspn(step, "/")) {
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

/* ---- what the run sees --------------------------------------------------------------------------- */

static void refuse(lap_prune *p, const lap_error *why)
{
    if (p->result->refused.code == LAP_OK)
        p->result->refused = *why;
}

static lap_code check(const lap_batch_options *o, lap_error *err)
{
    const lap_batch_take *take = o->take;
    if (o->shards > 1)
        return lap_fail(err, LAP_E_USAGE, "a share of the photos cannot show which are gone");
    if (o->files_from)
        return lap_fail(err, LAP_E_USAGE, "a list of files cannot show which are gone");
    if (take && (take->include_count || take->exclude_count || take->extensions))
        return lap_fail(err, LAP_E_USAGE, "photos that a filter leaves out would look gone");
    return LAP_OK;
}

lap_code lap_prune_create(const lap_batch_options *options, lap_prune **prune, lap_error *err)
{
    lap_batch_prune *result = options->prune;
    bool has_folder = false;
    struct stat st;
    lap_error why;
    *prune = NULL;
    result->removed = result->kept = result->failed = 0;
    result->refused = (lap_error){0};
    lap_code code = check(options, err);
    if (code != LAP_OK)
        return code;
    lap_prune *p = calloc(1, sizeof *p);
    if (p)
        *p = (lap_prune){.options = options,
            .result = result,
            .folders = calloc(options->input_count + 1, sizeof *p->folders)};
    bool has_memory = p && p->folders;
    for (size_t i = 0; has_memory && i < options->input_count; i++) {
        const bool is_there = stat(options->inputs[i], &st) == 0;
        if (!is_there && errno != ENOENT && errno != ENOTDIR) {
            lap_fail_at(&why, LAP_E_UNREADABLE, options->inputs[i], "%s", strerror(errno));
            refuse(p, &why);
        }
        has_folder = has_folder || !is_there || S_ISDIR(st.st_mode); /* what is missing is found out later */
        if (is_there && S_ISDIR(st.st_mode)) {
            p->folders[i].name = from_root(options->inputs[i]);
            has_memory = p->folders[i].name != NULL;
        }
    }
    if (!has_memory || !has_folder) {
        lap_prune_free(p);
        return has_memory
                   ? lap_fail(err, LAP_E_USAGE, "none of the inputs is a folder, so no photo of one is gone")
                   : lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    *prune = p;
    return LAP_OK;
}

void lap_prune_free(lap_prune *prune)
{
    if (!prune)
        return;
    for (size_t i = 0; prune->folders && i < prune->options->input_count; i++)
        free(prune->folders[i].name);
    free(prune->folders);
    lap_map64_free(&prune->outputs);
    free(prune);
}

lap_code lap_prune_note(lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err)
{
    if (!prune)
        return LAP_OK;
    if (entry->problem)
        refuse(prune, entry->problem);
    if (!entry->link && entry->operand < prune->options->input_count)
        prune->folders[entry->operand].has_photos = true;
    return output ? lap_map64_put(&prune->outputs, name_key(output), 1, err) : LAP_OK;
}

/* ---- what is gone -------------------------------------------------------------------------------- */

static bool lies_inside(const lap_prune *p, const char *path)
{
    for (size_t i = 0; i < p->options->input_count; i++) {
        const char *folder = p->folders[i].name;
        const size_t length = folder ? strlen(folder) : 0;
        if (folder && strncmp(path, folder, length) == 0 && path[length] == '/')
            return true;
    }
    return false;
}

/* As that of a disk that is not mounted. Cuts the path at its last slash. False, too, with a number in *why.
 */
static bool folder_is_empty(char *path, int *why)
{
    int count = 0;
    *strrchr(path, '/') = '\0';
    DIR *folder = opendir(*path ? path : "/");
    if (!folder) {
        *why = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
        return false;
    }
    errno = 0;
    while (count <= 2 && readdir(folder))
        count++;
    *why = count <= 2 ? errno : 0;
    closedir(folder);
    return count <= 2 && *why == 0; /* itself and its parent */
}

/* Whether the input of a line is one of this run's folders' and not there any more. */
static bool is_gone(lap_prune *p, const char *input, prune_trouble *trouble)
{
    struct stat st;
    int why = 0;
    char *path = from_root(input);
    bool gone = false;
    if (!path)
        why = errno;
    else if (lies_inside(p, path) && lstat(path, &st) != 0) {
        gone = errno == ENOENT || errno == ENOTDIR;
        why = gone ? 0 : errno;
    }
    if (gone && folder_is_empty(path, &why)) {
        p->result->kept++;
        gone = false;
    }
    free(path);
    if (why != 0)
        *trouble = (prune_trouble){"stays, as its photo cannot be looked for", why};
    return gone && why == 0;
}

static bool is_file_of(const lap_manifest_line *line, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (int64_t)st->st_ino == line->inode && st->st_size == line->size &&
           st->st_mtim.tv_sec == line->mtime_s && st->st_mtim.tv_nsec == line->mtime_ns;
}

static void report(lap_prune *p, const char *output, const prune_trouble *trouble)
{
    lap_error problem = {0};
    const lap_batch_prune *result = p->result;
    char path[PATH_MAX];
    size_t length = strlen(p->options->out_dir);
    while (length > 0 && p->options->out_dir[length - 1] == '/')
        length--;
    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, p->options->out_dir, output) >= (int)sizeof path)
        return;
    if (trouble->what)
        lap_fail_at(&problem, LAP_E_WRITE, path, "%s: %s", trouble->what, strerror(trouble->number));
    if (result->each)
        result->each(result->user, path, trouble->what ? &problem : NULL);
}

/* Whether it is an output of ours at that place: links are not followed, and nothing climbs. */
static bool find(
    const lap_prune *p, const lap_manifest_line *line, int *folder, const char **name, prune_trouble *trouble)
{
    struct stat there;
    const char *slash = strrchr(line->output, '/');
    *name = slash ? slash + 1 : line->output;
    if (**name == '\0')
        return false;
    errno = 0;
    const lap_code code = lap_tree_enter(p->tree, line->output, false, folder, NULL);
    if (code == LAP_OK && fstatat(*folder, *name, &there, AT_SYMLINK_NOFOLLOW) == 0) {
        if (is_file_of(line, &there))
            return true;
    } else if (code == LAP_OK ? errno != ENOENT : code == LAP_E_WRITE)
        *trouble = (prune_trouble){"cannot be examined", errno};
    if (code == LAP_OK)
        lap_tree_leave(p->tree, *folder);
    return false;
}

static lap_code look_at_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    const char *name;
    int folder;
    prune_trouble trouble = {0};
    lap_code code = lap_control_check(p->control, err);
    if (code != LAP_OK || lap_map64_find(&p->outputs, name_key(line->output)))
        return code;
    bool goes = false;
    if (find(p, line, &folder, &name, &trouble)) {
        goes = is_gone(p, line->input, &trouble);
        if (goes && !p->options->dry_run && unlinkat(folder, name, 0) != 0)
            trouble = (prune_trouble){"cannot be removed", errno};
        lap_tree_leave(p->tree, folder);
    }
    if (!goes && !trouble.what)
        return LAP_OK;
    p->result->removed += trouble.what == NULL;
    p->result->failed += trouble.what != NULL;
    report(p, line->output, &trouble);
    return lap_map64_put(&p->outputs, name_key(line->output), 1, err); /* other lines are of the same file */
}

lap_code lap_prune_outputs(lap_prune *prune, const lap_tree *tree, lap_manifest *manifest,
    const lap_control *control, bool stopped, lap_error *err)
{
    lap_error why;
    if (!prune)
        return LAP_OK;
    for (size_t i = 0; i < prune->options->input_count; i++)
        if (prune->folders[i].name && !prune->folders[i].has_photos) {
            lap_fail_at(&why, LAP_E_MISSING, prune->options->inputs[i], "holds no photo");
            refuse(prune, &why);
        }
    if (stopped) {
        lap_fail(&why, LAP_E_CANCELLED, "the run has stopped early");
        refuse(prune, &why);
    }
    if (prune->result->refused.code != LAP_OK)
        return LAP_OK;
    prune->tree = tree;
    prune->control = control;
    return lap_manifest_each(manifest, look_at_line, prune, err);
}
