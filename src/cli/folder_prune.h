/* --prune: outputs whose photo is gone, reported to a person and a script. */
#ifndef LAP_FOLDER_PRUNE_H
#define LAP_FOLDER_PRUNE_H

#include <jansson.h>

#include "cli/folder_progress.h"

typedef struct lap_folder_prune {
    const lap_cli *cli;
    lap_folder_progress *progress;
    lap_batch_prune work; /* for lap_batch */
    json_t *outputs;      /* their names */
} lap_folder_prune;

/* Begins with all of them none; NULL where the command line does not ask for it. */
lap_batch_prune *lap_folder_prune_begin(
    lap_folder_prune *prune, const lap_cli *cli, lap_folder_progress *progress);
/* Behind the summary of a run that ended so: what stays, and why. LAP_EXIT_FAILED where outputs stay that may
 * be to go. */
lap_cli_exit lap_folder_prune_end(lap_folder_prune *prune, lap_code code, const lap_error *err);
json_t *lap_folder_prune_json(const lap_folder_prune *prune); /* "pruned" of lapedge.run/1 */
void lap_folder_prune_free(lap_folder_prune *prune);

#endif
