/* Files that the program writes in addition to OUT: --stats, --log, --report, --heatmap. */
#ifndef LAP_CLI_SIDES_H
#define LAP_CLI_SIDES_H

#include <jansson.h>

#include "cli/options/args.h"

/* Checks these files, and OUT. Returns an exit code after a message if one of them is also an input, OUT or a
 * list on the command line (links are followed), lies in a folder that cannot be read, or would replace a
 * file that lapedge did not write with the same option (recognised by its first bytes; -f permits that). Also
 * if OUT is one of lapedge's own records, or a file that only -f replaces, if one of these names is a pattern
 * that the shell has left, or as lap_cli_check_stdout does. Folders among the inputs are searched, except for
 * standard output and in a folder run: there lap_batch checks. */
lap_cli_exit lap_cli_check_sides(const lap_cli *cli);
/* Returns LAP_EXIT_USAGE after a message if standard output is redirected to a file with content, as with >>,
 * that would be damaged: text goes only to text, an image only to a stream of such images. After a > the file
 * is empty, so nothing is lost here. lap_cli_check_sides calls it, too. */
lap_cli_exit lap_cli_check_stdout(const lap_cli *cli);
/* Whether text would damage nothing on standard output: it is no regular file, or one that begins like text.
 */
bool lap_cli_stdout_takes_text(void);

/* Sets the names of these files that the command line gives, with standard output if it is a file and gets
 * JSON, the list of -n or a side file; returns their number. */
size_t lap_cli_list_sides(const lap_cli *cli, const char *names[LAP_SIDES]);

/* Whether a path stands for standard output. */
bool lap_cli_is_stdout(const char *path);

/* --log: a first line with the settings, then one line per file. Each line is appended with one call, so that
 * a run that is killed leaves only whole lines. */
typedef struct lap_cli_log {
    const lap_settings *settings;
    int fd;
    bool is_file, is_new, is_begun;
    long long size;        /* bytes of complete lines */
    int problem;           /* errno of the first line that failed to be written */
    const char *postponed; /* path to open when the first line is written */
} lap_cli_log;
/* Opens the log without changing it; "-" is standard output. False with errno set. cli->settings must outlive
 * the log. */
bool lap_cli_log_open(lap_cli_log *log, const lap_cli *cli);
/* Whether the log lies directly in an output folder that does not exist yet. Then the log is opened with its
 * first line. */
bool lap_cli_log_postpone(lap_cli_log *log, const lap_cli *cli, const char *out_dir);
/* Writes the first line if it is missing. From now on the old content is lost. */
void lap_cli_log_begin(lap_cli_log *log);
void lap_cli_log_line(lap_cli_log *log, const json_t *record);
/* Closes the log; removes a new log that has no complete line. False after a failure; problem says why. */
bool lap_cli_log_close(lap_cli_log *log, const char *path);
/* Closes the log of a run that ends with this exit code. Returns the exit code to end with, after a message
 * if writing failed. path NULL: there is no log. */
int lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code);

#endif
