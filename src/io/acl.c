#include "io/acl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char attribute[] = "system.posix_acl_access";

/* The format of the attribute: a version in 4 bytes, then entries of 8: tag, rights and id, little-endian. */
enum { HEAD = 4, ENTRY = 8, VERSION = 2 };
enum { OWNER = 0x01, USER = 0x02, OWNING_GROUP = 0x04, GROUP = 0x08, MASK = 0x10, OTHERS = 0x20 };

/* ---- reading ------------------------------------------------------------------------------------ */

typedef struct acl_file {
    int fd; /* used if path is NULL */
    const char *path;
} acl_file;

static ssize_t get(const acl_file *file, void *bytes, size_t size)
{
    return file->path ? lgetxattr(file->path, attribute, bytes, size)
                      : fgetxattr(file->fd, attribute, bytes, size);
}

static lap_acl read_list(const acl_file *file)
{
    lap_acl acl = {0};
    ssize_t size = get(file, NULL, 0);
    if (size > 0) {
        acl.bytes = malloc((size_t)size);
        size = acl.bytes ? get(file, acl.bytes, (size_t)size) : -1;
    }
    if (size > 0) {
        acl.size = (size_t)size;
        return acl;
    }
    /* No list, or a file system or kernel without lists. */
    const bool has_none =
        size == 0 || (!acl.bytes && (errno == ENODATA || errno == ENOTSUP || errno == ENOSYS));
    free(acl.bytes);
    return (lap_acl){.is_hidden = !has_none};
}

lap_acl lap_acl_of(int fd)
{
    return read_list(&(acl_file){.fd = fd});
}

lap_acl lap_acl_at(int folder, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
    lap_acl acl = {.is_hidden = true};
    if (length > 0 && (size_t)length < sizeof path)
        acl = read_list(&(acl_file){.path = path});
    if (!acl.is_hidden)
        return acl;
    /* Reading by path fails without /proc, and in the sandbox, which does not permit attributes of files that
     * cannot be opened. */
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return (lap_acl){.is_hidden = errno != ENOENT};
    acl = lap_acl_of(fd);
    close(fd);
    return acl;
}

void lap_acl_free(lap_acl *acl)
{
    free(acl->bytes);
    *acl = (lap_acl){0};
}

/* ---- entries ------------------------------------------------------------------------------------ */

static unsigned tag_at(const lap_acl *acl, size_t at)
{
    return acl->bytes[at] | (unsigned)acl->bytes[at + 1] << 8;
}

static bool is_known_format(const lap_acl *acl)
{
    return acl->size >= HEAD && (acl->size - HEAD) % ENTRY == 0 && acl->bytes[0] == VERSION &&
           !acl->bytes[1] && !acl->bytes[2] && !acl->bytes[3];
}

/* Returns the mode for a file without the list; it gives no user more rights than the list gave. A user or a
 * group that had an entry now gets the rights of the owning group or of others, so these are limited to the
 * rights in every such entry. */
static mode_t mode_without(const lap_acl *acl)
{
    unsigned owner = 0, group = 0, others = 0, mask = 7, named = 7;
    if (!is_known_format(acl))
        return 0;
    for (size_t at = HEAD; at < acl->size; at += ENTRY) {
        const unsigned rights = acl->bytes[at + 2] & 7u, tag = tag_at(acl, at);
        if (tag == OWNER)
            owner = rights;
        else if (tag == OWNING_GROUP)
            group = rights;
        else if (tag == MASK)
            mask = rights;
        else if (tag == OTHERS)
            others = rights;
        else
            named &= rights;
    }
    named &= mask;
    return owner << 6 | (group & mask & named) << 3 | (others & named);
}

/* Limits the rights of the owning group and of others to those that both have. */
static void limit_group(lap_acl *acl)
{
    unsigned both = 7;
    for (int pass = 0; pass < 2; pass++)
        for (size_t at = HEAD; is_known_format(acl) && at < acl->size; at += ENTRY) {
            const unsigned tag = tag_at(acl, at);
            if (tag == OWNING_GROUP || tag == OTHERS || (tag == MASK && pass == 0))
                both &= acl->bytes[at + 2];
            if (pass == 1 && (tag == OWNING_GROUP || tag == OTHERS))
                acl->bytes[at + 2] = (uint8_t)both;
        }
}

/* ---- setting ------------------------------------------------------------------------------------ */

static bool set(int fd, const void *bytes, size_t size)
{
    return fsetxattr(fd, attribute, bytes, size, 0) == 0;
}

/* Removes the list by setting one that grants the same rights as the mode. */
static bool remove_list(int fd, mode_t mode)
{
    const uint8_t bytes[HEAD + 3 * ENTRY] = {VERSION, 0, 0, 0, /* owner, group, others; no ids */
        OWNER, 0, mode >> 6 & 7, 0, 0xff, 0xff, 0xff, 0xff, OWNING_GROUP, 0, mode >> 3 & 7, 0, 0xff, 0xff,
        0xff, 0xff, OTHERS, 0, mode & 7, 0, 0xff, 0xff, 0xff, 0xff};
    return set(fd, bytes, sizeof bytes);
}

static mode_t limited(mode_t mode)
{
    const mode_t both = mode >> 3 & mode & 7;
    return (mode & 0700) | both << 3 | both;
}

int lap_acl_give(int fd, lap_acl *acl, mode_t mode, bool keeps_group, bool *is_lost)
{
    *is_lost = acl->is_hidden;
    if (acl->is_hidden)
        mode &= 0700;
    if (acl->bytes && !keeps_group)
        limit_group(acl);
    if (acl->bytes && set(fd, acl->bytes, acl->size)) /* sets the mode, too */
        return 0;
    if (acl->bytes) {
        *is_lost = true;
        mode = mode_without(acl);
    }
    if (!keeps_group)
        mode = limited(mode);
    lap_acl inherited = lap_acl_of(fd);
    if ((inherited.bytes || inherited.is_hidden) && !remove_list(fd, mode)) {
        *is_lost = true;
        mode &= 0707; /* the group bits are the list's mask: 0 disables its entries */
    }
    lap_acl_free(&inherited);
    return fchmod(fd, mode) == 0 ? 0 : errno;
}
