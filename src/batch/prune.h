/* Outputs whose photo is gone: files that the manifest says are ours, by inode, size and time, that no input
 * of this run would be written to, and whose input, as it was named, lay in a folder of this run and is no
 * longer there. */
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
/* After a run: removes, or with dry_run names, what is to go; nothing where the run did not see all, or
 * stopped. LAP_E_CANCELLED, LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_prune_outputs(lap_prune *prune, const lap_tree *tree, lap_manifest *manifest,
    const lap_control *control, bool stopped, lap_error *err);

#endif
