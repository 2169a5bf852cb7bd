/* Where an output goes: a folder, known by a descriptor, and a name in it.
 *
 * A single output's folder is held open from its opening to its publishing. Below a tree (the output folder
 * of a folder run) each step of the way is opened by itself and no link is followed, each time anew: an
 * output that waits for its group holds nothing open, and a link that somebody puts in the way leads nowhere.
 */
#ifndef LAP_TARGET_H
#define LAP_TARGET_H

#include <sys/stat.h>

#include "lapedge.h"

typedef struct lap_tree {
    int fd;           /* O_PATH; -1: not there (yet) */
    const char *path; /* as it was named; may lead through links, which are resolved once; the caller's */
} lap_tree;

/* A folder that is not there is LAP_OK with fd -1. */
lap_code lap_tree_open(const char *path, lap_tree *tree, lap_error *err);
void lap_tree_close(lap_tree *tree);
/* The descriptor (O_PATH) of the folder that the file of this relative name lies in; make: with folders that
 * are missing. lap_tree_leave gives it back. LAP_E_EXISTS: a symbolic link is in the way; LAP_E_MISSING;
 * LAP_E_WRITE, LAP_E_DISK_FULL. */
lap_code lap_tree_enter(const lap_tree *tree, const char *relative, bool make, int *folder, lap_error *err);
void lap_tree_leave(const lap_tree *tree, int folder);

typedef struct lap_target {
    const lap_tree *tree; /* NULL: a single output */
    int folder;           /* of a single output; -1 else */
    char *path;           /* for messages; where the link leads by which a single output was named */
    char *relative;       /* below the tree; of a single output its path again */
    const char *name;     /* what follows the last slash of relative */
} lap_target;

/* Links of the last component are followed. errno is set on failure. */
bool lap_target_at(const char *path, lap_target *target);
bool lap_target_below(const lap_tree *tree, const char *relative, lap_target *target);
void lap_target_free(lap_target *target);
lap_code lap_target_enter(const lap_target *target, int *folder, lap_error *err);
void lap_target_leave(const lap_target *target, int folder);

/* What may stand under a name that is published. */
typedef enum lap_over {
    LAP_OVER_ANY,     /* any regular file is replaced */
    LAP_OVER_NOTHING, /* nothing */
    LAP_OVER_SEEN     /* the file that was seen there, untouched since; or nothing any more */
} lap_over;

/* Gives the file temp of the folder its name. LAP_E_EXISTS where something stands there that may not be
 * replaced; LAP_E_WRITE. Nothing that appears meanwhile is lost, with two exceptions: a file that is replaced
 * on purpose is looked at right before the rename, not with it; and so is the name of a new file on file
 * systems that have neither RENAME_NOREPLACE nor links. */
lap_code lap_target_publish(const lap_target *target, int folder, const char *temp, lap_over over,
    const struct stat *seen, lap_error *err);

/* The XXH3 of the regular file `there` under a name in a folder, not through a link. LAP_E_CHANGED: another
 * file has the name, or somebody wrote to this one while it was read; LAP_E_UNREADABLE with errno;
 * LAP_E_MEMORY. */
lap_code lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
/* Whether both are one file with the same content, judged by device, inode, size and time. */
bool lap_same_state(const struct stat *a, const struct stat *b);
/* The same, and nobody has set its time back meanwhile: by the time of the last change of its inode, too,
 * which nobody can set. */
bool lap_is_untouched(const struct stat *a, const struct stat *b);

#endif
