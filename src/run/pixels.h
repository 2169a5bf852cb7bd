/* Whole images: of a decoder, of a file, and to an encoder. Thread safe. */
#ifndef LAP_PIXELS_H
#define LAP_PIXELS_H

#include "base/image.h"
#include "codec/codec.h"

typedef struct lap_collect {
    lap_decoder *decoder;
    lap_turn turn;
    const lap_view *to; /* of the size after the turn; its interior is written */
    lap_times *ms;      /* times of decoding and turning are added here; or NULL */
} lap_collect;

/* All rows, by as many threads as the decoder's options allow where it can be opened at rows; with finish. */
lap_code lap_collect_image(const lap_collect *collect, lap_damage *damage, lap_error *err);

/* What decoders of whole images share. Options: those of the settings, with the threads of the context. */
lap_read_options lap_whole_options(
    const lap_context *context, const lap_settings *settings, const lap_control *control);
/* The decoder and `images` whole ones beside it against the limit of memory. */
lap_code lap_whole_check(
    const lap_decoder *decoder, const lap_read_options *options, int images, lap_error *err);
/* A decoder that fits the limit together with `images` whole images; to be closed after a failure, too. */
lap_code lap_whole_open(
    lap_source *source, const lap_read_options *options, int images, lap_decoder **decoder, lap_error *err);
/* Who decoded, and by how many. */
void lap_whole_note(const lap_decoder *decoder, char *note, size_t size);

enum { LAP_PIXELS_NOTE = 160 };
typedef struct lap_read_image {
    lap_image image;            /* with an apron that is not filled, in stored order */
    lap_turn orientation;       /* of its EXIF tag */
    char note[LAP_PIXELS_NOTE]; /* lap_pixels_note's */
} lap_read_image;
/* Decodes a whole file, which source is at the begin of, and closes it. read, which is zeroed before: the
 * image is empty, or destroyed by the caller, after a failure. */
lap_code lap_image_read(
    lap_source *source, const lap_read_options *options, int apron, lap_read_image *read, lap_error *err);

/* A file of pixels on the host, up to and without lap_sink_finish. */
lap_code lap_encode_view(const lap_view *view, lap_format format, const lap_write_options *options,
    lap_sink *sink, lap_error *err);

#endif
