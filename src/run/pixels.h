/* Whole images: from a decoder, from a file, to an encoder. Thread safe. */
#ifndef LAP_PIXELS_H
#define LAP_PIXELS_H

#include "base/image.h"
#include "codec/codec.h"

typedef struct lap_collect {
    lap_decoder *decoder;
    lap_turn turn;
    const lap_view *to; /* has the size after rotating; only its interior is written */
    lap_times *ms;      /* times of decoding, and of rotating and mirroring, are added here; or NULL */
} lap_collect;

/* Decodes all rows, and calls lap_decoder_finish. Uses as many threads as the decoder's options allow if it
 * can be opened at any row. */
lap_code lap_collect_image(const lap_collect *collect, lap_damage *damage, lap_error *err);

typedef struct lap_whole { /* a file of which all pixels are wanted; do not move it */
    lap_source *source;    /* set by the caller */
    lap_control control;
    lap_read_options options; /* from the settings, with the number of threads that they allow */
    lap_decoder *decoder;
} lap_whole;

/* Opens a decoder that fits the memory limit of the settings together with `images` whole images; reduces the
 * decoder's memory if necessary. LAP_E_LIMIT. Close it after a failure, too. */
lap_code lap_whole_open(
    lap_whole *whole, lap_context *context, const lap_settings *settings, int images, lap_error *err);
/* LAP_E_LIMIT if the decoder and `images` whole images exceed the limit. */
lap_code lap_whole_fit(const lap_whole *whole, int images, lap_error *err);
/* Returns the turn that makes the picture upright, or LAP_TURN_NONE if the settings do not ask for that. */
lap_turn lap_whole_turn(const lap_whole *whole, const lap_settings *settings);
enum { LAP_PIXELS_NOTE = 160 };
/* Notes which coder decoded, and whether it did so in parallel. */
void lap_whole_note(const lap_whole *whole, char *note, size_t size);
/* Closes decoder and source. */
void lap_whole_close(lap_whole *whole);
/* Reports damage that was tolerated. */
void lap_report_damage(lap_report *report, const lap_damage *damage);
/* Concludes a call that decoded to the view, or encoded it: the report gets its size, 0 after a failure. */
lap_code lap_view_conclude(
    lap_code code, lap_error *why, double start, const lap_view *view, lap_report *report, lap_error *err);

/* Encodes pixels on the host as a file of the format that the settings name (NULL: a JPEG), and finishes the
 * sink. */
lap_code lap_image_write(const lap_view *view, const lap_settings *settings, const lap_control *control,
    lap_sink *sink, lap_error *err);

#endif
