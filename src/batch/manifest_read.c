/* Reads the files of the manifest line by line: into memory, when the manifest is opened and when a decision
 * depends on what other runs wrote, or for callers that need the names.
 *
 * The output folder's own records must be readable. Those of folders above and below it may belong to other
 * users. A record that is not read never leads to a file being replaced or removed, so folders that may not
 * be read are skipped. Any other failure is reported. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest_file.h"
#include "batch/manifest_state.h"

/* What is being read, and the function to call for each line. */
typedef struct reading {
    lap_manifest *manifest;
    manifest_place *place;
    int folder;       /* descriptor of the place */
    bool is_believed; /* the file that is being read is believed */
    lap_manifest_fn *each;
    void *user;
} reading;

static lap_code fail_reading(const reading *r, const char *name, lap_error *err)
{
    return lap_fail_at(
        err, LAP_E_UNREADABLE, r->place->shown, "%.60s cannot be read: %s", name, strerror(errno));
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Changes a line's output to its name below the output folder, for which room is a buffer. False: the output
 * is not below the output folder. */
static bool is_inside(const manifest_place *place, lap_manifest_line *line, char room[PATH_MAX])
{
    if (place->cut) {
        const size_t length = strlen(place->cut);
        const bool lies_in = strncmp(line->output, place->cut, length) == 0 && line->output[length];
        line->output += lies_in ? length : 0;
        return lies_in;
    }
    if (!place->below)
        return true;
    const int length = snprintf(room, PATH_MAX, "%s%s", place->below, line->output);
    line->output = room;
    return length > 0 && length < PATH_MAX;
}

/* Ignores a line that a crash cut off, or that is not ours. The last line may lack only its newline. */
static lap_code read_line(void *user, char *text, size_t length, bool is_whole, lap_error *err)
{
    const reading *r = user;
    lap_manifest_line line;
    char room[PATH_MAX];
    (void)is_whole;
    const bool counts =
        text && lap_manifest_line_read(text, length, &line) && is_inside(r->place, &line, room);
    return counts ? r->each(r->user, &line, err) : LAP_OK;
}

/* Reads what follows *from, and moves *from to the end of the last complete line. */
static lap_code read_from(reading *r, int fd, const char *name, off_t *from, lap_error *err)
{
    char shown[PATH_MAX];
    snprintf(shown, sizeof shown, "%.*s/%.60s", PATH_MAX - 80, r->place->shown, name);
    return lap_manifest_read_text(fd, shown, from, read_line, r, err);
}

/* ---- which records are believed ---------------------------------------------------------------- */

/* Records decide which files are replaced and removed, so a record is believed only if no other user could
 * write it. */
static const char *why_unbelieved(const struct stat *folder, const struct stat *file)
{
    const char *why = lap_manifest_why_not_ours(file);
    return why || !(folder->st_mode & S_IWOTH) ? why : "lies in a folder that everybody may write";
}

static void note_unbelieved(const reading *r, const char *name, const char *why)
{
    lap_manifest *m = r->manifest;
    if (r->place == &m->here && m->unbelieved++ == 0)
        lap_fail_at(&m->why_unbelieved, LAP_E_EXISTS, m->here.shown, "%.80s %s", name, why);
}

size_t lap_manifest_unbelieved(const lap_manifest *m, bool *is_all, lap_error *why)
{
    *is_all = m->unbelieved == m->here.file_count;
    *why = m->why_unbelieved;
    return m->unbelieved;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Reads all of the file, or only what is new; then it does not open a file that has not grown. Only what is
 * read as a whole must still be there: its lines may be all that keeps an output. */
static lap_code read_file(reading *r, manifest_file *file, bool all, lap_error *err)
{
    const char *name = file->name;
    off_t start = 0, *from = all ? &start : &file->read;
    struct stat st, folder;
    if (fstatat(r->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && !all ? LAP_OK : fail_reading(r, name, err);
    if (all && file->seen < 0 && !r->manifest->is_watched)
        file->seen = st.st_size;
    if (!S_ISREG(st.st_mode) || st.st_size == *from)
        return LAP_OK;
    if (fstat(r->folder, &folder) != 0)
        return fail_reading(r, name, err);
    const int fd = openat(r->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    lap_code code = LAP_OK;
    if (fd < 0 && errno == EACCES && why_unbelieved(&folder, &st)) {
        note_unbelieved(r, name, why_unbelieved(&folder, &st));
        return LAP_OK;
    }
    if (fd < 0) /* deleted since then, or a link */
        return (errno == ENOENT && !all) || errno == ELOOP ? LAP_OK : fail_reading(r, name, err);
    if (fstat(fd, &st) != 0)
        code = fail_reading(r, name, err);
    if (code == LAP_OK) {
        const char *why = why_unbelieved(&folder, &st);
        if (why && *from == 0)
            note_unbelieved(r, name, why);
        r->is_believed = why == NULL;
        if (r->is_believed || r->place == &r->manifest->here)
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

/* NULL: the place has no file of this name. */
static const manifest_file *find_file(const manifest_place *p, const char *name)
{
    return p->file_count ? bsearch(name, p->files, p->file_count, sizeof *p->files, by_name) : NULL;
}

/* Rebuilds the list of files from these names; keeps what is known about those that it had. */
static lap_code merge_names(manifest_place *p, struct dirent **names, size_t count, lap_error *err)
{
    manifest_file *merged = calloc(count + 1, sizeof *merged);
    for (size_t i = 0; merged && i < count; i++) {
        const manifest_file *known = find_file(p, names[i]->d_name);
        merged[i] =
            (manifest_file){strdup(names[i]->d_name), known ? known->read : 0, known ? known->seen : -1};
        if (!merged[i].name) {
            while (i-- > 0)
                free(merged[i].name);
            free(merged);
            merged = NULL;
        }
    }
    if (!merged)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    for (size_t i = 0; i < p->file_count; i++)
        free(p->files[i].name);
    free(p->files);
    p->files = merged;
    p->file_count = count;
    return LAP_OK;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Lists the names in an open place. Only the output folder's records must be readable: *count is -1 if others
 * are not. */
static lap_code scan(const reading *r, struct dirent ***names, int *count, lap_error *err)
{
    *count = scandirat(r->folder, ".", names, is_manifest, by_bytes);
    if (*count >= 0)
        return LAP_OK;
    if (errno == EACCES && r->place != &r->manifest->here) {
        r->place->is_blind |= r->place->is_late;
        return LAP_OK;
    }
    return lap_fail_at(err, errno == ENOMEM ? LAP_E_MEMORY : LAP_E_UNREADABLE, r->place->shown,
        "cannot be read: %s", strerror(errno));
}

static lap_code list_files(const reading *r, lap_error *err)
{
    struct dirent **names = NULL;
    int count;
    lap_code code = scan(r, &names, &count, err);
    if (code == LAP_OK && count >= 0)
        code = merge_names(r->place, names, (size_t)count, err);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return code;
}

/* ---- places ------------------------------------------------------------------------------------ */

void lap_manifest_place_free(manifest_place *p)
{
    if (p->folder >= 0)
        close(p->folder);
    for (size_t i = 0; i < p->file_count; i++)
        free(p->files[i].name);
    free(p->files);
    free(p->shown);
    free(p->cut);
    free(p->below);
    *p = (manifest_place){.folder = -1};
}

/* Whether this errno means that a place does not exist, or may not be seen. */
static bool is_absent(int why)
{
    return why == ENOENT || why == ENOTDIR || why == ELOOP || why == EACCES || why == ENAMETOOLONG;
}

/* Opens the folder of records of a place above or below the output folder. *folder is -1 if it does not
 * exist. */
static lap_code open_other(const lap_manifest *m, const manifest_place *p, int *folder, lap_error *err)
{
    enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };
    char inside[PATH_MAX];
    lap_code code = LAP_OK;
    errno = ENAMETOOLONG;
    *folder = -1;
    if (p->cut)
        *folder = open(p->shown, FOLDER);
    else if (snprintf(inside, sizeof inside, "%s.lapedge/.", p->below) < (int)sizeof inside)
        code = lap_tree_enter(m->tree, inside, false, folder, NULL);
    if (*folder >= 0 || (code != LAP_E_MEMORY && is_absent(errno)))
        return LAP_OK;
    const bool needs_memory = code == LAP_E_MEMORY || errno == ENOMEM;
    return lap_fail_at(err, needs_memory ? LAP_E_MEMORY : LAP_E_UNREADABLE, p->shown, "cannot be read: %s",
        strerror(needs_memory ? ENOMEM : errno));
}

static bool is_here(const reading *r)
{
    return r->place == &r->manifest->here;
}

/* Opens a place; r->folder is -1 if it does not exist. close_place closes it, also after a failure. */
static lap_code open_place(reading *r, lap_error *err)
{
    lap_manifest *m = r->manifest;
    const lap_code code =
        is_here(r) ? lap_manifest_folder(m, false, err) : open_other(m, r->place, &r->folder, err);
    r->folder = is_here(r) ? m->here.folder : r->folder;
    return code;
}

static void close_place(const reading *r)
{
    if (!is_here(r) && r->folder >= 0)
        close(r->folder);
}

/* Reads the files of a place from the beginning, or only what is new, and calls r->each. */
static lap_code read_place(reading *r, bool all, lap_error *err)
{
    lap_code code = open_place(r, err);
    if (code == LAP_OK && all && !is_here(r) && r->folder < 0) /* it was there when it was added */
        code = lap_fail_at(err, LAP_E_UNREADABLE, r->place->shown, "was moved or removed during the run");
    if (code == LAP_OK && r->folder >= 0)
        code = list_files(r, err);
    for (size_t i = 0; code == LAP_OK && r->folder >= 0 && i < r->place->file_count; i++) {
        manifest_file *file = &r->place->files[i];
        if (all || !is_here(r) || strcmp(file->name, r->manifest->own) != 0)
            code = read_file(r, file, all, err);
    }
    close_place(r);
    return code;
}

/* Whether a file of a place has appeared or grown since it was first read as a whole. May be called while a
 * file of the place is read. */
static lap_code look_for_news(lap_manifest *m, manifest_place *place, bool *is_new, lap_error *err)
{
    struct stat st;
    reading r = {.manifest = m, .place = place, .folder = -1};
    struct dirent **names = NULL;
    lap_code code = open_place(&r, err);
    int count = 0;
    if (code == LAP_OK && r.folder >= 0)
        code = scan(&r, &names, &count, err);
    for (int i = 0; i < count; i++) {
        const manifest_file *known = find_file(place, names[i]->d_name);
        if (code == LAP_OK && fstatat(r.folder, names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            *is_new |= !known || st.st_size != known->seen;
        else if (code == LAP_OK && errno != ENOENT)
            code = fail_reading(&r, names[i]->d_name, err);
        free(names[i]);
    }
    free(names);
    close_place(&r);
    return code;
}

static lap_code add_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    const reading *r = user;
    /* A folder below is first read when an output in it is judged. */
    const manifest_rival rival = r->place->is_read ? IS_RIVAL
                                 : r->place->below ? IS_RIVAL_IF_NEW
                                                   : IS_NO_RIVAL;
    return lap_manifest_add(r->manifest, line, r->is_believed, rival, err);
}

/* Adds new lines of a place to the records. */
static lap_code refresh_place(lap_manifest *m, manifest_place *p, lap_error *err)
{
    reading r = {.manifest = m, .place = p, .folder = -1, .each = add_line, .user = &r};
    const lap_code code = read_place(&r, false, err);
    p->is_read |= code == LAP_OK;
    return code;
}

lap_code lap_manifest_refresh(lap_manifest *m, lap_error *err)
{
    lap_code code = refresh_place(m, &m->here, err);
    for (size_t i = 0; i < m->other_count && code == LAP_OK; i++)
        if (m->others[i].cut)
            code = refresh_place(m, &m->others[i], err);
    return code;
}

/* Returns the two texts, joined; NULL: out of memory. */
static char *joined(const char *first, size_t length, const char *second)
{
    char *whole = NULL;
    return asprintf(&whole, "%.*s%s", (int)length, first, second) < 0 ? NULL : whole;
}

/* Adds a place above or below the output folder if it has records, and frees it otherwise. *number: 1 + its
 * index, or 0. LAP_E_MEMORY, also if the caller had no memory for the place's texts: shown, and cut or below,
 * must be set. */
static lap_code add_other(lap_manifest *m, manifest_place *place, uint64_t *number, lap_error *err)
{
    int folder = -1;
    manifest_place *grown = place->shown && (place->cut || place->below)
                                ? lap_grow(m->others, &m->other_capacity, m->other_count + 1, sizeof *grown)
                                : NULL;
    lap_code code = LAP_OK;
    *number = 0;
    if (grown) {
        m->others = grown;
        code = open_other(m, place, &folder, err);
    } else {
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    }
    if (folder < 0) {
        lap_manifest_place_free(place);
        return code;
    }
    close(folder);
    m->others[m->other_count++] = *place;
    *number = m->other_count;
    return LAP_OK;
}

static bool is_known(const lap_manifest *m, const char *shown)
{
    bool found = false;
    for (size_t i = 0; shown && i < m->other_count && !found; i++)
        found = strcmp(m->others[i].shown, shown) == 0;
    return found;
}

/* Adds the folders above the output folder that have records. is_late: they had none before. */
static lap_code find_above(lap_manifest *m, bool is_late, lap_error *err)
{
    char *real = m->tree->fd >= 0 ? realpath(m->tree->path, NULL) : NULL;
    if (!real && m->tree->fd >= 0 && !is_absent(errno))
        return lap_fail_at(err, errno == ENOMEM ? LAP_E_MEMORY : LAP_E_UNREADABLE, m->tree->path,
            "cannot be examined: %s", strerror(errno));
    lap_code code = LAP_OK;
    uint64_t number;
    for (size_t at = real ? strlen(real) : 0; at-- > 0 && code == LAP_OK && real[1];)
        if (real[at] == '/') {
            const char *from = real + at + 1;
            manifest_place place = {.shown = joined(real, at, "/.lapedge"),
                .folder = -1,
                .cut = joined(from, strlen(from), "/"),
                .is_late = is_late,
                .is_read = is_late};
            if (is_late && is_known(m, place.shown))
                lap_manifest_place_free(&place);
            else
                code = add_other(m, &place, &number, err);
        }
    free(real);
    return code;
}

/* Adds a folder below the output folder if it has records. Its path is the first `length` bytes of this
 * output's name. is_late: it had no records before. */
static lap_code add_below(
    lap_manifest *m, const char *output, size_t length, bool is_late, uint64_t *number, lap_error *err)
{
    manifest_place place = {.folder = -1, .below = joined(output, length, ""), .is_read = is_late};
    if (asprintf(&place.shown, "%s/%.*s.lapedge", m->tree->path, (int)length, output) < 0)
        place.shown = NULL;
    return add_other(m, &place, number, err);
}

/* Looks for records in the folders between the output folder and an output. again: also reads new lines, and
 * looks again in folders that had no records. */
static lap_code look_below(lap_manifest *m, const char *output, bool again, lap_error *err)
{
    lap_code code = LAP_OK;
    for (const char *slash = strchr(output, '/'); slash && code == LAP_OK; slash = strchr(slash + 1, '/')) {
        const size_t length = (size_t)(slash - output) + 1;
        const uint64_t key = lap_map64_key(output, length), *found = lap_map64_find(&m->looked, key);
        const bool is_known = found != NULL;
        uint64_t number = is_known ? *found : 0;
        if (is_known && !again)
            continue;
        if (!number)
            code = add_below(m, output, length, is_known, &number, err);
        if (code == LAP_OK)
            code = lap_map64_put(&m->looked, key, number, err);
        if (code == LAP_OK && number)
            code = refresh_place(m, &m->others[number - 1], err);
    }
    return code;
}

/* ---- all of them ------------------------------------------------------------------------------- */

lap_code lap_manifest_open(
    const lap_tree *tree, const lap_settings_mark *settings, lap_manifest **manifest, lap_error *err)
{
    lap_manifest *m = calloc(1, sizeof *m);
    *manifest = NULL;
    if (!m || !(m->here.shown = joined(tree->path, strlen(tree->path), "/.lapedge"))) {
        free(m);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    m->tree = tree;
    m->settings = *settings;
    m->fd = m->here.folder = -1;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &m->since); /* reading may take long */
    lap_code code = find_above(m, false, err);
    if (code == LAP_OK)
        code = lap_manifest_refresh(m, err);
    if (code != LAP_OK) {
        lap_manifest_close(m);
        return code;
    }
    *manifest = m;
    return LAP_OK;
}

/* Whether a file may have got its name after the reading of the records began. */
static bool is_new(const lap_manifest *m, const struct stat *file)
{
    enum { CLOCKS_DIFFER = 10 }; /* seconds, on a network file system */
    return file->st_ctim.tv_sec + CLOCKS_DIFFER >= m->since.tv_sec;
}

lap_code lap_manifest_judge(
    lap_manifest *m, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err)
{
    lap_code code = look_below(m, standing->output, false, err);
    if (code == LAP_OK)
        code = lap_manifest_find(m, standing, made, content, err);
    if (code != LAP_OK || *made > LAP_MADE_OURS || (*made == LAP_MADE_OURS && !is_new(m, standing->there)))
        return code;
    if (is_new(m, standing->there)) /* perhaps made by a run that has just begun in a folder above */
        code = find_above(m, true, err);
    if (code == LAP_OK)
        code = lap_manifest_refresh(m, err);
    if (code == LAP_OK)
        code = look_below(m, standing->output, true, err);
    if (code == LAP_OK)
        code = lap_manifest_find(m, standing, made, content, err);
    if (code == LAP_OK && *made < LAP_MADE_MEANWHILE && is_new(m, standing->there) &&
        lap_manifest_is_blind(m, NULL))
        *made = LAP_MADE_MEANWHILE; /* the sandbox cannot allow records that do not exist when it begins */
    if (code == LAP_OK && *made < LAP_MADE_SPELT && !lap_tree_is_spelt(m->tree, standing->output))
        *made = LAP_MADE_SPELT;
    return code;
}

lap_code lap_manifest_look_below(lap_manifest *m, const char *output, lap_error *err)
{
    return look_below(m, output, true, err);
}

lap_code lap_manifest_look_above(lap_manifest *m, lap_error *err)
{
    struct stat named, opened;
    if (m->tree->fd < 0)
        return LAP_OK;
    if (stat(m->tree->path, &named) != 0 || fstat(m->tree->fd, &opened) != 0)
        return lap_fail_at(err, LAP_E_UNREADABLE, m->tree->path, "cannot be examined: %s", strerror(errno));
    if (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev)
        return lap_fail_at(err, LAP_E_UNREADABLE, m->tree->path, "was moved or replaced during the run");
    return find_above(m, true, err);
}

void lap_manifest_watch(lap_manifest *m)
{
    m->is_watched = true;
}

lap_code lap_manifest_has_news(lap_manifest *m, const char *output, bool *has_news, lap_error *err)
{
    const size_t before = m->other_count;
    lap_code code = lap_manifest_look_above(m, err);
    if (code == LAP_OK)
        code = look_below(m, output, true, err);
    *has_news = m->other_count != before;
    if (code == LAP_OK)
        code = look_for_news(m, &m->here, has_news, err);
    for (size_t i = 0; i < m->other_count && code == LAP_OK && !*has_news; i++)
        code = look_for_news(m, &m->others[i], has_news, err);
    return code;
}

bool lap_manifest_is_blind(const lap_manifest *m, lap_error *why)
{
    for (size_t i = 0; i < m->other_count; i++)
        if (m->others[i].is_blind) {
            lap_fail_at(
                why, LAP_E_UNREADABLE, m->others[i].shown, "appeared during the run, and may not be read");
            return true;
        }
    return false;
}

/* ---- for callers that need the names ------------------------------------------------------------- */

typedef struct naming {
    reading reading;
    bool is_begun; /* gives "begin" lines */
    lap_manifest_fn *each;
    void *user;
} naming;

static lap_code give_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    const naming *n = user;
    const bool counts =
        n->reading.is_believed && (n->is_begun ? !line->is_done : line->is_done && line->input);
    return counts ? n->each(n->user, line, err) : LAP_OK;
}

static lap_code each_in(
    lap_manifest *m, manifest_place *place, bool is_begun, lap_manifest_fn *each, void *user, lap_error *err)
{
    naming n = {.reading = {.manifest = m, .place = place, .folder = -1, .each = give_line, .user = &n},
        .is_begun = is_begun,
        .each = each,
        .user = user};
    return read_place(&n.reading, true, err);
}

lap_code lap_manifest_each(lap_manifest *m, lap_manifest_fn *each, void *user, lap_error *err)
{
    m->unbelieved = 0;
    return each_in(m, &m->here, false, each, user, err);
}

lap_code lap_manifest_each_begun(lap_manifest *m, lap_manifest_fn *each, void *user, lap_error *err)
{
    return each_in(m, &m->here, true, each, user, err);
}

lap_code lap_manifest_each_other(
    lap_manifest *m, const char **folder, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    for (size_t i = 0; i < m->other_count && code == LAP_OK; i++) {
        *folder = m->others[i].shown;
        code = each_in(m, &m->others[i], false, each, user, err);
    }
    return code;
}
