/* Reads the files of the manifest line by line: into the records, on opening and when a decision needs what
 * other runs wrote, or for callers that need the names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/manifest_file.h"
#include "batch/manifest_state.h"

/* The manifest that is being read, and the function to call for each line. */
typedef struct reading {
    lap_manifest *manifest;
    bool is_believed; /* the file that is being read is believed */
    lap_manifest_fn *each;
    void *user;
} reading;

static lap_code fail_reading(const lap_manifest *m, const char *name, lap_error *err)
{
    return lap_fail_at(err, LAP_E_UNREADABLE, m->shown, "%.60s cannot be read: %s", name, strerror(errno));
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Ignores a line that a crash cut off, or that is not ours. The last line may lack only its newline. */
static lap_code read_line(void *user, char *text, size_t length, bool is_whole, lap_error *err)
{
    const reading *r = user;
    lap_manifest_line line;
    (void)is_whole;
    return text && lap_manifest_line_read(text, length, &line) ? r->each(r->user, &line, err) : LAP_OK;
}

/* Reads what follows *from, and moves *from to the end of the last complete line. */
static lap_code read_from(reading *r, int fd, const char *name, off_t *from, lap_error *err)
{
    char shown[PATH_MAX];
    snprintf(shown, sizeof shown, "%.*s/%.60s", PATH_MAX - 80, r->manifest->shown, name);
    return lap_manifest_read_text(fd, shown, from, read_line, r, err);
}

/* ---- whose they are ---------------------------------------------------------------------------- */

/* Records decide which files are replaced and removed, so a record is believed only if no other user could
 * write it. */
static const char *why_unbelieved(const struct stat *folder, const struct stat *file)
{
    const char *why = lap_manifest_why_not_ours(file);
    return why || !(folder->st_mode & S_IWOTH) ? why : "lies in a folder that everybody may write";
}

static void note_unbelieved(lap_manifest *m, const char *name, const char *why)
{
    if (m->unbelieved++ == 0)
        lap_fail_at(&m->why_unbelieved, LAP_E_EXISTS, m->shown, "%.80s %s", name, why);
}

size_t lap_manifest_unbelieved(const lap_manifest *m, bool *is_all, lap_error *why)
{
    *is_all = m->unbelieved == m->file_count;
    *why = m->why_unbelieved;
    return m->unbelieved;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Reads the file from *from on; does not open it if it has not grown. */
static lap_code read_file(reading *r, const char *name, off_t *from, lap_error *err)
{
    lap_manifest *m = r->manifest;
    struct stat st, folder;
    if (fstatat(m->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? LAP_OK : fail_reading(m, name, err);
    if (!S_ISREG(st.st_mode) || st.st_size == *from)
        return LAP_OK;
    if (fstat(m->folder, &folder) != 0)
        return fail_reading(m, name, err);
    const int fd = openat(m->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    lap_code code = LAP_OK;
    if (fd < 0 && errno == EACCES && why_unbelieved(&folder, &st)) {
        note_unbelieved(m, name, why_unbelieved(&folder, &st));
        return LAP_OK;
    }
    if (fd < 0) /* deleted since then, or a link: ignore it */
        return errno == ENOENT || errno == ELOOP ? LAP_OK : fail_reading(m, name, err);
    if (fstat(fd, &st) != 0)
        code = fail_reading(m, name, err);
    if (code == LAP_OK) {
        const char *why = why_unbelieved(&folder, &st);
        if (why && *from == 0)
            note_unbelieved(m, name, why);
        r->is_believed = why == NULL;
        code = read_from(r, fd, name, from, err);
    }
    close(fd);
    return code;
}

static int by_name(const void *key, const void *file)
{
    return strcmp(key, ((const manifest_file *)file)->name);
}

static int is_manifest(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 6 && !strcmp(d->d_name + length - 6, ".jsonl");
}

/* Adds new files to the list, and takes over the names. */
static lap_code merge_names(lap_manifest *m, struct dirent **names, size_t count, lap_error *err)
{
    manifest_file *merged = calloc(count + 1, sizeof *merged);
    for (size_t i = 0; merged && i < count; i++) {
        const manifest_file *known =
            m->file_count ? bsearch(names[i]->d_name, m->files, m->file_count, sizeof *known, by_name) : NULL;
        merged[i] = (manifest_file){strdup(names[i]->d_name), known ? known->read : 0};
        if (!merged[i].name) {
            while (i-- > 0)
                free(merged[i].name);
            free(merged);
            merged = NULL;
        }
    }
    if (!merged)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    for (size_t i = 0; i < m->file_count; i++)
        free(m->files[i].name);
    free(m->files);
    m->files = merged;
    m->file_count = count;
    return LAP_OK;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static lap_code list_files(lap_manifest *m, lap_error *err)
{
    struct dirent **names = NULL;
    const int count = scandirat(m->folder, ".", &names, is_manifest, by_bytes);
    if (count < 0)
        return lap_fail_at(err, errno == ENOMEM ? LAP_E_MEMORY : LAP_E_UNREADABLE, m->shown,
            "cannot be read: %s", strerror(errno));
    lap_code code = merge_names(m, names, (size_t)count, err);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return code;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static lap_code add_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    const reading *r = user;
    return lap_manifest_add(r->manifest, line, r->is_believed, err);
}

lap_code lap_manifest_refresh(lap_manifest *m, lap_error *err)
{
    reading r = {.manifest = m, .each = add_line, .user = &r};
    lap_code code = lap_manifest_folder(m, false, err);
    if (code == LAP_OK && m->folder >= 0)
        code = list_files(m, err);
    for (size_t i = 0; code == LAP_OK && i < m->file_count; i++)
        if (strcmp(m->files[i].name, m->own) != 0)
            code = read_file(&r, m->files[i].name, &m->files[i].read, err);
    return code;
}

lap_code lap_manifest_open(
    const lap_tree *tree, const lap_settings_mark *settings, lap_manifest **manifest, lap_error *err)
{
    lap_manifest *m = calloc(1, sizeof *m);
    *manifest = NULL;
    if (!m || asprintf(&m->shown, "%s/.lapedge", tree->path) < 0) {
        free(m);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    m->tree = tree;
    m->settings = *settings;
    m->fd = m->folder = -1;
    lap_code code = lap_manifest_refresh(m, err);
    if (code != LAP_OK) {
        lap_manifest_close(m);
        return code;
    }
    m->since = time(NULL);
    *manifest = m;
    return LAP_OK;
}

/* Whether a file may have got its name after the records were read. */
static bool is_new(const lap_manifest *m, const struct stat *file)
{
    enum { CLOCKS_DIFFER = 10 }; /* seconds, on a network file system */
    return file->st_ctim.tv_sec + CLOCKS_DIFFER >= m->since;
}

lap_code lap_manifest_judge(
    lap_manifest *m, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err)
{
    lap_code code = lap_manifest_find(m, standing, made, content, err);
    if (code != LAP_OK || *made > LAP_MADE_OURS || (*made == LAP_MADE_OURS && !is_new(m, standing->there)))
        return code;
    code = lap_manifest_refresh(m, err);
    return code == LAP_OK ? lap_manifest_find(m, standing, made, content, err) : code;
}

/* ---- for those who need the names ---------------------------------------------------------------- */

typedef struct naming {
    reading reading;
    lap_manifest_fn *each;
    void *user;
} naming;

static lap_code give_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    const naming *n = user;
    const bool counts = n->reading.is_believed && line->is_done && line->input;
    return counts ? n->each(n->user, line, err) : LAP_OK;
}

lap_code lap_manifest_each(lap_manifest *m, lap_manifest_fn *each, void *user, lap_error *err)
{
    naming n = {.reading = {.manifest = m, .each = give_line, .user = &n}, .each = each, .user = user};
    lap_code code = lap_manifest_folder(m, false, err);
    if (code == LAP_OK && m->folder >= 0)
        code = list_files(m, err);
    m->unbelieved = 0;
    for (size_t i = 0; code == LAP_OK && i < m->file_count; i++) {
        off_t from = 0;
        code = read_file(&n.reading, m->files[i].name, &from, err);
    }
    return code;
}
