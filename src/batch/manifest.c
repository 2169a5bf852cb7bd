#include "batch/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest_state.h"
#include "io/sink_temp.h"

enum { MAX_LINE = LAP_MANIFEST_LINE, PIECE = 64 * 1024 };

static uint64_t hash_path(const char *path)
{
    return lap_map64_key(path, strlen(path));
}

/* A changed input is recognised by size and nanosecond time; its path does not count, so that the same folder
 * named in another way is not done twice. */
static uint64_t fingerprint(uint64_t settings, int64_t size, int64_t seconds, int64_t nanoseconds)
{
    const int64_t facts[] = {(int64_t)settings, size, seconds, nanoseconds};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t file_key(int64_t device, int64_t inode, int64_t size, int64_t seconds, int64_t nanoseconds)
{
    const int64_t facts[] = {device, inode, size, seconds, nanoseconds};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t content_key(int64_t size, uint64_t content)
{
    const uint64_t facts[] = {(uint64_t)size, content};
    return lap_map64_key(facts, sizeof facts);
}

/* ---- lines ------------------------------------------------------------------------------------- */

static bool get_path(const json_t *line, const char *name, const char *raw_name, uint64_t *hash)
{
    char *path = lap_manifest_path(line, name, raw_name);
    if (path)
        *hash = hash_path(path);
    free(path);
    return path != NULL;
}

static int64_t integer(const json_t *line, const char *name)
{
    return json_integer_value(json_object_get(line, name));
}

static lap_code add_record(lap_manifest *m, uint64_t output, manifest_record record, lap_error *err)
{
    uint64_t *last = lap_map64_find(&m->outputs, output);
    for (uint32_t at = last ? (uint32_t)*last : 0; at; at = m->records[at - 1].before) {
        manifest_record *known = &m->records[at - 1];
        if (known->file == record.file && known->content == record.content && known->size == record.size) {
            known->made = record.made ? record.made : known->made; /* done after begin */
            return LAP_OK;
        }
    }
    manifest_record *grown =
        m->count < UINT32_MAX ? lap_grow(m->records, &m->capacity, m->count + 1, sizeof *grown) : NULL;
    if (!grown)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the records of %zu outputs", m->count);
    m->records = grown;
    record.before = last ? (uint32_t)*last : 0;
    m->records[m->count++] = record;
    return lap_map64_put(&m->outputs, output, m->count, err);
}

static lap_code read_line(lap_manifest *m, const char *text, size_t length, lap_error *err)
{
    lap_code code = LAP_OK;
    uint64_t output;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    const char *settings = json_string_value(json_object_get(line, "settings"));
    const char *content = json_string_value(json_object_get(line, "output_hash"));
    const int64_t size = integer(line, "output_size");
    const bool is_done = event && strcmp(event, "done") == 0;
    /* A line that a crash cut short parses as nothing, and says nothing; nor does the begin of an old
     * version. */
    if (event && settings && (content || is_done) && get_path(line, "output", "output_raw", &output)) {
        manifest_record record = {.size = (uint32_t)size};
        if (content) {
            record.file = file_key(integer(line, "output_device"), integer(line, "output_inode"), size,
                integer(line, "output_mtime_s"), integer(line, "output_mtime_ns"));
            record.content = content_key(size, strtoull(content, NULL, 16));
        }
        if (is_done)
            record.made = fingerprint(strtoull(settings, NULL, 16), integer(line, "input_size"),
                integer(line, "input_mtime_s"), integer(line, "input_mtime_ns"));
        code = add_record(m, output, record, err);
    }
    json_decref(line);
    return code;
}

/* ---- files ------------------------------------------------------------------------------------- */

static lap_code fail_reading(const lap_manifest *m, const char *name, lap_error *err)
{
    return lap_fail_at(err, LAP_E_UNREADABLE, m->shown, "%.60s: %s", name, strerror(errno));
}

/* Lines of buffer, the first `used` bytes; *rest: those of them that have no end yet. */
static lap_code read_lines(
    lap_manifest *m, const char *buffer, size_t used, bool *skips, size_t *rest, lap_error *err)
{
    lap_code code = LAP_OK;
    size_t start = 0;
    for (const char *end; code == LAP_OK && (end = memchr(buffer + start, '\n', used - start));) {
        const size_t length = (size_t)(end - buffer) - start;
        if (!*skips)
            code = read_line(m, buffer + start, length, err);
        *skips = false;
        start += length + 1;
    }
    *rest = used - start;
    return code;
}

/* What stands behind *from, which moves to the end of the last whole line. */
static lap_code read_from(lap_manifest *m, int fd, const char *name, off_t *from, lap_error *err)
{
    const size_t room = MAX_LINE + PIECE;
    char *buffer = malloc(room);
    size_t used = 0, rest = 0;
    off_t at = *from;
    bool skips = false; /* inside a line that is too long */
    lap_code code = LAP_OK;
    if (!buffer)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    while (code == LAP_OK) {
        const ssize_t got = pread(fd, buffer + used, PIECE, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = fail_reading(m, name, err);
        if (got <= 0)
            break;
        at += got;
        used += (size_t)got;
        code = read_lines(m, buffer, used, &skips, &rest, err);
        memmove(buffer, buffer + used - rest, rest);
        used = rest;
        if (used > MAX_LINE) {
            skips = true;
            used = 0;
        }
    }
    *from = skips ? at : at - (off_t)used;
    /* The last line may have lost its end and nothing else; should it get one, it is read again. */
    if (code == LAP_OK && used && !skips)
        code = read_line(m, buffer, used, err);
    free(buffer);
    return code;
}

static int by_name(const void *key, const void *file)
{
    return strcmp(key, ((const manifest_file *)file)->name);
}

static lap_code read_file(lap_manifest *m, manifest_file *file, lap_error *err)
{
    struct stat st;
    if (fstatat(m->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? LAP_OK : fail_reading(m, file->name, err);
    if (!S_ISREG(st.st_mode) || st.st_size == file->read)
        return LAP_OK;
    int fd = openat(m->folder, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP ? LAP_OK : fail_reading(m, file->name, err);
    lap_code code = read_from(m, fd, file->name, &file->read, err);
    close(fd);
    return code;
}

static int is_manifest(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 6 && !strcmp(d->d_name + length - 6, ".jsonl");
}

/* The list of files with those that are new; names become the list's. */
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

lap_code lap_manifest_refresh(lap_manifest *m, lap_error *err)
{
    struct dirent **names = NULL;
    lap_code code = lap_manifest_folder(m, false, err);
    if (code != LAP_OK || m->folder < 0)
        return code;
    const int count = scandirat(m->folder, ".", &names, is_manifest, by_bytes);
    if (count < 0)
        return lap_fail_at(err, LAP_E_UNREADABLE, m->shown, "%s", strerror(errno));
    code = merge_names(m, names, (size_t)count, err);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    for (size_t i = 0; code == LAP_OK && i < m->file_count; i++)
        if (strcmp(m->files[i].name, m->own) != 0)
            code = read_file(m, &m->files[i], err);
    return code;
}

lap_code lap_manifest_open(
    const lap_tree *tree, uint64_t settings_hash, lap_manifest **manifest, lap_error *err)
{
    lap_manifest *m = calloc(1, sizeof *m);
    *manifest = NULL;
    if (!m || asprintf(&m->shown, "%s/.lapedge", tree->path) < 0) {
        free(m);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    m->tree = tree;
    m->settings_hash = settings_hash;
    m->fd = m->folder = -1;
    lap_code code = lap_manifest_refresh(m, err);
    if (code != LAP_OK) {
        lap_manifest_close(m);
        return code;
    }
    *manifest = m;
    return LAP_OK;
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

lap_made lap_manifest_find(const lap_manifest *m, const char *output, const struct stat *in, int folder,
    const struct stat *there, uint64_t *content)
{
    const uint64_t *last = lap_map64_find(&m->outputs, hash_path(output));
    const uint64_t now = fingerprint(m->settings_hash, in->st_size, in->st_mtim.tv_sec, in->st_mtim.tv_nsec);
    const uint64_t file = file_key((int64_t)there->st_dev, (int64_t)there->st_ino, there->st_size,
        there->st_mtim.tv_sec, there->st_mtim.tv_nsec);
    const uint32_t size = (uint32_t)there->st_size;
    const manifest_record *ours = NULL;
    bool may_be = false; /* the content decides */
    *content = 0;
    if (!last)
        return LAP_MADE_UNKNOWN;
    for (uint32_t at = (uint32_t)*last; at; at = m->records[at - 1].before) {
        const manifest_record *r = &m->records[at - 1];
        if (r->file == file)
            return r->made == now ? LAP_MADE_SAME : LAP_MADE_OURS;
        if (!r->file && r->size == size && (!ours || r->made == now))
            ours = r;
        may_be |= r->file && r->size == size;
    }
    const char *slash = strrchr(output, '/');
    if (!ours && may_be && lap_content_hash(folder, slash ? slash + 1 : output, content)) {
        const uint64_t key = content_key(there->st_size, *content);
        for (uint32_t at = (uint32_t)*last; at; at = m->records[at - 1].before)
            if (m->records[at - 1].content == key && (!ours || m->records[at - 1].made == now))
                ours = &m->records[at - 1];
    }
    if (!ours)
        return LAP_MADE_CHANGED;
    return ours->made == now ? LAP_MADE_SAME : LAP_MADE_OURS;
}

lap_made lap_manifest_judge(lap_manifest *m, const char *output, const struct stat *in, int folder,
    const struct stat *there, uint64_t *content)
{
    lap_made made = lap_manifest_find(m, output, in, folder, there, content);
    if (made == LAP_MADE_OURS || made == LAP_MADE_SAME || lap_manifest_refresh(m, NULL) != LAP_OK)
        return made;
    return lap_manifest_find(m, output, in, folder, there, content);
}

lap_code lap_made_refuse(lap_made made, const char *path, lap_error *err)
{
    return lap_fail_at(err, LAP_E_EXISTS, path, "exists and was %s; -f replaces it",
        made == LAP_MADE_CHANGED ? "changed since lapedge made it" : "not made by lapedge");
}
