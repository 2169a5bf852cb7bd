/* JSON as the contract asks for it: a schema first, numbers that read back, null for what is absent. */
#ifndef LAP_CLI_JSON_H
#define LAP_CLI_JSON_H

#include <jansson.h>

#include "lapedge_program.h"

json_t *lap_json_object(const char *schema); /* NULL without memory, as jansson does */
/* Text, with U+FFFD for what is not UTF-8; null for NULL. */
json_t *lap_json_text(const char *text);
json_t *lap_json_ms(double ms);      /* to the nanosecond */
json_t *lap_json_real(double value); /* null where it is not finite */
/* Sets what the filter computes with: coefficients, scale, offset, invert, threshold. */
void lap_json_filter(json_t *object, const lap_params *params);
/* Sets each of them. */
typedef struct lap_json_count {
    const char *key;
    uint64_t value;
} lap_json_count;
void lap_json_counts(json_t *object, const lap_json_count *counts, size_t count);
/* object[key] = the path; and object[key_raw], percent-encoded, where it is not UTF-8. */
void lap_json_path(json_t *object, const char *key, const char *path);
/* {"kind", "message"} of an error, or null where its code is LAP_OK. */
json_t *lap_json_error(const lap_error *err);
/* The object as text, the caller's to free; NULL without memory. flags: jansson's. Numbers have the digits
 * that read back; in strings, characters that are not lap_utf8_is_shown stand as \u202e, which reads back
 * too. */
char *lap_json_dump(const json_t *object, size_t flags);
/* Where objects go from now on: standard output, a file (NULL: none), or both; each on a line of
 * its own, or indented. */
void lap_json_direct(bool to_stdout, const char *path, bool lines);
/* Prints and frees; 0, or LAP_EXIT_FAILED with a message. Several objects come one after another. */
int lap_json_print(json_t *object);
bool lap_json_printed(void); /* an object, so far */
/* lapedge.error/1 of the last problem that was reported. */
int lap_json_print_failure(const char *command, int exit_code);
/* Writes the file, complete or not at all; 0, or LAP_EXIT_FAILED with a message. */
int lap_json_finish(void);
/* --json-file may be somebody else's file: it is not written. */
void lap_json_keep_off(void);

/* lapedge.log/1, the first line of a log: what its other lines have in common. */
json_t *lap_json_log(const lap_settings *settings);
/* lapedge.file/1 of one run, as a line of a log. */
json_t *lap_json_line(
    const char *in, const char *out, const lap_settings *settings, const lap_report *report);
/* The same by itself: with all settings. */
json_t *lap_json_file(
    const char *in, const char *out, const lap_settings *settings, const lap_report *report);

json_t *lap_json_work(const lap_batch_work *work); /* "work" of a run over a folder */

#endif
