/* Where an output goes: a folder, as a descriptor, and a name in it.
 *
 * A single output keeps its folder open from opening to publishing. Below a tree (the output folder of a
 * folder run) each use opens the folders on the way one by one and follows no link. So an output that waits
 * for its group holds no descriptor, and a link that an attacker plants is not followed. */
#ifndef LAP_TARGET_H
#define LAP_TARGET_H

#include <stdint.h>
#include <sys/stat.h>

#include "lapedge.h"

typedef struct lap_tree {
    int fd;           /* O_PATH; -1: does not exist (yet) */
    const char *path; /* the caller's; may lead through links, which are resolved once */
} lap_tree;

/* A missing folder: LAP_OK, with fd -1. */
lap_code lap_tree_open(const char *path, lap_tree *tree, lap_error *err);
void lap_tree_close(lap_tree *tree);
/* Opens (O_PATH) the folder that contains the file of this relative name; make: creates missing folders.
 * Close it with lap_tree_leave. LAP_E_EXISTS: a symbolic link is in the way; LAP_E_MISSING; LAP_E_WRITE,
 * LAP_E_DISK_FULL. errno says why a folder cannot be entered. */
lap_code lap_tree_enter(const lap_tree *tree, const char *relative, bool make, int *folder, lap_error *err);
/* Whether the file system lists the folders and the name in relative exactly as relative spells them, as far
 * as they exist. A file system that ignores case, or dots at the end, also finds a file by other names. False
 * also if this cannot be determined, for example because a folder cannot be listed. */
bool lap_tree_is_spelt(const lap_tree *tree, const char *relative);
void lap_tree_leave(const lap_tree *tree, int folder);

typedef struct lap_target {
    const lap_tree *tree; /* NULL: a single output */
    int folder;           /* a single output's folder; else -1 */
    char *path;           /* for messages; of a single output with its link resolved */
    char *relative;       /* below the tree; for a single output: its path */
    const char *name;     /* the part of relative after the last slash */
} lap_target;

/* Follows links of the last component. Sets errno on failure. */
bool lap_target_at(const char *path, lap_target *target);
bool lap_target_below(const lap_tree *tree, const char *relative, lap_target *target);
void lap_target_free(lap_target *target);
lap_code lap_target_enter(const lap_target *target, int *folder, lap_error *err);
void lap_target_leave(const lap_target *target, int folder);

/* The files that publishing may replace. */
typedef enum lap_over {
    LAP_OVER_ANY,     /* any regular file */
    LAP_OVER_NOTHING, /* no file */
    LAP_OVER_SEEN     /* the file that was seen, if it was not modified since; or no file, if it is gone */
} lap_over;

/* Renames the file temp of the folder to the target's name. LAP_E_EXISTS if there is a file that may not be
 * replaced; LAP_E_WRITE. A file that appears under the name in the meantime is not lost, with two exceptions,
 * both because the check comes right before the rename and is not atomic with it: a file to replace, and a
 * new name on file systems that support neither RENAME_NOREPLACE nor links. */
lap_code lap_target_publish(const lap_target *target, int folder, const char *temp, lap_over over,
    const struct stat *seen, lap_error *err);

/* Hashes (XXH3) the regular file `there` under a name in a folder, without following a link. LAP_E_CHANGED:
 * another file has the name, or the file was written to while it was read; LAP_E_UNREADABLE with errno;
 * LAP_E_MEMORY. The error has no subject: the caller knows the file's path. */
lap_code lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
/* The same for a path, whose links are followed. */
lap_code lap_content_hash_path(const char *path, const struct stat *there, uint64_t *hash, lap_error *err);
/* Whether both stats are of one file with the same content, judged by device, inode, size and modification
 * time. */
bool lap_same_state(const struct stat *a, const struct stat *b);
/* As lap_same_state, and the change time is equal, too. No program can set it, so this also notices a
 * modification time that was set back. */
bool lap_is_untouched(const struct stat *a, const struct stat *b);

/* Whether two files have the same modification time, as exactly as file systems can store it: FAT rounds to
 * two seconds. */
bool lap_is_time_kept(int64_t seconds, int64_t of_seconds);

#endif
