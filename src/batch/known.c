#include "batch/known.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/in_place_record.h"
#include "batch/manifest_file.h"
#include "io/target.h"

void lap_known_free(lap_known *known)
{
    lap_map64_free(&known->facts);
}

/* ---- facts --------------------------------------------------------------------------------------- */

/* What a key stands for. */
typedef enum fact {
    FILE_STATE, /* device, inode, size and time of an output */
    SIZE,       /* the size of an output */
    CONTENT,    /* size and content of an output */
    SIZE_NAME,  /* size and name of an output whose line has no hash */
    READ_TO     /* device and inode of a record; the value is how far it was read */
} fact;

static uint64_t state_key(int64_t device, int64_t inode, int64_t size, int64_t seconds, int64_t nanoseconds)
{
    const int64_t facts[] = {FILE_STATE, device, inode, size, seconds, nanoseconds};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t key_of(fact kind, uint64_t first, uint64_t second)
{
    const uint64_t facts[] = {kind, first, second};
    return lap_map64_key(facts, sizeof facts);
}

static uint64_t name_key(int64_t size, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return key_of(SIZE_NAME, (uint64_t)size, lap_map64_name_key(name));
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* If a content was made by both commands, it counts as filtered. */
static lap_code put(lap_known *known, uint64_t key, lap_known_as as, lap_error *err)
{
    const uint64_t *found = lap_map64_find(&known->facts, key);
    return found && *found >= as ? LAP_OK : lap_map64_put(&known->facts, key, as, err);
}

static lap_code take_line(void *user, char *text, size_t length, bool is_whole, lap_error *err)
{
    lap_known *known = user;
    lap_manifest_line line;
    (void)is_whole;
    if (!text || !lap_manifest_line_read(text, length, &line))
        return LAP_OK;
    const lap_known_as as = line.maker == LAP_MAKER_TRANSFORM ? LAP_KNOWN_TURNED : LAP_KNOWN_FILTERED;
    if (!line.has_content)
        return line.is_done ? put(known, name_key(line.size, line.output), as, err) : LAP_OK;
    const uint64_t keys[] = {state_key(line.device, line.inode, line.size, line.mtime_s, line.mtime_ns),
        key_of(SIZE, (uint64_t)line.size, 0), key_of(CONTENT, (uint64_t)line.size, line.content)};
    lap_code code = LAP_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && code == LAP_OK; i++)
        code = put(known, keys[i], as, err);
    return code;
}

/* Reads what was added to a record since the last call. A missing record counts as empty, and so does one
 * that is not a regular file. */
static lap_code read_record(lap_known *known, int folder, const char *name, const char *shown, lap_error *err)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO))
        return LAP_OK;
    if (fd < 0 || fstat(fd, &st) != 0) {
        lap_fail_at(err, LAP_E_UNREADABLE, shown, "%.100s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return LAP_E_UNREADABLE;
    }
    const uint64_t key = key_of(READ_TO, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    const uint64_t *before = lap_map64_find(&known->facts, key);
    off_t from = before && (off_t)*before <= st.st_size ? (off_t)*before : 0;
    lap_code code = LAP_OK;
    if (S_ISREG(st.st_mode) && st.st_size > from) {
        code = lap_manifest_read_text(fd, shown, &from, take_line, known, err);
        if (code == LAP_OK)
            code = lap_map64_put(&known->facts, key, (uint64_t)from, err);
    }
    close(fd);
    return code;
}

lap_code lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err)
{
    return read_record(known, folder, LAP_IN_PLACE_RECORD, shown, err);
}

static bool is_record(const char *name)
{
    const size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".jsonl") == 0;
}

static lap_code read_all(lap_known *known, DIR *records, const char *shown, lap_error *err)
{
    lap_code code = LAP_OK;
    while (code == LAP_OK) {
        errno = 0;
        const struct dirent *d = readdir(records);
        if (!d)
            return errno ? lap_fail_at(err, LAP_E_UNREADABLE, shown, "%s", strerror(errno)) : LAP_OK;
        if (is_record(d->d_name))
            code = read_record(known, dirfd(records), d->d_name, shown, err);
    }
    return code;
}

lap_code lap_known_runs(lap_known *known, int folder, const char *shown, bool *is_there, lap_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    *is_there = fstatat(folder, ".lapedge", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    if (!*is_there)
        return LAP_OK;
    const size_t length = strlen(shown);
    snprintf(path, sizeof path, "%s%s.lapedge", shown, length && shown[length - 1] == '/' ? "" : "/");
    const int fd = openat(folder, ".lapedge", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *records = fd < 0 ? NULL : fdopendir(fd);
    if (!records) {
        lap_fail_at(err, LAP_E_UNREADABLE, path, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return LAP_E_UNREADABLE;
    }
    const lap_code code = read_all(known, records, path, err);
    closedir(records);
    return code;
}

/* ---- verdicts ------------------------------------------------------------------------------------ */

lap_known_as lap_known_find(
    const lap_known *known, const char *name, const struct stat *there, const uint64_t *content)
{
    const uint64_t *found =
        lap_map64_find(&known->facts, state_key((int64_t)there->st_dev, (int64_t)there->st_ino,
                                          there->st_size, there->st_mtim.tv_sec, there->st_mtim.tv_nsec));
    if (!found)
        found = lap_map64_find(&known->facts, name_key(there->st_size, name));
    if (!found && content)
        found = lap_map64_find(&known->facts, key_of(CONTENT, (uint64_t)there->st_size, *content));
    return found ? (lap_known_as)*found : LAP_KNOWN_NOT;
}

lap_code lap_known_judge(const lap_known *known, int folder, const char *name, const struct stat *there,
    lap_known_as *as, lap_error *err)
{
    uint64_t content;
    *as = lap_known_find(known, name, there, NULL);
    if (*as != LAP_KNOWN_NOT || !lap_map64_find(&known->facts, key_of(SIZE, (uint64_t)there->st_size, 0)))
        return LAP_OK;
    const lap_code code = lap_content_hash(folder, name, there, &content, err);
    if (code == LAP_OK)
        *as = lap_known_find(known, name, there, &content);
    return code == LAP_E_MEMORY ? code : LAP_OK;
}
