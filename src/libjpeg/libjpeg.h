/* libjpeg-turbo behind the interface of formats. It decides whether a file is valid, its bytes and pixels are
 * the reference for our own coders, and it codes what they do not support: src/jpeg/jpeg_encoder.c and
 * jpeg_decoder.c then use one of these tables instead of their own. */
#ifndef LAP_LIBJPEG_H
#define LAP_LIBJPEG_H

#include "codec/codec.h"

extern const lap_decoder_ops lap_libjpeg_decoder;
extern const lap_encoder_ops lap_libjpeg_encoder;

#endif
