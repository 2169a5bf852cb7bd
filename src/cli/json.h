/* Writes JSON in the documented form: the schema comes first, numbers read back exactly, absent values are
 * null. */
#ifndef LAP_CLI_JSON_H
#define LAP_CLI_JSON_H

#include <jansson.h>
#include <time.h>

#include "lapedge_program.h"

/* Call this first. Once an allocation for any document has failed, no further document is made, so none is
 * printed incomplete. */
void lap_json_watch_memory(void);
json_t *lap_json_object(const char *schema); /* NULL: out of memory, as in jansson */
/* Makes a string; U+FFFD replaces what is not UTF-8. NULL becomes null. */
json_t *lap_json_text(const char *text);
json_t *lap_json_ms(double ms);      /* rounded to nanoseconds */
json_t *lap_json_real(double value); /* null if not finite */
/* Sets the filter's parameters: coefficients, scale, offset, invert, threshold. */
void lap_json_filter(json_t *object, const lap_params *params);
/* Sets how the edges are made, except for a threshold: kernel, border, range, coefficients, scale, offset,
 * invert. */
void lap_json_edges(json_t *object, const lap_settings *settings);
/* Sets several counts in an object. */
typedef struct lap_json_count {
    const char *key;
    uint64_t value;
} lap_json_count;
void lap_json_counts(json_t *object, const lap_json_count *counts, size_t count);
/* Sets object[key] to the path. If the path is not UTF-8, also sets object[key_raw] to the path
 * percent-encoded. */
void lap_json_path(json_t *object, const char *key, const char *path);
/* Sets warnings (their number) and warning (the first, or null). */
void lap_json_warnings(json_t *object, const lap_report *report);
/* Sets when the run started, in UTC, and its exit code. A negative exit_code means that it is not known yet,
 * and becomes null. */
void lap_json_run(json_t *object, time_t started, int exit_code);
/* Returns {"kind", "message"} of an error, or null if its code is LAP_OK. */
json_t *lap_json_error(const lap_error *err);
/* Returns the object as text that the caller frees; NULL: out of memory. flags are jansson's. Numbers have
 * just enough digits to read back exactly. Characters in strings that are not lap_utf8_is_shown are escaped,
 * such as \u202e. */
char *lap_json_dump(const json_t *object, size_t flags);
/* Chooses where objects are printed from now on: standard output, a file (NULL: no file), or both, each on
 * one line or indented. */
void lap_json_direct(bool to_stdout, const char *path, bool lines);
/* Prints and frees an object. Returns 0, or LAP_EXIT_FAILED after a message. May be called for several
 * objects. */
int lap_json_print(json_t *object);
/* The same in two steps. The first makes the text that will be printed, on any thread, and frees the object;
 * NULL: out of memory. The second prints that text, which the caller frees. */
char *lap_json_made(json_t *object);
int lap_json_print_made(const char *text);
bool lap_json_printed(void); /* whether an object was printed so far */
/* Prints lapedge.error/1 for the last reported problem. */
int lap_json_print_failure(const char *command, int exit_code);
/* Writes the file completely or not at all. Returns 0, or LAP_EXIT_FAILED after a message. */
int lap_json_finish(void);
/* From now on --json-file is not written, because the file may be one of the user's inputs or outputs.
 * Nothing is printed to standard output either, if `clash` is about it. */
void lap_json_keep_off(const lap_error *clash);

/* Makes lapedge.log/1, the first line of a log, which holds what the other lines have in common. */
json_t *lap_json_log(const lap_settings *settings);
/* Makes lapedge.file/1 for one run, as a line of a log. */
json_t *lap_json_line(
    const char *in, const char *out, const lap_settings *settings, const lap_report *report);
/* Makes lapedge.file/1 outside a log, with all settings. */
json_t *lap_json_file(
    const char *in, const char *out, const lap_settings *settings, const lap_report *report);

json_t *lap_json_work(const lap_batch_work *work); /* the "work" object of a folder run */

#endif
