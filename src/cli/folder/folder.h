/* Shared by run, stats and diff for folders and lists. A caller's struct begins with a lap_folder. The caller
 * sets options, calls the library between start and stop, and reports:
 *
 *     lap_folder_begin, set options, lap_folder_start, lap_batch or similar, lap_folder_stop,
 *     print the summary, lap_folder_exit */
#ifndef LAP_CLI_FOLDER_H
#define LAP_CLI_FOLDER_H

#include <jansson.h>

#include "cli/options/args.h"
#include "cli/progress.h"
#include "cli/sides.h"

typedef struct lap_folder {
    const lap_cli *cli;
    lap_batch_options options; /* files and processors to use; points to the fields below */
    lap_batch_devices devices;
    lap_progress progress;
    /* The library fills these fields. */
    lap_batch_others others;
    lap_batch_work work;
    lap_batch_counts counts;
    lap_error err;
    uint64_t told[LAP_CODES]; /* messages about files by kind; LAP_OK counts warnings */
    lap_context *context;     /* the run's, after lap_folder_start */
    lap_cli_exit lost;        /* exit code once standard output could not be written, or LAP_EXIT_OK */
} lap_folder;

/* Prepares a run over the first `inputs` operands. With --shard=auto, the tasks on one machine share all its
 * devices, or the devices that were named. Unless -q is given, the run hides the progress line and prints its
 * warnings, such as that a device was lost. Pass the struct that begins with the lap_folder as `user` of all
 * callbacks. */
void lap_folder_begin(lap_folder *folder, lap_cli *cli, int inputs);
/* Returns LAP_EXIT_USAGE after a message if an operand is "-". */
lap_cli_exit lap_folder_check_names(const lap_cli *cli);

/* Starts the progress line. With -v first prints "up to 2 WHAT at once", unless what is NULL. */
void lap_folder_start(lap_folder *folder, lap_context *context, const char *what);
/* Updates the progress line. Call it in each callback, after the finished file was reported. */
void lap_folder_show(lap_folder *folder, const lap_batch_counts *counts);
/* For a run that writes only to standard output: flushes it, and cancels the run if that fails, for example
 * because the disk is full or the reader of a pipe has closed it. Sets folder->lost. */
void lap_folder_flush(lap_folder *folder);
void lap_folder_stop(lap_folder *folder);

/* Describes which files of a folder the run processes: "(--ext=png), after --include". kinds names the kinds
 * of files that a run without --ext processes. Returns text. */
enum { LAP_TAKEN_TEXT = 280 };
char *lap_folder_taken(const lap_cli *cli, const char *kinds, char text[LAP_TAKEN_TEXT]);

/* Whether to print a file's error or warning. A terminal with a progress line shows ten of each kind, unless
 * -v is given; lap_folder_print_untold prints how many were omitted. */
bool lap_folder_may_tell(lap_folder *folder, const lap_report *report);
/* Number of inputs that were not reached. */
uint64_t lap_folder_left(const lap_folder *folder);

/* These print lines of the summary on stderr; each prints nothing if its count is zero. */
void lap_folder_print_others(
    const lap_folder *folder); /* "3 other files not taken: 2 .heic, 1 .mov", outputs */
void lap_folder_print_made(const lap_folder *folder); /* a warning about inputs that are edge maps already */
void lap_folder_print_failed(const lap_folder *folder); /* ", 3 failed (2 truncated, 1 missing)" */
void lap_folder_print_left(const lap_folder *folder);   /* ", 56 left" if the run ended early */
void lap_folder_print_links(const lap_folder *folder);
void lap_folder_print_untold(const lap_folder *folder);
void lap_folder_print_none(const lap_folder *folder); /* printed even with -q, since it is an error */
void lap_folder_print_work(const lap_folder *folder); /* with -v: processors, and time per stage */

json_t *lap_folder_json_kinds(const lap_folder *folder); /* counts of failed and skipped files by kind */
json_t *lap_folder_json_others(const lap_folder *folder);
/* Makes the last line of a log if photos or outputs were left out, or were filtered before; else NULL. */
json_t *lap_folder_json_left(const lap_folder *folder);
/* Writes the first line of a log if it is still missing, because no file was found. Then adds the line of
 * lap_folder_json_left, if any. Call it unless the run was refused. */
void lap_folder_end_log(const lap_folder *folder, lap_cli_log *log);
/* Adds how long the run took, and how it ended. */
void lap_folder_json_end(const lap_folder *folder, json_t *object);

/* Returns the exit code of a run that ended with this code, or folder->lost if it is set. */
int lap_folder_exit(const lap_folder *folder, lap_code code);

/* ---- the process with the CUDA devices (worker.c) ------------------------------------------------ */

/* An error in CUDA can kill the process that uses it. So a child process, the worker, does folder runs that
 * may use devices. If the worker dies, the parent runs the same command again with the CPU only, which skips
 * the finished outputs. */

/* Call this before threads are started and before CUDA is used. Returns false if the caller should do the
 * run: it is the worker, or the run uses no device. Returns true, after a warning, if a worker died and this
 * process should run without devices. If the worker finished, ends the process with the worker's exit
 * code. */
bool lap_cli_has_lost_worker(const lap_cli *cli);
/* Call this last in main. A crash after this point, such as in CUDA's clean-up, does not count as the
 * worker's death. */
void lap_cli_worker_ends(int exit_code);

#endif
