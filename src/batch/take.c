#include "batch/take.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

/* ---- by name ----------------------------------------------------------------------------------- */

/* Returns a name's extension, without the dot, or NULL. A dot at the end does not begin an extension. */
static const char *extension_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name && dot[1] ? dot + 1 : NULL;
}

/* Extensions of the files that a walk selects by default, and of all formats that can be read. */
static const char photos[] = "jpg,jpeg,jpe,jfif", readable[] = "jpg,jpeg,jpe,jfif,png,ppm,pgm,pnm";

/* Whether the extension is in the list, which is separated by commas, with or without dots. */
static bool is_listed(const char *list, const char *extension)
{
    const size_t length = strlen(extension);
    for (const char *each = list; *each;) {
        each += *each == '.';
        const size_t size = strcspn(each, ",");
        if (size == length && strncasecmp(each, extension, size) == 0)
            return true;
        each += size + (each[size] == ',');
    }
    return false;
}

/* Whether the name begins like those of macOS's metadata files. */
static bool is_twin(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "._", 2) == 0;
}

/* ---- by pattern -------------------------------------------------------------------------------- */

static const char *without_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 1 + strspn(path + 1, "/");
    return path;
}

/* Whether a pattern matches a folder above the file: its path below the named folder, or, if the pattern has
 * no slash, its name. */
static bool is_below(const char *pattern, bool has_slash, const char *relative)
{
    char folder[PATH_MAX];
    const size_t length = strlen(relative);
    if (length >= sizeof folder)
        return false;
    memcpy(folder, relative, length + 1);
    for (char *slash = strrchr(folder, '/'); slash; slash = strrchr(folder, '/')) {
        *slash = 0;
        const char *last = strrchr(folder, '/');
        if (fnmatch(pattern, has_slash || !last ? folder : last + 1, FNM_CASEFOLD) == 0)
            return true;
    }
    return false;
}

/* A pattern with a slash matches the path below the named folder, or a whole path; otherwise it matches the
 * name. A slash at its end means folders, including the files in them. */
static bool matches(const char *glob, const lap_candidate *candidate)
{
    char pattern[PATH_MAX];
    glob = without_dot(glob);
    size_t length = strlen(glob);
    const bool means_folders = length > 1 && glob[length - 1] == '/';
    while (length > 1 && glob[length - 1] == '/')
        length--;
    if (length >= sizeof pattern)
        return false;
    memcpy(pattern, glob, length);
    pattern[length] = 0;
    const bool has_slash = strchr(pattern, '/') != NULL;
    if (means_folders && !candidate->is_folder)
        return is_below(pattern, has_slash, candidate->relative);
    if (!has_slash)
        return fnmatch(pattern, candidate->name, FNM_CASEFOLD) == 0;
    return fnmatch(pattern, candidate->relative, FNM_CASEFOLD) == 0 ||
           fnmatch(pattern, without_dot(candidate->path), FNM_CASEFOLD) == 0 ||
           (candidate->twin && fnmatch(pattern, without_dot(candidate->twin), FNM_CASEFOLD) == 0);
}

/* Whether one of the patterns matches. used, if not NULL, gets a bit for each pattern that does. */
static bool any_matches(
    const char *const *globs, size_t count, const lap_candidate *candidate, uint64_t *used)
{
    enum { BITS = 64 };
    bool any = false;
    for (size_t i = 0; i < count && (!any || used); i++) {
        const bool known = any && (i >= BITS || *used >> i & 1);
        if (known || !matches(globs[i], candidate))
            continue;
        any = true;
        if (used && i < BITS)
            *used |= (uint64_t)1 << i;
    }
    return any;
}

lap_taking lap_take_judge(
    const lap_batch_take *take, const lap_candidate *candidate, lap_batch_others *others)
{
    const bool by_glob = take && take->include_count > 0, by_list = take && take->extensions;
    const bool included =
        !by_glob || (!candidate->is_folder && any_matches(take->include, take->include_count, candidate,
                                                  others ? &others->include_used : NULL));
    if (take &&
        any_matches(take->exclude, take->exclude_count, candidate, others ? &others->exclude_used : NULL))
        return LAP_TAKE_LEFT_OUT;
    if (candidate->is_folder)
        return LAP_TAKE_YES;
    const char *extension = extension_of(candidate->name);
    const char *list = by_list ? take->extensions : by_glob ? readable : photos;
    const bool may_be_metadata = is_twin(candidate->name);
    if (!included)
        return LAP_TAKE_NO;
    if (!extension)
        return by_list ? LAP_TAKE_NO : LAP_TAKE_DOUBT;
    if (!is_listed(list, extension))
        return may_be_metadata && !by_glob ? LAP_TAKE_DOUBT : LAP_TAKE_NO;
    return may_be_metadata ? LAP_TAKE_DOUBT : LAP_TAKE_YES;
}

static lap_code refuse_extension(const char *extension, lap_error *err)
{
    return lap_fail(err, LAP_E_USAGE, "files with the extension \"%s\" cannot be read, only those with %s",
        extension, readable);
}

/* Whether a pattern ends in an extension, without wildcards, that is not the extension of a readable image
 * format. */
static bool asks_for_unreadable(const char *pattern, const char **extension)
{
    const char *slash = strrchr(pattern, '/');
    *extension = extension_of(slash ? slash + 1 : pattern);
    return *extension && !strpbrk(*extension, "*?[]\\{}") && !is_listed(readable, *extension);
}

lap_code lap_take_check(const lap_batch_take *take, lap_error *err)
{
    const char *unreadable;
    for (size_t i = 0; take && i < take->include_count; i++)
        if (asks_for_unreadable(take->include[i], &unreadable))
            return refuse_extension(unreadable, err);
    for (const char *each = take && take->extensions ? take->extensions : ""; *each;) {
        char extension[16];
        each += *each == '.';
        const size_t size = strcspn(each, ",");
        snprintf(extension, sizeof extension, "%.*s", (int)(size < sizeof extension ? size : 15), each);
        if (size >= sizeof extension || !is_listed(readable, extension))
            return refuse_extension(extension, err);
        each += size + (each[size] == ',');
    }
    return LAP_OK;
}

/* ---- by content -------------------------------------------------------------------------------- */

static bool begins_like(int folder, const char *name, bool follow, const void *magic, size_t size)
{
    unsigned char head[4];
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW);
    int fd = openat(folder, name, flags);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, head, size);
    close(fd);
    return got == (ssize_t)size && memcmp(head, magic, size) == 0;
}

bool lap_take_begins_like_jpeg(int folder, const char *name, bool follow)
{
    return begins_like(folder, name, follow, "\xFF\xD8\xFF", 3);
}

bool lap_take_is_apple_double(int folder, const char *name)
{
    return is_twin(name) && begins_like(folder, name, false, "\x00\x05\x16\x07", 4);
}

/* ---- files that are not taken ------------------------------------------------------------------ */

void lap_take_note(lap_batch_others *others, int folder, const char *name)
{
    char extension[sizeof others->kinds->extension] = "";
    const char *found = extension_of(name);
    if (!others)
        return;
    if (lap_take_is_apple_double(folder, name)) {
        others->apple_doubles++;
        return;
    }
    if (name[0] == '.')
        return;
    others->files++;
    for (size_t i = 0; found && found[i] && i + 1 < sizeof extension; i++)
        extension[i] = (char)tolower((unsigned char)found[i]);
    size_t kind = 0;
    while (kind < others->kind_count && strcmp(others->kinds[kind].extension, extension) != 0)
        kind++;
    if (kind == LAP_OTHER_KINDS)
        return;
    if (kind == others->kind_count)
        memcpy(others->kinds[others->kind_count++].extension, extension, sizeof extension);
    others->kinds[kind].files++;
}
