/* A hash of a file's content. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/status.h"
#include "io/target.h"

enum { PIECE = 256 * 1024 };

typedef struct file_name {
    int folder;
    const char *name;
    bool follows; /* a link under the name is followed */
} file_name;

/* Returns LAP_OK if the open file and the file under the name still match `there`; else errno may be set. */
static lap_code check(const file_name *file, int fd, const struct stat *there)
{
    struct stat open, named;
    if (fstat(fd, &open) != 0)
        return LAP_E_UNREADABLE;
    if (fstatat(file->folder, file->name, &named, file->follows ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? LAP_E_CHANGED : LAP_E_UNREADABLE;
    return S_ISREG(open.st_mode) && lap_is_untouched(&open, there) && lap_is_untouched(&named, there)
               ? LAP_OK
               : LAP_E_CHANGED;
}

static lap_code hash_all(int fd, uint64_t *hash, lap_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    char *bytes = malloc(PIECE);
    lap_code code = LAP_OK;
    ssize_t got = -1;
    if (!state || !bytes || XXH3_64bits_reset(state) != XXH_OK)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory");
    while (code == LAP_OK && ((got = read(fd, bytes, PIECE)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            (void)XXH3_64bits_update(state, bytes, (size_t)got); /* fails only for NULL */
    const int why = errno;
    if (code == LAP_OK && got < 0)
        code = LAP_E_UNREADABLE;
    if (code == LAP_OK)
        *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(bytes);
    errno = why;
    return code;
}

static lap_code hash_file(const file_name *file, const struct stat *there, uint64_t *hash, lap_error *err)
{
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int fd = openat(file->folder, file->name, file->follows ? how : how | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOENT || errno == ELOOP))
        return lap_fail(err, LAP_E_CHANGED, "another file has this name now");
    if (fd < 0)
        return lap_fail(err, LAP_E_UNREADABLE, "cannot be read: %s", strerror(errno));
    lap_code code = check(file, fd, there);
    if (code == LAP_OK)
        code = hash_all(fd, hash, err);
    if (code == LAP_OK)
        code = check(file, fd, there);
    const int why = errno;
    close(fd);
    errno = why;
    if (code == LAP_E_CHANGED)
        return lap_fail(err, code, "changed while it was examined");
    return code == LAP_E_UNREADABLE ? lap_fail(err, code, "cannot be read: %s", strerror(why)) : code;
}

lap_code lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    return hash_file(&(file_name){folder, name, false}, there, hash, err);
}

lap_code lap_content_hash_path(const char *path, const struct stat *there, uint64_t *hash, lap_error *err)
{
    return hash_file(&(file_name){AT_FDCWD, path, true}, there, hash, err);
}
