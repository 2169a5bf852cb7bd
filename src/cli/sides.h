/* Files that the program writes besides OUT: --stats, --log, --report, --heatmap. */
#ifndef LAP_CLI_SIDES_H
#define LAP_CLI_SIDES_H

#include <jansson.h>

#include "cli/cli.h"

/* LAP_EXIT_OK, or a message where one of them is something else that the command line names (an input, OUT, a
 * list), through links too, or lies where nobody may look. Folders among the inputs are looked through,
 * except in a folder run, where lap_batch does it. */
lap_cli_exit lap_cli_check_sides(const lap_cli *cli);

/* --log: a first line with the settings, then one a file. Each is appended with one call, so that a run that
 * is killed leaves whole ones. */
typedef struct lap_cli_log {
    const lap_settings *settings;
    int fd;
    bool is_file, is_new, is_begun;
    long long size;        /* of its whole lines */
    int problem;           /* errno of the first line that could not be written */
    const char *postponed; /* opened when the first line comes */
} lap_cli_log;
/* Changes nothing yet; "-" is standard output. False with errno set. cli->settings outlive the log. */
bool lap_cli_log_open(lap_cli_log *log, const lap_cli *cli);
/* Whether the log lies directly in an output folder that is not there yet: opened with the first line, then.
 */
bool lap_cli_log_postpone(lap_cli_log *log, const lap_cli *cli, const char *out_dir);
/* Writes the first line, unless it is there: from now on the old content is gone. */
void lap_cli_log_begin(lap_cli_log *log);
void lap_cli_log_line(lap_cli_log *log, const json_t *record);
/* A new log of a run that did not begin vanishes again. False after a failure; problem says why. */
bool lap_cli_log_close(lap_cli_log *log, const char *path);
/* The same of a run that ends with this exit code: the one to end with, after a message if need be. path
 * NULL: no log was asked for. */
int lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code);

#endif
