#include "batch/take.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- by name ----------------------------------------------------------------------------------- */

static const char *extension_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : NULL;
}

/* Whether the extension is in the list, which has commas, and dots or not. */
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

/* A pattern with a slash is about the path below the folder, else about the name. */
static bool matches(const char *const *globs, size_t count, const char *name, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], strchr(globs[i], '/') ? path : name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

bool lap_take_excludes(const lap_batch_take *take, const char *name, const char *path)
{
    return take && matches(take->exclude, take->exclude_count, name, path);
}

lap_taking lap_take_file(const lap_batch_take *take, const char *name, const char *path)
{
    const char *extension = extension_of(name);
    const char *list = take && take->extensions ? take->extensions : "jpg,jpeg,jpe,jfif";
    if (lap_take_excludes(take, name, path))
        return LAP_TAKE_NO;
    const bool by_glob = take && take->include_count > 0;
    if (by_glob && !matches(take->include, take->include_count, name, path))
        return LAP_TAKE_NO;
    const bool by_list = !by_glob || take->extensions;
    if (by_list && !(extension && is_listed(list, extension)) && (extension || (take && take->extensions)))
        return strncmp(name, "._", 2) == 0 && !by_glob ? LAP_TAKE_DOUBT : LAP_TAKE_NO;
    return (by_list && !extension) || strncmp(name, "._", 2) == 0 ? LAP_TAKE_DOUBT : LAP_TAKE_YES;
}

/* ---- by content -------------------------------------------------------------------------------- */

bool lap_take_begins_like_jpeg(int folder, const char *name)
{
    unsigned char magic[3];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, magic, sizeof magic);
    close(fd);
    return got == 3 && magic[0] == 0xFF && magic[1] == 0xD8 && magic[2] == 0xFF;
}

bool lap_take_is_output(int folder)
{
    struct stat st;
    return fstatat(folder, ".lapedge", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* ---- what is not ------------------------------------------------------------------------------- */

void lap_take_note(lap_batch_others *others, const char *name)
{
    char extension[sizeof others->kinds->extension] = "";
    const char *found = extension_of(name);
    if (!others || name[0] == '.')
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
