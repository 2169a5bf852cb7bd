/* Pictures for the JPEG decoder and encoder that exist only as numbers. */
#ifndef PLANS_H
#define PLANS_H

#include "cuda/jpeg/decode.h"
#include "cuda/jpeg/encode.h"
#include "launches.h"

/* Luma has h x v blocks in an MCU, chroma one of each; h 0: gray. */
lap_jpeg_frame frame_of(int width, int height, int h, int v);
lap_cuda_jpeg_target target_of(int width, int height, int channels, int h, int v);

#endif
