/* diff of two folders: images with the same path below both, compared in pairs. */
#ifndef LAP_CLI_DIFF_FOLDERS_H
#define LAP_CLI_DIFF_FOLDERS_H

#include "cli/args.h"

/* operands are two folders; returns the exit code. */
int lap_diff_folders(lap_cli *cli);

#endif
