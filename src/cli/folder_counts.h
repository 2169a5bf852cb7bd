/* What commands over folders share: which files they take, and what their counts amount to. */
#ifndef LAP_CLI_FOLDER_COUNTS_H
#define LAP_CLI_FOLDER_COUNTS_H

#include <jansson.h>

#include "cli/args.h"

/* cli->take from the patterns of --include and --exclude. */
void lap_folder_take(lap_cli *cli);
/* ", 3 failed (2 truncated, 1 missing)" on stderr; nothing where none failed. */
void lap_folder_print_failed(const lap_batch_counts *counts);
/* Failed and skipped by kind. */
json_t *lap_folder_kinds_json(const lap_batch_counts *counts);
/* The exit code of a run that ended with this code, and these counts. */
int lap_folder_exit(lap_code code, const lap_batch_counts *counts);

#endif
