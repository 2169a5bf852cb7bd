/* Pixels that lie whole in host memory to a file, bands one after the other. */
#ifndef LAP_ENCODE_VIEW_H
#define LAP_ENCODE_VIEW_H

#include "codec/codec.h"

/* All bands of view, and the end of the file. */
lap_code lap_encode_bands(const lap_view *view, lap_encoder *encoder, lap_error *err);

#endif
