/* libjpeg-turbo behind the interface of formats. It judges every file, its bytes and pixels are the reference
 * of our own coders, and it codes what they leave (jpeg_encoder.c, jpeg_decoder.c of src/jpeg): they give an
 * encoder or a decoder one of these tables instead of their own. */
#ifndef LAP_LIBJPEG_H
#define LAP_LIBJPEG_H

#include "codec/codec.h"

extern const lap_decoder_ops lap_libjpeg_decoder;
extern const lap_encoder_ops lap_libjpeg_encoder;

#endif
