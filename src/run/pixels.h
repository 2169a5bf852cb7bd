/* Whole images: from a decoder, from a file, to an encoder. Thread safe. */
#ifndef LAP_PIXELS_H
#define LAP_PIXELS_H

#include "base/image.h"
#include "codec/codec.h"

typedef struct lap_collect {
    lap_decoder *decoder;
    lap_turn turn;
    const lap_view *to; /* has the size after the turn; only its interior is written */
    lap_times *ms;      /* times of decoding and turning are added here; or NULL */
} lap_collect;

/* Decodes all rows, and calls lap_decoder_finish. Uses as many threads as the decoder's options allow if it
 * can be opened at any row. */
lap_code lap_collect_image(const lap_collect *collect, lap_damage *damage, lap_error *err);

/* The read options of the settings, with the threads of the context. */
lap_read_options lap_whole_options(
    const lap_context *context, const lap_settings *settings, const lap_control *control);
/* LAP_E_LIMIT if the decoder, which spares memory if it must, and `images` whole images exceed the limit. */
lap_code lap_whole_fit(lap_decoder *decoder, const lap_read_options *options, int images, lap_error *err);
/* Opens a decoder that fits the limit together with `images` whole images. Close it after a failure, too. */
lap_code lap_whole_open(
    lap_source *source, const lap_read_options *options, int images, lap_decoder **decoder, lap_error *err);
/* Notes which coder decoded, and whether it did so in parallel. */
void lap_whole_note(const lap_decoder *decoder, char *note, size_t size);

enum { LAP_PIXELS_NOTE = 160 };
typedef struct lap_read_image {
    lap_image image;            /* in stored order; its apron is not filled */
    lap_turn orientation;       /* the EXIF tag's */
    char note[LAP_PIXELS_NOTE]; /* text of lap_pixels_note */
} lap_read_image;
/* Decodes a whole file from the start of source, and closes source. Zero *read before. After a failure
 * read->image may be empty; destroy it all the same. */
lap_code lap_image_read(
    lap_source *source, const lap_read_options *options, int apron, lap_read_image *read, lap_error *err);

/* Encodes pixels on the host as a file. Does not call lap_sink_finish. */
lap_code lap_image_write(const lap_view *view, lap_format format, const lap_write_options *options,
    lap_sink *sink, lap_error *err);

#endif
