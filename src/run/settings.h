/* The settings of a run: their check, their text and hash, and the parts that decoder and encoder need.
 * Thread safe. */
#ifndef LAP_SETTINGS_H
#define LAP_SETTINGS_H

#include "codec/codec.h"

enum { LAP_SETTINGS_TEXT = 2048 }; /* large enough for the text of any settings, with its final 0 */

/* Fills in defaults for members that a caller may leave 0: see lap_settings. */
lap_settings lap_settings_complete(const lap_settings *settings);
/* LAP_E_USAGE, naming the setting, if one is out of its range. */
lap_code lap_settings_check(const lap_settings *settings, lap_error *err);
/* Copies settings to *full, and fills in the format: the requested one, the one that out's extension names,
 * or JPEG on standard output. The error does not name out, because in place out is only the end of the
 * path. */
lap_code lap_settings_with_format(
    const lap_settings *settings, const char *out, lap_settings *full, lap_error *err);
/* Writes the settings that change the bytes of the output (not backend, threads, limits or sync), one
 * "key=value" a line. Equal settings give equal text. Returns its length. */
size_t lap_settings_text(const lap_settings *settings, char text[LAP_SETTINGS_TEXT]);
/* XXH3 (64 bits) of that text. */
uint64_t lap_settings_hash(const lap_settings *settings);

/* The settings in the form that records store. fail_on decides which photos are refused, but does not change
 * the output of accepted photos. So an output is valid for every fail_on that its photo passes. */
typedef struct lap_settings_mark {
    uint64_t hashes[LAP_FAIL_WARNING + 1]; /* hash of the settings with each fail_on */
    lap_fail_on fail_on;                   /* from the settings */
    bool turns;                            /* filters nothing: rotates, mirrors, or only re-encodes */
} lap_settings_mark;
lap_settings_mark lap_settings_mark_of(const lap_settings *settings);
uint64_t lap_settings_own(const lap_settings_mark *mark); /* the hash with this fail_on */
/* The hash to record for an output: with the strictest fail_on that its photo is known to pass. is_whole: it
 * was read without a warning, so it passes the strictest level. */
uint64_t lap_settings_recorded(const lap_settings_mark *mark, bool is_whole);
/* The settings' own hash if an output with this recorded hash is valid for them; else the recorded hash. */
uint64_t lap_settings_taken(const lap_settings_mark *mark, uint64_t recorded);

/* The decoder's options. */
lap_read_options lap_read_options_of(const lap_settings *settings, const lap_control *control);
/* The encoder's options for pixels of this size. The caller adds the input's header. */
lap_write_options lap_write_options_of(
    const lap_settings *settings, int width, int height, int channels, const lap_control *control);

#endif
