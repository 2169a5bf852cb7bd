/* CUDA can take the process down that uses it. So a run over a folder that may use devices is done by a
 * child, the worker; where it dies, the parent does the rest, with the CPU alone: the same command again
 * skips what is done. Needs no thread, and no CUDA, before it is called. */
#ifndef LAP_WORKER_H
#define LAP_WORKER_H

#include "cli/options/args.h"

/* Returns false where the run is to go on as usual: in the worker, and in a run that uses no device. Returns
 * true, after a warning, where a worker has died and this process is to do without devices. Else there was a
 * worker and it came to its end: then this ends the process with the worker's exit code. */
bool lap_cli_has_lost_worker(const lap_cli *cli);
/* The last thing of main: what happens now, in CUDA's own clean-up for one, is no death of the worker. */
void lap_cli_worker_ends(int exit_code);

#endif
