/* Prints messages and text for people, without control characters, and in colour if requested. */
#ifndef LAP_CLI_TERM_H
#define LAP_CLI_TERM_H

#include <stdio.h>

#include "cli/options/args.h"

/* Writes all bytes to a descriptor; false with errno set. After a signal was caught, gives up with ECANCELED
 * if the reader of a pipe or terminal reads nothing for a second. */
bool lap_cli_write(int fd, const void *bytes, size_t size);
bool lap_term_gave_up(void); /* whether a write ended so */
/* From now on stdout and stderr write through lap_cli_write. The C library's own streams would retry for ever
 * on a descriptor that accepts nothing. Call this before anything is written. */
void lap_term_own_streams(void);
/* Decides whether messages are coloured from now on. */
void lap_term_begin(const lap_cli *cli);
/* Prints "lapedge: ..." on stderr as one line. Control characters, for example in file names, are
 * replaced. */
void lap_cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* If several devices were named but the command uses only one, prints a warning that says which one. */
void lap_cli_warn_of_devices(const lap_cli *cli);
/* Warns if devices were named but this machine has no device. May start CUDA. */
void lap_cli_warn_without_device(const lap_cli *cli);
/* Prints the first warning of a file that was processed anyway, and the number of warnings. */
void lap_cli_warn(const char *input, const lap_report *report);
/* Like lap_error_text, but adds a hint with the option that helps. 1,024 bytes are enough. Returns text. */
char *lap_cli_error_text(const lap_error *err, char *text, size_t size);
/* Quotes path as one word of a shell command line, shortened if it does not fit. Returns text. */
char *lap_cli_quoted(const char *path, char *text, size_t size);
/* Formats the first warning, with the option that helps. 512 bytes are enough. Returns text. */
char *lap_cli_warning_text(const lap_report *report, char *text, size_t size);
/* Prints "lapedge: photo.jpg: truncated: data ends ..." on stderr. If the error names no file and is not
 * caused by the settings, subject stands in for the file; NULL: no file is shown. */
void lap_cli_print_error(const lap_error *err, const char *subject);
/* Prints "cancelled" if the exit code is that of a caught signal, unless an error has already said so, or
 * lap_cli_told_cancel was called. */
void lap_cli_tell_cancel(int exit_code);
void lap_cli_told_cancel(void);
/* Prints the message and returns LAP_EXIT_USAGE. */
lap_cli_exit lap_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the message of the last problem that was reported by one of these two functions, or else by
 * lap_cli_message. *kind is its kind, named as in JSON. */
const char *lap_cli_last_problem(const char **kind);
/* Writes text; bytes that are not UTF-8, and characters that are not lap_utf8_is_shown, become \xNN. Returns
 * the columns that this takes in a terminal. */
int lap_cli_print_safely(FILE *to, const char *text);
/* Writes `before`, then text in quotation marks. Quotation marks in text are doubled, as CSV requires. */
void lap_cli_print_quoted(FILE *to, const char *before, const char *text);
/* Returns what lap_cli_print_safely would write. The caller frees it; NULL: out of memory. */
char *lap_cli_shown(const char *text);

/* Prints text on stdout, breaking lines at spaces before column `width`. The cursor is at column `at`, where
 * further lines begin too. A newline follows the text. */
void lap_cli_print_wrapped(const char *text, int at, int width);
/* Prints "  note      text" on stderr, one of the lines of -v. Long text continues on the next lines. */
void lap_cli_print_detail(const char *name, const char *text);
/* Columns of the terminal on stdout, or else on stderr. Without a terminal: more than any line needs. */
int lap_term_width(void);
int lap_term_error_width(void);

/* Returns the escape sequence for bold text, or "" if this stream has no colour: `fputs(lap_term_bold(cli,
 * stdout), stdout)`. */
const char *lap_term_bold(const lap_cli *cli, FILE *to);
const char *lap_term_plain(const lap_cli *cli, FILE *to);

/* Whether standard output is a pipe whose reader has closed it. */
bool lap_term_reader_left(void);
/* Flushes stdout. If output was lost, returns so_far, or LAP_EXIT_FAILED if so_far is LAP_EXIT_OK; the first
 * such call prints a message. If the reader has closed the pipe, returns LAP_EXIT_PIPE without a message; if
 * a write was given up after a signal, that signal's exit code. */
lap_cli_exit lap_cli_flush(lap_cli_exit so_far);

/* Whether a progress line may be shown: stderr is a terminal, and neither --quiet nor --progress=off is
 * given. */
bool lap_term_may_draw(const lap_cli *cli);

double lap_cli_now_ms(void); /* monotonic */

/* Prints the stages that took time on one line; total is the word for their sum. */
void lap_cli_print_times(const lap_times *ms, const char *total);

#endif
