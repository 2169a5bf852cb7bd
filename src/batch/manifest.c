/* Stores what the records say about outputs, and judges the files at the outputs' names by it. */
#include "batch/manifest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/manifest_state.h"

/* A changed input is recognised by its size and nanosecond time. Its path does not count, so that the same
 * folder under another name is not processed again. Only for a changed input must the records show that it is
 * the same photo. */
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

/* Returns a key for a change time; 0: no change time is known. */
static uint64_t change_key(int64_t seconds, int64_t nanoseconds)
{
    const int64_t facts[] = {seconds, nanoseconds};
    return seconds || nanoseconds ? lap_map64_key(facts, sizeof facts) : 0;
}

static uint64_t size_key(int64_t size)
{
    return lap_map64_key(&size, sizeof size);
}

static uint32_t low_bits(int64_t size)
{
    return (uint32_t)size & ((1u << LAP_SIZE_BITS) - 1);
}

/* ---- photos ------------------------------------------------------------------------------------ */

static uint32_t short_key(const void *bytes, size_t size)
{
    const uint32_t key = (uint32_t)lap_map64_key(bytes, size);
    return key ? key : 1;
}

/* Where a photo was found. `below` is its path below the folder; the folder's name is NULL if it is not
 * known. */
typedef struct found_at {
    const char *folder, *below;
    int64_t device, inode;
} found_at;

static manifest_source source_of(const found_at *at, int64_t size, int64_t seconds, int64_t nanoseconds)
{
    char path[2 * PATH_MAX];
    const int64_t state[] = {size, seconds, nanoseconds};
    manifest_source source = {.state = short_key(state, sizeof state)};
    if (!at->folder)
        return source;
    const int64_t place[] = {at->device, at->inode, (int64_t)lap_map64_name_key(at->below)};
    source.place = short_key(place, sizeof place);
    const char *slash = strcmp(at->folder, "/") == 0 ? "" : "/";
    const int length = snprintf(path, sizeof path, "%s%s%s", at->folder, slash, at->below);
    if (length > 0 && length < (int)sizeof path)
        source.path = short_key(path, (size_t)length);
    return source;
}

static manifest_source source_of_line(const lap_manifest_line *line)
{
    const char *input = line->input ? line->input : "";
    const size_t length = strlen(input), below = (size_t)line->below;
    const found_at at = {line->input ? line->folder : NULL, input + (below < length ? length - below : 0),
        line->folder_device, line->folder_inode};
    return source_of(&at, line->input_size, line->input_mtime_s, line->input_mtime_ns);
}

static manifest_source source_of_input(const lap_manifest_input *input)
{
    found_at at = {.folder = NULL};
    if (input->origin)
        at = (found_at){
            input->origin->name, input->path + input->below, input->origin->device, input->origin->inode};
    return source_of(&at, input->stat->st_size, input->stat->st_mtim.tv_sec, input->stat->st_mtim.tv_nsec);
}

/* Whether a record names the place of this photo, or names no place. */
static bool is_from_there(const manifest_source *recorded, const manifest_source *photo)
{
    return !recorded->path || !photo->path || recorded->path == photo->path;
}

/* Whether both describe the same photo, which may have been edited or moved. */
static bool is_same_photo(const manifest_source *recorded, const manifest_source *photo)
{
    return is_from_there(recorded, photo) || recorded->place == photo->place ||
           recorded->state == photo->state;
}

/* ---- records ----------------------------------------------------------------------------------- */

static lap_code add_record(lap_manifest *m, uint64_t output, manifest_record record, lap_error *err)
{
    const uint64_t *last = lap_map64_find(&m->outputs, output);
    for (uint32_t at = last ? (uint32_t)*last : 0; at; at = m->records[at - 1].before) {
        manifest_record *known = &m->records[at - 1];
        if (known->file == record.file && known->content == record.content &&
            known->is_believed == record.is_believed && is_from_there(&known->source, &record.source)) {
            if (record.made) { /* "done" comes after "begin" */
                known->made = record.made;
                known->changed = record.changed;
                known->photo = record.photo;
                known->source = record.source.path ? record.source : known->source;
            }
            known->maker = record.maker;
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

lap_code lap_manifest_add(
    lap_manifest *m, const lap_manifest_line *line, bool is_believed, manifest_rival rival, lap_error *err)
{
    if (!line->has_content && !line->is_done) /* an early version's "begin" line is not usable */
        return LAP_OK;
    const uint64_t settings = lap_settings_taken(&m->settings, line->settings);
    manifest_record record = {.size = low_bits(line->size),
        .maker = line->maker,
        .is_believed = is_believed,
        .rival = settings != lap_settings_own(&m->settings) ? rival : IS_NO_RIVAL};
    record.content = line->has_content ? line->content : size_key(line->size);
    if (line->has_content)
        record.file = file_key(line->device, line->inode, line->size, line->mtime_s, line->mtime_ns);
    if (line->is_done) {
        record.made = fingerprint(settings, line->input_size, line->input_mtime_s, line->input_mtime_ns);
        record.source = source_of_line(line);
        record.changed = change_key(line->input_ctime_s, line->input_ctime_ns);
        record.photo = (lap_photo_content){line->has_input_content, line->input_content};
    }
    return add_record(m, lap_map64_name_key(line->output), record, err);
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

/* The facts that a new record would hold. */
typedef struct wanted {
    uint64_t made;    /* fingerprint */
    uint64_t changed; /* key of the photo's change time */
    lap_photo_content photo;
    bool is_dated; /* a record of a photo of this size and time has a change time */
    manifest_source source;
} wanted;

/* Whether the photo with this size and time still has the recorded content. */
static bool has_same_content(const manifest_record *r, const wanted *want)
{
    return (!r->changed && !want->is_dated) || r->changed == want->changed ||
           (r->photo.is_known && want->photo.is_known && r->photo.hash == want->photo.hash);
}

/* Whether a record describes an output of this photo with these settings. */
static bool is_made_from(const manifest_record *r, const wanted *want)
{
    return r->made == want->made && has_same_content(r, want);
}

/* Reads the photo if only its content shows whether it is the recorded photo: its size and time match, but
 * its change time differs, as after cp -p or chmod. A photo that cannot be read counts as not recorded. */
static lap_code look_at_photo(
    const lap_manifest *m, uint32_t last, const lap_manifest_input *input, wanted *want, lap_error *err)
{
    bool may_be = false;
    for (uint32_t at = last; at; at = m->records[at - 1].before)
        want->is_dated |= m->records[at - 1].made == want->made && m->records[at - 1].changed;
    for (uint32_t at = last; at; at = m->records[at - 1].before) {
        const manifest_record *r = &m->records[at - 1];
        if (r->made == want->made && has_same_content(r, want)) {
            want->photo = r->photo;
            return LAP_OK;
        }
        may_be |= r->made == want->made && r->photo.is_known;
    }
    const lap_code code = may_be && !want->photo.is_known
                              ? lap_content_hash_path(input->path, input->stat, &want->photo.hash, err)
                              : LAP_E_CHANGED;
    want->photo.is_known |= code == LAP_OK;
    return code == LAP_E_MEMORY ? code : LAP_OK;
}

static bool is_rival(const lap_manifest *m, const manifest_record *r, const struct stat *there)
{
    const struct timespec *made = &there->st_ctim, *since = &m->since;
    const bool is_new =
        made->tv_sec > since->tv_sec || (made->tv_sec == since->tv_sec && made->tv_nsec >= since->tv_nsec);
    return r->rival == IS_RIVAL || (r->rival == IS_RIVAL_IF_NEW && is_new);
}

/* What an output's records say about the file, before its content is read. */
typedef struct first_look {
    bool is_same;     /* a line says that the file was made from this input with these settings */
    bool is_believed; /* is_same, according to a believed line with a hash */
    bool is_there;    /* is_same, according to a line that names the input's place */
    bool is_sized;    /* a believed line without a hash has the file's size */
    bool is_rival; /* only lines of runs with other settings, written during this run, name this very file */
    bool may_be;   /* the file may match a line by its content, which must be read */
    uint64_t content; /* if is_same, the file's hash from a believed line; else 0 */
} first_look;

static first_look look_at_facts(
    const lap_manifest *m, uint32_t last, const wanted *want, const struct stat *there)
{
    const uint64_t size = size_key(there->st_size);
    const uint64_t file = file_key((int64_t)there->st_dev, (int64_t)there->st_ino, there->st_size,
        there->st_mtim.tv_sec, there->st_mtim.tv_nsec);
    first_look look = {0};
    bool is_older = false;
    for (uint32_t at = last; at; at = m->records[at - 1].before) {
        const manifest_record *r = &m->records[at - 1];
        const bool is_it = r->file ? r->file == file : r->content == size;
        const bool is_same = is_it && is_made_from(r, want);
        look.is_same |= is_same;
        look.is_believed |= is_same && r->is_believed && r->file;
        look.is_there |= is_same && is_from_there(&r->source, &want->source) &&
                         (!r->changed || r->changed == want->changed);
        look.is_sized |= is_it && !r->file && r->is_believed;
        look.is_rival |= is_it && r->file && is_rival(m, r, there);
        is_older |= is_it && r->file && !is_rival(m, r, there);
        look.may_be |= r->file && r->size == low_bits(there->st_size);
        if (is_same && r->file && r->is_believed)
            look.content = r->content;
    }
    look.is_rival &= !is_older;
    return look;
}

/* Judges a file whose content matches a believed record. Records of early versions do not name the command
 * that made the file; then this command is assumed. */
static lap_made made_by(
    const lap_manifest *m, const manifest_record *r, const manifest_source *photo, const struct stat *there)
{
    return is_rival(m, r, there)                                   ? LAP_MADE_MEANWHILE
           : r->maker == LAP_MAKER_TRANSFORM && !m->settings.turns ? LAP_MADE_TURNED
           : r->maker == LAP_MAKER_RUN && m->settings.turns        ? LAP_MADE_FILTERED
           : is_same_photo(&r->source, photo)                      ? LAP_MADE_OURS
                                                                   : LAP_MADE_ELSEWHERE;
}

/* Returns the best result that the records give for a file of this size with this content. */
static lap_made look_at_content(
    const lap_manifest *m, uint32_t last, const wanted *want, const lap_standing *s, uint64_t *content)
{
    const uint64_t hash = *content;
    lap_made made = LAP_MADE_CHANGED;
    *content = 0;
    for (uint32_t at = last; at; at = m->records[at - 1].before) {
        const manifest_record *r = &m->records[at - 1];
        if (!r->file || r->content != hash || r->size != low_bits(s->there->st_size))
            continue;
        const lap_made says = is_made_from(r, want) ? (r->is_believed ? LAP_MADE_SAME : LAP_MADE_SAID)
                              : r->is_believed      ? made_by(m, r, &want->source, s->there)
                                                    : LAP_MADE_UNBELIEVED;
        *content = r->is_believed ? hash : *content;
        made = says > made ? says : made;
    }
    return made;
}

lap_code lap_manifest_find(
    const lap_manifest *m, const lap_standing *s, lap_made *made, uint64_t *content, lap_error *err)
{
    const uint64_t *found = lap_map64_find(&m->outputs, lap_map64_name_key(s->output));
    const uint32_t last = found ? (uint32_t)*found : 0;
    const struct stat *in = s->input.stat;
    wanted want = {.made = fingerprint(
                       lap_settings_own(&m->settings), in->st_size, in->st_mtim.tv_sec, in->st_mtim.tv_nsec),
        .changed = change_key(in->st_ctim.tv_sec, in->st_ctim.tv_nsec),
        .source = source_of_input(&s->input)};
    if (s->input.content)
        want.photo = *s->input.content;
    if (look_at_photo(m, last, &s->input, &want, err) != LAP_OK)
        return LAP_E_MEMORY;
    if (s->input.content)
        *s->input.content = want.photo;
    const first_look look = look_at_facts(m, last, &want, s->there);
    const char *slash = strrchr(s->output, '/');
    *content = look.is_there ? 0 : look.content;
    *made = !last              ? LAP_MADE_UNKNOWN
            : !look.is_same    ? LAP_MADE_CHANGED
            : look.is_believed ? LAP_MADE_SAME
                               : LAP_MADE_SAID;
    if (!last || look.is_same)
        return LAP_OK;
    const lap_code code =
        look.may_be ? lap_content_hash(s->folder, slash ? slash + 1 : s->output, s->there, content, err)
                    : LAP_E_CHANGED;
    if (code == LAP_OK)
        *made = look_at_content(m, last, &want, s, content);
    else
        *content = 0;
    if (code != LAP_OK && code != LAP_E_CHANGED)
        return code;
    if (*made == LAP_MADE_CHANGED && look.is_sized)
        *made = LAP_MADE_UNHASHED;
    if (*made == LAP_MADE_OURS && look.is_rival) /* an earlier run made the same content */
        *made = LAP_MADE_MEANWHILE;
    return LAP_OK;
}

lap_code lap_made_refuse(lap_made made, const char *path, lap_error *err)
{
    const char *why =
        made == LAP_MADE_CHANGED      ? "was changed since lapedge made it"
        : made == LAP_MADE_TURNED     ? "is a photo that lapedge rotated or mirrored, not an edge map"
        : made == LAP_MADE_FILTERED   ? "is an edge map that lapedge made, not a rotated or mirrored photo"
        : made == LAP_MADE_UNBELIEVED ? "its record may have been written by somebody else"
        : made == LAP_MADE_UNHASHED   ? "its record is too old to tell whether it was changed"
        : made == LAP_MADE_SAID       ? "its record does not prove that lapedge made it"
        : made == LAP_MADE_ELSEWHERE  ? "was made from a photo in another folder"
        : made == LAP_MADE_SPELT
            ? "is spelt differently: this disk treats both names as one; rename the photo, or the file "
              "there"
        : made == LAP_MADE_MEANWHILE ? "was made by another run, with other settings, during this one"
                                     : "was not made by lapedge";
    return lap_error_remedy(err, lap_fail_at(err, LAP_E_EXISTS, path, "exists and %s", why),
        made == LAP_MADE_ELSEWHERE   ? LAP_REMEDY_OTHER_PHOTO
        : made == LAP_MADE_SPELT     ? LAP_REMEDY_NONE
        : made == LAP_MADE_MEANWHILE ? LAP_REMEDY_LATER
                                     : LAP_REMEDY_FORCE);
}
