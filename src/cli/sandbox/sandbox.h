/* --sandbox: an attacker who controls a decoder can do only what the rules below allow the run.
 *
 * Landlock (Linux 5.13) lets the process read the inputs and write below the folders of outputs. seccomp lets
 * it make some eighty system calls, only with arguments that a run needs: no network, no other program, no
 * executable memory. Both apply to the process and to the threads that it starts later, and cannot be lifted.
 * A second process, which has the same rules and decodes nothing, sets modes, owners and times of finished
 * files. */
#ifndef LAP_CLI_SANDBOX_H
#define LAP_CLI_SANDBOX_H

#include <stdio.h>

#include "cli/cli.h"

/* Confines the process to what this command line needs. Creates OUTDIR if it is missing. Call it before the
 * first thread starts. LAP_E_BACKEND: the kernel has no Landlock or no seccomp, or the processor is neither
 * x86-64 nor aarch64; then the run is refused, since a sandbox was requested. LAP_E_WRITE: OUTDIR cannot be
 * created. */
lap_code lap_cli_sandbox(const lap_cli *cli, lap_error *err);

/* Sets "--sandbox: why" as the message; returns code. */
static inline lap_code lap_sandbox_failed(lap_error *err, lap_code code, const char *why)
{
    *err = (lap_error){.code = code};
    snprintf(err->subject, sizeof err->subject, "--sandbox");
    snprintf(err->message, sizeof err->message, "%s", why);
    return code;
}

/* ---- Landlock (sandbox_files.c) ---------------------------------------------------------------------- */

typedef struct lap_sandbox {
    int rules; /* descriptor of the ruleset */
    int abi;   /* the kernel's version of the Landlock interface, from 1 */
    bool writes;
} lap_sandbox;

typedef enum lap_sandbox_access {
    LAP_SANDBOX_READ, /* read a file, or a folder and everything below it */
    LAP_SANDBOX_WRITE /* a folder: create, read, write, rename and remove files below it; a file: write it */
} lap_sandbox_access;

lap_code lap_sandbox_open(lap_sandbox *box, lap_error *err);
/* Allows access to path; links are followed. Ignores a path that does not exist: the code that opens it
 * reports that. */
lap_code lap_sandbox_allow(lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
/* Forbids everything else from now on, for this thread and the threads that it starts. LAP_E_BACKEND. */
lap_code lap_sandbox_restrict(const lap_sandbox *box, lap_error *err);

/* ---- a process that sets modes, owners and times (sandbox_keeper.c) ----------------------------------- */

/* Starts the keeper and a signal handler that sends it the calls refused by the next filter. *sock is the
 * only socket to the keeper, which ends with this process. LAP_E_BACKEND: no process could be started. */
lap_code lap_sandbox_keep(int *sock, lap_error *err);

/* ---- seccomp (sandbox_calls.c) ----------------------------------------------------------------------- */

/* From now on every other system call fails with EPERM. keeper comes from lap_sandbox_keep, or is -1 if the
 * command writes no files and sets neither modes nor times. LAP_E_BACKEND. */
lap_code lap_sandbox_limit_calls(int keeper, lap_error *err);
lap_code lap_sandbox_limit_keeper(lap_error *err);

#endif
