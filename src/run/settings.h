/* Checking the settings of a run, and writing them as text. Thread safe. */
#ifndef LAP_SETTINGS_H
#define LAP_SETTINGS_H

#include "lapedge.h"

enum {
    LAP_SETTINGS_TEXT = 2048, /* bytes that the text of any settings fits in, the final 0 counted */
    LAP_SETTINGS_HASH = 17    /* 16 hexadecimal digits and the final 0 */
};

/* With a value for what a caller may leave 0: see lap_settings. */
lap_settings lap_settings_complete(const lap_settings *settings);
/* LAP_E_USAGE, naming the setting, where one is out of its range. */
lap_code lap_settings_check(const lap_settings *settings, lap_error *err);
/* What changes the bytes of the output, and nothing else (no backend, threads, limits or sync), one
 * "key=value" a line; equal settings give equal text. Returns its length. */
size_t lap_settings_text(const lap_settings *settings, char text[LAP_SETTINGS_TEXT]);
/* XXH3 (64 bits) of that text. */
void lap_settings_hash(const lap_settings *settings, char hash[LAP_SETTINGS_HASH]);
/* The names of design and command line: "zero", "clamp", ...; NULL out of range. */

#endif
