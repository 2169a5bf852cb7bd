/* Pixels that lie whole in host memory to a file, without a pipeline: bands one after the other. */
#ifndef LAP_ENCODE_VIEW_H
#define LAP_ENCODE_VIEW_H

#include "codec/codec.h"

/* What the settings say of a file of these pixels, without an input whose metadata it could keep. */
lap_write_options lap_write_options_of(
    const lap_settings *settings, const lap_view *view, const lap_control *control);
/* All bands of view, and the end of the file. */
lap_code lap_encode_bands(const lap_view *view, lap_encoder *encoder, lap_error *err);

#endif
