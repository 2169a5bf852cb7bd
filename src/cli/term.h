/* What people see: messages without control characters, colour where it is wanted. */
#ifndef LAP_CLI_TERM_H
#define LAP_CLI_TERM_H

#include <stdio.h>

#include "cli/options/args.h"

/* All bytes to a descriptor; false with errno set. EIO: nothing is taken, and no error is reported. */
bool lap_cli_write(int fd, const void *bytes, size_t size);
/* stdout and stderr write by lap_cli_write from now on: the C library's own streams ask a descriptor that
 * takes nothing for ever. Nothing has been written yet. */
void lap_term_own_streams(void);
/* Whether messages are coloured, from now on. */
void lap_term_begin(const lap_cli *cli);
/* "lapedge: ..." on stderr, one line; whatever a file name holds, no control character gets out. */
void lap_cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What works on one device only says which, where several were named. */
void lap_cli_warn_of_devices(const lap_cli *cli);
/* So does what names devices where there is none. May touch CUDA. */
void lap_cli_warn_without_device(const lap_cli *cli);
/* The first warning of a file that was done all the same, and how many there are. */
void lap_cli_warn(const char *input, const lap_report *report);
/* lap_error_text, and the option of the program that helps. 1,024 bytes are enough. Returns text. */
char *lap_cli_error_text(const lap_error *err, char *text, size_t size);
/* path as a word of a shell's command line, cut short where it does not fit. Returns text. */
char *lap_cli_quoted(const char *path, char *text, size_t size);
/* The first warning, likewise. 512 bytes are enough. */
char *lap_cli_warning_text(const lap_report *report, char *text, size_t size);
/* "lapedge: photo.jpg: truncated: data ends ..." on stderr. An error that names no file, and is not about the
 * settings, is about subject; NULL: about nothing. */
void lap_cli_print_error(const lap_error *err, const char *subject);
/* Message and LAP_EXIT_USAGE. */
lap_cli_exit lap_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last problem that one of these two, or else lap_cli_message, has reported; *kind as in JSON. */
const char *lap_cli_last_problem(const char **kind);
/* Writes text with bytes that are not UTF-8, and characters that are not lap_utf8_is_shown, as \xNN. */
void lap_cli_print_safely(FILE *to, const char *text);
/* The same between quotation marks and behind `before`, quotation marks in it doubled, as CSV has it. */
void lap_cli_print_quoted(FILE *to, const char *before, const char *text);
/* The same as a string, the caller's to free; NULL without memory. */
char *lap_cli_shown(const char *text);

/* Text on stdout from column `at` on, which is where the cursor is, broken at spaces before column
 * `width`; a newline ends it. */
void lap_cli_print_wrapped(const char *text, int at, int width);
/* "  note      text" on stderr, one of the lines of -v; long ones go on below themselves. */
void lap_cli_print_detail(const char *name, const char *text);
/* Columns of the terminal on stdout, or on stderr; without one, more than any line has. */
int lap_term_width(void);
int lap_term_error_width(void);

/* Bold text, if colour is on for this stream: `fputs(lap_term_bold(cli, stdout), stdout)`. */
const char *lap_term_bold(const lap_cli *cli, FILE *to);
const char *lap_term_plain(const lap_cli *cli, FILE *to);

/* Whether standard output is a pipe that nobody reads any more. */
bool lap_term_reader_left(void);
/* Flushes stdout; where something did not get out LAP_EXIT_FAILED with a message, or LAP_EXIT_PIPE. */
lap_cli_exit lap_cli_flush(lap_cli_exit so_far);

/* Whether a line that redraws itself may be shown: stderr is a terminal, and neither --quiet nor
 * --progress=off is given. */
bool lap_term_may_draw(const lap_cli *cli);

double lap_cli_now_ms(void); /* monotonic */

/* The stages that took time, on one line; total: the word for all of it. */
void lap_cli_print_times(const lap_times *ms, const char *total);

#endif
