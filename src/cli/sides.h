/* Files that the program writes in addition to OUT: --stats, --log, --report, --heatmap. */
#ifndef LAP_CLI_SIDES_H
#define LAP_CLI_SIDES_H

#include <jansson.h>

#include "cli/options/args.h"

/* Checks these files, and OUT. Returns an exit code after a message if one of them is also an input, OUT or a
 * list on the command line (links are followed), lies in a folder that cannot be read, or would replace a
 * file that lapedge did not write with the same option (recognised by its first bytes; -f permits that). Does
 * the same if OUT is one of lapedge's own records, or a file that only -f replaces; if one of these names is
 * a pattern that the shell did not expand; and for the reasons of lap_cli_check_stdout. Also searches the
 * folders among the inputs for these files, but not for standard output, and not in a folder run, where
 * lap_batch does it. */
lap_cli_exit lap_cli_check_sides(const lap_cli *cli);
/* Returns LAP_EXIT_USAGE after a message if standard output is redirected (with >>, for example) to a file
 * whose content would be damaged. Text may be appended only to text. An image may be appended only to images
 * of its format, or to text that the same redirection with > has written. An empty file, as after >, always
 * passes. lap_cli_check_sides calls this function, too. */
lap_cli_exit lap_cli_check_stdout(const lap_cli *cli);
/* Whether text can be written to standard output without damage: it is no regular file, or one that begins
 * like text. */
bool lap_cli_stdout_takes_text(void);

/* Lists the paths of these files that the command line names, and standard output if it is a file and
 * receives JSON, the list of -n or a side file. Returns their number. */
size_t lap_cli_list_sides(const lap_cli *cli, const char *names[LAP_SIDES]);

/* Whether a path stands for standard output. */
bool lap_cli_is_stdout(const char *path);

/* --log: a first line with the settings, then one line per file. Each line is appended with one system call,
 * so that a killed run leaves only whole lines. */
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
/* Whether the log lies directly in an output folder that does not exist yet. Then the log is opened when its
 * first line is written. */
bool lap_cli_log_postpone(lap_cli_log *log, const lap_cli *cli, const char *out_dir);
/* Writes the first line, unless it was written before. This removes the old content of the file. */
void lap_cli_log_begin(lap_cli_log *log);
void lap_cli_log_line(lap_cli_log *log, const json_t *record);
/* Closes the log; removes a new log that has no complete line. False after a failure; problem says why. */
bool lap_cli_log_close(lap_cli_log *log, const char *path);
/* Closes the log of a run that ends with this exit code. Returns the exit code to end with, after a message
 * if writing failed. path NULL: there is no log. */
int lap_cli_log_end(lap_cli_log *log, const char *path, int exit_code);

#endif
