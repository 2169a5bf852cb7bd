/* What run, stats and diff have in common over folders and lists. A client's struct begins with a lap_folder;
 * it adds its options, has the library work between start and stop, and reports:
 *
 *     lap_folder_begin, options of its own, lap_folder_start, lap_batch or its like, lap_folder_stop,
 *     the summary, lap_folder_exit
 */
#ifndef LAP_CLI_FOLDER_H
#define LAP_CLI_FOLDER_H

#include <jansson.h>

#include "cli/options/args.h"
#include "cli/progress.h"

typedef struct lap_folder {
    const lap_cli *cli;
    lap_batch_options options; /* which files, and who works on them; points to what is below */
    lap_batch_devices devices;
    lap_progress progress;
    /* The library fills these. */
    lap_batch_others others;
    lap_batch_work work;
    lap_batch_counts counts;
    lap_error err;
    uint64_t told[LAP_CODES]; /* messages about files by kind; LAP_OK: warnings */
} lap_folder;

/* The inputs are the first operands. With --shard=auto, tasks of one machine share its devices: all of them,
 * unless some are named. A device that is lost is reported above the progress line, but for -q: the
 * callback's user is the client. */
void lap_folder_begin(lap_folder *folder, lap_cli *cli, int inputs);
/* LAP_EXIT_USAGE after a message where an operand is "-". */
lap_cli_exit lap_folder_check_names(const lap_cli *cli);
/* LAP_EXIT_USAGE after a message where a log, a timeline or a list does not go with the other options. */
lap_cli_exit lap_folder_check_log(const lap_cli *cli);

/* The progress line; before it, with -v, "up to 2 WHAT at once" unless what is NULL. */
void lap_folder_start(lap_folder *folder, const lap_context *context, const char *what);
/* In each callback, after a finished file was reported. */
void lap_folder_show(lap_folder *folder, const lap_batch_counts *counts);
void lap_folder_stop(lap_folder *folder);

/* Whether a file's error or warning is printed. A terminal that shows progress gets ten lines of each kind,
 * unless -v asks for all; lap_folder_print_untold says how many more there were. */
bool lap_folder_may_tell(lap_folder *folder, const lap_report *report);
/* Inputs that had no turn. */
uint64_t lap_folder_left(const lap_folder *folder);

/* Lines of the summary on stderr; each prints nothing where there is nothing to say. */
void lap_folder_print_others(const lap_folder *folder); /* "3 other files not taken: 2 .heic, 1 .mov" */
void lap_folder_print_failed(const lap_folder *folder); /* ", 3 failed (2 truncated, 1 missing)" */
void lap_folder_print_left(const lap_folder *folder);   /* ", 56 left" of a run that ended early */
void lap_folder_print_links(const lap_folder *folder);
void lap_folder_print_untold(const lap_folder *folder);
void lap_folder_print_none(const lap_folder *folder); /* no photo was found */
void lap_folder_print_work(const lap_folder *folder); /* with -v: who did it, and what took how long */

json_t *lap_folder_json_kinds(const lap_folder *folder); /* failed and skipped by kind */
json_t *lap_folder_json_others(const lap_folder *folder);
/* How long it took, and how it ended. */
void lap_folder_json_end(const lap_folder *folder, json_t *object);

/* The exit code of a run that ended with this code. */
int lap_folder_exit(const lap_folder *folder, lap_code code);

#endif
