/* JSON as the contract asks for it: a schema first, numbers that read back, null for what is absent. */
#ifndef LAP_CLI_JSON_H
#define LAP_CLI_JSON_H

#include <jansson.h>

#include "lapedge.h"

json_t *lap_json_object(const char *schema); /* NULL without memory, as jansson does */
/* Text, with U+FFFD for what is not UTF-8; null for NULL. */
json_t *lap_json_text(const char *text);
json_t *lap_json_real(double value); /* null where it is not finite */
/* object[key] = the path; and object[key_raw], percent-encoded, where it is not UTF-8. */
void lap_json_path(json_t *object, const char *key, const char *path);
/* {"kind", "message"} of an error, or null where its code is LAP_OK. */
json_t *lap_json_error(const lap_error *err);
/* Prints and frees; 0, or LAP_EXIT_FAILED with a message. */
int lap_json_print(json_t *object);

/* lapedge.file/1 of one run. */
json_t *lap_json_file(
    const char *in, const char *out, const lap_settings *settings, const lap_report *report);

#endif
