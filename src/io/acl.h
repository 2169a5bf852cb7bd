/* The POSIX access control list of a file: the attribute system.posix_acl_access of Linux. If a file has one,
 * the group bits of its mode are the list's mask, not the rights of the group. So the same mode without the
 * list may give more rights. */
#ifndef LAP_ACL_H
#define LAP_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct lap_acl { /* all zero: the file has no list */
    uint8_t *bytes;      /* in the kernel's format */
    size_t size;
    bool is_hidden; /* it is not known whether there is a list */
} lap_acl;

lap_acl lap_acl_of(int fd);
/* Returns the list of a file in a folder; the folder may be opened with O_PATH. The file need not be
 * readable. */
lap_acl lap_acl_at(int folder, const char *name);
void lap_acl_free(lap_acl *acl);

/* Gives fd the mode and the list, and removes a list that it inherited from its folder. keeps_group: the file
 * has the group for which the list was made; otherwise the group and others get only the rights that both
 * had. If the list cannot be set, sets a mode that gives no user more rights than the list gave, and sets
 * *is_lost. Returns 0 or the errno of setting the mode. */
int lap_acl_give(int fd, lap_acl *acl, mode_t mode, bool keeps_group, bool *is_lost);

#endif
