/* Turns operands into inputs: walks folders, reads lists, and gives each input a name under the output
 * folder. Memory grows with the number of folders, and with the files of the largest folder. */
#ifndef LAP_WALK_H
#define LAP_WALK_H

#include <sys/stat.h>

#include "batch/list.h"

typedef struct lap_walk_entry {
    const char *path;        /* path for opening it */
    const char *relative;    /* path below the output folder; never absolute, never with ".." */
    const struct stat *stat; /* NULL if problem, link or is_out is set */
    size_t operand;          /* index of the operand among the inputs; 0 for a list */
    size_t below; /* offset in path of the part below the named folder; for a named file, of its last part */
    lap_error *problem; /* why it cannot be processed (unreadable folder, missing file, not a file), or
                           NULL */
    bool may_pass;      /* the problem may be temporary (lap_walk_may_pass): a later walk may see what this
                           one did not */
    bool is_made;       /* the walk counted it in others->made or ours */
    bool is_root;       /* the problem concerns a named folder itself; relative is its name */
    bool link;   /* a symbolic link that is not followed: it has the name of a photo, or leads to a folder */
    bool is_out; /* no input: the output folder itself, found below a named folder, perhaps through a mount */
} lap_walk_entry;

/* Returns LAP_OK to continue; any other result ends the walk with that code. */
typedef lap_code lap_walk_fn(void *user, const lap_walk_entry *entry, lap_error *err);

/* Whether this errno may be temporary: there is too little memory, there are too few descriptors, or a signal
 * came. */
bool lap_walk_may_pass(int why);
/* Returns the problem of an entry if it may be temporary. Ends a walk that only looks, because the walk after
 * it may see inputs that this one did not. */
lap_code lap_walk_unseen(const lap_walk_entry *entry, lap_error *err);

/* Visits every input of the options. In folders it visits the files that options->take selects (take.h); it
 * always visits named files and listed paths, except listed AppleDouble files. It visits names in the order
 * of their bytes, and a folder's files before those of its subfolders. Symbolic links inside folders are
 * followed only on request. The walk skips the output folder, other runs' outputs (outputs.h), and lapedge's
 * records. Counts the files that it skips in options->others. list has the names of files_from, or is
 * NULL. */
lap_code lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err);

/* ---- two folders, whose files form pairs -------------------------------------------------------- */

typedef struct lap_walk_side {
    const lap_batch_options *options; /* uses take and others; out_dir is "" */
    const char *folder, *other;       /* a pattern matches a path if it matches the path below either
                                         folder */
} lap_walk_side;

/* Like lap_walk, for one folder, after lap_probe_open has checked options->take. */
lap_code lap_walk_folder(const lap_walk_side *side, lap_walk_fn *visit, void *user, lap_error *err);

typedef enum lap_probed {
    LAP_PROBED_NOTHING, /* nothing has this path */
    LAP_PROBED_VISITED, /* the walk visits it as a file, or with a problem */
    LAP_PROBED_PASSED   /* it exists, but the walk skips it */
} lap_probed;

/* Walks a folder like lap_walk; then tells what this walk does with single paths, without walking again. It
 * stores no paths; if links are followed, it stores the folders. */
typedef struct lap_probe lap_probe;
/* The side must outlive the probe. Close it after a failure, too. Errors as for lap_walk. */
lap_code lap_probe_open(
    const lap_walk_side *side, lap_walk_fn *visit, void *user, lap_probe **probe, lap_error *err);
/* relative: a path below the folder. *why: the problem of a visited path, or why the walk skips the path;
 * else its code is LAP_OK. Fast if the caller asks in the order of a walk. Counts nothing. LAP_E_MEMORY. */
lap_code lap_probe_ask(
    lap_probe *probe, const char *relative, lap_probed *as, lap_error *why, lap_error *err);
void lap_probe_close(lap_probe *probe); /* does nothing for NULL */

#endif
