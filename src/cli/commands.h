/* The commands, one file each. Each returns the exit code. */
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
/* Gets row i of an operation's ladder, for coders too. */
static inline bool lap_cli_row_at(lap_op op, int i, bool probe_devices, lap_rung_info *info)
{
    return op == LAP_OP_ENCODE || op == LAP_OP_DECODE ? lap_coder_at(op, i, info)
                                                      : lap_rung_at(op, i, probe_devices, info);
}

/* Processes the image operands[0] to operands[1] with cli->settings, and prints messages, --json and --stats.
 * run and transform call it after they have set the settings. */
int lap_cli_one(lap_cli *cli);

/* Processes several inputs or folders into a folder: operands are IN... OUTDIR (OUTDIR alone with
 * cli->files_from). run and transform call it if the operands ask for it. */
int lap_run_folder(lap_cli *cli);
/* Replaces files in place: operands, or a list. run calls it. */
int lap_run_in_place(lap_cli *cli);
/* -v: prints on stderr what was done to a photo, and how long it took. */
void lap_cli_print_photo(
    const lap_cli *cli, lap_context *context, const char *in, const char *out, const lap_report *report);
/* Prints a note if backends may differ by more than usual with this kernel and scale. */
void lap_cli_note_tolerance(const lap_cli *cli);

/* Creates a context with cli->settings.threads threads, which signals cancel from now on. Enters the sandbox
 * if requested, and then reads a kernel file. Returns NULL with err filled on failure. */
lap_context *lap_cli_begin(lap_cli *cli, lap_error *err);
void lap_cli_end(lap_context *context); /* does nothing for NULL */
/* Returns the first signal that was caught, or 0. Ctrl-C, SIGTERM and SIGHUP cancel the context,
 * unless they were ignored at the start; a second signal, at least half a second later, removes temporary
 * files and ends the process immediately. */
int lap_cli_caught(void);
/* When a worker's parent (folder.h) catches a signal, it sends the worker this one, with the caught signal's
 * number as its value. */
#define LAP_CLI_PASSED_ON SIGRTMIN
/* Returns the exit code for an error. */
lap_cli_exit lap_cli_exit_of(lap_code code);
/* The same for a single image whose output is `out`. */
lap_cli_exit lap_cli_exit_of_one(lap_code code, const char *out);

#endif
