/* An error in CUDA can kill the process that uses it. So a child process, the worker, does folder runs that
 * may use devices. If the worker dies, the parent finishes the run with the CPU only: the same command skips
 * what is done. Call this before threads are started and before CUDA is used. */
#ifndef LAP_WORKER_H
#define LAP_WORKER_H

#include "cli/options/args.h"

/* Returns false if the caller should run: it is the worker, or the run uses no device. Returns true, after a
 * warning, if a worker died and this process should run without devices. If the worker finished, ends the
 * process with the worker's exit code. */
bool lap_cli_has_lost_worker(const lap_cli *cli);
/* Call this last in main. A crash after this point, such as in CUDA's clean-up, does not count as the
 * worker's death. */
void lap_cli_worker_ends(int exit_code);

#endif
