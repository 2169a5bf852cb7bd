#include "batch/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/prune_photo.h"

struct lap_prune {
    const lap_batch_options *options;
    lap_batch_prune *result; /* the caller's */
    lap_prune_folders folders;
    lap_map64 outputs; /* hashes of output names that must be kept, or were removed: 1 + index of the input
                        * that leads there */
    lap_map64 unlike;  /* hashes of output names: no line so far describes the file that is there; an
                        * unlike_count */
    lap_map64 fates;   /* hashes of output names: what the records of this file say; a packed prune_fate */
    lap_map64 written; /* keys of output name and file: lapedge wrote it there, so it is no copy */
    lap_map64 needed;  /* keys of output name and content: what the records of such a file say, as in fates:
                        * this one may  be a copy */
    lap_map64 taken;   /* hashes of recorded folders: the run has warned that a folder of this run counts as
                          this one */
    /* set during the second reading */
    const lap_prune_run *run;
    const char *other; /* the records above or below that are being read */
    bool removes;      /* this is the second reading of the records, which removes; the first one only
                          looks */
    char **links;      /* behind which photos may be */
    size_t link_count, link_capacity;
};

/* Whether a record needs its output. If several describe it, the highest value counts. */
typedef enum prune_need {
    NOT_NEEDED,          /* its photo is gone */
    NEEDED_BY_ELSEWHERE, /* it is, but was in a folder that is not part of the run, or, without force, may not
                            be */
    NEEDED_BY_UNMOUNTED,
    NEEDED_BY_HIDDEN,
    PERHAPS_NEEDED, /* for a trouble */
    NEEDED          /* its photo is there */
} prune_need;

/* Which count of the result includes an output. */
typedef enum unlike_count { IS_NOT_COUNTED, IS_CHANGED, IS_LEFT_BEHIND } unlike_count;

typedef enum trouble_kind {
    NO_TROUBLE,
    UNKNOWN_PHOTO,
    UNKNOWN_OUTPUT,
    NOT_GOING,
    UNREADABLE,
    NOT_REMOVED
} trouble_kind;

static const char *const trouble_texts[] = {
    [UNKNOWN_PHOTO] = "is kept, because lapedge cannot check whether its photo exists",
    [UNKNOWN_OUTPUT] = "cannot be examined",
    [NOT_GOING] = "is kept, because lapedge did not find its photo gone when it first looked",
    [UNREADABLE] = "is kept, because it cannot be read",
    [NOT_REMOVED] = "cannot be removed"};

typedef struct prune_fate {
    prune_need need;
    trouble_kind trouble;
    int number; /* of the trouble: errno, or 0; of NEEDED_BY_HIDDEN: index of the link */
} prune_fate;

/* ---- what the run sees --------------------------------------------------------------------------- */

static void refuse(lap_prune *p, const lap_error *why)
{
    if (p->result->refused.code == LAP_OK)
        p->result->refused = *why;
}

static void warn(const lap_prune *p, const lap_error *warning)
{
    if (p->options->warn)
        p->options->warn(p->run->user, warning);
}

static lap_code check(const lap_batch_options *o, lap_error *err)
{
    const lap_batch_take *take = o->take;
    if (o->shards > 1)
        return lap_fail(err, LAP_E_USAGE, "a share of the photos does not show which photos are gone");
    if (o->files_from)
        return lap_fail(err, LAP_E_USAGE, "a list of files does not show which photos are gone");
    if (take && (take->include_count || take->exclude_count || take->extensions))
        return lap_fail(err, LAP_E_USAGE, "photos left out would look gone");
    return LAP_OK;
}

lap_code lap_prune_create(const lap_batch_options *options, lap_prune **prune, lap_error *err)
{
    lap_batch_prune *result = options->prune;
    *prune = NULL;
    result->removed = result->kept = result->changed = result->elsewhere = result->failed = result->others =
        result->hidden = 0;
    *result->hidden_by = '\0';
    result->refused = (lap_error){0};
    lap_code code = check(options, err);
    if (code != LAP_OK)
        return code;
    lap_prune *p = calloc(1, sizeof *p);
    if (!p)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    *p = (lap_prune){.options = options, .result = result};
    code = lap_prune_folders_look(&p->folders, options, &result->refused, err);
    if (code == LAP_OK)
        *prune = p;
    else
        lap_prune_free(p);
    return code;
}

void lap_prune_free(lap_prune *prune)
{
    if (!prune)
        return;
    lap_prune_folders_free(&prune->folders);
    lap_map64_free(&prune->outputs);
    lap_map64_free(&prune->taken);
    lap_map64_free(&prune->fates);
    lap_map64_free(&prune->needed);
    lap_map64_free(&prune->written);
    lap_map64_free(&prune->unlike);
    for (size_t i = 0; i < prune->link_count; i++)
        free(prune->links[i]);
    free(prune->links);
    free(prune);
}

lap_code lap_prune_note(lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err)
{
    if (!prune)
        return LAP_OK;
    if (entry->problem)
        refuse(prune, entry->problem);
    prune->folders.each[entry->operand].has_photos = true;
    return output ? lap_map64_put(&prune->outputs, lap_map64_name_key(output), entry->operand + 1, err)
                  : LAP_OK;
}

/* ---- what is gone -------------------------------------------------------------------------------- */

/* Warns, once for each recorded folder, that a folder of this run counts as it. */
static lap_code say_taken(lap_prune *p, const lap_manifest_line *line, size_t operand, lap_error *err)
{
    lap_error warning;
    const char *folder = line->folder ? line->folder : "";
    if (lap_map64_find(&p->taken, lap_map64_name_key(folder)))
        return LAP_OK;
    if (line->folder)
        lap_fail_at(&warning, LAP_E_CHANGED, p->options->inputs[operand],
            "counts as the recorded folder, %.300s", line->folder);
    else
        lap_fail_at(&warning, LAP_E_CHANGED, p->options->inputs[operand],
            "counts as the recorded folder, because records of early versions do not name one");
    warn(p, &warning);
    return lap_map64_put(&p->taken, lap_map64_name_key(folder), 1, err);
}

static uint64_t packed(const prune_fate *fate)
{
    return (uint64_t)fate->need << 40 | (uint64_t)fate->trouble << 32 | (uint32_t)fate->number;
}

/* Looks up a fate in one of the two maps. Without one, returns NOT_NEEDED, and sets *is_known to false. */
static prune_fate fate_in(const lap_map64 *map, uint64_t key, bool *is_known)
{
    const uint64_t *value = lap_map64_find(map, key);
    *is_known = value != NULL;
    return value ? (prune_fate){(prune_need)(*value >> 40), (trouble_kind)(*value >> 32 & 255),
                       (int)(uint32_t)*value}
                 : (prune_fate){.need = NOT_NEEDED};
}

static lap_code raise_fate(lap_map64 *map, uint64_t key, const prune_fate *fate, lap_error *err)
{
    bool is_known;
    const prune_fate known = fate_in(map, key, &is_known);
    return is_known && known.need >= fate->need ? LAP_OK : lap_map64_put(map, key, packed(fate), err);
}

static prune_fate trouble(trouble_kind kind, int number)
{
    return (prune_fate){PERHAPS_NEEDED, kind, number};
}

/* Sets the index of a link, which is new or the one found last. */
static lap_code note_link(lap_prune *p, const char *link, int *number, lap_error *err)
{
    if (p->link_count == 0 || strcmp(p->links[p->link_count - 1], link) != 0) {
        char **links = lap_grow(p->links, &p->link_capacity, p->link_count + 1, sizeof *links);
        char *copy = links ? strdup(link) : NULL;
        p->links = links ? links : p->links;
        if (!copy)
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
        p->links[p->link_count++] = copy;
    }
    *number = (int)p->link_count - 1;
    return LAP_OK;
}

/* What a record says, by what is at the places where its photo may be. */
static lap_code look_at_places(lap_prune *p, const lap_manifest_line *line, const lap_prune_photo *photo,
    prune_fate *fate, lap_error *err)
{
    static const prune_need needs[] = {[LAP_PRUNE_GONE] = NOT_NEEDED,
        [LAP_PRUNE_NOT_MOUNTED] = NEEDED_BY_UNMOUNTED,
        [LAP_PRUNE_HIDDEN] = NEEDED_BY_HIDDEN,
        [LAP_PRUNE_UNKNOWN] = PERHAPS_NEEDED,
        [LAP_PRUNE_THERE] = NEEDED};
    const lap_prune_sight sight = lap_prune_photo_look(&p->folders, line, photo);
    *fate = (prune_fate){.need = needs[sight.place]};
    if (sight.place == LAP_PRUNE_UNKNOWN)
        *fate = trouble(UNKNOWN_PHOTO, sight.why);
    return sight.place == LAP_PRUNE_HIDDEN ? note_link(p, sight.link, &fate->number, err) : LAP_OK;
}

static bool is_file_of(const lap_manifest_line *line, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (int64_t)st->st_dev == line->device &&
           (int64_t)st->st_ino == line->inode && st->st_size == line->size &&
           st->st_mtim.tv_sec == line->mtime_s && st->st_mtim.tv_nsec == line->mtime_ns && line->has_content;
}

/* Tells the caller of an output that was removed (NULL), or is kept for a trouble. */
static void report(lap_prune *p, const char *output, const prune_fate *fate)
{
    lap_error problem = {0};
    const lap_batch_prune *result = p->result;
    char path[PATH_MAX];
    size_t length = strlen(p->options->out_dir);
    while (length > 0 && p->options->out_dir[length - 1] == '/')
        length--;
    if (snprintf(path, sizeof path, "%.*s/%s", (int)length, p->options->out_dir, output) >= (int)sizeof path)
        return;
    if (fate)
        lap_fail_at(&problem, LAP_E_WRITE, path, "%s%s%s", trouble_texts[fate->trouble],
            fate->number ? ": " : "", fate->number ? strerror(fate->number) : "");
    if (result->each)
        result->each(result->user, path, fate ? &problem : NULL);
}

/* A record's output. Its path is opened without following links or "..". */
typedef struct prune_output {
    const char *name;
    int folder;    /* open descriptor */
    bool is_whole; /* the very file that the record describes */
    struct stat there;
} prune_output;

/* False: it is not there, or *fate says why it may be. */
static bool find(const lap_prune *p, const lap_manifest_line *line, prune_output *output, prune_fate *fate)
{
    const char *slash = strrchr(line->output, '/');
    output->name = slash ? slash + 1 : line->output;
    if (*output->name == '\0')
        return false;
    const lap_code code = lap_tree_enter(p->run->tree, line->output, false, &output->folder, NULL);
    if (code == LAP_OK && fstatat(output->folder, output->name, &output->there, AT_SYMLINK_NOFOLLOW) == 0) {
        output->is_whole = is_file_of(line, &output->there);
        if (output->is_whole || S_ISREG(output->there.st_mode))
            return true;
    } else if (code == LAP_OK ? errno != ENOENT : code == LAP_E_WRITE && errno != ENOTDIR)
        *fate = trouble(UNKNOWN_OUTPUT, errno);
    if (code == LAP_OK)
        lap_tree_leave(p->run->tree, output->folder);
    return false;
}

/* Raises a fate unless the folder that the search began in is still there. If it is not, nothing is removed.
 */
static void look_at_folder(lap_prune *p, size_t operand, prune_fate *fate)
{
    int number;
    lap_error why;
    if (lap_prune_folder_stands(&p->folders, operand, &number))
        return;
    *fate = trouble(UNKNOWN_PHOTO, number);
    if (number == 0) {
        lap_fail_at(&why, LAP_E_CHANGED, p->options->inputs[operand], "was moved or replaced during the run");
        refuse(p, &why);
    }
}

/* What a record says, by what is where its photo was. */
static lap_code look_at_recorded_place(
    lap_prune *p, const lap_manifest_line *line, prune_fate *fate, lap_error *err)
{
    const lap_prune_photo photo = {
        .path = lap_prune_recorded_path(line), .below = line->folder ? strlen(line->folder) : 0};
    *fate = trouble(UNKNOWN_PHOTO, errno);
    const lap_code code = photo.path ? look_at_places(p, line, &photo, fate, err) : LAP_OK;
    free(photo.path);
    return code;
}

/* What the record of this very file says. In the first reading, the first folder that differs stops the
 * search. */
static lap_code look_at_photo(lap_prune *p, const lap_manifest_line *line, prune_fate *fate, lap_error *err)
{
    lap_prune_photo photo = lap_prune_photo_find(&p->folders, line);
    const bool differs = photo.relation == LAP_PRUNE_DIFFERS, force = p->options->force;
    lap_code code = LAP_OK;
    lap_error why;
    *fate = (prune_fate){.need = NEEDED};
    if (!photo.path || (photo.relation == LAP_PRUNE_ELSEWHERE && photo.unknown))
        *fate = trouble(UNKNOWN_PHOTO, photo.unknown ? photo.unknown : errno);
    else if (photo.relation == LAP_PRUNE_HERE || (differs && force))
        code = look_at_places(p, line, &photo, fate, err);
    else if (photo.relation == LAP_PRUNE_ELSEWHERE)
        code = look_at_recorded_place(p, line, fate, err);
    free(photo.path);
    if (fate->need == NOT_NEEDED && photo.relation == LAP_PRUNE_ELSEWHERE)
        fate->need = NEEDED_BY_ELSEWHERE;
    else if (fate->need == NOT_NEEDED)
        look_at_folder(p, photo.operand, fate);
    if ((differs && !force) || photo.relation == LAP_PRUNE_ANOTHER) {
        lap_prune_photo_describe(&p->folders, line, &photo, &why);
        refuse(p, &why);
    } else if (code == LAP_OK && fate->need == NOT_NEEDED && differs && p->removes) {
        code = say_taken(p, line, photo.operand, err);
    }
    return code;
}

static uint64_t *count_of(lap_prune *p, uint64_t count)
{
    return count == IS_LEFT_BEHIND ? &p->result->elsewhere : &p->result->changed;
}

/* No longer counts an output that note_unlike has counted, because another record describes it. */
static void take_back(lap_prune *p, const lap_manifest_line *line)
{
    const uint64_t *counted = lap_map64_find(&p->unlike, lap_map64_name_key(line->output));
    if (counted)
        --*count_of(p, *counted);
}

/* Counts an output that would be removed or counted, but is no longer the file that the record describes. */
static lap_code note_unlike(lap_prune *p, const lap_manifest_line *line, lap_error *err)
{
    prune_fate fate = {.need = NEEDED};
    lap_prune_photo photo = lap_prune_photo_find(&p->folders, line);
    const bool is_inside = photo.relation == LAP_PRUNE_HERE || photo.relation == LAP_PRUNE_DIFFERS;
    const lap_code code = photo.path && is_inside ? look_at_places(p, line, &photo, &fate, err) : LAP_OK;
    free(photo.path);
    const unlike_count count = fate.need == NOT_NEEDED                          ? IS_CHANGED
                               : lap_prune_is_left_behind(line, photo.relation) ? IS_LEFT_BEHIND
                                                                                : IS_NOT_COUNTED;
    if (code != LAP_OK || count == IS_NOT_COUNTED ||
        lap_map64_find(&p->unlike, lap_map64_name_key(line->output)))
        return code;
    ++*count_of(p, count);
    return lap_map64_put(&p->unlike, lap_map64_name_key(line->output), count, err);
}

static uint64_t file_key(const char *output, const struct stat *file)
{
    const uint64_t facts[] = {lap_map64_name_key(output), (uint64_t)file->st_dev, (uint64_t)file->st_ino,
        (uint64_t)file->st_size, (uint64_t)file->st_mtim.tv_sec, (uint64_t)file->st_mtim.tv_nsec};
    return lap_map64_key(facts, sizeof facts);
}

static lap_code note_folder(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    const uint64_t *leads = lap_map64_find(&p->outputs, lap_map64_name_key(line->output));
    const lap_code code = lap_control_check(p->run->control, err);
    return code == LAP_OK ? lap_prune_folders_note(&p->folders, line, leads ? *leads : 0, err) : code;
}

static lap_code note_written(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    const struct stat file = {.st_dev = (dev_t)line->device,
        .st_ino = (ino_t)line->inode,
        .st_size = (off_t)line->size,
        .st_mtim = {(time_t)line->mtime_s, (long)line->mtime_ns}};
    const lap_code code = lap_control_check(p->run->control, err);
    return code == LAP_OK ? lap_map64_put(&p->written, file_key(line->output, &file), 1, err) : code;
}

static uint64_t needed_key(const lap_manifest_line *line)
{
    const uint64_t facts[] = {lap_map64_name_key(line->output), line->content};
    return lap_map64_key(facts, sizeof facts);
}

/* What a record says whose photo was in no folder of this run, or in one above or below. That a photo is gone
 * counts only if its folder is still there; with force, the folder may be gone, too. */
static lap_code look_outside(lap_prune *p, const lap_manifest_line *line, prune_fate *fate, lap_error *err)
{
    int why = 0;
    const lap_code code = look_at_recorded_place(p, line, fate, err);
    if (code != LAP_OK || fate->need != NOT_NEEDED)
        return code;
    const bool is_there = line->folder && lap_prune_recorded_stands(line, &why);
    if (why)
        *fate = trouble(UNKNOWN_PHOTO, why);
    else if (!is_there && !p->options->force)
        fate->need = NEEDED_BY_ELSEWHERE;
    return LAP_OK;
}

/* What a record of another file says of a copy of it. */
static lap_code look_at_copy(lap_prune *p, const lap_manifest_line *line, prune_fate *fate, lap_error *err)
{
    lap_prune_photo photo = lap_prune_photo_find(&p->folders, line);
    const bool is_here = photo.relation == LAP_PRUNE_HERE,
               is_inside = is_here || photo.relation == LAP_PRUNE_DIFFERS;
    lap_code code = LAP_OK;
    if (photo.unknown || (is_inside && !photo.path))
        *fate = trouble(UNKNOWN_PHOTO, photo.unknown ? photo.unknown : errno);
    else
        code = is_inside ? look_at_places(p, line, &photo, fate, err) : look_outside(p, line, fate, err);
    free(photo.path);
    if (code != LAP_OK || fate->need != NOT_NEEDED || !is_inside)
        return code;
    if (is_here || p->options->force)
        look_at_folder(p, photo.operand, fate);
    else
        fate->need = NEEDED_BY_ELSEWHERE;
    return LAP_OK;
}

/* Whether lapedge wrote the file there, after the one that the record describes. */
static bool is_replaced(const lap_prune *p, const lap_manifest_line *line, const struct stat *file)
{
    const struct timespec *now = &file->st_mtim;
    const bool is_older =
        line->mtime_s < now->tv_sec || (line->mtime_s == now->tv_sec && line->mtime_ns < now->tv_nsec);
    return is_older && lap_map64_find(&p->written, file_key(line->output, file));
}

/* A record that describes another file of this name may mean a copy of it: the folder may have been copied,
 * or restored from a backup. Notes what it says of such a file. A later file that lapedge wrote there is no
 * copy. */
static lap_code note_needed(
    lap_prune *p, const lap_manifest_line *line, const prune_output *output, lap_error *err)
{
    prune_fate fate;
    bool is_known;
    const uint64_t key = needed_key(line);
    const prune_fate known = fate_in(&p->needed, key, &is_known);
    if (!line->has_content || output->there.st_size != line->size || known.need == NEEDED ||
        is_replaced(p, line, &output->there))
        return LAP_OK;
    const lap_code code = look_at_copy(p, line, &fate, err);
    return code == LAP_OK ? raise_fate(&p->needed, key, &fate, err) : code;
}

/* Notes what the record of a file says; that its photo is there is final. */
static lap_code note_fate(lap_prune *p, const lap_manifest_line *line, const prune_fate *fate, lap_error *err)
{
    const uint64_t name = lap_map64_name_key(line->output);
    return fate->need == NEEDED ? lap_map64_put(&p->outputs, name, 1, err)
                                : raise_fate(&p->fates, name, fate, err);
}

/* First reading: what each record says of its output. Another record may not know it, so nothing is removed
 * yet, and a problem is only noted: the run may still refuse to remove anything. */
static lap_code look_at_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    prune_output output;
    prune_fate fate = {.need = NOT_NEEDED};
    lap_code code = lap_control_check(p->run->control, err);
    if (code != LAP_OK || p->result->refused.code != LAP_OK ||
        lap_map64_find(&p->outputs, lap_map64_name_key(line->output)))
        return code;
    const bool is_there = find(p, line, &output, &fate);
    if (is_there)
        lap_tree_leave(p->run->tree, output.folder);
    if (is_there && !output.is_whole)
        return note_needed(p, line, &output, err);
    if (is_there)
        code = look_at_photo(p, line, &fate, err);
    if (code != LAP_OK || !(is_there || fate.need))
        return code;
    code = note_fate(p, line, &fate, err);
    return code == LAP_OK && fate.need != NEEDED
               ? lap_manifest_look_below(p->run->manifest, line->output, err)
               : code;
}

/* Refuses to remove more if another run has written records since this one read them, because that run may
 * need the output. */
static lap_code look_for_news(lap_prune *p, const lap_manifest_line *line, lap_error *err)
{
    lap_error why;
    bool has_news;
    const lap_code code = lap_manifest_has_news(p->run->manifest, line->output, &has_news, err);
    if (code == LAP_OK && has_news) {
        lap_fail_at(&why, LAP_E_CHANGED, p->options->out_dir,
            "another run has written records during this one; the next run looks again");
        refuse(p, &why);
    }
    return code;
}

/* Removes an output unless it was modified since it was made, and sets *removed; or *fate says why it was
 * not. Another process could still replace the file between the check and the removal: no system call removes
 * a name only if it leads to a certain file. */
static lap_code remove_output(lap_prune *p, const lap_manifest_line *line, const prune_output *output,
    bool *removed, prune_fate *fate, lap_error *err)
{
    uint64_t content;
    lap_code code = lap_content_hash(output->folder, output->name, &output->there, &content, err);
    if (code == LAP_E_MEMORY)
        return code;
    if (code == LAP_E_UNREADABLE) {
        *fate = trouble(UNREADABLE, errno);
        return LAP_OK;
    }
    if (code != LAP_OK || content != line->content)
        return note_unlike(p, line, err);
    code = p->options->dry_run ? LAP_OK : look_for_news(p, line, err);
    if (code != LAP_OK || p->result->refused.code != LAP_OK)
        return code;
    *removed = p->options->dry_run || unlinkat(output->folder, output->name, 0) == 0;
    if (!*removed)
        *fate = trouble(NOT_REMOVED, errno);
    return LAP_OK;
}

/* Looks at a file that a record describes: removes it if its photo is gone, and if the first reading found
 * the same. Only then were the records of other folders asked about it. */
static lap_code remove_if_gone(lap_prune *p, const lap_manifest_line *line, const prune_output *output,
    bool *removed, prune_fate *fate, lap_error *err)
{
    bool is_known, is_copy;
    const prune_fate first = fate_in(&p->fates, lap_map64_name_key(line->output), &is_known),
                     copy = fate_in(&p->needed, needed_key(line), &is_copy);
    *fate = copy.need > first.need ? copy : first;
    if (fate->need != NOT_NEEDED)
        return LAP_OK;
    const lap_code code = look_at_photo(p, line, fate, err);
    if (code != LAP_OK || fate->need != NOT_NEEDED)
        return code;
    if (is_known)
        return remove_output(p, line, output, removed, fate, err);
    *fate = trouble(NOT_GOING, 0);
    return LAP_OK;
}

/* Counts an output that was removed, or that is kept, once: other lines may name this file, too. */
static lap_code settle(lap_prune *p, const lap_manifest_line *line, const prune_fate *fate, lap_error *err)
{
    lap_batch_prune *result = p->result;
    const prune_need need = fate->need;
    take_back(p, line);
    if (need == NEEDED_BY_HIDDEN && result->hidden == 0)
        snprintf(result->hidden_by, sizeof result->hidden_by, "%s", p->links[fate->number]);
    result->removed += need == NOT_NEEDED;
    result->elsewhere += need == NEEDED_BY_ELSEWHERE;
    result->kept += need == NEEDED_BY_UNMOUNTED;
    result->hidden += need == NEEDED_BY_HIDDEN;
    result->failed += need == PERHAPS_NEEDED;
    if (need == NOT_NEEDED || need == PERHAPS_NEEDED)
        report(p, line->output, need == NOT_NEEDED ? NULL : fate);
    return lap_map64_put(&p->outputs, lap_map64_name_key(line->output), 1, err);
}

/* Second reading: removes what the first reading found to be needed by no record. */
static lap_code remove_by_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    prune_output output;
    bool removed = false, is_known;
    lap_code code = lap_control_check(p->run->control, err);
    const uint64_t name = lap_map64_name_key(line->output);
    prune_fate fate = fate_in(&p->fates, name, &is_known);
    if (code != LAP_OK || p->result->refused.code != LAP_OK || lap_map64_find(&p->outputs, name))
        return code;
    if (fate.need != PERHAPS_NEEDED) {
        fate.need = NOT_NEEDED;
        if (find(p, line, &output, &fate)) {
            code = output.is_whole ? remove_if_gone(p, line, &output, &removed, &fate, err)
                                   : note_unlike(p, line, err);
            lap_tree_leave(p->run->tree, output.folder);
        }
    }
    if (code != LAP_OK || p->result->refused.code != LAP_OK || !(removed || fate.need != NOT_NEEDED))
        return code;
    return settle(p, line, &fate, err);
}

/* Before anything is removed: keeps an output that a record of a folder above or below needs. */
static lap_code keep_claimed(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    prune_output output;
    prune_fate fate = {.need = NOT_NEEDED};
    const uint64_t name = lap_map64_name_key(line->output);
    lap_code code = lap_control_check(p->run->control, err);
    if (code != LAP_OK || !lap_map64_find(&p->fates, name) || lap_map64_find(&p->outputs, name))
        return code;
    const bool is_there = find(p, line, &output, &fate);
    if (is_there)
        lap_tree_leave(p->run->tree, output.folder);
    if (is_there && !output.is_whole)
        return note_needed(p, line, &output, err);
    if (is_there)
        code = look_outside(p, line, &fate, err);
    return code == LAP_OK ? note_fate(p, line, &fate, err) : code;
}

/* Another run may have begun during this one, so its records count, too. */
static lap_code keep_all_claimed(lap_prune *p, lap_error *err)
{
    lap_error why;
    lap_code code = lap_manifest_look_above(p->run->manifest, err);
    if (code == LAP_OK)
        code = lap_manifest_each_other(p->run->manifest, &p->other, keep_claimed, p, err);
    if (code == LAP_OK && lap_manifest_is_blind(p->run->manifest, &why))
        refuse(p, &why);
    return code;
}

/* Counts an output without a photo that only records of a folder above or below describe. It is not removed,
 * because runs with that output folder made it. */
static lap_code look_at_other(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_prune *p = user;
    prune_output output;
    prune_fate unknown;
    const lap_code code = lap_control_check(p->run->control, err);
    const uint64_t name = lap_map64_name_key(line->output);
    if (code != LAP_OK || lap_map64_find(&p->outputs, name) || !find(p, line, &output, &unknown))
        return code;
    lap_tree_leave(p->run->tree, output.folder);
    char *path = lap_prune_recorded_path_here(&p->folders, line);
    const bool goes = path && lap_prune_look(&p->folders, path, strlen(line->folder)).place == LAP_PRUNE_GONE;
    free(path);
    const uint64_t *counted = lap_map64_find(&p->unlike, name);
    if (!goes || (counted && !output.is_whole))
        return LAP_OK;
    if (!output.is_whole) {
        p->result->changed++;
        return lap_map64_put(&p->unlike, name, IS_CHANGED, err);
    }
    take_back(p, line);
    if (p->result->others++ == 0)
        snprintf(p->result->others_in, sizeof p->result->others_in, "%.*s",
            (int)(strlen(p->other) - strlen("/.lapedge")), p->other);
    return lap_map64_put(&p->outputs, name, 1, err); /* other lines may name this file */
}

/* Warns about records that are not believed: lapedge removes no file because of them. */
static void look_at_belief(lap_prune *p)
{
    lap_error why;
    bool is_all;
    if (lap_manifest_unbelieved(p->run->manifest, &is_all, &why) == 0)
        return;
    if (is_all)
        refuse(p, &why);
    else
        warn(p, &why);
}

static bool may_go_on(const lap_prune *p, lap_code code)
{
    return code == LAP_OK && p->result->refused.code == LAP_OK;
}

/* Finds what no longer has a photo; what is not certain is refused, kept or named in a warning. */
static lap_code read_first(lap_prune *p, lap_error *err)
{
    lap_code code = lap_manifest_each(p->run->manifest, look_at_line, p, err);
    if (code == LAP_OK)
        look_at_belief(p);
    if (may_go_on(p, code))
        code = keep_all_claimed(p, err);
    if (may_go_on(p, code))
        lap_manifest_watch(p->run->manifest);
    return code;
}

lap_code lap_prune_outputs(lap_prune *prune, const lap_prune_run *run, lap_error *err)
{
    lap_error why;
    if (!prune)
        return LAP_OK;
    for (size_t i = 0; i < prune->options->input_count; i++)
        if (prune->folders.each[i].name && !prune->folders.each[i].has_photos) {
            lap_fail_at(&why, LAP_E_MISSING, prune->options->inputs[i], "holds no photo");
            refuse(prune, &why);
        }
    if (run->stopped) {
        lap_fail(&why, LAP_E_CANCELLED, "the run has stopped early");
        refuse(prune, &why);
    }
    lap_code code = LAP_OK;
    prune->run = run;
    if (may_go_on(prune, code))
        code = lap_manifest_each(run->manifest, note_folder, prune, err);
    if (may_go_on(prune, code))
        code = lap_manifest_each_begun(run->manifest, note_written, prune, err);
    if (may_go_on(prune, code))
        code = read_first(prune, err);
    prune->removes = true;
    if (may_go_on(prune, code))
        code = lap_manifest_each(run->manifest, remove_by_line, prune, err);
    if (may_go_on(prune, code))
        code = lap_manifest_each_other(run->manifest, &prune->other, look_at_other, prune, err);
    return code;
}
