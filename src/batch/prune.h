/* Removes outputs whose photo no longer exists. Records that are believed must show that lapedge wrote the
 * file (device, inode, size, time and content agree), that it is not the output of any input of this run, and
 * that its input was in a folder of this run and is gone.
 *
 * A record holds its input's folder by name and inode. Nothing is removed if only the name, only the inode,
 * or only the path on the command line matches a folder of this run: after a change of the current folder or
 * of the disk, photos are out of sight, but not gone. With force the folder of this run counts as the
 * recorded one, unless the recorded one still exists. */
#ifndef LAP_PRUNE_H
#define LAP_PRUNE_H

#include "base/control.h"
#include "batch/manifest.h"
#include "batch/walk.h"

typedef struct lap_prune lap_prune;

/* LAP_E_USAGE: the run does not see all photos (shards, a filter, a list), or none of its inputs is a folder.
 * options must outlive *prune. */
lap_code lap_prune_create(const lap_batch_options *options, lap_prune **prune, lap_error *err);
void lap_prune_free(lap_prune *prune); /* does nothing for NULL */
/* Notes an input of either walk, and the name of its output (in the first walk; else NULL). If an input
 * cannot be examined, nothing will be removed. */
lap_code lap_prune_note(lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err);
typedef struct lap_prune_run { /* a finished run */
    const lap_tree *tree;
    lap_manifest *manifest;
    const lap_control *control;
    bool stopped; /* the run ended early */
    void *user;   /* user of the options' warn function */
} lap_prune_run;
/* Removes outputs without a photo, or lists them with dry_run. Does nothing if the run did not see all
 * photos, or was stopped. LAP_E_CANCELLED, LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_prune_outputs(lap_prune *prune, const lap_prune_run *run, lap_error *err);

#endif
