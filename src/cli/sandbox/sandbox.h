/* --sandbox: a decoder that was taken over can do no more than the run itself does.
 *
 * Landlock (Linux 5.13) lets the process read the inputs and write below the folders of outputs. seccomp lets
 * it make some eighty system calls, with the arguments that a run gives them: no network, no other program,
 * no executable memory. Both hold for the process and for the threads that it starts from then on, for good.
 * A second process, which has the same rules and decodes nothing, sets modes and times of finished files. */
#ifndef LAP_CLI_SANDBOX_H
#define LAP_CLI_SANDBOX_H

#include <stdio.h>

#include "cli/cli.h"

/* Confines the process to what this command line needs; makes OUTDIR where it is missing. Before the first
 * thread is started. LAP_E_BACKEND where the kernel has no Landlock or no seccomp, or the processor is
 * neither x86-64 nor aarch64: nothing is run without the sandbox that was asked for. LAP_E_WRITE: no OUTDIR.
 */
lap_code lap_cli_sandbox(const lap_cli *cli, lap_error *err);

/* "--sandbox: why"; returns code. */
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
    int abi;   /* what this kernel knows of Landlock: 1 and up */
    bool writes;
} lap_sandbox;

typedef enum lap_sandbox_access {
    LAP_SANDBOX_READ, /* a file, or a folder and what is below */
    LAP_SANDBOX_WRITE /* a folder: files made, read, written, renamed and removed below; a file: written */
} lap_sandbox_access;

lap_code lap_sandbox_open(lap_sandbox *box, lap_error *err);
/* What is not there is passed over: whoever wants it will say so. Links of the path are followed. */
lap_code lap_sandbox_allow(lap_sandbox *box, const char *path, lap_sandbox_access access, lap_error *err);
/* From here on nothing else, for this thread and those that it starts. LAP_E_BACKEND. */
lap_code lap_sandbox_restrict(const lap_sandbox *box, lap_error *err);

/* ---- a process that sets modes and times (sandbox_keeper.c) ------------------------------------------- */

/* Starts it and sends it what the next filter refuses by a signal; *sock: the only socket to it.
 * LAP_E_BACKEND where no process can be started. It ends with this one. */
lap_code lap_sandbox_keep(int *sock, lap_error *err);

/* ---- seccomp (sandbox_calls.c) ----------------------------------------------------------------------- */

/* Every other system call fails with EPERM from here on. keeper: of lap_sandbox_keep; -1 where nothing is
 * written, and no mode and no time set. LAP_E_BACKEND. */
lap_code lap_sandbox_limit_calls(int keeper, lap_error *err);
lap_code lap_sandbox_limit_keeper(lap_error *err);

#endif
