/* From operands to inputs: folders are walked, lists are read, each input gets its name under the output
 * folder. Memory grows with the number of folders, not of files. */
#ifndef LAP_WALK_H
#define LAP_WALK_H

#include <sys/stat.h>

#include "batch/list.h"

typedef struct lap_walk_entry {
    const char *path;        /* to open */
    const char *relative;    /* below the output folder; never absolute, never with ".." */
    const struct stat *stat; /* NULL where problem or link is set */
    size_t operand;          /* its place among the inputs; of a list 0 */
    size_t below;            /* where in path its name below the folder that was named begins; of a file that
                                was named, its last part */
    lap_error *problem;      /* cannot be taken: unreadable folder, missing file, not a file; else NULL */
    bool link;               /* a symbolic link that is not followed: named like a photo, or to a folder */
} lap_walk_entry;

/* Returns LAP_OK to go on; anything else ends the walk with that code. */
typedef lap_code lap_walk_fn(void *user, const lap_walk_entry *entry, lap_error *err);

/* Visits every input of the options: of folders the files that options->take takes (take.h); named files and
 * listed paths whatever they are called. All files of a folder come before those of its subfolders. Symbolic
 * links inside folders are followed only if asked for. The output folder, folders of other runs' outputs, and
 * what lapedge itself keeps in folders, are not walked. What is not taken is counted in options->others.
 * list: the names of files_from, or NULL. */
lap_code lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err);

#endif
