/* What commands over folders share: which devices they may use, and who did the work. */
#ifndef LAP_CLI_FOLDER_WORK_H
#define LAP_CLI_FOLDER_WORK_H

#include "cli/folder_progress.h"

/* As the options have it. With --shard=auto, tasks of one machine share its devices: all of them, unless some
 * are named. */
lap_batch_devices lap_folder_devices(const lap_cli *cli);
/* The first operands as inputs, with the options that choose files and who works on them. */
lap_batch_options lap_folder_inputs(lap_cli *cli, int count, const lap_batch_devices *devices,
    lap_batch_others *others, lap_batch_work *work);
/* A device that was lost: a line above that of the progress, but for -q. */
void lap_folder_warn(const lap_cli *cli, lap_folder_progress *progress, const lap_error *warning);
/* With -v: who did it, and what took how long. */
void lap_folder_print_work(const lap_batch_work *work);

#endif
