/* stats of many files and folders: one after another in the order of the folders, then all together. */
#ifndef LAP_CLI_STATS_FOLDER_H
#define LAP_CLI_STATS_FOLDER_H

#include "cli/args.h"

/* LAP_EXIT_USAGE after a message where the operands do not go with the options. */
lap_cli_exit lap_stats_folder_check(const lap_cli *cli);
/* Returns the exit code. */
int lap_stats_folder(lap_cli *cli, lap_context *context, const lap_measure_options *options);

#endif
