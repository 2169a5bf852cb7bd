/* Whole images for those who want pixels rather than a file. Thread safe. */
#ifndef LAP_PIXELS_H
#define LAP_PIXELS_H

#include "base/image.h"
#include "codec/codec.h"

/* What a decoder has to know of the settings of a run. */
lap_read_options lap_read_options_of(const lap_settings *settings, const lap_control *control);
enum { LAP_PIXELS_NOTE = 160 };
/* Decodes a whole file ("-": standard input) into a new image with an apron that is not filled, in stored
 * order; *orientation is that of its EXIF tag. The image is empty, or destroyed by the caller, after a
 * failure. note: lap_pixels_note's, or NULL. */
lap_code lap_image_read(const char *path, const lap_read_options *options, int apron, lap_image *image,
    lap_turn *orientation, char note[LAP_PIXELS_NOTE], lap_error *err);

#endif
