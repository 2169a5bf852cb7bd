/* The settings of a run: whether they are right, as text, and what of them decoder and encoder have to know.
 * Thread safe. */
#ifndef LAP_SETTINGS_H
#define LAP_SETTINGS_H

#include "codec/codec.h"

enum { LAP_SETTINGS_TEXT = 2048 }; /* bytes that the text of any settings fits in, the final 0 counted */

/* With a value for what a caller may leave 0: see lap_settings. */
lap_settings lap_settings_complete(const lap_settings *settings);
/* LAP_E_USAGE, naming the setting, where one is out of its range. */
lap_code lap_settings_check(const lap_settings *settings, lap_error *err);
/* settings with the format filled in: as asked for, by the extension of out, or JPEG on standard output. */
lap_code lap_settings_with_format(
    const lap_settings *settings, const char *out, lap_settings *full, lap_error *err);
/* What changes the bytes of the output, and nothing else (no backend, threads, limits or sync), one
 * "key=value" a line; equal settings give equal text. Returns its length. */
size_t lap_settings_text(const lap_settings *settings, char text[LAP_SETTINGS_TEXT]);
/* XXH3 (64 bits) of that text. */
uint64_t lap_settings_hash(const lap_settings *settings);

/* Settings as records know them. fail_on says which photos are refused and changes no byte of the others: so
 * an output serves with every fail_on that its photo passes. */
typedef struct lap_settings_mark {
    uint64_t hashes[LAP_FAIL_WARNING + 1]; /* of the settings, with each fail_on */
    lap_fail_on fail_on;                   /* the one that was asked for */
} lap_settings_mark;
lap_settings_mark lap_settings_mark_of(const lap_settings *settings);
uint64_t lap_settings_own(const lap_settings_mark *mark); /* as asked for */
/* What the record of an output says: the hash with the strictest fail_on that its photo is known to pass.
 * is_whole: it was read without a warning, and so passes all. */
uint64_t lap_settings_recorded(const lap_settings_mark *mark, bool is_whole);
/* What a record says, as these settings take it: their own hash where the output serves with them. */
uint64_t lap_settings_taken(const lap_settings_mark *mark, uint64_t recorded);

/* What of them a decoder has to know. */
lap_read_options lap_read_options_of(const lap_settings *settings, const lap_control *control);
/* What of them an encoder has to know, for pixels of this size; what stays of the input is the caller's to
 * add. */
lap_write_options lap_write_options_of(
    const lap_settings *settings, int width, int height, int channels, const lap_control *control);

#endif
