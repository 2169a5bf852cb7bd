/* One file per command; each returns the exit code. */
#ifndef LAP_CLI_COMMANDS_H
#define LAP_CLI_COMMANDS_H

#include "cli/options/args.h"

int lap_cli_run(lap_cli *cli);
int lap_cli_transform(lap_cli *cli);
int lap_cli_stats(lap_cli *cli);
int lap_cli_compare(lap_cli *cli);
int lap_cli_diff(lap_cli *cli);
int lap_cli_bench(lap_cli *cli);
int lap_cli_backends(lap_cli *cli);
int lap_cli_info(lap_cli *cli);
int lap_cli_doctor(lap_cli *cli);
int lap_cli_explain(lap_cli *cli);
/* Row i of an op's ladder, wherever the library keeps it. */
static inline bool lap_cli_row_at(lap_op op, int i, bool probe_devices, lap_rung_info *info)
{
    return op == LAP_OP_ENCODE || op == LAP_OP_DECODE ? lap_coder_at(op, i, info)
                                                      : lap_rung_at(op, i, probe_devices, info);
}

/* The image operands[0] to operands[1] under cli->settings, with messages, --json and --stats: what run and
 * transform do once they know what is asked. */
int lap_cli_one(lap_cli *cli);

/* Several inputs, or folders, into a folder: operands are IN... OUTDIR (OUTDIR alone with
 * cli->files_from). Called by run and transform, which know by the operands that it is one. */
int lap_run_folder(lap_cli *cli);
/* Files that are replaced: operands, or a list. Called by run. */
int lap_run_in_place(lap_cli *cli);
/* -v: what became of a photo, and how long it took, on stderr. */
void lap_cli_print_photo(
    const lap_cli *cli, lap_context *context, const char *in, const char *out, const lap_report *report);
/* Says so where backends may differ by more with this kernel and scale. */
void lap_cli_note_tolerance(const lap_cli *cli);

/* A context of cli->settings.threads threads, which signals cancel from now on, in the sandbox if that was
 * asked for, where a kernel of a file is read then; NULL with err filled. */
lap_context *lap_cli_begin(lap_cli *cli, lap_error *err);
void lap_cli_end(lap_context *context); /* NULL is fine */
/* Ctrl-C, SIGTERM and SIGHUP (unless it was ignored at start) cancel the context; a second one ends the
 * process at once. This is the first one, or 0. */
int lap_cli_caught(void);
/* From the parent of a worker (worker.h): its value is a signal that it has got. */
#define LAP_CLI_PASSED_ON SIGRTMIN
/* The exit code that an error stands for. */
lap_cli_exit lap_cli_exit_of(lap_code code);

#endif
