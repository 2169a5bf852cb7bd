/* Turns operands into inputs: walks folders, reads lists, and gives each input a name under the output
 * folder. Memory grows with the number of folders, and with the files of the largest folder. */
#ifndef LAP_WALK_H
#define LAP_WALK_H

#include <sys/stat.h>

#include "batch/list.h"

typedef struct lap_walk_entry {
    const char *path;        /* path for opening it */
    const char *relative;    /* path below the output folder; never absolute, never with ".." */
    const struct stat *stat; /* NULL if problem or link is set */
    size_t operand;          /* index of the operand among the inputs; 0 for a list */
    size_t below; /* where the path below the named folder begins in path; for a named file, where its last
                     part begins */
    lap_error *problem; /* why it cannot be taken (unreadable folder, missing file, not a file), or NULL */
    bool may_pass;      /* the problem is lap_walk_may_pass: a later walk may see what this one did not */
    bool is_made;       /* the walk counted it in others->made or ours */
    bool link; /* a symbolic link that is not followed: it has the name of a photo, or leads to a folder */
} lap_walk_entry;

/* Returns LAP_OK to continue; any other result ends the walk with that code. */
typedef lap_code lap_walk_fn(void *user, const lap_walk_entry *entry, lap_error *err);

/* Whether this errno may be over soon: memory or descriptors are lacking, or a signal came. */
bool lap_walk_may_pass(int why);
/* The problem of an entry, if it may pass. Ends a walk that only looks: the walk after it may see what this
 * one did not. */
lap_code lap_walk_unseen(const lap_walk_entry *entry, lap_error *err);

/* Visits every input of the options. From folders it takes the files that options->take selects (take.h);
 * named files and listed paths are always taken, except listed AppleDouble files. The order is that of the
 * names, byte by byte; a folder's files come before those of its subfolders. Symbolic links inside folders
 * are followed only on request. The walk skips the output folder, other runs' outputs (outputs.h), and
 * lapedge's records. Counts in options->others what it does not take. list has the names of files_from, or is
 * NULL. */
lap_code lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err);

#endif
