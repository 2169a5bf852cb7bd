/* Outputs whose photo is gone: files that records which are believed say are ours, by device, inode, size,
 * time and content, that no input of this run would be written to, and whose input lay in a folder of this
 * run and is no longer there.
 *
 * A record has the folder of its input by name and inode. Where both are not those of a folder of this run,
 * though one of them is, or the words of the command line were the same, nothing is removed: from another
 * current folder, or on another disk, photos are out of sight and not gone. By force the folder of this run
 * is taken for the other one, unless that one still stands where it stood. */
#ifndef LAP_PRUNE_H
#define LAP_PRUNE_H

#include "base/control.h"
#include "batch/manifest.h"
#include "batch/walk.h"

typedef struct lap_prune lap_prune;

/* LAP_E_USAGE where the run does not see all photos: a share, a filter, a list; or none of its inputs is a
 * folder. options must outlive it. */
lap_code lap_prune_create(const lap_batch_options *options, lap_prune **prune, lap_error *err);
void lap_prune_free(lap_prune *prune); /* NULL is fine */
/* An input, of either walk, and the name of its output (of the first walk; else NULL). One that cannot be
 * taken means that nothing is removed. */
lap_code lap_prune_note(lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err);
typedef struct lap_prune_run { /* a run that has ended */
    const lap_tree *tree;
    lap_manifest *manifest;
    const lap_control *control;
    bool stopped; /* early */
    void *user;   /* of the warnings of the options */
} lap_prune_run;
/* Removes, or with dry_run names, what is to go; nothing where the run did not see all, or stopped.
 * LAP_E_CANCELLED, LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_prune_outputs(lap_prune *prune, const lap_prune_run *run, lap_error *err);

#endif
