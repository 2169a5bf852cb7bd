#include "batch/outputs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"

typedef struct lap_scope { /* an output folder, and all below it */
    char *path;
    lap_known known;
    time_t since;  /* when the reading of its records began */
    bool is_out;   /* this run's output folder */
    bool has_left; /* outputs in it were left out */
} lap_scope;

static lap_code no_memory(lap_error *err)
{
    return lap_fail(err, LAP_E_MEMORY, "out of memory for the list of folders");
}

/* ---- folders ------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || (length && folder[length - 1] == '/'));
}

/* Forgets the scopes that do not contain the path; NULL: forgets all scopes. */
static void leave_scopes(lap_outputs *o, const char *path)
{
    while (o->count && !(path && is_below(path, o->scopes[o->count - 1].path))) {
        lap_scope *last = &o->scopes[--o->count];
        free(last->path);
        lap_known_free(&last->known);
    }
}

/* Owns scope->known from then on, also after a failure. */
static lap_code add_scope(lap_outputs *o, const char *path, lap_scope *scope, lap_error *err)
{
    lap_scope *grown = lap_grow(o->scopes, &o->capacity, o->count + 1, sizeof *grown);
    char *copy = grown ? strdup(path) : NULL;
    o->scopes = grown ? grown : o->scopes;
    if (!copy) {
        lap_known_free(&scope->known);
        return no_memory(err);
    }
    scope->path = copy;
    o->scopes[o->count++] = *scope;
    return LAP_OK;
}

/* Reads the records of an operand folder and of its parent folders, because it may lie inside an output
 * folder. Records that cannot be read are ignored: the outputs that they describe are processed in any
 * case. */
static lap_code look_above(lap_outputs *o, int folder, const char *path, lap_error *err)
{
    bool is_there;
    char *real = realpath(path, NULL);
    lap_code code = lap_known_runs(&o->named, folder, path, &is_there, err);
    for (char *slash = real ? strrchr(real, '/') : NULL; slash && code != LAP_E_MEMORY && real[1];
         slash = strrchr(real, '/')) {
        slash[slash == real] = '\0';
        const int above = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (above >= 0) {
            code = lap_known_runs(&o->named, above, real, &is_there, err);
            close(above);
        }
    }
    free(real);
    return code == LAP_E_MEMORY ? code : LAP_OK;
}

bool lap_outputs_is_out(const lap_outputs *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->scopes[i].is_out)
            return true;
    return false;
}

void lap_outputs_approach(lap_outputs *o, const char *path, bool is_named)
{
    leave_scopes(o, is_named ? NULL : path);
}

static bool finds_made(const lap_outputs *o)
{
    return o->others && o->others->finds_made;
}

lap_code lap_outputs_enter(
    lap_outputs *o, int folder, const char *path, bool is_named, bool is_out, lap_error *err)
{
    lap_scope scope = {.since = time(NULL), .is_out = is_out};
    bool is_there = false;
    lap_error why;
    if (finds_made(o) && lap_known_in_place(&o->named, folder, path, &why) == LAP_E_MEMORY)
        return no_memory(err);
    if (is_named && !is_out)
        return finds_made(o) ? look_above(o, folder, path, err) : LAP_OK;
    const lap_code code = lap_known_runs(&scope.known, folder, path, &is_there, &why);
    if (code != LAP_OK)
        lap_fail_at(err, code, why.subject, "%s; outputs below it count as photos", why.message);
    if (code == LAP_E_MEMORY || (!is_out && (code != LAP_OK || !is_there))) {
        lap_known_free(&scope.known);
        return code;
    }
    return add_scope(o, path, &scope, err);
}

/* ---- files --------------------------------------------------------------------------------------- */

static void count_left(lap_outputs *o, lap_scope *scope, const char *path, bool is_photo)
{
    lap_batch_others *others = o->others;
    if (!others)
        return;
    *(is_photo ? &others->out_photos : &others->outputs) += 1;
    others->output_folders += !is_photo && !scope->has_left;
    scope->has_left |= !is_photo;
    size_t i = 0;
    while (i < others->left_count && strcmp(others->left[i].folder, scope->path) != 0)
        i++;
    if (i == LAP_OTHER_FOLDERS)
        return;
    if (i == others->left_count) {
        others->left_count++;
        snprintf(others->left[i].folder, sizeof others->left[i].folder, "%s", scope->path);
        snprintf(others->left[i].first, sizeof others->left[i].first, "%s", path);
    }
    *(is_photo ? &others->left[i].photos : &others->left[i].outputs) += 1;
}

/* Whether a file may have got its name after the reading of the records began. */
static bool is_new(const lap_scope *scope, const struct stat *file)
{
    enum { CLOCKS_DIFFER = 10 }; /* seconds, on a network file system */
    return file->st_ctim.tv_sec + CLOCKS_DIFFER >= scope->since;
}

/* Reads the records again if a new file is not known: another run may have made it in the meantime. */
static lap_code judge_below(lap_scope *scope, const lap_found *file, lap_known_as *as, lap_error *err)
{
    lap_code code = lap_known_judge(&scope->known, file->folder, file->name, file->stat, as, err);
    if (code != LAP_OK || *as != LAP_KNOWN_NOT || !is_new(scope, file->stat))
        return code;
    bool is_there;
    lap_error why;
    const int top = open(scope->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return LAP_OK;
    code = lap_known_runs(&scope->known, top, scope->path, &is_there, &why);
    close(top);
    return code == LAP_E_MEMORY
               ? lap_error_set(err, &why)
               : lap_known_judge(&scope->known, file->folder, file->name, file->stat, as, err);
}

static lap_code note_made(lap_outputs *o, const lap_found *file, lap_error *err)
{
    lap_known_as as;
    if (!finds_made(o))
        return LAP_OK;
    const lap_code code = lap_known_judge(&o->named, file->folder, file->name, file->stat, &as, err);
    if (code != LAP_OK || as == LAP_KNOWN_NOT)
        return code;
    o->others->ours++;
    if (as == LAP_KNOWN_FILTERED && o->others->made++ == 0)
        snprintf(o->others->made_first, sizeof o->others->made_first, "%s", file->path);
    return LAP_OK;
}

lap_code lap_outputs_judge(lap_outputs *o, const lap_found *file, bool *is_taken, lap_error *err)
{
    *is_taken = true;
    for (size_t i = o->count; i-- > 0;) {
        lap_known_as as;
        const lap_code code = judge_below(&o->scopes[i], file, &as, err);
        if (code != LAP_OK)
            return code;
        const bool is_output = as != LAP_KNOWN_NOT;
        *is_taken = !is_output && !o->scopes[i].is_out;
        if (*is_taken)
            continue;
        if (!is_output || !o->scopes[i].is_out) /* this run's own outputs are not reported */
            count_left(o, &o->scopes[i], file->path, !is_output);
        return LAP_OK;
    }
    return note_made(o, file, err);
}

lap_code lap_outputs_note_named(lap_outputs *o, const char *path, const struct stat *stat, lap_error *err)
{
    char around[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + (slash == path) : 0;
    lap_error ignored;
    lap_code code = LAP_OK;
    if (!finds_made(o) || length >= sizeof around)
        return LAP_OK;
    snprintf(around, sizeof around, "%.*s", length ? (int)length : 1, length ? path : ".");
    const int folder = open(around, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return LAP_OK;
    const uint64_t key = lap_map64_name_key(around);
    if (!lap_map64_find(&o->looked, key)) {
        code = lap_map64_put(&o->looked, key, 1, err);
        if (code == LAP_OK && lap_known_in_place(&o->named, folder, around, &ignored) == LAP_E_MEMORY)
            code = no_memory(err);
        if (code == LAP_OK)
            code = look_above(o, folder, around, err);
    }
    if (code == LAP_OK)
        code = note_made(o, &(lap_found){folder, slash ? slash + 1 : path, path, stat}, err);
    close(folder);
    return code;
}

void lap_outputs_free(lap_outputs *o)
{
    leave_scopes(o, NULL);
    free(o->scopes);
    lap_known_free(&o->named);
    lap_map64_free(&o->looked);
    *o = (lap_outputs){0};
}
